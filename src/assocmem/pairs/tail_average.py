"""The tail average of any vector: the mean of its largest entries, and its smoothing.

Written for clarity and batches of moderate size; the fitting engine has its own fast form in
`assocmem.training.losses`.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from assocmem.checks import require, require_number, require_numbers
from assocmem.pairs.sizes import tail_count

SHARPEST = 1e100
"""Inverse width of a smoothing above which squares of its curvature might overflow."""

MOST_HALVINGS = 1100
"""Enough to halve an interval of length 2^26 down to the smallest float, 2^-1074, as for a threshold at zero;
elsewhere some sixty halvings leave two neighbouring floats."""

LARGEST = 1e300
"""Bound on entries, on beta, on its inverse and on their product: what is computed from them still fits."""


def tail_average(x: ArrayLike, r: float) -> np.ndarray | float:
    """Mean of the ``k = ceil(r m)`` largest of m entries (eq. ``tam-def``); the maximum for k = 1.

    In finance this is the empirical conditional value-at-risk.

    Parameters
    ----------
    x : array_like, shape (..., m)
    r : float
        Tail fraction in (0, 1].

    Returns
    -------
    ndarray, shape (...), or float

    Raises
    ------
    ValueError
        For a fraction out of range or a vector that is empty or not finite.
    """
    x = _entries(x)
    k = tail_count(r, x.shape[-1])
    return np.partition(x, -k, axis=-1)[..., -k:].mean(axis=-1)[()]


def smoothed_tail_average(x: ArrayLike, r: float, beta: float) -> np.ndarray | float:
    """``min_mu { mu + sum_j softplus(beta (x_j - mu)) / (beta k) }`` (eq. ``sTAM``).

    At least the tail average and at most ``log(2) m / (beta k)`` above it. For r = 1 the infimum is the mean.

    Parameters
    ----------
    x : array_like, shape (..., m)
    r : float
        Tail fraction in (0, 1].
    beta : float
        Inverse width of the smoothing, positive.

    Returns
    -------
    ndarray, shape (...), or float

    Raises
    ------
    ValueError
        For a parameter out of range or a vector that is empty or not finite.
    """
    x = _entries(x)
    mu = smoothed_threshold(x, r, beta)
    k = tail_count(r, x.shape[-1])
    if k == x.shape[-1]:
        return x.mean(axis=-1)[()]
    z = beta * (x - np.asarray(mu)[..., None])
    return (mu + np.logaddexp(0, z).sum(axis=-1) / (beta * k))[()]


def smoothed_threshold(x: ArrayLike, r: float, beta: float) -> np.ndarray | float:
    """The minimiser in eq. ``sTAM``: where ``sum_j sigmoid(beta (x_j - mu)) = k``; ``-inf`` for r = 1.

    By bisection, to the last digit, of all vectors at once.

    Parameters
    ----------
    x : array_like, shape (..., m)
    r, beta : float
        As for `smoothed_tail_average`.

    Returns
    -------
    ndarray, shape (...), or float

    Raises
    ------
    ValueError
        For a parameter out of range or a vector that is empty or not finite.
    """
    x = _entries(x)
    require_number("beta", beta, 0)
    fits = 1 / LARGEST <= beta <= LARGEST / max(1.0, float(np.abs(x).max()))
    require(fits, "beta", beta, f"such that it, its inverse and its product with x are at most {LARGEST:g}")
    m = x.shape[-1]
    k = tail_count(r, m)
    if k == m:
        return np.full(x.shape[:-1], -np.inf)[()]
    # If every entry were at the largest, or every one at the smallest, the equation would have a closed form.
    reach = special.logit(k / m) / beta
    low, high = x.min(axis=-1) - reach, x.max(axis=-1) - reach
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (low + high)
        if np.all((middle <= low) | (middle >= high)):
            break
        above = special.expit(beta * (x - middle[..., None])).sum(axis=-1) > k
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return middle[()]


def smoothed_gradient(x: ArrayLike, r: float, beta: float) -> np.ndarray:
    """Gradient ``q / k`` of the smoothed tail average (Lemma ``tail-derivatives``).

    Here ``q = sigmoid(beta (x - mu))``.

    Parameters
    ----------
    x : array_like, shape (..., m)
    r, beta : float
        As for `smoothed_tail_average`.

    Returns
    -------
    ndarray, shape (..., m)
        Nonnegative; sums to one over the last axis.

    Raises
    ------
    ValueError
        For a parameter out of range or a vector that is empty or not finite.
    """
    x = _entries(x)
    mu = np.asarray(smoothed_threshold(x, r, beta))
    return special.expit(beta * (x - mu[..., None])) / tail_count(r, x.shape[-1])


def smoothed_hessian(x: ArrayLike, r: float, beta: float) -> np.ndarray:
    """Hessian ``diag(C) - C C' / sum(C)`` of the smoothed tail average (Lemma ``tail-derivatives``).

    Here ``C = beta q (1 - q) / k`` with the q of `smoothed_gradient`. The second term is there because the
    threshold moves with the entries.

    Parameters
    ----------
    x : array_like, shape (..., m)
    r, beta : float
        As for `smoothed_tail_average`.

    Returns
    -------
    ndarray, shape (..., m, m)

    Raises
    ------
    ValueError
        For a parameter out of range or a vector that is empty or not finite.
    """
    x = _entries(x)
    require_number("beta", beta, 0, SHARPEST)
    k = tail_count(r, x.shape[-1])
    q = k * smoothed_gradient(x, r, beta)
    C = beta * q * (1 - q) / k
    total = np.maximum(C.sum(axis=-1), np.finfo(float).tiny)[..., None, None]
    return C[..., None] * np.eye(x.shape[-1]) - C[..., None] * C[..., None, :] / total


def _entries(x):
    """Vectors as an array of floats, checked."""
    require_numbers("x", x)
    x = np.asarray(x, dtype=float)
    require(x.ndim >= 1, "x", x.shape, "at least one entry along the last axis")
    largest = float(np.abs(x).max(initial=0.0))
    require(largest <= LARGEST, "x", f"an array with an entry of size {largest:g}", f"at most {LARGEST:g}")
    return x
