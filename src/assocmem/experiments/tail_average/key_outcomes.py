"""How each key fares under a memory, by the three demands: first place, tail average, a place on the list."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import scores
from assocmem.pairs.tail_average import tail_average


@dataclass(frozen=True)
class KeyOutcomes:
    """Every key of one memory.

    Attributes
    ----------
    first, tail : ndarray, shape (n,)
        Signal less the best competitor, and less the tail average of the competitors.
    ahead : ndarray of int, shape (n,)
        Competitors above the signal.
    share : ndarray, shape (n,)
        Share of competitors at or below the signal.
    """

    first: np.ndarray
    tail: np.ndarray
    ahead: np.ndarray
    share: np.ndarray


def judge_keys(pairs: Pairs, W: torch.Tensor, r: float) -> KeyOutcomes:
    """How each key fares under a memory.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)
    r : float
        Tail fraction.

    Returns
    -------
    KeyOutcomes
    """
    S = scores(pairs, W).detach().numpy()
    signal = S.diagonal()
    rivals = S.T[~np.eye(pairs.n, dtype=bool)].reshape(pairs.n, -1)
    return KeyOutcomes(
        first=signal - rivals.max(axis=1),
        tail=signal - tail_average(rivals, r),
        ahead=(rivals > signal[:, None]).sum(axis=1),
        share=(rivals <= signal[:, None]).mean(axis=1),
    )


def pool_keys(outcomes: Iterable[KeyOutcomes]) -> KeyOutcomes:
    """The keys of several memories together."""
    names = KeyOutcomes.__dataclass_fields__
    found = list(outcomes)
    return KeyOutcomes(*(np.concatenate([getattr(x, name) for x in found]) for name in names))


def count_successes(
    rows: Sequence[Sequence[KeyOutcomes]], won: Callable[..., np.ndarray], *extras: Sequence
) -> list[int]:
    """Number of instances, in each row, in which all keys won.

    Parameters
    ----------
    rows : sequence of sequence of KeyOutcomes
        For instance, a row for each load.
    won : callable
        Says of a `KeyOutcomes`, and of what the extras have for its row, which keys won.
    *extras : sequence
        Something for each row, for instance the size of its tail.

    Returns
    -------
    list of int
    """
    return [
        sum(bool(np.all(won(keys, *extra))) for keys in row)
        for row, *extra in zip(rows, *extras, strict=True)
    ]
