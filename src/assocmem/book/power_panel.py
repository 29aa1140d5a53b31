"""One size against the dimension: the instances, the fitted power of d, and the power that is stated."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from assocmem.book.plotting import LIMIT, TAIL_AVERAGE
from assocmem.experiments.statistics import PowerLaw

STEADY = 1.2
"""Ratio of the largest to the least size up to which one mark on the axis of sizes is enough."""

MARKED_DIMENSIONS = 4
"""About how many dimensions are marked, so that their numbers do not touch in a small panel."""


def draw_power(ax: Axes, law: PowerLaw, groups: dict[int, np.ndarray], stated: float, title: str) -> None:
    """Draw a fit, the middle 80% of the instances, and the stated power from the first point on, dashed.

    Parameters
    ----------
    ax : Axes
        Its axes become logarithmic.
    law : PowerLaw
        Its exponent is written into the corner.
    groups : dict of int to ndarray
        Sizes of the instances of each dimension, which the law is fitted to.
    stated : float
        Power of d.
    title : str
    """
    band = [np.quantile(groups[d], [0.1, 0.9]) for d in law.d]
    ax.fill_between(law.d, *np.transpose(band), color=TAIL_AVERAGE, alpha=0.25, linewidth=0)
    ax.errorbar(law.d, law.size, yerr=law.size * law.error, fmt="o", color=TAIL_AVERAGE)
    ax.plot(law.d, law(law.d), color=TAIL_AVERAGE, linewidth=1.2)
    claimed = law.size[0] * (law.d / law.d[0]) ** stated
    ax.plot(law.d, claimed, "--", color=LIMIT, linewidth=1.2)
    ax.set(title=title, xscale="log", yscale="log")
    ticks = law.d[:: 1 + len(law.d) // MARKED_DIMENSIONS]
    ax.set_xticks(ticks, [f"{x:g}" for x in ticks])
    ax.minorticks_off()
    steady = max(law.size) < STEADY * min(law.size)
    ends = law.size[[0]] if steady else law.size[[0, -1]]
    ax.set_yticks(ends, [f"{x:.2g}" for x in ends])
    ax.minorticks_off()
    where = {"transform": ax.transAxes, "ha": "right", "fontsize": 9}
    ax.text(0.98, 0.88, f"{law.exponent:.2f} ± {law.deviation:.2f}", **where)


def power_key() -> list[Line2D | Patch]:
    """Handles of a legend for such panels."""
    return [
        Line2D([], [], color=TAIL_AVERAGE, marker="o", linestyle="none", label="root mean square"),
        Patch(color=TAIL_AVERAGE, alpha=0.25, linewidth=0, label="middle 80% of instances"),
        Line2D([], [], color=TAIL_AVERAGE, linewidth=1.2, label="fitted power, in the corner"),
        Line2D([], [], color=LIMIT, linestyle="--", linewidth=1.2, label="stated power"),
    ]
