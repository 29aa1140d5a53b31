"""Norms of trained memories read as loads, raw and at the effective load of their size (Figures 2 and 3)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from assocmem.checks import require_integer
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.infinite_dimension import ERRORS
from assocmem.experiments.tail_average.loss_as_load import load_scatter, read_load_of_norm
from assocmem.experiments.tail_average.percentile_laws import stored_dimensions, stored_rows
from assocmem.experiments.tail_average.phase import BETA, RIDGE, Map
from assocmem.theory.critical_curve import critical_load_of_median
from assocmem.theory.finite_dimension import effective_load
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import solve_scalar

SMALLEST_TAIL = 0.05
"""Tail fractions of a map that are larger are read: at smaller ones the tail has too few competitors."""

REACH = (0.5, 1.5)
"""Loads over the critical one at which norms of a map are read."""


@dataclass(frozen=True)
class NormsAsLoads:
    """Loads at which the theory has the norms of memories, over their own loads.

    Attributes
    ----------
    r, load, d, memories : ndarray, shape (m,)
        Tail fraction, load, dimension, and how many memories were averaged over.
    raw, corrected : ndarray, shape (m,)
        The load that was read over the memory's own, and over its effective load.
    tolerance : ndarray, shape (m,)
        Four standard errors, from the scatter of critical loads between instances.
    falsehood : ndarray, shape (m,)
        The critical load of the median of the tail over that of its mean.
    """

    r: np.ndarray
    load: np.ndarray
    d: np.ndarray
    memories: np.ndarray
    raw: np.ndarray
    corrected: np.ndarray
    tolerance: np.ndarray
    falsehood: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[Sequence[float]]) -> "NormsAsLoads":
        """Join rows of these eight numbers."""
        return cls(*np.array(list(rows), dtype=float).T)


def norms_of_map(grid: Map, step: int = 2) -> NormsAsLoads:
    """Norms of a stored map, from half to one and a half of the critical load, one memory a point.

    Parameters
    ----------
    grid : Map
        At the ridge and the smoothing of Figure 2.
    step : int
        Of the tail fractions above `SMALLEST_TAIL` every so many are read, each with a curve of its own.

    Returns
    -------
    NormsAsLoads
    """
    require_integer("step", step, 1)
    rows = []
    for r in grid.r[grid.r > SMALLEST_TAIL][::step]:
        critical = float(critical_load(r))
        near = critical * (1 + np.linspace(-0.1, 0.1, 33))
        fine = np.unique(np.r_[np.linspace(0.05, 0.8, 31), near])
        nus = solve_scalar(fine, r, beta=BETA, ridge=RIDGE).nu
        wrong = float(critical_load_of_median(r)) / critical
        for load, nu in zip(grid.load, grid.nu[grid.r == r][0], strict=True):
            if REACH[0] < load / critical < REACH[1]:
                read = float(read_load_of_norm(nu, fine, nus, below=load < critical)) / load
                share = effective_load(load, r, grid.d) / load
                scatter = float(load_scatter(round(load * grid.d**2), r))
                rows.append([r, load, grid.d, 1, read, read / share, ERRORS * scatter, wrong])
    return NormsAsLoads.of(rows)


def norms_of_tables(
    cases: Iterable[tuple[DataFrame, float, float]], *, beta: float, ridge: float
) -> NormsAsLoads:
    """Norms of stored memories below the critical load, means over those of a dimension.

    Parameters
    ----------
    cases : iterable of (DataFrame, float, float)
        Table with columns ``d``, ``load`` and ``nu``, tail fraction and load.
    beta, ridge : float
        With which they were trained.

    Returns
    -------
    NormsAsLoads
        One entry for each case and dimension.
    """
    rows = []
    for table, r, load in cases:
        critical = float(critical_load(r))
        near = critical * np.linspace(0.85, 1.02, 45)
        fine = np.unique(np.r_[np.linspace(0.1, 1, 30) * critical, near])
        nus = solve_scalar(fine, r, beta=beta, ridge=ridge).nu
        wrong = float(critical_load_of_median(r)) / critical
        for d in stored_dimensions(table, load):
            own = table["nu"][stored_rows(table, d, load)]
            read = np.mean(read_load_of_norm(own, fine, nus, below=True)) / load
            share = effective_load(load, r, d) / load
            tolerance = ERRORS * float(load_scatter(round(load * d**2), r)) / math.sqrt(len(own))
            rows.append([r, load, d, len(own), read, read / share, tolerance, wrong])
    return NormsAsLoads.of(rows)
