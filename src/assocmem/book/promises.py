"""What the cells of a section promise to show, and whether it is there.

A figure is promised by the caption in the header of its cell, a table or a check by the call that makes it,
anything else by the name in the last line. A promise that is not kept fails the run and the build.
"""

import ast
import base64
import binascii
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from pathlib import Path

from assocmem.book.claims import MIME
from assocmem.sweeps.fingerprints import syntax_tree

TABLE = "text/markdown"
"""The type under which an executed notebook carries a table."""
PICTURES = ("image/png", "image/jpeg", "image/svg+xml")
"""The types under which it carries a picture."""
LARGEST_OUTPUT = 2**24
"""Characters that one cell may put out. Figures take a tenth of that, and a page ten times as long stops the
browser of whoever opens it."""
COMMAND = re.compile(r"^\s*[%!]")
"""How a line begins that is a command of IPython rather than Python."""
MADE_BY = {"Table": "table", "check": "check", "panels": "figure"}
"""What a cell shows that calls one of these functions."""


# --- before a section runs ------------------------------------------------------------------------


def unreadable(headers: Iterable[str]) -> list[str]:
    """Lines for the headers of cells that have a caption or tags which are no JSON and would be lost.

    Parameters
    ----------
    headers : iterable of str
        What follows the marker of each cell.

    Returns
    -------
    list of str
        Each begins with ``cell NUMBER``.
    """
    lines = []
    for number, header in enumerate(headers, 1):
        for found in re.finditer(r"(?<!\S)(mystnb|tags)=", header):
            try:
                json.JSONDecoder().raw_decode(header, found.end())
            except ValueError:
                lines.append(f"cell {number}: its header has {found[1]} that cannot be read")
                break
    return lines


def mistakes(cells: Iterable[dict]) -> list[str]:
    """Lines for the cells of a section that cannot keep, or do not complete, what they promise.

    Parameters
    ----------
    cells : iterable of dict
        Of the notebook, not executed.

    Returns
    -------
    list of str
        Each begins with ``cell NUMBER``.
    """
    lines, places, tagged = [], {}, {}
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] != "code":
            continue
        metadata, source = cell["metadata"], _text(cell["source"])
        wrong = _untold(metadata)
        name = figure_of(metadata).get("name")
        if name in places:
            wrong.append(f"its figure has the name {name} of that in cell {places[name]}")
        for tag in metadata.get("tags", []):
            if tag in ("parameters", "memory", "requires") and tag in tagged:
                wrong.append(f"it has the tag {tag} of cell {tagged[tag]}")
            tagged.setdefault(tag, number)
        commands = [line for line in source.splitlines() if COMMAND.match(line)]
        if commands and not syntax_tree(source).body:
            wrong.append(f"{commands[0].strip()!r} is a command of IPython, and a section is plain Python")
        places |= {name: number} if name else {}
        lines += [f"cell {number}: {line}" for line in wrong]
    if "memory" not in tagged:
        lines.append("no cell has the tag memory, which says what grows with the parameters")
    return lines


def _untold(metadata):
    """What a header lacks of a caption."""
    if not isinstance(metadata.get("mystnb", {}), dict):
        return ["its header has mystnb that cannot be read"]
    if "mystnb" not in metadata:
        return []
    figure, image = figure_of(metadata), metadata["mystnb"].get("image")
    told = {"name": figure.get("name"), "caption": figure.get("caption")}
    told["alternative text"] = image.get("alt") if isinstance(image, dict) else None
    return [
        f"its figure has no {word}"
        for word, text in told.items()
        if not isinstance(text, str) or not text.strip()
    ]


def figure_of(metadata: dict) -> dict:
    """What the header of a cell says about its figure: name and caption; nothing where there is none.

    Parameters
    ----------
    metadata : dict
        Of the cell.

    Returns
    -------
    dict
    """
    about = metadata.get("mystnb")
    figure = about.get("figure") if isinstance(about, dict) else None
    return figure if isinstance(figure, dict) else {}


# --- after it has run -----------------------------------------------------------------------------


def broken_promises(cells: Iterable[dict]) -> list[str]:
    """Lines for the cells of an executed section that do not show what they promise.

    Parameters
    ----------
    cells : iterable of dict
        Of the executed notebook.

    Returns
    -------
    list of str
        Each begins with ``cell NUMBER``.
    """
    return [
        f"cell {number}: {line}"
        for number, cell in enumerate(cells, 1)
        if cell["cell_type"] == "code"
        for line in _broken(cell)
    ]


