"""Parameters with their types and ranges, and YAML files that set them."""

import contextlib
import math
import re
import reprlib
import unicodedata
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import ClassVar

import yaml

from assocmem.checks import UsageError

LONGEST = 60
"""Characters of a refused value that a message shows at most, so that it stays one line."""

MOST_LINE = 1000
"""Characters that are shown and stored of the text of an error. Chosen by judgement."""

INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
"""An integer in decimal digits: nothing that YAML 1.1 or Python would read as another number than it seems,
such as ``010`` (eight), ``1:30`` (ninety) or ``1_0`` (ten)."""

REAL = re.compile(
    r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?\.?inf(inity)?|\.?nan", re.IGNORECASE
)
"""A number in decimal digits, or infinity, or nan, which every range leaves out."""

HOW = "written in decimal digits, like 10 or 1.5e-3, without leading zeros, underscores or colons"
"""Said about a number that is written in any other way."""


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
            items = yaml.load(value, _Loader) if isinstance(value, str) else value
            if not isinstance(items, list) or not items:
                raise ValueError
            return [self._convert_item(item) for item in items]
        except (ValueError, TypeError, OverflowError, RecursionError, yaml.YAMLError):
            how = f", {HOW}" if self.item_type in (int, float) and _in_odd_digits(value) else ""
            raise UsageError(f"{self.name} = {short(value)}: must be {self.range_text}{how}") from None

    def _convert_item(self, value):
        kind = self.item_type
        if isinstance(value, str) and kind is not str:
            value = _parse_scalar(value.strip(), kind)
        if kind is float and type(value) is int:
            value = float(value)
        wrong = type(value) is not kind or (kind is float and math.isnan(value))
        wrong = wrong or (kind is str and not is_word(value))
        if wrong or value not in self.allowed:
            raise ValueError
        return value


def _parse_scalar(text, kind):
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower())
    return integer(text) if kind is int else number(text)


def integer(text: str) -> int:
    """An integer from text in decimal digits.

    Raises
    ------
    ValueError
        For anything else, also for what `int` would take: ``1_0``, or digits of another script.
    """
    if not INTEGER.fullmatch(text.strip()):
        raise ValueError(f"{short(text)}: must be an integer, {HOW}")
    return int(text)


def number(text: str) -> float:
    """A number from text in decimal digits.

    Raises
    ------
    ValueError
        For anything else, also for what `float` would take: ``1_0``, or digits of another script; and for
        digits so large that they would become infinity.
    """
    text = text.strip()
    value = float(re.sub(r"\.(?=[in])", "", text.lower())) if REAL.fullmatch(text) else None
    if value is None or (math.isinf(value) and text[-1].isdigit()):
        raise ValueError(f"{short(text)}: must be a number, {HOW}")
    return value


def is_word(text: str) -> bool:
    """Whether a file in UTF-8 and a line on a terminal can carry a text: no control characters, no halves of
    surrogate pairs.
    """
    return not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text)


def _in_odd_digits(value):
    """Whether a value, or an item of a list or of its text, is like a number but not in decimal digits."""
    if isinstance(value, list):
        return any(isinstance(item, str) and _in_odd_digits(item) for item in value)
    if not isinstance(value, str) or not re.search(r"\d", value):
        return False
    words = value.strip().strip("[]").split(",")
    return any(re.search(r"\d", word) and not REAL.fullmatch(word.strip()) for word in words)


def short(value: object) -> str:
    """What a message shows of a value: its beginning, in one line; text that was given stands as it was."""
    try:
        text = value if isinstance(value, str) else _bounded.repr(value)
    except Exception:  # an object that cannot show itself, or an integer of more than 4,300 digits
        text = f"something of the type {type(value).__name__}"
    text = one_line(text[: 10 * LONGEST])
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def one_line(text: str) -> str:
    """A text without line ends, and with escapes for what a terminal or a file in UTF-8 cannot show."""
    text = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def text_of(error: BaseException) -> str:
    """What an error says, in one line; empty where it has no text, or none that can be had."""
    try:
        return one_line(str(error)[: 2 * MOST_LINE])[:MOST_LINE]
    except BaseException:
        return ""


_bounded = reprlib.Repr()
_bounded.maxlevel, _bounded.maxlist, _bounded.maxdict, _bounded.maxstring = 3, 20, 20, LONGEST


def parse_range(text: str) -> Interval | Choice | Anything:
    """Read ``[0, 1)``, ``(0, inf)``, ``{cpu, cuda}`` or ``any``.

    Raises
    ------
    ValueError
        For anything else.
    """
    if text == "any":
        return Anything()
    if text[:1] == "{" and text[-1:] == "}":
        return Choice(text, tuple(word.strip() for word in text[1:-1].split(",")))
    if text and text[0] in "([" and text[-1] in ")]" and text.count(",") == 1:
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
        settings = deepcopy(_parsed(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"{path} is not valid YAML: {one_line(str(error))}") from None
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise UsageError(f"{path} must be a YAML mapping of parameters to values")
    return settings


@lru_cache(maxsize=32)
def _parsed(text):
    """What a text says, which nobody changes: the entries of the sections are asked for again and again."""
    return yaml.load(text, _Loader)


class _Loader(yaml.SafeLoader):
    """A loader that refuses what other loaders pass over, and guesses less.

    A key given twice is refused. What is not plainly true, false, nothing or a number in decimal digits
    (``010``, ``1:30``, ``0x10``, ``1_000``, ``yes``, a date) stays the text that it is, so that the parameter
    that it is for takes it as a word, or is named with that text in the refusal, as for a value of the
    command line.
    """

    yaml_implicit_resolvers: ClassVar[dict] = {}

    def compose_mapping_node(self, anchor):
        node = super().compose_mapping_node(anchor)
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = [key for key, count in Counter(keys).items() if count > 1]
        if twice:
            raise yaml.YAMLError(
                f"key {short(repr(twice[0]))} is given twice, {str(node.start_mark).strip()}"
            )
        return node

    def construct_plain(self, node):
        """An integer, a number or a truth value, also one with a tag; else the text as it stands."""
        text = self.construct_scalar(node)
        for read in (integer, number):
            with contextlib.suppress(ValueError):
                return read(text)
        return {"true": True, "false": False}.get(text.lower(), text)


def _resolve(kind, pattern, first):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"^(?:{pattern})$"), list(first))


_resolve("null", "~|null|Null|NULL|", ["~", "n", "N", ""])
_resolve("merge", "<<", "<")
_resolve("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_resolve("int", INTEGER.pattern, "-+0123456789")
# With a sign in the exponent, as YAML 1.1 has it: 1e8 is text there, which a parameter may take as a number.
_resolve("float", r"[-+]?((0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?", "-+0123456789.")
_resolve("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", "-+.")
for _kind in ("int", "float", "bool"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_plain)
