"""Least squares, ridge regression and whitening on both sides: noise at any ratio n / d, and half points.

``W = U V' (V V' + ridge I)^-1`` answers the query of key i by the answers of all keys, weighted by
``h_ki = v_k' (V V' + ridge I)^-1 v_i``. The *leverage* ``h_ii`` is the signal, but for the length of the
answer, and the others are weights of crosstalk. In the limit of large n and d at a fixed ratio
``c = n / d > 1`` the law of Marchenko and Pastur gives, with g the positive root of the equation
``ridge g^2 + (ridge + c - 1) g = 1``,

    h_ii = g / (1 + g)   and   sum over k != i of h_ki^2 = h - h^2 + ridge dh/d(ridge).

Without a ridge h is ``d / n``, and crosstalk has the variance ``(n - d) / d^2`` relative to the squared
signal, instead of ``n / d^2``: as if d of the pairs were stored for free. Of all functions of the spectrum of
``V V'`` it is the best for queries by the keys themselves. If noise of the spread s is added to a query, the
best ridge is ``c s^2``, as least squares for noisy keys has it, and the relative variance is ``1 / (g d)``.

Whitened on both sides, ``(U U')^-1 U V' (V V')^-1`` has scores that are products of two projections,
entry by entry, and crosstalk of the variance ``(n / d^2) (1 - d / n)^2``.

All of these tend to the constant 8, since ``d / n`` goes to zero; at sizes that can be run it does not.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from assocmem.checks import require, require_choice, require_number, require_numbers
from assocmem.theory.gaussian_keys import LEAST_SPREAD, LOG_NONE, half_point, log_failure, require_log_n

RULES = ("outer products", "least squares", "whitened")
"""Of which half points are compared."""

PLACES = ("query", "memory")
"""Where noise is."""

RATIOS = (1.0, 1e12)
"""Bounds of ``n / d``."""

RIDGES = (0.0, 1e12)
"""Bounds of a ridge, in units of the squared length of a key."""

NOISES = (0.0, 1e3)
"""Bounds of the spread of noise on a query, in units of the length of a key."""


def resolvent_trace(ratio: ArrayLike, ridge: ArrayLike = 0.0) -> np.ndarray | float:
    """Mean of ``v' (V V' + ridge I)^-1 v`` for a key v that is not among the n columns of V.

    Parameters
    ----------
    ratio : array_like
        ``n / d``, above 1.
    ridge : array_like
        Nonnegative; the eigenvalues of ``V V'`` are ``n / d`` on average.

    Returns
    -------
    ndarray or float
        Positive root g of ``ridge g^2 + (ridge + ratio - 1) g = 1``; ``1 / (ratio - 1)`` without a ridge.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_numbers("ratio", ratio, *RATIOS, ends="(]")
    require_numbers("ridge", ridge, *RIDGES, ends="[]")
    ratio, ridge = np.asarray(ratio, dtype=float), np.asarray(ridge, dtype=float)
    _require_shapes(ratio, ridge)
    b = ridge + ratio - 1
    return (2 / (b + np.sqrt(b**2 + 4 * ridge)))[()]


def leverage(ratio: ArrayLike, ridge: ArrayLike = 0.0) -> np.ndarray | float:
    """Mean leverage ``v_i' (V V' + ridge I)^-1 v_i`` of a key that is stored.

    Parameters
    ----------
    ratio, ridge : array_like
        As in `resolvent_trace`.

    Returns
    -------
    ndarray or float
        ``d / n`` without a ridge, less with one.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    g = np.asarray(resolvent_trace(ratio, ridge))
    return (g / (1 + g))[()]


def ridge_noise(ratio: ArrayLike, ridge: ArrayLike = 0.0, s: ArrayLike = 0.0) -> np.ndarray | float:
    """Variance of the noise on scores of ridge regression over the squared signal, times d.

    It has the crosstalk of other keys and, for a query ``v_i + s xi``, what xi brings in.

    Parameters
    ----------
    ratio, ridge : array_like
        As in `resolvent_trace`.
    s : array_like
        Spread of the noise on the query in units of a key, nonnegative.

    Returns
    -------
    ndarray or float
        ``ratio - 1`` for least squares without noise, ``ratio (1 + s^2)`` for a large ridge, which is the
        sum of outer products.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_numbers("s", s, *NOISES, ends="[]")
    g = np.asarray(resolvent_trace(ratio, ridge))
    ratio, ridge, s = (np.asarray(x, dtype=float) for x in (ratio, ridge, s))
    _require_shapes(g, s)
    # With w = -dh/d(ridge) it is (h - h^2 - ridge w + s^2 ratio w) / h^2, and g' follows from its equation.
    w_over_h2 = (g + 1) / (2 * ridge * g + ridge + ratio - 1) / g
    return (1 / g - ridge * w_over_h2 + s**2 * ratio * w_over_h2)[()]


def best_ridge(ratio: ArrayLike, s: ArrayLike) -> np.ndarray | float:
    """Ridge with the least noise on scores for queries with noise of the spread s: ``(n / d) s^2``.

    Parameters
    ----------
    ratio : array_like
        ``n / d``, above 1.
    s : array_like
        Nonnegative.

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_numbers("ratio", ratio, *RATIOS, ends="(]")
    require_numbers("s", s, *NOISES, ends="[]")
    ratio, s = np.asarray(ratio, dtype=float), np.asarray(s, dtype=float)
    _require_shapes(ratio, s)
    return (ratio * s**2)[()]


def best_ridge_noise(ratio: ArrayLike, s: ArrayLike) -> np.ndarray | float:
    """The noise of `ridge_noise` at the best ridge: ``1 / g``.

    Parameters
    ----------
    ratio : array_like
        ``n / d``, above 1.
    s : array_like
        Nonnegative.

    Returns
    -------
    ndarray or float
        Between ``ratio - 1`` and ``ratio (1 + s^2)``.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    best = np.minimum(best_ridge(ratio, s), RIDGES[1])
    return (1 / np.asarray(resolvent_trace(ratio, best)))[()]


