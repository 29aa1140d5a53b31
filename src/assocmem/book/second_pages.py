"""Second pages: a section may keep its story on one page and the rest of its checks on another.

A cell of text with the tag ``second-page`` begins the second page with its title. Both pages come from one
notebook and one run, and the second one's file is a copy of the executed notebook.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from assocmem.book.claims import checks_of
from assocmem.book.rendered import write_if_changed
from assocmem.book.sections import PAGES, SECOND, Section, load_section, section_of

SPLIT = "second-page"
"""The tag of the cell of text with which the second page begins."""


def split(cells: Sequence[dict]) -> tuple[list[dict], list[dict]]:
    """The cells of a notebook that are on its first page, and those that are on its second.

    Parameters
    ----------
    cells : sequence of dict

    Returns
    -------
    story, rest : list of dict
        The latter is empty where there is no second page.
    """
    place = next((i for i, cell in enumerate(cells) if SPLIT in cell["metadata"].get("tags", [])), len(cells))
    return list(cells[:place]), list(cells[place:])


def checks_of_story(notebook: str | Path) -> int:
    """How many checks of an executed notebook are on its first page.

    Parameters
    ----------
    notebook : path

    Returns
    -------
    int
    """
    story, _ = split(json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"])
    return len(checks_of(story))


def is_divided(section: Section) -> bool:
    """Whether a section has a second page."""
    return any(f'"{SPLIT}"' in header for header, _ in section.cells)


def write_second_pages(pages: Iterable[str], root: Path) -> list[str]:
    """Give each second page of a section its file.

    Parameters
    ----------
    pages : iterable of str
        From `assocmem.book.build.contents`.
    root : Path
        Of the project.

    Returns
    -------
    list of str
        The sections that are divided and have no second page in ``_toc.yml``, or the reverse.
    """
    problems = []
    listed = {page for page in pages if page.startswith(PAGES)}
    for name in sorted(set(map(section_of, listed))):
        second = f"{PAGES}{name}{SECOND}"
        divided = is_divided(load_section(name, root))
        if divided and second in listed:
            text = (root / PAGES / f"{name}.ipynb").read_text(encoding="utf-8")
            write_if_changed(root / f"{second}.ipynb", text)
        elif divided:
            problems.append(f"section {name} has a second page: _toc.yml must list {second} below it")
        elif second in listed:
            problems.append(f"_toc.yml lists {second}, and no cell of section {name} has the tag {SPLIT}")
    return problems
