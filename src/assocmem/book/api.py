"""The reference of the package: what is public, on which page it is told, and which sections use it.

All is read from the sources as syntax trees and nothing is imported. A name of the face is told on the page
of the face; all else that is public and has a docstring is told on the page of its room.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "assocmem"
"""The package, which is its own face."""
SOURCE = Path(__file__).resolve().parent.parent
"""Its folder."""
API = "book/api/"
"""The folder of the pages, with which their names begin."""
FACE = f"{API}face"
"""The page of the face."""
GROUND = "ground"
"""The page of the modules that lie in no room."""
ROOMS = (
    "pairs",
    "theory",
    "memories",
    "training",
    "deciding",
    "removal",
    "experiments",
    "capacity",
    "sweeps",
    "book",
    GROUND,
)
"""The rooms, in the order of the story; each has a page of its name."""
BRIEF = {"experiments", "sweeps", "book", GROUND}
"""Rooms whose names only this project calls: what they do is told, parameters and results are not."""
LEFT_OUT = {"__main__", "training.columns_gpu", "training.attention_gpu"}
"""Modules that cannot be imported everywhere, or that nobody imports."""
CODE = re.compile(r"(``[^`]+``|`[^`]+`)")
"""Code within a docstring: in two backticks or, where it is a name of the package, in one."""
SENTENCE = re.compile(r"(?<!\beq)(?<!\beqs)\.(?:\s+(?=[A-Z`\d])|$)")
"""The end of a sentence; an abbreviated equation is none."""
NAME = re.compile(r"(?:am\.|assocmem\.)?(?P<name>\w+)(?:\(.*\))?(?:\.[\w.]+(?:\(.*\))?)*")
"""A name of the face in a text, perhaps called, perhaps with something that it returns."""


@dataclass(frozen=True)
class Entry:
    """One public function or class.

    Attributes
    ----------
    name : str
        The dotted name under which it is told: that of the face, where it is on the face.
    home : str
        The dotted name in the module that defines it.
    page : str
        Of the book, without ending.
    summary : str
        First sentence of its docstring.
    kind : str
        ``"function"`` or ``"class"``.
    """

    name: str
    home: str
    page: str
    summary: str
    kind: str


# --- what is public -------------------------------------------------------------------------------


@cache
def face() -> dict[str, str]:
    """Names of the face in their order, with the dotted names in the modules that define them."""
    tree = ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8"))
    return {
        alias.name: f"{PACKAGE}.{node.module}.{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def modules(room: str) -> list[str]:
    """Dotted names of the modules of a room, without the package's own name; those within folders last.

    Parameters
    ----------
    room : str
        One of `ROOMS`.

    Returns
    -------
    list of str
    """
    folder = SOURCE if room == GROUND else SOURCE / room
    paths = folder.glob("*.py") if room == GROUND else folder.rglob("*.py")
    found = [path.relative_to(SOURCE).with_suffix("").parts for path in paths]
    names = sorted((len(parts), ".".join(parts)) for parts in found if parts[-1] != "__init__")
    return [name for _, name in names if name not in LEFT_OUT]


@cache
def entries() -> dict[str, Entry]:
    """Every public function and class that has a docstring, by its dotted name where it is defined."""
    shown = {home: f"{PACKAGE}.{name}" for name, home in face().items()}
    found = {}
    for room in ROOMS:
        for module in modules(room):
            for node in _definitions(module):
                home = f"{PACKAGE}.{module}.{node.name}"
                page = FACE if home in shown else API + room
                kind = "class" if isinstance(node, ast.ClassDef) else "function"
                text = first_sentence(ast.get_docstring(node))
                found[home] = Entry(shown.get(home, home), home, page, text, kind)
    return found


def _definitions(module):
    tree = ast.parse(module_path(module).read_text(encoding="utf-8"))
    kinds = ast.FunctionDef | ast.ClassDef
    public = (node for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_"))
    return [node for node in public if ast.get_docstring(node)]


def module_path(module: str) -> Path:
    """Where the source of a module is; its name is without that of the package."""
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")


def first_sentence(docstring: str) -> str:
    """The first sentence of a docstring, on one line.

    Parameters
    ----------
    docstring : str

    Returns
    -------
    str
        Without its full stop.
    """
    paragraph = " ".join(docstring.strip().split("\n\n")[0].split())
    return SENTENCE.split(paragraph)[0]


# --- where a name leads ---------------------------------------------------------------------------


def named(text: str) -> Entry | None:
    """The entry that a piece of inline code in a text means, if it is a name of the face or a whole path.

    Parameters
    ----------
    text : str
        Such as ``am.fit``, ``solve_scalar(0.6, 0.15)`` or ``assocmem.theory.crossover.crossover``.

    Returns
    -------
    Entry or None
    """
    whole = entries().get(text.partition("(")[0])
    if whole:
        return whole
    found = NAME.fullmatch(text)
    return entries()[face()[found["name"]]] if found and found["name"] in face() else None


def resolved(text: str, module: str) -> Entry | str | None:
    """What a name in a docstring means: an entry, a module (its dotted name), or neither.

    Parameters
    ----------
    text : str
        As it stands in single backticks.
    module : str
        The module of the docstring, with the package's name.

    Returns
    -------
    Entry, str or None
    """
    places = [f"{module}.{text}", text, f"{module.rpartition('.')[0]}.{text}", f"{PACKAGE}.{text}"]
    for place in places:
        if place in entries():
            return entries()[place]
    if text in face():
        return entries()[face()[text]]
    for place in places[1:]:
        if place.removeprefix(f"{PACKAGE}.") in _module_names() and place.startswith(f"{PACKAGE}."):
            return place
    return None


@cache
def _module_names():
    return {name for room in ROOMS for name in modules(room)}


def is_brief(module: str) -> bool:
    """Tell whether a module, with the package's name, lies in a room that is told in brief."""
    parts = module.split(".")
    return (parts[1] if len(parts) > 2 else GROUND) in BRIEF and module != PACKAGE


