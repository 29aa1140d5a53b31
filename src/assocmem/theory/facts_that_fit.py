"""How many facts fit into a matrix: any number of keys, of targets, and of dimensions on either side.

A fact is a key with one of m targets as its answer. The matrix W of shape ``(d_out, d_in)`` gives the key v
the scores ``u_j' W v``; the answer has to come out first, or above the average of its k best competitors. A
vector added to all targets moves all scores of a key alike, so what counts is the span of the differences of
targets, of dimension ``min(d_out, m - 1)``. The scores of all facts then fill a subspace of dimension

    D = d_in min(d_out, m - 1),

and the calculation of `kinematics` says that n facts fit as long as ``n delta(m, k) < D``, where delta is the
mean of M, the number of competitors pooled with a signal. Nothing is fitted.

Two targets are the perceptron: delta is 1/2, and `cover_probability` is exact. As many targets as facts are
the paper's case. Whether answers are drawn at random or each target answers once makes no difference to this
calculation, because all answers have congruent cones; it makes one to instances (`uneven_answers`).
"""

import math
from functools import cache

import numpy as np
from scipy import special
from scipy.optimize import brentq

from assocmem.checks import is_number, require, require_number, require_numbers
from assocmem.theory.dimension_table import tabulated_dimension
from assocmem.theory.kinematics import LARGEST_CORRECTED, pooled_moments
from assocmem.theory.tail_cone import LARGEST_N, face_moments

LIMITING_BITS = 1 / (2 * math.log(2))
"""Bits per parameter for more and more targets: ``log2 m`` over ``2 log m``."""


def score_dimensions(d_in: float, d_out: float, m: float) -> float:
    """Dimension of the space of all scores, up to a constant for each key: ``d_in min(d_out, m - 1)``.

    Parameters
    ----------
    d_in, d_out : float
        Dimensions of keys and of targets, in [1, 1e12].
    m : float
        Number of targets, in [2, 1e12].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a number out of range.
    """
    require_number("d_in", d_in, 1, LARGEST_N, ends="[]")
    require_number("d_out", d_out, 1, LARGEST_N, ends="[]")
    require_number("m", m, 2, LARGEST_N, ends="[]")
    return float(d_in) * min(float(d_out), float(m) - 1)


def dimension_of_answer(m: float, k: int = 1) -> float:
    """What one fact takes of that dimension: the mean of M, by a table for k = 1.

    Parameters
    ----------
    m : float
        Number of targets, in [2, 1e12].
    k : int
        Competitors that the signal has to beat on average, from 1 to ``m - 1``.

    Returns
    -------
    float
        Good to 1e-10 for k = 1, otherwise to about 3e-4.

    Raises
    ------
    ValueError
        For an m or k out of range.
    """
    require_number("m", m, 2, LARGEST_N, ends="[]")
    if is_number(k) and k == 1 and not isinstance(k, float):
        return tabulated_dimension(m)
    return pooled_moments(m, k)[0]


def facts_that_fit(d_in: float, d_out: float, m: float, k: int = 1) -> float:
    """Number of facts of which half of all instances should be retrievable by some matrix.

    Parameters
    ----------
    d_in, d_out : float
        Dimensions of keys and of targets, in [1, 1e12].
    m : float
        Number of targets, in [2, 1e12], each the answer to any number of keys.
    k : int
        Competitors that the answer has to beat on average, from 1 to ``m - 1``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a number out of range.
    """
    return score_dimensions(d_in, d_out, m) / dimension_of_answer(m, k)


def pairs_that_fit(d_in: float, d_out: float) -> float:
    """The same where every fact has a target of its own, as in the paper: the largest n with n targets.

    Parameters
    ----------
    d_in, d_out : float
        Dimensions of keys and of targets, in [1, 1e6] and with a product of at least 2.

    Returns
    -------
    float
        The n with ``n delta(n, 1) = d_in min(d_out, n - 1)``.

    Raises
    ------
    ValueError
        For a number out of range.
    """
    for name, value in (("d_in", d_in), ("d_out", d_out)):
        require_number(name, value, 1, 1e6, ends="[]")
    require(d_in * d_out >= 2, "d_in * d_out", d_in * d_out, "at least 2")

    def missing(log_n):
        n = min(max(math.exp(log_n), 2.0), LARGEST_N)
        return math.log(n * tabulated_dimension(n)) - math.log(d_in * min(d_out, n - 1))

    if missing(math.log(2)) >= 0:  # keys of one dimension: two facts are all
        return 2.0
    # Up to the corner both sides grow, and their quotient does too: there is one crossing, on either side.
    return math.exp(brentq(missing, math.log(2), math.log(2 * d_in * d_out + 1), xtol=1e-13, rtol=1e-14))


