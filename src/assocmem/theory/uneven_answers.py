"""What it costs that some answers are given more often than others.

Let the targets be no more than ``d_out + 1``, so that scores of different targets are free of each other, and
the dimension of the keys large: a perceptron with m outputs. Its threshold is a mean-field problem for two
covariances, that of the scores, Q, and that of the forces, in whose inverse X distances are measured:

    n / d_in = max over Q, min over X, of  tr(Q X) / sum_a f_a E dist_X(Q^(1/2) g, C_a)^2,

where ``f_a`` is the share of the facts with answer a and ``C_a`` the cone in which score a is the largest.
Gordon's comparison for the two Gram matrices gives it; that is a derivation and no proof. With equal shares
Q and X are multiples of the identity by symmetry, and what is left is the law of `facts_that_fit`.

To second order in ``e_a = m f_a - 1`` only the lengths of the rows of W matter, and the equal shares lose
``c(m)`` times the mean of ``e_a^2``. Second derivatives are averages over the pool of one key. Let T be the
level at which its M competitors meet and r the way of the signal up to it; let A be the mean of
``M / (1 + M)``, R that of ``r^2`` and G that of ``M T^2``, all three over delta. With ``h = 1 / m``,

    c(m) = m / (4 (m - 1)) ( (R - h)^2 / (A - h) - (2 A - R - h)^2 / (G - h) ).

Answers drawn at random have unequal shares by chance, which costs ``c(m) (m - 1)`` facts whatever d_in is.
"""

import math
from functools import cache

import numpy as np
from scipy import special, stats

from assocmem.checks import is_number, require
from assocmem.theory.kinematics import statistical_dimension
from assocmem.theory.tail_cone import LARGEST_N

RANKS = 120
"""Competitors that are drawn one by one. Eight standard deviations more than are pooled at the largest m."""

POINTS = 2**13
"""Of the low-discrepancy sequence; with so many the cost is good to about 1e-3."""

SEED = 1
"""Of its scrambling, so that every call gives the same."""


def unevenness_cost(m: int) -> float:
    """Share of the facts that is lost for each unit of the mean of ``(m f_a - 1)^2``, to second order.

    Parameters
    ----------
    m : int
        Number of targets, from 2 to 1e12.

    Returns
    -------
    float
        0 for two targets, 0.40 for nine, and in the end a quarter of delta(m); good to about 1e-3.

    Raises
    ------
    ValueError
        For an m out of range.
    """
    require(is_number(m) and 2 <= m <= LARGEST_N and m % 1 == 0, "m", m, "a whole number in [2, 1e12]")
    return _unevenness_cost(int(m))


@cache
def _unevenness_cost(m):
    """Result of `unevenness_cost`, which takes a moment."""
    if m == 2:
        return 0.0  # Cover's count holds for any answers
    share, way, level = pool_averages(m)
    rest = 1 / m
    lengths = (way - rest) ** 2 / (share - rest)
    scores = (2 * share - way - rest) ** 2 / (level - rest)
    return m / (4 * (m - 1)) * (lengths - scores)


def random_answers_cost(m: int) -> float:
    """Facts that are lost because answers drawn at random are given unequally often: ``c(m) (m - 1)``.

    Of n facts each answer has ``n / m`` on average, with a variance that makes the mean of
    ``(m f_a - 1)^2`` equal to ``(m - 1) / n``.

    Parameters
    ----------
    m : int
        Number of targets, from 2 to 1e12, and no more than ``d_out + 1`` for the number to mean anything.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For an m out of range.
    """
    return unevenness_cost(m) * (m - 1)


def pool_averages(m: int) -> tuple[float, float, float]:
    """Averages over the pool of one key, each over delta: of ``M / (1 + M)``, ``r^2`` and ``M T^2``.

    The signal is integrated out: competitor j is pooled if it is below a level that those above j set.

    Parameters
    ----------
    m : int
        Number of targets, from 2 to 1e12.

    Returns
    -------
    share, way, level : float

    Raises
    ------
    ValueError
        For an m out of range.
    """
    require(is_number(m) and 2 <= m <= LARGEST_N and m % 1 == 0, "m", m, "a whole number in [2, 1e12]")
    rivals = _strongest(int(m) - 1)
    j = np.arange(1, rivals.shape[1] + 1)
    sums = np.cumsum(rivals, axis=1)
    high = j * rivals - (sums - rivals)  # the signal below which j competitors are pooled
    low = np.concatenate([high[:, 1:], np.full((len(high), 1), -np.inf)], axis=1)
    zeroth = special.ndtr(high) - special.ndtr(low)
    first = _density(low) - _density(high)
    second = zeroth + _moment(low) - _moment(high)
    share = (special.ndtr(high) / (j * (j + 1))).sum(axis=1)
    way = ((sums**2 * zeroth - 2 * j * sums * first + j**2 * second) / (j + 1) ** 2).sum(axis=1)
    level = (j * (sums**2 * zeroth + 2 * sums * first + second) / (j + 1) ** 2).sum(axis=1)
    delta = statistical_dimension(m)
    return tuple(float(values.mean() / delta) for values in (share, way, level))


def _strongest(count):
    """The largest of so many normal numbers in decreasing order, a row for each point of the sequence."""
    ranks = min(count, RANKS)
    u = stats.qmc.Sobol(ranks + 1, rng=np.random.default_rng(SEED)).random(POINTS)
    u = np.clip(u, 1e-15, 1 - 1e-15)
    arrivals = np.cumsum(
        -np.log(u[:, :ranks]), axis=1
    )  # uniform order statistics are those of a Poisson process
    rest = special.gammaincinv(count - ranks + 1, u[:, ranks:])
    return -special.ndtri(arrivals / (arrivals[:, -1:] + rest))


def _density(x):
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _moment(x):
    """First moment of the normal density at x, which vanishes at the ends of the line."""
    return np.where(np.isfinite(x), x, 0.0) * _density(x)
