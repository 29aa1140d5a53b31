"""Citations say which page of which edition; without git they say what they can."""

import subprocess
from datetime import date

import pytest

from assocmem import __version__
from assocmem.book import citing
from assocmem.sweeps.project import project_root

OWN = citing.Edition("0.1.0", "abc123", date(2026, 3, 4))


def test_a_citation_names_page_version_commit_day_and_address():
    words = citing.citation("The ledger", OWN, "https://x.example/book/ledger.html")
    assert words == (
        "The assocmem project, “The ledger”, in: Linear associative memory, executed, version 0.1.0, "
        "commit abc123, 4 March 2026, https://x.example/book/ledger.html."
    )
    record = citing.bibtex("A & B", "book/the_page", OWN)
    assert record.startswith("@incollection{assocmem-the-page,\n")
    assert "title = {A \\& B}" in record
    assert "year = {2026}" in record
    assert "url" not in record
    assert record.count("{") == record.count("}")


def test_what_is_not_known_is_left_out():
    bare = citing.Edition("0.1.0", "", None)
    assert citing.edition_in_words(bare) == "version 0.1.0"
    assert "year" not in citing.bibtex("A", "a", bare)


def test_the_foot_of_a_page_leads_to_a_print_that_is_there():
    html = citing.footer("The <ledger>", "book/ledger", OWN, pdf="../book.pdf")
    assert "The &lt;ledger&gt;" in html
    assert '<a href="../book.pdf">' in html
    assert "pdf" not in citing.footer("x", "x", OWN)
    assert "cite" not in citing.footer("", "search", OWN)


def test_an_edition_is_that_of_the_commit(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert citing.edition(tmp_path) == citing.Edition(__version__, "", None)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert citing.edition(tmp_path).day == date(1970, 1, 2)
    monkeypatch.setenv("PATH", str(tmp_path))  # no git at all
    assert citing.edition(tmp_path).commit == ""


def test_two_looks_at_one_commit_see_the_same(monkeypatch):
    root = project_root()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True)
    if head.returncode:
        pytest.skip("not a git checkout")
    own = citing.edition(root)
    assert head.stdout.startswith(own.commit.removesuffix("-dirty"))
    assert own == citing.edition(root)
