"""The example that is worked by hand, and its two drawings: narrow, in rows, as a phone shows them whole."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from assocmem.book.plotting import (
    INK,
    LIMIT,
    MARK,
    OTHER_MARK,
    OUTER_PRODUCTS,
    REPAIR,
    panels,
    use_style,
)

WIDTH = 4.8
"""Inches: at this width letters of ten points are ten pixels high on a phone."""
TARGETS = ((1, 1), (-1, 0), (0, -1), (-2, -1))
"""The four targets; a search through small integers found them with the keys, so that all that follows has
small numbers too."""
KEYS = ((1, 1), (0, -1), (1, 0), (2, -1))
MOVED = (-1, -1)
"""Where the fourth target goes, so that a memory exists again."""
FAR = 9.0
"""Half-width of what is shaded, beyond all axes."""


def three_pairs() -> Figure:
    """Draw the three keys, and where in the plane which target wins, with the answers of two memories.

    Returns
    -------
    Figure
        The keys above, the answers below.
    """
    use_style()
    figure, (above, below) = panels(1, rows=2, height=7.0, width=WIDTH, height_ratios=(1, 1.6))
    V = np.array(KEYS[:3], dtype=float).T
    for i, (place, align) in enumerate(
        (((1.08, 1.05), "left"), ((-0.08, -1.0), "right"), ((1.08, -0.25), "left"))
    ):
        _arrow(above, (0, 0), V[:, i], OUTER_PRODUCTS)
        above.text(*place, f"$v_{i + 1}$", ha=align, color=OUTER_PRODUCTS, fontsize=12)
    above.plot([1, 1], [1, 0], ls=":", color=LIMIT)
    above.plot([0, 1], [-1, 0], ls=":", color=LIMIT)
    above.text(1.3, 0.45, "$v_3 = v_1 + v_2$", fontsize=11)
    _plane(above, (-1.3, 2.7), (-1.35, 1.5), "a. Three keys")
    U = np.array(TARGETS[:3], dtype=float).T
    _sectors(below, U)
    below.fill(*U, facecolor="none", edgecolor=INK, lw=1)
    below.plot(*U, "s", color=INK)
    for i, place in enumerate(((0.62, 1.12), (-1.0, 0.22), (-0.52, -1.32))):
        below.text(*place, f"$u_{i + 1}$", fontsize=12)
    plain = U @ V.T
    mended = plain + np.outer(U[:, 2], V[:, 2])
    looks = (
        (plain, OUTER_PRODUCTS, "o", 9, "outer products"),
        (mended, REPAIR, "^", 6, "pair 3 stored twice"),
    )
    for W, colour, marker, size, label in looks:
        below.plot(*(W @ V), marker, color=colour, ms=size, label=label)
    for at, shift, words in (
        ((3, 1), (-0.15, 0.28), "$W v_1$"),
        ((-2, -1), (-0.4, -0.5), "$W v_2$"),
        ((1, 0), (0.2, 0.12), "$W v_3$"),
    ):
        below.text(at[0] + shift[0], at[1] + shift[1], words, color=OUTER_PRODUCTS)
    _arrow(below, (1, -0.15), (1, -0.82), REPAIR)
    below.text(0.3, 1.75, "target 1 wins", color=LIMIT)
    below.text(-3.3, 0.75, "target 2 wins", color=LIMIT)
    below.text(0.2, -2.35, "target 3 wins", color=LIMIT)
    _plane(below, (-3.5, 3.9), (-2.6, 3.4), "b. Targets, and answers to the keys")
    below.legend(loc="upper right")
    return figure


def fourth_target() -> Figure:
    """Draw the four targets where no memory exists, and with the fourth moved, where one does.

    Returns
    -------
    Figure
        A row for each place of the fourth target.
    """
    use_style()
    figure, axes = panels(1, rows=2, height=6.6, width=WIDTH, sharex=True)
    for ax, fourth, title in (
        (axes[0], TARGETS[3], "a. No memory: the dashed line enters"),
        (axes[1], MOVED, "b. A memory exists: it stays outside"),
    ):
        corners = np.array([TARGETS[0], TARGETS[1], fourth, TARGETS[2]], dtype=float)
        ax.fill(*corners.T, color=LIMIT, alpha=0.15, lw=0)
        ax.fill(*corners.T, facecolor="none", edgecolor=INK, lw=1)
        first, second, third = (np.array(u, dtype=float) for u in TARGETS[:3])
        _arrow(ax, third, first, MARK)
        ax.text(0.62, -0.15, "$u_1 - u_3$", color=MARK, fontsize=11)
        along = (first - third) / 2
        ax.plot(*np.array([second - along, second + along]).T, ls="--", color=OTHER_MARK)
        ax.plot(*corners.T, "s", color=INK)
        for number, corner, shift in (
            (1, first, (0.1, 0.0)),
            (2, second, (-0.32, 0.06)),
            (3, third, (0.12, -0.14)),
            (4, np.array(fourth, dtype=float), (-0.16, -0.32)),
        ):
            ax.text(*(corner + shift), f"$u_{number}$", fontsize=12)
        if fourth == TARGETS[3]:
            crossing = (first + 3 * corners[2]) / 4
            ax.plot(*crossing, "o", color=OTHER_MARK, ms=8)
            ax.annotate(
                "a quarter $u_1$,\nthree quarters $u_4$",
                crossing,
                xytext=(-2.75, 0.1),
                arrowprops={"arrowstyle": "-", "color": OTHER_MARK},
                color=OTHER_MARK,
            )
        _plane(ax, (-2.8, 1.8), (-1.55, 1.4), title)
    return figure


def _arrow(ax: Axes, start, end, colour):
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=look)


def _plane(ax: Axes, x, y, title):
    ax.axhline(0, color=LIMIT, lw=0.6)
    ax.axvline(0, color=LIMIT, lw=0.6)
    ax.set(xlim=x, ylim=y, aspect="equal", title=title)
    ax.set_xticks(range(int(np.ceil(x[0])), int(x[1]) + 1))
    ax.set_yticks(range(int(np.ceil(y[0])), int(y[1]) + 1))


def _sectors(ax: Axes, U):
    """Shade the part of the plane in which each of three targets has the highest score."""
    borders = []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        side = U[:, i] - U[:, j]
        across = np.array([-side[1], side[0]])
        other = U[:, 3 - i - j]
        borders.append(across if across @ (U[:, i] - other) > 0 else -across)
    for i, shade in enumerate((0.05, 0.16, 0.28)):
        one, two = borders[i - 1], borders[i]
        wedge = np.array([[0, 0], FAR * one, FAR * (one + two), FAR * two])
        ax.fill(*wedge.T, color=LIMIT, alpha=shade, lw=0)
    for border in borders:
        ax.plot(*np.array([[0, 0], FAR * border]).T, color=LIMIT, lw=1)


PLACES = {
    three_pairs: ("figures/by_hand_three_pairs.png", 200),
    fourth_target: ("figures/by_hand_fourth_target.png", 200),
}
"""Where each figure is kept below ``book``, and its dots per inch."""


if __name__ == "__main__":
    for draw, (place, dpi) in PLACES.items():
        draw().savefig(Path(sys.argv[1], place), dpi=dpi)
