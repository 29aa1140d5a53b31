"""Measurements at several dimensions followed to infinite dimension, and the evidence that their limits make.

The fits are those of `assocmem.experiments.statistics`; here they are applied to tables of instances.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assocmem.experiments.statistics import pooled_errors, through_inverse
from assocmem.experiments.tail_average.phase import ByDimension

ERRORS = 4
"""Standard errors that a limit may be off in a check: one in some ten thousand is, by chance."""


@dataclass(frozen=True)
class Limit:
    """A polynomial in 1/d through means, and its value at infinite d.

    Attributes
    ----------
    polynomial : ndarray, shape (degree + 1,)
        As for `numpy.polyval`, in 1/d.
    error : float
        Standard error of the limit.
    """

    polynomial: np.ndarray
    error: float

    @property
    def value(self) -> float:
        """The limit."""
        return self.polynomial[-1]


def extrapolate(d: ArrayLike, x: np.ndarray, degree: int = 2) -> Limit:
    """Follow means over instances to infinite dimension.

    Parameters
    ----------
    d : array_like, shape (m,)
        Dimensions, at least three.
    x : ndarray, shape (m, instances)
        A measurement on each instance.
    degree : int
        Of the polynomial in 1/d, lowered to ``m - 2`` where there are few dimensions.

    Returns
    -------
    Limit
        Where all instances of a dimension came out alike, their scatter is not known: it is taken to be as
        large as that of the others, and as one where all are alike, which no check will take for evidence.
    """
    error = x.std(axis=1, ddof=1) / math.sqrt(x.shape[1])
    alike = np.ptp(x, axis=1) == 0
    error[alike] = error[~alike].max(initial=0.0) or 1.0
    return Limit(*through_inverse(d, x.mean(axis=1), error, min(degree, len(x) - 2)))


def extrapolate_pooled(groups: dict[int, np.ndarray], degree: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Follow columns of numbers to infinite dimension where some dimensions have very few instances.

    Parameters
    ----------
    groups : dict of int to ndarray, shape (instances, measurements)
        By dimension. The scatter between instances is taken to fall like 1/d, see `pooled_errors`.
    degree : int
        Of the polynomials in 1/d.

    Returns
    -------
    limits, errors : ndarray, shape (measurements,)
        Limits and their standard errors.
    """
    d = list(groups)
    found = [
        through_inverse(
            d,
            [x[:, k].mean() for x in groups.values()],
            pooled_errors(d, [x[:, k] for x in groups.values()]),
            degree,
        )
        for k in range(next(iter(groups.values())).shape[1])
    ]
    return np.array([p[-1] for p, _ in found]), np.array([e for _, e in found])


def boundary_ratio(points: ByDimension) -> tuple[float, float]:
    """Limit of measured boundaries over the predicted ones, where the power of d is not known.

    The ratio is followed as a line in 1/d and as one in ``d^-1/2``.

    Parameters
    ----------
    points : ByDimension

    Returns
    -------
    limit : float
        By the first line.
    uncertainty : float
        Four standard errors, and the distance between the two lines.
    """
    ratio, error = points.load / points.predicted, points.error / points.predicted
    fast, spread = through_inverse(points.d, ratio, error)
    slow, _ = through_inverse(np.sqrt(points.d), ratio, error)
    return fast[-1], ERRORS * spread + abs(fast[-1] - slow[-1])


def limit_evidence(
    claim: str,
    what: str,
    limits: Sequence[Limit],
    *,
    kind: str,
    predicted: ArrayLike,
    falsehood: tuple[str, ArrayLike],
    caveat: str = "",
) -> dict:
    """What a check compares: limits with their predictions, at four standard errors.

    Parameters
    ----------
    claim, what : str
        Id of the statement, and what was measured.
    limits : sequence of Limit
    kind : str
        What the measurements rest on, as for `assocmem.book.claims.check`.
    predicted : array_like
        A number, or one for each limit.
    falsehood : tuple of str and array_like
        A wrong claim, and what it predicts.
    caveat : str
        Where the statement bites only under conditions worth stating.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    return {
        "claim": claim,
        "what": what,
        "kind": kind,
        "measured": [limit.value for limit in limits],
        "predicted": predicted,
        "tolerance": [ERRORS * limit.error for limit in limits],
        "falsehood": falsehood,
        "limits": caveat,
    }


def decay_exponent(
    d: ArrayLike,
    x: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    seed: int,
    resamples: int = 400,
) -> tuple[float, float, float]:
    """The e of a statistic that falls like ``d^-e``, with a 90% interval over resampled instances.

    Parameters
    ----------
    d : array_like, shape (m,)
    x : ndarray, shape (m, instances)
        A measurement on each instance.
    statistic : callable
        From an array like ``x`` to its values at the dimensions, positive.
    seed : int
        Of the resampling, for an instance the same at all dimensions.
    resamples : int

    Returns
    -------
    exponent, low, high : float
        The exponent, and the ends of the interval.
    """
    instances = x.shape[1]
    resampled = np.random.default_rng(seed).integers(instances, size=(resamples, instances))
    slopes = [
        -np.polyfit(np.log(d), np.log(statistic(x[:, i])), 1)[0] for i in (np.arange(instances), *resampled)
    ]
    low, high = np.quantile(slopes[1:], [0.05, 0.95])
    return slopes[0], low, high
