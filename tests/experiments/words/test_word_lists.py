"""The extract of words is what its README says, and what is read is that and nothing else."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from assocmem.checks import UsageError
from assocmem.experiments.words import word_lists
from assocmem.experiments.words.word_lists import RELATIONS, read_relation, read_words, words_folder
from assocmem.sweeps.project import project_root

FOLDER = project_root() / "data" / "words"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A copy of the words that may be spoilt."""
    shutil.copytree(FOLDER, tmp_path / "data" / "words")
    monkeypatch.setenv("ASSOCMEM_ROOT", str(tmp_path))
    word_lists._read.cache_clear()
    yield tmp_path / "data" / "words"
    word_lists._read.cache_clear()


def test_words_and_vectors_belong_together():
    words = read_words()
    assert words.vectors.shape == (50, len(words.names)) == (words.d, 5302)
    assert np.isfinite(words.vectors).all()
    assert words.vectors.dtype == np.float64 and not words.vectors.flags.writeable
    assert len(set(words.names)) == len(words.names)
    assert all(name.isascii() and name.isalpha() and name.islower() for name in words.names)
    assert len(np.unique(words.vectors, axis=1).T) == len(words.names)


def test_the_vectors_are_in_the_order_of_their_words():
    """Words of one meaning lie close; with the rows in another order they would not."""
    words = read_words()
    unit = words.vectors / np.linalg.norm(words.vectors, axis=0)
    near = {"france": "italy", "monday": "tuesday", "teacher": "student", "mother": "father"}
    for one, other in near.items():
        i, j = words.names.index(one), words.names.index(other)
        assert unit[:, i] @ unit[:, j] > 0.7


@pytest.mark.parametrize(
    ("name", "facts", "fact", "many"),
    [
        ("plural", 1000, ("child", "children"), False),
        ("past", 869, ("think", "thought"), False),
        ("antonym", 898, ("hot", "cold"), True),
        ("hypernym", 1000, ("journey", "travel"), True),
        ("capital", 156, ("france", "paris"), False),
    ],
)
def test_relations_are_what_they_say(name, facts, fact, many):
    words, relation = read_words(), read_relation(name)
    known = {words.names[i]: words.names[j] for i, j in zip(relation.asked, relation.answer, strict=True)}
    assert len(relation.asked) == len(relation.answer) == len(known) == facts
    assert (relation.asked != relation.answer).all()
    assert (len(set(relation.answer)) < facts) == many
    assert known[fact[0]] == fact[1]
    if name != "capital":
        assert (np.diff(relation.asked) > 0).all(), "the most common words come first"


def test_all_words_are_of_some_relation():
    used = {int(i) for name in RELATIONS for i in [*read_relation(name).asked, *read_relation(name).answer]}
    assert used == set(range(len(read_words().names)))


def test_licences_lie_beside_and_files_are_small():
    texts = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.[tm][xd]*")}
    assert "Public Domain Dedication and License" in texts["LICENCE-GLOVE.txt"]
    assert (
        "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved."
        in (texts["LICENCE-WORDNET.txt"])
    )
    assert "Permission to use, copy, modify and distribute" in texts["LICENCE-WORDNET.txt"]
    readme = texts["README.md"]
    for name in (*word_lists.FILES, "LICENCE-GLOVE.txt", "LICENCE-WORDNET.txt", "extract.py"):
        assert f"`{name}`" in readme
        assert (FOLDER / name).stat().st_size < 1_000_000
    for name in RELATIONS:
        (line,) = (line for line in readme.splitlines() if line.startswith(f"| `{name}.txt`"))
        assert f" {len(read_relation(name).asked)} " in line


def test_the_script_says_what_it_needs():
    done = subprocess.run(
        [sys.executable, FOLDER / "extract.py", "--help"], capture_output=True, text=True, check=True
    )
    assert "GLOVE" in done.stdout and "WORDNET" in done.stdout


def test_the_vectors_are_read_as_they_stand():
    stored = np.load(FOLDER / "vectors.npy")
    assert stored.dtype == np.float16
    np.testing.assert_array_equal(stored.T, read_words().vectors)


def test_unknown_relations_are_refused():
    with pytest.raises(ValueError, match="name = 'capitals': must be one of plural, past"):
        read_relation("capitals")


@pytest.mark.parametrize("name", word_lists.FILES)
def test_other_words_are_refused(elsewhere, name):
    path = elsewhere / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UsageError, match="holds other words"):
        read_words()


def test_words_that_are_missing_are_asked_for(elsewhere):
    assert words_folder() == elsewhere
    (elsewhere / "past.txt").unlink()
    with pytest.raises(UsageError, match="cannot find data/words: run inside a checkout"):
        read_relation("past")
