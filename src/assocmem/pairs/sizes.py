"""How many pairs, in which dimension: the ratios of the paper, tails, blocks of columns and bytes."""

import math
from fractions import Fraction

from assocmem.checks import require, require_integer

BLOCK_BYTES = 2**26
RUNTIME_BYTES = 5 * 2**27


def dimension_at_ratio(n, ratio):
    """Dimension d for which ``d^2 / (n log n)`` is closest to ``ratio`` (at least 1).

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    ratio : float
        The ``top1_ratio`` asked for, positive.
    """
    require_integer("n", n, 2)
    require(ratio > 0 and math.isfinite(ratio), "ratio", ratio, "a finite number > 0")
    return max(1, round(math.sqrt(ratio * n * math.log(n))))


def top1_ratio(n, d):
    """``d^2 / (n log n)``, whose critical value is 2 (Theorem 1). Figure 1 of the paper shows its inverse."""
    require_integer("n", n, 2)
    return d**2 / (n * math.log(n))


def pairs_at_load(load, d):
    """Number of pairs n for which ``n / d^2`` is closest to ``load`` (at least 2)."""
    require(load > 0 and math.isfinite(load), "load", load, "a finite number > 0")
    require_integer("d", d, 1)
    return max(2, round(load * d**2))


def tail_count(r, m):
    """Size ``k = ceil(r m)`` of the tail of m competitors.

    A float stands for the simplest fraction it could have been written as, so that 0.1 of 30 is 3 and not,
    with the rounding of 0.1, a fraction more.

    Parameters
    ----------
    r : float
        Tail fraction in (0, 1].
    m : int
        Number of competitors, at least 1.
    """
    require(0 < r <= 1, "r", r, "in (0, 1]")
    return max(1, math.ceil(Fraction(r).limit_denominator(10**9) * m))


def column_slices(count, step):
    """Slices of at most ``step`` columns that cover ``count`` of them, in order."""
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def peak_bytes(n, d, itemsize=8):
    """Bytes that a streamed pass over ``n`` pairs takes at its peak, the runtime included."""
    block = max(BLOCK_BYTES, n * itemsize)
    return RUNTIME_BYTES + itemsize * (2 * n * d + 3 * d * d) + 2 * block
