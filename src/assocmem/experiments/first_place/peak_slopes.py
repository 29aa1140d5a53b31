"""Norm sweeps of Figure 1 over instances, and how far the slope through their peaks depends on choices.

A sweep trains one nested instance at all loads of a grid. The peaks of many sweeps are points, and the paper
reads the coefficient of ``log log n`` off the slope of a line through them.
"""

from collections.abc import Iterable

import numpy as np

from assocmem.experiments.first_place.norm_peak import (
    grid_peaks,
    load_grid,
    mean_line,
    thinned,
    train_cross_entropy,
)
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.statistics import Line

PAPER_SLOPE = -2.97
"""The free slope in Figure 1 of the paper."""
SLOPE_TOLERANCE = 0.45
"""A little less than half of the distance to the neighbouring coefficients, -2 and -4.

Which dimensions and instances are used moves the slope by some tenths.
"""


def norm_sweep(d: int, seeds: Iterable[int], *, step: float, device: str = "cpu") -> list[tuple]:
    """Norm scale of trained memories of several nested instances at all loads of a grid.

    Parameters
    ----------
    d : int
        Dimension.
    seeds : iterable of int
        One for each instance.
    step : float
        Spacing of the loads near the peak, as in `load_grid`.
    device : str
        As in `train_cross_entropy`.

    Returns
    -------
    list of (int, int, int, float)
        Dimension, place of the instance among the seeds, number of pairs, and norm scale.
    """
    return [
        (d, place, n, train_cross_entropy(n, d, seed=seed, device=device).nu)
        for place, seed in enumerate(seeds)
        for n in load_grid(d, step=step)
    ]


def relative_half_step(sweeps: DataFrame, d: int) -> float:
    """Half of the distance between the loads next to the peaks of one dimension, over the number of pairs.

    Parameters
    ----------
    sweeps : DataFrame
        As for `slopes_by_choice`.
    d : int
        One of its dimensions.

    Returns
    -------
    float
    """
    centre = grid_peaks(sweeps)[d].mean()
    grid = np.unique(sweeps.loc[sweeps["d"] == d, "n"])
    place = np.clip(np.searchsorted(grid, centre), 1, len(grid) - 1)
    return float(grid[place] - grid[place - 1]) / (2 * centre)


def slopes_by_choice(sweeps: DataFrame, *, keep: int = 4, middle: int = 16) -> dict[str, Line]:
    """Free lines through the mean peaks for several choices of dimensions and grids of loads.

    Parameters
    ----------
    sweeps : DataFrame
        One row a fit: columns ``d``, ``seed``, ``n`` and ``nu``.
    keep : int
        A coarser grid has every so many of the loads, counted from the first, the second, and so on.
    middle : int
        The dimension that ends the small ones and begins the large ones.

    Returns
    -------
    dict of str to Line
        By a description of the choice.
    """
    peaks = grid_peaks(sweeps)
    coarse = [mean_line(grid_peaks(thinned(sweeps, keep, offset)))[-1] for offset in range(keep)]
    small = {d: n for d, n in peaks.items() if d <= middle}
    large = {d: n for d, n in peaks.items() if d >= middle}
    return {
        "all dimensions, all instances": mean_line(peaks)[-1],
        **{f"every {_ordinal(keep)} grid point, from the {k + 1}.": line for k, line in enumerate(coarse)},
        f"dimensions up to {middle}": mean_line(small)[-1],
        f"dimensions from {middle}": mean_line(large)[-1],
    }


def _ordinal(number):
    """An ordinal number in words where there are any."""
    return {2: "second", 3: "third", 4: "fourth"}.get(number, f"{number}th")


def slope_evidence(line: Line, coefficient: float) -> dict:
    """What a check of Figure 1 compares: the free slope, with the paper's and with another coefficient.

    Parameters
    ----------
    line : Line
        Through the mean peaks.
    coefficient : float
        A wrong coefficient of ``log log n``.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    return {
        "claim": "figure-1",
        "kind": "stored simulation",
        "what": "free slope through the norm peaks, means over instances",
        "measured": line.slope,
        "predicted": PAPER_SLOPE,
        "tolerance": SLOPE_TOLERANCE,
        "falsehood": (f"coefficient ${coefficient:g}$", coefficient),
        "limits": "one instance at each dimension scatters by 0.2, twice which is the tolerance: slopes from "
        "$-3.4$ to $-2.5$ are not told apart, and the figure shows no more than a slope near $-3$",
        "axis": r"slope against $\log\log n$",
    }
