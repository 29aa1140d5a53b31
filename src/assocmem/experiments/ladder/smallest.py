"""What a rule needs on an instance to retrieve every pair, and what it retrieves with less."""

from dataclasses import dataclass

from assocmem.experiments.explicit.constructions import (
    Built,
    Construction,
    nested_pairs,
    smallest_dimension,
)
from assocmem.experiments.ladder.rules import WriteRule
from assocmem.pairs.scores import retrieval_margins

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


def smallest(rule: WriteRule, n: int, *, seed: int) -> int:
    """Dimension from which a rule retrieves every pair of an instance: there it does, one below it does not.

    Parameters
    ----------
    rule : WriteRule
    n, seed : int
        As in `assocmem.experiments.explicit.constructions.nested_pairs`.

    Returns
    -------
    int

    Raises
    ------
    ArithmeticError
        If it does not even succeed in the longest dimension.
    """
    construction = Construction(rule.name, lambda pairs: Built(rule.write(pairs), 0), rule.highest)
    return smallest_dimension(construction, n, seed=seed)[0]


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
