"""A sweep file: which point function, at which points.

A YAML mapping with the keys ``point`` (a name of `assocmem.experiments.points`), ``title``, ``fixed``
(parameters that all points share) and ``points``: a block, or a list of blocks whose points come one after
another. A block gives each parameter a value, or several:

    d: 40                                        one value
    d: [30, 40, 60]                              a list
    d: {from: 6, to: 10}                         a range, both ends included; ``step`` where it is not 1
    load: {from: 0.1, to: 0.6, count: 11}        evenly spaced
    ridge: {from: 1e-8, to: 1, count: 9, scale: log}
    seed: {count: 100}                           0 to 99; ``first`` where it is not 0
    zip: {n: [20, 30], d: [7, 9]}                several parameters together

and stands for all combinations. ``minutes`` says how long a point of the block may take on the machine that
it is meant for.
"""

import hashlib
import itertools
import json
import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from assocmem.checks import UsageError, nearest
from assocmem.sweeps.parameters import LONGEST, is_word, number, read_settings, short
from assocmem.sweeps.point_functions import PointFunction, point_function

KEYS = "point", "title", "fixed", "points"
"""What may stand in a sweep file."""

MOST = 1_000_000
"""Points of a block, and values of a range, at most: more is a mistake rather than a wish."""

FORMS = "a value, a list, {from, to, step}, {from, to, count, scale} or {count, first}"
"""What a parameter may be given, for messages."""

KEY_DIGITS = 32
"""Hexadecimal digits of a point's key: 128 bits, so that no two of all points ever meet."""

VALUE_DIGITS = 12
"""Digits of a value in a range: fewer than a float has, so that 0.1 + 2 * 0.1 is 0.3."""


@dataclass(frozen=True)
class Point:
    """One point of a sweep.

    Attributes
    ----------
    parameters : dict
        A value for every parameter.
    key : str
        Tells it from all other points of all sweeps.
    minutes : float
        Expected time, 0 where nothing is said.
    """

    parameters: dict
    key: str
    minutes: float = 0.0


@dataclass(frozen=True)
class Sweep:
    """What a sweep file asks for.

    Attributes
    ----------
    path : Path
        Of the file.
    title : str
        In a few words, what it is about.
    function : PointFunction, or what a plugin has made
    fixed : dict
        Parameters that all points share.
    points : list of Point
        In the order of the file, each once.
    """

    path: Path
    title: str
    function: PointFunction
    fixed: dict
    points: list[Point]

    @property
    def store(self) -> Path:
        """Where results go: beside the file."""
        return self.path.with_suffix(".sqlite")

    @property
    def table(self) -> Path:
        """Where they are exported: beside the file."""
        return self.path.with_suffix(".csv")


def read_sweep(path: str | PathLike[str]) -> Sweep:
    """Read a sweep file and work out its points.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    Sweep

    Raises
    ------
    UsageError
        If the file cannot be read or asks for what makes no sense; the message names the entry.
    """
    path = Path(path).absolute()  # a point function may change the working directory
    if path.suffix != ".yml":
        raise UsageError(f"{path}: a sweep file must end in .yml")
    if path.exists() and not path.is_file():  # to read from a pipe would wait for ever
        raise UsageError(f"cannot read {path}: not a file")
    content = read_settings(path)
    _require_words(path, content)
    for key in content:
        if key not in KEYS:
            raise UsageError(f"{path}: unknown key {short(repr(key))}{nearest(key[:LONGEST], KEYS)}")
    if not isinstance(content.get("point"), str):
        raise UsageError(f"{path}: point must name a point function")
    title = _title(path, content)
    fixed, blocks = content.get("fixed") or {}, content.get("points")
    blocks = blocks if isinstance(blocks, list) else [blocks]
    if not isinstance(fixed, dict) or not blocks or not all(isinstance(block, dict) for block in blocks):
        raise UsageError(f"{path}: fixed must be a mapping, points a block or a list of blocks")
    for part in (fixed, *blocks):
        _require_words(path, part)
    try:
        function, points = point_function(content["point"]), {}
        for block in blocks:
            minutes = block.get("minutes", 0)
            if _parsed(minutes) is None or isinstance(minutes, str) or minutes < 0:
                raise UsageError(f"minutes = {short(repr(minutes))}: must be a number >= 0")
            for settings in _expand(block, function):
                both = fixed.keys() & settings.keys()
                if both:
                    raise UsageError(f"{', '.join(sorted(both))}: in fixed, and in points as well")
                values = function.convert(fixed | settings)
                point = Point(values, point_key(function.name, values), float(minutes))
                points.setdefault(point.key, point)
        first = next(iter(points.values())).parameters
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    common = {name: first[name] for name in fixed if name in first}
    return Sweep(path, title, function, common, list(points.values()))


