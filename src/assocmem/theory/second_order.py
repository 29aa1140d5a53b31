"""What the kinematic value of top-1 capacity adds to ``2 log n``, and how slowly its slope settles.

Conjecture 1 says ``d_c^2 / n = 2 log n - 3 log log n + o(log log n)``. The surrogate with independent score
directions has these two terms, and here are the others: as a series, and as the slope that a straight line
through exact values would have against ``log log n``.
"""

import math

import numpy as np

from assocmem.checks import SCALES, is_number, require, require_numbers
from assocmem.theory.kinematics import large_size, statistical_dimension

QUADRATURE_BELOW = 27.0
"""Natural logarithm of n up to which the quadrature is used, just below its largest n of 1e12."""
STEP = 1e-3
"""Step in ``log log n`` of the central difference, where rounding and curvature both are out of sight."""


def two_terms(log_n: float | np.ndarray) -> float | np.ndarray:
    """The two terms of Conjecture 1, ``2 log n - 3 log log n``."""
    require_numbers("log_n", log_n, 0)
    log_n = np.asarray(log_n)[()]
    return 2 * log_n - 3 * np.log(log_n)


def surrogate_series(log_n: float | np.ndarray) -> float | np.ndarray:
    """Series of the kinematic value in ``y = 2 log n``, up to terms that vanish faster than ``1 / y``.

    ``y - 3 log y - log 2 pi + 3 + (9 log y + 3 log 2 pi - 15) / y``, derived in the book.
    """
    require_numbers("log_n", log_n, *SCALES, ends="[]")
    log_n = np.asarray(log_n)[()]
    y = 2 * log_n
    terms = y - 3 * np.log(y) - math.log(2 * math.pi) + 3
    return terms + (9 * np.log(y) + 3 * math.log(2 * math.pi) - 15) / y


def beyond_leading(log_n: float) -> float:
    """The kinematic ``d^2 / n`` less ``2 log n``: by quadrature up to 10^12 pairs, then from the level."""
    ok = is_number(log_n) and math.log(2) <= log_n <= SCALES[1]
    require(ok, "log_n", log_n, f"at least log 2, at most {SCALES[1]:g}")
    near = log_n < QUADRATURE_BELOW
    value = statistical_dimension(math.exp(log_n)) if near else large_size(log_n).mean
    return value - 2 * log_n


def local_slope(log_n: float) -> float:
    """Derivative of `beyond_leading` with respect to ``log log n``; the conjecture's limit is -3."""
    ok = is_number(log_n) and math.log(2) * math.exp(STEP) <= log_n <= SCALES[1] / 2
    require(ok, "log_n", log_n, f"above log 2 and below {SCALES[1]:g}")
    up, down = beyond_leading(log_n * math.exp(STEP)), beyond_leading(log_n * math.exp(-STEP))
    return (up - down) / (2 * STEP)
