"""Where certified verdicts on lists cross one half."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import minimize

from assocmem.checks import require
from assocmem.experiments.frames import DataFrame

STRETCH = 0.5
"""Standard deviation of the logarithm of the width over that of a perceptron, before counts are seen."""


@dataclass(frozen=True)
class ListTransition:
    """Where counts of instances with a memory for the list cross one half.

    Attributes
    ----------
    load, error : float
        The load ``n / d^2`` at one half, and its standard error.
    width : float
        Standard deviation of the load at which an instance stops having a memory.
    """

    load: float
    error: float
    width: float


def tally_lists(outcomes: DataFrame) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Outcomes of many instances, counted.

    Parameters
    ----------
    outcomes : DataFrame
        One row an instance: columns ``d``, ``n``, and ``feasible``, which is 1, 0, or nan where nothing was
        proved.

    Returns
    -------
    dict of int to (ndarray, ndarray, ndarray)
        For each d: numbers of pairs, how many instances of each were feasible, and how many were decided.
    """
    counts = outcomes.groupby(["d", "n"])["feasible"].agg(["sum", "count"]).reset_index()
    columns = ["n", "sum", "count"]
    return {int(d): tuple(mine[columns].to_numpy(int).T) for d, mine in counts.groupby("d")}


def list_transition(d: int, n: ArrayLike, successes: ArrayLike, trials: ArrayLike) -> ListTransition:
    """Fit place and width of a transition to counts at several numbers of pairs, by maximum likelihood.

    The width is taken to be ``sqrt(n)`` pairs, as in Cover's perceptron, give or take a factor of 1.6, which
    matters where the counts say little about it.

    Parameters
    ----------
    d : int
    n, successes, trials : array_like
        Numbers of pairs, and how many of how many decided instances had a memory at each.

    Returns
    -------
    ListTransition

    Raises
    ------
    ValueError
        If all instances came out alike.
    """
    n, successes, trials = (np.asarray(x, dtype=float) for x in (n, successes, trials))
    mixed = 0 < successes.sum() < trials.sum()
    require(mixed, "successes", successes.tolist(), "neither all 0 nor all equal to trials")
    shares = successes / np.maximum(trials, 1)
    middle = float(n[np.argmin(np.abs(shares - 0.5))])
    width = math.sqrt(middle)

    def surprise(x):
        z = (middle + x[0] * width - n) / (width * math.exp(x[1]))
        counted = successes @ special.log_ndtr(z) + (trials - successes) @ special.log_ndtr(-z)
        return 0.5 * (x[1] / STRETCH) ** 2 - counted

    x = minimize(surprise, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9}).x
    e = 0.01 * np.eye(2)
    second = [
        [surprise(x + a + b) - surprise(x + a - b) - surprise(x - a + b) + surprise(x - a - b) for a in e]
        for b in e
    ]
    error = math.sqrt(np.linalg.inv(np.array(second) / (4 * 0.01**2))[0, 0])
    scale = width / d**2
    return ListTransition(middle / d**2 + float(x[0]) * scale, error * scale, math.exp(x[1]) * scale)
