"""How small a ridge makes cross-entropy retrieve an instance that some memory retrieves (Section 2.4).

A memory of margin g at norm scale one has a mean loss of at most ``(n - 1) exp(-t g)`` at norm scale t, and
pays ``ridge t^2 / 2`` for it. Where the sum is below ``log 2 / n`` for some t, so is the loss of the
minimiser; then no key's loss reaches ``log 2``, and every margin is positive.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from assocmem.checks import require_integer, require_number
from assocmem.deciding.feasibility import decide_top1
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy

TRAINING_GAP = 1e-3
"""Relative duality gap at which training stops: the ridge used is half of the sufficient one, so that a
thousandth of the objective does not matter."""
SCALES_TRIED = np.geomspace(1, 1e4, 4000)
"""Norm scales t, in units of ``1 / g``, among which the best one is looked for."""


def sufficient_ridge(n: int, margin: float) -> float:
    """A ridge up to which the minimiser of the cross-entropy retrieves everything.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    margin : float
        Smallest margin of some memory with ``|W|_F = d``, positive.

    Returns
    -------
    float
        ``max over t of 2 (log(2) / n - (n - 1) exp(-t margin)) / t^2``.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("n", n, 2)
    require_number("margin", margin, 0)
    spared = math.log(2) / n - (n - 1) * np.exp(-SCALES_TRIED)
    return float(np.max(2 * spared / SCALES_TRIED**2) * margin**2)


@dataclass(frozen=True)
class RidgeOutcome:
    """What training does on one instance.

    Attributes
    ----------
    feasible : bool
        The certified verdict.
    ridge : float
        Half of the sufficient one where the instance is feasible; otherwise the smallest of the others.
    retrieved : bool
        Whether the minimiser at that ridge retrieves everything.
    at_others : tuple of bool
        The same at fixed ridges.
    """

    feasible: bool
    ridge: float
    retrieved: bool
    at_others: tuple[bool, ...]


def ridge_outcomes(n: int, d: int, seeds: Iterable[int], others: Iterable[float]) -> list[RidgeOutcome]:
    """Train on instances at a ridge that is small enough, and at others that are the same for all.

    Parameters
    ----------
    n, d : int
        As in `gaussian_pairs`.
    seeds : iterable of int
        One for each instance.
    others : iterable of float
        Ridges, at least one.

    Returns
    -------
    list of RidgeOutcome
        Without the instances on which no verdict was proved.
    """
    others, found = tuple(others), []
    for seed in seeds:
        pairs = gaussian_pairs(n, d, seed=seed)
        verdict = decide_top1(pairs)
        if verdict.feasible is None:
            continue
        ridge = 0.5 * sufficient_ridge(n, verdict.margin) if verdict.feasible else min(others)
        retrieved, *at_others = (_retrieves(pairs, x) for x in (ridge, *others))
        found.append(RidgeOutcome(verdict.feasible, ridge, retrieved, tuple(at_others)))
    return found


def _retrieves(pairs, ridge):
    trained = fit(pairs, CrossEntropy(), ridge=ridge, tol=TRAINING_GAP)
    return float(retrieval_margins(pairs, trained.W).min()) > 0
