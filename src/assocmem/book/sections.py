"""What a section is: its text notebook, its parameters with their ranges, and its profiles.

The parameters cell is read as a syntax tree and never executed. Each line has the form ::

    n = 2000  # number of pairs; [3, 1000000]

with a literal default, a meaning, and after the last semicolon the valid range: an interval, ``{a, b}`` for
a choice, or ``any``. The range of a list holds for each of its items.

What parameters demand of each other stands in a cell tagged ``requires``, which sees their values::

    requires = [("d", d, 2 * d > n, f"above n / 2 = {n / 2:g}")]

It lists names, values, whether they will do, and what would.
"""

import ast
import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assocmem.checks import UsageError, nearest
from assocmem.sweeps.parameters import Parameter, parse_range, read_settings, short
from assocmem.sweeps.project import project_root

CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
"""The first line of a cell; what follows the marker says what kind of cell it is and which tags it has."""
SETTING = re.compile(r"^(\w+) = .*?#\s*(.+);\s*([^;]+?)\s*$")
"""A line of the parameters cell: the name, the meaning and the range are captured."""
ENTRIES = "notebooks/sections.yml"
"""What is said about each section besides its notebook, in the order of the book."""
PAGES = "book/sections/"
"""The folder of the executed sections, with which the names of their pages begin."""
SECOND = "_checks"
"""What the name of a section's second page has after that of the section, where it has one."""
DEFAULT = "default"
"""The profile of the values in the parameters cell; the others stand in the entry of a section."""
PROFILES = ("smoke", DEFAULT, "paper")


