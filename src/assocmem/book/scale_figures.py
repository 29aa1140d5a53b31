"""The figures of the section on sparse repair that show all explicit memories together, at any scale."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from assocmem.book.plotting import (
    ANY_MEMORY,
    CLIPPED,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    REPAIR,
    REPAIR_AS_PROVED,
    REPAIR_IN_PLACE,
    panels,
)
from assocmem.experiments.explicit import scales

LOOKS = {
    scales.PROOF: {"color": REPAIR_AS_PROVED, "ls": "--", "marker": "s"},
    scales.PLAIN: {"color": OUTER_PRODUCTS, "ls": "-", "marker": "o"},
    scales.SPLIT: {"color": REPAIR, "ls": "-", "marker": "D"},
    scales.IN_PLACE: {"color": REPAIR_IN_PLACE, "ls": "-.", "marker": "v"},
    scales.EQUAL: {"color": CLIPPED, "ls": "--", "marker": "^"},
    scales.CLIPPED: {"color": CLIPPED, "ls": "-", "marker": "P"},
}
"""Colour, line style and marker of each construction, from what needs most dimensions at a thousand pairs to
what needs fewest."""

ANY = "any memory"
"""What the best of all memories is called."""

NARROWEST, WIDEST = 1.0, 60.0
"""Ratios that the figures of chances show."""

ROW = 0.8
"""Height of a curve in its row, which has height 1."""

TRIED = 1.2
"""Ratio from which on chances are computed; below it none of these memories succeeds."""

CLOSE = np.array([0.93, 0.97, 1.0, 1.03, 1.07])
"""Where a curve is computed beside its half, as multiples of that: it may be nearly vertical there."""

APART = 7
"""Points of a curve from one marker to the next."""

NARROW = 5.8
"""Width of these figures in inches, so that their words can be read on a phone too."""

TWO_TERMS = "any memory, two terms"
"""The conjectured ratio of the best memory, ``2 - 3 log log n / log n``."""


def draw_chances(
    choices: Mapping[str, np.ndarray],
    digits: float,
    points: int,
    simulated: Mapping[str, ArrayLike] | None = None,
) -> tuple[Figure, Axes]:
    """Predicted success against the ratio for ``n = 10^digits``, one row for each construction.

    In its row a curve rises from the lower edge, where no memory succeeds, to the upper one, where all do.
    The last row has the transition of the best of all memories.

    Parameters
    ----------
    choices : columns
        The stored best repairs, as in `scales.success_curves`.
    digits : float
        As in `scales.success_curves`.
    points : int
        Of each curve, at least 2, beside those around the halves.
    simulated : dict of str to array, optional
        Ratios from which on instances were retrieved, by construction; drawn as points, each at the share of
        instances that need no more.

    Returns
    -------
    Figure and Axes
    """
    figure, ax = panels(width=NARROW, height=4.2)
    halves = {name: scales.half_ratio(choices, digits, name) for name in LOOKS}
    fine = np.geomspace(TRIED, WIDEST, points)
    fine = np.sort(np.concatenate([fine, *(half * CLOSE for half in halves.values())]))
    curves = scales.success_curves(choices, digits, fine)
    rows = [*LOOKS, ANY]
    for row, (name, look) in enumerate(LOOKS.items()):
        base = len(rows) - 1 - row
        height, color = base + ROW * curves[name], look["color"]
        ax.fill_between(fine, base, height, color=color, alpha=0.18, lw=0)
        ax.plot(fine, height, color=color, label=name)
        found = np.sort((simulated or {}).get(name, []))
        shares = (np.arange(len(found)) + 0.5) / max(len(found), 1)
        ax.plot(found, base + ROW * shares, look["marker"], ms=3.5, color=color, mec=INK, mew=0.4)
        _number(ax, halves[name], base, left=min([halves[name], *found]))
    best = scales.any_memory(digits)
    ax.fill_between([best, WIDEST], 0, ROW, color=ANY_MEMORY, alpha=0.3, lw=0)
    ax.plot([NARROWEST, best, best, WIDEST], [0, 0, ROW, ROW], color=ANY_MEMORY, label=ANY)
    _number(ax, best, 0, left=best)
    ax.set(xscale="log", xlim=(NARROWEST, WIDEST), ylim=(-0.15, len(rows)))
    ax.set_xlabel(f"ratio $d^2/(n\\,\\log n)$, $n = 10^{{{digits:g}}}$ pairs")
    ax.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    ax.set_yticks([len(rows) - 1 - row + ROW / 2 for row in range(len(rows))], rows)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.minorticks_off()
    return figure, ax


def _number(ax: Axes, half: float, base: float, left: float) -> None:
    """The ratio at which half succeed: a mark at half the height of a row, and the number left of all."""
    middle = base + ROW / 2
    ax.plot([half], [middle], "|", color=INK, ms=9, mew=1.6)
    beside = left > 1.5 * NARROWEST
    place = {"xytext": (-9, 0), "ha": "right"} if beside else {"xytext": (9, 0), "ha": "left"}
    where = left if beside else half, middle
    ax.annotate(f"{half:.3g}", where, textcoords="offset points", va="center", fontsize=9, **place)


def draw_half_ratios(exponents: np.ndarray, curves: Mapping[str, np.ndarray]) -> Figure:
    """The ratio at which each construction succeeds half of the time, against the decimal digits of n.

    Parameters
    ----------
    exponents : ndarray
        Digits of n.
    curves : dict of str to ndarray
        As from `scales.half_ratios`.

    Returns
    -------
    Figure
    """
    figure, ax = panels(width=NARROW, height=5.0)
    for shift, (name, look) in enumerate(LOOKS.items()):
        ax.plot(exponents, curves[name], label=name, markevery=(shift, APART), **look)
    logs = exponents * np.log(10)
    ax.plot(exponents, 2 - 3 * np.log(logs) / logs, ":", color=ANY_MEMORY, lw=2.4, label=TWO_TERMS)
    for level in (2, 4, 8):
        ax.axhline(level, color=LIMIT, lw=0.6)
    ax.set(xscale="log", yscale="log", ylim=(0.9, 40), xlabel="decimal digits of the number of pairs $n$")
    ax.set_ylabel("ratio $d^2/(n\\,\\log n)$ where half succeed")
    ax.set_xticks([3, 10, 30, 100, 1000], ["3", "10", "30", "100", "1000"])
    ax.set_yticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    ax.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2)
    return figure
