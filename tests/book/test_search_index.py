"""The index of the search: pieces of pages with a place, a title, names and words."""

import re

import pytest
import yaml
from extensions import loaded
from test_previews import LEDGER, PAGE


@pytest.fixture(scope="module")
def extension():
    with loaded("assocmem_search") as module:
        yield module


@pytest.fixture
def found(extension, tmp_path):
    """What is found by kind and anchor: title, names, words."""
    with loaded("assocmem_articles") as finished:
        read_article = finished.read_article
    articles = {}
    for name, text in (("page", PAGE), ("ledger", LEDGER)):
        path = tmp_path / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        articles[f"book/{path.name}"] = read_article(path)
    data = extension.index(articles, {"fact": ["pair"]})
    assert data["pages"] == [["book/page.html", "1. Memories"], ["book/ledger.html", "The ledger"]]
    pages = [path for path, _ in data["pages"]]
    return {
        (data["kinds"][kind], anchor or pages[page]): rest for page, kind, anchor, *rest in data["pieces"]
    }


def test_every_kind_of_piece_has_its_place(found):
    assert list(found) == [
        ("page", "book/page.html"),
        ("equation", "equation-eq-a"),
        ("section", "part"),
        ("statement", "thm"),
        ("figure", "fig"),
        ("term", "term-load"),
        ("check", "check-one"),
        ("page", "book/ledger.html"),
        ("ledger entry", "theorem-2"),
    ]


def test_formulas_are_plain_text(found):
    assert found["equation", "equation-eq-a"] == ["Equation (1.1)", ["Equation 1.1"], "x = 1"]


def test_statements_go_by_their_own_and_by_the_papers_name(found):
    title, names, words = found["statement", "thm"]
    assert title == "Theorem 1.1 Fits (Theorem 2 of the paper)"
    assert names == ["Theorem 1.1", "Theorem 2", "Fits"]
    assert words == "It fits."


def test_an_entry_goes_by_its_number_and_by_its_title(found):
    assert found["ledger entry", "theorem-2"][:2] == ["Theorem 2: Fits", ["Theorem 2", "Fits"]]
    assert found["ledger entry", "theorem-2"][2].startswith("Whatever is small fits.")


def test_a_check_is_found_by_what_was_measured(found):
    title, names, words = found["check", "check-one"]
    assert title == "Theorem 2: Share of those that fit"
    assert names == ["Theorem 2"]
    assert "0.123" not in words


def test_a_caption_is_not_said_twice(found):
    assert found["figure", "fig"] == ["Figure 1.1 A cloud.", ["Figure 1.1"], "Of dots."]


def test_code_is_not_found(found):
    assert not [words for words in found.values() if "alpha" in str(words)]


def test_what_readers_may_call_things_is_a_list_of_words(extension):
    words = yaml.safe_load(extension.WORDS.read_text(encoding="utf-8"))
    assert words
    for word, others in words.items():
        assert isinstance(word, str), word
        assert others, word
        assert all(isinstance(other, str) and re.fullmatch(r"[\w -]+", other) for other in others), word
