"""Trained memories across the phase transition in load and tail fraction (Figures 2 and 3).

With next to no ridge the loss of a trained memory jumps at a load that depends on the tail fraction. A
boundary is read off where it passes half of ``log 2``, the loss of a memory that tells nothing from anything:
on one side it is a few percent of that, on the other most of it.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from assocmem.fit import fit
from assocmem.kinematics import pooled_moments
from assocmem.limits import require, require_integer
from assocmem.losses import TailAverage
from assocmem.model import gaussian_pairs, pairs_at_load, score_blocks, tail_count, take_signal
from assocmem.ridgeless import critical_load
from assocmem.scalar_theory import solve_scalar

BETA, RIDGE = 30.0, 1e-6  # Figure 2; its beta is not stated, this is that of Figure 3
HALF = 0.5 * math.log(2)
LEVELS = (0, 0.001, 0.003, 0.01, 0.03, *np.arange(1, 10) / 10, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1)
"""Shares of keys at which distributions are stored; the edge lies near 0.95 in Figure 3."""
RESOLUTION, REACH = 0.004, 0.03  # of a boundary, and of the first steps towards it, relative
ROUGH = 0.01  # relative gap that decides on which side of half of log 2 a loss is


def train(load, r, d, *, seed, beta=BETA, ridge=RIDGE, tol=1e-3, device="cpu"):
    """Tail-average memory of the first ``load d^2`` pairs of the instance ``seed``.

    Parameters
    ----------
    load, r : float
        As in `pairs_at_load` and `TailAverage`.
    d, seed : int
    beta, ridge, tol, device
        As in `TailAverage`, `fit` and `gaussian_pairs`.

    Returns
    -------
    Pairs, Fit

    Raises
    ------
    ArithmeticError
        If the gap does not reach ``tol``.
    """
    pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=seed, device=device)
    found = fit(pairs, TailAverage(r=r, beta=beta), ridge=ridge, tol=tol)
    if not found.converged:
        at = f"n = {pairs.n}, d = {d}, r = {r:g}, seed = {seed}"
        raise ArithmeticError(f"{at}: gap {found.gap:.1e} after {found.passes} passes")
    return pairs, found


@dataclass(frozen=True)
class Boundary:
    """Where the loss of one nested instance passes half of ``log 2``.

    Attributes
    ----------
    load : float
        Between those of the two fits nearest to it, by linear interpolation of the loss.
    low, high : int
        Their numbers of pairs.
    fits : int
        Memories trained.
    """

    load: float
    low: int
    high: int
    fits: int


def boundary(r, d, *, seed, beta=BETA, ridge=RIDGE, device="cpu"):
    """The load at which the loss of one instance passes half of ``log 2``, by bisection.

    Pairs are added one after another to the same instance. The bracket is closed to 0.4% of the load, or to
    neighbouring numbers of pairs.

    Parameters as in `train`.

    Returns
    -------
    Boundary
    """
    low, high, losses = None, None, {}
    n, stride = predicted_pairs(d, r), REACH
    while low is None or high is None or high - low > max(1, RESOLUTION * high):
        at = {"seed": seed, "beta": beta, "ridge": ridge, "tol": ROUGH, "device": device}
        losses[n] = train(n / d**2, r, d, **at)[1].loss
        low, high = (n, high) if losses[n] < HALF else (low, n)
        if low is None or high is None:
            step = max(1, round(stride * n))
            n, stride = max(2, n + step if high is None else n - step), 2 * stride
        else:
            n = (low + high) // 2
    share = (HALF - losses[low]) / (losses[high] - losses[low])
    return Boundary((low + share * (high - low)) / d**2, low, high, len(losses))


def predicted_boundary(r, *, beta=BETA, ridge=RIDGE):
    """The load at which the limiting loss (Theorem 2) passes half of ``log 2``.

    Parameters
    ----------
    r, beta, ridge : float
        As in `solve_scalar`.

    Returns
    -------
    float
        Near ``critical_load(r)`` for a small ridge: the bias of reading the boundary off the loss.
    """
    centre = float(critical_load(r))
    missing = lambda log: solve_scalar(math.exp(log), r, beta=beta, ridge=ridge).loss - HALF  # noqa: E731
    return math.exp(brentq(missing, math.log(centre / 5), math.log(5 * centre), rtol=1e-10))


def predicted_pairs(d, r):
    """Number of pairs at which half of all instances should be solvable in dimension d (rounded).

    That is where the `kinematics.statistical_dimension` of ``k = ceil(r (n - 1))`` competitors is ``d^2/n``.

    Parameters
    ----------
    d : int
        At least 2.
    r : float
        Tail fraction in (0, 1).
    """
    require_integer("d", d, 2)
    require(0 < r < 1, "r", r, "in (0, 1)")
    n = max(3, round(float(critical_load(r)) * d**2))
    for _ in range(20):
        following = max(3, round(d**2 / pooled_moments(n, min(n - 1, tail_count(r, n - 1)))[0]))
        if abs(following - n) <= 1:
            return following
        n = following
    return n


def signals_and_percentiles(pairs, W):
    """Signal score of each key, and the share of its competitors at or below it, in one pass.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    signal, percentile : ndarray, shape (n,)
    """
    signals, shares = [], []
    for columns, block in score_blocks(pairs, W):
        signal = take_signal(block, columns, math.inf)
        signals.append(signal.cpu().numpy())
        shares.append(((block <= signal).sum(dim=0) / (pairs.n - 1)).cpu().numpy())
    return np.concatenate(signals), np.concatenate(shares)


def profile(pairs, found):
    """Distributions over the keys of one memory, at `LEVELS`.

    Parameters
    ----------
    pairs : Pairs
    found : Fit

    Returns
    -------
    dict of str to ndarray
        Quantiles of ``signal`` scores and ``margin``s over nu, and of ``percentile``s.
    """
    signal, percentile = signals_and_percentiles(pairs, found.W)
    kinds = {"signal": signal / found.nu, "margin": found.margins.cpu().numpy() / found.nu}
    kinds["percentile"] = percentile
    return {name: np.quantile(values, LEVELS, method="inverted_cdf") for name, values in kinds.items()}
