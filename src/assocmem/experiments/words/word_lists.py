"""Words with their vectors and relations between them, as they lie in ``data/words``.

The folder says in its README where they come from and under which licences. Their digest stands here, so that
whatever is computed from them depends on them by way of this module: other words are refused, and stored
tables and pages are made anew when the digest changes.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from assocmem.checks import UsageError, require_choice

RELATIONS = ("plural", "past", "antonym", "hypernym", "capital")
"""Relations between words, each a file of facts: a word that is asked for, and its answer."""

FILES = ("words.txt", "vectors.npy", *(f"{name}.txt" for name in RELATIONS))
"""What is read, in the order of the digest."""

DIGEST = "7efbe164611f3bb0c98516230c73f11c1a471780e73457c8500567ad4c12e540"
"""SHA-256 of these files, one after the other."""


@dataclass(frozen=True)
class Words:
    """Words, from the most common to the least.

    Attributes
    ----------
    names : tuple of str
    vectors : ndarray, shape (d, words)
        Column i is the vector of word i: float64, not to be written to, with the numbers of the file.
    """

    names: tuple[str, ...]
    vectors: np.ndarray

    @property
    def d(self) -> int:
        """Dimension of the vectors."""
        return self.vectors.shape[0]


@dataclass(frozen=True)
class Relation:
    """Facts of one relation, from the most common word that is asked for to the least.

    Attributes
    ----------
    name : str
    asked : ndarray of int, shape (facts,)
        Places among the words, each at most once.
    answer : ndarray of int, shape (facts,)
        Places among the words; many facts may share one.
    """

    name: str
    asked: np.ndarray
    answer: np.ndarray


def read_words() -> Words:
    """The words and their vectors.

    Returns
    -------
    Words

    Raises
    ------
    UsageError
        Where the folder is not found, or holds other words than those that this module knows.
    """
    return _read()[0]


def read_relation(name: str) -> Relation:
    """The facts of a relation.

    Parameters
    ----------
    name : str
        One of `RELATIONS`.

    Returns
    -------
    Relation

    Raises
    ------
    ValueError
        For another name; or, as a `UsageError`, as in `read_words`.
    """
    require_choice("name", name, RELATIONS)
    return _read()[1][name]


def words_folder() -> Path:
    """``data/words``: below ASSOCMEM_ROOT where that is set, else of the checkout, else of a folder above.

    Returns
    -------
    Path

    Raises
    ------
    UsageError
        If there is none.
    """
    named = os.environ.get("ASSOCMEM_ROOT")
    here = Path.cwd()
    places = [Path(named)] if named else [Path(__file__).resolve().parents[4], here, *here.parents]
    for place in places:
        folder = place / "data" / "words"
        if all((folder / name).is_file() for name in FILES):
            return folder
    raise UsageError("cannot find data/words: run inside a checkout, or set ASSOCMEM_ROOT to one")


@cache
def _read():
    """Words, and relations by name, from files that are those of the digest."""
    folder = words_folder()
    content = {name: (folder / name).read_bytes() for name in FILES}
    if hashlib.sha256(b"".join(content.values())).hexdigest() != DIGEST:
        raise UsageError(
            "data/words holds other words than assocmem.experiments.words.word_lists has a digest of"
        )
    names = content["words.txt"].decode("utf-8").split()
    vectors = np.load(folder / "vectors.npy", allow_pickle=False).astype(np.float64).T
    vectors.flags.writeable = False
    place = {word: i for i, word in enumerate(names)}
    relations = {}
    for name in RELATIONS:
        facts = [line.split() for line in content[f"{name}.txt"].decode("utf-8").splitlines()]
        asked, answer = np.array([[place[word] for word in fact] for fact in facts]).T
        relations[name] = Relation(name, asked, answer)
    return Words(tuple(names), vectors), relations
