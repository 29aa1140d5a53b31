"""The demands that can be made on a key, drawn in the plane of two competitors."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from assocmem.book.plotting import AMONG_BEST, CROSS_ENTROPY, INK, PAPER, TAIL_AVERAGE

LOW, HIGH = -5.0, 4.0
"""Ends of both axes."""
THIRD = -1.0
"""The third competitor less the signal."""
REGIONS = (
    (AMONG_BEST, [(LOW, LOW), (HIGH, LOW), (HIGH, 0), (0, 0), (0, HIGH), (LOW, HIGH)]),
    (TAIL_AVERAGE, [(LOW, LOW), (-THIRD, LOW), (-THIRD, THIRD), (THIRD, -THIRD), (LOW, -THIRD)]),
    (CROSS_ENTROPY, [(LOW, LOW), (0, LOW), (0, 0), (LOW, 0)]),
)
"""Colour and corners of what each demand allows, the weakest demand first."""
LABELS = (
    (-3.6, 2.4, "among the\nbest two"),
    (-3.0, 0.5, "tail average"),
    (-2.6, -2.6, "first place"),
    (2.2, 2.6, "third place"),
)
"""Where each region is named."""


def draw_demands(ax: Axes, marks: Mapping[str, np.ndarray]) -> None:
    """Draw and name the regions in which a key with three competitors meets each of three demands.

    Parameters
    ----------
    ax : Axes
    marks : dict of str to ndarray, shape (3,)
        Columns to mark, scores less the signal, the third at `THIRD`; a dashed line joins the first two.
    """
    for color, corners in REGIONS:
        ax.add_patch(Polygon(corners, facecolor=PAPER, edgecolor="none"))
        ax.add_patch(Polygon(corners, facecolor=color, alpha=0.35, edgecolor="none"))
        ax.add_patch(Polygon(corners, fill=False, edgecolor=color, lw=1.2))
    for x, y, name in LABELS:
        ax.text(x, y, name, ha="center", va="center", fontsize=9)
    ends = np.array(list(marks.values())[:2])
    ax.plot(ends[:, 0], ends[:, 1], "--", color=INK, lw=1)
    for name, x in marks.items():
        ax.plot(x[0], x[1], "o", color=INK)
        ax.annotate(name, (x[0] + 0.2, x[1] + 0.2))
    ax.set(xlim=(LOW, HIGH), ylim=(LOW, HIGH), aspect="equal")
    ax.set(xlabel="first competitor less the signal", ylabel="second competitor less the signal")
