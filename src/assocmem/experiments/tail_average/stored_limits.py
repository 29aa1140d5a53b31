"""Stored memories at several points, followed to infinite dimension beside the scalar theory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assocmem.experiments.frames import DataFrame
from assocmem.experiments.infinite_dimension import ERRORS, Limit, extrapolate_pooled
from assocmem.experiments.statistics import through_inverse
from assocmem.experiments.tail_average.coupling_evidence import (
    by_dimension,
    coupling_misses,
    removed_pairs,
    root_mean_square,
)
from assocmem.theory.coupling_constants import coupling_miss
from assocmem.theory.law_variants import with_numbers
from assocmem.theory.scalar import ScalarSolution, solve_scalar

PARAMETERS = ("load", "r", "beta", "ridge")
"""What a point of the parameters is."""
ORDER = ("nu", "chi", "loss")
"""The numbers of a memory that the theory predicts first."""
LEAST_DIMENSIONS = 3
"""Fewer say nothing of a limit."""
LEAST_PAIRS = 6
"""Fewer removed pairs of one dimension say little of a root mean square."""

Point = tuple[ScalarSolution, DataFrame]
"""The theory at a point of the parameters, and the rows of its memories."""


def theory_and_rows(stored: DataFrame) -> list[Point]:
    """The points of a stored table, the largest load first.

    Parameters
    ----------
    stored : DataFrame
        Rows of the point function `assocmem.experiments.points.scalar_instance`.

    Returns
    -------
    list of (ScalarSolution, DataFrame)
    """
    groups = sorted(stored.groupby(list(PARAMETERS)), key=lambda item: -item[0][0])
    return [
        (solve_scalar(load, r, beta=beta, ridge=ridge), rows.reset_index(drop=True))
        for (load, r, beta, ridge), rows in groups
    ]


def enough(points: Sequence[Point]) -> list[Point]:
    """The points that have memories of at least `LEAST_DIMENSIONS` dimensions."""
    return [(theory, rows) for theory, rows in points if rows.d.nunique() >= LEAST_DIMENSIONS]


def follow(columns: Callable[..., Sequence[ArrayLike]], points: Sequence[Point]) -> list[Limit]:
    """Limits of numbers of memories, as straight lines in 1/d, at several points.

    Parameters
    ----------
    columns : callable
        From a theory and its rows to the numbers that are followed, each of shape (memories,).
    points : sequence of (ScalarSolution, DataFrame)

    Returns
    -------
    list of Limit
        All numbers of the first point, then of the next. `ERRORS` times the error is that many standard
        errors and the distance to the limit of a curve quadratic in 1/d.
    """
    found = []
    for theory, rows in points:
        table = by_dimension(rows, np.column_stack(columns(theory, rows)))
        line, error = extrapolate_pooled(table, 1)
        curve, _ = extrapolate_pooled(table, 2)
        doubt = error + abs(line - curve) / ERRORS
        found += [Limit(np.array([x]), e) for x, e in zip(line, doubt, strict=True)]
    return found


def at_changed_point(theory: ScalarSolution, **changed: float) -> list[float]:
    """Norm scale, susceptibility and mean loss with parameters changed, over those of a point.

    Parameters
    ----------
    theory : ScalarSolution
        Of a single point.
    **changed : float
        Some of `PARAMETERS`.

    Returns
    -------
    list of float
    """
    point = {name: float(getattr(theory, name)) for name in PARAMETERS} | changed
    other = solve_scalar(**point)
    return [float(getattr(other, name) / getattr(theory, name)) for name in ORDER]


def competitor_constants(theory: ScalarSolution, rows: DataFrame) -> list[ArrayLike]:
    """The numbers of Proposition 6's coupling, in units in which they tend to constants.

    Parameters
    ----------
    theory : ScalarSolution
    rows : DataFrame
        Of its memories.

    Returns
    -------
    list of array_like
        Root mean square of ``s - z`` times ``sqrt(d) / nu``; d times the variance of column scales beyond
        sampling; d times the excess of the fourth moment of the scores and of the z; the mean square over
        ``nu^2``; d times the variance of row scales beyond sampling.
    """
    d, n = rows.d, np.round(theory.load * rows.d**2)
    kurtosis = rows.competitor_fourth / rows.competitor_square**2 / 3
    scaled_kurtosis = rows.scaled_fourth / rows.scaled_square**2 / 3
    return [
        np.sqrt(d) * rows.coupling / rows.nu,
        d * (rows.column_variance - 2 / n),
        d * (kurtosis - 1),
        d * (scaled_kurtosis - 1),
        rows.competitor_square / rows.nu**2,
        d * (rows.row_variance - 2 / n),
    ]


@dataclass(frozen=True)
class Leftover:
    """What the proximal law leaves of the signals of removed pairs, in the memories of one dimension.

    Attributes
    ----------
    theory : ScalarSolution
        Of the point.
    d, pairs : int
        The dimension, and how many pairs were removed there.
    normal : float
        Root mean square of the scores without the pair, over the norm scale: one for a normal law.
    misses : dict of str to ndarray
        As from `assocmem.experiments.tail_average.coupling_evidence.coupling_misses`.
    predicted : float
        Root mean square of what is left as the proposition is stated, in closed form.
    """

    theory: ScalarSolution
    d: int
    pairs: int
    normal: float
    misses: dict[str, np.ndarray]
    predicted: float

    def size(self, form: str) -> tuple[float, float]:
        """Root mean square of what is left in one form, and its standard error."""
        return root_mean_square(self.misses[form])


def leftovers(points: Sequence[Point]) -> list[Leftover]:
    """What is left at each dimension of each point, with the mean numbers of its memories.

    Parameters
    ----------
    points : sequence of (ScalarSolution, DataFrame)

    Returns
    -------
    list of Leftover
    """
    found = []
    for theory, rows in points:
        for d, some in rows.groupby("d"):
            law = with_numbers(theory, some.nu.mean(), some.chi.mean())
            pairs = removed_pairs(some)
            normal, _ = root_mean_square(pairs["fresh"] / law.nu)
            misses = coupling_misses(pairs, law)
            predicted = coupling_miss(law, int(d))
            found.append(Leftover(theory, int(d), len(pairs["fresh"]), normal, misses, predicted))
    return found


def limit_over_predicted(found: Sequence[Leftover], theory: ScalarSolution) -> tuple[float, float]:
    """What is left as stated over what is predicted, followed to infinite dimension at one point.

    Parameters
    ----------
    found : sequence of Leftover
    theory : ScalarSolution
        Of the point.

    Returns
    -------
    limit, error : float
    """
    there = [x for x in found if x.theory is theory]
    size, error = np.transpose([np.array(x.size("as stated")) / x.predicted for x in there])
    polynomial, error = through_inverse([x.d for x in there], size, error)
    return polynomial[-1], error


def misses_by_dimension(
    found: Sequence[Leftover], theory: ScalarSolution, form: str
) -> dict[int, np.ndarray]:
    """What is left in one form at the dimensions of a point with at least `LEAST_PAIRS` pairs.

    Parameters
    ----------
    found : sequence of Leftover
    theory : ScalarSolution
        Of the point.
    form : str

    Returns
    -------
    dict of int to ndarray
        As for `assocmem.experiments.statistics.power_law`.
    """
    there = (x for x in found if x.theory is theory and x.pairs >= LEAST_PAIRS)
    return {x.d: x.misses[form] for x in there}


def scatter_times_dimension(points: Sequence[Point]) -> list[dict[int, float]]:
    """Relative scatter of the norm scale between memories, times d, by dimension at each point.

    Parameters
    ----------
    points : sequence of (ScalarSolution, DataFrame)

    Returns
    -------
    list of dict of int to float
        Steady where the scatter falls like 1/d.
    """
    return [
        {int(d): float(d * nu.std(ddof=1) / nu.mean()) for d, nu in rows.groupby("d").nu}
        for _, rows in points
    ]


def share_of_tails(theory: ScalarSolution) -> float:
    """What is left if only the tail averages of keys varied, over all that is predicted."""
    return coupling_miss(theory, 1, response=0) / coupling_miss(theory, 1)
