"""How fast sparse repair with the best reserve comes down to its constant 2: a balance of two losses.

Reserve a share x of the coordinates. The base is left with ``c (1 - x)^2``, and a share B of the keys is
deficient, ``log B = -(sqrt(c) (1 - x) (1 - gamma) - sqrt 2)^2 log(n) / 2``. Their repair makes noise of
spread ``gamma sqrt(B) / (x sqrt(c log n))``, the largest of n competitors receives ``sqrt(2 log n)`` times
that, and it has to stay below gamma: B is about ``x^2``. With ``c = 2 + e`` to first order in small numbers,
``(e / 4 - x - gamma)^2 log n = 2 log(1 / x)``, so ``e = 4 [x + gamma + sqrt(2 log(1/x) / log n)]``, least at
``x = 1 / sqrt(2 log(1/x) log n)``. There ``log(1/x)`` is about half of ``log log n``, and

``x ~ 1 / sqrt(log n log log n)``, ``c - 2 ~ 4 sqrt(log log n / log n)``.

The margin gamma has to be about as large as deficient keys fall short of it, ``1 / (2 sqrt(log n log log
n))``; so x and gamma add a term of that order to c.
"""

import math
from collections.abc import Sequence

import numpy as np

from assocmem.checks import require, require_number, require_numbers

LARGEST_LOG_N = 1e12
"""Natural logarithm of n up to which the balance has been tried."""


def leading_excess(log_n: float) -> float:
    """``4 sqrt(log log n / log n)``, what the ratio at one half exceeds 2 by, to leading order.

    Parameters
    ----------
    log_n : float
        Natural logarithm of n, above e.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a size out of range.
    """
    require_number("log_n", log_n, math.e, LARGEST_LOG_N)
    return 4 * math.sqrt(math.log(log_n) / log_n)


def balanced_share(log_n: float) -> float:
    """The share x that solves ``x = 1 / sqrt(2 log(1/x) log n)``.

    Parameters
    ----------
    log_n : float
        Natural logarithm of n, above e.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a size out of range.
    """
    require_number("log_n", log_n, math.e, LARGEST_LOG_N)
    depth = 0.5 * math.log(log_n)  # log(1/x), by an iteration that contracts by about 1 / (2 depth)
    for _ in range(100):
        depth = 0.5 * (math.log(2 * log_n) + math.log(max(depth, 0.1)))
    return math.exp(-depth)


def extrapolated_constant(log_n: Sequence[float], ratios: Sequence[float]) -> float:
    """Limit C of ratios that follow ``C + 4 sqrt(log log n / log n) + b / sqrt(log n log log n)``.

    Parameters
    ----------
    log_n : sequence of float
        Natural logarithms of two numbers of pairs or more, above e.
    ratios : sequence of float
        ``d^2 / (n log n)`` at one half, of the same length.

    Returns
    -------
    float
        By least squares, with b free.

    Raises
    ------
    ValueError
        For a size out of range, or fewer than two.
    """
    x, y = _matched(log_n, ratios)
    excess = [leading_excess(size) for size in x]
    design = np.column_stack([np.ones(len(x)), 1 / np.sqrt(x * np.log(x))])
    return float(np.linalg.lstsq(design, y - excess, rcond=None)[0][0])


def extrapolated_coefficient(log_n: Sequence[float], ratios: Sequence[float]) -> float:
    """Coefficient A of excesses over 2 that follow ``sqrt(log log n / log n) (A + b / log log n)``.

    Parameters
    ----------
    log_n, ratios : sequence of float
        As in `extrapolated_constant`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a size out of range, or fewer than two.
    """
    x, y = _matched(log_n, ratios)
    scaled = (y - 2) / np.sqrt(np.log(x) / x)
    design = np.column_stack([np.ones(len(x)), 1 / np.log(x)])
    return float(np.linalg.lstsq(design, scaled, rcond=None)[0][0])


def _matched(log_n, ratios):
    """Sizes and ratios as arrays, checked."""
    require_numbers("log_n", log_n, math.e, LARGEST_LOG_N)
    require_numbers("ratios", ratios, 0)
    x, y = np.asarray(log_n, dtype=float), np.asarray(ratios, dtype=float)
    two = x.ndim == 1 and x.shape == y.shape and len(np.unique(x)) >= 2
    require(two, "log_n", log_n, "two different numbers or more, and a ratio for each")
    return x, y
