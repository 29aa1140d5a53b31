"""What a rule needs on an instance to retrieve every pair, and what it retrieves with less."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from assocmem.experiments.explicit.constructions import (
    Built,
    Construction,
    nested_pairs,
    smallest_dimension,
)
from assocmem.experiments.ladder.rules import WriteRule
from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.pairs.sizes import top1_ratio

START = 1.0
"""``d^2 / (n log n)`` at which each search begins, so far down that all rules fail. A rule can fail again
above a dimension that it can do with; begun at one place, searches of one rule end in one dimension."""
TENTH = 10
"""The oldest and the newest keys are the first and the last of so many equal parts."""


@dataclass(frozen=True)
class Retrieved:
    """Shares of keys whose own target wins.

    Attributes
    ----------
    all, oldest, newest : float
        Of all keys, of the tenth that was written first, and of the tenth written last.
    """

    all: float
    oldest: float
    newest: float


def smallest(write: Callable[[Pairs], torch.Tensor], n: int, *, seed: int) -> tuple[int, torch.Tensor]:
    """Dimension from which a rule retrieves every pair of an instance: there it does, one below it does not.

    Parameters
    ----------
    write : callable
        From `Pairs` to a memory.
    n, seed : int
        As in `assocmem.experiments.explicit.constructions.nested_pairs`.

    Returns
    -------
    d : int
    W : Tensor, shape (d, d)
        What the rule wrote there.

    Raises
    ------
    ArithmeticError
        If it does not even succeed in the longest dimension.
    """
    construction = Construction("the rule", lambda pairs: Built(write(pairs), 0), START)
    d, built = smallest_dimension(construction, n, seed=seed)
    return d, built.W


def mean_ratio(n: int, dimensions: Sequence[int]) -> tuple[float, float]:
    """Mean of ``d^2 / (n log n)`` over instances, and its standard error.

    Parameters
    ----------
    n : int
    dimensions : sequence of int
        Smallest dimensions, one of each instance.

    Returns
    -------
    ratio, error : float
        The error is nan for a single instance.
    """
    ratios = [top1_ratio(n, d) for d in dimensions]
    count = len(ratios)
    error = statistics.stdev(ratios) / math.sqrt(count) if count > 1 else math.nan
    return statistics.fmean(ratios), error


def retrieved(rule: WriteRule, n: int, d: int, *, seed: int) -> Retrieved:
    """Shares that a rule retrieves of an instance, the same in every dimension, whose vectors are nested.

    Parameters
    ----------
    rule : WriteRule
    n, d, seed : int
        As in `assocmem.experiments.explicit.constructions.nested_pairs`.

    Returns
    -------
    Retrieved
    """
    pairs = nested_pairs(n, seed)(d)
    right = (retrieval_margins(pairs, rule.write(pairs)) > 0).double()
    part = -(-n // TENTH)
    return Retrieved(*(float(x.mean()) for x in (right, right[:part], right[-part:])))
