"""A picture of how far a sweep is, in characters."""

from collections import Counter

from assocmem.sweeps.sweep_file import Point, Sweep

BLOCKS = " ░▒▓█"
"""Characters for nothing, the three thirds between, and all."""

NOT_ASKED = "·"
"""Character where nothing is asked for."""

PLAIN = str.maketrans(BLOCKS + NOT_ASKED, " -+x#.")
"""The characters of a picture for terminals that have only those of ASCII."""

WIDEST = 60
"""Characters across, at most: with the labels a line fits a terminal of eighty."""

TALLEST = 30
"""Lines, at most, so that a picture fits a screen."""

SEED = "seed"
"""The parameter that is shown only where no other varies."""


def grid(sweep: Sweep, done: set[str], failed: set[str]) -> list[str]:
    """One character for each pair of values of the two parameters that take most values, seeds left out.

    Parameters
    ----------
    sweep : Sweep
        Whose points are shown.
    done, failed : set of str
        Keys of points.

    Returns
    -------
    list of str
        Shades from nothing to all; ``!`` where something failed, a dot where nothing is asked for.
    """
    across, down = _axes(sweep)
    columns, place = _bins(sweep, across, WIDEST)
    rows, level = _bins(sweep, down, TALLEST)
    first, *_, last = [*place, *place]
    asked, have, broken = Counter(), Counter(), set()
    for point in sweep.points:
        at = place[_text(point, across)], level[_text(point, down)]
        asked[at] += 1
        have[at] += point.key in done
        broken |= {at} if point.key in failed else set()
    width = max(map(len, rows))
    names = f"{down} down, {across} across" if down else f"{across} across"
    lines = [f"{names}, {first} to {last}"]
    for j, label in enumerate(rows):
        cells = (_cell((i, j), asked, have, broken) for i in range(len(columns)))
        lines.append(f"{label:>{width}} |{''.join(cells)}|")
    return lines


def shown_in(encoding: str | None, text: str) -> str:
    """A text with pictures for a terminal of an encoding, with other characters where it does not have these.

    Parameters
    ----------
    encoding : str or None
        None where it is not known.
    text : str

    Returns
    -------
    str
    """
    try:
        (BLOCKS + NOT_ASKED).encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return text.translate(PLAIN)
    return text


def _axes(sweep: Sweep) -> tuple[str, str]:
    """Names of the two parameters; empty where there is no second."""
    values = {}
    for point in sweep.points:
        for name in point.parameters:
            values.setdefault(name, set()).add(_text(point, name))
    several = [name for name, texts in values.items() if len(texts) > 1]
    several.sort(key=lambda name: (name == SEED, -len(values[name])))
    first, *others = several or list(values) or [""]
    return first, others[0] if others and others[0] != SEED and several else ""


def _bins(sweep, name, most):
    """Labels of at most so many bins of the sorted values of a parameter, and the bin of each value."""
    values = {_text(point, name): point.parameters.get(name) for point in sweep.points}
    numbers = {text for text, value in values.items() if isinstance(value, int | float)}
    order = sorted(values, key=lambda text: (0, values[text], text) if text in numbers else (1, 0, text))
    count = min(most, len(order))
    place = {text: i * count // len(order) for i, text in enumerate(order)}
    labels = {}
    for text in order:
        labels.setdefault(place[text], text)
    return list(labels.values()), place


def _text(point: Point, name: str) -> str:
    value = point.parameters.get(name, "")
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell(at, asked, have, broken):
    if at in broken:
        return "!"
    if not asked[at]:
        return NOT_ASKED
    if not have[at]:
        return BLOCKS[0]
    return BLOCKS[-1] if have[at] == asked[at] else BLOCKS[1 + 3 * have[at] // asked[at]]
