"""The direction of a key, among all, for which the fewest of fixed targets feel the smoothing."""

import math

import numpy as np
from scipy import optimize, special

from assocmem.pairs.sizes import tail_count

LOAD = 16
"""Targets over the square of their dimension: so that many feel the smoothing in small dimensions."""
NOTHING = 1e-6
"""Least shortfall, and least error of it: far below any that is measured."""
LAST = 6
"""Instances of the largest dimension."""
DRAWN = 30
"""Directions whose average is a typical one."""
STARTS = 4
"""Random directions from which each search starts."""


def fewest_felt(n: int, d: int, rho: float, r: float, beta: float, seed: int | list[int]) -> float:
    """Least share of targets that feel the smoothing, over all x of one length, over that of a typical x.

    Lemma 4 bounds ``sum q (1 - q)`` from below for all x at once, with scores ``u_j' x`` of the same targets.

    Parameters
    ----------
    n, d : int
        Number and dimension of the targets.
    rho : float
        Length of x over ``sqrt(d)``, so the standard deviation of the scores of a typical x.
    r, beta : float
        Tail fraction and inverse smoothing width.
    seed : int or list of int
        As for `numpy.random.default_rng`.

    Returns
    -------
    float
        The worst that several searches found.
    """
    rng = np.random.default_rng(seed)
    U = rng.standard_normal((d, n))
    k = tail_count(r, n)

    def felt(x):
        length = np.linalg.norm(x)
        z = rho * (x @ U) / length
        mu = optimize.brentq(
            lambda mu: special.expit(beta * (z - mu)).sum() - k, z.min() - 40 / beta, z.max() + 40 / beta
        )
        q = special.expit(beta * (z - mu))
        g = q * (1 - q)
        steep = beta * g * (1 - 2 * q)
        gradient = rho / length * (U @ (steep - steep.sum() / g.sum() * g))
        return g.sum() / n, (gradient - x * (x @ gradient) / length**2) / n

    typical = np.mean([felt(x)[0] for x in rng.standard_normal((DRAWN, d))])
    found = [
        optimize.minimize(felt, rng.standard_normal(d), jac=True, method="L-BFGS-B").fun
        for _ in range(STARTS)
    ]
    return float(min(found) / typical)


def uniform_evidence(dimensions: list[int], r: float, beta: float, seed: int) -> dict:
    """What a check of Lemma 4 compares: the power of d with which the worst direction becomes a typical one.

    Parameters
    ----------
    dimensions : list of int
        At least two; there are `LOAD` d^2 targets of each, and more instances of the smaller ones.
    r, beta : float
        Tail fraction and inverse smoothing width.
    seed : int

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    means, errors = [], []
    for d in dimensions:
        draws = math.ceil(LAST * max(dimensions) / d)
        found = [fewest_felt(LOAD * d**2, d, 1.0, r, beta, [seed, d, t]) for t in range(draws)]
        short = 1 - np.array(found)
        means.append(short.mean().clip(NOTHING))
        errors.append((short.std(ddof=1) / math.sqrt(draws)).clip(NOTHING))
    logs, weights = np.log(means), np.array(means) / errors
    (slope, _), covariance = np.polyfit(np.log(dimensions), logs, 1, w=weights, cov="unscaled")
    return {
        "claim": "lemma-4",
        "what": f"power of $d$ in how far the worst direction found is below a typical one, $d$ up to "
        f"{max(dimensions)}, where it is {means[-1]:.2g}",
        "kind": "simulation",
        "measured": slope,
        "predicted": -0.5,
        "tolerance": 0.05 + 4 * math.sqrt(covariance[0, 0]),
        "falsehood": ("a direction that is no worse than others, $-1$", -1.0),
        "axis": "power of $d$",
    }
