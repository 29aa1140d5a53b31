"""The trace of the inverse simplified Hessian when all its coefficients are moved (Lemma 23)."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assocmem.removal.hessians import Evaluation, normalized_trace


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


def move_evidence(point: Evaluation, trace: float, deltas: Sequence[float]) -> dict:
    """What a check of Lemma 23 compares: changes of the trace with their bounds, and with one another.

    Parameters
    ----------
    point, trace
        As for `move_trace`.
    deltas : sequence of float
        Each twice the one before.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. A change is at most its bound, and twice the change
        for half the step.
    """
    change, bound = np.array([move_trace(point, trace, delta) for delta in deltas]).T
    steps, n = len(deltas), point.problem.pairs.n
    return {
        "claim": "lemma-23",
        "what": "change of the normalised trace over its bound, and over its change for half the step",
        "measured": [*(change / bound), *(change[1:] / change[:-1])],
        "predicted": [1] * steps + [2] * (steps - 1),
        "tolerance": [0] * steps + [0.02] * (steps - 1),
        "relation": "<=",
        "falsehood": (
            "moves of n coefficients average out, like 1/sqrt(n)",
            [1 / math.sqrt(n)] * steps + [2] * (steps - 1),
        ),
    }
