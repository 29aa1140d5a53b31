"""How many pairs of a key and a competitor fail under outer products, and the exponent that this shows.

The paper counts pairs: one margin behaves as ``1 + sqrt(2 load) G``, so that it is negative with a
probability whose logarithm is ``-1 / (4 load)`` (eq. ``cmm-eight-heuristic``). A share p of failing pairs is
that of a normal margin of mean 1 whose variance is ``2 load`` over `exponent`, which tends to 1 if the paper
is right. At dimension d the lengths of the vectors add ``6 / d`` to the variance, so it does so like ``1/d``.
"""

from collections.abc import Iterable

import numpy as np
from scipy import special

from assocmem.checks import require_number
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load


def failing_share(pairs: Pairs) -> float:
    """Share of the ordered pairs of a key and another target that the sum of outer products ranks wrongly.

    Parameters
    ----------
    pairs : Pairs
        At least two; all scores are held at once.

    Returns
    -------
    float
    """
    scores = pairs.U.T @ (correlation_memory(pairs) @ pairs.V)
    beaten = int((scores >= scores.diagonal()).sum()) - pairs.n  # each signal is counted as its own rival
    return beaten / (pairs.n * (pairs.n - 1))


def exponent(share: float, load: float) -> float:
    """``2 load z^2`` with ``share = Phi(-z)``: the exponent of the tail in units of ``1 / (4 load)``.

    Parameters
    ----------
    share : float
        Of failing pairs, in (0, 1/2).
    load : float
        ``n / d^2``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_number("share", share, 0, 0.5)
    require_number("load", load, 0)
    return float(2 * load * special.ndtri(share) ** 2)


def exponent_in_large_dimension(load: float, d: int, seeds: Iterable[int]) -> tuple[float, float, float]:
    """The exponent at one load, from instances of dimension d and ``2 d`` and continued in ``1/d``.

    Parameters
    ----------
    load : float
    d : int
        The smaller dimension.
    seeds : iterable of int
        One for each instance, at least two; in the smaller dimension four instances are made of each.

    Returns
    -------
    value, error, next_order : float
        The exponent; its standard error; and the square of what it changes by between dimension 2d and
        infinity, which says how large the term in ``1/d^2`` may be.
    """
    seeds = list(seeds)
    found = {}
    for size, repeats in ((d, 4), (2 * d, 1)):
        n = pairs_at_load(load, size)
        each = [
            exponent(failing_share(gaussian_pairs(n, size, seed=repeats * seed + t)), n / size**2)
            for seed in seeds
            for t in range(repeats)
        ]
        found[size] = np.mean(each), np.std(each, ddof=1) / np.sqrt(len(each))
    (small, small_error), (large, large_error) = found[d], found[2 * d]
    return (
        float(2 * large - small),
        float(np.hypot(2 * large_error, small_error)),
        float((large - small) ** 2),
    )
