"""What a decision compares: each signal with its best competitors, and sums of such comparisons."""

import math

import numpy as np
import torch

from assocmem.pairs.data import Facts, Pairs
from assocmem.pairs.scores import take_signal


def tail_margins(S: torch.Tensor, k: int, answers: torch.Tensor) -> torch.Tensor:
    """Signal of each key less the average of its k best competitors.

    Parameters
    ----------
    S : Tensor, shape (m, b)
        Scores, ``S[j, i]`` of target j for the i-th of b keys.
    k : int
        Between 1 and ``m - 1``.
    answers : Tensor, shape (b,)
        The targets of these keys, by their numbers.

    Returns
    -------
    Tensor, shape (b,)
    """
    rivals = S.clone()
    signal = take_signal(rivals, answers, -math.inf)
    best = rivals.amax(dim=0) if k == 1 else rivals.topk(k, dim=0).values.mean(dim=0)
    return signal - best


def cancellation(pairs: Pairs | Facts, weights: torch.Tensor) -> torch.Tensor:
    """Minus ``sum lam_ij A_ij``, the gradient of the loss that has these weights; zero for a certificate.

    Parameters
    ----------
    pairs : Pairs or Facts
    weights : Tensor, shape (m, n)
        ``weights[j, i]`` of competitor j of key i, zero at its own target.

    Returns
    -------
    Tensor, shape (d_out, d_in)
    """
    return (pairs.U @ weights - pairs.answered() * weights.sum(dim=0)) @ pairs.V.T


def as_arrays(pairs: Pairs | Facts) -> tuple[np.ndarray, np.ndarray]:
    """Targets and keys as arrays in double precision, shapes (d_out, m) and (d_in, n)."""
    return tuple(X.detach().cpu().numpy().astype(np.float64) for X in (pairs.U, pairs.V))


def as_given_to_verifier(pairs: Pairs | Facts) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Targets, keys and answers as `assocmem.deciding.certificates` takes them; pairs need no answers."""
    answers = None if isinstance(pairs, Pairs) else pairs.answers.cpu().numpy()
    return *as_arrays(pairs), answers
