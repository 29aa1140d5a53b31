"""Where the norm of a trained memory peaks along the load, and what that says about the transition.

With next to no ridge, training on a few pairs reaches a tiny loss with a memory of moderate norm; near the
last retrievable number of pairs it takes a huge one; beyond, the loss has a finite minimum. So the norm
peaks, and the paper reads the transition off the peak (Figure 1).
"""

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from assocmem.checks import SCALES, is_number, require, require_integer, require_number, require_numbers
from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.bisection import last_that_holds
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.statistics import Line, line_through
from assocmem.pairs.data import gaussian_pairs
from assocmem.theory.kinematics import critical_dimension, pooled_moments
from assocmem.training.fit import Fit, fit
from assocmem.training.losses import CrossEntropy

SPARSE = np.arange(0.6, 1.55, 0.1)
"""Numbers of pairs of the sparse part of a grid of loads, relative to the predicted transition; the norm is
moderate at either end."""
NEAR_WIDTHS = 2.5
"""Half the extent of the dense part, in standard deviations between instances: most peaks lie within."""
NEAR_SHARE = 0.05
"""What is added to that extent, relative to the predicted number of pairs, as the prediction may be off."""
FIRST_STRIDE = 0.05
"""First stride of the search for the last retrievable pair, relative to the predicted number; by trial."""


def train_cross_entropy(
    n: int, d: int, *, seed: int, effective_ridge: float = 1e-8, tol: float = 1e-6, device: str = "cpu"
) -> Fit:
    """Cross-entropy memory of Figure 1, on the first n pairs of the instance ``seed``.

    Parameters
    ----------
    n, d, seed : int
        As in `gaussian_pairs`; draws of different n share their first pairs.
    effective_ridge : float
        The paper's ``lambda n / d^2``, which multiplies ``|W|_F^2 / 2`` beside the *sum* of losses (eq.
        ``ce``). Everywhere else in this package a ridge is ``lambda``; here the one is made the other.
    tol, device
        As in `fit` and `gaussian_pairs`.

    Returns
    -------
    Fit
        Its ``nu`` is the norm scale ``|W|_F / d``.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_number("effective_ridge", effective_ridge, 0)
    pairs = gaussian_pairs(n, d, seed=seed, device=device)
    return fit(pairs, CrossEntropy(), ridge=effective_ridge * d**2 / n, tol=tol)


def critical_pairs(d: float) -> float:
    """Number of pairs (not rounded) whose `critical_dimension` is d, for d from 2 to 1e6."""
    require(is_number(d) and 2 <= d <= 1e6, "d", d, "in [2, 1e6]")
    return _critical_pairs(d)


@cache
def _critical_pairs(d):
    # a key takes between 1/2 and 2 log n of the d^2 numbers
    low, high = max(2.0, d**2 / (2 * math.log(2 * d**2))), min(2.0 * d**2, 1e12)
    return brentq(lambda n: critical_dimension(n) - d, low, high, xtol=1e-9, rtol=1e-12)


def load_grid(d: int, *, step: float = 0.01) -> list[int]:
    """Numbers of pairs at which to train: dense about the predicted transition, sparse elsewhere.

    Parameters
    ----------
    d : int
    step : float
        Spacing near the transition, relative to `critical_pairs`; at least one pair.

    Returns
    -------
    list of int
        Increasing.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_number("step", step, 1e-6, ends="[)")
    centre = critical_pairs(d)
    mean, variance = pooled_moments(round(centre))
    near = NEAR_WIDTHS * math.sqrt(variance / centre) / mean + NEAR_SHARE  # relative to the centre
    spacing = max(1.0, step * centre)
    count = math.ceil(near * centre / spacing)
    dense = centre + spacing * np.arange(-count, count + 1)
    sparse = centre * SPARSE
    sparse = sparse[np.abs(sparse - centre) > near * centre + 1]
    return sorted({max(2, round(x)) for x in (*dense, *sparse)})


def last_retrievable(d: int, *, seed: int) -> int:
    """Largest n whose first n pairs some memory retrieves, by bisection between verdicts.

    Leaving pairs out never makes a retrievable instance hopeless, so there is one such n.

    Parameters
    ----------
    d, seed : int
        As in `gaussian_pairs`.

    Returns
    -------
    int
        At least 1: a single pair has no competitors. Both n and n + 1 have been decided, with proofs, unless
        n is 1.

    Raises
    ------
    ArithmeticError
        Where a verdict that is needed could not be proved.
    """
    require_integer("d", d, 2)
    centre = critical_pairs(d)

    def retrievable(n):
        feasible = decide_top1(gaussian_pairs(n, d, seed=seed)).feasible
        if feasible is None:
            raise ArithmeticError(f"no proof either way for n = {n}, d = {d}, seed = {seed}")
        return feasible

    first = max(1, round(FIRST_STRIDE * centre))
    start = max(2, round(centre))
    return last_that_holds(retrievable, start, lambda n, strides: first * 2**strides, floor=2)[0]


