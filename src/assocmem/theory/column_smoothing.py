"""What the smoothing of the tail average does to a column of infinitely many normal scores."""

import math

import numpy as np
from scipy import special

from assocmem.checks import SCALES, require_number, require_numbers
from assocmem.theory.scalar import scalar_tail_average


def largest_excess(r: float, beta: np.ndarray | float) -> np.ndarray | float:
    """The most that smoothing can add to the tail average of any column, ``log 2 / (r beta)``.

    Parameters
    ----------
    r : float
        Tail fraction.
    beta : ndarray or float
        Inverse smoothing widths.

    Returns
    -------
    ndarray or float
        It is reached by a column of equal scores.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("r", r, SCALES[0], 1, ends="[]")
    require_numbers("beta", beta, *SCALES, ends="[]")
    return math.log(2) / (r * beta)


def normal_excess(r: float, beta: np.ndarray | float) -> np.ndarray | float:
    """What smoothing adds to the tail average of a standard normal law, to leading order in ``1 / beta``.

    A softplus exceeds its hinge by the area ``pi^2 / (6 beta^2)``, all of it near the threshold, where the
    law has the density ``phi(q_r)``.

    Parameters
    ----------
    r : float
        Tail fraction.
    beta : ndarray or float
        Inverse smoothing widths, large.

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("r", r, 0, 1)
    require_numbers("beta", beta, *SCALES, ends="[]")
    density = math.exp(-(special.ndtri(r) ** 2) / 2) / math.sqrt(2 * math.pi)
    return math.pi**2 * density / (6 * r * beta**2)


def smoothed_share(rho: float, r: float, beta: float) -> float:
    """Share of the scores of a normal column that feel the smoothing, ``E q (1 - q)``, times ``1 + rho``.

    The slope of the tail average in the spread of the column tells it: by partial integration that slope is
    ``beta rho E q (1 - q) / r``.

    Parameters
    ----------
    rho : float
        Standard deviation of the scores.
    r, beta : float
        Tail fraction and inverse smoothing width.

    Returns
    -------
    float
        Bounded away from zero for all rho (Lemma 4).

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("rho", rho, *SCALES, ends="[]")
    _, _, slope = scalar_tail_average(rho, r, beta)
    return (1 + rho) * r * slope / (beta * rho)
