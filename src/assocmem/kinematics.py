"""The kinematic prediction of top-1 capacity: what if all n^2 score directions were independent?

Replace the vectors ``vec(u_j v_i')`` by independent Gaussian ones. Then the scores range over a uniformly
random subspace of dimension d^2 in R^(n^2), and some memory retrieves every pair if that subspace meets the
product of the n cones ``C_i = {s : s_i >= s_j for all j}`` inside [Amelunxen, Lotz, McCoy and Tropp, 2014]:
with a probability that jumps from 0 to 1 at ``d^2 = n (n - delta(C))``, delta the statistical dimension.

Projecting a vector g on C pools the signal ``g_1`` with its M best competitors, as many as exceed the average
of the pool so far, and replaces all of them by their average. The face it lands on has dimension n - M. So
``n - delta(C) = E M``, and the width of the jump is the spread of a sum of n copies of M. A competitor of
size x is pooled if those above it leave room, ``g_1 + sum_j (g_j - x)_+ < x``, whose probability is one
Fourier integral.
"""

import math
from functools import cache

import numpy as np
from scipy import special
from scipy.optimize import brentq, minimize_scalar

from assocmem.limits import require

NODES, FREQUENCIES, HIGHEST = 160, 600, 9.0
LOWEST, FAR, TINY = -9.0, 60.0, 1e-300


def statistical_dimension(n):
    """Mean number of competitors pooled with a signal, ``E dist(g, C)^2`` of one column's cone.

    That is the statistical dimension of the polar cone, ``n - delta(C)``.

    Parameters
    ----------
    n : float
        Number of pairs, in [2, 1e12].

    Returns
    -------
    float
        Between 1/2 and ``2 log n``; relative accuracy 1e-9 or better.

    Raises
    ------
    ValueError
        For an n out of range.
    """
    return pooled_moments(n)[0]


def critical_dimension(n):
    """Dimension ``sqrt(n statistical_dimension(n))`` at which half of all instances should be retrievable."""
    return math.sqrt(n * statistical_dimension(n))


def retrieval_probability(n, d):
    """Probability that some memory retrieves n pairs in dimension d, without a fitted constant.

    Parameters
    ----------
    n : float
    d : float or array
        Positive.

    Returns
    -------
    float or array
        ``Phi((d^2 - n E M) / sqrt(n Var M))``.
    """
    mean, variance = pooled_moments(n)
    return special.ndtr((np.square(d) - n * mean) / math.sqrt(n * variance))


def pool(signal, rivals):
    """Level at which a signal meets the competitors above it, and how many they are (least squares).

    Parameters
    ----------
    signal : float
    rivals : array
        Competitors in decreasing order.

    Returns
    -------
    level : float
    count : int
    """
    means = (signal + np.concatenate([[0.0], np.cumsum(rivals)])) / np.arange(1, len(rivals) + 2)
    count = int(np.argmin(np.append(rivals > means[:-1], False)))
    return float(means[count]), count


def half_point(n, d, successes, trials):
    """Where half of all instances are retrievable, ``d^2 / n``, from counts at several dimensions.

    The maximum-likelihood shift of the curve of `retrieval_probability`, whose width is kept.

    Parameters
    ----------
    n : float
    d, successes, trials : sequence
        Dimensions, and how many of how many instances were retrievable at each.

    Returns
    -------
    half, error : float
        Estimate, to be compared with `statistical_dimension`, and its standard error.

    Raises
    ------
    ValueError
        If all instances came out alike.
    """
    d, successes, trials = (np.asarray(x, dtype=float) for x in (d, successes, trials))
    mixed = 0 < successes.sum() < trials.sum()
    require(mixed, "successes", successes.tolist(), "neither all 0 nor all equal to trials")
    width = math.sqrt(pooled_moments(n)[1] / n)

    def surprise(half):
        z = (d**2 / n - half) / width
        return -(successes * special.log_ndtr(z) + (trials - successes) * special.log_ndtr(-z)).sum()

    low, high = (d.min() ** 2 / n - 10 * width, d.max() ** 2 / n + 10 * width)
    half = minimize_scalar(surprise, bounds=(low, high), method="bounded", options={"xatol": 1e-6 * width}).x
    step = 0.01 * width
    curvature = (surprise(half + step) - 2 * surprise(half) + surprise(half - step)) / step**2
    return float(half), float(curvature**-0.5)


@cache
def pooled_moments(n):
    """Mean and variance of the number M of competitors pooled with a signal.

    Parameters
    ----------
    n : float
        Number of pairs, in [2, 1e12].

    Returns
    -------
    mean, variance : float
    """
    require(2 <= n <= 1e12, "n", n, "in [2, 1e12]")
    top = math.sqrt(2 * math.log(n))
    x, weights = _nodes(_hopeless_level(n), top + 7.0)
    density = weights * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    mean = (n - 1) * density @ _share_pooled(n - 2, x)
    pairs = 2 * (n - 1) * (n - 2) * density @ _share_pooled(n - 3, x, beside=True) if n > 2 else 0.0
    return float(mean), float(pairs + mean - mean**2)


def _share_pooled(others, x, *, beside=False):
    """Probability that ``g_1 + sum (g_j - x)_+ < x`` over ``others`` competitors j.

    With ``beside``, that one further competitor is above x as well and in the sum. By Gil-Pelaez inversion
    of the characteristic function at midpoints, which is accurate to all digits since g_1 makes it decay.
    """
    step = HIGHEST / FREQUENCIES
    omega = step * (np.arange(FREQUENCIES) + 0.5)[:, None]
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    above = density * math.sqrt(math.pi / 2) * special.wofz((omega + 1j * x) / math.sqrt(2))
    low = np.log(above + special.ndtr(x) + TINY)  # of the same number, where its digits are
    logarithm = np.where(x < 0, low, _log1p(above - special.ndtr(-np.maximum(x, 0))))
    logarithm = others * logarithm - omega**2 / 2 - 1j * omega * x
    transform, share = np.exp(logarithm), np.ones_like(x)
    if beside:
        transform, share = transform * above, special.ndtr(-x)
    return share / 2 - step / math.pi * (transform.imag / omega).sum(axis=0)


def _log1p(z):
    """Logarithm of ``1 + z`` with all digits of a small z, which numpy's loses for complex numbers."""
    return 0.5 * np.log1p(2 * z.real + z.real**2 + z.imag**2) + 1j * np.arctan2(z.imag, 1 + z.real)


def _hopeless_level(n):
    """A level so low that the excesses of all competitors over it add up to far more than any signal."""
    excess = lambda x: n * (math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) - x * special.ndtr(-x))  # noqa: E731
    return LOWEST if excess(LOWEST) < FAR else brentq(lambda x: excess(x) - FAR, LOWEST, 40.0)


def _nodes(low, high):
    x, weights = np.polynomial.legendre.leggauss(NODES)
    return low + (high - low) * (x + 1) / 2, weights * (high - low) / 2
