"""Counts of facts that fit, and the number of them at which they cross one half."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assocmem.experiments.crossing import fit_crossing
from assocmem.experiments.frames import DataFrame
from assocmem.theory.facts_that_fit import facts_that_fit, fit_width

STRETCH = 0.25
"""Standard deviation of the logarithm of the width over the predicted one, before counts are seen."""


@dataclass(frozen=True)
class FactTransition:
    """Where counts of retrievable instances cross one half, in facts.

    Attributes
    ----------
    half, error : float
        Number of facts and its standard error.
    stretch, stretch_error : float
        Width over the predicted one, and its standard error.
    predicted : float
        `facts_that_fit`.
    """

    half: float
    error: float
    stretch: float
    stretch_error: float
    predicted: float

    @property
    def ratio(self) -> float:
        """Measured over predicted number of facts."""
        return self.half / self.predicted

    @property
    def ratio_error(self) -> float:
        """Standard error of `ratio`."""
        return self.error / self.predicted


def tally_facts(outcomes: DataFrame) -> dict[tuple[int, ...], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Outcomes of many instances, counted.

    Parameters
    ----------
    outcomes : DataFrame
        One row an instance: columns ``d_in``, ``d_out``, ``m``, ``k``, ``in_turn``, ``n``, and ``feasible``,
        which is 1, 0, or nan where nothing was proved.

    Returns
    -------
    dict of tuple to (ndarray, ndarray, ndarray)
        For each ``(d_in, d_out, m, k, in_turn)``: numbers of facts, how many instances of each were
        retrievable, and how many were decided.
    """
    sizes = ["d_in", "d_out", "m", "k", "in_turn"]
    counts = outcomes.groupby([*sizes, "n"])["feasible"].agg(["sum", "count"]).reset_index()
    columns = ["n", "sum", "count"]
    return {
        tuple(int(x) for x in size): tuple(mine[columns].to_numpy(int).T)
        for size, mine in counts.groupby(sizes)
    }


def fact_transition(
    n: ArrayLike, successes: ArrayLike, trials: ArrayLike, d_in: int, d_out: int, m: int, k: int = 1
) -> FactTransition:
    """Fit place and width of a transition to counts at several numbers of facts, by maximum likelihood.

    The width over the predicted one is taken to be 1 with a relative standard deviation of a quarter, which
    matters where the counts say little about it.

    Parameters
    ----------
    n, successes, trials : sequence
        Numbers of facts, and how many of how many instances were retrievable at each.
    d_in, d_out, m, k : int
        As in `facts_that_fit`.

    Returns
    -------
    FactTransition

    Raises
    ------
    ValueError
        If all instances came out alike.
    """
    predicted, width = facts_that_fit(d_in, d_out, m, k), fit_width(d_in, d_out, m, k)
    found = fit_crossing(n, successes, trials, expected=predicted, width=width, doubt=STRETCH)
    return FactTransition(found.place, found.error, found.stretch, found.stretch_error, predicted)
