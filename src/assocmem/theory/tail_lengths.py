"""What unequal lengths of score directions cost a key whose signal has to beat a tail average.

The kinematic formula (`kinematics`) takes all score directions to be of one length. Those of Gaussian targets
scatter by ``1 / sqrt(2 d)`` of it, and long competitors are hard to beat. With lengths w the cone of one key
becomes ``{s : w_1 s_1 >= mean of the k largest w_j s_j}``. Its mean codimension, less that for equal lengths,
is the *cost*, in ``d^2 / n``.

For many pairs at a fixed tail fraction only the signal has to move, and the cost is an expansion in the
scatter. For few competitors it is simulated. The closest point of the cone lowers the competitors above a
level to that level, but none by more than a cap; the level pays for a shift of the signal, which is raised to
the tail average that results.
"""

import math

import numpy as np
from scipy import stats

from assocmem.checks import require, require_integer, require_number, require_numbers
from assocmem.machine import memory_shortage
from assocmem.theory.ridgeless import tail_mean

MOST_STEPS = 100
"""Steps for one unknown, of Newton's method or, where it leaves the bracket, of bisection; six are common."""
PRECISION = 1e-9
"""To which an unknown is known; costs are means over draws, to one in a hundred."""
TINY = 1e-12
"""Bracket that is not divided any more, and slope that stands for none at all."""
SLAB = 400_000
"""Scores that are treated together, so that memory does not grow with the draws."""


def limiting_cost(r: float) -> float:
    """Cost of the lengths of Gaussian targets for many pairs at a fixed tail fraction, times d.

    With ``f(y) = E (y - g)_+^2``, ``q`` the normal quantile where the tail begins and ``kappa`` its mean,
    that is ``(kappa f'(kappa) (q^2 + 2) + kappa^2 f''(kappa)) / 4``. Unequal lengths of competitors raise the
    tail average by ``(q^2 - 1) / 4d`` of it, and a signal of length w has to reach ``1 / w`` of that.

    Parameters
    ----------
    r : float
        Tail fraction in (0, 1).

    Returns
    -------
    float
        ``d`` times the cost in ``d^2 / n``.

    Raises
    ------
    ValueError
        For an r out of range.
    """
    require_number("r", r, 0, 1)
    kappa, q = float(tail_mean(r)), float(stats.norm.isf(r))
    slope = 2 * (kappa * stats.norm.cdf(kappa) + stats.norm.pdf(kappa))
    return float(kappa * slope * (q**2 + 2) + 2 * kappa**2 * stats.norm.cdf(kappa)) / 4


