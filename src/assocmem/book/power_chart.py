"""Many powers of d in one picture: what is stated, and what is measured, a line for each size."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from assocmem.book.plotting import ABOVE, LIMIT, TAIL_AVERAGE
from assocmem.experiments.statistics import PowerLaw

ROOM = 0.35
"""Height of the marks of a line, in lines."""


@dataclass(frozen=True)
class PowerLine:
    """One line of a chart.

    Attributes
    ----------
    label : str
        What the size is.
    stated : float
        Power of d of the bound.
    law : PowerLaw
        What is measured.
    larger : bool
        Whether the size is larger than the bound.
    """

    label: str
    stated: float
    law: PowerLaw
    larger: bool = False


def draw_powers(ax: Axes, lines: Sequence[PowerLine], *, chained: bool = False) -> None:
    """Draw a line for each size, from above: the bound, all that it allows, and the measured power.

    Parameters
    ----------
    ax : Axes
    lines : sequence of PowerLine
    chained : bool
        Whether arrows lead from each line to the next.
    """
    lowest = min(min(line.stated, line.law.exponent) for line in lines) - 0.5
    highest = max(max(line.stated, line.law.exponent) for line in lines) + 0.35
    for y, line in enumerate(lines):
        ax.plot([lowest, line.stated], [y, y], color=LIMIT, alpha=0.22, linewidth=6, solid_capstyle="butt")
        ax.plot([line.stated] * 2, [y - ROOM, y + ROOM], color=LIMIT, linewidth=2)
        ax.errorbar(
            line.law.exponent,
            y,
            xerr=2 * line.law.deviation,
            fmt="D" if line.larger else "o",
            color=ABOVE if line.larger else TAIL_AVERAGE,
        )
    if chained:
        for y in range(len(lines) - 1):
            between = {"xy": (-0.02, y + 0.78), "xytext": (-0.02, y + 0.42)}
            axes = ax.get_yaxis_transform()
            arrow = {"arrowstyle": "->", "color": LIMIT, "shrinkA": 0, "shrinkB": 0}
            ax.annotate(
                "", **between, xycoords=axes, textcoords=axes, arrowprops=arrow, annotation_clip=False
            )
    ax.set_yticks(range(len(lines)), [line.label for line in lines])
    ax.set(xlim=(lowest, highest), ylim=(len(lines) - 0.4, -0.6), xlabel="power of the dimension $d$")
    ax.tick_params(axis="y", length=0, pad=10 if chained else 3)
    ax.grid(visible=False, axis="y")
    ax.legend(handles=_key(any(line.larger for line in lines)), **KEY_PLACE)


KEY_PLACE = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.3, "ncols": 1}
"""Above the lines, where it hides none of them."""


def plain_formula(text: str) -> str:
    """A formula as matplotlib reads it, on one level: no bars of LaTeX, and no indices below maxima and sums.

    Parameters
    ----------
    text : str
        With formulas between dollars.

    Returns
    -------
    str
    """
    for bar, drawn in (("\\lVert", "\\Vert"), ("\\rVert", "\\Vert"), ("\\lvert", "|"), ("\\rvert", "|")):
        text = text.replace(bar, drawn)
    text = re.sub(r"\\max(_\{[^}]*\}|_\w)?", r"\\mathrm{max}\\,", text)
    return re.sub(r"\\sum(_\w)?", r"\\Sigma\\,", text)


def _key(some_larger):
    """Handles of the legend."""
    point = {"linestyle": "none"}
    found = [
        Line2D(
            [], [], color=LIMIT, marker="|", markersize=11, markeredgewidth=2, label="stated bound", **point
        ),
        Patch(color=LIMIT, alpha=0.22, linewidth=0, label="what it allows"),
        Line2D([], [], color=TAIL_AVERAGE, marker="o", label="measured, two standard errors", **point),
    ]
    if some_larger:
        found.append(Line2D([], [], color=ABOVE, marker="D", label="measured, larger than stated", **point))
    return found
