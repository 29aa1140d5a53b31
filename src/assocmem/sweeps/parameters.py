"""Parameters with their types and ranges, and YAML files that set them."""

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import yaml

from assocmem.checks import UsageError

LONGEST = 60
"""Characters of a refused value that a message shows at most, so that it stays one line."""


@dataclass(frozen=True)
class Interval:
    """Numbers between two ends, each included or not."""

    text: str
    low: float
    high: float
    closed: tuple[bool, bool]

    def __contains__(self, x: float) -> bool:
        above = x > self.low or (self.closed[0] and x == self.low)
        return above and (x < self.high or (self.closed[1] and x == self.high))


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    text: str
    words: tuple[str, ...]

    def __contains__(self, x: object) -> bool:
        return x in self.words


@dataclass(frozen=True)
class Anything:
    """No restriction."""

    text: str = "any"

    def __contains__(self, x: object) -> bool:
        return True


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell."""

    name: str
    default: object
    meaning: str
    allowed: Interval | Choice | Anything

    @property
    def item_type(self) -> type:
        """Type of the value, or of the items of a list."""
        items = self.default if isinstance(self.default, list) else [self.default]
        types = {type(x) for x in items}
        return float if types == {int, float} else types.pop()

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.default, list)

    @property
    def type_name(self) -> str:
        """``float``, ``list of int``, ..."""
        return f"list of {self.item_type.__name__}" if self.is_list else self.item_type.__name__

    @property
    def range_text(self) -> str:
        """Type and range in words, for messages and tables."""
        nouns = {int: "an integer", float: "a number", bool: "true or false", str: "a word"}
        noun = nouns[self.item_type]
        if isinstance(self.allowed, Choice):
            noun = f"one of {', '.join(self.allowed.words)}"
        elif isinstance(self.allowed, Interval):
            noun += f" in {self.allowed.text}"
        return f"a list, each item {noun}" if self.is_list else noun

    def convert(self, value: object) -> int | float | str | bool | list:
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
            raise UsageError(f"{self.name} = {shortened(value)}: must be {self.range_text}") from None

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


def shortened(value: object) -> str:
    """A value in one line of at most `LONGEST` characters, for a message that refuses it."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def parse_range(text: str) -> Interval | Choice | Anything:
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


def read_settings(path: str | PathLike[str]) -> dict:
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
