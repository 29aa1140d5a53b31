"""Where counts over a number of pairs or facts cross one half, fitted with a width that is nearly known."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import minimize

from assocmem.checks import require

STEP = 0.01
"""Of the second differences that give the errors, in widths and in the logarithm of the stretch."""


@dataclass(frozen=True)
class Crossing:
    """A place and a width with their standard errors.

    Attributes
    ----------
    place, error : float
        The number at one half.
    stretch, stretch_error : float
        Width over the expected one.
    """

    place: float
    error: float
    stretch: float
    stretch_error: float


def half_place(n: ArrayLike, successes: ArrayLike, trials: ArrayLike) -> float:
    """The number whose share of successes is closest to one half.

    Parameters
    ----------
    n, successes, trials : array_like
        Numbers, and how many of how many instances succeeded at each.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If all instances came out alike.
    """
    n, successes, trials = (np.asarray(x, dtype=float) for x in (n, successes, trials))
    mixed = 0 < successes.sum() < trials.sum()
    require(mixed, "successes", successes.tolist(), "neither all 0 nor all equal to trials")
    return float(n[np.argmin(np.abs(successes / np.maximum(trials, 1) - 0.5))])


def fit_crossing(
    n: ArrayLike, successes: ArrayLike, trials: ArrayLike, *, expected: float, width: float, doubt: float
) -> Crossing:
    """Fit place and width of a falling normal law to counts, by maximum likelihood.

    Parameters
    ----------
    n, successes, trials : array_like
        As in `half_place`.
    expected, width : float
        Place, roughly, and width that are expected.
    doubt : float
        Standard deviation of the logarithm of the width over that, before counts are seen.

    Returns
    -------
    Crossing

    Raises
    ------
    ValueError
        If all instances came out alike.
    """
    start = [(half_place(n, successes, trials) - expected) / width, 0.0]
    n, successes, trials = (np.asarray(x, dtype=float) for x in (n, successes, trials))

    def surprise(x):
        z = (expected + x[0] * width - n) / (width * math.exp(x[1]))
        counted = successes @ special.log_ndtr(z) + (trials - successes) @ special.log_ndtr(-z)
        return 0.5 * (x[1] / doubt) ** 2 - counted

    x = minimize(surprise, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9}).x
    e = STEP * np.eye(2)
    differences = [
        [surprise(x + a + b) - surprise(x + a - b) - surprise(x - a + b) + surprise(x - a - b) for a in e]
        for b in e
    ]
    error, stretch_error = np.sqrt(np.diag(np.linalg.inv(np.array(differences) / (4 * STEP**2))))
    stretch = math.exp(x[1])
    place = float(expected + x[0] * width)
    return Crossing(place, float(error * width), stretch, float(stretch * stretch_error))