@dataclass(frozen=True)
class Section:
    """A text notebook of the book."""

    name: str
    path: Path
    text: str

    @cached_property
    def cells(self) -> list[tuple[str, str]]:
        """The header and the source of each cell, the front matter left out."""
        parts = CELL.split(self.text)[1:]
        return list(zip(parts[::2], parts[1::2], strict=True))

    @cached_property
    def title(self) -> str:
        """The first heading."""
        found = re.search(r"^# # (.+)$", self.text, re.MULTILINE)
        return found.group(1) if found else self.name

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Parameters by name, in the order of the cell.

        Raises
        ------
        UsageError
            Where the cell is not the list of commented literals that it should be.
        """
        return {p.name: p for p in map(self._parameter, self._statements())}

    def tagged(self, tag: str) -> str:
        """Source of the first cell with a tag, or an empty string where no cell has it."""
        return next((source for header, source in self.cells if f'"{tag}"' in header), "")

    def listed(self, tag: str, values: Mapping[str, object]) -> list:
        """What the cell with a tag puts into the list of that name, given values of the parameters.

        Parameters
        ----------
        tag : str
            ``"requires"`` or ``"memory"``.
        values : mapping
            A value for every parameter.

        Returns
        -------
        list
            Empty where no cell has the tag.

        Raises
        ------
        UsageError
            If the cell raises.
        """
        space = dict(values)
        try:
            exec(compile(self.tagged(tag) or f"{tag} = []", f"{self.name}, {tag} cell", "exec"), space)
            return list(space[tag])
        except Exception as error:
            raise self.cell_error(tag, error) from None

    def cell_error(self, tag: str, error: Exception) -> UsageError:
        """What to raise where the cell with a tag does not do what it should.

        Parameters
        ----------
        tag : str
        error : Exception
            What it raised.

        Returns
        -------
        UsageError
        """
        line = " ".join(str(error).split())
        return UsageError(f"section {self.name}, {tag} cell: {type(error).__name__}: {line}")

    def _statements(self):
        source = self.tagged("parameters")
        lines = source.splitlines()
        try:
            body = ast.parse(source).body
        except SyntaxError as error:
            where = f"section {self.name}, parameters cell, line {(error.text or '').strip()!r}"
            raise UsageError(f"{where}: {error.msg}") from None
        for node in body:
            yield node, lines[node.lineno - 1 : node.end_lineno]

    def _parameter(self, statement):
        node, lines = statement
        line = " ".join(part.strip() for part in lines)
        where = f"section {self.name}, parameters cell, line {line!r}"
        found = SETTING.match(line)
        simple = (
            isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        )
        if not (found and simple):
            raise UsageError(f"{where}: must read NAME = LITERAL  # meaning; range")
        try:
            default = ast.literal_eval(node.value)
            parameter = Parameter(found[1], default, found[2].strip(), parse_range(found[3]))
            parameter.convert(default)
            parameter.range_text  # noqa: B018 - fails for a type that no range describes
        except (ValueError, KeyError, AttributeError) as error:
            raise UsageError(f"{where}: {error}") from None
        return parameter


def section_names(root: Path | None = None) -> list[str]:
    """Names of all sections that there are as notebooks, sorted; ``root`` is that of the project."""
    return sorted(path.stem for path in ((root or project_root()) / "notebooks").glob("*.py"))


def section_of(page: str) -> str:
    """The section that a page shows, or a part of it.

    Parameters
    ----------
    page : str
        From the table of contents, beginning with `PAGES`.

    Returns
    -------
    str
        Name of the section.
    """
    return page.removeprefix(PAGES).removesuffix(SECOND)


def load_section(name: str, root: Path | None = None) -> Section:
    """Read one section.

    Parameters
    ----------
    name : str
    root : Path, optional
        Of the project.

    Returns
    -------
    Section

    Raises
    ------
    UsageError
        For an unknown name, with the nearest one.
    """
    root = root or project_root()
    names = section_names(root)
    if name not in names:
        raise UsageError(f"unknown section {name!r}{nearest(name, names)}")
    path = root / "notebooks" / f"{name}.py"
    return Section(name, path, path.read_text(encoding="utf-8"))


def read_entries(root: Path | None = None) -> dict[str, dict]:
    """The entries of ``notebooks/sections.yml`` by section, in the order of the book.

    Parameters
    ----------
    root : Path, optional
        Of the project.

    Returns
    -------
    dict

    Raises
    ------
    UsageError
        If the file cannot be read, or is not a mapping of mappings.
    """
    entries = read_settings((root or project_root()) / ENTRIES)
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise UsageError(f"{ENTRIES}: section {name} must be a mapping")
    return entries


def load_profile(profile: str, section: Section, root: Path | None = None) -> dict[str, object]:
    """Settings that a profile gives to a section.

    Parameters
    ----------
    profile : str
        One of `PROFILES`.
    section : Section
    root : Path, optional
        Of the project.

    Returns
    -------
    dict
        Values by name of the parameter; none for the default, or where the section has no entry.

    Raises
    ------
    UsageError
        For an unknown profile, an unreadable file, or settings that are not a mapping.
    """
    if profile not in PROFILES:
        raise UsageError(f"unknown profile {short(profile)!r}{nearest(profile, PROFILES)}")
    if profile == DEFAULT:
        return {}
    settings = read_entries(root).get(section.name, {}).get(profile) or {}
    if not isinstance(settings, dict):
        raise UsageError(
            f"{ENTRIES}: section {section.name}: {profile} must be a mapping of parameters to values"
        )
    return settings


def resolve(section: Section, *layers: Mapping[str, object]) -> dict[str, object]:
    """Values of all parameters: the defaults, overridden by each mapping in turn.

    Parameters
    ----------
    section : Section
    *layers : mapping
        Values by name, as they stand on a command line or in YAML.

    Returns
    -------
    dict
        A value of the right type for every parameter.

    Raises
    ------
    UsageError
        For an unknown name (with the nearest one and its range), a wrong type or a value out of range.
    """
    values = {name: p.default for name, p in section.parameters.items()}
    for layer in layers:
        for name, value in layer.items():
            if name not in values:
                raise UsageError(_unknown_parameter(name, section))
            values[name] = section.parameters[name].convert(value)
    return values


def require_relations(section: Section, values: Mapping[str, object]) -> None:
    """Check that values of parameters go together, by the cell tagged ``requires``.

    Parameters
    ----------
    section : Section
    values : mapping
        A value for every parameter, as `resolve` returns it.

    Raises
    ------
    UsageError
        Naming the first parameter that does not go with the others, its value and what would; or if the cell
        does not list what it should.
    """
    relations = section.listed("requires", values)
    try:
        refused = [(name, value, allowed) for name, value, ok, allowed in relations if not ok]
    except Exception as error:
        raise section.cell_error("requires", error) from None
    for name, value, allowed in refused[:1]:
        raise UsageError(f"{name} = {short(value)}: must be {allowed}")


def _unknown_parameter(name, section):
    near = difflib.get_close_matches(str(name), section.parameters, n=1, cutoff=0.0)
    hint = (
        f": the nearest is {near[0]!r}, {section.parameters[near[0]].range_text}" if near else ": it has none"
    )
    return f"unknown parameter {name!r} of section {section.name}{hint}"
