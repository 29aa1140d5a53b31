"""The strip of a check: what was measured as points, the prediction as a band, the falsehood as crosses.

All numbers of a check share one axis, a row for each number. It is in the units of the numbers where that
shows the tolerances, and else in tolerances from the prediction, compressed like a logarithm on both sides.
The same geometry is drawn as SVG for the pages and as a picture in LaTeX.
"""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

MOST_ROWS = 8
"""Numbers that can have a row each on an axis in their own units: more are one cloud, in tolerances."""
THINNEST = 0.03
"""Share of the axis that every band has to have for the units of the numbers to be of use."""
FARTHEST = 1000
"""Tolerances from the prediction beyond which a mark stays at the end of the axis."""
TICKS = (0, 1, 3, 10, 30, 100, 300, 1000)
"""Distances in tolerances that can stand at the axis, on both sides."""
APART = 0.09
"""Share of the axis between two ticks, at least."""


@dataclass(frozen=True)
class Strip:
    """Where things stand along an axis from 0 to 1, number by number.

    Attributes
    ----------
    points, crosses, centres : ndarray, shape (m,)
        What was measured, what the falsehood says, and what is predicted.
    lows, highs : ndarray, shape (m,)
        Ends of the bands; those of a bound reach the end of the axis.
    ticks : list of (float, str)
        Places and labels.
    in_tolerances : bool
        Whether the axis counts tolerances from the prediction.
    """

    points: np.ndarray
    crosses: np.ndarray
    centres: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    ticks: list[tuple[float, str]]
    in_tolerances: bool


def strip(
    measured: Sequence[float],
    predicted: Sequence[float],
    tolerance: Sequence[float],
    falsehood: Sequence[float],
    relation: str = "==",
) -> Strip:
    """Find an axis for the numbers of a check and place them on it.

    Parameters
    ----------
    measured : sequence of m floats
    predicted, tolerance, falsehood : sequence of 1 or m floats
    relation : {"==", "<=", ">="}
        Of the measurements to the predictions.

    Returns
    -------
    Strip
    """
    shape = np.shape(measured)
    x, p, t, f = (
        np.broadcast_to(np.asarray(a, dtype=float), shape)
        for a in (measured, predicted, tolerance, falsehood)
    )
    if len(x) <= MOST_ROWS:
        positive = min(x.min(), f.min(), (p - t).min()) > 0
        for along, ticks in ((np.asarray, _round_numbers), *([(np.log10, _powers)] if positive else [])):
            axis = _own_units(x, p, t, f, along, ticks)
            if axis:
                return _placed(axis, x, f, p, p - t, p + t, relation, in_tolerances=False)
    z, wrong = _in_tolerances(x - p, t), _in_tolerances(f - p, t)
    one = np.ones(shape)
    return _placed(_compressed(z, wrong), z, wrong, 0 * one, -one, one, relation, in_tolerances=True)


def _placed(axis, x, f, p, low, high, relation, *, in_tolerances):
    place, ticks = axis
    lows, highs = (np.clip(place(ends), 0, 1) for ends in (low, high))
    if relation == "<=":
        lows = np.zeros_like(lows)
    if relation == ">=":
        highs = np.ones_like(highs)
    points, crosses, centres = (np.clip(place(a), 0, 1) for a in (x, f, p))
    return Strip(points, crosses, centres, lows, highs, ticks, in_tolerances)


def _in_tolerances(difference, tolerance):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0, 0.0, difference / tolerance)
    return np.clip(z, -FARTHEST, FARTHEST)


# --- axes: a function to places from 0 to 1, and ticks --------------------------------------------


def _own_units(x, p, t, f, along, ticks):
    """An axis in the units of the numbers, which ``along`` stretches; nothing, if it would hide a band."""
    ends = along(np.concatenate([x, f, p - t, p + t]))
    low, high = ends.min(), ends.max()
    if not _shows(along(p + t) - along(p - t), high - low):
        return None
    margin = 0.06 * (high - low)
    between = _between(low - margin, high + margin)

    def place(values):
        return between(along(values))

    return place, _inside(place, ticks(low, high))


