"""Score columns of outer-product memories, simulated from the definition, and samples of them compared.

A column holds the scores of one key: its signal first, then those of its competitors. Here it comes from
whole instances, so that the exact law of Lemma ``single-coord-law``, which
`assocmem.theory.outer_products.sample_score_column` samples, can be set beside it; and so can the Gaussian
picture, which holds for many pairs in many dimensions only.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from scipy import stats

from assocmem.checks import require, require_instance, require_integer
from assocmem.machine import memory_shortage

STATISTICS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "signal": lambda columns: columns[:, 0],
    "one competitor": lambda columns: columns[:, 1],
    "best competitor": lambda columns: columns[:, 1:].max(axis=1),
    "length of competitors": lambda columns: np.linalg.norm(columns[:, 1:], axis=1),
    "margin": lambda columns: columns[:, 0] - columns[:, 1:].max(axis=1),
}
"""Numbers by which samples of columns, of shape (size, n), are compared."""

LEVEL = 0.001
"""Probability, over all `STATISTICS` together, that samples of one law are told apart."""
QUARTILES = (0.25, 0.5, 0.75)
"""Levels at which distribution functions are compared for the ledger."""


def simulated_columns(n: int, d: int, size: int, seed: int) -> np.ndarray:
    """First score columns of independent instances, computed from their vectors.

    Parameters
    ----------
    n, d : int
        Number of pairs and dimension.
    size : int
        Number of instances; all of them are held at once, ``2 n d`` numbers each.
    seed : int
        Nonnegative.

    Returns
    -------
    ndarray, shape (size, n)
        As from `assocmem.theory.outer_products.sample_score_column`.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("n", n, 2)
    require_integer("d", d, 1)
    require_integer("size", size, 1)
    require_integer("seed", seed, 0)
    shortage = memory_shortage(lambda m: 3 * 8 * size * m * d, n)
    require(not shortage, "n", n, shortage)
    U, V = (torch.from_numpy(np.random.default_rng([seed, k]).standard_normal((size, d, n))) for k in (0, 1))
    return (U.mT @ (U @ (V.mT @ V[:, :, :1])))[:, :, 0].numpy() / d**2


def picture_columns(n: int, d: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Score columns in the Gaussian picture: independent, of variance ``n / d^2``, the signal around 1.

    Parameters
    ----------
    n, d : int
        Number of pairs and dimension.
    size : int
        Number of columns.
    rng : Generator

    Returns
    -------
    ndarray, shape (size, n)

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("n", n, 2)
    require_integer("d", d, 1)
    require_integer("size", size, 1)
    require_instance("rng", rng, np.random.Generator)
    shortage = memory_shortage(lambda m: 3 * 8 * size * m, n)
    require(not shortage, "n", n, shortage)
    return math.sqrt(n) / d * rng.standard_normal((size, n)) + (np.arange(n) == 0)


def distances(one: np.ndarray, other: np.ndarray) -> list[float]:
    """Kolmogorov-Smirnov distance between two samples of columns for each of `STATISTICS`.

    Parameters
    ----------
    one, other : ndarray, shapes (size, n) and (other size, n)

    Returns
    -------
    list of float
    """
    return [stats.ks_2samp(f(one), f(other)).statistic for f in STATISTICS.values()]


def critical_distance(size: int) -> float:
    """Distance that two samples of ``size`` columns of one law exceed with probability `LEVEL` at most.

    For one statistic the probability that the distance exceeds x is about ``2 exp(-size x^2)``; the level is
    shared by all `STATISTICS`.
    """
    require_integer("size", size, 1)
    return math.sqrt(math.log(2 / (LEVEL / len(STATISTICS))) / size)


def at_quartiles(columns: np.ndarray, reference: np.ndarray) -> list[float]:
    """Empirical distribution functions of all `STATISTICS` at the quartiles of a reference sample.

    Parameters
    ----------
    columns, reference : ndarray, shapes (size, n) and (other size, n)

    Returns
    -------
    list of float
        Three numbers for each statistic, in its order.
    """
    values = ((f(columns), np.quantile(f(reference), QUARTILES)) for f in STATISTICS.values())
    return [float(np.mean(x <= q)) for x, quartiles in values for q in quartiles]
