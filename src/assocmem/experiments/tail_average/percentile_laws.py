"""Stored laws of memories below the critical load, beside those that are predicted for their size.

A stored table has one row for each memory, with quantiles of its keys' percentiles, signals and margins at
the levels of `assocmem.experiments.tail_average.phase.LEVELS`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from assocmem.experiments.tail_average.phase import LEVELS
from assocmem.theory.finite_dimension import LawsAtSize

KINDS = ("percentile", "signal", "margin")
"""What laws are stored of."""

LOW, HIGH = 0.1, 0.9
"""Levels between whose quantiles a spread is measured; both are stored."""


def level_places(levels: ArrayLike) -> list[int]:
    """Where some of the stored levels stand among them.

    Parameters
    ----------
    levels : array_like
        Members of `assocmem.experiments.tail_average.phase.LEVELS`.
    """
    return [int(np.flatnonzero(np.array(LEVELS) == p)[0]) for p in np.atleast_1d(levels)]


def stored_rows(table: dict[str, ArrayLike], d: int, load: float) -> np.ndarray:
    """Which rows of a table are of a dimension and a load.

    Parameters
    ----------
    table : dict of str to array_like
        Columns ``d`` and ``load``, or a data frame.
    d : int
    load : float

    Returns
    -------
    ndarray of bool
    """
    return (np.asarray(table["d"]) == d) & np.isclose(np.asarray(table["load"]), load)


def stored_dimensions(table: dict[str, ArrayLike], load: float) -> list[int]:
    """Dimensions that have memories at a load.

    Parameters
    ----------
    table : dict of str to array_like
        As for `stored_rows`.
    load : float

    Returns
    -------
    list of int
    """
    return [d for d in np.unique(np.asarray(table["d"])).astype(int) if stored_rows(table, d, load).any()]


def stored_quantiles(table: dict[str, ArrayLike], kind: str, d: int, load: float) -> np.ndarray:
    """Stored quantiles of one kind, one line for each memory of a dimension and a load.

    Parameters
    ----------
    table : dict of str to array_like
        Columns ``d``, ``load`` and, for each level, ``percentile_0``, ``percentile_1``, and so on.
    kind : str
        One of `KINDS`.
    d : int
    load : float

    Returns
    -------
    ndarray, shape (memories, levels)
    """
    rows = stored_rows(table, d, load)
    return np.array([np.asarray(table[f"{kind}_{k}"])[rows] for k in range(len(LEVELS))]).T


def stored_spread(table: dict[str, ArrayLike], kind: str, d: int, load: float) -> float:
    """Distance between the 10% and the 90% quantile, mean over the memories of a dimension and a load.

    Parameters
    ----------
    table, kind, d, load
        As for `stored_quantiles`.

    Returns
    -------
    float
    """
    x, (low, high) = stored_quantiles(table, kind, d, load), level_places([LOW, HIGH])
    return np.mean(x[:, high] - x[:, low])


def predicted_spread(law: LawsAtSize, kind: str) -> float:
    """Distance between the 10% and the 90% quantile of a predicted law.

    Parameters
    ----------
    law : LawsAtSize
    kind : str
        One of `KINDS`.

    Returns
    -------
    float
    """
    return np.diff(law.quantile(kind, np.array([LOW, HIGH])))[0]


def numbers_of_memories(table: dict[str, ArrayLike], d: int, load: float, edge: float) -> list[float]:
    """Five kinds of numbers that describe the stored memories of a dimension and a load, means over them.

    Parameters
    ----------
    table, d, load
        As for `stored_quantiles`.
    edge : float
        A percentile.

    Returns
    -------
    list of float
        Lowest and median percentile, share of keys below the edge, and a spread for each of `KINDS`.
    """
    omega, (median,) = stored_quantiles(table, "percentile", d, load), level_places(0.5)
    below = np.mean([np.interp(edge, x, np.array(LEVELS)) for x in omega])
    spreads = [stored_spread(table, kind, d, load) for kind in KINDS]
    return [omega[:, 0].mean(), omega[:, median].mean(), below, *spreads]


def numbers_of_laws(law: LawsAtSize, d: int, load: float, edge: float) -> list[float]:
    """The numbers of `numbers_of_memories`, predicted.

    Parameters
    ----------
    law : LawsAtSize
        Of this dimension and load.
    d : int
    load : float
    edge : float
        A percentile.

    Returns
    -------
    list of float
        The lowest percentile is the median of the lowest among ``load d^2`` keys.
    """
    lowest = math.log(2) / (load * d**2)
    omega = law.quantile("percentile", np.array([lowest, 0.5]))
    below = law.cdf("percentile", np.array([edge]))[0]
    return [*omega, below, *(predicted_spread(law, kind) for kind in KINDS)]


def spread_ratios(
    table: dict[str, ArrayLike], laws: dict[tuple[float, int], LawsAtSize], kind: str
) -> np.ndarray:
    """Spread of stored memories over the predicted one.

    Parameters
    ----------
    table : dict of str to array_like
        As for `stored_quantiles`.
    laws : dict of (float, int) to LawsAtSize
        By load and dimension.
    kind : str
        One of `KINDS`.

    Returns
    -------
    ndarray, shape (laws,)
    """
    return np.array(
        [stored_spread(table, kind, d, load) / predicted_spread(law, kind) for (load, d), law in laws.items()]
    )


def spread_evidence(
    table: dict[str, ArrayLike],
    laws: dict[tuple[float, int], LawsAtSize],
    variants: dict[tuple[float, int], LawsAtSize],
    kind: str,
    *,
    what: str,
    falsehood: str,
) -> dict:
    """What a check of Figure 3 compares: spreads of stored memories with predicted ones.

    Parameters
    ----------
    table, laws, kind
        As for `spread_ratios`.
    variants : dict of (float, int) to LawsAtSize
        The laws as they would be if the falsehood were true.
    what : str
        What was measured, in a few words.
    falsehood : str
        A wrong claim.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. Some ten per cent are left to the scatter between the
        few memories of a size.
    """
    right, wrong = spread_ratios(table, laws, kind), spread_ratios(table, variants, kind)
    return {
        "claim": "figure-3",
        "what": what,
        "measured": right,
        "predicted": 1.0,
        "tolerance": 0.12,
        "falsehood": (falsehood, right / wrong),
    }
