"""Which part of this package a piece of Python depends on, and fingerprints that change when that does.

A fingerprint is blind to addresses. Where a piece of code imports from this package, the name of the module
is replaced by the fingerprint of that module's content, which in turn holds the fingerprints of what that one
imports. So a module can be renamed or moved and nothing changes, while a change of a single formula, however
deep below, changes all that rests on it. Where something is imported from the face of the package, as with
``import assocmem``, the modules count that the face names.
"""

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from assocmem.sweeps.parameters import read_settings

PACKAGE = Path(__file__).parents[1]
"""Folder of this package."""

POINTS = PACKAGE / "experiments" / "points.py"
"""The module of the point functions."""

DIGITS = 16
"""Hexadecimal digits of a fingerprint: 64 bits, so that two versions of one piece of code never share one."""


def reachable_modules(*texts: str) -> list[Path]:
    """Source files of this package that pieces of Python import, directly or through others.

    Parameters
    ----------
    *texts : str
        Pieces of Python.

    Returns
    -------
    list of Path
        Sorted. The faces of the package and of its rooms are left out: they define nothing themselves, and
        what the face of the package names is looked up there.
    """
    found, todo = set(), list(texts)
    while todo:
        for path in {path for _, _, _, path in _bindings(syntax_tree(todo.pop())) if path}:
            for file in (path, path.with_suffix(".yml")):
                if file.is_file() and file not in found:
                    found.add(file)
                    todo += [file.read_text(encoding="utf-8")] if file.suffix == ".py" else []
    return sorted(found)


def neighbours(path: Path) -> list[Path]:
    """Source files beside a module, or below, that it imports, directly or through others.

    Parameters
    ----------
    path : Path
        A module that is not of this package, for instance one with a point function of one's own.

    Returns
    -------
    list of Path
        Sorted, without the module itself.
    """
    found, todo = {path}, [path]
    while todo:
        for name in _imports(todo.pop().read_text(encoding="utf-8")):
            place = path.parent.joinpath(*name.split("."))
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                if file.is_file() and file not in found:
                    found.add(file)
                    todo.append(file)
    return sorted(found - {path})


def syntax_tree(text: str) -> ast.Module:
    """Syntax tree of a piece of Python; empty for a notebook's magic, or what its execution will refuse."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def fingerprint(text: str) -> str:
    """Digits that tell one version of a piece of Python, and of all it imports, from another.

    Comments, docstrings, empty lines and the addresses of modules do not count, nor do the words beside the
    type of a parameter: its meaning and range say what may be asked for, not what is computed.

    Parameters
    ----------
    text : str
        A piece of Python.

    Returns
    -------
    str
        Sixteen hexadecimal digits.

    Raises
    ------
    ValueError
        If modules of this package import each other in a circle.
    """
    return _deep(*_without_imports(text), {})[:DIGITS]


def recipe(name: str) -> str:
    """Fingerprint of one function of ``points.py`` alone, without what it imports.

    Parameters
    ----------
    name : str
        A point function.

    Returns
    -------
    str
        Sixteen hexadecimal digits; empty for a function that is not in ``points.py``.
    """
    if name not in _functions(POINTS, POINTS.stat().st_mtime_ns):
        return ""
    text, bindings = _without_imports(function_source(name))
    names = sorted(f"{scope}: {local} = {symbol}" for scope, local, symbol, _ in bindings)
    return hashlib.sha256("\n".join([text, *names]).encode()).hexdigest()[:DIGITS]


def fingerprint_of_sweep(path: Path) -> str:
    """Fingerprint of what a sweep file asks for; comments and layout do not count, nor does its title."""
    content = read_settings(path)
    content.pop("title", None)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:DIGITS]


def function_source(name: str) -> str:
    """Text of one function of ``points.py``.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    return ast.get_source_segment(*_functions(POINTS, POINTS.stat().st_mtime_ns)[name])


