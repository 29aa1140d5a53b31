"""The kinematic prediction of capacity: what if all n^2 score directions were independent?

Replace the vectors ``vec(u_j v_i')`` by independent Gaussian ones. Then the scores range over a uniformly
random subspace of dimension d^2 in R^(n^2), and some memory retrieves every pair if that subspace meets the
product of the n cones ``C_i = {s : s_i >= s_j for all j}`` inside [Amelunxen, Lotz, McCoy and Tropp, 2014]:
with a probability that jumps from 0 to 1 at ``d^2 = n (n - delta(C))``, delta the statistical dimension.

Projecting a vector g on C pools the signal ``g_1`` with its M best competitors, as many as exceed the average
of the pool so far, and replaces all of them by their average. The face it lands on has dimension n - M. So
``n - delta(C) = E M``, and the width of the jump is the spread of a sum of n copies of M. A competitor of
size x is pooled if those above it leave room, ``g_1 + sum_j (g_j - x)_+ < x``, whose probability is one
Fourier integral.

Longer tails have a cone of their own (`tail_cone`); n - delta(C) is the mean dimension of a face there too,
and M stands for that dimension.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special
from scipy.optimize import brentq

from assocmem.checks import SCALES, is_number, require, require_integer, require_number, require_numbers
from assocmem.theory.tail_cone import LARGEST_N, face_moments

NODES = 160
"""Number of Gauss-Legendre nodes over the size of one competitor: with so many, moments are good to 1e-9."""

FREQUENCIES = 600
"""Midpoints of the Fourier integral; their number was chosen by trial."""

HIGHEST_FREQUENCY = 9.0
"""Frequency at which the integral ends: the signal damps it by ``exp(-omega^2 / 2)``, there below 1e-17."""

LOWEST_SIZE = -9.0
"""Size below which a competitor has a probability of 1e-19."""

HOPELESS_EXCESS = 60.0
"""Sum of excesses that no signal makes up for: it would have to be 60 standard deviations low."""

TINY = 1e-300
"""Keeps the logarithm of a number that has underflowed finite."""

LARGEST_CORRECTED = 9.0
"""The ``z^2`` up to which the correction for skewness, an expansion about the middle, is let grow."""


def statistical_dimension(n: float, k: int = 1) -> float:
    """Mean of M, the number of competitors pooled with a signal: ``E dist(g, C)^2`` of one column's cone.

    That is the statistical dimension of the polar cone, ``n - delta(C)``. (In the paper's Section on
    finite-size scaling the calculation is omitted.)

    Parameters
    ----------
    n : float
        Number of pairs, in [2, 1e12].
    k : int
        Competitors that the signal has to beat on average, from 1 to ``n - 1``.

    Returns
    -------
    float
        Between 1/2 and ``2 log n``; relative accuracy 1e-9 or better for k = 1, about 3e-4 otherwise.

    Raises
    ------
    ValueError
        For an n or k out of range.
    """
    return pooled_moments(n, k)[0]


def critical_dimension(n: float, k: int = 1) -> float:
    """Dimension ``sqrt(n statistical_dimension(n, k))``, where half of all instances should be solvable.

    Parameters
    ----------
    n : float
        Number of pairs, in [2, 1e12].
    k : int
        As in `statistical_dimension`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For an n or k out of range.
    """
    return math.sqrt(n * statistical_dimension(n, k))


def retrieval_probability(
    n: float, d: float | np.ndarray, k: int = 1, shift: float = 0.0
) -> float | np.ndarray:
    """Probability that some memory satisfies n pairs in dimension d, without a fitted constant.

    Parameters
    ----------
    n : float
        Number of pairs, in [2, 1e12].
    d : float or ndarray
        Positive.
    k : int
        As in `statistical_dimension`.
    shift : float
        Amount by which the transition is moved, in ``d^2 / n``.

    Returns
    -------
    float or ndarray
        ``P(M_1 + ... + M_n < d^2)`` by a normal distribution and its first correction, for skewness.

    Raises
    ------
    ValueError
        For an n or k out of range.
    """
    return np.exp(log_probabilities(n, d, k, shift)[0])


def log_probabilities(
    n: float, d: float | np.ndarray, k: int, shift: float, stretch: float = 1.0
) -> tuple[float | np.ndarray, float | np.ndarray]:
    """Logarithms of `retrieval_probability` and of the probability of the opposite.

    The correction for skewness moves the argument of the normal distribution, so that the result stays a
    probability.

    Parameters
    ----------
    n, d, k, shift : float, float or ndarray, int, float
        As in `retrieval_probability`.
    stretch : float
        By which the width of the transition is multiplied.

    Returns
    -------
    yes, no : float or ndarray

    Raises
    ------
    ValueError
        For an n or k out of range.
    """
    require_numbers("d", d, *SCALES, ends="[]")
    d = np.asarray(d)[()]
    require_number("shift", shift, -SCALES[1], SCALES[1])
    require_number("stretch", stretch, *SCALES, ends="[]")
    mean, variance = pooled_moments(n, k)
    z = (np.square(d) - n * (mean + shift)) / math.sqrt(n * variance) / stretch
    skewness = _third_moment(n, k) / variance**1.5 / math.sqrt(n)
    z = z - skewness / 6 * (np.minimum(z**2, LARGEST_CORRECTED) - 1)
    return special.log_ndtr(z), special.log_ndtr(-z)


def pool(signal: float, rivals: np.ndarray) -> tuple[float, int]:
    """Level at which a signal meets the competitors above it, and how many they are (least squares).

    Parameters
    ----------
    signal : float
    rivals : ndarray, shape (m,)
        Competitors in decreasing order.

    Returns
    -------
    level : float
        Average of the signal and the competitors pooled with it.
    count : int
        Number of these competitors.

    Raises
    ------
    ValueError
        For a signal that is no number, or competitors that are no vector.
    """
    require_number("signal", signal)
    require_numbers("rivals", rivals)
    require(np.ndim(rivals) == 1, "rivals", rivals, "a vector")
    rivals = np.asarray(rivals)
    means = (signal + np.concatenate([[0.0], np.cumsum(rivals)])) / np.arange(1, len(rivals) + 2)
    count = int(np.argmin(np.append(rivals > means[:-1], False)))
    return float(means[count]), count


def pooled_moments(n: float, k: int = 1) -> tuple[float, float]:
    """Mean and variance of M.

    Parameters
    ----------
    n : float
        Number of pairs, in [2, 1e12].
    k : int
        As in `statistical_dimension`.

    Returns
    -------
    mean, variance : float
        For k = 1 by quadrature; otherwise by simulation, to about 3e-4 and 2e-3.

    Raises
    ------
    ValueError
        For an n or k out of range.
    """
    require(is_number(n) and 2 <= n <= LARGEST_N, "n", n, "in [2, 1e12]")
    require_integer("k", k, 1)
    require(k <= n - 1, "k", k, f"at most n - 1 = {n - 1:g}")
    return _pooled_moments(n, k)


@cache
def _pooled_moments(n, k):
    """Result of `pooled_moments`, which takes some time."""
    if k == n - 1:
        return 0.5, 0.25  # the cone is a half-space
    if k > 1:
        return face_moments(n, k)[:2]
    top = math.sqrt(2 * math.log(n))
    x, weights = _nodes(_hopeless_level(n), top + 7.0)
    density = weights * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    mean = (n - 1) * density @ _share_pooled(n - 2, x)
    pairs = 2 * (n - 1) * (n - 2) * density @ _share_pooled(n - 3, x, beside=True)
    return float(mean), float(pairs + mean - mean**2)


@cache
def _third_moment(n, k):
    """Third central moment of M, to a few per cent; all that a correction needs."""
    return face_moments(n, k, repeats=1)[2]


@dataclass(frozen=True)
class LargeSize:
    """Expansion of the moments of M for many pairs.

    Attributes
    ----------
    level : float
        Where signal and pooled competitors meet.
    mean, variance : float
        Of M, up to terms that vanish as ``level**-4`` and ``level**-2``.
    """

    level: float
    mean: float
    variance: float


def large_size(log_n: float) -> LargeSize:
    """Moments of M for k = 1 from the typical level of the pool, at any size.

    The squared distance is the minimum over t of a random function F(t). At the t where the mean of F is
    least, ``(n - 1) E(g - t)_+ = t``, that mean is ``t^2 + 1 + (n - 1) E(g - t)_+^2``; the minimum lies lower
    by the variance of F' over twice the curvature.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, at least log 3.

    Returns
    -------
    LargeSize

    Raises
    ------
    ValueError
        For a size below three pairs.
    """
    ok = is_number(log_n) and math.log(3) - 1e-12 <= log_n <= SCALES[1]
    require(ok, "log_n", log_n, f"at least log 3, at most {SCALES[1]:g}")
    log_m = log_n + math.log1p(-math.exp(-log_n))
    t = brentq(lambda t: _log_rivals(t) - log_m, 0.05, math.sqrt(2 * log_m) + 1)
    count, first, second, fourth = _excess_moments(t)
    scale = t / first
    count, second, fourth = scale * count, scale * second, scale * fourth
    mean = t**2 + 1 + second - (1 + second) / (1 + count)
    return LargeSize(t, mean, 4 * t**2 + 2 + fourth - 2 * mean)


def _log_rivals(t):
    """Logarithm of the number of competitors whose excesses over t add up to t on average."""
    return math.log(t / _excess_moments(t)[1]) + t**2 / 2 + 0.5 * math.log(2 * math.pi)


def _excess_moments(t):
    """Moments 0, 1, 2 and 4 of ``(g - t)_+`` over the normal density at t."""
    if t < 30:
        mills = math.sqrt(math.pi / 2) * special.erfcx(t / math.sqrt(2))
        first = 1 - t * mills
        second = mills - t * first
        third = 2 * first - t * second
        return mills, first, second, 3 * second - t * third
    return tuple(_excess_series(t, p) for p in (0, 1, 2, 4))


def _excess_series(t, p):
    """Moment p of ``(g - t)_+`` over the normal density at a large t, by its asymptotic series."""
    return sum(
        (-1) ** i * math.factorial(2 * i + p) / (math.factorial(i) * 2**i * t ** (2 * i + p + 1))
        for i in range(6)
    )


def _share_pooled(others, x, *, beside=False):
    """Probability that ``g_1 + sum (g_j - x)_+ < x`` over ``others`` competitors j.

    With ``beside``, that one further competitor is above x as well and in the sum. By Gil-Pelaez inversion
    of the characteristic function at midpoints, which is accurate to all digits since g_1 makes it decay.
    """
    step = HIGHEST_FREQUENCY / FREQUENCIES
    omega = step * (np.arange(FREQUENCIES) + 0.5)[:, None]
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    above = density * math.sqrt(math.pi / 2) * special.wofz((omega + 1j * x) / math.sqrt(2))
    # The logarithm of above + ndtr(x). For a large x that is close to one, where only log1p keeps the digits.
    low = np.log(above + special.ndtr(x) + TINY)
    logarithm = np.where(x < 0, low, _log1p(above - special.ndtr(-np.maximum(x, 0))))
    logarithm = others * logarithm - omega**2 / 2 - 1j * omega * x
    transform, share = np.exp(logarithm), np.ones_like(x)
    if beside:
        transform, share = transform * above, special.ndtr(-x)
    return share / 2 - step / math.pi * (transform.imag / omega).sum(axis=0)


def _log1p(z):
    """Logarithm of ``1 + z`` with all digits of a small z; that of NumPy loses them for complex numbers.

    The one of SciPy keeps them too, but would change the last digits of moments that are stored.
    """
    return 0.5 * np.log1p(2 * z.real + z.real**2 + z.imag**2) + 1j * np.arctan2(z.imag, 1 + z.real)


def _hopeless_level(n):
    """A level so low that the excesses of all competitors over it add up to far more than any signal."""

    def excess(x):
        return n * (math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) - x * special.ndtr(-x))

    if excess(LOWEST_SIZE) < HOPELESS_EXCESS:
        return LOWEST_SIZE
    return brentq(lambda x: excess(x) - HOPELESS_EXCESS, LOWEST_SIZE, 40.0)


def _nodes(low, high):
    """Gauss-Legendre nodes and weights on an interval."""
    x, weights = np.polynomial.legendre.leggauss(NODES)
    return low + (high - low) * (x + 1) / 2, weights * (high - low) / 2
