"""Stored memories beside the scalar theory: what their tables say of couplings and equations."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from assocmem.pairs.sizes import pairs_at_load
from assocmem.theory.law_variants import middle_levels, with_numbers
from assocmem.theory.scalar import ScalarSolution, prox

KEPT = ("fresh", "signal", "tail", "answer", "square")
"""What a row has of each removed pair, see `assocmem.experiments.tail_average.stored_instances.couplings`."""
READ = ("d", "nu", "chi", "a_bend", "a_signal", "response")
"""What the equations need of a row."""
LEVELS = 4000
"""Quantiles of a law over which an average is taken."""


def removed_pairs(rows: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
    """One line for each removed pair of the instances of a table.

    Parameters
    ----------
    rows : mapping of str to array_like, or DataFrame
        Columns of the point function `assocmem.experiments.points.scalar_instance`.

    Returns
    -------
    dict of str to ndarray
        With the columns of `KEPT`.
    """
    most = sum(name.startswith("fresh_") for name in rows)
    columns = {
        name: np.column_stack([rows[f"{name}_{h}"] for h in range(most)]).astype(float).ravel()
        for name in KEPT
    }
    there = ~np.isnan(columns["fresh"])
    return {name: x[there] for name, x in columns.items()}


def coupling_misses(pairs: Mapping[str, np.ndarray], law: ScalarSolution) -> dict[str, np.ndarray]:
    """What is left of Proposition 7 at each removed pair, in several forms.

    Parameters
    ----------
    pairs : mapping of str to ndarray
        As from `removed_pairs`.
    law : ScalarSolution
        With the ``nu`` and ``chi`` of memories of their dimension.

    Returns
    -------
    dict of str to ndarray
        ``"as stated"``: ``s - c - Prox_chi(g - c)``; ``"own response"``: the same with
        ``chi |u|^2 |v|^2`` for chi; ``"own response and tail"``: and with the pair's own tail average for c;
        ``"own tail"``: with that alone; ``"half the push"``: with half of chi; ``"no push"``: ``s - g``.
    """
    s, g, t, square = (pairs[name] for name in ("signal", "fresh", "tail", "square"))

    def miss(c, chi):
        return s - c - prox(g - c, chi)

    return {
        "as stated": miss(law.c, law.chi),
        "own response": miss(law.c, law.chi * square),
        "own tail": miss(t, law.chi),
        "own response and tail": miss(t, law.chi * square),
        "half the push": miss(law.c, law.chi / 2),
        "no push": s - g,
    }


def root_mean_square(x: np.ndarray) -> tuple[float, float]:
    """Root mean square of a sample, and its standard error.

    Parameters
    ----------
    x : ndarray, shape (m,)

    Returns
    -------
    size, error : float
    """
    squares = np.asarray(x) ** 2
    size = math.sqrt(squares.mean())
    return size, float(squares.std(ddof=1)) / math.sqrt(len(squares)) / (2 * size)


def equation_sides(rows: Mapping[str, ArrayLike], law: ScalarSolution) -> dict[str, np.ndarray]:
    """The equations of Propositions 8 and 9 at the numbers of each memory, whole and with a term replaced.

    Parameters
    ----------
    rows : mapping of str to array_like, or DataFrame
        Columns of the point function `assocmem.experiments.points.scalar_instance` at one point.
    law : ScalarSolution
        The theory there.

    Returns
    -------
    dict of str to ndarray
        As ratios that tend to one: ``variance`` and ``response`` with the laws at the ``nu`` and ``chi`` of
        the memory, as the propositions have it; ``variance_of_scores`` and ``response_of_scores`` with
        averages over its own scores; ``variance_at_c`` with ``phi''(nu Z - c)`` for ``phi''(nu Z - mu)``;
        ``response_first`` with ``chi B`` for ``chi B / (1 + chi B)``.
    """
    columns = [np.asarray(rows[name], dtype=float) for name in READ]
    found = []
    for values in zip(*columns, strict=True):
        row = dict(zip(READ, values, strict=True))
        own = with_numbers(law, row["nu"], row["chi"])
        found.append(_sides(own) | _sides_of_scores(row, law))
    return {name: np.array([x[name] for x in found]) for name in found[0]}


def _sides(law):
    """Ratios of the two sides with the averages of a law."""
    y = law.margin.quantile(middle_levels(LEVELS))
    A = special.expit(-y)
    push = law.chi * A * (1 - A)
    score, weight = (A * (y + law.c)).mean(), A.mean()

    def omega(threshold):
        q = special.expit(law.beta * (law.nu * special.ndtri(middle_levels(LEVELS)) - threshold))
        return weight * law.beta * (q * (1 - q)).mean() / law.r

    whole = law.ridge + omega(law.mu)
    return {
        "variance": law.nu**2 * whole / score,
        "variance_at_c": law.nu**2 * (law.ridge + omega(law.c)) / score,
        "response": law.load * (law.chi * whole + (push / (1 + push)).mean()),
        "response_first": law.load * (law.chi * whole + push.mean()),
    }


def _sides_of_scores(row, law):
    """Ratios of the two sides with averages over the scores of a memory."""
    whole = law.ridge + row["a_bend"]
    load = pairs_at_load(law.load, int(row["d"])) / row["d"] ** 2
    return {
        "variance_of_scores": row["nu"] ** 2 * whole / row["a_signal"],
        "response_of_scores": load * (row["chi"] * whole + row["response"]),
    }


def by_dimension(rows: Mapping[str, ArrayLike], columns: ArrayLike) -> dict[int, np.ndarray]:
    """Numbers of instances, grouped for `assocmem.experiments.infinite_dimension.extrapolate_pooled`.

    Parameters
    ----------
    rows : mapping of str to array_like, or DataFrame
        With the dimension ``d`` of each instance.
    columns : array_like, shape (instances, m)

    Returns
    -------
    dict of int to ndarray, shape (instances, m)
        Dimensions increasing.
    """
    columns, d = np.asarray(columns, dtype=float), np.asarray(rows["d"])
    return {int(x): columns[d == x] for x in np.unique(d)}
