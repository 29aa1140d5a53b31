"""Stored and fresh memories for lists, put together: means over instances, shares between them, limits."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from assocmem.experiments.frames import DataFrame
from assocmem.experiments.lists.list_memories import LOSSES
from assocmem.experiments.statistics import PowerLaw, power_law
from assocmem.pairs.data import derived_seed, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.progress import progress
from assocmem.theory.ridgeless import sat_edge
from assocmem.training.list_fit import fit_list


@dataclass(frozen=True)
class Along:
    """One column of a stored table along the load.

    Attributes
    ----------
    load, mean, error : ndarray, shape (m,)
        Loads in order, means over the instances there, and their standard errors, 0 where there is but one.
    instances : ndarray, shape (m,)
        How many there are.
    """

    load: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    instances: np.ndarray


def along_load(stored: DataFrame, column: str, *, loss: str, d: int, r: float = 0.15) -> Along:
    """Mean of a column over the instances of each load, for one loss, dimension and list.

    Parameters
    ----------
    stored : DataFrame
        Rows of `assocmem.experiments.points.list_memory`.
    column : str
    loss : str
        One of `LOSSES`.
    d : int
    r : float

    Returns
    -------
    Along
        Empty where there are no such rows.
    """
    mine = stored[(stored["d"] == d) & (stored["r"] == r) & (stored["loss"] == LOSSES.index(loss))]
    found = mine.groupby("load")[column].agg(["mean", "sem", "count"]).fillna(0.0)
    return Along(
        found.index.to_numpy(float),
        found["mean"].to_numpy(float),
        found["sem"].to_numpy(float),
        found["count"].to_numpy(int),
    )


def spread_law(stored: DataFrame, loss: str, load: float, r: float = 0.15) -> PowerLaw:
    """Power of d by which the spreads of different keys under one memory come to be alike.

    Parameters
    ----------
    stored : DataFrame
        Rows of `assocmem.experiments.points.list_memory`.
    loss : str
        One of `LOSSES`.
    load, r : float

    Returns
    -------
    PowerLaw
    """
    at = (stored["load"] == load) & (stored["r"] == r) & (stored["loss"] == LOSSES.index(loss))
    groups = {int(d): rows["spread"].to_numpy(float) for d, rows in stored[at].groupby("d")}
    return power_law({d: spreads for d, spreads in groups.items() if len(spreads) > 1})


def mean_place(load: float) -> float:
    """Mean share of competitors below a signal if signals over spread have the law ``max(G, rho_alpha)``.

    It is ``(1 + Phi(rho)^2) / 2``: a share ``Phi(rho)`` of the keys is at the edge, and the others are
    uniform above it.

    Parameters
    ----------
    load : float

    Returns
    -------
    float
    """
    return float((1 + special.ndtr(sat_edge(load)) ** 2) / 2)


def list_instances(
    load: float, r: float, ridge: float, instances: dict[int, int], *, seed: int, tol: float = 1e-5
) -> tuple[np.ndarray, np.ndarray]:
    """Norm scale and loss of memories of the list loss at several dimensions.

    Parameters
    ----------
    load, r, ridge : float
    instances : dict of int to int
        How many at each dimension.
    seed : int
        Base seed of the instances.
    tol : float
        Relative gap.

    Returns
    -------
    means, errors : ndarray, shape (dimensions, 2)
        Of the norm scale and of the loss; standard errors over the instances.
    """
    means, errors = [], []
    for d, count in progress(instances.items(), f"load {load:.3g}"):
        found = []
        for t in range(count):
            pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=derived_seed(seed, 3, d, t))
            memory = fit_list(pairs, r, ridge=ridge, tol=tol)
            found.append((memory.nu, memory.loss))
        means.append(np.mean(found, axis=0))
        errors.append(np.std(found, axis=0, ddof=1) / np.sqrt(count))
    return np.array(means), np.array(errors)
