"""The moves of scores that make the inequalities of Lemma 4 as tight as they get, found by search.

Each search climbs a ratio whose largest value the lemma bounds, and uses no formula for the maximum. A
column is given by its different heights and how often each occurs, so that thousands of scores cost as much
as a few.
"""

import math

import numpy as np
from scipy import optimize, special

LEAST_MOVE = 0.05
"""Length of the shortest moves that are tried, in widths of the smoothing: the constants of the lemma are
reached by short moves, and rounding is not yet felt."""
SMALL_MOVE = 0.01
"""Largest move of a score where the remainder of a weight is looked at, in widths of the smoothing."""
STARTS = 4
"""Random places from which each search starts."""
FEW = 6
"""Scores of a column in which each may be elsewhere."""
MANY = 2000
"""Scores in each of two groups that move together, beside a single one."""
BEST_COMPONENT = 1 / (3 * math.sqrt(3))
"""The best constant in the bound on a single weight, over beta^2. With eta the moves less that of the
threshold, the second derivative of a weight is ``beta w_j [(1 - 2 q_j) eta_j^2 - mean((1 - 2 q) eta^2)]``; by
Bhatia and Davis the mean is at most ``(H - m)(H + m)`` when the threshold moves by m, and ``eta_j`` at most
``H + |m|``. Then ``q (1 - q) (1 - 2 q) (2 H)^2``, at m = -H, is the most, and half of its maximum is this."""


