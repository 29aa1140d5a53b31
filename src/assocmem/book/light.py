"""Code that runs inside a page: which modules of the package need no torch, and a small archive with them.

A browser can have Python with numpy and scipy, and no torch. A module is light if all that it imports, at any
depth, is of Python itself, numpy, scipy, or light. What light modules ask of psutil, how much memory there
is, a stand-in in the archive answers.
"""

import ast
import base64
import io
import sys
import zipfile
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import lazy_loader

PACKAGE = "assocmem"
"""The name of the package."""
THERE = {"numpy", "scipy"}
"""What a page has besides Python itself."""
STAND_INS = {
    "psutil": '''\
"""Stands in for psutil where there are no processes: how much memory a page may have."""

from types import SimpleNamespace


def virtual_memory():
    """A page may have two gibibytes or more."""
    return SimpleNamespace(available=2**31)


def Process():
    """The process has used none of it."""
    return SimpleNamespace(memory_info=lambda: SimpleNamespace(vms=0))
''',
    "resource": '''\
"""Stands in for the limits of a process: there are none."""

RLIMIT_AS, RLIM_INFINITY = 9, -1


def getrlimit(which):
    """No limit."""
    return RLIM_INFINITY, RLIM_INFINITY
''',
}
"""Modules that a page lacks and light ones import, in words that are enough for them."""
ASIDE = {"book", "capacity", "sweeps"}
"""Rooms that a page has no use for."""
UNDATED = (1980, 1, 1, 0, 0, 0)
"""The date of all files in the archive, so that the same text makes the same bytes."""


def light_modules(source: Path) -> dict[str, Path]:
    """Return the light modules of the package.

    Parameters
    ----------
    source : Path
        The folder that has the package.

    Returns
    -------
    dict
        Paths by dotted name, in the order of the names.
    """
    return dict(_light_modules(source))


@cache
def _light_modules(source):
    paths = {name: path for name, path in _modules(source).items() if not ASIDE & set(name.split(".")[1:2])}
    needs = {name: _imports(path, name, set(_modules(source))) for name, path in paths.items()}
    light = {name for name, wanted in needs.items() if all(map(_there, wanted - set(paths)))}
    while heavy := {name for name in light if needs[name] & set(paths) - light}:
        light -= heavy
    return {name: paths[name] for name in sorted(light)}


@cache
def _modules(source):
    """All modules of the package; those that a page has no use for as well."""
    return {_dotted(path, source): path for path in sorted((source / PACKAGE).rglob("*.py"))}


def _dotted(path, source):
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _there(name):
    """Whether a module that is not of the package is there in a page."""
    first = name.partition(".")[0]
    return first in sys.stdlib_module_names or first in {*THERE, *STAND_INS, lazy_loader.__name__}


def _imports(path, module, package):
    """What a module imports, anywhere in its text; names of the package are those of its modules."""
    room = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return imported(path.read_text(encoding="utf-8"), package, room)


def imported(text: str, package: set[str] | frozenset[str] = frozenset(), room: str = "") -> set[str]:
    """Return the modules that a text imports.

    Parameters
    ----------
    text : str
        Python.
    package : set of str
        Dotted names of modules: where ``from a import b`` means the module ``a.b``, that is what is returned.
    room : str
        The package in which relative imports begin.

    Returns
    -------
    set of str

    Raises
    ------
    SyntaxError
        If the text is no Python.
    """
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = room.split(".")[: len(room.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {inner if (inner := f"{base}.{a.name}") in package else base for a in node.names}
    return found


def is_light(text: str, source: Path) -> bool:
    """Tell whether code can run in a page, by its imports and what it takes from the face of the package.

    Parameters
    ----------
    text : str
        Python that imports all it uses.
    source : Path
        The folder that has the package.

    Returns
    -------
    bool
        False also for what is no Python.
    """
    light = light_modules(source)
    try:
        wanted, tree = imported(text, set(_modules(source))), ast.parse(text)
    except SyntaxError:
        return False
    own = {name for name in wanted if name.partition(".")[0] == PACKAGE}
    face = _face(source / PACKAGE / "__init__.pyi")
    return (
        all(map(_there, wanted - own))
        and own <= light.keys()
        and all(face.get(name, PACKAGE) in light for name in _taken_from_face(tree))
    )


def _face(stub):
    """The module behind each name of the face."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    nodes = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {a.asname or a.name: f"{PACKAGE}.{node.module}" for node in nodes for a in node.names}


def _taken_from_face(tree):
    """Names that code takes from the face, as ``am.name`` or ``from assocmem import name``."""
    called = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == PACKAGE
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE and not node.level:
            yield from (alias.name for alias in node.names)


def archive(source: Path) -> bytes:
    """Return a zip file with the light modules, the face, and what they need that a page lacks.

    Parameters
    ----------
    source : Path
        The folder that has the package.

    Returns
    -------
    bytes
        The same for the same texts.
    """
    texts = {p.relative_to(source).as_posix(): _text(p) for p in light_modules(source).values()}
    texts[f"{PACKAGE}/__init__.pyi"] = _text(source / PACKAGE / "__init__.pyi")
    texts |= {f"{name}.py": text for name, text in STAND_INS.items()} | _lazy_loader()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, text in sorted(texts.items()):
            file.writestr(zipfile.ZipInfo(name, UNDATED), text.encode(), zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def _text(path):
    return path.read_text(encoding="utf-8")


def _lazy_loader():
    """The package that fills the face, with its licence."""
    name, files = lazy_loader.__name__, distribution("lazy-loader").files or []
    licences = {f"{name}/{file.name}": file.read_text() for file in files if file.stem.startswith("LICEN")}
    return {f"{name}/__init__.py": _text(Path(lazy_loader.__file__))} | licences


@cache
def script(source: Path) -> str:
    """Return the archive as a script: unlike a file, a script can also be had where a page lies on a disk.

    Parameters
    ----------
    source : Path
        The folder that has the package.

    Returns
    -------
    str
        JavaScript that sets ``assocmem.light`` to the archive in base 64.
    """
    return f'(globalThis.assocmem ||= {{}}).light = "{base64.b64encode(archive(source)).decode()}";\n'
