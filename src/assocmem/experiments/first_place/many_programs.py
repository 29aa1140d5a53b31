"""How many of many small instances some memory retrieves, by one linear program for all of them together.

In the plane most certificates of the opposite combine fewer comparisons than there are numbers in the matrix,
and rounded weights cannot be made to cancel exactly: what `deciding` proves about larger instances it leaves
open about one in sixteen of these. A program that maximises the margin of each instance has no such trouble,
but its "no" rests on rounded arithmetic.
"""

from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from assocmem.checks import require, require_integer

CLEARLY_POSITIVE = 1e-6
"""Margin from which on it counts as positive: ten times what the solver tolerates, with comparisons of length
one and entries of the memory up to one."""


def count_retrievable(n: int, d: int, instances: int, *, seed: int, k: int = 1) -> int:
    """Count the Gaussian instances that some memory satisfies.

    Parameters
    ----------
    n, d : int
        Pairs, at least 2, and dimension.
    instances : int
        Drawn one after the other from one generator.
    seed : int
        Of the generator.
    k : int
        Competitors whose average each signal has to beat, from 1 to ``n - 1``.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For a number out of range.
    """
    for name, value, least in (("n", n, 2), ("d", d, 1), ("instances", instances, 1), ("k", k, 1)):
        require_integer(name, value, least)
    require(k < n, "k", k, f"at most n - 1 = {n - 1}")
    draws = np.random.default_rng(seed).standard_normal((instances, 2, d, n))
    return int((best_margins(draws[:, 0], draws[:, 1], k) > CLEARLY_POSITIVE).sum())


def best_margins(U: np.ndarray, V: np.ndarray, k: int = 1) -> np.ndarray:
    """Largest margins that memories with entries up to 1 reach, in units of the comparisons' lengths.

    Parameters
    ----------
    U, V : ndarray, shape (m, d, n)
        Targets and keys of m instances.
    k : int
        As in `count_retrievable`.

    Returns
    -------
    ndarray, shape (m,)
        Zero, up to rounding, where no memory has a positive margin.
    """
    m, d, n = U.shape
    among = [(i, rivals) for i in range(n) for rivals in combinations([j for j in range(n) if j != i], k)]
    own = [i for i, _ in among]
    lifts = U[:, :, own] - U[:, :, np.array([rivals for _, rivals in among])].mean(axis=-1)
    rows = np.einsum("mac,mbc->mcab", lifts, V[:, :, own]).reshape(m, len(among), d * d)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    blocks = np.concatenate([-rows, np.ones((m, len(among), 1))], axis=-1)
    wide = sparse.block_diag(blocks, format="csr")
    cost = np.tile([0.0] * d * d + [-1.0], m)
    bounds = ([(-1, 1)] * d * d + [(0, None)]) * m
    found = linprog(cost, A_ub=wide, b_ub=np.zeros(wide.shape[0]), bounds=bounds, method="highs")
    return found.x.reshape(m, -1)[:, -1]
