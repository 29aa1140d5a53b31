"""The steps of the proof of sparse repair, measured on instances: who is lifted, how far, at what noise."""

import math
from dataclasses import dataclass

import torch

from assocmem.checks import is_number, require
from assocmem.memories.sparse_repair import SparseRepair, reserve_at_share, sparse_repair
from assocmem.pairs.data import Pairs, require_pairs
from assocmem.pairs.scores import retrieval_margins, signals_and_rivals


@dataclass(frozen=True)
class RepairStep:
    """What the reserve of one repaired memory does.

    Attributes
    ----------
    lifted : float
        Mean over the deficient keys of their margin under the base and what the reserve adds to their signal;
        the repair aims at ``2 gamma``.
    noise : float
        The largest score that the reserve adds to a competitor of any key, or by which it misses the weight
        of a deficient key's signal.
    bound : float
        The proof's bound on the noise, up to a constant (`noise_bound`).
    """

    lifted: float
    noise: float
    bound: float


def reserve_scores(pairs: Pairs, repair: SparseRepair) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores that the reserve gives: to the signals of deficient keys, and the largest to others of each key.

    Parameters
    ----------
    pairs : Pairs
        Those that the memory was made from.
    repair : SparseRepair

    Returns
    -------
    own : Tensor, shape (m,)
        In the order of ``repair.deficient``.
    rival : Tensor, shape (n,)
    """
    block = Pairs(pairs.U[repair.d0 :], pairs.V[repair.d0 :])
    own, rival = signals_and_rivals(block, repair.W[repair.d0 :, repair.d0 :])
    return own[repair.deficient], rival


def noise_bound(weights: torch.Tensor, n: int, d1: int) -> float:
    """The proof's bound on the noise of the reserve, without its constant.

    ``|w|_max (sqrt(log n / d1) + log n / d1) + |w|_2 sqrt(log n) / d1`` (proof of Proposition
    ``prop:optimal``).

    Parameters
    ----------
    weights : Tensor, shape (m,)
        Of the deficient keys, at least one.
    n : int
        Number of pairs.
    d1 : int
        Coordinates of the reserve.

    Returns
    -------
    float
    """
    norm, top, log = float(weights.norm()), float(weights.max()), math.log(n)
    return top * math.sqrt(log / d1) + top * log / d1 + norm * math.sqrt(log) / d1


def repair_step(pairs: Pairs, repair: SparseRepair) -> RepairStep:
    """Measure what the reserve does to the keys of one instance.

    Parameters
    ----------
    pairs : Pairs
        Those that the memory was made from.
    repair : SparseRepair
        With at least one deficient key.

    Returns
    -------
    RepairStep
    """
    own, rival = reserve_scores(pairs, repair)
    lifted = float((repair.base_margins[repair.deficient] + own).mean())
    noise = float(torch.cat([rival, (own - repair.weights).abs()]).max())
    return RepairStep(lifted, noise, noise_bound(repair.weights, pairs.n, repair.d1))


def failing_after_repair(pairs: Pairs, *, share: float | None, gamma: float) -> int:
    """How many keys of an instance a repaired memory does not retrieve.

    Parameters
    ----------
    pairs : Pairs
    share : float or None
        Share of the coordinates that is reserved; None for the reserve of the proof.
    gamma : float
        As in `sparse_repair`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_pairs(pairs)
    require(share is None or (is_number(share) and 0 < share < 1), "share", share, "None or in (0, 1)")
    reserve = None if share is None else reserve_at_share(share, pairs.d)
    repaired = sparse_repair(pairs, gamma=gamma, reserve=reserve)
    return int((retrieval_margins(pairs, repaired.W) <= 0).sum())