def point_key(name: str, parameters: dict) -> str:
    """Digits that tell a point from all others.

    Parameters
    ----------
    name : str
        Of the point function.
    parameters : dict
        A value for each of its parameters.

    Returns
    -------
    str
    """
    text = json.dumps([name, parameters], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def _title(path, content):
    title = content.get("title")
    if title is None:
        return path.stem
    text = " ".join(str(title).split()) if isinstance(title, str | int | float) else None
    if text is None or not is_word(text):
        raise UsageError(f"{path}: title = {short(title)}: must be a few words")
    return text


def _require_words(path, mapping):
    for key in mapping:
        if not isinstance(key, str):
            raise UsageError(f"{path}: {short(repr(key))}: must be a word")


def _expand(block, function):
    """The combinations of a block, as mappings of parameters to values as they stand there."""
    together = block.get("zip", {})
    twice = block.keys() & together if isinstance(together, dict) else ()
    if twice:
        raise UsageError(f"{', '.join(sorted(map(str, twice)))}: in zip, and beside it as well")
    axes = []
    for name, spec in block.items():
        if name == "zip":
            axes.append(_together(spec, function))
        elif name != "minutes":
            axes.append([{name: value} for value in _values(name, spec, function)])
        size = math.prod(map(len, axes))
        if size > MOST:  # before the memory is full of the values of more parameters
            raise UsageError(f"points: a block of {size} points, at most {MOST} are allowed")
    for parts in itertools.product(*axes):
        yield {name: value for part in parts for name, value in part.items()}


def _together(spec, function):
    if not isinstance(spec, dict) or not spec:
        raise UsageError("zip must be a mapping of parameters to lists")
    columns = {name: _values(name, values, function) for name, values in spec.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(f"zip: lists of different lengths, {short(lengths)}")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _values(name, spec, function):
    """The values that one entry of a block stands for."""
    parameter = function.parameters.get(name)
    if isinstance(spec, list) and not (parameter and parameter.is_list and not _nested(spec)):
        values = spec
    elif isinstance(spec, dict):
        try:
            values = _range(name, spec)
        except OverflowError:
            raise UsageError(
                f"{short(name)} = {short(spec)}: must be {FORMS}, of numbers that are not as large"
            ) from None
    else:
        values = [spec]
    if not values:
        raise UsageError(f"{short(name)} = {short(spec)}: no value at all")
    return values


def _nested(spec):
    return bool(spec) and all(isinstance(item, list) for item in spec)


def _range(name, spec):
    """The values of ``{from, to, ...}`` or ``{count, ...}``."""
    shape = frozenset(map(str, spec))
    numbers = {key: _parsed(value) for key, value in spec.items() if key != "scale"}
    if not numbers or any(x is None for x in numbers.values()):
        raise UsageError(f"{short(name)} = {short(spec)}: must be {FORMS}")
    count = numbers.get("count", 2)
    if not isinstance(count, int) or not 1 <= count <= MOST:
        raise UsageError(f"{short(name)} = {short(spec)}: count must be an integer in [1, {MOST}]")
    if shape in ({"count"}, {"count", "first"}):
        return [numbers.get("first", 0) + i for i in range(count)]
    if shape in ({"from", "to"}, {"from", "to", "step"}):
        low, high, step = numbers["from"], numbers["to"], numbers.get("step", 1)
        if step <= 0 or high < low or (high - low) / step > MOST:
            raise UsageError(
                f"{short(name)} = {short(spec)}: must have from <= to, step > 0 and at most {MOST} steps"
            )
        if all(isinstance(x, int) for x in (low, high, step)):
            return list(range(low, high + 1, step))
        steps = math.floor((high - low) / step * (1 + 1e-12) + 1e-12)
        return [_typed(low + i * step) for i in range(steps + 1)]
    if shape in ({"from", "to", "count"}, {"from", "to", "count", "scale"}):
        return _spaced(name, spec, numbers["from"], numbers["to"], count)
    raise UsageError(f"{short(name)} = {short(spec)}: must be {FORMS}")


def _spaced(name, spec, low, high, count):
    scale = spec.get("scale", "linear")
    if scale not in ("linear", "log") or (scale == "log" and min(low, high) <= 0):
        raise UsageError(f"{short(name)} = {short(spec)}: scale must be linear, or log between numbers > 0")
    shares = [i / (count - 1) if count > 1 else 0.0 for i in range(count)]
    if scale == "log":
        values = [_typed(math.exp((1 - t) * math.log(low) + t * math.log(high))) for t in shares]
    else:
        values = [_typed((1 - t) * low + t * high) for t in shares]
    if len(set(values)) < count:
        raise UsageError(
            f"{short(name)} = {short(spec)}: some of the values are the same to {VALUE_DIGITS} digits"
        )
    return values


def _number(x):
    return isinstance(x, int | float) and not isinstance(x, bool)


def _parsed(x):
    """A finite number, also from a string (YAML takes 1e-8 for one), or None."""
    try:
        x = number(x) if isinstance(x, str) else x
        return x if _number(x) and math.isfinite(x) else None
    except (ValueError, OverflowError):  # an integer beyond all floats
        return None


def _typed(x):
    """A number as one would type it: to `VALUE_DIGITS` digits, and an integer where it is one."""
    x = float(f"{x:.{VALUE_DIGITS}g}")
    return int(x) if x == int(x) else x
