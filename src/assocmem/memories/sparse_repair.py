"""The adaptive sparse repair of Section 2.2: most coordinates store every pair, the rest what went wrong.

The memory is block-diagonal, ``diag(W0, W1)``. ``W0`` is a correlation matrix memory of the first ``d0``
coordinates; ``W1``, on the other ``d1``, adds outer products of the pairs whose margin under ``W0`` is too
small, with weights that lift it. Coordinates of one block are independent of those of the other, so that the
proof may treat the weights as fixed.
"""

import math
from dataclasses import dataclass

import torch

from assocmem.checks import is_number, require, require_flag, require_integer, require_number
from assocmem.machine import memory_shortage
from assocmem.pairs.data import Facts, Pairs, require_pairs
from assocmem.pairs.scores import (
    require_finite_products,
    require_memory_matrix,
    retrieval_margins,
    score_blocks,
    take_signal,
)
from assocmem.pairs.sizes import peak_bytes


@dataclass(frozen=True)
class SparseRepair:
    """A repaired memory and what it was made from.

    Attributes
    ----------
    W : Tensor, shape (d, d)
        ``diag(W0, W1)``.
    d0, d1 : int
        Coordinates of the base and of the reserve.
    base, repair : (Tensor, Tensor), shapes (d0, n) and (d1, m)
        Factors ``L, R`` of the two blocks, ``W0 = L R'`` and ``W1 = L R'``; R are rows of the keys.
    base_margins : Tensor, shape (n,)
        ``m_i``, the margins under the base memory alone.
    deficient : Tensor of int64, shape (m,)
        The set B, keys with ``m_i <= gamma``.
    weights : Tensor, shape (m,)
        ``2 gamma - m_i`` of those keys, at least ``gamma``.
    """

    W: torch.Tensor
    d0: int
    d1: int
    base: tuple[torch.Tensor, torch.Tensor]
    repair: tuple[torch.Tensor, torch.Tensor]
    base_margins: torch.Tensor
    deficient: torch.Tensor
    weights: torch.Tensor


def default_reserve(n: int, d: int) -> int:
    """The paper's ``d1 = floor(d (log n)^(-1/8))`` (Section 2.2), which vanishes next to d only very slowly.

    Parameters
    ----------
    n, d : int
        At least 3, and at least 1.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For a smaller n or d.
    """
    require_integer("n", n, 3)
    require_integer("d", d, 1)
    n, d = int(n), int(d)  # a short integer of NumPy has a short logarithm
    return math.floor(d * math.log(n) ** -0.125)


def reserve_at_share(share: float, d: int) -> int:
    """The reserve nearest to a share of the coordinates that leaves the base two of them, if there are three.

    Parameters
    ----------
    share : float
        In (0, 1).
    d : int
        Dimension, at least 2.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_number("share", share, 0, 1)
    require_integer("d", d, 2)
    return max(1, min(d - 2, round(share * d)))


def sparse_repair(pairs: Pairs, *, gamma: float, reserve: int | None = None) -> SparseRepair:
    """The memory of Proposition ``prop:optimal``.

    Scores are streamed: beside the pairs this takes their outer-product factors and one block of columns.

    Parameters
    ----------
    pairs : assocmem.pairs.data.Pairs
    gamma : float
        Margin at or below which a key is repaired, in (0, 1/2); it is lifted to ``2 gamma``.
    reserve : int, optional
        Coordinates set aside for the repair, from 1 to d - 1; by default `default_reserve`.

    Returns
    -------
    SparseRepair

    Raises
    ------
    ValueError
        For a gamma or a reserve outside these ranges, and where memory is short.
    """
    require_pairs(pairs)
    n, d = pairs.n, pairs.d
    require(is_number(gamma) and 0 < gamma < 0.5, "gamma", gamma, "in (0, 1/2)")
    d1 = default_reserve(n, d) if reserve is None else reserve
    require_integer("reserve", d1, 1)
    require(d1 < d, "reserve", d1, f"less than d = {d}, to leave a base")
    if pairs.U.device.type == "cpu":
        itemsize = pairs.U.element_size()  # of the factors and what is gathered for them, up to 3 n d numbers
        shortage = memory_shortage(lambda m: peak_bytes(m, d, itemsize) + 3 * itemsize * m * d, n)
        require(not shortage, "n", n, shortage)
    base = _block(pairs.U[: d - d1], pairs.V[: d - d1], (d / (d - d1)) ** 2)
    W0 = base[0] @ base[1].T
    require_finite_products(W0)
    margins = retrieval_margins(Pairs(pairs.U[: d - d1], pairs.V[: d - d1]), W0)
    deficient = torch.nonzero(margins <= gamma)[:, 0]
    weights = 2 * gamma - margins[deficient]
    rest = pairs.U[d - d1 :, deficient], pairs.V[d - d1 :, deficient]
    repair = _block(*rest, (d / d1) ** 2 * weights)
    W = torch.block_diag(W0, repair[0] @ repair[1].T)
    require_finite_products(W)
    return SparseRepair(W, d - d1, d1, base, repair, margins, deficient, weights)


def _block(
    U: torch.Tensor, V: torch.Tensor, weights: float | torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Factors of a sum of weighted outer products."""
    return U * weights, V


@dataclass(frozen=True)
class InPlaceRepair:
    """A memory repaired where it stands.

    Attributes
    ----------
    W : Tensor, shape (d, d)
    failures : tuple of int
        Keys not retrieved, at the start and after each round; one pass over the scores for each.
    """

    W: torch.Tensor
    failures: tuple[int, ...]


def repair_in_place(
    pairs: Pairs | Facts, W: torch.Tensor, *, gamma: float, rounds: int = 1, against_rivals: bool = False
) -> InPlaceRepair:
    """The repair without a reserve: the same weights, added to all coordinates, in rounds until none fails.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)
        The memory to start from.
    gamma : float
        Margin at or below which a key is repaired, positive; it is lifted to ``2 gamma``.
    rounds : int
        Rounds at most; fewer where every pair is retrieved before.
    against_rivals : bool
        Whether half of each weight is spent on pushing down the key's best competitor, as in a perceptron.

    Returns
    -------
    InPlaceRepair

    Raises
    ------
    ValueError
        For a gamma or a number of rounds out of range.
    """
    require_memory_matrix(pairs, W)
    require_number("gamma", gamma, 0)
    require_integer("rounds", rounds, 0)
    require_flag("against_rivals", against_rivals)
    gamma, failures = float(gamma), []  # torch takes no integers of more than 64 bits
    while True:
        margins, rival = _margins_and_rivals(pairs, W)
        failures.append(int((margins <= 0).sum()))
        if not failures[-1] or len(failures) > rounds:
            return InPlaceRepair(W, tuple(failures))
        keys = torch.nonzero(margins <= gamma)[:, 0]
        weights = 2 * gamma - margins[keys]
        pushed = pairs.answered(keys) * weights
        if against_rivals:
            pushed = 0.5 * (pushed - pairs.U[:, rival[keys]] * weights)
        W = W + pushed @ pairs.V[:, keys].T


def _margins_and_rivals(pairs: Pairs | Facts, W: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Margin of each key and its best competitor."""
    margins, rival, answers = pairs.V.new_empty(pairs.n), torch.empty_like(pairs.answers), pairs.answers
    for columns, block in score_blocks(pairs, W):
        signal = take_signal(block, answers[columns], -math.inf)
        best, rival[columns] = block.max(dim=0)
        margins[columns] = signal - best
    return margins, rival
