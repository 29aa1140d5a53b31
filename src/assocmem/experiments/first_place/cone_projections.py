"""Gaussian vectors projected onto the cone of one key, simulated: what the kinematic value computes.

The cone ``C = {s : s_1 >= s_j for all j}`` holds the score columns whose signal leads. A projection pools the
signal with its best competitors; the mean number of them is the mean squared distance to the cone. In R^d a
key's cone holds the vectors whose largest product with a target is that with its own.
"""

import numpy as np
from scipy.optimize import brentq, nnls

from assocmem.checks import (
    require,
    require_flag,
    require_instance,
    require_integer,
    require_number,
    require_numbers,
)
from assocmem.machine import memory_shortage
from assocmem.theory.kinematics import pool


def simulated_pools(n: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Pool size and squared distance to the cone of independent Gaussian score columns.

    Parameters
    ----------
    n : int
        Length of a column, at least 2.
    draws : int
        Number of columns.
    rng : Generator

    Returns
    -------
    ndarray, shape (draws, 2)
        Number of pooled competitors, and squared distance.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("n", n, 2)
    require_integer("draws", draws, 0)
    require_instance("rng", rng, np.random.Generator)
    shortage = memory_shortage(lambda m: 2 * 8 * draws * m, n)
    require(not shortage, "n", n, shortage)
    found = []
    for g in rng.standard_normal((draws, n)):
        rivals = np.sort(g[1:])[::-1]
        level, count = pool(g[0], rivals)
        cost = max(level - g[0], 0) ** 2 + ((rivals[:count] - level) ** 2).sum()
        found.append((count, cost))
    return np.array(found, dtype=float)


def asked_of_one_vector(n: int, d: int, *, unit: bool, rng: np.random.Generator) -> int:
    """Dimensions that one key takes from the vector it is mapped to, for random targets and a random vector.

    That is the number of active constraints where a Gaussian vector of R^d is projected on
    ``{x : u_1' x >= u_j' x for all j}``, from the dual problem, one of nonnegative least squares.

    Parameters
    ----------
    n, d : int
        Number of targets and dimension.
    unit : bool
        Whether targets have length one, or Gaussian entries (their scale does not matter).
    rng : Generator

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("n", n, 2)
    require_integer("d", d, 1)
    require_flag("unit", unit)
    require_instance("rng", rng, np.random.Generator)
    shortage = memory_shortage(lambda m: 4 * 8 * d * m, n)
    require(not shortage, "n", n, shortage)
    U = rng.standard_normal((d, n))
    U = U / np.linalg.norm(U, axis=0) if unit else U
    active, _ = nnls(U[:, 1:] - U[:, :1], rng.standard_normal(d))
    return int((active > 0).sum())


def asked_dimensions(n: int, d: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`asked_of_one_vector` again and again, for Gaussian targets and for those of length one in turns.

    Parameters
    ----------
    n, d : int
        As in `asked_of_one_vector`.
    draws : int
        For each kind of target.
    rng : Generator

    Returns
    -------
    ndarray of int, shape (draws, 2)
        Gaussian targets first.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("n", n, 2)
    require_integer("d", d, 1)
    require_integer("draws", draws, 0)
    require_instance("rng", rng, np.random.Generator)
    kinds = (False, True)
    return np.array([[asked_of_one_vector(n, d, unit=unit, rng=rng) for unit in kinds] for _ in range(draws)])


def tail_levels(signal: float, rivals: np.ndarray, k: int) -> tuple[float, float]:
    """The two levels of the cheapest change that lets a signal reach the mean of its k best competitors.

    Competitors above both levels fall by the distance of the levels, those between them fall to the lower
    one, and the signal rises by k times the distance: the projection on ``{s : s_1 >= mean of the k largest
    others}``.

    Parameters
    ----------
    signal : float
    rivals : ndarray, shape (m,)
        Competitors in decreasing order.
    k : int
        From 1 to m.

    Returns
    -------
    low, high : float
        Equal where the signal reaches that mean without any change.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_number("signal", signal)
    require_numbers("rivals", rivals)
    require(np.ndim(rivals) == 1 and len(rivals) > 0, "rivals", rivals, "a vector")
    rivals = np.asarray(rivals, dtype=float)
    require(bool((np.diff(rivals) <= 0).all()), "rivals", rivals, "in decreasing order")
    require_integer("k", k, 1)
    require(k <= len(rivals), "k", k, f"at most {len(rivals)}, the number of rivals")

    def lower(gap):
        """Level above which parts of competitors add up to k gaps, each counted up to one gap."""
        if gap == 0:
            return rivals[k - 1]
        if k == len(rivals):
            return rivals[-1] - gap
        ends = rivals[-1] - gap, rivals[0]
        return brentq(lambda a: np.clip(rivals - a, 0, gap).sum() - k * gap, *ends)

    def missing(gap):
        """What the signal lacks, times k, if it rises by k gaps."""
        low = lower(gap)
        return k * low + np.maximum(rivals - low - gap, 0).sum() - k * (signal + k * gap)

    if missing(0.0) <= 0:
        return (float(rivals[k - 1]),) * 2
    gap = brentq(missing, 0.0, (rivals[0] - signal) / k + 1.0)
    low = lower(gap)
    return float(low), float(low + gap)
