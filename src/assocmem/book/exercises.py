"""Exercises of the sections: those that are answered by running a cell, and what their answers are.

The cell of an answer has the tag ``answer`` and says in its header what it prints. It imports what it uses,
so that it runs alone: a reader may paste it anywhere, and a page may run it by itself.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

ANSWER = "answer"
"""The tag of a cell that answers an exercise."""
SAYS = "says"
"""The entry in the header of such a cell with all that it prints."""
EDGE = re.compile(r"^`{3,}\{solution-(?P<kind>start|end)\} *(?P<label>\S*)", re.MULTILINE)
"""Where a solution that has cells begins, with the name of its exercise, and where it ends."""


class Answer(NamedTuple):
    """A cell that answers an exercise."""

    exercise: str
    """Label of the exercise, empty if the cell does not stand in a solution."""
    source: str
    says: str
    """What the header of the cell promises that it prints."""
    printed: str | None
    """What it printed; None if it was not executed."""


def answers(cells: Iterable[dict]) -> list[Answer]:
    """The answers among the cells of a section.

    Parameters
    ----------
    cells : iterable of dict

    Returns
    -------
    list of Answer
        In the order of the section.
    """
    found, label = [], ""
    for cell in cells:
        source, metadata = "".join(cell["source"]), cell["metadata"]
        if cell["cell_type"] == "markdown":
            for match in EDGE.finditer(source):
                label = match["label"] if match["kind"] == "start" else ""
        elif ANSWER in metadata.get("tags", []):
            printed = None if cell.get("execution_count") is None else _printed(cell)
            found.append(Answer(label, source, str(metadata.get(SAYS, "")), printed))
    return found


def _printed(cell):
    texts = [
        "".join(output.get("text", "")) for output in cell["outputs"] if output["output_type"] == "stream"
    ]
    return "".join(texts).strip()


def wrong_answers(cells: Iterable[dict]) -> list[str]:
    """Lines for the answers of an executed section that are not what their cell promises.

    Parameters
    ----------
    cells : iterable of dict

    Returns
    -------
    list of str
    """
    return [
        f"the answer to {a.exercise or 'no exercise'} is {a.printed!r}, and its cell promises {a.says!r}"
        for a in answers(cells)
        if a.printed != a.says
    ]
