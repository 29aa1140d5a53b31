"""All comparisons of an instance projected onto a plane, and the polygon that cancelling weights close.

The comparisons ``A_ij = (u_i - u_j) v_i'`` live in d^2 dimensions. A memory retrieves every pair if its
product with each of them is positive; weights prove that none does if the weighted comparisons, put head to
tail, come back to where they started, in every plane.
"""

import numpy as np
import torch

from assocmem.checks import require, require_integer
from assocmem.pairs.data import Pairs, require_pairs
from assocmem.pairs.scores import require_memory_matrix


def plane_coordinates(pairs: Pairs, W: torch.Tensor, *, seed: int) -> np.ndarray:
    """Products of all comparisons with a matrix and with a random one orthogonal to it, both of length one.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)
        The direction of the first coordinate.
    seed : int
        Of the direction of the second.

    Returns
    -------
    ndarray, shape (2, n (n - 1))
        The comparisons are in the order in which a mask picks the entries off the diagonal of ``(j, i)``.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_pairs(pairs)
    require_memory_matrix(pairs, W)
    require_integer("seed", seed, 0)
    require(seed < 2**64, "seed", seed, "below 2^64")
    require(bool(W.any()), "W", "zero", "a direction")
    W, seed = W.detach(), int(seed)
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(W.shape, generator=generator, dtype=W.dtype)
    X = X - W * (X * W).sum() / (W * W).sum()
    S = [pairs.U.T @ (D / D.norm()) @ pairs.V for D in (W, X)]
    off = ~torch.eye(pairs.n, dtype=bool)
    return np.stack([(s.diagonal() - s)[off].numpy() for s in S])


def head_to_tail(coordinates: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Corners of the polygon of weighted comparisons, put head to tail in the order of their directions.

    Parameters
    ----------
    coordinates : ndarray, shape (2, n (n - 1))
        From `plane_coordinates`.
    weights : ndarray, shape (n, n)
        Nonnegative, as in a certificate.

    Returns
    -------
    ndarray, shape (2, n (n - 1) + 1)
        Beginning at the origin; it ends there if the weighted comparisons cancel.
    """
    off = ~np.eye(len(weights), dtype=bool)
    arrows = coordinates * weights[off]
    path = np.cumsum(arrows[:, np.argsort(np.arctan2(*arrows[::-1]))], axis=1)
    return np.insert(path, 0, 0, axis=1)