def linearised(n: ArrayLike, d: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates in which the conjecture is a line of slope -3.

    Parameters
    ----------
    n, d : float or array
        Numbers of pairs and dimensions.

    Returns
    -------
    x, y : ndarray
        ``log log n`` and ``d^2 / n - 2 log n``.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_numbers("n", n, 1)
    require_numbers("d", d, 0, SCALES[1])
    require(np.ndim(n) == 0 or np.ndim(d) == 0 or np.shape(n) == np.shape(d), "d", d, "one for each n")
    n, d = np.asarray(n, dtype=float), np.asarray(d, dtype=float)
    return np.log(np.log(n)), d**2 / n - 2 * np.log(n)


def grid_peaks(fits: DataFrame) -> dict[int, np.ndarray]:
    """Number of pairs at which the norm of each instance is largest.

    Parameters
    ----------
    fits : DataFrame
        One row a fit, with an index that tells rows apart; columns ``d``, ``seed``, ``n`` and ``nu``.

    Returns
    -------
    dict of int to ndarray
        For each dimension, one number of pairs for each seed. Instances whose norm is largest at the last
        load have no peak there, and are left out.
    """
    instances = fits.groupby(["d", "seed"])
    peaks = fits.loc[instances["nu"].idxmax(), ["d", "n"]]
    inside = peaks["n"].to_numpy() < instances["n"].max().to_numpy()
    return {int(d): n.to_numpy() for d, n in peaks[inside].groupby("d")["n"]}


def steps_past_last(fits: DataFrame, last: DataFrame) -> dict[int, np.ndarray]:
    """Grid points from the last retrievable load of each instance to the load where its norm is largest.

    Parameters
    ----------
    fits : DataFrame
        One row a fit, the loads of an instance in increasing order; columns ``d``, ``seed``, ``n`` and
        ``nu``.
    last : DataFrame
        One row an instance: columns ``d``, ``seed``, and ``n``, its last retrievable number of pairs.

    Returns
    -------
    dict of int to ndarray
        For each dimension one number for each of its rows in ``last``; 0 where the peak is at the largest
        load of the grid that can still be retrieved.

    Raises
    ------
    ValueError
        For an instance of ``last`` without a fit.
    """
    instances, steps = dict(list(fits.groupby(["d", "seed"]))), {}
    for d, seed, end in last[["d", "seed", "n"]].itertuples(index=False):
        require(
            (d, seed) in instances, "last", f"d = {d:g}, seed = {seed:g}", "of instances that were trained"
        )
        grid = instances[d, seed]
        past = grid["nu"].argmax() - grid["n"].searchsorted(end, side="right") + 1
        steps.setdefault(int(d), []).append(past)
    return {d: np.array(past) for d, past in steps.items()}


def thinned(fits: DataFrame, keep: int, offset: int = 0) -> DataFrame:
    """Rows that a coarser grid of loads would have: every ``keep``-th of each instance, from ``offset``.

    Parameters
    ----------
    fits : DataFrame
        One row a fit; columns ``d``, ``seed`` and ``n``.
    keep, offset : int
        The offset is less than ``keep``.

    Returns
    -------
    DataFrame
    """
    place = fits.groupby(["d", "seed"])["n"].rank(method="first") - 1
    return fits[place % keep == offset]


def single_slopes(
    peaks: Mapping[float, np.ndarray], rng: np.random.Generator, draws: int = 1000
) -> np.ndarray:
    """Free slopes through one instance drawn at each dimension, as one run of the experiment would give.

    Parameters
    ----------
    peaks : dict of int to ndarray
        From `grid_peaks`; at least three dimensions.
    rng : Generator
    draws : int

    Returns
    -------
    ndarray, shape (draws,)
    """
    d = np.array(list(peaks))
    drawn = np.array([rng.choice(n, draws) for n in peaks.values()]).T
    return np.array([line_through(*linearised(n, d)).slope for n in drawn])


def mean_line(
    peaks: Mapping[float, np.ndarray], slope: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Line]:
    """Line through the mean over instances at each dimension, in linearised coordinates.

    Parameters
    ----------
    peaks : dict of int to ndarray
    slope : float, optional
        As in `line_through`.

    Returns
    -------
    x, y, error : ndarray
        Means, and the standard errors of y: the scatter between instances is taken from `pooled_moments`.
    line : Line
        With these errors as weights.
    """
    points = [linearised(n, d) for d, n in peaks.items()]
    x, y = (np.array([np.mean(p[i]) for p in points]) for i in (0, 1))
    variance = [pooled_moments(round(n.mean()))[1] / n.mean() / len(n) for n in peaks.values()]
    return x, y, np.sqrt(variance), line_through(x, y, np.sqrt(variance), slope)
