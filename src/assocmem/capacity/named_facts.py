"""Facts from files, with the names of their keys and targets."""

from dataclasses import dataclass

import numpy as np

from assocmem.capacity.conflicts import directions
from assocmem.capacity.vectors import read_answers, read_names, read_vectors
from assocmem.checks import UsageError, require, require_flag
from assocmem.pairs.data import Facts

SHORT = {"float32", "float16"}
"""Kinds of numbers that single precision holds."""


@dataclass(frozen=True)
class NamedFacts:
    """Facts that were read, and what they are called.

    Attributes
    ----------
    facts : Facts
    key_names : tuple of str, or None
        Of the key of each fact.
    target_names : tuple of str, or None
    sources : dict of str to str
        The files.
    """

    facts: Facts
    key_names: tuple[str, ...] | None
    target_names: tuple[str, ...] | None
    sources: dict[str, str]


def read_facts(
    keys: str,
    targets: str,
    answers: str | None = None,
    *,
    key_names: str | None = None,
    target_names: str | None = None,
    columns: bool = False,
    one_answer: bool = False,
) -> NamedFacts:
    """Read keys, targets and answers from files.

    Vectors come from ``.npy``, ``.npz`` or ``.safetensors``, or from a text with a line ``word x1 x2 ...``
    for each; one array among several is named as in ``FILE.npz:NAME``. Vectors are rows.

    Parameters
    ----------
    keys, targets : str
        Files of vectors; they may be the same.
    answers : str, optional
        File with the answer to each key, or with a key and its answer on each line: positions from 0, or
        names. By default key i has target i.
    key_names, target_names : str, optional
        Files with a name on each line; a text of vectors needs none. Where keys and targets are the same
        file, names of keys are those of targets, too.
    columns : bool
        Whether vectors are the columns of arrays.
    one_answer : bool
        Whether to keep only the first fact of each key.

    Returns
    -------
    NamedFacts

    Raises
    ------
    ValueError
        In one line, for files that do not have what they should.
    OSError
        For a file that cannot be read.
    """
    for name, given in (("keys", keys), ("targets", targets)):
        require(isinstance(given, str), name, given, "the path of a file")
    for name, given in (("answers", answers), ("key_names", key_names), ("target_names", target_names)):
        require(given is None or isinstance(given, str), name, given, "the path of a file, or None")
    require_flag("columns", columns)
    require_flag("one_answer", one_answer)
    of_keys = read_vectors(keys, "keys", columns=columns)
    of_targets = of_keys if targets == keys else read_vectors(targets, "targets", columns=columns)
    n, m = len(of_keys.rows), len(of_targets.rows)
    names = {"key_names": of_keys.names, "target_names": of_targets.names}
    if key_names is not None:
        names["key_names"] = read_names(key_names, "key_names", n)
        if targets == keys:
            names["target_names"] = names["key_names"]
    if target_names is not None:
        names["target_names"] = read_names(target_names, "target_names", m)
    if answers is not None:
        chosen, found = read_answers(answers, "answers", keys=n, targets=m, **names)
    elif n <= m:
        chosen = found = np.arange(n)
    else:
        turned = "" if columns else " (vectors are rows; if yours are columns, say --columns)"
        raise UsageError(f"keys: {n} vectors for {m} targets, so answers must say which is whose{turned}")
    if m < 2:
        raise UsageError(f"targets {targets}: has one vector; the answer needs another to compete with")
    _require_keys(of_keys.rows[chosen], chosen, names["key_names"], keys)
    if one_answer:
        _, first = np.unique(directions(of_keys.rows[chosen]), return_index=True)
        first.sort()
        chosen, found = chosen[first], found[first]
    kind = np.float32 if {of_keys.kind, of_targets.kind} <= SHORT else np.float64
    rows = of_keys.rows[chosen].astype(kind)
    facts = Facts(targets=of_targets.rows.astype(kind).T, keys=rows.T, answers=found)
    called = names["key_names"] or [f"key {i}" for i in range(n)]
    sources = {"keys": keys, "targets": targets} | ({} if answers is None else {"answers": answers})
    return NamedFacts(facts, tuple(called[i] for i in chosen), names["target_names"], sources)


def _require_keys(rows, chosen, names, source):
    """Refuse keys that are zero: no matrix gives them an answer."""
    empty = np.flatnonzero(~rows.any(axis=1))
    if len(empty):
        place = int(chosen[empty[0]])
        called = f" ({names[place]})" if names else ""
        more = f", and so are {len(empty) - 1} more" if len(empty) > 1 else ""
        raise UsageError(f"keys {source}: vector {place}{called} is zero{more}; no matrix can answer it")
