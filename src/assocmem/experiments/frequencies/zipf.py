"""Facts whose frequencies fall by Zipf's law, many more than fit: the share of questions answered wrongly.

Of n facts, fact i is asked ``i^-s`` as often as the first. A memory is trained with the weights
``i^(-s gamma)``, which are the frequencies for gamma = 1 and sharper ones above; or written as a sum of outer
products with the best weights, over the squared lengths of targets and keys; or trained on the most frequent
facts alone, as many as fit. A question counts as answered where the signal beats the average of the top share
r of its competitors, or, more strictly, where it has the first place. All n targets compete for every
question, under every way.
"""

from dataclasses import dataclass

import numpy as np
import torch

from assocmem.checks import require_choice
from assocmem.deciding.comparisons import tail_margins
from assocmem.pairs.data import Facts, Pairs, gaussian_pairs
from assocmem.pairs.scores import score_blocks
from assocmem.pairs.sizes import tail_count
from assocmem.theory.frequency_scaling import hebb_weights
from assocmem.theory.kinematics import statistical_dimension
from assocmem.theory.ridgeless import critical_load
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage

WAYS = ("tail_average", "cross_entropy", "hebb", "hebb_first", "keep", "keep_first")
"""How the memory comes about. Those with ``first`` are made for the first place, as cross-entropy is, and the
others for the top share."""

TRAINED = ("tail_average", "cross_entropy", "keep", "keep_first")
"""Those that are minimisers."""

LEAST_SHARE = 1e-4
"""Least top share for which weights of outer products are made: the first place of more facts asks less."""

EDGES = (0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)
"""Of ranks over ``d^2``, between which shares of facts are told that are lost."""


@dataclass(frozen=True)
class ZipfMemory:
    """A memory of facts by Zipf's law.

    Attributes
    ----------
    pairs : Pairs
        The facts, the most frequent first.
    W : Tensor, shape (d, d)
    gap : float or None
        Relative duality gap, where it is a minimiser.
    passes : int
        Over the scores.
    """

    pairs: Pairs
    W: torch.Tensor
    gap: float | None
    passes: int


def zipf_weights(n: int, s: float, gamma: float = 1.0) -> np.ndarray:
    """Frequencies ``i^(-s gamma)`` of n facts, over their mean.

    Parameters
    ----------
    n : int
    s, gamma : float

    Returns
    -------
    ndarray, shape (n,)
    """
    weights = np.arange(1, n + 1) ** -(float(s) * float(gamma))
    return weights / weights.mean()


def kept_facts(way: str, n: int, d: int, r: float) -> int:
    """How many of the most frequent facts are stored where the others are not.

    Parameters
    ----------
    way : str
        ``"keep"`` counts by the critical load of r, ``"keep_first"`` by the conditions that one fact among n
        targets takes; otherwise all are stored.
    n, d : int
    r : float

    Returns
    -------
    int
        From 1 to n.
    """
    if way == "keep":
        most = float(critical_load(r)) * d**2
    elif way == "keep_first":
        most = d**2 / statistical_dimension(n)
    else:
        return n
    return max(1, min(n, int(most)))


def zipf_memory(
    n: int,
    d: int,
    s: float,
    gamma: float,
    way: str,
    *,
    seed: int,
    r: float = 0.15,
    beta: float = 1.0,
    ridge: float = 1e-5,
    tol: float = 1e-2,
) -> ZipfMemory:
    """Write or train a memory of facts by Zipf's law.

    Parameters
    ----------
    n, d : int
    s, gamma : float
        Exponent of the frequencies, and the power of them that are the weights of a trained memory.
    way : str
        One of `WAYS`.
    seed : int
        Of keys and targets.
    r, beta : float
        As in `TailAverage`.
    ridge, tol : float
        As in `fit`.

    Returns
    -------
    ZipfMemory

    Raises
    ------
    ValueError
        For another way.
    ArithmeticError
        If the gap is not reached.
    """
    require_choice("way", way, WAYS)
    pairs = gaussian_pairs(n, d, seed=seed)
    if way not in TRAINED:
        q = torch.from_numpy(hebb_weights(n, d, s, r if way == "hebb" else max(1 / (n - 1), LEAST_SHARE)))
        # else a fact whose vectors are short may be lost, however large its weight
        q = q / (pairs.U.square().sum(dim=0) * pairs.V.square().sum(dim=0))
        return ZipfMemory(pairs, pairs.U * q @ pairs.V.T, None, 0)
    first = way in ("cross_entropy", "keep_first")
    count = kept_facts(way, n, d, r)
    weights = torch.from_numpy(zipf_weights(count, s, gamma))
    found = fit(
        Facts(pairs.U, pairs.V[:, :count], weights=weights),
        CrossEntropy() if first else TailAverage(r=r, beta=beta),
        ridge=ridge,
        tol=tol,
    )
    if not found.converged:
        at = f"n = {n}, d = {d}, s = {s:g}, gamma = {gamma:g}, {way}, seed = {seed}"
        raise ArithmeticError(f"{at}: gap {found.gap:.1e} after {found.passes} passes")
    return ZipfMemory(pairs, found.W, found.gap, found.passes)


def tail_and_first(pairs: Pairs | Facts, W: torch.Tensor, r: float) -> tuple[np.ndarray, np.ndarray]:
    """Margins over the average of the top share r of the competitors, and over the best of them.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)
    r : float
        As in `TailAverage`; the average is not smoothed.

    Returns
    -------
    tail, first : ndarray, shape (n,)
    """
    k = tail_count(r, pairs.m - 1)
    tail, first = np.empty(pairs.n), np.empty(pairs.n)
    for columns, block in score_blocks(pairs, W):
        answers = pairs.answers[columns]
        tail[columns] = tail_margins(block, k, answers).numpy()
        first[columns] = tail_margins(block, 1, answers).numpy()
    return tail, first


def measure_zipf(
    n: int,
    d: int,
    s: float,
    gamma: float,
    way: str,
    seed: int,
    r: float = 0.15,
    beta: float = 1.0,
    ridge: float = 1e-5,
    tol: float = 1e-2,
) -> dict[str, float | int | None]:
    """Share of questions that a memory of facts by Zipf's law answers wrongly.

    Parameters
    ----------
    n, d, s, gamma, way, seed, r, beta, ridge, tol
        As in `zipf_memory`.

    Returns
    -------
    dict
        ``error``, the share of questions whose signal does not beat the average of the top share r of its
        competitors, and ``error_first``, that of those without the first place, both of all n facts;
        ``stored``, the number of facts that the memory was made of; ``nu``; the gap and passes of minimisers;
        and the share of facts lost, by the average (``lost_0``, ...) and by the first place
        (``first_lost_0``, ...), between each two of `EDGES` times ``d^2`` in rank, None where no fact is.
    """
    made = zipf_memory(n, d, s, gamma, way, seed=seed, r=r, beta=beta, ridge=ridge, tol=tol)
    margins = tail_and_first(made.pairs, made.W, r)
    tail, first = ((margin <= 0).astype(float) for margin in margins)
    p = zipf_weights(n, s) / n
    row = {"error": float(p @ tail), "error_first": float(p @ first), "stored": kept_facts(way, n, d, r)}
    row |= {"nu": float(made.W.norm()) / d, "gap": made.gap, "passes": made.passes}
    ends = [min(n, round(x * d**2)) for x in EDGES]
    for name, lost in (("lost", tail), ("first_lost", first)):
        for k in range(len(EDGES) - 1):
            part = lost[ends[k] : ends[k + 1]]
            row[f"{name}_{k}"] = float(part.mean()) if len(part) else None
    return row
