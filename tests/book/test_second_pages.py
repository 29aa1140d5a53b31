"""Second pages of sections: where they begin, and that the table of contents has them."""

import json

from assocmem.book.second_pages import checks_of_story, split, write_second_pages
from assocmem.book.sections import section_of

SECOND = '# %% [markdown] tags=["second-page"]\n# # The rest\n'


def test_cells_are_divided_at_the_tag():
    cells = [{"metadata": {"tags": tags}} for tags in ([], ["a"], ["second-page"], [])]
    assert list(map(len, split(cells))) == [2, 2]
    assert list(map(len, split(cells[:2]))) == [2, 0]


def test_a_page_and_its_second_belong_to_one_section():
    assert section_of("book/sections/tiny_checks") == section_of("book/sections/tiny") == "tiny"


def test_a_divided_section_needs_its_second_page_in_the_contents(project):
    notebook = project / "book" / "sections" / "tiny.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text(json.dumps({"cells": []}), encoding="utf-8")
    first, second = "book/sections/tiny", "book/sections/tiny_checks"
    assert write_second_pages([first], project) == []
    (line,) = write_second_pages([first, second], project)
    assert line.startswith(f"_toc.yml lists {second}")
    source = project / "notebooks" / "tiny.py"
    source.write_text(source.read_text(encoding="utf-8") + SECOND, encoding="utf-8")
    (line,) = write_second_pages([first], project)
    assert line == f"section tiny has a second page: _toc.yml must list {second} below it"
    assert write_second_pages([first, second], project) == []
    assert (project / f"{second}.ipynb").read_bytes() == notebook.read_bytes()
    assert checks_of_story(notebook) == 0
