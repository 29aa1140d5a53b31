"""Laws of stored memories followed to infinite dimension, beside those of Propositions 12 and 13.

Below the critical load the distances from the prediction at finite size are followed, above it the laws
themselves.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assocmem.experiments.frames import DataFrame
from assocmem.experiments.infinite_dimension import ERRORS, extrapolate_pooled
from assocmem.experiments.tail_average.percentile_laws import (
    followed_distances,
    level_places,
    stored_quantiles,
)
from assocmem.theory.finite_dimension import LawsAtSize
from assocmem.theory.ridgeless import SatLaws, sat_laws, solve_unsat
from assocmem.theory.scalar import solve_scalar

LEAST_DIMENSION = 30
"""Memories above the critical load are followed from here on."""


@dataclass(frozen=True)
class Below:
    """Stored memories at one load below the critical one.

    Attributes
    ----------
    load, r : float
    table : DataFrame
        As for `stored_quantiles`.
    laws : dict of int to LawsAtSize
        Predicted, by dimension.
    under, over : list of float
        Stored levels of keys in the atom, and of keys above it.
    """

    load: float
    r: float
    table: DataFrame
    laws: dict[int, LawsAtSize]
    under: list[float]
    over: list[float]


@dataclass(frozen=True)
class Followed:
    """Numbers followed to infinite dimension: the four arrays of a check, all of one shape."""

    measured: np.ndarray
    predicted: np.ndarray
    tolerance: np.ndarray
    falsehood: np.ndarray


def followed_laws(
    kind: str,
    side: str,
    cases: Iterable[Below],
    falsehood: Callable[[SatLaws, float, np.ndarray], np.ndarray],
    *,
    beta: float,
    ridge: float,
) -> Followed:
    """Quantiles of stored laws in the limit, and those of Proposition 12.

    Parameters
    ----------
    kind : str
        One of `percentile_laws.KINDS`.
    side : str
        ``"under"`` or ``"over"`` the edge, or ``"both"``.
    cases : iterable of Below
    falsehood : callable
        From the limit laws, the tail fraction and the levels to wrong quantiles.
    beta, ridge : float
        With which the memories were trained.

    Returns
    -------
    Followed
        The tolerance is four standard errors and what the ridge rounds off.
    """
    found = []
    for case in cases:
        p = np.array(case.under + case.over if side == "both" else getattr(case, side))
        law = sat_laws(case.load, case.r)
        rest, error = followed_distances(case.table, case.laws, kind, case.load, p)
        rounded = solve_scalar(case.load, case.r, beta=beta, ridge=ridge)
        scale = rounded.nu if kind == "margin" else 1.0
        limit = getattr(law, kind).quantile(p)
        rounding = abs(getattr(rounded, kind).quantile(p) / scale - limit)
        wrong = falsehood(law, case.r, p)
        found.append([limit + rest, limit, ERRORS * error + rounding, wrong])
    return Followed(*np.concatenate(found, axis=1))


def followed_step(case: Below, levels: ArrayLike, instead: float, *, beta: float, ridge: float) -> Followed:
    """Quantiles of the signal less ``c_r(nu)``, over nu, in the limit (Figure 3, panel c).

    Parameters
    ----------
    case : Below
        Its own levels play no part.
    levels : array_like
        Stored levels.
    instead : float
        What a falsehood takes from the signal in place of ``kappa_r``.
    beta, ridge : float
        With which the memories were trained.

    Returns
    -------
    Followed
    """
    law = sat_laws(case.load, case.r)
    rest, error = followed_distances(case.table, case.laws, "signal", case.load, levels)
    step = law.margin.quantile(levels)
    rounded = solve_scalar(case.load, case.r, beta=beta, ridge=ridge)
    rounding = abs(rounded.margin.quantile(levels) / rounded.nu - step)
    return Followed(step + rest, step, ERRORS * error + rounding, step + law.kappa - instead)


def share_below(case: Below, d: int, level: float, stored_levels: ArrayLike) -> float:
    """Share of the keys whose signal over nu is below a level, mean over the memories of a dimension.

    Parameters
    ----------
    case : Below
    d : int
    level : float
    stored_levels : array_like
        `phase.LEVELS`.

    Returns
    -------
    float
    """
    lines = stored_quantiles(case.table, "signal", d, case.load)
    return float(np.mean([np.interp(level, line, stored_levels) for line in lines]))


def followed_above(
    points: Iterable[tuple[float, float, float, DataFrame]], levels: ArrayLike
) -> tuple[Followed, Followed]:
    """Norm, loss and margins above the critical load in the limit, and those of Proposition 13.

    Parameters
    ----------
    points : iterable of (float, float, float, DataFrame)
        Load, tail fraction, inverse width of the smoothing and the table of memories. Rows of another tail
        fraction are left out where the table has a column ``r``.
    levels : array_like
        Stored levels.

    Returns
    -------
    scalars, laws : Followed
        Norm and loss, as parabolas in 1/d, with a third of beta as falsehood; and quantiles of the margin
        over nu, as lines, with a load that is a tenth higher.
    """
    scalars, laws = [], []
    levels = np.asarray(levels, dtype=float)
    for load, r, beta, table in points:
        chosen = np.isclose(table["load"], load) & (table["d"] >= LEAST_DIMENSION)
        if "r" in table:
            chosen &= np.isclose(table["r"], r)
        own = table[chosen]
        sizes = [int(d) for d in np.unique(own["d"])]
        here, denser = solve_unsat(load, r, beta), solve_unsat(1.1 * load, r, beta)
        softer = solve_unsat(load, r, beta / 3)
        rows = {d: own[own["d"] == d][["nu", "loss"]].to_numpy() for d in sizes}
        value, error = extrapolate_pooled(rows, 2)
        scalars.append([value, [here.nu, here.loss], ERRORS * error, [softer.nu, softer.loss]])
        places = level_places(levels)
        rows = {d: stored_quantiles(own, "margin", d, load)[:, places] for d in sizes}
        value, error = extrapolate_pooled(rows)
        expected, wrong = (y.margin.quantile(levels) / y.nu for y in (here, denser))
        laws.append([value, expected, ERRORS * error, wrong])
    return Followed(*np.concatenate(scalars, axis=1)), Followed(*np.concatenate(laws, axis=1))


def followed_smoothings(
    soft: DataFrame, hard: DataFrame, load: float, r: float, betas: tuple[float, float], levels: ArrayLike
) -> tuple[Followed, int]:
    """What another smoothing changes, on the same pairs: loss and quantiles of the percentile (Remark 5).

    Parameters
    ----------
    soft, hard : DataFrame
        Memories trained on the same pairs with two smoothings; the first has a column ``r``.
    load, r : float
    betas : (float, float)
        Their inverse widths.
    levels : array_like
        Stored levels.

    Returns
    -------
    Followed
        Differences, soft less hard; the falsehood is that there are none.
    largest : int
        The largest dimension.
    """
    levels = np.asarray(levels, dtype=float)
    columns = ["loss", *(f"percentile_{k}" for k in level_places(levels))]
    first = soft[np.isclose(soft["load"], load) & np.isclose(soft["r"], r)]
    second = hard[np.isclose(hard["load"], load)]
    both = first.merge(second, on=["d", "seed"], suffixes=("", "_hard")).drop_duplicates(["d", "seed"])
    differences = {
        int(d): pairs[columns].to_numpy() - pairs[[f"{x}_hard" for x in columns]].to_numpy()
        for d, pairs in both.groupby("d")
    }
    value, error = extrapolate_pooled(differences)
    ends = [solve_unsat(load, r, beta) for beta in betas]
    laws = [np.array([x.loss, *x.percentile.quantile(levels)]) for x in ends]
    predicted = laws[0] - laws[1]
    return Followed(value, predicted, ERRORS * error, np.zeros(len(value))), max(differences)
