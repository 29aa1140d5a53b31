"""The trace of the inverse simplified Hessian when all its coefficients are moved (Lemma 23)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from assocmem.removal.hessians import Evaluation, dense_inverse, normalized_trace
from assocmem.training.passes import assemble_hessian


def move_trace(point: Evaluation, trace: float, delta: float) -> tuple[float, float]:
    """Change of the normalised trace when every ``a_i`` grows by delta and every ``R_ji`` by ``delta / k``.

    All move in one direction, so that nothing averages out.

    Parameters
    ----------
    point : Evaluation
        A minimiser.
    trace : float
        Its normalised trace of the simplified kind.
    delta : float
        Positive.

    Returns
    -------
    change : float
    bound : float
        What the lemma says it is at most.
    """
    pairs, k = point.problem.pairs, point.problem.k
    lengths = [(X * X).sum(dim=0) for X in (pairs.U, pairs.V)]
    moved = replace(point, a=point.a + delta, c=point.c + delta / k * (point.c > 0))
    change = trace - normalized_trace(moved, "simplified")[0]
    most = float((point.a + delta).max())
    weights = (delta * point.c + most * delta / k).fill_diagonal_(0)
    return change, float(lengths[0] @ weights @ lengths[1]) / (point.problem.effective_ridge * pairs.d) ** 2


def move_rate(point: Evaluation, *, weights_too: bool = True) -> float:
    """Derivative of the same change at ``delta = 0``: the trace of the moved terms with the squared inverse.

    Parameters
    ----------
    point : Evaluation
        A minimiser.
    weights_too : bool
        Whether the ``a_i`` move, or the ``R_ji`` alone.

    Returns
    -------
    float
    """
    pairs, k = point.problem.pairs, point.problem.k
    moved = (weights_too * point.c + point.a / k * (point.c > 0)).fill_diagonal_(0)
    ones, none = torch.ones_like(point.a), torch.zeros_like(point.b)
    terms = assemble_hessian(pairs.U, pairs.V, pairs.U, moved, ones, none, profiled=False)
    inverse = dense_inverse(point, "simplified")
    return float(torch.linalg.vecdot(inverse @ inverse, terms).sum()) / pairs.d**2


def move_evidence(point: Evaluation, trace: float, deltas: Sequence[float]) -> dict:
    """What a check of Lemma 23 compares: changes of the trace per unit of the move, with their derivative.

    The inequality of the lemma follows from this by bounding the inverse by one over the ridge. It leaves so
    much room that numbers could hardly contradict it; the rate itself they can.

    Parameters
    ----------
    point, trace
        As for `move_trace`.
    deltas : sequence of float
        Each twice the one before. What is of second order is taken out of each two of them.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The falsehood moves the ``R_ji`` alone.
    """
    change, bound = np.array([move_trace(point, trace, delta) for delta in deltas]).T
    rates = change / np.asarray(deltas)
    return {
        "claim": "lemma-23",
        "what": "change of the normalised trace per unit by which all coefficients move",
        "axis": "change of the trace per unit",
        "each": [f"move by {delta:g}" for delta in deltas[:-1]],
        "kind": "identity",
        "measured": 2 * rates[:-1] - rates[1:],
        "predicted": move_rate(point),
        "tolerance": abs(rates[:-1] - rates[1:]),
        "falsehood": ("the $a_i$ do not move the trace", move_rate(point, weights_too=False)),
        "limits": f"the bound of the lemma allows {min(bound / change):.0f} times as much",
    }
