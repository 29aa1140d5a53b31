"""Stored laws of memories below the critical load, beside those that are predicted for their size.

A stored table has one row for each memory, with quantiles of its keys' percentiles, signals and margins at
the levels of `assocmem.experiments.tail_average.phase.LEVELS`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from assocmem.experiments.infinite_dimension import ERRORS, extrapolate_pooled
from assocmem.experiments.statistics import pooled_errors
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


def spread_tolerances(
    table: dict[str, ArrayLike], laws: dict[tuple[float, int], LawsAtSize], kind: str
) -> np.ndarray:
    """Four standard errors of `spread_ratios`, whose scatter between memories is taken to fall like 1/d.

    Parameters
    ----------
    table, laws, kind
        As for `spread_ratios`.

    Returns
    -------
    ndarray, shape (laws,)
        The scatter is estimated from all dimensions of a load together.
    """
    low, high = level_places([LOW, HIGH])
    errors = {}
    for at in {load for load, _ in laws}:
        own = [d for load, d in laws if load == at]
        spreads = []
        for d in own:
            x = stored_quantiles(table, kind, d, at)
            spreads.append((x[:, high] - x[:, low]) / predicted_spread(laws[at, d], kind))
        errors |= {(at, d): e for d, e in zip(own, pooled_errors(own, spreads), strict=True)}
    return ERRORS * np.array([errors[at] for at in laws])


def spread_evidence(
    table: dict[str, ArrayLike],
    laws: dict[tuple[float, int], LawsAtSize],
    variants: dict[tuple[float, int], LawsAtSize],
    kind: str,
    *,
    what: str,
    falsehood: str,
    tolerance: ArrayLike = 0.12,
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
    tolerance : array_like
        Of the ratios. By default some ten per cent are left to the scatter between the few memories of a
        size, and to the next order in 1/d.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    right, wrong = spread_ratios(table, laws, kind), spread_ratios(table, variants, kind)
    return {
        "claim": "figure-3",
        "what": what,
        "kind": "stored simulation",
        "measured": right,
        "predicted": 1.0,
        "tolerance": tolerance,
        "falsehood": (falsehood, right / wrong),
    }


def followed_distances(
    table: dict[str, ArrayLike], laws: dict[int, LawsAtSize], kind: str, load: float, levels: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Distances of stored quantiles from their prediction at finite size, followed to infinite dimension.

    Parameters
    ----------
    table, kind, load
        As for `stored_quantiles`.
    laws : dict of int to LawsAtSize
        By dimension.
    levels : array_like, shape (m,)
        Members of `assocmem.experiments.tail_average.phase.LEVELS`.

    Returns
    -------
    distance, error : ndarray, shape (m,)
        Limits of straight lines in 1/d, and their standard errors.
    """
    levels = np.atleast_1d(np.asarray(levels, dtype=float))
    places = level_places(levels)
    return extrapolate_pooled(
        {
            d: stored_quantiles(table, kind, d, load)[:, places] - law.quantile(kind, levels)
            for d, law in laws.items()
        }
    )


def tail_shortfall(table: dict[str, ArrayLike], law: LawsAtSize, d: int, load: float) -> float:
    """How far the tail averages of competitors in memories are below the predicted ones, relative to them.

    A signal is its margin and the tail average, so that is the difference of their medians, up to the little
    by which lengths part the two; the prediction has lengths too.

    Parameters
    ----------
    table, d, load
        As for `stored_quantiles`.
    law : LawsAtSize
        Of this dimension and load.

    Returns
    -------
    float
        Mean over the memories.
    """
    (median,) = level_places(0.5)
    signal, margin = (stored_quantiles(table, kind, d, load)[:, median] for kind in ("signal", "margin"))
    predicted = law.quantile("signal", 0.5) - law.quantile("margin", 0.5)
    return float(1 - np.mean(signal - margin) / predicted)
