"""What a reader is told about code that a page keeps folded, and which tables and explorers a figure has."""

import ast
from collections.abc import Iterable, Iterator

from assocmem.book.exercises import ANSWER
from assocmem.book.promises import MADE_BY, figure_of, makes
from assocmem.sweeps.fingerprints import syntax_tree

FOLDED = "hide-input"
"""The tag of a cell whose code is folded."""
IMPORTS = (ast.Import, ast.ImportFrom)
UNSEEN = ("remove-cell", "remove-input")
"""Tags of cells whose code is not on the page at all."""


def label(cell: dict, number: str) -> str:
    """What stands on the fold of a cell.

    Parameters
    ----------
    cell : dict
        A code cell.
    number : str
        Of its figure, such as ``2.4``; for a cell without one it is not used.

    Returns
    -------
    str
    """
    source = "".join(cell["source"])
    made = set(makes(source))
    if figure_of(cell["metadata"]).get("name"):
        return f"Code of Fig. {number}"
    if "check" in made:
        return "How this was checked"
    if "table" in made:
        return "Code of this table"
    kinds = {type(line) for line in syntax_tree(source).body}
    if kinds & set(IMPORTS) and kinds <= {*IMPORTS, ast.Expr}:
        return "Imports"
    return "Code of this step"


def labelled(cells: Iterable[dict], chapter: str, first: int = 1) -> Iterator[dict]:
    """Cells with labels on those that are folded.

    Parameters
    ----------
    cells : iterable of dict
        Of one page.
    chapter : str
        Number of the section, with which the numbers of its figures begin.
    first : int
        Number of the first figure of the page.

    Yields
    ------
    dict
    """
    count = first - 1
    for cell in cells:
        if cell["cell_type"] != "code":
            yield cell
            continue
        about = cell["metadata"].get("mystnb", {})
        count += bool(figure_of(cell["metadata"]).get("name"))
        if FOLDED not in cell["metadata"].get("tags", []):
            yield cell
            continue
        words = label(cell, f"{chapter}.{count}")
        told = about | {"code_prompt_show": words, "code_prompt_hide": words}
        yield cell | {"metadata": cell["metadata"] | {"mystnb": told}}


def visible(cells: Iterable[dict]) -> list[tuple[int, str]]:
    """Number and source of the code cells that a reader sees without a click.

    Parameters
    ----------
    cells : iterable of dict
        Of a notebook; the one with the parameters is shown as a table instead, and answers to exercises are
        folded with the solutions that they stand in.

    Returns
    -------
    list of (int, str)
        Cells are counted from one, those of text included.
    """
    hidden = {FOLDED, "parameters", ANSWER, *UNSEEN}
    return [
        (number, "".join(cell["source"]))
        for number, cell in enumerate(cells, 1)
        if cell["cell_type"] == "code" and not hidden & set(cell["metadata"].get("tags", []))
    ]


def plumbing(source: str) -> list[str]:
    """What a visible cell has that teaches nothing: imports, and calls that make a table, check or figure.

    Parameters
    ----------
    source : str

    Returns
    -------
    list of str
    """
    found = [f"a {kind}" for kind in makes(source) if kind in MADE_BY.values()]
    imports = any(isinstance(node, IMPORTS) for node in ast.walk(syntax_tree(source)))
    return found + ["imports"] * imports


# --- stored tables --------------------------------------------------------------------------------


def tables_behind(sources: Iterable[str]) -> list[list[str]]:
    """The stored tables whose numbers reach each cell, followed from name to name.

    Parameters
    ----------
    sources : iterable of str
        Of the code cells of a section, in order.

    Returns
    -------
    list of list of str
        For each cell names such as ``"ridgeless_limit/slice"``, in the order in which they are met.
    """
    holds: dict[str, list[str]] = {}
    behind = []
    for source in sources:
        found = []
        for node in syntax_tree(source).body:
            own = [*_read(node), *(table for name in _names(node, ast.Load) for table in holds.get(name, []))]
            found += own
            for name in _names(node, ast.Store):
                kept = [] if isinstance(node, ast.Assign) else holds.get(name, [])
                holds[name] = list(dict.fromkeys([*kept, *own]))
        behind.append(list(dict.fromkeys(found)))
    return behind


def _names(node, context):
    """Names that a statement reads or sets.

    What is called is a function and holds no numbers, and names of a comprehension end with it.
    """
    called = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    targets = [part.target for part in ast.walk(node) if isinstance(part, ast.comprehension)]
    inside = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return [
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name)
        and isinstance(part.ctx, context)
        and id(part) not in called
        and part.id not in inside
    ]


def _read(node):
    """Tables that a statement reads."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and "read_table" in ast.unparse(call.func):
            words = [word.value for word in call.args if isinstance(word, ast.Constant)]
            yield from (f"{words[0]}/{name}" for name in words[1:])