def _round_numbers(low, high):
    from matplotlib.ticker import MaxNLocator  # here: checks are read where nothing is drawn

    values = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [(v, f"{v:.6g}") for v in values]


def _powers(low, high):
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    steps = (1,) if high - low > 2 else (1, 2, 5)
    return [(step * 10.0**power, _power(step, power)) for power in powers for step in steps]


def _compressed(z, wrong):
    ends = np.concatenate([z, wrong, [-2, 2]])
    low, high = 1.1 * ends.min(), 1.1 * ends.max()

    def squeeze(values):
        return np.sign(values) * np.log1p(np.abs(values))

    along = _between(squeeze(low), squeeze(high))

    def place(values):
        return along(squeeze(values))

    return place, _inside(
        place, [(s * v, f"{s * v:+d}" if v else "0") for v in TICKS for s in (1, -1)[: 1 + bool(v)]]
    )


def _shows(widths, length):
    """Whether every band can be seen; one without width is a line, which always can."""
    positive = widths[widths > 0]
    return length > 0 and (positive >= THINNEST * length).all()


def _between(low, high):
    return lambda values: (np.asarray(values) - low) / (high - low)


def _inside(place: Callable, values):
    """Ticks on the axis, in the order given, as far as they are apart from those before."""
    kept = []
    for value, label in values:
        at = float(place(value))
        if 0 <= at <= 1 and all(abs(at - other) >= APART for other, _ in kept):
            kept.append((at, label.replace("-", "\N{MINUS SIGN}")))
    return sorted(kept)


def _power(step, power):
    if -3 <= power <= 3:
        return f"{step * 10.0**power:g}"
    digits = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{step}·10{digits}" if step > 1 else f"10{digits}"


# --- drawings -------------------------------------------------------------------------------------

WIDTH = 400
"""Of a strip, in units of its drawing, of which a column of text has 340 on a phone and 480 elsewhere."""
SMALL = 150
"""Width of the strip in a cell of the ledger, in pixels."""
COLOURS = {
    "band": "#9cc3a8",
    "centre": "#3f6f4d",
    "points": "#015a9e",
    "crosses": "#b3400a",
    "axis": "#767f8a",
}
"""Where no style says otherwise, as in Jupyter."""


def _rows(count, small):
    """Height of one row, that of its band, and half the size of a mark."""
    height = np.clip((44 if small else 120) / count, 0.3, 12 if small else 20)
    return height, max(height - 2, 0.6 * height), np.clip(0.3 * height, 1.5, 2.5 if small else 4.5)