def fit_probability(
    n: float | np.ndarray, d_in: float, d_out: float, m: float, k: int = 1
) -> float | np.ndarray:
    """Probability that some matrix retrieves n facts, without a fitted constant.

    Parameters
    ----------
    n : float or ndarray
        Number of facts, positive.
    d_in, d_out, m, k : float, float, float, int
        As in `facts_that_fit`.

    Returns
    -------
    float or ndarray
        ``P(M_1 + ... + M_n < D)`` by a normal distribution and its first correction, for skewness.

    Raises
    ------
    ValueError
        For a number out of range.
    """
    require_numbers("n", n, 0, LARGEST_N, ends="(]")
    return special.ndtr(_standardised(np.asarray(n)[()], score_dimensions(d_in, d_out, m), m, k))


def _standardised(n, dimension, m, k):
    """By how many standard deviations n facts stay below a dimension, corrected as in `kinematics`."""
    mean, variance, third = _moments(m, k)
    z = (dimension - n * mean) / np.sqrt(n * variance)
    skewness = third / variance**1.5 / np.sqrt(n)
    return z - skewness / 6 * (np.minimum(z**2, LARGEST_CORRECTED) - 1)


@cache
def _moments(m, k):
    """Mean, variance and third central moment of M."""
    mean, variance = pooled_moments(m, k)
    half_space = k == m - 1  # M is then 0 or 1, and its law symmetric
    return mean, variance, 0.0 if half_space else face_moments(m, k, repeats=1)[2]


def facts_at(probability: float, d_in: float, d_out: float, m: float, k: int = 1) -> float:
    """Number of facts that some matrix retrieves with a given probability, the inverse of `fit_probability`.

    Parameters
    ----------
    probability : float
        In [1e-9, 1 - 1e-9].
    d_in, d_out, m, k : float, float, float, int
        As in `facts_that_fit`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a number out of range.
    """
    require_number("probability", probability, 1e-9, 1 - 1e-9, ends="[]")
    dimension, goal = score_dimensions(d_in, d_out, m), special.ndtri(probability)
    mean = _moments(m, k)[0]

    def above(log_n):
        return _standardised(math.exp(log_n), dimension, m, k) - goal

    middle = math.log(dimension / mean)
    low, high = middle - 1, middle + 1
    while above(low) < 0:
        low -= 1
    while above(high) > 0:
        high += 1
    return math.exp(brentq(above, low, high, xtol=1e-13, rtol=1e-14))


def fit_width(d_in: float, d_out: float, m: float, k: int = 1) -> float:
    """Standard deviation of the last number of facts that fits, in facts.

    Parameters
    ----------
    d_in, d_out, m, k : float, float, float, int
        As in `facts_that_fit`.

    Returns
    -------
    float
        The spread of ``M_1 + ... + M_n`` at the transition, over the mean of M.

    Raises
    ------
    ValueError
        For a number out of range.
    """
    dimension = score_dimensions(d_in, d_out, m)
    mean, variance = pooled_moments(m, k)
    return math.sqrt(dimension * variance / mean) / mean


def cover_probability(n: int | np.ndarray, d_in: int | np.ndarray) -> float | np.ndarray:
    """Probability that some matrix retrieves n facts with two targets: Cover's count, which is exact.

    With two targets only the sign of one linear function of the key counts, whatever the targets are. Of the
    ``2^n`` ways to answer n keys in general position, ``2 sum_{j < d_in} C(n - 1, j)`` are linear
    [Schlaefli 1850, Cover 1965].

    Parameters
    ----------
    n : int or ndarray
        Number of facts, at least 1.
    d_in : int or ndarray
        Dimension of the keys, at least 1.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        For a number out of range.
    """
    for name, values in (("n", n), ("d_in", d_in)):
        require_numbers(name, values, 1, LARGEST_N, ends="[]")
        require(bool(np.all(np.asarray(values) % 1 == 0)), name, values, "whole numbers")
    n, d_in = (np.asarray(x, dtype=float) for x in (n, d_in))
    # the incomplete beta function: the binomial distribution of SciPy loses its digits from n = 1e6 on
    below = special.betainc(np.maximum(n - d_in, 1), d_in, 0.5)
    return np.where(d_in < n, below, 1.0)[()]


def bits_per_parameter(m: float | np.ndarray) -> float | np.ndarray:
    """Information in the answers at the threshold, over the number of parameters that count.

    Each fact picks one of m answers, which are ``log2 m`` bits, and takes delta(m, 1) of the
    ``d_in min(d_out, m - 1)`` dimensions. With fewer targets than ``d_out + 1`` a matrix has more parameters
    than count.

    Parameters
    ----------
    m : float or ndarray
        Number of targets, in [2, 1e12].

    Returns
    -------
    float or ndarray
        2 for two targets, falling towards `LIMITING_BITS` = 0.72.

    Raises
    ------
    ValueError
        For a number out of range.
    """
    dimension = tabulated_dimension(m)
    return np.log2(m) / dimension if isinstance(m, np.ndarray) else math.log2(m) / dimension
