"""How large and how small the norm scale of a trained memory can be (Lemmas 18 and 19).

From above by what doing nothing costs, from below by what the best multiple of the outer products gains.
"""

import math

import numpy as np
from scipy import special

from assocmem.checks import SCALES, require_number, require_numbers
from assocmem.theory.scalar import require_point, scalar_tail_average
from assocmem.theory.scalar_reference import least_value, normal_average

NOTHING = 1e-9
"""A norm scale that stands for zero, where the tail average of a normal law is not defined."""

LARGEST_MULTIPLE = 20
"""End of the search for the best multiple of the outer products, whose signals are near it."""


def largest_square(r: float, beta: float, ridge: float) -> float:
    """The constant ``C_0`` of Lemma 18, an upper bound on the square of the norm scale.

    The memory ``W = 0`` with thresholds zero costs ``log 2 + log 2 / (r beta)`` a key at most, and the ridge
    of the minimiser cannot cost more.

    Parameters
    ----------
    r, beta, ridge : float
        Tail fraction, inverse smoothing width, and ridge.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("r", r, SCALES[0], 1, ends="[]")
    require_numbers("beta", beta, *SCALES, ends="[]")
    require_numbers("ridge", ridge, *SCALES, ends="[]")
    return 2 / ridge * math.log(2) * (1 + 1 / (r * beta))


def outer_product_objective(t: float, load: float, r: float, *, beta: float, ridge: float) -> float:
    """Limit of the objective at ``t U V'``, whose signals are ``t + t sqrt(load) Z``.

    Parameters
    ----------
    t : float
        Positive.
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.solve_scalar`; the load may be smaller.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("t", t, *SCALES, ends="[]")
    require_number("load", load, *SCALES, ends="[]")
    require_point(r=r, beta=beta, ridge=ridge)
    noise = t * math.sqrt(load)
    c, _, _ = scalar_tail_average(noise, r, beta)
    cost = normal_average(lambda Z: np.logaddexp(0, c - t - noise * Z))
    return cost + ridge / 2 * noise**2


def least_norm(load: float, r: float, *, beta: float, ridge: float) -> float:
    """Limit of the lower bound of Lemma 19 on the norm scale.

    A convex objective falls no faster than its slope at zero, and the best multiple of the outer products
    lies below its value at zero by a fixed amount.

    Parameters
    ----------
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.solve_scalar`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_point(load=load, r=r, beta=beta, ridge=ridge)
    rest, _, _ = scalar_tail_average(NOTHING, r, beta)
    best = least_value(
        lambda t: outer_product_objective(t, load, r, beta=beta, ridge=ridge), NOTHING, LARGEST_MULTIPLE
    )
    gain = np.logaddexp(0, rest) - best
    return math.sqrt(load) / special.expit(rest) * gain
