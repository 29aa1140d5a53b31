"""Following a measurement to infinite dimension."""

import numpy as np

from assocmem.limits import require


def through_inverse(d, mean, error, degree=1):
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
    polynomial, covariance = np.polyfit(1 / d, mean, degree, w=1 / error, cov="unscaled")
    return polynomial, float(np.sqrt(covariance[-1, -1]))


def pooled_errors(d, groups):
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
