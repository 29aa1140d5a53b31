"""What a section is: its text notebook, its parameters with their ranges, and its profiles.

The parameters cell is read as a syntax tree and never executed. Each line has the form ::

    n = 2000  # number of pairs; [3, 1000000]

with a literal default, a meaning, and after the last semicolon the valid range: an interval, ``{a, b}`` for
a choice, or ``any``. The range of a list holds for each of its items.
"""

import ast
import difflib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assocmem.checks import UsageError, nearest
from assocmem.sweeps.parameters import Parameter, parse_range, read_settings
from assocmem.sweeps.project import project_root

CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
SETTING = re.compile(r"^(\w+) = .*?#\s*(.+);\s*([^;]+?)\s*$")
PROFILES = ("smoke", "default", "paper")


@dataclass(frozen=True)
class Section:
    """A text notebook of the book."""

    name: str
    path: Path
    text: str

    @cached_property
    def cells(self):
        """List of (header, source) pairs, the front matter left out."""
        parts = CELL.split(self.text)[1:]
        return list(zip(parts[::2], parts[1::2], strict=True))

    @cached_property
    def title(self):
        """The first heading."""
        found = re.search(r"^# # (.+)$", self.text, re.MULTILINE)
        return found.group(1) if found else self.name

    @cached_property
    def parameters(self):
        """Parameters by name, in the order of the cell.

        Raises
        ------
        UsageError
            Where the cell is not the list of commented literals that it should be.
        """
        return {p.name: p for p in map(self._parameter, self._statements())}

    def tagged(self, tag):
        """Source of the first cell with a tag, or an empty string."""
        return next((source for header, source in self.cells if f'"{tag}"' in header), "")

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


def section_names(root=None):
    """Names of all sections, sorted."""
    return sorted(path.stem for path in ((root or project_root()) / "notebooks").glob("*.py"))


def load_section(name, root=None):
    """Read one section.

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


def load_profile(profile, section, root=None):
    """Settings that a profile gives to a section, as a mapping.

    Raises
    ------
    UsageError
        For an unknown profile or an unreadable file.
    """
    if profile not in PROFILES:
        raise UsageError(f"unknown profile {profile!r}{nearest(profile, PROFILES)}")
    path = (root or project_root()) / "notebooks" / "profiles" / f"{profile}.yml"
    settings = read_settings(path).get(section.name) or {}
    if not isinstance(settings, dict):
        raise UsageError(f"{path.name}: {section.name} must be a mapping of parameters to values")
    return settings


def resolve(section, *layers):
    """Values of all parameters: the defaults, overridden by each mapping in turn.

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


def _unknown_parameter(name, section):
    near = difflib.get_close_matches(str(name), section.parameters, n=1, cutoff=0.0)
    hint = (
        f": the nearest is {near[0]!r}, {section.parameters[near[0]].range_text}" if near else ": it has none"
    )
    return f"unknown parameter {name!r} of section {section.name}{hint}"
