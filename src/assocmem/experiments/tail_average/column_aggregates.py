"""Columns of normal scores under smoothed aggregates: who carries the gradient, what a newcomer changes."""

import math

import numpy as np
from scipy import special

from assocmem.pairs.sizes import tail_count
from assocmem.pairs.tail_average import smoothed_gradient, smoothed_tail_average

NEWCOMER = 3
"""Height of a newcomer, in standard deviations of the column: well inside the tail."""
NOTHING = 1e-5
"""What a newcomer takes at least, and the least relative error of it: far below any that is measured."""


def measure_newcomer(
    n: int, rho: float, r: float, beta: float, *, draws: int, seed: int | list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """What Lemma 4 bounds, on columns of normal scores.

    Parameters
    ----------
    n : int
        Scores in a column.
    rho : float
        Their standard deviation.
    r, beta : float
        Tail fraction and inverse smoothing width.
    draws : int
        Columns.
    seed : int or list of int
        As for `numpy.random.default_rng`.

    Returns
    -------
    felt : ndarray, shape (draws,)
        Scores that feel the smoothing, ``sum q (1 - q)``, over ``n / (1 + rho)``.
    taken : ndarray, shape (draws,)
        Length of what one more competitor takes from the weights of the others, times ``n^(3/2)``.
    """
    x = rho * np.random.default_rng(seed).standard_normal((draws, n))
    k = tail_count(r, n)
    old = smoothed_gradient(x, r, beta)
    newcomer = np.full((draws, 1), NEWCOMER * rho)
    # The tail has k places before and after.
    grown = smoothed_gradient(np.hstack([x, newcomer]), (k - 0.5) / (n + 1), beta)
    taken = np.linalg.norm(old - grown[:, :-1], axis=1) * n**1.5
    q = k * old
    return (q * (1 - q)).sum(axis=1) * (1 + rho) / n, taken


def newcomer_evidence(sizes: list[int], taken: list[np.ndarray]) -> dict:
    """What a check of Lemma 4 compares: the power of n in what a newcomer takes, with ``-3/2``.

    Parameters
    ----------
    sizes : list of int
        Numbers of scores, at least three.
    taken : list of ndarray, shape (draws,)
        The second result of `measure_newcomer` for each.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    means = np.array([t.mean() for t in taken]).clip(NOTHING)
    errors = np.array([t.std(ddof=1) / math.sqrt(len(t)) for t in taken]) / means
    errors = errors.clip(NOTHING)  # columns whose tail is one score all lose the same
    errors[means == NOTHING] = 1.0  # where nothing is taken, no power shows
    (slope, _), covariance = np.polyfit(np.log(sizes), np.log(means), 1, w=1 / errors, cov="unscaled")
    return {
        "claim": "lemma-4",
        "what": f"exponent of n in what a newcomer takes, from {len(sizes)} sizes",
        "measured": slope - 1.5,
        "predicted": -1.5,
        "tolerance": 0.05 + 4 * math.sqrt(covariance[0, 0]),
        "falsehood": ("a newcomer takes one weight of order 1/k", -1.0),
    }


def compare_aggregates(
    columns: np.ndarray, spreads: np.ndarray, r: float, beta: float
) -> tuple[dict[str, list], dict[str, list]]:
    """Log-sum-exp and smoothed tail average of the same columns, stretched to several spreads.

    Parameters
    ----------
    columns : ndarray, shape (draws, n)
        Of standard normal scores.
    spreads : ndarray
        By which they are multiplied, in turn.
    r, beta : float
        Tail fraction and inverse smoothing width.

    Returns
    -------
    values : dict of str to list of float
        Mean of ``"log-sum-exp"`` and of ``"tail average"`` at each spread.
    carriers : dict of str to list of float
        Mean number of scores that carry the gradient, one over the sum of squared weights.
    """
    carriers = {"log-sum-exp": [], "tail average": []}
    values = {name: [] for name in carriers}
    for spread in spreads:
        x = spread * columns
        weights = {"log-sum-exp": special.softmax(x, axis=1), "tail average": smoothed_gradient(x, r, beta)}
        values["log-sum-exp"].append(special.logsumexp(x, axis=1).mean())
        values["tail average"].append(smoothed_tail_average(x, r, beta).mean())
        for name, T in weights.items():
            carriers[name].append((1 / (T**2).sum(axis=1)).mean())
    return values, carriers
