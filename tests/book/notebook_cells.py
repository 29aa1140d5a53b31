"""The cells of sections as people wrote them, read once for all tests, since that takes a while."""

from functools import cache

import jupytext

from assocmem.book.sections import load_section


@cache
def cells(name: str) -> list:
    """The cells of a section, which nobody changes."""
    return jupytext.read(load_section(name).path).cells


def markdown(name: str) -> str:
    """The text of a section, without its code."""
    return "\n".join(cell.source for cell in cells(name) if cell.cell_type == "markdown")
