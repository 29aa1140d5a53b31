"""The page of errata: each row is whole, and what it leads to and leans on is there."""

import re
from pathlib import Path

import pytest
import yaml

from assocmem.book.claims import statements
from assocmem.book.ledger import ledger, ledger_page

ROOT = Path(__file__).resolve().parents[2]
CELLS = ("Where", "It says", "It should say", "What depends on it", "How the book knows")


@pytest.fixture(scope="module")
def page():
    return (ROOT / "book/errata.md").read_text(encoding="utf-8")


def rows(page):
    """Rows of all tables, each a list of cells."""
    tables = re.findall(r"```\{list-table\}\n(?::[^\n]*\n)*\n(.*?)```", page, re.DOTALL)
    return [[re.split(r"\n  - ", row) for row in re.split(r"^\* - ", t, flags=re.M)[1:]] for t in tables]


def test_each_row_says_where_what_and_how_one_knows(page):
    tables = rows(page)
    assert len(tables) == 3
    assert tuple(cell.strip() for cell in tables[0][0]) == CELLS
    for row in (row for table in tables for row in table):
        assert len(row) == len(CELLS), row
        assert all(cell.strip() for cell in row), row


def test_the_page_leans_on_tests_that_exist_and_on_all_of_them(page):
    source = (ROOT / "tests/experiments/test_errata.py").read_text(encoding="utf-8")
    named = re.findall(r"^([WCS]\d+) +(test_\w+)$", page, re.M)
    assert {test for _, test in named} == set(re.findall(r"^def (test_\w+)", source, re.M))
    cells = {row[0].split(".")[0].strip("* "): row[-1] for table in rows(page) for row in table[1:]}
    assert {tag for tag, _ in named} == {tag for tag, last in cells.items() if "#errata-tests" in last}


def test_its_links_lead_to_entries_of_the_ledger_and_places_that_are_there(page):
    own = set(re.findall(r"^\(([\w-]+)\)=", page, re.M))
    for target in re.findall(r"\]\(#([\w-]+)\)", page):
        assert target in own or target in statements(), target
    notebooks = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.py"))
    for label in re.findall(r"\{ref\}`[^<`]+ <([\w-]+)>`", page):
        assert f"({label})=" in notebooks, label
    for name in re.findall(r"\{doc\}`sections/(\w+)`", page):
        assert (ROOT / f"notebooks/{name}.py").exists(), name


def test_it_is_in_the_book_and_the_ledger_leads_to_it():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    assert files.index("book/errata") == files.index("book/ledger") + 1
    assert "{doc}`errata`" in ledger_page(ledger({}), {"scalar_theory": "Theory"})
