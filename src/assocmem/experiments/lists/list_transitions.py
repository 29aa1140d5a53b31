"""Where certified verdicts on lists cross one half."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assocmem.experiments.crossing import fit_crossing, half_place
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.transitions import tally

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
    return tally(outcomes.rename(columns={"d": "n", "n": "d"}))


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
    middle = half_place(n, successes, trials)
    width = math.sqrt(middle)
    found = fit_crossing(n, successes, trials, expected=middle, width=width, doubt=STRETCH)
    return ListTransition(found.place / d**2, found.error / d**2, found.stretch * width / d**2)
