"""Score columns of outer products with one thing changed, and a few scores of a column without the others.

Lemma ``single-coord-law`` takes a column apart into six scalars and a direction. A sample of it has force as
evidence only if a law that is nearly the same would not pass; one that lacks a single term is here.
"""

import math

import numpy as np

from assocmem.checks import require, require_integer
from assocmem.machine import memory_shortage


def _scalars(n, d, size, rng):
    """The six scalars of the lemma: a, then rho_1 .. rho_5."""
    require_integer("n", n, 4)
    require_integer("d", d, 2)
    require_integer("size", size, 1)
    shortage = memory_shortage(lambda m: 16 * 8 * m, size)
    require(not shortage, "size", size, shortage)
    scaled = ((d, d), (d, d), (n - 1, n), (d - 1, d), (n - 2, n))
    return rng.standard_normal(size), *(np.sqrt(rng.chisquare(df, size) / scale) for df, scale in scaled)


def column_without_self_noise(n: int, d: int, size: int, *, seed: int) -> np.ndarray:
    """Score columns of the lemma's law, but without the term ``tau^2 rho_5^2 / d`` of ``sigma^2``.

    The term is what the key's own target adds to the scores of the others, since targets overlap.

    Parameters
    ----------
    n, d : int
        Number of pairs, at least 4, and dimension, at least 2.
    size : int
        Number of independent columns.
    seed : int

    Returns
    -------
    ndarray, shape (size, n)
        As from `assocmem.theory.outer_products.sample_score_column`.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("seed", seed, 0)
    rng = np.random.default_rng(seed)
    a, rho1, rho2, rho3, rho4, rho5 = _scalars(n, d, size, rng)
    shortage = memory_shortage(lambda m: 3 * 8 * size * m, n)
    require(not shortage, "n", n, shortage)
    tau = rho1 * rho2 + math.sqrt(n) / d * rho3 * a
    along = (a * tau / math.sqrt(n) + rho3 * rho4**2) ** 2 / d
    radius = rho1 * np.sqrt(n * (along + n / d**2 * (rho3 * rho4 * rho5) ** 2))
    columns = np.empty((size, n))
    columns[:, 0] = rho1 * rho2 * tau
    g = rng.standard_normal((size, n - 1))
    columns[:, 1:] = g * (radius / np.linalg.norm(g, axis=1))[:, None]
    return columns


def first_scores(n: int, d: int, size: int, *, seed: int) -> np.ndarray:
    """The signal and two competitors of one key, from the lemma's exact law.

    The other ``n - 3`` competitors enter by their length alone, so that a sample takes ten random numbers
    whatever n is.

    Parameters
    ----------
    n, d : int
        Number of pairs, at least 4, and dimension, at least 2.
    size : int
        Number of independent columns.
    seed : int

    Returns
    -------
    ndarray, shape (size, 3)

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("seed", seed, 0)
    rng = np.random.default_rng(seed)
    a, rho1, rho2, rho3, rho4, rho5 = _scalars(n, d, size, rng)
    tau = rho1 * rho2 + math.sqrt(n) / d * rho3 * a
    along = (a * tau / math.sqrt(n) + rho3 * rho4**2) ** 2 / d
    across = tau**2 * rho5**2 / d + n / d**2 * (rho3 * rho4 * rho5) ** 2
    g = rng.standard_normal((size, 2))
    length = np.sqrt((g**2).sum(axis=1) + rng.chisquare(n - 3, size))
    scale = rho1 * np.sqrt(n * (along + across)) / length
    return np.column_stack([rho1 * rho2 * tau, g * scale[:, None]])
