"""Counts of retrievable instances, and the place and width of the transition that fits them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from assocmem.checks import require
from assocmem.experiments.frames import DataFrame
from assocmem.theory.kinematics import log_probabilities, pooled_moments

NEAR = 2.5
"""How far from the middle the dimensions lie that a fit uses, in predicted widths: nearly all of a
transition, and few of the failures with other causes."""
STRETCH = 0.25
"""Standard deviation of the logarithm of the width over the predicted one, before counts are seen: certified
widths are up to a fifth smaller than predicted."""


@dataclass(frozen=True)
class Transition:
    """Where counts of retrievable instances cross one half.

    Attributes
    ----------
    half, error : float
        Place in ``d^2 / n``, to be compared with `statistical_dimension`, and its standard error.
    stretch, stretch_error : float
        Width over the predicted one, and its standard error.
    """

    half: float
    error: float
    stretch: float
    stretch_error: float


def tally(outcomes: DataFrame) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Outcomes of many instances, counted.

    Parameters
    ----------
    outcomes : DataFrame
        One row an instance: columns ``n``, ``d``, and ``feasible``, which is 1, 0, or nan where nothing was
        proved.

    Returns
    -------
    dict of int to (ndarray, ndarray, ndarray)
        For each n: dimensions, how many instances were feasible, and how many were decided.
    """
    counts = outcomes.groupby(["n", "d"])["feasible"].agg(["sum", "count"]).reset_index()
    columns = ["d", "sum", "count"]
    return {int(n): tuple(mine[columns].to_numpy(int).T) for n, mine in counts.groupby("n")}


def with_both_verdicts(counts: dict[int, tuple]) -> dict[int, tuple]:
    """Those sizes at which some instances were retrievable and some were not, so that there is a transition.

    Parameters
    ----------
    counts : dict of int to tuple
        By size: dimensions, and how many of how many instances were retrievable at each, as from `tally`.

    Returns
    -------
    dict of int to tuple
        In the same order. What is left out is printed.
    """
    kept = {n: count for n, count in counts.items() if 0 < count[1].sum() < count[2].sum()}
    for n in (n for n in counts if n not in kept):
        print(f"n = {n} is left out: all instances decided there came out alike")
    return kept


def transition(n: float, d: ArrayLike, successes: ArrayLike, trials: ArrayLike, k: int = 1) -> Transition:
    """Fit place and width of a transition to counts at several dimensions, by maximum likelihood.

    Only dimensions near the one whose share is closest to one half are used, since failures far above have
    other causes, such as a target among the others. The width over the predicted one is taken to be 1 with a
    relative standard deviation of a quarter, which matters where the counts say little about it; likewise the
    place is taken to be within the dimensions tried.

    Parameters
    ----------
    n : float
    d, successes, trials : sequence
        Dimensions, and how many of how many instances were retrievable at each.
    k : int
        As in `statistical_dimension`.

    Returns
    -------
    Transition

    Raises
    ------
    ValueError
        If all instances came out alike.
    """
    d, successes, trials = (np.asarray(x, dtype=float) for x in (d, successes, trials))
    d, successes, trials = (x[trials > 0] for x in (d, successes, trials))
    mixed = 0 < successes.sum() < trials.sum()
    require(mixed, "successes", successes.tolist(), "neither all 0 nor all equal to trials")
    mean, variance = pooled_moments(n, k)
    width, place = math.sqrt(variance / n), d**2 / n
    middle = place[np.argmin(np.abs(successes / trials - 0.5))]
    near = np.abs(place - middle) <= NEAR * width
    if not 0 < successes[near].sum() < trials[near].sum():
        near[:] = True  # dimensions far apart
    span = np.ptp(place) + width

    def surprise(x):
        yes, no = log_probabilities(n, d[near], k, x[0] * width, math.exp(x[1]))
        counted = successes[near] @ yes + (trials - successes)[near] @ no
        strayed = (mean + x[0] * width - middle) / span  # counts may not confine it, tens of widths apart
        return 0.5 * strayed**2 + 0.5 * (x[1] / STRETCH) ** 2 - counted

    start = [(middle - mean) / width, 0.0]
    x = minimize(surprise, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9}).x
    spread = np.linalg.inv(second_differences(surprise, x, 0.01))
    error, stretch_error = np.sqrt(np.diag(spread))
    stretch = math.exp(x[1])
    return Transition(
        float(mean + x[0] * width), float(error * width), stretch, float(stretch * stretch_error)
    )


def second_differences(f: Callable[[np.ndarray], float], x: np.ndarray, step: float) -> np.ndarray:
    """Hessian of a function, by central differences.

    Parameters
    ----------
    f : callable
        Takes a vector.
    x : array, shape (m,)
        Where.
    step : float

    Returns
    -------
    array, shape (m, m)
    """
    e = step * np.eye(len(x))
    return np.array([[f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b) for a in e] for b in e]) / (
        4 * step**2
    )
