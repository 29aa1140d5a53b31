"""Which part of this package a piece of Python depends on, and fingerprints that change when that does."""

import ast
import hashlib
import io
import json
import tokenize
from functools import cache
from pathlib import Path

import yaml

PACKAGE = Path(__file__).parent
POINTS = PACKAGE / "points.py"
DIGITS = 16  # of a fingerprint


def reachable_modules(*texts):
    """Source files of this package that pieces of Python import, directly or through others, sorted."""
    found, todo = set(), list(texts)
    while todo:
        for name in _imported_modules(todo.pop()):
            for path in (PACKAGE / f"{name}.py", PACKAGE / f"{name}.yml"):
                if path.is_file() and path not in found:
                    found.add(path)
                    todo += [path.read_text(encoding="utf-8")] if path.suffix == ".py" else []
    return sorted(found)


def neighbours(path):
    """Source files beside a module, or below, that it imports, directly or through others, sorted."""
    found, todo = {path}, [path]
    while todo:
        for name in _imports(todo.pop().read_text(encoding="utf-8")):
            place = path.parent.joinpath(*name.split("."))
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                if file.is_file() and file not in found:
                    found.add(file)
                    todo.append(file)
    return sorted(found - {path})


def syntax_tree(text):
    """Syntax tree of a piece of Python; empty for a notebook's magic, or what its execution will refuse."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def fingerprint(text):
    """Hexadecimal digits that tell one version of a piece of Python, and of all it imports, from another.

    Comments, docstrings and empty lines do not count.
    """
    digest = hashlib.sha256(bare(text).encode())
    for path in reachable_modules(text):
        source = path.read_text(encoding="utf-8")
        digest.update(path.name.encode() + b"\0")
        digest.update((bare(source) if path.suffix == ".py" else source).encode() + b"\0")
    return digest.hexdigest()[:DIGITS]


def recipe(name):
    """Fingerprint of one function of ``points.py`` alone, without what it imports; empty for any other."""
    if name not in _functions(POINTS, POINTS.stat().st_mtime_ns):
        return ""
    return hashlib.sha256(bare(function_source(name)).encode()).hexdigest()[:DIGITS]


def fingerprint_of_sweep(path):
    """Fingerprint of what a sweep file asks for; comments and layout do not count, nor does its title."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content.pop("title", None)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:DIGITS]


def function_source(name):
    """Text of one function of ``points.py``.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    return _functions(POINTS, POINTS.stat().st_mtime_ns)[name]


@cache
def _functions(path, _changed):
    text = path.read_text(encoding="utf-8")
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.get_source_segment(text, node) for node in nodes}


def bare(text):
    """A piece of Python without comments, docstrings and empty lines.

    Cut out of the text itself, so that all versions of Python give the same.
    """
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in _docstrings(ast.parse(text)):
        first, last = node.lineno - 1, node.end_lineno - 1
        before = lines[first].encode()[: node.col_offset].decode()  # the tree counts bytes
        after = lines[last].encode()[node.end_col_offset :].decode()
        lines[first : last + 1] = [before + after] + [""] * (last - first)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value


def _imports(text):
    """Dotted names that a piece of Python may import, relative ones as if they were not."""
    for node in ast.walk(syntax_tree(text)):
        if isinstance(node, ast.ImportFrom):
            yield from [node.module] if node.module else []
            yield from (".".join(filter(None, [node.module, alias.name])) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _imported_modules(text):
    """Modules of this package that a piece of Python may import."""
    return {name.split(".")[1] for name in _imports(text) if name.startswith("assocmem.")}
