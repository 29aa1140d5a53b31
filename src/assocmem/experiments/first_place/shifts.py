"""How far below the kinematic value the transition lies, and which law of that shift the counts allow.

At thousands of pairs a few instances at each dimension are all that there is, too few for a width of their
own. But the width over the predicted one is the same at every size as far as counts can tell, so that one
width is fitted to all of them together. With it the likelihood of a shift has one maximum, and its interval
is where the likelihood is not much smaller. Laws of the shift are fitted to the counts as well and not to
fitted shifts, so that nothing has to be normal.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq, minimize, minimize_scalar

from assocmem.checks import require, require_number
from assocmem.experiments.first_place.growth import ERRORS
from assocmem.experiments.near_half import near_half
from assocmem.experiments.transitions import Transition
from assocmem.theory.kinematics import log_probabilities, pooled_moments

Counts = Mapping[int, tuple[ArrayLike, ArrayLike, ArrayLike]]
"""By number of pairs: dimensions, and how many of how many instances were retrievable at each."""

STRETCHES = (0.2, 3.0)
"""Widths over the predicted one among which the common one is sought."""
DROP = 2.0
"""Loss of log-likelihood at the ends of an interval: that of a normal one at two standard errors."""
FURTHEST = 40.0
"""Distance in widths, from the dimensions that were tried, up to which the end of an interval is sought."""
STEP = 0.03
"""Of the second difference in the logarithm of the width."""
INFORMATION = 1.8063
"""What an instance at each unit of z says about the place, if it is retrievable with probability ``Phi(z)``:
the integral of ``phi^2 / (Phi (1 - Phi))``."""


@dataclass(frozen=True)
class CommonWidth:
    """One width over the predicted one, for all sizes.

    Attributes
    ----------
    stretch, error : float
        The width over the predicted one, by maximum likelihood, and its standard error.
    deviance : float
        Twice the log-likelihood that a width for each size would gain. If the width is common it follows
        the chi-squared distribution of so many degrees of freedom, or less where counts are few.
    freedom : int
        The number of sizes less one.
    """

    stretch: float
    error: float
    deviance: float
    freedom: int

    @property
    def probability(self) -> float:
        """Of a deviance as large, if the width is common."""
        return float(special.chdtrc(self.freedom, self.deviance)) if self.freedom else 1.0


@dataclass(frozen=True)
class Interval:
    """A shift of the transition, and where the likelihood allows it.

    Attributes
    ----------
    shift : float
        Of ``d^2 / n`` at one half from the kinematic value: the most likely one.
    low, high : float
        Where twice the log-likelihood has fallen by 4, which is two standard errors for a normal one.
    """

    shift: float
    low: float
    high: float


@dataclass(frozen=True)
class LawFit:
    """A law of the shift, fitted to counts.

    Attributes
    ----------
    coefficients, errors : ndarray, shape (m,)
        Of the terms of the law, and their standard errors.
    deviance : float
        Twice the log-likelihood that a free shift at each size would gain.
    freedom : int
        Number of sizes less that of coefficients.
    """

    coefficients: np.ndarray
    errors: np.ndarray
    deviance: float
    freedom: int

    @property
    def probability(self) -> float:
        """Of a deviance as large, if the law holds."""
        return float(special.chdtrc(self.freedom, self.deviance))


def common_width(counts: Counts) -> CommonWidth:
    """The width over the predicted one that all sizes share, and whether they do.

    Parameters
    ----------
    counts : mapping
        As from `assocmem.experiments.transitions.tally`, both outcomes at every size.

    Returns
    -------
    CommonWidth

    Raises
    ------
    ValueError
        If there is no size, or at one of them all instances came out alike.
    """
    require(len(counts) > 0, "counts", "{}", "counts at one size or more")
    sizes = [_Size(n, *count) for n, count in counts.items()]
    low, high = np.log(STRETCHES)

    def best(few):
        def surprise(x):
            return -sum(size.best(math.exp(x))[1] for size in few)

        found = minimize_scalar(surprise, bounds=(low, high), method="bounded", options={"xatol": 1e-5})
        return found.x, found.fun, surprise

    x, together, surprise = best(sizes)
    apart = sum(best([size])[1] for size in sizes) if len(sizes) > 1 else together
    curvature = (surprise(x + STEP) + surprise(x - STEP) - 2 * together) / STEP**2
    stretch = math.exp(x)
    error = stretch / math.sqrt(curvature) if curvature > 0 else math.inf
    return CommonWidth(stretch, error, max(0.0, 2 * (together - apart)), len(sizes) - 1)


def shift_interval(n: int, d: ArrayLike, successes: ArrayLike, trials: ArrayLike, stretch: float) -> Interval:
    """The shift at one size, given the width.

    Parameters
    ----------
    n, d, successes, trials
        As in `assocmem.experiments.transitions.transition`.
    stretch : float
        Width over the predicted one.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If all instances came out alike, or for a width that is not positive.
    """
    require_number("stretch", stretch, 0)
    size = _Size(n, d, successes, trials)
    shift, most = size.best(stretch)
    step = size.width * FURTHEST

    def lost(x):
        return most - size.likelihood(x, stretch) - DROP

    return Interval(shift, brentq(lost, shift - step, shift), brentq(lost, shift, shift + step))


def transitions_of_width(counts: Counts, width: CommonWidth) -> dict[int, Transition]:
    """Places of one half at all sizes, given their common width.

    Parameters
    ----------
    counts : mapping
        As in `common_width`.
    width : CommonWidth

    Returns
    -------
    dict of int to Transition
        Errors are a quarter of the interval of `shift_interval`.
    """
    found = {}
    for n, count in counts.items():
        near = shift_interval(n, *count, width.stretch)
        place = pooled_moments(n)[0] + near.shift
        found[n] = Transition(place, (near.high - near.low) / 4, width.stretch, width.error)
    return found


def fit_law(counts: Counts, terms: Mapping[int, ArrayLike], width: CommonWidth) -> LawFit:
    """Fit a law of the shift to the counts: a sum of terms that are known but for their coefficients.

    Parameters
    ----------
    counts : mapping
        As in `common_width`, of the sizes that the law is for.
    terms : mapping of int to sequence of m floats
        The terms at each size; none, m = 0, say that there is no shift.
    width : CommonWidth

    Returns
    -------
    LawFit

    Raises
    ------
    ValueError
        For a size without terms, more terms than sizes, or terms that the sizes do not tell apart.
    """
    missing = [n for n in counts if n not in terms]
    require(not missing, "terms", missing, "given at every size")
    matrix = np.array([np.atleast_1d(np.asarray(terms[n], dtype=float)) for n in counts])
    sizes, m = [_Size(n, *count) for n, count in counts.items()], matrix.shape[1]
    told_apart = m <= len(sizes) and np.linalg.matrix_rank(matrix) == m
    require(told_apart, "terms", f"{m} at {len(sizes)} sizes", "no more than the sizes tell apart")
    most = sum(size.best(width.stretch)[1] for size in sizes)

    def surprise(c):
        shifts = matrix @ c
        return -sum(s.likelihood(x, width.stretch) for s, x in zip(sizes, shifts, strict=True))

    if m == 0:
        return LawFit(np.zeros(0), np.zeros(0), max(0.0, 2 * (surprise(np.zeros(0)) + most)), len(sizes))
    near = [shift_interval(n, *count, width.stretch) for n, count in counts.items()]
    weights = np.array([4 / (x.high - x.low) for x in near])
    start = np.linalg.lstsq(weights[:, None] * matrix, weights * [x.shift for x in near], rcond=None)[0]
    spread = np.linalg.inv((weights[:, None] * matrix).T @ (weights[:, None] * matrix))
    steps = np.sqrt(np.diag(spread))
    scaled = minimize(lambda y: surprise(start + steps * y), np.zeros(m), method="BFGS")
    deviance = max(0.0, 2 * (scaled.fun + most))
    return LawFit(start + steps * scaled.x, steps, deviance, len(sizes) - m)


def instances_needed(n: float, difference: float, width: CommonWidth, errors: float = 3.0) -> float:
    """Instances at each dimension that tell two shifts apart, spread evenly over the transition.

    Parameters
    ----------
    n : float
        Number of pairs, in [2, 1e12].
    difference : float
        Of the two shifts, in ``d^2 / n``; positive.
    width : CommonWidth
    errors : float
        Standard errors that the difference is to be.

    Returns
    -------
    float
        From the information of counts that rise as a normal distribution function does.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_number("difference", difference, 0)
    require_number("errors", errors, 0)
    mean, variance = pooled_moments(n)
    spread = width.stretch * math.sqrt(variance / n)  # in d^2 / n
    dimension = 2 * math.sqrt(mean / n)  # what one dimension more is there
    return INFORMATION**-1 * dimension * spread * (errors / difference) ** 2


