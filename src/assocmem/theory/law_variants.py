"""Laws with one thing in them replaced: what memories are compared with, and what they must contradict."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from assocmem.checks import (
    SCALES,
    require,
    require_instance,
    require_integer,
    require_number,
    require_numbers,
)
from assocmem.pairs.sizes import LARGEST_DIMENSION
from assocmem.theory.finite_dimension import LawsAtSize
from assocmem.theory.laws import Law
from assocmem.theory.ridgeless import sat_edge
from assocmem.theory.scalar import ScalarSolution, scalar_tail_average

MOST_LEVELS = 10**8
"""Levels of a distribution function at most, which take 800 MB."""


def with_numbers(solution: ScalarSolution, nu: float, chi: float) -> ScalarSolution:
    """The laws of the theory at the norm scale and susceptibility of finite memories (Proposition 7).

    Parameters
    ----------
    solution : ScalarSolution
        Of a single point.
    nu, chi : float
        What takes the place of its limits.

    Returns
    -------
    ScalarSolution
        With the tail average and threshold that belong to ``nu``; its loss and residual are those of before.

    Raises
    ------
    ValueError
        For a number that is not positive, or a solution of several points.
    """
    require_instance("solution", solution, ScalarSolution)
    require(np.ndim(solution.nu) == 0, "solution", f"{np.size(solution.nu)} points", "of a single point")
    require_number("nu", nu, *SCALES, ends="[]")
    require_number("chi", chi, *SCALES, ends="[]")
    c, mu, _ = scalar_tail_average(nu, solution.r, solution.beta)
    return replace(solution, nu=nu, chi=chi, c=c, mu=mu)


@dataclass(frozen=True)
class NormalTwin:
    """The normal law with the mean and variance of another.

    Attributes
    ----------
    mean, deviation : float
        Mean and standard deviation.
    distance : float
        Largest difference of the two distribution functions.
    """

    mean: float
    deviation: float
    distance: float

    def cdf(self, t: np.ndarray) -> np.ndarray:
        """Probability of values at most t."""
        return special.ndtr((t - self.mean) / self.deviation)

    def quantile(self, p: np.ndarray) -> np.ndarray:
        """Inverse of `cdf`."""
        return self.mean + self.deviation * special.ndtri(p)


def middle_levels(size: int) -> np.ndarray:
    """Levels of a distribution function in the middles of equal parts of (0, 1).

    Quantiles at them are values of equal weight, with which averages over a law are taken.
    """
    require_integer("size", size, 1)
    require(size <= MOST_LEVELS, "size", size, f"at most {MOST_LEVELS}")
    return (np.arange(size) + 0.5) / size


def normal_twin(law: Law, levels: np.ndarray) -> NormalTwin:
    """The normal law with the same mean and variance as a law.

    Parameters
    ----------
    law : Law
    levels : ndarray, shape (m,)
        As from `middle_levels`.

    Returns
    -------
    NormalTwin

    Raises
    ------
    ValueError
        For what is no law, or levels outside (0, 1).
    """
    require_instance("law", law, Law)
    require_numbers("levels", levels, 0, 1)
    require(np.ndim(levels) == 1 and len(levels) > 1, "levels", levels, "a vector of at least two levels")
    levels = np.asarray(levels)
    x = law.quantile(levels)
    mean, deviation = x.mean(), x.std()
    return NormalTwin(mean, deviation, abs(special.ndtr((x - mean) / deviation) - levels).max())


def with_margins_along_lengths(law: LawsAtSize) -> LawsAtSize:
    """The laws if the whole signal of a key, its margin too, were proportional to the length ``|W v|``.

    In truth only the tail average of its competitors is.
    """
    require_instance("law", law, LawsAtSize)
    length = (law.signal - law.margin) / law.tail
    return replace(law, signal=law.signal + law.margin * (length - 1))


def without_tail_scatter(law: LawsAtSize, load: float, d: int) -> LawsAtSize:
    """The laws if the tail average of a sample of competitors were that of the normal law.

    Parameters
    ----------
    law : LawsAtSize
    load : float
        Below the critical load.
    d : int

    Returns
    -------
    LawsAtSize
        With the scatter of a share of ``load d^2`` independent competitors.

    Raises
    ------
    ValueError
        For a load or a dimension out of range.
    """
    require_instance("law", law, LawsAtSize)
    require_number("load", load)
    require_integer("d", d, 1)
    require(d < LARGEST_DIMENSION, "d", d, f"below {LARGEST_DIMENSION:g}")
    d = int(d)
    share = special.ndtr(sat_edge(load))
    return replace(law, scatter=math.sqrt(share * (1 - share) / (load * d**2)))
