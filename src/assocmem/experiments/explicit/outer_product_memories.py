"""The sum of outer products on instances: the keys that it fails, by how much, and its percentiles."""

import math

import numpy as np

from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins, signal_percentiles, signals_and_rivals


def failing_keys(pairs: Pairs) -> int:
    """How many keys of an instance its sum of outer products does not retrieve."""
    return int((retrieval_margins(pairs, correlation_memory(pairs)) <= 0).sum())


def dips_and_rises(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """How far each signal is below 1, and each key's best competitor above 0.

    Both are in units of ``sqrt(load log n)``. A key fails if they add up to more than the square root of
    ``d^2 / (n log n)``, which is how far apart 1 and 0 are.

    Parameters
    ----------
    pairs : Pairs

    Returns
    -------
    dip, rise : ndarray, shape (n,)
    """
    signal, rival = (x.cpu().numpy() for x in signals_and_rivals(pairs, correlation_memory(pairs)))
    unit = math.sqrt(pairs.n / pairs.d**2 * math.log(pairs.n))
    return (1 - signal) / unit, rival / unit


def percentiles(n: int, d: int, *, seed: int, device: str = "cpu") -> np.ndarray:
    """Percentile of each key's signal among its competitors, on one instance.

    Parameters
    ----------
    n, d, seed, device
        As in `gaussian_pairs`.

    Returns
    -------
    ndarray, shape (n,)
    """
    pairs = gaussian_pairs(n, d, seed=seed, device=device)
    return signal_percentiles(pairs, correlation_memory(pairs)).cpu().numpy()
