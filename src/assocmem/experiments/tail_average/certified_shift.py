"""How far certified transitions at fixed tail fractions lie below the kinematic ones, and how that falls.

All sizes and tail fractions are fitted together, by the likelihood of their counts. The transition at each
has the shape of the kinematic prediction, with one width over the predicted one for all. It lies below the
kinematic one by a factor, one for each tail fraction or one for all, times a given *law*: a power of the
dimension, or what the lengths of targets cost. Two laws are compared by their likelihoods.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special
from scipy.optimize import brentq, minimize, minimize_scalar

from assocmem.checks import require, require_integer, require_number, require_numbers
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.near_half import near_half
from assocmem.experiments.transitions import second_differences, tally
from assocmem.pairs.sizes import tail_count
from assocmem.theory.kinematics import LARGEST_CORRECTED, log_probabilities, pooled_moments
from assocmem.theory.tail_lengths import simulated_cost

QUANTILE = 3.841
"""Of twice a difference of log-likelihoods, for one parameter: 95 per cent of them are less, by chance."""
USUAL = 0.03
"""Shift over the kinematic value, roughly: the unit in which factors are searched for."""
STEEPEST = 3.0
"""Powers are looked for from minus this to this."""
SCORES = 600_000
"""Scores that are drawn for the cost of lengths at one size."""
FEWEST_DRAWS, MOST_DRAWS = 300, 4000
"""Draws for that cost at least and at most."""


@dataclass(frozen=True)
class Counts:
    """Verdicts near the transition of one size and tail fraction.

    Attributes
    ----------
    r : float
    n, k : int
        Pairs, and competitors in the tail.
    d, yes, decided : ndarray, shape (m,)
        Dimensions, and how many of how many instances were satisfiable at each.
    kinematic : float
        The kinematic ``d^2 / n``.
    """

    r: float
    n: int
    k: int
    d: np.ndarray
    yes: np.ndarray
    decided: np.ndarray
    kinematic: float

    @property
    def dimension(self) -> float:
        """The kinematic critical dimension."""
        return math.sqrt(self.n * self.kinematic)


@dataclass(frozen=True)
class ShiftFit:
    """A law times factors, fitted to all counts.

    Attributes
    ----------
    factors, errors : ndarray, shape (m,)
        One for each tail fraction, from small to large, or one for all; with their standard errors.
    stretch : float
        Width over the predicted one.
    surprise : float
        Minus the logarithm of the likelihood.
    """

    factors: np.ndarray
    errors: np.ndarray
    stretch: float
    surprise: float


def counts_near_half(table: DataFrame) -> list[Counts]:
    """Verdicts at the dimensions that say where a transition is.

    Parameters
    ----------
    table : DataFrame
        Columns ``r``, ``n``, ``d`` and ``feasible``; one row an instance.

    Returns
    -------
    list of Counts
        By tail fraction and size, from small to large. Dimensions more than 2.5 predicted widths from the one
        whose share is closest to one half are left out, and sizes all of whose instances came out alike.
    """
    found = []
    for r, rows in table.groupby("r"):
        found += [_near_half(float(r), n, tail_count(float(r), n - 1), *x) for n, x in tally(rows).items()]
    return _of_both_kinds(found)


def tails_near_half(table: DataFrame) -> list[Counts]:
    """The same of a table that tells tails by their number of competitors.

    Parameters
    ----------
    table : DataFrame
        Columns ``n``, ``k``, ``d`` and ``feasible``; one row an instance.

    Returns
    -------
    list of Counts
        By size and tail, from small to large; ``r`` is ``k / (n - 1)``.
    """
    found = []
    for k, rows in table.groupby("k"):
        found += [_near_half(int(k) / (n - 1), n, int(k), *x) for n, x in tally(rows).items()]
    return sorted(_of_both_kinds(found), key=lambda x: (x.n, x.k))


def _near_half(r, n, k, *counted):
    """Counts of one size and tail at the dimensions that say where its transition is."""
    d, yes, decided = near_half(n, *counted, k)
    return Counts(r, n, k, d, yes, decided, pooled_moments(n, k)[0])


def _of_both_kinds(found):
    """Those whose instances did not all come out alike, by tail fraction and size."""
    kept = [x for x in found if 0 < x.yes.sum() < x.decided.sum()]
    return sorted(kept, key=lambda x: (x.r, x.n))


def power_law(counts: Sequence[Counts], power: float, logs: float = 0.0) -> np.ndarray:
    """The law ``(log d)^logs / d^power`` of the relative shift, in ``d^2 / n``.

    Parameters
    ----------
    counts : sequence of Counts
    power, logs : float

    Returns
    -------
    ndarray, shape (m,)
        One number for each of the counts.
    """
    require_number("power", power, -20, 20)
    require_number("logs", logs, -20, 20)
    d = np.array([x.dimension for x in counts])
    return np.array([x.kinematic for x in counts]) * np.log(d) ** logs / d**power


def length_costs(counts: Sequence[Counts], *, seed: int, scores: int = SCORES) -> np.ndarray:
    """What the lengths of targets cost at each of the counts, in ``d^2 / n``, to two per cent or so.

    Parameters
    ----------
    counts : sequence of Counts
    seed : int
    scores : int
        How many are drawn for each, roughly: with fewer than the usual number, costs are less exact.

    Returns
    -------
    ndarray, shape (m,)
    """
    require_integer("seed", seed, 0)
    require_integer("scores", scores, 1)
    draws = [min(MOST_DRAWS, max(FEWEST_DRAWS, scores // x.n)) for x in counts]
    found = [
        simulated_cost(x.n, x.k, x.dimension, draws=m, seed=seed) for x, m in zip(counts, draws, strict=True)
    ]
    return np.array([cost for cost, _ in found])


def fit_shift(counts: Sequence[Counts], law: np.ndarray, *, together: bool = False) -> ShiftFit:
    """Factors of a law and the width that make counts most likely.

    Parameters
    ----------
    counts : sequence of Counts
    law : ndarray, shape (m,)
        Positive, one number for each of the counts: the shift is minus a factor times it.
    together : bool
        One factor for all tail fractions.

    Returns
    -------
    ShiftFit

    Raises
    ------
    ValueError
        For no counts, or a law that is not one number for each.
    """
    require(len(counts) > 0, "counts", len(counts), "one or more")
    require_numbers("law", law, 0)
    require(np.shape(law) == (len(counts),), "law", np.shape(law), f"of shape ({len(counts)},)")
    fractions = np.unique([x.r for x in counts])
    owner = [0 if together else int(np.searchsorted(fractions, x.r)) for x in counts]
    unit = USUAL / float(np.mean(np.asarray(law) / [x.kinematic for x in counts]))  # factors of order one

    surprises = _surprises(counts)

    def surprise(x):
        return surprises(-x[owner] * unit * np.asarray(law), math.exp(x[-1]))

    start = np.append(np.ones(max(owner) + 1), -0.1)
    found = minimize(surprise, start, method="BFGS", options={"gtol": 1e-3})
    spread = np.sqrt(np.diag(np.linalg.inv(second_differences(surprise, found.x, 0.02))))
    return ShiftFit(found.x[:-1] * unit, spread[:-1] * unit, math.exp(found.x[-1]), float(found.fun))


def _surprises(counts):
    """The function of all shifts and the stretch that is minus the logarithm of the likelihood of counts.

    It is the sum over `assocmem.theory.kinematics.log_probabilities` of all, at once: fits ask for it
    thousands of times.
    """
    n, mean, variance = np.array([(x.n, *pooled_moments(x.n, x.k)) for x in counts]).T
    # In the middle of a transition the correction for skewness is all that is left.
    middle = [
        log_probabilities(x.n, math.sqrt(x.n * m), x.k, 0.0)[0] for x, m in zip(counts, mean, strict=True)
    ]
    skewness, width = special.ndtri_exp(middle), np.sqrt(n * variance)
    which = np.repeat(np.arange(len(counts)), [len(x.d) for x in counts])
    squared, yes, no = (
        np.concatenate(x) for x in zip(*((x.d**2, x.yes, x.decided - x.yes) for x in counts), strict=True)
    )

    def surprise(shifts, stretch):
        z = (squared - (n * (mean + shifts))[which]) / width[which] / stretch
        z = z - skewness[which] * (np.minimum(z**2, LARGEST_CORRECTED) - 1)
        return -float(yes @ special.log_ndtr(z) + no @ special.log_ndtr(-z))

    return surprise


def as_expected(counts: Sequence[Counts], law: np.ndarray, fit: ShiftFit) -> list[Counts]:
    """Counts that are what a fitted law expects on average: what else would be found if the law were true.

    Parameters
    ----------
    counts : sequence of Counts
        Their sizes, dimensions and numbers of instances are kept.
    law : ndarray, shape (m,)
    fit : ShiftFit
        Of this law, with one factor for all or one for each tail fraction.

    Returns
    -------
    list of Counts
        With numbers that are not whole.

    Raises
    ------
    ValueError
        For a law that is not one number for each of the counts.
    """
    require_numbers("law", law, 0)
    require(np.shape(law) == (len(counts),), "law", np.shape(law), f"of shape ({len(counts)},)")
    fractions = np.unique([x.r for x in counts])
    factors = np.broadcast_to(fit.factors, fractions.shape)
    found = []
    for mine, size in zip(counts, law, strict=True):
        shift = -float(factors[np.searchsorted(fractions, mine.r)] * size)
        yes = np.exp(log_probabilities(mine.n, mine.d, mine.k, shift, fit.stretch)[0])
        found.append(replace(mine, yes=mine.decided * yes))
    return found


@dataclass(frozen=True)
class PowerOfD:
    """A power of d with its 95% interval.

    Attributes
    ----------
    power, low, high : float
    fit : ShiftFit
        With the power that is most likely.
    """

    power: float
    low: float
    high: float
    fit: ShiftFit


def free_power(counts: Sequence[Counts], law: np.ndarray, *, together: bool = False) -> PowerOfD:
    """The power of 1/d by which a law would have to fall faster for the counts to be most likely.

    Parameters
    ----------
    counts : sequence of Counts
    law : ndarray, shape (m,)
        As for `fit_shift`; that of power zero, or another that is to be tested.
    together : bool
        One factor for all tail fractions.

    Returns
    -------
    PowerOfD
        The interval holds all powers whose log-likelihood is within 1.92 of the largest.
    """
    d = np.array([x.dimension for x in counts])

    def surprise(power):
        return fit_shift(counts, law / d**power, together=together).surprise

    found = minimize_scalar(surprise, bounds=(-STEEPEST, STEEPEST), method="bounded", options={"xatol": 1e-3})
    beyond = lambda power: 2 * (surprise(power) - found.fun) - QUANTILE  # noqa: E731
    ends = [
        brentq(beyond, found.x, end, xtol=1e-3) if beyond(end) > 0 else end for end in (-STEEPEST, STEEPEST)
    ]
    fit = fit_shift(counts, law / d**found.x, together=together)
    return PowerOfD(float(found.x), float(ends[0]), float(ends[1]), fit)
