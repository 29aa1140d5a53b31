"""What a decision compares: each signal with its best competitors, and sums of such comparisons."""

import math

import numpy as np
import torch

from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import take_signal


def tail_margins(S: torch.Tensor, k: int, columns: slice | None = None) -> torch.Tensor:
    """Signal of each key less the average of its k best competitors.

    Parameters
    ----------
    S : Tensor, shape (n, b)
        Scores, ``S[j, i]`` of target j for the i-th of b keys.
    k : int
        Between 1 and ``n - 1``.
    columns : slice, optional
        Which keys these are; by default all.

    Returns
    -------
    Tensor, shape (b,)
    """
    rivals = S.clone()
    signal = take_signal(rivals, columns or slice(0, len(S)), -math.inf)
    best = rivals.amax(dim=0) if k == 1 else rivals.topk(k, dim=0).values.mean(dim=0)
    return signal - best


def cancellation(pairs: Pairs, weights: torch.Tensor) -> torch.Tensor:
    """Minus ``sum lam_ij A_ij``, the gradient of the loss that has these weights; zero for a certificate.

    Parameters
    ----------
    pairs : Pairs
    weights : Tensor, shape (n, n)
        ``weights[j, i]`` of competitor j of key i, zero on the diagonal.

    Returns
    -------
    Tensor, shape (d, d)
    """
    return (pairs.U @ weights - pairs.U * weights.sum(dim=0)) @ pairs.V.T


def as_arrays(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Targets and keys as arrays in double precision, shape (d, n) each, as the verifier takes them."""
    return tuple(X.detach().cpu().numpy().astype(np.float64) for X in (pairs.U, pairs.V))
