"""How many pairs, in which dimension: the ratios of the paper, tails, blocks of columns and bytes."""

import math
from fractions import Fraction
from functools import cache

import numpy as np

from assocmem.checks import require, require_integer, require_number, require_numbers

BLOCK_BYTES = 2**26
"""Bytes of one block of scores on a processor, 64 MiB: little beside the memory of any machine, and so much
that the cost of a call does not count. The size was chosen by trial."""

RUNTIME_BYTES = 5 * 2**27
"""Bytes that Python and its libraries take before the first pair, 640 MiB, rounded up."""

MOST_SLICES = 10**8
"""Slices that a list of them has at most; so many take 10 GB."""

LARGEST_DIMENSION = 1e150
"""Above which the square of a dimension overflows."""

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
    require_number("ratio", ratio, 0)
    square = ratio * int(n) * math.log(n)
    require(square < math.inf, "ratio", ratio, "so small that d^2 is finite")
    return max(1, round(math.sqrt(square)))


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
        For an n out of range, or a d that is not positive.
    """
    require_integer("n", n, 2)
    require_numbers("d", d, 0, LARGEST_DIMENSION)
    return d**2 / (int(n) * math.log(n))


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
    require_number("load", load, 0)
    require_integer("d", d, 1)
    require(d < LARGEST_DIMENSION, "d", d, f"below {LARGEST_DIMENSION:g}")
    n = load * int(d) ** 2
    require(n < math.inf, "load", load, "so small that n is finite")
    return max(2, round(n))


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
        For a fraction or a number of competitors out of range.
    """
    require_number("r", r, 0, 1, ends="(]")
    require_integer("m", m, 1)
    return _tail_count(float(r), int(m))


@cache
def _tail_count(r: float, m: int) -> int:
    """`tail_count` of arguments that are checked; every pass over the scores asks for the same."""
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

    Raises
    ------
    ValueError
        For a count or a step out of range.
    """
    require_integer("count", count, 0)
    require_integer("step", step, 1)
    require(count // step <= MOST_SLICES, "count", count, f"at most {MOST_SLICES} steps of {step}")
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def peak_bytes(n: int, d: int, itemsize: int = 8, *, m: int | None = None, d_out: int | None = None) -> int:
    """Bytes that a streamed pass over all score columns takes at its peak, the runtime included.

    Parameters
    ----------
    n : int
        Number of pairs, or of keys.
    d : int
        Dimension, or that of the keys.
    itemsize : int
        Bytes of one number.
    m, d_out : int, optional
        Number and dimension of the targets, where they are others than those of the keys.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For a size that is no positive integer.
    """
    m, d_out = n if m is None else m, d if d_out is None else d_out
    for name, size in (("n", n), ("d", d), ("itemsize", itemsize), ("m", m), ("d_out", d_out)):
        require_integer(name, size, 1)
    # short integers of NumPy overflow in products
    n, d, itemsize, m, d_out = (int(size) for size in (n, d, itemsize, m, d_out))
    block = max(BLOCK_BYTES, m * itemsize)
    return RUNTIME_BYTES + itemsize * (n * d + m * d_out + 3 * d * d_out) + 2 * block
