"""A map of how far each score of an instance moves when a pair goes."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from numpy.typing import ArrayLike

from assocmem.book.plotting import ABOVE, MAP

SHOWN = 30
"""Pairs of the map, at most."""
DARKEST, BRIGHTEST = 1e-3, 1.0
"""Ends of the scale of motions."""


def draw_motions(ax: Axes, motions: ArrayLike) -> ScalarMappable:
    """Draw the sizes of the motions of the first scores, target by target and key by key.

    Parameters
    ----------
    ax : Axes
    motions : array, shape (n, n)
        Motion of the score of target j for key i; the pair that goes comes first.

    Returns
    -------
    ScalarMappable
        For a bar of colours.
    """
    sizes = np.abs(np.asarray(motions, dtype=float))[:SHOWN, :SHOWN]
    norm = LogNorm(DARKEST, BRIGHTEST)
    drawn = ax.imshow(np.clip(sizes, DARKEST, BRIGHTEST), norm=norm, cmap=MAP, interpolation="nearest")
    end = len(sizes) - 0.5
    look = {"color": ABOVE, "linewidth": 1.5}
    ax.plot([-0.5, end, end, -0.5, -0.5], [-0.5, -0.5, 0.5, 0.5, -0.5], **look)
    ax.plot([-0.5, 0.5, 0.5, -0.5, -0.5], [-0.5, -0.5, end, end, -0.5], **look)
    ax.grid(visible=False)
    ax.set(xlabel="key $i$", ylabel="target $j$", xticks=[0], yticks=[0])
    ax.set_xticklabels(["$h$"])
    ax.set_yticklabels(["$h$"])
    return drawn


def motion_sizes(motions: ArrayLike) -> dict[str, float]:
    """Root mean squares of the motions: the signal of the pair that goes, its target, its key, all else.

    Parameters
    ----------
    motions : array, shape (n, n)
        As for `draw_motions`.

    Returns
    -------
    dict of str to float
        By ``own``, ``target``, ``key`` and ``others``.
    """
    moved = np.asarray(motions, dtype=float)
    parts = {"own": moved[0, 0], "target": moved[0, 1:], "key": moved[1:, 0], "others": moved[1:, 1:]}
    return {name: float(np.sqrt(np.mean(np.square(x)))) for name, x in parts.items()}