def coefficient_evidence(
    counts: Counts, costs: Mapping[int, float], width: CommonWidth, wrong: float, *, limits: str
) -> dict:
    """What a check of Conjecture 1 compares: the coefficient of ``log log n`` that fits all sizes best.

    The kinematic value has -3 of them. To its shift, a part of the cost of unequal lengths, a further
    multiple of ``log log n`` is added, and both are fitted to the counts.

    Parameters
    ----------
    counts : mapping
        As in `common_width`.
    costs : mapping of int to float
        What unequal lengths cost at each size.
    width : CommonWidth
    wrong : float
        Another coefficient, which is to be rejected.
    limits : str
        Conditions under which the statement bites.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The tolerance is four standard errors, and by how much
        the coefficient changes if the shift is taken to be the same at all sizes instead.
    """
    of_cost, of_constant = (
        fit_law(counts, {n: [term(n), math.log(math.log(n))] for n in counts}, width)
        for term in (lambda n: -costs[n], lambda n: -1.0)
    )
    further, error = of_cost.coefficients[1], of_cost.errors[1]
    return {
        "claim": "conjecture-1",
        "kind": "stored simulation",
        "what": r"coefficient of $\log\log n$ in the certified $d^2/n$ at one half, "
        f"fitted at {len(counts)} sizes from $n = {min(counts)}$ to ${max(counts)}$",
        "measured": -3 + further,
        "predicted": -3.0,
        "tolerance": ERRORS * error + abs(further - of_constant.coefficients[1]),
        "falsehood": (f"${wrong:g}$ in place of $-3$", wrong),
        "limits": limits,
        "axis": r"coefficient of $\log\log n$",
    }


