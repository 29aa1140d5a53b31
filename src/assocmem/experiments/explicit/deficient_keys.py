"""The share of keys that the base of a sparse repair leaves deficient, on instances (Remark 1)."""

from collections.abc import Iterable

import numpy as np

from assocmem.memories.sparse_repair import reserve_at_share, sparse_repair
from assocmem.pairs.data import gaussian_pairs


def deficient_share(
    n: int, d: int, seeds: Iterable[int], *, share: float, gamma: float, device: str = "cpu"
) -> tuple[float, float]:
    """Share of deficient keys over several instances, and its standard error.

    Parameters
    ----------
    n, d : int
        As in `gaussian_pairs`.
    seeds : iterable of int
        One for each instance, at least two of them.
    share, gamma : float
        Reserve as a share of the coordinates, and margin, as in `sparse_repair`.
    device : str
        As in `gaussian_pairs`.

    Returns
    -------
    mean, error : float
    """
    counts = [
        len(
            sparse_repair(
                gaussian_pairs(n, d, seed=seed, device=device),
                gamma=gamma,
                reserve=reserve_at_share(share, d),
            ).deficient
        )
        for seed in seeds
    ]
    shares = np.array(counts) / n
    return float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(len(shares)))