# --- who uses it ----------------------------------------------------------------------------------


def used(cells: Iterable[str]) -> set[str]:
    """Dotted names, where they are defined, of the public functions and classes that code uses.

    Parameters
    ----------
    cells : iterable of str
        Python, of which what cannot be parsed counts for nothing.

    Returns
    -------
    set of str
    """
    nodes = [node for cell in cells for node in _nodes(cell)]
    known, names = {}, set()
    for node in nodes:
        if isinstance(node, ast.Import):
            known |= {alias.asname: alias.name for alias in node.names if alias.asname}
        if isinstance(node, ast.ImportFrom) and node.module:
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    names |= set(known.values())
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            names.add(f"{known[node.value.id]}.{node.attr}")
    homes = {f"{PACKAGE}.{name}": home for name, home in face().items()}
    return {homes.get(name, name) for name in names} & entries().keys()


def _nodes(cell):
    try:
        return list(ast.walk(ast.parse(cell)))
    except SyntaxError:
        return []


# --- what the pages say ---------------------------------------------------------------------------


def markdown_summary(text: str) -> str:
    """A sentence of a docstring as Markdown, its code in single backticks."""
    parts = CODE.split(text)
    shown = [
        f"`{part.strip('`')}`" if i % 2 else re.sub(r"([\\*_\[\]<$|])", r"\\\1", part)
        for i, part in enumerate(parts)
    ]
    return "".join(shown)


def face_text() -> str:
    """The face as MyST Markdown: for each room a heading, a list of names, and the entries."""
    groups: dict[str, list[Entry]] = {}
    for home in face().values():
        entry = entries()[home]
        groups.setdefault(home.split(".")[1], []).append(entry)
    parts = []
    for room in (room for room in ROOMS if room in groups):
        parts += [f"## {room.capitalize()}", "", _listing(groups[room]), ""]
        parts.append(_eval("\n".join(map(_directive, groups[room]))))
    return "\n".join(parts)


def room_text(room: str) -> str:
    """The modules of a room as MyST Markdown: for each a heading, what it says of itself, and its entries.

    Parameters
    ----------
    room : str
        One of `ROOMS`.

    Returns
    -------
    str
    """
    parts = []
    for module in modules(room):
        full = f"{PACKAGE}.{module}"
        own = [entry for home, entry in entries().items() if home.rpartition(".")[0] == full]
        here = [entry for entry in own if entry.page != FACE]
        elsewhere = [_link(entry) for entry in own if entry.page == FACE]
        title = module if room == GROUND else module.partition(".")[2]
        told = f".. automodule:: {full}\n   :no-members:\n"
        parts += [f"## `{title}`", ""]
        if elsewhere:
            parts += [f"On the face, and told there: {', '.join(elsewhere)}.", ""]
        parts.append(_eval("\n".join([told, *map(_directive, here)])))
    return "\n".join(parts)


def _listing(own):
    lines = [f"{_link(entry)}\n: {markdown_summary(entry.summary)}.\n" for entry in own]
    return ":::{div} api-listing\n" + "\n".join(lines) + "\n:::\n"


def _link(entry):
    """A link to an entry of the face, as one would write its name."""
    return f"{{py:obj}}`am.{entry.name.rpartition('.')[2]} <{entry.name}>`"


def _directive(entry):
    members = "   :members:\n" if entry.kind == "class" else ""
    return f".. auto{entry.kind}:: {entry.name}\n{members}"


def _eval(text):
    return f"```{{eval-rst}}\n{text}```\n"


def linked(uses: Mapping[str, set[str]], home: str) -> list[str]:
    """Sections that use an entry, in the order of the mapping.

    Parameters
    ----------
    uses : mapping
        What each section uses, from `used`.
    home : str
        Dotted name of the entry where it is defined.

    Returns
    -------
    list of str
    """
    return [name for name, homes in uses.items() if home in homes]
