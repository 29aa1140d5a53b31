"""What a section is: its text notebook, its parameters with their ranges, and its profiles.

The parameters cell is read as a syntax tree and never executed. Each line has the form ::

    n = 2000  # number of pairs; [3, 1000000]

with a literal default, a meaning, and after the last semicolon the valid range: an interval, ``{a, b}`` for
a choice, or ``any``. The range of a list holds for each of its items.
"""

import ast
import difflib
import math
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
SETTING = re.compile(r"^(\w+) = .*?#\s*(.+);\s*([^;]+?)\s*$")
PROFILES = ("smoke", "default", "paper")


class UsageError(ValueError):
    """A request that cannot be carried out as it stands; its text is one line for the user."""


@dataclass(frozen=True)
class Interval:
    """Numbers between two ends, each included or not."""

    text: str
    low: float
    high: float
    closed: tuple[bool, bool]

    def __contains__(self, x):
        above = x > self.low or (self.closed[0] and x == self.low)
        return above and (x < self.high or (self.closed[1] and x == self.high))


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    text: str
    words: tuple[str, ...]

    def __contains__(self, x):
        return x in self.words


@dataclass(frozen=True)
class Anything:
    """No restriction."""

    text: str = "any"

    def __contains__(self, x):
        return True


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell."""

    name: str
    default: object
    meaning: str
    allowed: Interval | Choice | Anything

    @property
    def item_type(self):
        """Type of the value, or of the items of a list."""
        items = self.default if isinstance(self.default, list) else [self.default]
        types = {type(x) for x in items}
        return float if types == {int, float} else types.pop()

    @property
    def is_list(self):
        """Whether the value is a list."""
        return isinstance(self.default, list)

    @property
    def type_name(self):
        """``float``, ``list of int``, ..."""
        return f"list of {self.item_type.__name__}" if self.is_list else self.item_type.__name__

    @property
    def range_text(self):
        """Type and range in words, for messages and tables."""
        nouns = {int: "an integer", float: "a number", bool: "true or false", str: "a word"}
        noun = nouns[self.item_type]
        if isinstance(self.allowed, Choice):
            noun = f"one of {', '.join(self.allowed.words)}"
        elif isinstance(self.allowed, Interval):
            noun += f" in {self.allowed.text}"
        return f"a list, each item {noun}" if self.is_list else noun

    def convert(self, value):
        """Turn a command-line string or a YAML value into this parameter's type.

        Raises
        ------
        UsageError
            Naming the parameter, the value and what is allowed.
        """
        try:
            if not self.is_list:
                return self._convert_item(value)
            items = yaml.safe_load(value) if isinstance(value, str) else value
            if not isinstance(items, list) or not items:
                raise ValueError
            return [self._convert_item(item) for item in items]
        except (ValueError, TypeError, OverflowError, RecursionError, yaml.YAMLError):
            raise UsageError(f"{self.name} = {_short(value)}: must be {self.range_text}") from None

    def _convert_item(self, value):
        kind = self.item_type
        if isinstance(value, str) and kind is not str:
            value = _parse_scalar(value.strip(), kind)
        if kind is float and type(value) is int:
            value = float(value)
        wrong = type(value) is not kind or (kind is float and math.isnan(value))
        if wrong or value not in self.allowed:
            raise ValueError
        return value


def _parse_scalar(text, kind):
    if kind is bool:
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else None
    return kind(text)


def _short(value):
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


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


def parse_range(text):
    """Read ``[0, 1)``, ``(0, inf)``, ``{cpu, cuda}`` or ``any``.

    Raises
    ------
    ValueError
        For anything else.
    """
    if text == "any":
        return Anything()
    if text[0] == "{" and text[-1] == "}":
        return Choice(text, tuple(word.strip() for word in text[1:-1].split(",")))
    if text[0] in "([" and text[-1] in ")]" and text.count(",") == 1:
        low, high = (float(end) for end in text[1:-1].split(","))
        return Interval(text, low, high, (text[0] == "[", text[-1] == "]"))
    raise ValueError(f"{text!r} is no range: [low, high], (low, high), {{a, b}} or any")


def project_root():
    """Folder of the book's sources.

    It is ASSOCMEM_ROOT where that is set, else the checkout this package lies in, else the nearest folder
    above the working directory that has a ``_toc.yml`` and ``notebooks``.

    Raises
    ------
    UsageError
        If there is none.
    """
    named = os.environ.get("ASSOCMEM_ROOT")
    here = Path.cwd()
    candidates = [Path(named)] if named else [Path(__file__).resolve().parents[2], here, *here.parents]
    for folder in candidates:
        if (folder / "_toc.yml").is_file() and (folder / "notebooks").is_dir():
            return folder.resolve()
    raise UsageError("cannot find the book's sources: run inside a checkout, or set ASSOCMEM_ROOT to one")


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


def read_settings(path):
    """Read a YAML mapping.

    Raises
    ------
    UsageError
        If the file cannot be read, is not YAML, or is not a mapping.
    """
    try:
        settings = yaml.load(Path(path).read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        detail = " ".join(str(error).split())
        raise UsageError(f"{path} is not valid YAML: {detail}") from None
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise UsageError(f"{path} must be a YAML mapping of parameters to values")
    return settings


class _Loader(yaml.SafeLoader):
    """A loader that refuses what other loaders pass over: a key given twice."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise yaml.YAMLError(f"key {twice[0]!r} is given twice, {str(node.start_mark).strip()}")
        return super().construct_mapping(node, deep)


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


def nearest(name, names):
    """The end of a message about an unknown name: the nearest of those there are, and all of them."""
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
    return f": did you mean {near[0]!r}? Valid: {', '.join(names)}" if near else ""