class _Size:
    """Counts at one size, and the likelihood of a shift and a width."""

    def __init__(self, n, d, successes, trials):
        d, successes, trials = (np.asarray(x, dtype=float) for x in (d, successes, trials))
        tried = d[trials > 0], successes[trials > 0], trials[trials > 0]
        mixed = 0 < tried[1].sum() < tried[2].sum()
        require(mixed, "successes", tried[1].tolist(), "neither all 0 nor all equal to trials")
        near = near_half(n, *tried)
        far_apart = not 0 < near[1].sum() < near[2].sum()  # dimensions so far apart that one alone is near
        self.n = n
        self.d, self.successes, self.trials = tried if far_apart else near
        mean, variance = pooled_moments(n)
        self.width = math.sqrt(variance / n)
        places = self.d**2 / n - mean
        self.ends = places.min() - 3 * self.width, places.max() + 3 * self.width

    def likelihood(self, shift, stretch):
        """Logarithm of it, up to a constant."""
        yes, no = log_probabilities(self.n, self.d, 1, float(shift), stretch)
        return float(self.successes @ yes + (self.trials - self.successes) @ no)

    def best(self, stretch):
        """The most likely shift, and the logarithm of its likelihood."""
        found = minimize_scalar(
            lambda x: -self.likelihood(x, stretch),
            bounds=self.ends,
            method="bounded",
            options={"xatol": 1e-6 * self.width},
        )
        return float(found.x), float(-found.fun)
