"""Verdicts on many instances of one size: how many some memory retrieves, and how many training does.

The functions here take the seeds of the instances, one for each, so that it is the caller who says which
instances they are.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from assocmem.deciding.feasibility import decide, decide_top1
from assocmem.deciding.hopeless import hidden_target
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.training.losses import CrossEntropy
from assocmem.training.many import fit_path

TRAINING_GAP = 1e-4
"""Relative duality gap at which training stops; chosen by trial, small enough to settle who is retrieved."""


def count_feasible(n: int, d: int, seeds: Iterable[int], k: int = 1) -> tuple[int, int]:
    """How many instances are feasible, and how many have been decided.

    Parameters
    ----------
    n, d : int
        As in `gaussian_pairs`.
    seeds : iterable of int
        One for each instance.
    k : int
        As in `decide`; 1 is the top-1 criterion.

    Returns
    -------
    feasible, decided : int
        Verdicts that were proved, "yes" alone and of either kind.
    """
    found = [decide(gaussian_pairs(n, d, seed=seed), k).feasible for seed in seeds]
    return found.count(True), len(found) - found.count(None)


def first_instances(n: int, d: int, seeds: Iterable[int], *, feasible: bool, count: int) -> list[Pairs]:
    """The first few instances that some memory retrieves, or that none does.

    Parameters
    ----------
    n, d : int
        As in `gaussian_pairs`.
    seeds : iterable of int
        One for each instance that is tried, in order, until there are enough.
    feasible : bool
        Which verdict is asked for.
    count : int
        How many instances are asked for.

    Returns
    -------
    list of Pairs
        Fewer than ``count`` where the seeds run out.
    """
    drawn = (gaussian_pairs(n, d, seed=seed) for seed in seeds)
    return list(islice((pairs for pairs in drawn if decide_top1(pairs).feasible is feasible), count))


def share_hiding(n: int, d: int, seeds: Iterable[int]) -> float:
    """Share of the instances in which some target is an average of others (see `hidden_target`).

    Parameters
    ----------
    n, d : int
        As in `gaussian_pairs`.
    seeds : iterable of int
        One for each instance.

    Returns
    -------
    float
    """
    return float(np.mean([hidden_target(gaussian_pairs(n, d, seed=seed)) is not None for seed in seeds]))


def possible_and_trained(n: int, d: int, seeds: Iterable[int], ridges: Sequence[float]) -> np.ndarray:
    """Whether some memory retrieves each instance, and whether cross-entropy training does at each ridge.

    Parameters
    ----------
    n, d : int
        As in `gaussian_pairs`.
    seeds : iterable of int
        One for each instance.
    ridges : sequence of float
        As in `fit`.

    Returns
    -------
    ndarray of bool, shape (instances, 1 + ridges)
        The certified verdict is in the first column, with False where nothing could be proved.
    """
    rows = []
    for seed in seeds:
        pairs = gaussian_pairs(n, d, seed=seed)
        fits = fit_path([(pairs, CrossEntropy(), ridge) for ridge in ridges], tol=TRAINING_GAP)
        found = [float(retrieval_margins(pairs, f.W).min()) > 0 for f in fits]
        rows.append([decide_top1(pairs).feasible is True, *found])
    return np.array(rows)