def svg(drawn: Strip, told: str, *, small: bool = False) -> str:
    """A strip as an inline SVG, whose colours the style of the page can change.

    Parameters
    ----------
    drawn : Strip
    told : str
        What it shows, for those who do not see it.
    small : bool
        Without ticks, for a cell of a table.

    Returns
    -------
    str
        On one line.
    """
    height, thick, mark = _rows(len(drawn.points), small)
    edge, width = (4, SMALL) if small else (10, WIDTH)
    bottom = 3 + height * len(drawn.points)
    middles = 2 + height * (0.5 + np.arange(len(drawn.points)))

    def along(places):
        return edge + np.asarray(places) * (width - 2 * edge)

    bands = "".join(
        f"M{a:.1f} {y - thick / 2:.1f}h{b - a:.1f}v{thick:.1f}h{a - b:.1f}z"
        for a, b, y in zip(along(drawn.lows), along(drawn.highs), middles, strict=True)
    )
    centres = "".join(
        f"M{a:.1f} {y - thick / 2:.1f}v{thick:.1f}"
        for a, y in zip(along(drawn.centres), middles, strict=True)
    )
    points = "".join(f"M{a:.1f} {y:.1f}h.01" for a, y in zip(along(drawn.points), middles, strict=True))
    whole = 2 * mark
    cross = f"l{whole:.1f} {whole:.1f}m{-whole:.1f} 0l{whole:.1f} {-whole:.1f}"
    crosses = "".join(
        f"M{a - mark:.1f} {y - mark:.1f}{cross}" for a, y in zip(along(drawn.crosses), middles, strict=True)
    )
    base = f"M{edge} {bottom:.1f}H{width - edge}"
    base += "" if small else "".join(f"M{along(at):.1f} {bottom:.1f}v4" for at, _ in drawn.ticks)
    parts = [
        _path("band", bands, fill=COLOURS["band"]),
        _path("centre", centres, stroke=COLOURS["centre"], width=1),
        _path("axis", base, stroke=COLOURS["axis"], width=1),
        _path("crosses", crosses, stroke=COLOURS["crosses"], width=1.2 if small else 1.6),
        _path("points", points, stroke=COLOURS["points"], width=2 * mark),
    ]
    if not small:
        parts += [
            f'<text x="{along(at):.1f}" y="{bottom + 16:.1f}" text-anchor="{_anchor(at)}" font-size="12.5" '
            f'fill="currentColor">{label}</text>'
            for at, label in drawn.ticks
        ]
    total = bottom + (2 if small else 21)
    size = f'width="{width}" height="{total:.0f}" ' if small else ""
    kind = "strip strip-small" if small else "strip"
    return (
        f'<svg class="{kind}" {size}viewBox="0 0 {width} {total:.0f}" role="img" '
        f'aria-label="{html.escape(told)}">{"".join(parts)}</svg>'
    )


def _anchor(at):
    """Where a label is held, so that those near the ends stay whole."""
    return "start" if at < 0.04 else "end" if at > 0.96 else "middle"


def _path(name, d, *, fill="none", stroke="none", width=0.0):
    look = f'stroke="{stroke}" stroke-width="{width:.3g}" stroke-linecap="round"' if width else ""
    return f'<path class="strip-{name}" d="{d}" fill="{fill}" {look}/>'


def latex(drawn: Strip) -> str:
    """A strip as a picture in LaTeX, in points; the colours are those of the printed book's preamble.

    Parameters
    ----------
    drawn : Strip

    Returns
    -------
    str
    """
    height, thick, mark = _rows(len(drawn.points), small=False)
    width, total = 340, height * len(drawn.points)
    tops = total - height * (0.5 + np.arange(len(drawn.points)))
    lines = [rf"\begin{{picture}}({width},{total + 16:.1f})(0,-14)"]
    for low, high, centre, y in zip(drawn.lows, drawn.highs, drawn.centres, tops, strict=True):
        below = y - thick / 2
        for colour, start, length in (("band", low, width * (high - low)), ("holds", centre, 0.6)):
            rule = rf"\color{{{colour}}}\rule{{{length:.1f}pt}}{{{thick:.1f}pt}}"
            lines.append(rf"\put({width * start:.1f},{below:.1f}){{{rule}}}")
    for cross, point, y in zip(drawn.crosses, drawn.points, tops, strict=True):
        lines += [
            rf"\put({width * cross:.1f},{y:.1f}){{\makebox(0,0){{\color{{fails}}$\times$}}}}",
            rf"\put({width * point:.1f},{y:.1f}){{\color{{proved}}\circle*{{{2 * mark:.1f}}}}}",
        ]
    lines += [rf"\put(0,-1){{\rule{{{width}pt}}{{0.4pt}}}}"]
    lines += [
        rf"\put({width * at:.1f},-11){{\makebox(0,0)[b]{{\tiny {label}}}}}" for at, label in drawn.ticks
    ]
    return "\n".join([*lines, r"\end{picture}"])
