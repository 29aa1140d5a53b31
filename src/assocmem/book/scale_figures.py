"""The figures of the section on sparse repair that show all explicit memories together, at any scale."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from assocmem.book.plotting import ANY_MEMORY, CLIPPED, OUTER_PRODUCTS, REPAIR, panels
from assocmem.experiments.explicit import scales

LOOKS = {
    scales.PROOF: {"color": REPAIR, "ls": "--"},
    scales.PLAIN: {"color": OUTER_PRODUCTS},
    scales.SPLIT: {"color": REPAIR},
    scales.IN_PLACE: {"color": REPAIR, "ls": "-."},
    scales.EQUAL: {"color": CLIPPED, "ls": "--"},
    scales.CLIPPED: {"color": CLIPPED},
}
"""Colour and line style of each construction, in the order of the legend."""

BAND = 1.02
"""Half the width of the band for the best of all memories, as a factor: wide enough to be seen."""


def draw_chances(choices: Mapping[str, np.ndarray], digits: float, points: int) -> tuple[Figure, Axes]:
    """Predicted success against the ratio for ``n = 10^digits``, and the transition of all memories.

    Parameters
    ----------
    choices : columns
        The stored best repairs, as in `scales.success_curves`.
    digits : float
        As in `scales.success_curves`.
    points : int
        Of each curve, at least 2.

    Returns
    -------
    Figure and Axes
    """
    figure, ax = panels(height=3.4)
    fine = np.geomspace(1.2, 60, points)
    curves = scales.success_curves(choices, digits, fine)
    for name, look in LOOKS.items():
        ax.plot(fine, curves[name], label=name, **look)
    best = scales.any_memory(digits)
    look = {"color": ANY_MEMORY, "alpha": 0.5, "lw": 0, "label": "any memory"}
    ax.axvspan(best / BAND, best * BAND, **look)
    ax.set(xscale="log", xlim=(1, 60), xlabel=f"$d^2/(n\\,\\log n)$, $n = 10^{{{digits}}}$")
    ax.set(ylabel="probability that all are retrieved")
    ax.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    ax.minorticks_off()
    ax.legend(loc="upper left", fontsize=8, bbox_to_anchor=(1.0, 1.0))
    return figure, ax
