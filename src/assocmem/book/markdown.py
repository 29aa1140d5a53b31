"""Pieces of MyST Markdown for the pages that the build writes."""

import re


def list_table(rows, name):
    """A table.

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
    cells = [f"{'*' if i == 0 else ' '} - {cell}" for row in rows for i, cell in enumerate(row)]
    return "\n".join(["```{list-table}", ":header-rows: 1", f":class: {name}", "", *cells, "```", ""])


def plain(text):
    """Text in which no character means anything to Markdown."""
    return re.sub(r"([\\`*_\[\]<$])", r"\\\1", text)
