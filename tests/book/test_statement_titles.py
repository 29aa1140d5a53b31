"""Boxes of statements: the title ends with the number that the paper gives to the statement."""

import re

import pytest

from assocmem.book.claims import statements
from assocmem.sweeps.project import project_root

ROOT = project_root()
BOX = re.compile(r"^(?:# )?:{3,}\{prf:(\w+)\} *(.*)$", re.MULTILINE)
NOWHERE = re.compile(r"\((?:[^()]+, )?not in the paper\)$")
END = re.compile(r"\((?:after )?(?P<names>[^()]* \d[^()]*) of the paper(?:, [^()]+)?\)$")
NAME = re.compile(r"([A-Z][a-z]+?)s? (\d+(?:(?:, | and | to )\d+)*)")
PAGES = sorted([*ROOT.glob("notebooks/*.py"), *ROOT.glob("book/*.md")])


def boxes(text):
    """Titles of the statements of a page; proofs need none."""
    return [title.strip() for kind, title in BOX.findall(text) if kind != "proof"]


def named(title):
    """The statements of the paper in the bracket that ends a title, or None where there is none."""
    if NOWHERE.search(title):
        return []
    found = END.search(title)
    names = NAME.findall(found["names"]) if found else []
    return [f"{kind} {number}" for kind, numbers in names for number in re.findall(r"\d+", numbers)] or None


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Eight (Proposition 1 of the paper)", ["Proposition 1"]),
        ("Scalars (Theorem 2 of the paper, first part)", ["Theorem 2"]),
        ("Steps (after Remark 3 of the paper)", ["Remark 3"]),
        ("Both (Lemmas 1 and 2 of the paper)", ["Lemma 1", "Lemma 2"]),
        ("Line (Definition 4 and Proposition 11 of the paper)", ["Definition 4", "Proposition 11"]),
        ("One key (not in the paper)", []),
        ("Weights (Gordan 1873, not in the paper)", []),
        ("One key", None),
        ("One key (of the paper)", None),
        ("", None),
    ],
)
def test_the_end_of_a_title_is_read(title, names):
    assert named(title) == names


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_box_has_the_number_of_the_paper(path):
    known = {statement.name for statement in statements().values()}
    titles = boxes(path.read_text(encoding="utf-8"))
    assert [title for title in titles if named(title) is None] == []
    assert {name for title in titles for name in named(title)} <= known
