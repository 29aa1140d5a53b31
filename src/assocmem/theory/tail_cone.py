"""The cone of one column for longer tails: ``{s : s_1 >= mean of the k largest other entries}``.

The polar cone consists of the vectors ``(-tau, y)`` with ``0 <= y_j <= tau / k`` and ``sum y_j = tau``. The
point of it closest to g is ``y_j = clip(g_j - a, 0, b - a)``, between two levels a and b where the convex
function ``Q(x) = k x + sum_j (g_j - x)_+`` takes the same value, and these are tied to the signal by

    Q = k g_1 + k (k + 1) (b - a).

The face it lies in has as many dimensions as there are competitors strictly between the levels, or one if
there are none and the signal is below the tail average. Lowering the signal moves the levels apart, past one
competitor after another: each has a value of g_1 below which it counts, so that the signal can be integrated
out exactly. What is left, the order statistics about the k-th, is simulated with a low-discrepancy sequence.
"""

import math

import numpy as np
from scipy import special, stats

from assocmem.checks import is_number, require, require_integer

POINTS = 2**12
"""Points of one scrambled sequence."""

LARGEST_N = 1e12
"""Largest number of pairs that has been tried."""

MOST_REPEATS = 10**4
"""Scramblings that may be asked for; few are needed."""

REPEATS = 8
"""Independent scramblings: with so many, means of the dimension are good to about 3e-4."""

SEED = 1
"""Of the scramblings, so that every call gives the same."""

WINDOW = 60
"""Ranks on either side of the k-th that are drawn one by one. How many are enough was found by trial."""

NORMAL_FROM = 20
"""Number of competitors beyond the window from which on their mean is taken for normal."""


def face_moments(n: float, k: int, repeats: int = REPEATS) -> tuple[float, float, float, float]:
    """Mean, variance and third central moment of the dimension of that face, for n Gaussian entries.

    Parameters
    ----------
    n : float
        Number of pairs, from 2 to 1e12.
    k : int
        Number of competitors in the tail, from 1 to ``n - 1``.
    repeats : int
        Independent scramblings of the sequence, at least 1.

    Returns
    -------
    mean, variance, third : float
        Moments of the dimension.
    error : float
        Standard error of the mean, from the scramblings; nan for one.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require(is_number(n) and 2 <= n <= LARGEST_N, "n", n, "in [2, 1e12]")
    require_integer("k", k, 1)
    require(k <= n - 1, "k", k, f"at most n - 1 = {n - 1:g}")
    require_integer("repeats", repeats, 1)
    require(repeats <= MOST_REPEATS, "repeats", repeats, f"at most {MOST_REPEATS}")
    found = np.array([_moments(n, k, np.random.default_rng([SEED, i])) for i in range(repeats)])
    mean, square, cube = found.mean(axis=0)
    third = cube - 3 * mean * square + 2 * mean**3
    error = found[:, 0].std() / math.sqrt(repeats - 1) if repeats > 1 else math.nan
    return float(mean), float(square - mean**2), float(third), float(error)


def _moments(n, k, rng):
    """Mean of the dimension, its square and its cube, over one scrambled sequence."""
    thresholds = np.sort(_signal_thresholds(*_order_statistics(n - 1, k, rng), k), axis=1)[:, ::-1]
    share = special.ndtr(thresholds).mean(axis=0)  # probability of a dimension of at least 1, 2, ...
    i = np.arange(1, len(share) + 1)
    return share.sum(), share @ (2 * i - 1), share @ (3 * i * (i - 1) + 1)


def _order_statistics(m, k, rng):
    """Values about rank k of m Gaussian ones, outward from it, and the mean of the largest k.

    Returns
    -------
    upper : ndarray, shape (points, u)
        Of rank k, k - 1, ...; down to rank 1 unless that is far.
    lower : ndarray, shape (points, l)
        Of rank k + 1, k + 2, ...; up to rank m unless that is far.
    top : ndarray, shape (points,)
        Mean of ranks 1 to k.
    """
    above = int(k - 1 if k - 1 <= WINDOW + NORMAL_FROM else WINDOW)
    below = int(min(max(WINDOW, 2 * WINDOW - above), m - k))
    u = stats.qmc.Sobol(above + below + 3, rng=rng).random(POINTS)
    u = np.clip(u, 1e-15, 1 - 1e-15)
    # Uniform order statistics are the arrivals of a Poisson process: the k-th, and the time left after it.
    waits = special.gammaincinv([k, m - k + 1], u[:, :2])
    tail, rest = np.hsplit(waits / waits.sum(axis=1, keepdims=True), 2)  # probability above rank k, and below
    shrink_up = np.cumsum(np.log(u[:, 3 : 3 + above]) / (k - 1 - np.arange(above)), axis=1)
    shrink_down = np.cumsum(np.log(u[:, 3 + above :]) / (m - k - np.arange(below)), axis=1)
    upper = _quantile(tail * np.exp(shrink_up), rest - tail * np.expm1(shrink_up))
    lower = _quantile(tail - rest * np.expm1(shrink_down), rest * np.exp(shrink_down))
    upper = np.concatenate([_quantile(tail, rest), upper], axis=1)
    top = upper.sum(axis=1)
    beyond = k - 1 - above
    if beyond > 0:  # given the last of the window, the mean of so many is all but normal
        last = upper[:, -1]
        ratio = np.exp(-(last**2) / 2 - special.log_ndtr(-last)) / math.sqrt(2 * math.pi)
        spread = np.sqrt(np.maximum(1 + last * ratio - ratio**2, 0) * beyond)
        top = top + beyond * ratio + spread * special.ndtri(u[:, 2])
    return upper, lower, top / k


def _quantile(above, below):
    """Gaussian value from the probabilities above and below it; the smaller one has the digits."""
    return np.where(above < below, -special.ndtri(above), special.ndtri(below))


def _signal_thresholds(upper, lower, top, k):
    """The signals below which the dimension is at least 1, 2 and so on (not in order)."""
    if not lower.shape[1]:
        return top[:, None]
    gap = upper[:, :1] - lower[:, :1]
    rise_up = np.cumsum(np.arange(1, upper.shape[1]) * np.diff(upper, axis=1), axis=1)
    rise_down = np.cumsum(np.arange(1, lower.shape[1]) * -np.diff(lower, axis=1), axis=1)
    width_up = upper[:, 1:] - _crossing(rise_up, rise_down, lower, -1)
    width_down = _crossing(rise_down, rise_up, upper, 1) - lower[:, 1:]
    width = np.concatenate([np.zeros_like(gap), gap, width_up, width_down], axis=1)
    rise = np.concatenate([np.zeros_like(gap), np.zeros_like(gap), rise_up, rise_down], axis=1)
    return top[:, None] + rise / k - (k + 1) * width


def _crossing(rise, corners, values, sign):
    """Where Q has risen by ``rise`` on the other side, whose corners are at ``values``."""
    # All rows are searched at once: each is lifted above the one before.
    row = np.arange(len(rise))[:, None]
    lift = (1.0 + max(rise.max(initial=0), corners.max(initial=0))) * row
    passed = np.searchsorted((corners + lift).ravel(), (rise + lift).ravel()).reshape(rise.shape)
    passed = passed - row * corners.shape[1]
    corners = np.concatenate([np.zeros((len(values), 1)), corners], axis=1)
    start, at = np.take_along_axis(values, passed, axis=1), np.take_along_axis(corners, passed, axis=1)
    return start + sign * (rise - at) / (passed + 1)
