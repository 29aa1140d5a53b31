"""What an earlier rendering has left is used again only where Sphinx sees all that has changed."""

import os

import pytest

from assocmem.book.rendered import begin, finish, sources


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book" / "sections").mkdir(parents=True)
    (tmp_path / "_build" / "html").mkdir(parents=True)
    for name in ("index.md", "book/part.md", "book/sections/one.ipynb"):
        (tmp_path / name).write_text("old")
        os.utime(tmp_path / name, (1e9, 1e9))
    digests = sources(tmp_path, ["index"])
    assert [path.removeprefix(f"{tmp_path}/") for path in digests] == [
        "book/part.md",
        "book/sections/one.ipynb",
        "index.md",
    ]
    finish(tmp_path / "record", digests)
    return tmp_path


def is_used_again(book):
    begin(book / "record", sources(book, ["index"]), book / "_build" / "html")
    assert not (book / "record").exists(), "it is complete when it has ended"
    return (book / "_build" / "html").exists()


def test_a_complete_rendering_of_the_same_sources_is_used_again(book):
    assert is_used_again(book)


def test_one_that_was_killed_or_failed_is_not(book):
    assert is_used_again(book)
    assert not is_used_again(book)


def test_a_younger_source_is_left_to_sphinx(book):
    (book / "index.md").write_text("new")
    os.utime(book / "index.md", (4e9, 4e9))
    assert is_used_again(book)


@pytest.mark.parametrize("name", ["index.md", "book/part.md", "book/sections/one.ipynb"])
def test_an_older_source_that_has_changed_is_seen(book, name):
    (book / name).write_text("new")
    os.utime(book / name, (1e9, 1e9))
    assert not is_used_again(book)
