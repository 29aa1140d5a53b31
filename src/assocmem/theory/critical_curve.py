"""The critical load over the tail fraction: its two ends, and the curves that are easily mistaken for it."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq

from assocmem.checks import is_number, require, require_number, require_numbers
from assocmem.theory.ridgeless import LEAST_EXCESS, critical_load, hinge_moments, tail_mean

SAMPLE = 200_000
"""Values of a normal law over which `loss_of_first_moments` averages, enough for four digits."""


def inverse_at_small_tails(r: ArrayLike) -> np.ndarray:
    """The inverse critical load for small tail fractions, as an expansion in ``L = log(1/r)``.

    Parameters
    ----------
    r : array_like
        Tail fractions, small.

    Returns
    -------
    ndarray
        ``2 L - log(4 pi L) + 3 + (log(4 pi L) - 5) / (2 L)``, up to the order ``L^-2`` and logarithms.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("r", r, 0, 1)
    L = np.log(1 / np.asarray(r))
    slow = np.log(4 * math.pi * L)
    return 2 * L - slow + 3 + (slow - 5) / (2 * L)


def inverse_at_large_tails(r: ArrayLike) -> np.ndarray:
    """The inverse critical load for tails that take in nearly everyone, to third order in ``kappa_r``.

    Parameters
    ----------
    r : array_like
        Tail fractions, near 1.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    k, phi0 = tail_mean(r), 1 / math.sqrt(2 * math.pi)
    return (1 + 4 * phi0 * k + k**2 + 2 / 3 * phi0 * k**3) / 2


def critical_load_of_median(r: ArrayLike) -> np.ndarray:
    """The critical load if a signal had to beat the median of the tail in place of its mean.

    Parameters
    ----------
    r : array_like
        Tail fractions in (0, 1).

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("r", r, 0, 1)
    return 1 / hinge_moments(-special.ndtri(np.asarray(r) / 2))[1]


def loss_of_first_moments(load: float, r: float) -> float:
    """The loss above the critical load if keys that are given up freed their first moments for the others.

    In truth they free their second moments (Proposition 11, `assocmem.theory.crossover.crossover`).

    Parameters
    ----------
    load : float
        Above the critical load by a small part of it.
    r : float
        Tail fraction.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("r", r, 0, 1)
    kappa, critical = float(tail_mean(r)), float(critical_load(r))
    highest = 1 / (1 / critical - hinge_moments(kappa)[0])
    lowest = critical * (1 + LEAST_EXCESS)
    allowed = f"above {critical:.6g} and below {highest:.6g} at r = {r:g}"
    require(is_number(load) and lowest < load < highest, "load", load, allowed)
    lacking = 1 / critical - 1 / load
    tau = brentq(lambda t: hinge_moments(t)[0] - lacking, -9, kappa)
    G = special.ndtri((np.arange(SAMPLE) + 0.5) / SAMPLE)
    A = np.clip((kappa - G) / (kappa - tau), 0, 1)
    return np.mean(special.entr(A) + special.entr(1 - A))