def skipped(cells: Iterable[dict]) -> list[str]:
    """A line for the cell that ended the run before the last one, without an error that counts as one.

    Parameters
    ----------
    cells : iterable of dict
        Of the executed notebook.

    Returns
    -------
    list of str
        None or one, which begins with ``cell NUMBER``.
    """
    code = [(number, cell) for number, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    stopped = [
        f"cell {number}: {output['ename']}: {_text(output.get('evalue', ''))}".rstrip(": ")
        for number, cell in code
        for output in cell["outputs"]
        if output["output_type"] == "error" and "raises-exception" not in cell["metadata"].get("tags", [])
    ]
    waiting = [
        f"cell {number} was not executed"
        for number, cell in code
        if cell["execution_count"] is None and syntax_tree(_text(cell["source"])).body
    ]
    return (stopped + waiting)[:1]


def _broken(cell):
    """What one cell lacks."""
    outputs = cell["outputs"]
    if sum(map(len, _strings(outputs))) > LARGEST_OUTPUT:
        yield f"it puts out more than the {LARGEST_OUTPUT >> 20} MiB that a page can show"
        return
    shown = list(_shown(outputs))
    kinds = {kind for kind, _, _ in shown}
    name = figure_of(cell["metadata"]).get("name")
    if name and "figure" not in kinds:
        yield f"its figure {name} has no picture"
    elif not name:
        for kind in makes(_text(cell["source"])):
            if kind not in kinds:
                yield f"the {kind} that it makes is not shown"
        last = _named_last(_text(cell["source"]))
        if last and not kinds - {"warning"}:
            yield f"its last line names {last}, and nothing is shown"
    for kind, type_, data in shown:
        if kind == "table" and data.startswith("|") and data.count("\n|") < 2:
            yield "its table has no rows"
        fault = picture_fault(_bytes(type_, data), type_) if kind == "figure" else ""
        if fault:
            yield f"its picture {fault}"


def makes(source: str) -> list[str]:
    """Kinds of output that a cell makes by what it calls, functions that it only defines left out.

    Parameters
    ----------
    source : str
        Of the cell.

    Returns
    -------
    list of str
        Some of table, check, figure and text.
    """
    nodes = list(_executed(syntax_tree(source)))
    called = {_name(node.func) for node in nodes if isinstance(node, ast.Call)}
    kinds = [kind for name, kind in MADE_BY.items() if name in called]
    lines = [node.value for node in syntax_tree(source).body if isinstance(node, ast.Expr)]
    printed = [line for line in lines if isinstance(line, ast.Call) and _name(line.func) == "print"]
    to_page = [line for line in printed if "file" not in {keyword.arg for keyword in line.keywords}]
    return kinds + ["text"] * bool(to_page)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _executed(child)


def _name(function):
    return getattr(function, "id", getattr(function, "attr", ""))


def _named_last(source):
    """The name that is the last line of a cell, which thereby asks to see it."""
    body = syntax_tree(source).body
    ends = body and isinstance(body[-1], ast.Expr) and isinstance(body[-1].value, ast.Name)
    return body[-1].value.id if ends else ""


def _shown(outputs):
    """Kind, type and content of each output that has one of these kinds or any other."""
    for output in outputs:
        data = output.get("data", {})
        pictures = [type_ for type_ in PICTURES if type_ in data]
        if output["output_type"] == "stream":
            yield ("text" if output["name"] == "stdout" else "warning"), "", _text(output["text"])
        elif MIME in data:
            yield "check", MIME, ""
        elif pictures:
            yield "figure", pictures[0], _text(data[pictures[0]])
        elif TABLE in data:
            yield "table", TABLE, _text(data[TABLE])
        elif data:
            yield "value", "", ""


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _text(source):
    return source if isinstance(source, str) else "".join(source)


def _bytes(type_, data):
    if type_ == "image/svg+xml":
        return data.encode()
    try:
        return base64.b64decode(data)
    except binascii.Error:
        return b"?"  # no picture of any kind


# --- pictures -------------------------------------------------------------------------------------


def picture_fault(content: bytes, type_: str) -> str:
    """What is wrong with a picture, or an empty string.

    Parameters
    ----------
    content : bytes
    type_ : str
        One of `PICTURES`.

    Returns
    -------
    str
        How a sentence about the picture goes on.
    """
    if not content.strip():
        return "is empty"
    if type_ == "image/svg+xml":
        return _fault_of_drawing(content)
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content)) as image:
            least_and_most = image.convert("RGBA").getextrema()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        return f"is no whole {type_.partition('/')[2].upper()}"
    blank = all(low == high for low, high in least_and_most)
    return "has one colour and shows nothing" if blank else ""


def _fault_of_drawing(content):
    try:
        root = ET.fromstring(content)
    except ET.ParseError as error:
        return f"is no SVG: {error}"
    if root.tag.rpartition("}")[2] != "svg":
        return f"is no SVG: it begins with {root.tag}"
    return "" if len(root) else "shows nothing"


def still_pictures(folder: Path) -> list[str]:
    """Lines for the pictures of a folder, and of those in it, that cannot be shown.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of str
        Each begins with the path of the picture from the folder.
    """
    types = {".png": PICTURES[0], ".jpg": PICTURES[1], ".jpeg": PICTURES[1], ".svg": PICTURES[2]}
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in types):
        fault = picture_fault(path.read_bytes(), types[path.suffix.lower()])
        lines += [f"{path.relative_to(folder).as_posix()}: the picture {fault}"] if fault else []
    return lines
