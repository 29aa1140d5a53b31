"""How many pairs, in which dimension: the ratios of the paper, tails, blocks of columns and bytes."""

import math
from fractions import Fraction

import numpy as np

from assocmem.checks import require, require_integer

BLOCK_BYTES = 2**26
"""Bytes of one block of scores on a processor, 64 MiB: little beside the memory of any machine, and so much
that the cost of a call does not count. The size was chosen by trial."""

RUNTIME_BYTES = 5 * 2**27
"""Bytes that Python and its libraries take before the first pair, 640 MiB, rounded up."""

LARGEST_DENOMINATOR = 10**9
"""Up to which a tail fraction is read as a simple fraction: any of nine decimal digits is."""


def dimension_at_ratio(n: int, ratio: float) -> int:
    """Dimension d for which ``d^2 / (n log n)`` is closest to ``ratio`` (at least 1).

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    ratio : float
        The ``top1_ratio`` asked for, positive.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_integer("n", n, 2)
    require(ratio > 0 and math.isfinite(ratio), "ratio", ratio, "a finite number > 0")
    return max(1, round(math.sqrt(ratio * n * math.log(n))))


def top1_ratio(n: int, d: float | np.ndarray) -> float | np.ndarray:
    """``d^2 / (n log n)``, whose critical value is 2 (Theorem 1). Figure 1 of the paper shows its inverse.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    d : float or ndarray
        Dimension.

    Returns
    -------
    float or ndarray
        Like ``d``.

    Raises
    ------
    ValueError
        For an n out of range.
    """
    require_integer("n", n, 2)
    return d**2 / (n * math.log(n))


def pairs_at_load(load: float, d: int) -> int:
    """Number of pairs n for which ``n / d^2`` is closest to ``load`` (at least 2).

    Parameters
    ----------
    load : float
        The ``n / d^2`` asked for, positive.
    d : int
        Dimension, at least 1.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require(load > 0 and math.isfinite(load), "load", load, "a finite number > 0")
    require_integer("d", d, 1)
    return max(2, round(load * d**2))


def tail_count(r: float, m: int) -> int:
    """Size ``k = ceil(r m)`` of the tail of m competitors.

    A float stands for the simplest fraction it could have been written as, so that 0.1 of 30 is 3 and not,
    with the rounding of 0.1, a fraction more.

    Parameters
    ----------
    r : float
        Tail fraction in (0, 1].
    m : int
        Number of competitors, at least 1.

    Returns
    -------
    int
        From 1 to m.

    Raises
    ------
    ValueError
        For a fraction out of range.
    """
    require(0 < r <= 1, "r", r, "in (0, 1]")
    return max(1, math.ceil(Fraction(r).limit_denominator(LARGEST_DENOMINATOR) * m))


def column_slices(count: int, step: int) -> list[slice]:
    """Slices of at most ``step`` columns that cover ``count`` of them, in order.

    Parameters
    ----------
    count : int
        Number of columns.
    step : int
        Positive.

    Returns
    -------
    list of slice
    """
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def peak_bytes(n: int, d: int, itemsize: int = 8) -> int:
    """Bytes that a streamed pass over all score columns takes at its peak, the runtime included.

    Parameters
    ----------
    n : int
        Number of pairs.
    d : int
        Dimension.
    itemsize : int
        Bytes of one number.

    Returns
    -------
    int
    """
    block = max(BLOCK_BYTES, n * itemsize)
    return RUNTIME_BYTES + itemsize * (2 * n * d + 3 * d * d) + 2 * block