@cache
def _functions(path, _changed):
    """The text and the node of each function of a module; cutting one out takes longer than reading it."""
    text = path.read_text(encoding="utf-8")
    return {node.name: (text, node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def bare(text: str) -> str:
    """A piece of Python without comments, docstrings and empty lines.

    Cut out of the text itself, so that all versions of Python give the same.
    """
    return _without(text, list(_docstrings(ast.walk(ast.parse(text)))))


def _without(text, nodes):
    """A piece of Python without comments, empty lines and some pieces of its syntax tree."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    # From the end, so that what is cut out of a line leaves the places of what stands before it.
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        _cut(lines, node)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _cut(lines, node):
    """Take a piece of the syntax tree out of the lines, whose number stays the same."""
    first, last = node.lineno - 1, node.end_lineno - 1
    before = lines[first].encode()[: node.col_offset].decode()  # the tree counts bytes
    after = lines[last].encode()[node.end_col_offset :].decode()
    lines[first : last + 1] = [before + after] + [""] * (last - first)


def _docstrings(nodes):
    for node in nodes:
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value


def _meanings(nodes):
    """The strings beside the types of parameters, as in ``n: Annotated[int, "pairs; [2, 100]"]``."""
    for argument in nodes:
        note = argument.annotation if isinstance(argument, ast.arg) else None
        if isinstance(note, ast.Subscript) and ast.unparse(note.value).split(".")[-1] == "Annotated":
            texts = note.slice.elts[1:] if isinstance(note.slice, ast.Tuple) else []
            yield from (
                text for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)
            )


# --- imports of this package -------------------------------------------------------------------------------


def _deep(code, bindings, known, above=()):
    """All digits of a piece of Python whose imports stand for the content of what they import.

    ``known`` has the digits of the files that were met before, ``above`` the files that wait for this one.
    """
    digest = hashlib.sha256(code.encode())
    lines = [
        f"{scope}: {local} = {symbol} of {_content(path, known, above)}"
        for scope, local, symbol, path in bindings
    ]
    for line in sorted(lines):
        digest.update(b"\0" + line.encode())
    return digest.hexdigest()


def _content(path, known, above):
    """Digits of a file of this package, with the data file of its name beside it."""
    if path is None:
        return "the face of a room, which defines nothing itself"
    if path in above:
        circle = " -> ".join(file.stem for file in (*above, path))
        raise ValueError(f"modules import each other in a circle: {circle}")
    if path not in known:
        digits = _deep(*_parts(path, path.stat().st_mtime_ns), known, (*above, path))
        data = path.with_suffix(".yml")
        beside = data.read_bytes() if data.is_file() else b""
        known[path] = hashlib.sha256(digits.encode() + beside).hexdigest()
    return known[path]


@cache
def _parts(path, _changed):
    return _without_imports(path.read_text(encoding="utf-8"))


def _without_imports(text):
    """A bare piece of Python less what it imports from this package, and those imports as bindings.

    The texts in the annotations of parameters are taken out too.
    """
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    imports = [node for node in nodes if _is_ours(node)]
    return _without(text, [*_docstrings(nodes), *imports, *_meanings(nodes)]), list(_bindings(tree))


def _is_ours(node):
    """Whether a node of a syntax tree imports from this package and from nothing else."""
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and (node.module or "").split(".")[0] == "assocmem"
    return isinstance(node, ast.Import) and all(
        alias.name.split(".")[0] == "assocmem" for alias in node.names
    )


def _bindings(tree, scope="module") -> Iterator[tuple[str, str, str, Path | None]]:
    """What is imported from this package: where, under which name, which name there, and the file.

    The file is None for the face of a room. A module that is imported as such has the name "all"; the face of
    the package gives one import for each name that it offers.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue  # nothing is imported there
        inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _bindings(node, f"{scope}.{node.name}" if inner else scope)
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or "assocmem"
                if alias.name == "assocmem":
                    yield from ((scope, f"{local}.{name}", name, file) for name, file in _face().items())
                elif alias.name.startswith("assocmem."):
                    yield scope, local, "all", _file(alias.name)
        elif _is_ours(node):
            offered = _face() if node.module == "assocmem" else {}
            for alias in node.names:
                module, local = _file(f"{node.module}.{alias.name}"), alias.asname or alias.name
                file = module or offered.get(alias.name) or _file(node.module)
                yield scope, local, "all" if module else alias.name, file


def _face() -> dict[str, Path | None]:
    """What the package offers under its own name, and the files where it comes from."""
    stub = PACKAGE / "__init__.pyi"
    return _named(stub, stub.stat().st_mtime_ns) if stub.is_file() else {}


@cache
def _named(stub, _changed):
    nodes = [
        node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)
    ]
    return {alias.name: _file(f"assocmem.{node.module}") for node in nodes for alias in node.names}


def _file(module):
    """Source file of a module of this package; None for a package, or for what is no module."""
    path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return path if "." in module and path.is_file() else None


def _imports(text):
    """Dotted names that a piece of Python may import, relative ones as if they were not."""
    for node in ast.walk(syntax_tree(text)):
        if isinstance(node, ast.ImportFrom):
            yield from [node.module] if node.module else []
            yield from (".".join(filter(None, [node.module, alias.name])) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