def whitened_noise(ratio: ArrayLike) -> np.ndarray | float:
    """Crosstalk of the memory that is whitened on both sides over the squared signal, times d.

    Parameters
    ----------
    ratio : array_like
        ``n / d``, above 1.

    Returns
    -------
    ndarray or float
        ``ratio (1 - 1 / ratio)^2``.

    Raises
    ------
    ValueError
        For a ratio out of range.
    """
    require_numbers("ratio", ratio, *RATIOS, ends="(]")
    ratio = np.asarray(ratio, dtype=float)
    return ((ratio - 1) ** 2 / ratio)[()]


def noise_gain(ratio: ArrayLike, *, rule: str, on: str = "query") -> np.ndarray | float:
    """Variance that noise brings to a score over the squared signal, in units of ``s^2 n / d^2``.

    Noise on the query has the spread s in units of a key, noise on the memory in units of its norm scale for
    outer products: for that this is the square of the norm scale over that of the signal. With
    ``x = 1 / (1 - d/n)`` it is 1, x and x^2 for the three rules: whitening keeps crosstalk down and lets
    noise in. Noise on a query meets the answers that are stored, and whitened answers let less of it in:
    there it is ``1 + d/n``, ``(1 + d/n) x`` and x.

    Parameters
    ----------
    ratio : array_like
        ``n / d``, above 1.
    rule : str
        As in `score_spreads`.
    on : str
        ``"query"`` or ``"memory"``.

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_numbers("ratio", ratio, *RATIOS, ends="(]")
    require_choice("rule", rule, RULES)
    require_choice("on", on, PLACES)
    y = 1 / np.asarray(ratio, dtype=float)
    gain = (1 - y) ** -float(RULES.index(rule))
    if on == "query":
        gain = gain * ((1 - y) if rule == "whitened" else (1 + y))
    return gain[()]


def score_spreads(n: float, d: float, *, rule: str) -> tuple[float, float, float]:
    """Spreads of a signal and of a competitor in units of the mean signal, with the terms of order 1/d.

    Besides crosstalk there are the lengths of a key and of its answer, and the two products ``v_j' v_i`` and
    ``u_j' u_i`` of two keys and of their answers. A factor that is common to all scores of a key is left out,
    as in `assocmem.theory.repair`, and ``u_j' u_i`` comes with the signal and is given apart.

    Parameters
    ----------
    n : float
        Number of pairs, from 2 to 1e15, above d.
    d : float
        Dimension, at least 1.
    rule : str
        ``"outer products"``, ``"least squares"`` or ``"whitened"``.

    Returns
    -------
    tuple of float
        Spread of the signal, spread of a competitor, and the variance that a competitor has in addition, in
        units of the square of the signal.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_number("n", n, 2, 1e15, ends="[]")
    require_number("d", d, 1, n, ends="[)")
    require_choice("rule", rule, RULES)
    n, d = float(n), float(d)
    return _spreads(n / d, 1 / d, rule)


def _spreads(c, one_over_d, rule):
    """The spreads at a ratio ``c = n / d``."""
    left = 1 - 1 / c
    if rule == "outer products":
        crosstalk, own, rival, shared = c, 2.5, 1, 1
    elif rule == "least squares":  # only keys are whitened: their lengths and products count less
        crosstalk, own, rival, shared = c - 1, 2 + 0.5 * left, left, 1
    else:
        crosstalk, own, rival, shared = c * left**2, 2.5 * left, left, left
    return (
        math.sqrt((crosstalk + own) * one_over_d),
        math.sqrt((crosstalk + rival) * one_over_d),
        shared * one_over_d,
    )


def least_squares_half_ratio(log_n: float, *, rule: str = "least squares") -> float:
    """The ``d^2 / (n log n)`` at which a rule retrieves every pair half of the time, in the Gaussian picture.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.
    rule : str
        As in `score_spreads`.

    Returns
    -------
    float
        Below ``n / log n`` where keys are whitened, as ``d = n`` stores everything.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_log_n(log_n)
    require_choice("rule", rule, RULES)

    def failures(ratio):
        log_d = 0.5 * (math.log(ratio * log_n) + log_n)
        c = math.exp(min(log_n - log_d, 600.0))
        if rule != "outer products" and c <= 1 + 1e-9:
            return LOG_NONE
        own, rival, shared = _spreads_in_logs(c, log_d, ratio * log_n, rule)
        return log_n + log_failure(log_n, own, max(rival, LEAST_SPREAD), shared=shared)

    return half_point(failures, log_n)


def _spreads_in_logs(c, log_d, inverse_load, rule):
    """The spreads where d may be too large for a float."""
    if log_d < 300:
        return _spreads(c, math.exp(-log_d), rule)
    return 1 / math.sqrt(inverse_load), 1 / math.sqrt(inverse_load), 0.0


def _require_shapes(a, b):
    """Check that two arrays can be combined."""
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        require(False, "ratio, ridge, s", (a.shape, b.shape), "of shapes that fit each other")
