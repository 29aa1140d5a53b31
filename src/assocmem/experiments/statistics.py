"""Lines, polynomials in 1/d and powers of d through measurements, by weighted least squares."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assocmem.checks import require, require_number, require_numbers

TINY = 1e-300
"""Size in place of none at all, of which there is no logarithm."""
LITTLE = 1e-6
"""What is left of a size without one of its instances, at least, for the error of its logarithm."""


@dataclass(frozen=True)
class Line:
    """A straight line through points, by least squares.

    Attributes
    ----------
    slope, intercept : float
    slope_error : float
        Standard error, from the errors of the points or else their scatter; 0 for a slope that was given.
    """

    slope: float
    intercept: float
    slope_error: float


def line_through(
    x: ArrayLike, y: ArrayLike, error: ArrayLike | None = None, slope: float | None = None
) -> Line:
    """Least-squares line through at least three points, of any slope or of a given one.

    Parameters
    ----------
    x, y : array, shape (m,)
    error : array, shape (m,), optional
        Standard errors of y, whose inverse squares are the weights.
    slope : float, optional

    Returns
    -------
    Line

    Raises
    ------
    ValueError
        For less than three points.
    """
    require_numbers("x", x)
    require_numbers("y", y)
    require(np.ndim(x) == 1 and np.shape(x) == np.shape(y), "y", y, "a vector as long as x")
    if error is not None:
        require_numbers("error", error, 0)
    if slope is not None:
        require_number("slope", slope)
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    require(len(x) >= 3, "x", f"{len(x)} points", "at least 3")
    weights = np.ones(len(x)) if error is None else 1 / np.asarray(error, dtype=float) ** 2
    mean_x, mean_y = np.average(x, weights=weights), np.average(y, weights=weights)
    if slope is not None:
        return Line(float(slope), float(mean_y - slope * mean_x), 0.0)
    spread = (weights * (x - mean_x) ** 2).sum()
    slope = (weights * (x - mean_x) * y).sum() / spread
    squares = (y - mean_y - slope * (x - mean_x)) ** 2
    variance = squares.sum() / (len(x) - 2) if error is None else 1.0
    return Line(float(slope), float(mean_y - slope * mean_x), math.sqrt(variance / spread))


def through_inverse(
    d: ArrayLike, mean: ArrayLike, error: ArrayLike, degree: int = 1
) -> tuple[np.ndarray, float]:
    """Polynomial in 1/d through measurements; its last coefficient is their limit at infinite d.

    Parameters
    ----------
    d, mean, error : array, shape (m,)
        Dimensions, means, and their standard errors, whose inverse squares are the weights.
    degree : int
        Less than m.

    Returns
    -------
    polynomial : ndarray, shape (degree + 1,)
        As for `numpy.polyval`, in 1/d.
    error : float
        Standard error of the limit, if the corrections are such a polynomial.

    Raises
    ------
    ValueError
        For too few dimensions or an error that is not positive.
    """
    d, mean, error = (np.asarray(x, dtype=float) for x in (d, mean, error))
    require(len(d) > degree, "d", f"{len(d)} dimensions", f"at least {degree + 1}")
    require(bool(np.all(error > 0)), "error", error.tolist(), "positive")
    polynomial, covariance = _polynomial(1 / d, mean, error, degree)
    return polynomial, float(np.sqrt(covariance[-1, -1]))


def pooled_errors(d: ArrayLike, groups: Sequence[ArrayLike]) -> np.ndarray:
    """Standard errors of the means of groups whose scatter falls like 1/d, estimated from all together.

    Parameters
    ----------
    d : array, shape (m,)
        Dimensions.
    groups : sequence of m arrays
        Measurements at each; a single one has no scatter of its own.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    ValueError
        If no group has two members.
    """
    d, sizes = np.asarray(d, dtype=float), np.array([len(group) for group in groups])
    require(bool(np.any(sizes > 1)), "groups", sizes.tolist(), "at least one with two members")
    squares = sum(x**2 * np.sum((np.asarray(g) - np.mean(g)) ** 2) for x, g in zip(d, groups, strict=True))
    return np.sqrt(squares / np.sum(sizes - 1) / sizes) / d


@dataclass(frozen=True)
class PowerLaw:
    """A fit ``size = factor d^exponent``.

    Attributes
    ----------
    d, size, error : ndarray, shape (m,)
        Dimensions, root mean squares of the sizes there, and their relative standard errors.
    exponent, deviation, factor : float
        The fitted exponent, its standard error, and the factor.
    """

    d: np.ndarray
    size: np.ndarray
    error: np.ndarray
    exponent: float
    deviation: float
    factor: float

    def __call__(self, d: ArrayLike) -> np.ndarray:
        """The fitted size at dimension d."""
        return self.factor * np.asarray(d, dtype=float) ** self.exponent


def power_law(groups: Mapping[int, ArrayLike], *, spread: bool = False) -> PowerLaw:
    """Fit a power of d to sizes measured on several instances of each dimension.

    The logarithms of the root mean squares are fitted by weighted least squares. Their errors come from
    leaving out one instance at a time, for an instance the same in all dimensions, since a few instances may
    all be small by chance; the error of the exponent grows with a misfit beyond them.

    Parameters
    ----------
    groups : dict of int to array
        Sizes on the instances of each dimension, at least two instances and three dimensions.
    spread : bool
        Whether the size is the standard deviation over the instances instead.

    Returns
    -------
    PowerLaw

    Raises
    ------
    ValueError
        For too few instances or dimensions, or sizes that are not finite or all zero.
    """
    require(len(groups) >= 3, "groups", f"{len(groups)} dimensions", "at least three")
    d, points = np.array(sorted(groups), dtype=float), []
    for dimension in sorted(groups):
        x = np.asarray(groups[dimension], dtype=float)
        require(len(x) >= (3 if spread else 2), "groups", f"{len(x)} instances at d = {dimension}", "more")
        require(bool(np.isfinite(x).all() and np.any(x)), "groups", x.tolist(), "finite and not all zero")
        points.append(_log_size(x, spread))
    (log_size, variance), instances = np.array(points).T, np.array([len(groups[x]) for x in d])
    error = np.sqrt(np.average(variance, weights=instances) / instances).clip(1e-12)
    (slope, constant), covariance = _polynomial(np.log(d), log_size, error, 1)
    misfit = np.sum(((log_size - constant - slope * np.log(d)) / error) ** 2) / (len(d) - 2)
    deviation = np.sqrt(covariance[0, 0] * max(1.0, misfit))
    return PowerLaw(d, np.exp(log_size), error, float(slope), float(deviation), float(np.exp(constant)))


def _polynomial(x, y, error, degree):
    """Polynomial through points with known errors, as for `numpy.polyval`, and its covariance."""
    return np.polyfit(x, y, degree, w=1 / error, cov="unscaled")


def _log_size(x, spread):
    """Log of the root mean square or standard deviation of a sample, and its variance for one instance."""
    size = (lambda y: np.std(y, ddof=1)) if spread else (lambda y: np.sqrt(np.mean(y**2)))
    whole = max(size(x), TINY)
    # One instance may be all that has a size: without it nothing would be left to take a logarithm of.
    left_out = np.log([max(size(np.delete(x, i)), LITTLE * whole) for i in range(len(x))])
    return np.log(whole), (len(x) - 1) * np.sum((left_out - left_out.mean()) ** 2)
