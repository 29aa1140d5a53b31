"""Two pictures as inline SVG, in the colours of the page that they stand on."""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 460, 190
"""Size of a picture in its own units; it is scaled to the page, and its text stays legible on a telephone."""
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 14, 40
"""Margins around what is drawn."""


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


def _line(x0: float, y0: float, x1: float, y1: float, kind: str) -> str:
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" class="{kind}"/>'


def _picture(height: float, told: str, parts: Sequence[str]) -> str:
    body, label = "\n".join(parts), escape(told, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{label}">\n{body}\n</svg>'


def round_steps(top: float) -> list[float]:
    """Marks of an axis from zero to a number: multiples of 1, 2 or 5 times a power of ten, at most six.

    Parameters
    ----------
    top : float
        Positive.

    Returns
    -------
    list of float
    """
    power = 10.0 ** math.floor(math.log10(top))
    step = next(x * power for x in (0.2, 0.5, 1, 2, 5) if top / (x * power) <= 5)
    step = max(1.0, step)
    return [i * step for i in range(int(top / step) + 1)]


def counts_on_a_line(marks: Sequence[tuple[str, float, str]], told: str) -> str:
    """Numbers of facts as marks on one axis, each on a row of its own with its words.

    Parameters
    ----------
    marks : sequence of (str, float, str)
        Words, number and role: one of ``"given"``, ``"proved"``, ``"theory"``.
    told : str
        What the picture shows, for those who do not see it.

    Returns
    -------
    str
        An SVG element.
    """
    top = 1.08 * max(1.0, *(number for _, number, _ in marks))
    row, base = 40, TOP + 40 * len(marks)

    def at(number: float) -> float:
        return LEFT / 2 + (WIDTH - LEFT / 2 - RIGHT) * number / top

    parts = [_line(at(0), base, at(top), base, "axis")]
    for number in round_steps(top):
        parts += [_line(at(number), TOP, at(number), base + 4, "grid")]
        parts += [_text(at(number), base + 18, f"{number:g}", kind="small")]
    for i, (words, number, role) in enumerate(marks):
        y = TOP + row * i + 26
        parts += [_line(at(0), y, at(number), y, f"bar {role}")]
        parts += [f'<circle cx="{at(number):.1f}" cy="{y:.1f}" r="5" class="dot {role}"/>']
        parts += [_text(at(0) + 2, y - 9, f"{words}: {number:,.0f}", "start")]
    parts += [_text(WIDTH / 2, base + 34, "number of facts", kind="small")]
    return _picture(base + 40, told, parts)


def falling_extents(curves: Mapping[str, Sequence[float]], told: str) -> str:
    """Lengths along main axes, in falling order, on a logarithmic scale.

    Parameters
    ----------
    curves : mapping of str to sequence of float
        By name; each begins with one.
    told : str
        What the picture shows, for those who do not see it.

    Returns
    -------
    str
        An SVG element.
    """
    least = min((x for curve in curves.values() for x in curve if x > 0), default=1.0)
    decades = min(8, max(1, math.ceil(-math.log10(least) - 1e-9)))
    base = HEIGHT - BOTTOM

    def x_of(share: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * share

    def y_of(extent: float) -> float:
        depth = decades if extent <= 0 else min(decades, -math.log10(extent))
        return TOP + (base - TOP) * depth / decades

    parts = []
    for power in range(0, decades + 1, 1 if decades < 5 else 2):
        y = y_of(10.0**-power)
        label = "1" if power == 0 else f"{10.0**-power:g}"
        parts += [_line(LEFT, y, WIDTH - RIGHT, y, "grid"), _text(LEFT - 5, y + 4, label, "end", "small")]
    for i, (name, curve) in enumerate(curves.items()):
        last = max(1, len(curve) - 1)
        points = " ".join(f"{x_of(j / last):.1f},{y_of(x):.1f}" for j, x in enumerate(curve))
        parts += [f'<polyline points="{points}" class="curve series{i}"/>']
        x = LEFT + 90 * i + 8
        parts += [_line(x, base - 10, x + 18, base - 10, f"curve series{i}")]
        parts += [_text(x + 23, base - 6, name, "start", "small")]
    parts += [_text(x_of(0.5), base + 18, "main axes, from the longest to the shortest", kind="small")]
    return _picture(HEIGHT - 16, told, parts)