def weighted_tail(
    z: np.ndarray, often: np.ndarray, k: int, beta: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """The smoothed tail average of a column of few heights, its weights q / k, and its curvatures w.

    Parameters
    ----------
    z, often : ndarray, shape (heights,)
        The heights, and how many scores have each.
    k : int
        Size of the tail, below the number of scores.
    beta : float
        Inverse smoothing width.

    Returns
    -------
    value : float
    p, w : ndarray, shape (heights,)
        Of one score at each height.
    """
    reach = abs(special.logit(k / often.sum())) / beta + 1 / beta
    mu = optimize.brentq(
        lambda mu: often @ special.expit(beta * (z - mu)) - k,
        z.min() - reach,
        z.max() + reach,
        xtol=1e-16 / beta,
        rtol=1e-15,
    )
    y = beta * (z - mu)
    q = special.expit(y)
    return mu + often @ np.logaddexp(0, y) / (beta * k), q / k, beta / k * q * special.expit(-y)


def largest_remainder(k: int, beta: float, seed: int) -> float:
    """Largest error found of the linearised tail average, over its bound ``beta |h|^2 / 8 k``.

    Parameters
    ----------
    k : int
        Size of the tail, below `FEW`.
    beta : float
        Inverse smoothing width.
    seed : int
        Of the places where the search starts.

    Returns
    -------
    float
    """

    def ratio(z, h):
        ones = np.ones(len(z))
        before, p, _ = weighted_tail(z, ones, k, beta)
        after, _, _ = weighted_tail(z + h, ones, k, beta)
        return abs(after - before - p @ h) * 8 * k / (beta * (h @ h))

    return _climb(ratio, beta, seed)


def largest_stretch(k: int, beta: float, seed: int) -> float:
    """Largest ratio found of the moves of weights and of scores, over its bound ``beta / 4 k``.

    Parameters
    ----------
    k : int
        Size of the tail, below `FEW`.
    beta : float
        Inverse smoothing width.
    seed : int
        Of the places where the search starts.

    Returns
    -------
    float
    """

    def ratio(z, h):
        ones = np.ones(len(z))
        _, p, _ = weighted_tail(z, ones, k, beta)
        _, moved, _ = weighted_tail(z + h, ones, k, beta)
        return np.linalg.norm(moved - p) * 4 * k / (beta * np.linalg.norm(h))

    return _climb(ratio, beta, seed)


def largest_component(k: int, beta: float, seed: int) -> float:
    """Largest error found of a single linearised weight, times ``k / (beta |h|_inf)^2``.

    Parameters
    ----------
    k : int
        Size of the tail, below twice `MANY`.
    beta : float
        Inverse smoothing width.
    seed : int
        Of the places where the search starts.

    Returns
    -------
    float
        The constant ``C_beta`` of the lemma is at least this times beta^2.
    """
    often = np.array([1.0, MANY, MANY])

    def loss(x):
        z, h = x[:3] / beta, SMALL_MOVE / beta * np.sin(x[3:])
        _, p, w = weighted_tail(z, often, k, beta)
        _, moved, _ = weighted_tail(z + h, often, k, beta)
        linear = w[0] * (h[0] - (often * w) @ h / (often @ w))
        return -abs(moved[0] - p[0] - linear) * k / SMALL_MOVE**2

    tolerances = {"maxiter": 3000, "xatol": 1e-4, "fatol": 1e-7}
    return max(
        -optimize.minimize(loss, x, method="Nelder-Mead", options=tolerances).fun
        for x in 2 * np.random.default_rng([seed, k]).standard_normal((STARTS, 6))
    )


def move_evidence(cases: list[tuple[int, float]], seed: int) -> dict:
    """What a check of Lemma 4 compares: the largest ratios found of both quadratic bounds, with one.

    Parameters
    ----------
    cases : list of tuple of int and float
        Sizes of the tail, below `FEW`, and inverse smoothing widths.
    seed : int

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    found = [search(k, beta, seed) for search in (largest_remainder, largest_stretch) for k, beta in cases]
    return {
        "claim": "lemma-4",
        "what": "largest found, of all columns and moves: the error of the linearised tail average over its "
        "bound, and the move of the weights over its bound",
        "kind": "identity",
        "measured": found,
        "predicted": 1.0,
        "tolerance": 0.002,
        "falsehood": (f"the threshold's move takes its part of every move, $1 - 1/{FEW}$", 1 - 1 / FEW),
        "axis": "largest ratio of the two sides of the bound",
        "each": [
            rf"{side}, $k = {k}$, $\beta = {beta:g}$" for side in ("error", "weights") for k, beta in cases
        ],
    }


def component_evidence(cases: list[tuple[int, float]], seed: int) -> dict:
    """What a check of Lemma 4 compares: the largest error found of a weight, with `BEST_COMPONENT`.

    Parameters
    ----------
    cases : list of tuple of int and float
        Sizes of the tail, some hundreds, and inverse smoothing widths.
    seed : int

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The tolerance is the part of the threshold's move that
        the single score itself causes, of relative order 1/k, and the cube of the moves.
    """
    share = np.array([0.5 / k for k, _ in cases])
    return {
        "claim": "lemma-4",
        "what": r"largest error found of one linearised weight, times $k / (\beta\delta)^2$, for moves up to "
        r"$\delta$",
        "kind": "identity",
        "measured": [largest_component(k, beta, seed) for k, beta in cases],
        "predicted": BEST_COMPONENT,
        "tolerance": BEST_COMPONENT * (share + SMALL_MOVE / 10),
        "falsehood": ("$3/16$, from a score of weight $1/4$ (the worst has 0.2113)", 3 / 16),
        "axis": r"largest error of one weight, times $k / (\beta\delta)^2$",
        "each": [rf"$k = {k}$, $\beta = {beta:g}$" for k, beta in cases],
    }


def _climb(ratio, beta, seed):
    """Largest ratio of columns and moves of a few scores, which are at most thirty widths away."""

    def loss(x):
        z, h = x.reshape(2, -1) / beta
        length = np.linalg.norm(h)
        if length < LEAST_MOVE / beta:
            h = h * (LEAST_MOVE / (beta * length))
        return -ratio(z, h)

    reach = {"method": "L-BFGS-B", "bounds": [(-30, 30)] * (2 * FEW), "options": {"eps": 1e-6}}
    places = 2 * np.random.default_rng(seed).standard_normal((STARTS, 2 * FEW))
    return max(-optimize.minimize(loss, x, **reach).fun for x in places)
