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
from functools import lru_cache

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

NEVER = -11.0
"""What lies below such a signal in some points of a sequence has no share that a moment feels in any."""

TRIED = 256
"""Points that tell how many ranks have a share."""


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
    ranks = _ranks_that_count(n - 1, k)
    found = np.array([_moments(n - 1, k, i, ranks) for i in range(repeats)])
    mean, square, cube = found.mean(axis=0)
    third = cube - 3 * mean * square + 2 * mean**3
    error = found[:, 0].std() / math.sqrt(repeats - 1) if repeats > 1 else math.nan
    return float(mean), float(square - mean**2), float(third), float(error)


@lru_cache(maxsize=2**12)
def _moments(m, k, number, ranks):
    """Mean of the dimension, its square and its cube, over one scrambled sequence."""
    thresholds, _ = _signal_thresholds(*_order_statistics(m, k, number, ranks), k)
    thresholds = thresholds[:, thresholds.max(axis=0) > NEVER]
    share = special.ndtr(thresholds).mean(axis=0)  # probability of a dimension of at least 1, 2, ...
    i = np.arange(1, len(share) + 1)
    return share.sum(), share @ (2 * i - 1), share @ (3 * i * (i - 1) + 1)


@lru_cache(maxsize=2**12)
def _ranks_that_count(m, k):
    """On either side of the k-th: those beyond have thresholds that no signal is below."""
    found = _signal_thresholds(*_order_statistics(m, k, 0, 2 * WINDOW, TRIED), k)
    counts = found[0][:, 2:] > NEVER
    passed_up = np.where(counts, found[1] + 1, 0).max(initial=0)
    passed_down = np.where(counts, np.arange(1, counts.shape[1] + 1) - found[1], 0).max(initial=0)
    return int(max(passed_up, passed_down)) + 1


def _window(m, k):
    """How many ranks above the k-th, and below it, are drawn one by one."""
    above = int(k - 1 if k - 1 <= WINDOW + NORMAL_FROM else WINDOW)
    return above, int(min(max(WINDOW, 2 * WINDOW - above), m - k))


@lru_cache(maxsize=REPEATS)
def _draws(columns, number):
    """One scrambled sequence: three columns as they are, and the logarithms of the others."""
    u = stats.qmc.Sobol(columns, rng=np.random.default_rng([SEED, number])).random(POINTS)
    u = np.clip(u, 1e-15, 1 - 1e-15)
    return u[:, :3].copy(), np.log(u[:, 3:])


def _order_statistics(m, k, number, ranks, points=POINTS):
    """Values about rank k of m Gaussian ones, outward from it, and the mean of the largest k.

    Parameters
    ----------
    m, k : float, int
    number : int
        Of the scrambling.
    ranks : int
        Ranks on either side to return; the mean is that of all.
    points : int
        Of the sequence, from its start.

    Returns
    -------
    upper : ndarray, shape (points, u)
        Of rank k, k - 1, ...; down to rank 1 unless that is far.
    lower : ndarray, shape (points, l)
        Of rank k + 1, k + 2, ...; up to rank m unless that is far.
    top : ndarray, shape (points,)
        Mean of ranks 1 to k.
    """
    above, below = _window(m, k)
    u, logs = (part[:points] for part in _draws(above + below + 3, number))
    below = min(below, ranks)
    # Uniform order statistics are the arrivals of a Poisson process: the k-th, and the time left after it.
    waits = special.gammaincinv([k, m - k + 1], u[:, :2])
    tail, rest = np.hsplit(waits / waits.sum(axis=1, keepdims=True), 2)  # probability above rank k, and below
    up = np.cumsum(logs[:, :above] / (k - 1 - np.arange(above)), axis=1)
    down = np.cumsum(logs[:, above : above + below] / (m - k - np.arange(below)), axis=1)
    upper = _quantile(lambda: tail * np.exp(up), lambda: rest - tail * np.expm1(up))
    lower = _quantile(lambda: tail - rest * np.expm1(down), lambda: rest * np.exp(down))
    upper = np.concatenate([_quantile(lambda: tail, lambda: rest), upper], axis=1)
    top = upper.sum(axis=1)
    beyond = k - 1 - above
    if beyond > 0:  # given the last of the window, the mean of so many is all but normal
        last = upper[:, -1]
        ratio = np.exp(-(last**2) / 2 - special.log_ndtr(-last)) / math.sqrt(2 * math.pi)
        spread = np.sqrt(np.maximum(1 + last * ratio - ratio**2, 0) * beyond)
        top = top + beyond * ratio + spread * special.ndtri(u[:, 2])
    return upper[:, : ranks + 1], lower, top / k


def _quantile(above, below):
    """Gaussian values, from functions for the probabilities above and below; the smaller has the digits."""
    tail = above()
    if tail.max(initial=0) < 0.49:
        return -special.ndtri(tail)
    rest = below()
    return np.where(tail < rest, -1.0, 1.0) * special.ndtri(np.minimum(tail, rest))


def _signal_thresholds(upper, lower, top, k):
    """The signals below which the dimension is at least 1, 2 and so on.

    With them, for all but the first two, how many ranks the upper level has passed before.
    """
    if not lower.shape[1]:
        return top[:, None], np.zeros((len(top), 0), dtype=int)
    gap = upper[:, :1] - lower[:, :1]
    rise_up = np.cumsum(np.arange(1, upper.shape[1]) * np.diff(upper, axis=1), axis=1)
    rise_down = np.cumsum(np.arange(1, lower.shape[1]) * -np.diff(lower, axis=1), axis=1)
    rise, passed_up = _merged(rise_up, rise_down)
    passed_down = np.arange(rise.shape[1]) - passed_up
    rate = 1 / np.arange(1.0, rise.shape[1] + 1)  # of a level, by the competitors that it has passed
    wider = np.diff(rise, axis=1, prepend=0) * (rate[passed_up] + rate[passed_down])
    width = np.concatenate([np.zeros_like(gap), gap, gap + np.cumsum(wider, axis=1)], axis=1)
    rise = np.concatenate([np.zeros_like(gap), np.zeros_like(gap), rise], axis=1)
    return top[:, None] + rise / k - (k + 1) * width, passed_up


def _merged(first, second):
    """The values of both in the order of each row, and how many of the first come before each."""
    both = np.concatenate([first, second], axis=1)
    marks = both.view(np.int64)  # the last bit of a value tells which it is
    marks &= ~1
    marks[:, : first.shape[1]] |= 1
    both.sort(axis=1)
    of_first = marks & 1
    return both, np.cumsum(of_first, axis=1) - of_first