def simulated_cost(n: int, k: int, d: float, *, draws: int, seed: int) -> tuple[float, float]:
    """The same for n pairs and k competitors, by simulation with common and antithetic lengths.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    k : int
        Competitors in the tail, from 1 to ``n - 1``.
    d : float
        Dimension: squares of lengths are ``chi^2_d / d``.
    draws : int
        At least 2.
    seed : int

    Returns
    -------
    cost, error : float
        In ``d^2 / n``, with its standard error.

    Raises
    ------
    ValueError
        For an argument out of range, or more than fits into memory.
    """
    require_integer("n", n, 2)
    require_integer("k", k, 1)
    require(k <= n - 1, "k", k, f"at most n - 1 = {n - 1}")
    require_number("d", d, 1, 1e12, ends="[]")
    require_integer("draws", draws, 2)
    require_integer("seed", seed, 0)
    shortage = memory_shortage(lambda m: 8 * 16 * max(m, SLAB) + 8 * int(draws), int(n))
    require(not shortage, "n", n, shortage)
    n, draws, changes = int(n), int(draws), []  # narrow integers would overflow
    rng = np.random.default_rng(seed)
    for first in range(0, draws, max(1, SLAB // n)):
        shape = (min(draws - first, max(1, SLAB // n)), n)
        g, place = rng.standard_normal(shape), rng.standard_normal(shape)
        with_lengths = [projection_cost(g, _squares(sign * place, d), k) for sign in (-1, 1)]
        changes.append(np.mean(with_lengths, axis=0) - projection_cost(g, np.ones(shape), k))
    change = np.concatenate(changes)
    return float(change.mean()), float(change.std(ddof=1) / math.sqrt(draws))


def projection_cost(g: np.ndarray, squares: np.ndarray, k: int) -> np.ndarray:
    """Squared distances from vectors to ``{s : w_1 s_1 >= mean of the k largest other w_j s_j}``.

    Parameters
    ----------
    g : ndarray, shape (m, n)
        Vectors in rows, the signal first.
    squares : ndarray, shape (m, n)
        The ``w^2``, positive.
    k : int
        From 1 to ``n - 1``.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_numbers("g", g)
    require(np.ndim(g) == 2 and np.shape(g)[1] >= 2, "g", np.shape(g), "a matrix of two columns or more")
    require_numbers("squares", squares, 0)
    require(np.shape(squares) == np.shape(g), "squares", np.shape(squares), f"of shape {np.shape(g)}")
    require_integer("k", k, 1)
    require(k <= np.shape(g)[1] - 1, "k", k, f"at most {np.shape(g)[1] - 1}")
    weighted = np.asarray(g) * np.sqrt(squares)
    signal, rivals = weighted[:, :1], weighted[:, 1:]
    own, theirs = squares[:, :1], squares[:, 1:]
    best = -np.partition(-rivals, k - 1, axis=1)[:, :k]
    gap, level = best.mean(axis=1, keepdims=True) - signal, best[:, -1:]
    cost, rows = np.zeros(len(weighted)), np.flatnonzero(gap[:, 0] > 0)
    signal, own, rivals, theirs, gap, level = (x[rows] for x in (signal, own, rivals, theirs, gap, level))
    push, low, high = gap / (own + 1 / k), np.zeros_like(gap), gap / own
    for _ in range(MOST_STEPS):
        level = _level(rivals, theirs, push, k, level)
        lowered = (rivals - level) / theirs
        capped, free = lowered >= push / k, (lowered > 0) & (lowered < push / k)
        above, count = (
            (capped * (rivals - theirs * push / k)).sum(1, keepdims=True),
            capped.sum(1, keepdims=True),
        )
        excess = signal + push * own - (above + (k - count) * level) / k
        low, high = np.where(excess < 0, push, low), np.where(excess < 0, high, push)
        done = ((abs(excess) < PRECISION) | (high - low < TINY))[:, 0]
        spent = (np.clip(lowered, 0, push / k) ** 2 * theirs).sum(1)
        cost[rows[done]] = (push**2 * own)[done, 0] + spent[done]
        if done.all():
            return cost
        moves = (count / k - 1) / np.maximum((free / theirs).sum(1, keepdims=True), TINY)  # level, per push
        slope = own + (capped * theirs).sum(1, keepdims=True) / k**2 - (k - count) * moves / k
        newton = push - excess / slope
        push = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        rows, signal, own, rivals, theirs = (x[~done] for x in (rows, signal, own, rivals, theirs))
        level, push, low, high = (x[~done] for x in (level, push, low, high))
    raise ArithmeticError(f"no closest point after {MOST_STEPS} steps")


def _level(rivals, squares, push, k, level):
    """The level to which competitors are lowered, row by row, for a given shift of the signal."""
    low = rivals.min(axis=1, keepdims=True) - push / k * squares.max(axis=1, keepdims=True)
    high = rivals.max(axis=1, keepdims=True)
    level, todo = np.clip(level, low, high), np.arange(len(rivals))
    for _ in range(MOST_STEPS):
        cap, weights = push[todo] / k, 1 / squares[todo]
        lowered = (rivals[todo] - level[todo]) * weights
        missing = np.clip(lowered, 0, cap).sum(1, keepdims=True) - push[todo]
        slope = (((lowered > 0) & (lowered < cap)) * weights).sum(1, keepdims=True)
        low[todo] = np.where(missing >= 0, level[todo], low[todo])
        high[todo] = np.where(missing <= 0, level[todo], high[todo])
        newton = level[todo] + missing / np.maximum(slope, TINY)
        inside = (newton > low[todo]) & (newton < high[todo])
        middle = (low[todo] + high[todo]) / 2
        enough = abs(missing) <= PRECISION * push[todo]
        level[todo] = np.where(enough, level[todo], np.where(inside, newton, middle))
        todo = todo[~enough[:, 0] & (high[todo] - low[todo] > TINY)[:, 0]]
        if not len(todo):
            break
    return level


def _squares(place, d):
    """Quantiles of ``chi^2_d / d`` from normal ones, to three digits from d = 8 on (Wilson and Hilferty)."""
    scatter = 2 / (9 * d)
    return np.maximum(1 - scatter + math.sqrt(scatter) * place, 0.1) ** 3
