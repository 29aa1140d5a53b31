"""Gaussian facts of any sizes, and where the counts of those that fit cross one half."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import minimize

from assocmem.checks import require, require_flag, require_integer
from assocmem.experiments.frames import DataFrame
from assocmem.pairs.data import Facts
from assocmem.theory.facts_that_fit import facts_that_fit, fit_width

STRETCH = 0.25
"""Standard deviation of the logarithm of the width over the predicted one, before counts are seen."""


def gaussian_facts(d_in: int, d_out: int, m: int, n: int, *, seed: int, in_turn: bool = False) -> Facts:
    """Draw keys and targets with independent normal entries of variance one over the dimension, and answers.

    The first facts of a larger draw are the facts of a smaller one, and the targets do not depend on n.

    Parameters
    ----------
    d_in, d_out : int
        Dimensions of keys and of targets.
    m, n : int
        Numbers of targets, at least 2, and of facts.
    seed : int
        Nonnegative.
    in_turn : bool
        Whether targets are answers in turn, so that all are equally often; otherwise each answer is drawn.

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    for name, value, least in (("d_in", d_in, 1), ("d_out", d_out, 1), ("m", m, 2), ("n", n, 1)):
        require_integer(name, value, least)
    require_integer("seed", seed, 0)
    require_flag("in_turn", in_turn)
    targets, keys, choice = map(np.random.default_rng, np.random.SeedSequence(int(seed)).spawn(3))
    # drawn a column after another, so that more facts begin with the same ones
    U = targets.standard_normal((int(m), int(d_out))).T / math.sqrt(d_out)
    V = keys.standard_normal((int(n), int(d_in))).T / math.sqrt(d_in)
    answers = np.arange(n) % m if in_turn else choice.integers(0, m, int(n))
    return Facts(np.ascontiguousarray(U), np.ascontiguousarray(V), torch.from_numpy(answers))


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
    n, successes, trials = (np.asarray(x, dtype=float) for x in (n, successes, trials))
    mixed = 0 < successes.sum() < trials.sum()
    require(mixed, "successes", successes.tolist(), "neither all 0 nor all equal to trials")
    predicted, width = facts_that_fit(d_in, d_out, m, k), fit_width(d_in, d_out, m, k)

    def surprise(x):
        z = (predicted + x[0] * width - n) / (width * math.exp(x[1]))
        counted = successes @ special.log_ndtr(z) + (trials - successes) @ special.log_ndtr(-z)
        return 0.5 * (x[1] / STRETCH) ** 2 - counted

    shares = successes / np.maximum(trials, 1)
    start = [(n[np.argmin(np.abs(shares - 0.5))] - predicted) / width, 0.0]
    x = minimize(surprise, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9}).x
    e = 0.01 * np.eye(2)
    differences = [
        [surprise(x + a + b) - surprise(x + a - b) - surprise(x - a + b) + surprise(x - a - b) for a in e]
        for b in e
    ]
    error, stretch_error = np.sqrt(np.diag(np.linalg.inv(np.array(differences) / (4 * 0.01**2))))
    stretch = math.exp(x[1])
    half = predicted + x[0] * width
    return FactTransition(
        float(half), float(error * width), stretch, float(stretch * stretch_error), predicted
    )
