"""What a list costs any memory, convex or not, if all score directions were independent.

"At most k - 1 competitors above the signal" is a cone that is not convex for k > 1. Gordon's comparison
holds for any closed cone: a uniformly random subspace of dimension d^2 in R^(n^2) misses a product of n of
them, with a probability that tends to 1, while ``d^2 < n D``, where D is the mean squared distance of one
Gaussian column,

    D(n, k) = E min_t [(t - g_1)_+^2 + sum_{j >= k} (g_(j) - t)_+^2],

with the competitors in decreasing order: the signal is lifted to t, and all from the k-th best on are lowered
to it. (That there is such a memory where ``d^2 > n D`` follows for convex cones alone.)

The signal and the level are integrated out. Let y be the k-th best competitor and A(x) the sum of
``(g_(j) - x)_+`` over j >= k. The distance falls by ``2 (t - g_1)_+`` as the signal rises, and t is above x
just if ``g_1 + A(x) > x``. So

    D = E (y - G)_+^2 - 2 E int_{-inf}^y (x - A(x) - G)_+ dx,

where the first part would be the cost if nobody but the signal could move. Given y, the sum A(x) has
independent terms, and the mean of a positive part is one integral over its Laplace transform.

For many pairs let N competitors be above the level t. They exceed it like exponential variables of mean
1 / t, and the k - 1 best of them those that exceed it by more than w / t, where ``k - 1 = N exp(-w)``. With
the incomplete gamma functions ``A = P(2, w)`` and ``B = 2 P(3, w)`` the others exceed it by ``N A / t`` in
sum, which has to be t, the way of the signal, and by ``N B / t^2`` in squares. As N is ``n phi(t) / t``,

    D(n, k) = t^2 + 1 + B / A,   with   t^2 = 2 log n - log(4 pi log n) - 2 log N   and   N A = 2 log n,

up to what vanishes. So ``D(n, k) - D(n, 1)`` tends to a function of (k - 1) / log n, `list_shift`. This is
derived for a fixed ratio and not proved. For k far above log n it joins ``1 / list_capacity(k / n)``, of
which D falls short by ``(4/3) q sqrt(2 / k)``.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq

from assocmem.checks import is_number, require, require_integer, require_number, require_numbers
from assocmem.theory.ridgeless import hinge_moments
from assocmem.theory.tail_cone import LARGEST_N

PLACES = 32
"""Places of the k-th best competitor, by its normal score."""

WIDEST_SCORE = 8.0
"""Normal score beyond which the k-th best competitor has a probability of 1e-15."""

LEVELS = 32
"""Levels below the k-th best competitor."""

GAPS = 24
"""Nodes over the gap between a competitor and the level."""

STEP = 0.2
"""Step of the integral over the transform; its errors are of the order exp(-2 pi / STEP)."""

FREQUENCIES = 40
"""Number of such steps: the signal damps the transform by ``exp(-omega^2 / 2)``."""

LOWEST = -40.0
"""Logarithm of the largest part of D that is left out."""

LARGEST_KAPPA = 20.0
"""Margin up to which the integral over the transform is trusted: it begins at ``exp(kappa)``, and its step
must be small against one over what is saved."""

LARGEST_RATIO = 1e12
"""Largest number of competitors above the signal for each unit of the logarithm of the number of pairs."""

LOWEST_SIZE = -9.0
"""Size below which a competitor has a probability of 1e-19."""

TINY = 1e-300
"""Keeps the logarithm of a number that has underflowed finite."""


def list_bound(n: float, k: int = 1) -> float:
    """Pairs' worth of dimensions, ``d^2 / n``, that any memory needs to have every signal among the best k.

    For k = 1 the cone is convex, and this is `assocmem.theory.kinematics.statistical_dimension`. At a fixed
    share r = k / n it tends to ``1 / list_capacity(r)``.

    Parameters
    ----------
    n : float
        Number of pairs, in [2, 1e12].
    k : int
        Place up to which a signal may be, from 1 to ``n - 1``: with at most ``k - 1`` competitors above it.

    Returns
    -------
    float
        ``D(n, k)``, decreasing in k; good to about 1e-8, absolutely and for k up to n / 2 relatively.

    Raises
    ------
    ValueError
        For an n or k out of range.
    """
    # rounding may be larger than what the last of many places costs
    return max(column_distance(n, k, 0.0), 0.0)


def column_distance(n: float, k: int, kappa: float) -> float:
    """Mean squared distance of a Gaussian column to where at most k - 1 competitors are above ``s - kappa``.

    Parameters
    ----------
    n : float
        As in `list_bound`.
    k : int
        As in `list_bound`.
    kappa : float
        By which the signal s has to be above the others, in [0, 20] spreads.

    Returns
    -------
    float
        ``D(n, k)`` with ``g_1 - kappa`` for the signal g_1; rounding can make it slightly negative.

    Raises
    ------
    ValueError
        For an n, k or kappa out of range.
    """
    require(is_number(n) and 2 <= n <= LARGEST_N, "n", n, "in [2, 1e12]")
    require_integer("k", k, 1)
    require(k <= n - 1, "k", k, f"at most n - 1 = {n - 1:g}")
    require_number("kappa", kappa, 0, LARGEST_KAPPA, ends="[]")
    return _column_distance(float(n), int(k), float(kappa))


def list_shift(ratio: ArrayLike) -> np.ndarray | float:
    """Limit of ``D(n, k) - D(n, 1)`` for many pairs, where ``(k - 1) / log n`` stays at a ratio.

    Parameters
    ----------
    ratio : array_like
        In [0, 1e12].

    Returns
    -------
    ndarray or float
        Decreasing from 0; ``-2 log(ratio) + 2 log 2 - 2`` in the end.

    Raises
    ------
    ValueError
        For a ratio out of range.
    """
    require_numbers("ratio", ratio, 0, LARGEST_RATIO, ends="[]")
    half = np.asarray(ratio, dtype=float) / 2
    low, high = np.full(half.shape, -40.0), np.full(half.shape, 7.0)
    for _ in range(80):  # bisection for log w
        log_w = (low + high) / 2
        w = np.exp(log_w)
        above = np.exp(-w) > half * special.gammainc(2, w)
        low, high = np.where(above, log_w, low), np.where(above, high, log_w)
    A, B = special.gammainc(2, w), 2 * special.gammainc(3, w)
    return (2 * np.log(A) + B / A - 2)[()]


@cache
def _column_distance(n, k, kappa):
    """Result of `column_distance`, which takes a moment."""
    rivals = n - 1
    score, weights = _rule(PLACES, -WIDEST_SCORE, WIDEST_SCORE)
    weights = weights * np.exp(-(score**2) / 2) / math.sqrt(2 * math.pi)
    above = special.betaincinv(k, rivals - k + 1, special.ndtr(-score))
    below = special.betaincinv(rivals - k + 1, k, special.ndtr(score))
    place = np.where(above < below, -special.ndtri(above), special.ndtri(below))
    saved = np.array([_saved(float(y), rivals - k, kappa) for y in place])
    return float(weights @ (hinge_moments(place + kappa)[1] - 2 * saved) / weights.sum())


def _saved(y, others, kappa):
    """Integral over x < y of the mean of ``(x - A(x) - g_1 + kappa)_+``, with so many competitors below y."""

    def size(gap):
        """Logarithm of a bound of the integrand; decreasing in the gap."""
        return _log_transform(np.ones(1, dtype=complex), y, np.array([gap]), others)[0, 0].real + kappa

    far = 1.0  # the gap beyond which nothing is saved
    while size(far) > LOWEST:
        far *= 2
    far = brentq(lambda gap: size(gap) - LOWEST, 0, far, xtol=1e-3 * far) if size(0.0) > LOWEST else far
    gaps, weights = _rule(LEVELS, 0.0, far)
    omega = STEP * np.arange(FREQUENCIES)
    s = 1 + 1j * omega
    transform = np.exp(_log_transform(s, y, gaps, others) + kappa * s[:, None]) / s[:, None] ** 2
    transform[0] /= 2
    return weights @ (STEP / math.pi * transform.real.sum(axis=0))


def _log_transform(s, y, gaps, others):
    """Logarithm of ``E exp(s (x - A(x) - G))`` at ``x = y - gap``, a row for each s."""
    x = y - gaps
    start = np.maximum(x, min(LOWEST_SIZE, y - 5))
    node, weights = np.polynomial.legendre.leggauss(GAPS)
    g = start[:, None] + (y - start)[:, None] * (node + 1) / 2
    # relative to the mass below y, in logarithms since y may be low
    density = np.exp(-(g**2) / 2 - special.log_ndtr(y)) / math.sqrt(2 * math.pi)
    density = density * (y - start)[:, None] * weights / 2
    lost = np.einsum("gu,sgu->sg", density, np.expm1(-s[:, None, None] * (g - x[:, None])))
    # Where a competitor is all but certainly above x, what is left of one is the smaller number.
    left = np.where(lost == -1, TINY, 1 + lost)
    single = np.where(lost.real > -0.5, _log1p(np.maximum(lost.real, -0.5) + 1j * lost.imag), np.log(left))
    s = s[:, None]
    return s * (x - gaps) + s**2 / 2 + others * single


def _log1p(z):
    """Logarithm of ``1 + z`` with all digits of a small z."""
    return 0.5 * np.log1p(2 * z.real + z.real**2 + z.imag**2) + 1j * np.arctan2(z.imag, 1 + z.real)


def _rule(count, low, high):
    """Gauss-Legendre nodes and weights on an interval."""
    x, weights = np.polynomial.legendre.leggauss(count)
    return low + (high - low) * (x + 1) / 2, weights * (high - low) / 2
