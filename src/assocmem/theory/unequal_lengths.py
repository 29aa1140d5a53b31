"""What it costs in the surrogate that targets differ in length, without simulation.

A Gaussian target of dimension d has the squared length ``chi^2_d / d``. Scores of long competitors are
larger, so that the cone of one key becomes ``{s : w_1 s_1 >= w_j s_j}`` with the lengths ``w_j``. Its
projection pools the weighted scores at a level T: the squared distance is the minimum over T of
``(T / w_1 - g_1)^2 + sum_j (g_j - T / w_j)_+^2``. As in `kinematics.large_size`, the mean of that sum is
minimised instead, and what the fluctuations of its slope take off is subtracted.
"""

import math
from functools import cache

import numpy as np
from scipy import special
from scipy.optimize import brentq

from assocmem.checks import is_number, require
from assocmem.theory.tail_cone import LARGEST_N

NODES = 41
"""Points of the rule over the length of one target. Twice as many change nothing in ten digits."""
REACH = 7.0
"""Standard deviations of the logarithm of a squared length, up to which the rule reaches."""
LEAST_WEIGHT = 1e-12
"""Lengths of the signal that are rarer than this do not count."""
SHORTEST = 4
"""Least dimension: below, the mean of ``1 / w^2`` is infinite or nearly so, and there is no expansion."""


def length_cost(n: float, d: float) -> float:
    """Statistical dimension of one key's cone with targets of unequal lengths, less that of equal ones.

    It is about ``2 log^2 n / d`` in the end, but less than half of that at all sizes that can be decided.
    `assocmem.experiments.first_place.surrogates.pooled_with_norms` finds the same by simulation.

    Parameters
    ----------
    n : float
        Number of pairs, in [3, 1e12].
    d : float
        Dimension of the targets, in [4, 1e12].

    Returns
    -------
    float
        In units of ``d^2 / n``; from 20 pairs on good to about 0.01.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require(is_number(n) and 3 <= n <= LARGEST_N, "n", n, "in [3, 1e12]")
    require(is_number(d) and SHORTEST <= d <= LARGEST_N, "d", d, f"in [{SHORTEST}, 1e12]")
    return _length_cost(float(n), float(d))


@cache
def _length_cost(n, d):
    """Result of `length_cost`, for floats."""
    x = np.linspace(-REACH, REACH, NODES) * math.sqrt(2 / d)  # logarithms of squared lengths
    density = np.exp(d / 2 * (x - np.expm1(x)))
    return _distance(n - 1, np.exp(x), density / density.sum()) - _distance(n - 1, np.ones(1), np.ones(1))


def _distance(rivals, squares, weights):
    """Mean squared distance from the cone, for squared lengths of the given weights."""
    lengths = np.sqrt(squares)

    def slope(level, own):
        return level / own - rivals * weights @ (_excess(level / lengths)[1] / lengths)

    total, top = 0.0, lengths.max() * (math.sqrt(2 * math.log(rivals)) + 2)
    for own, weight in zip(squares, weights, strict=True):
        if weight > LEAST_WEIGHT:
            level = brentq(slope, 0.0, top, args=(own,))
            count, _, second = _excess(level / lengths)
            mean = level**2 / own + 1 + rivals * weights @ second
            fluctuation = 1 / own + rivals * weights @ (second / squares)
            total += weight * (mean - fluctuation / (1 / own + rivals * weights @ (count / squares)))
    return float(total)


def _excess(t):
    """Moments 0, 1 and 2 of ``(g - t)_+`` for a standard normal g."""
    mills = math.sqrt(math.pi / 2) * special.erfcx(t / math.sqrt(2))
    first = 1 - t * mills
    density = np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    return density * mills, density * first, density * (mills - t * first)
