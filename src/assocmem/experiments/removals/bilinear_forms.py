"""Scores of fresh pairs, ``u' W v``, beside normal copies of them (Remark 9)."""

import math

import torch

from assocmem.checks import require
from assocmem.pairs.data import require_array


def copy_distance(W: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> float:
    """Root mean square distance of forms from their normal copies, over the standard deviation of those.

    Given v, the form ``u' W v`` is normal with the variance ``|W v|^2 / d``; its copy is the same normal
    variable with the variance ``|W|_F^2 / d^2``.

    Parameters
    ----------
    W : Tensor, shape (d, d)
    u, v : Tensor, shape (d, m)
        Columns are independent and normal with covariance ``I / d``.

    Returns
    -------
    float
    """
    ratio = ((W @ v).square().sum(dim=0) / len(W) / W.square().mean()).sqrt()
    normal = torch.linalg.vecdot(u, W @ v, dim=0) / ratio / W.square().mean().sqrt()
    return float((normal * (ratio - 1)).square().mean().sqrt())


def sharing_eigenvalues(W: torch.Tensor) -> float:
    """How many eigenvalues of ``W' W`` share its trace: ``(sum of them)^2 / sum of their squares``."""
    require_array("W", W, (None, None))
    require(W.numel() > 0 and bool(torch.isfinite(W).all()), "W", "a matrix", "finite and not empty")
    return float(W.square().sum() ** 2 / (W.T @ W).square().sum())


def eigenvalue_scatter(W: torch.Tensor) -> float:
    """Standard deviation of the eigenvalues of ``W' W`` over their mean."""
    require_array("W", W, (None, None))
    return math.sqrt(max(0, len(W) / sharing_eigenvalues(W) - 1))


def copy_evidence(memories: dict[str, torch.Tensor], u: torch.Tensor, v: torch.Tensor) -> dict:
    """What a check of Remark 9 compares: distances from normal copies with ``1 / sqrt(2 N)``.

    Here N counts the eigenvalues that share the trace. The falsehood takes the remark by its word, the
    spread of the eigenvalues.

    Parameters
    ----------
    memories : dict of str to Tensor, shape (d, d)
    u, v : Tensor, shape (d, m)
        As for `copy_distance`.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    sharing = [sharing_eigenvalues(W) for W in memories.values()]
    d = len(u)
    return {
        "claim": "remark-9",
        "what": "relative distance of fresh scores from their normal copies for " + ", ".join(memories),
        "axis": r"distance over $\sqrt{V_0}$",
        "each": list(memories),
        "kind": "simulation",
        "measured": [copy_distance(W, u, v) for W in memories.values()],
        "predicted": [1 / math.sqrt(2 * count) for count in sharing],
        "tolerance": [0.1 / math.sqrt(count) for count in sharing],
        "falsehood": (
            "spread taken literally: the standard deviation of the eigenvalues",
            [eigenvalue_scatter(W) / math.sqrt(2 * d) for W in memories.values()],
        ),
        "limits": (
            "as a count of the eigenvalues that share the norm; the scale does not vanish with their spread"
        ),
    }
