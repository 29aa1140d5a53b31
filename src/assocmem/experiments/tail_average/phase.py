"""Trained memories across the phase transition in load and tail fraction (Figures 2 and 3).

With next to no ridge the loss of a trained memory jumps at a load that depends on the tail fraction. A
boundary is read off where it passes half of ``log 2``, the loss of a memory that tells nothing from anything:
on one side it is a few percent of that, on the other most of it.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.optimize import brentq

from assocmem.checks import require, require_integer, require_number
from assocmem.experiments.bisection import last_that_holds
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.statistics import pooled_errors
from assocmem.experiments.transitions import tally, transition
from assocmem.pairs.data import Pairs, gaussian_pairs, require_array
from assocmem.pairs.scores import signals_and_percentiles
from assocmem.pairs.sizes import pairs_at_load, tail_count
from assocmem.theory.kinematics import pooled_moments
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import RANGES, require_point, solve_scalar
from assocmem.training.fit import Fit, fit
from assocmem.training.losses import TailAverage

BETA = 30.0
"""Sharpness of Figure 3, taken for Figure 2 as well, where none is stated."""
RIDGE = 1e-6
"""Ridge of Figure 2."""
HALF = 0.5 * math.log(2)
"""Loss at which a boundary is read off: half of that of a memory that tells nothing from anything."""
LEVELS = (0, 0.001, 0.003, 0.01, 0.03, *np.arange(1, 10) / 10, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1)
"""Shares of keys at which distributions are stored; the edge lies near 0.95 in Figure 3."""
RESOLUTION = 0.004
"""Width of a bracket, relative to its number of pairs, that is not halved any more: the loss is interpolated
within it."""
REACH = 0.03
"""First stride of the search for a boundary, relative to the number of pairs; by trial."""
FIRST_STEP = 1e-3
"""First step from the critical load towards a predicted boundary, relative; steps double."""
ROUNDS = 20
"""Iterations for a number of pairs whose critical dimension is d, at most; by trial."""
ROUGH = 0.01
"""Relative duality gap of the fits on the way, which decides on which side of half of log 2 a loss is."""


def train_tail_average(
    load: float,
    r: float,
    d: int,
    *,
    seed: int,
    beta: float = BETA,
    ridge: float = RIDGE,
    tol: float = 1e-3,
    device: str = "cpu",
    checkpoint: Path | None = None,
) -> tuple[Pairs, Fit]:
    """Tail-average memory of the first ``load d^2`` pairs of the instance ``seed``.

    Parameters
    ----------
    load, r : float
        As in `pairs_at_load` and `TailAverage`.
    d, seed : int
    beta, ridge, tol, device, checkpoint
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
    found = fit(pairs, TailAverage(r=r, beta=beta), ridge=ridge, tol=tol, checkpoint=checkpoint)
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
    predicted : int
        Number of pairs from `critical_tail_pairs`, where the search began.
    fits : int
        Memories trained.
    """

    load: float
    low: int
    high: int
    predicted: int
    fits: int


def boundary(
    r: float, d: int, *, seed: int, beta: float = BETA, ridge: float = RIDGE, device: str = "cpu"
) -> Boundary:
    """The load at which the loss of one instance passes half of ``log 2``, by bisection.

    Pairs are added one after another to the same instance. The bracket is closed to 0.4% of the load, or to
    neighbouring numbers of pairs.

    Parameters
    ----------
    r, d, seed, beta, ridge, device
        As in `train_tail_average`.

    Returns
    -------
    Boundary

    Raises
    ------
    ArithmeticError
        If a fit does not converge, or the loss of two pairs is beyond the level already.
    """
    predicted, losses = critical_tail_pairs(d, r), {}
    at = {"seed": seed, "beta": beta, "ridge": ridge, "tol": ROUGH, "device": device}

    def learnt(n):
        losses[n] = train_tail_average(n / d**2, r, d, **at)[1].loss
        return losses[n] < HALF

    low, high = last_that_holds(
        learnt,
        predicted,
        lambda n, strides: max(1, round(REACH * 2**strides * n)),
        floor=2,
        close=lambda high: max(1, RESOLUTION * high),
    )
    if high == 2:
        raise ArithmeticError(f"d = {d}, r = {r:g}, seed = {seed}: no number of pairs has a small loss")
    share = (HALF - losses[low]) / (losses[high] - losses[low])
    return Boundary((low + share * (high - low)) / d**2, low, high, predicted, len(losses))


def predicted_boundary(r: float, *, beta: float = BETA, ridge: float = RIDGE, level: float = HALF) -> float:
    """The load at which the limiting loss (Theorem 2) passes a level.

    Parameters
    ----------
    r, beta, ridge : float
        As in `solve_scalar`.
    level : float
        In (0, log 2); half of ``log 2`` by default.

    Returns
    -------
    float
        For a small ridge, ``critical_load(r)`` if the loss jumps past the level there; the jump is more than
        half of ``log 2`` for r up to 0.5.

    Raises
    ------
    ValueError
        For a level out of range, or that is not reached at a load that `solve_scalar` takes.
    """
    require_number("level", level, 0)
    require_point(r=r, beta=beta, ridge=ridge)
    require(0 < level < math.log(2), "level", level, "in (0, log 2)")
    missing = lambda load: solve_scalar(load, r, beta=beta, ridge=ridge).loss - level  # noqa: E731
    low = high = float(critical_load(r))
    step = FIRST_STEP
    while missing(low) > 0:
        low, step = low / (1 + step), 2 * step
        _require_reached(level, low)
    step = FIRST_STEP
    while missing(high) < 0:
        high, step = high * (1 + step), 2 * step
        _require_reached(level, high)
    return brentq(missing, low, high, xtol=1e-12, rtol=1e-7)


def _require_reached(level, load):
    low, high = RANGES["load"]
    require(low <= load <= high, "level", level, f"a loss that is reached at a load in [{low:g}, {high:g}]")


@dataclass(frozen=True)
class ByDimension:
    """Boundaries of one tail fraction, averaged over instances.

    Attributes
    ----------
    d, load, error, predicted : ndarray, shape (m,)
        Dimension, mean load with its standard error, and the load that was predicted.
    """

    d: np.ndarray
    load: np.ndarray
    error: np.ndarray
    predicted: np.ndarray


def by_dimension(table: DataFrame, r: float) -> ByDimension:
    """Means of stored boundaries at each dimension.

    Parameters
    ----------
    table : DataFrame
        Columns ``d``, ``r``, ``load`` and ``predicted`` pairs; one row an instance.
    r : float
        Which tail fraction.

    Returns
    -------
    ByDimension
        The scatter between instances is taken to fall like 1/d.
    """
    instances = table[np.isclose(table["r"], r)].groupby("d")
    loads = [load.to_numpy() for _, load in instances["load"]]
    predicted = instances["predicted"].first()
    d = predicted.index.to_numpy()
    mean = np.array([load.mean() for load in loads])
    return ByDimension(d, mean, pooled_errors(d, loads), predicted.to_numpy() / d**2)


def certified_by_dimension(table: DataFrame, r: float) -> ByDimension:
    """Loads at which half of all instances are certified to be satisfiable.

    Parameters
    ----------
    table : DataFrame
        Columns ``r``, ``n``, ``d`` and ``feasible``; one row an instance.
    r : float
        Which tail fraction.

    Returns
    -------
    ByDimension
        Dimensions are those, not whole, of the half points. Sizes all of whose instances came out alike are
        left out.
    """
    counts = tally(table[np.isclose(table["r"], r)])
    counts = {n: count for n, count in counts.items() if 0 < count[1].sum() < count[2].sum()}
    n, tails = np.array(list(counts)), [tail_count(r, n - 1) for n in counts]
    found = [transition(m, *counts[m], k=k) for m, k in zip(counts, tails, strict=True)]
    half = np.array([x.half for x in found])
    error = np.array([x.error for x in found]) / half**2
    predicted = [pooled_moments(int(m), k)[0] for m, k in zip(n, tails, strict=True)]
    return ByDimension(np.sqrt(n * half), 1 / half, error, 1 / np.array(predicted))


@dataclass(frozen=True)
class Map:
    """Measurements over load and tail fraction at one dimension.

    Attributes
    ----------
    d : int
    load : ndarray, shape (a,)
    r : ndarray, shape (b,)
    loss, nu : ndarray, shape (b, a)
    """

    d: int
    load: np.ndarray
    r: np.ndarray
    loss: np.ndarray
    nu: np.ndarray


def largest_map(table: DataFrame) -> Map:
    """The largest dimension of a stored table whose grid is complete.

    Parameters
    ----------
    table : DataFrame
        Columns ``d``, ``r``, ``load``, ``loss`` and ``nu``; one row a fit.

    Returns
    -------
    Map

    Raises
    ------
    ValueError
        If no dimension has all its rows.
    """
    for d in np.unique(table["d"])[::-1]:
        fits = table[table["d"] == d]
        loss, nu = (fits.pivot(index="r", columns="load", values=name) for name in ("loss", "nu"))
        if len(fits) == loss.size:
            load, r = loss.columns.to_numpy(), loss.index.to_numpy()
            return Map(int(d), load, r, loss.to_numpy(), nu.to_numpy())
    raise ValueError("table: must have all loads for every r at some d")


def critical_tail_pairs(d: int, r: float) -> int:
    """Number of pairs at which half of all instances should be solvable in dimension d, rounded.

    That is where the `kinematics.statistical_dimension` of ``k = ceil(r (n - 1))`` competitors is ``d^2/n``.

    Parameters
    ----------
    d : int
        At least 2.
    r : float
        Tail fraction in (0, 1).

    Returns
    -------
    int
        At least 3.
    """
    require_integer("d", d, 2)
    require_number("r", r, 0, 1)
    require(d <= 10**6, "d", d, "at most 10^6")
    n = max(3, round(float(critical_load(r)) * d**2))
    for _ in range(ROUNDS):
        following = max(3, round(d**2 / pooled_moments(n, min(n - 1, tail_count(r, n - 1)))[0]))
        if abs(following - n) <= 1:
            return following
        n = following
    return n


def profile(pairs: Pairs, found: Fit) -> dict[str, np.ndarray]:
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
    kinds = {"signal": signal / found.nu, "margin": found.margins / found.nu, "percentile": percentile}
    return {name: np.quantile(x.cpu().numpy(), LEVELS, method="inverted_cdf") for name, x in kinds.items()}


def length_scatter(W: torch.Tensor) -> float:
    """Relative standard deviation of ``|W v|`` over Gaussian keys v to leading order, times ``sqrt d``.

    ``sqrt(d tr(K^2) / 2) / tr K`` with ``K = W' W``; 1 for a large Gaussian matrix.

    Parameters
    ----------
    W : Tensor, shape (d, d)

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_array("W", W, (None, None))
    require(W.dtype in (torch.float64, torch.float32), "W", str(W.dtype), "of float64 or float32")
    require(W.numel() > 0 and bool(torch.isfinite(W).all()), "W", "a matrix", "finite and not empty")
    W = W.detach()
    squares = np.linalg.svd(W.cpu().numpy(), compute_uv=False) ** 2
    return float(np.sqrt(len(squares) * (squares**2).sum() / 2) / squares.sum())
