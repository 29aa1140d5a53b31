"""Pieces of MyST Markdown for the pages that the build writes."""

import re
from collections.abc import Mapping, Sequence


def list_table(rows: Sequence[Sequence[object]], name: str) -> str:
    """A table with a head, whose cells may hold any Markdown.

    Parameters
    ----------
    rows : sequence of sequences
        Cells, in Markdown; the first row is the head.
    name : str
        Class of the table, for its style.

    Returns
    -------
    str
    """
    return _table(rows, "header-rows: 1", f"class: {name}")


def table_of_facts(facts: Mapping[str, object]) -> str:
    """A table with the names of facts in a narrow first column; they are plain, the facts any Markdown."""
    return _table(list(facts.items()), "widths: 20 80", "stub-columns: 1")


def _table(rows, *options):
    cells = [f"{'*' if i == 0 else ' '} - {cell}" for row in rows for i, cell in enumerate(row)]
    return "\n".join(["```{list-table}", *(f":{option}" for option in options), "", *cells, "```", ""])


def section_link(name: str, titles: Mapping[str, str]) -> str:
    """A link to a section from a page beside the folder of the sections.

    Parameters
    ----------
    name : str
    titles : mapping
        Titles of the sections by name.

    Returns
    -------
    str
    """
    return f"{{doc}}`{titles[name]} <sections/{name}>`"


def plain(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return re.sub(r"([\\`*_\[\]<$])", r"\\\1", text)


def table_anchor(table: str) -> str:
    """The name of a stored table's place on the page of tables.

    Parameters
    ----------
    table : str
        Such as ``"ridgeless_limit/slice"``.

    Returns
    -------
    str
    """
    return "table-" + re.sub(r"[/_]", "-", table)
