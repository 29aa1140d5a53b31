"""Lists: every signal among the top share r of its competitors. The capacity, the best share, and a loss.

Under any memory the scores of key i are Gaussian with spread ``|W v_i| / sqrt(d)``, so that "in the top share
r" reads ``u_i' W v_i >= q |W v_i| / sqrt(d)`` with ``q = Phi^-1(1 - r)``: a second-order cone for r up to one
half. As the spread is the norm scale ``nu = |W|_F / d`` for all but a vanishing share of the keys, this is
the perceptron with margin q in d^2 dimensions, and

    alpha_list(r) = 1 / E (q + G)_+^2 = 1 / [(1 + q^2) Phi(q) + q phi(q)].

The critical load of the tail average has the same form, with ``kappa_t = tail_mean(t)`` of its tail t in
place of q. So the tail average of the *longer* tail t with ``kappa_t = q`` is convex and reaches the capacity
of lists. All of this is derived (heuristically), not proved.

The loss of lists is ``log(1 + exp(-m))`` of the margin ``m = s_ii - q |W v_i| / sqrt(d)``. Its two numbers
are those of tail-average learning with ``c(nu) = q nu``: the longer tail, without any smoothing.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from assocmem.checks import require, require_numbers
from assocmem.theory.ridgeless import (
    FRACTIONS,
    LEAST_EXCESS,
    LOADS,
    hinge_moments,
    sat_edge,
    tail_mean,
)
from assocmem.theory.scalar import RANGES, ScalarSolution, broadcast, saddle_points

SHARPEST = RANGES["beta"][1]
"""Inverse width of the smoothing with which the loss of lists is solved, in place of an infinite one."""

FAR = 3.0
"""Quantile from which on the mean excess over it is a continued fraction, as a difference loses digits."""

TERMS = 120
"""Of the continued fraction, enough for all digits from `FAR` on."""

NEAR = 1.0
"""Quantile from which on a share is compared with its tail, as small shares keep their digits in that way."""


def list_quantile(r: ArrayLike) -> np.ndarray | float:
    """Spreads that a signal must be above zero to be in the top share r: ``q_r = Phi^-1(1 - r)``.

    Parameters
    ----------
    r : array_like
        Shares of the list in (0, 1/2].

    Returns
    -------
    ndarray or float
        Nonnegative, decreasing in r, to 0 at r = 1/2.

    Raises
    ------
    ValueError
        For a share outside (0, 1/2].
    """
    require_numbers("r", r, 0, 0.5, ends="(]")
    return np.abs(special.ndtri(np.asarray(r, dtype=float)))[()]


def list_capacity(r: ArrayLike) -> np.ndarray | float:
    """Load up to which some memory has every signal in the top share r: ``1 / E (q_r + G)_+^2``.

    Parameters
    ----------
    r : array_like
        Shares of the list in (0, 1/2].

    Returns
    -------
    ndarray or float
        In (0, 2], increasing in r; above ``critical_load(r)``, whose tail has the same share.

    Raises
    ------
    ValueError
        For a share outside (0, 1/2].
    """
    return 1 / hinge_moments(list_quantile(r))[1]


def equivalent_tail(r: ArrayLike) -> np.ndarray | float:
    """The longer tail t whose average is the quantile of a list: ``tail_mean(t) = q_r``.

    A memory that beats the average of its top share t is in the top share r, and its critical load is the
    capacity of lists, ``critical_load(t) = list_capacity(r)``.

    Parameters
    ----------
    r : array_like
        Shares of the list in (0, 1/2].

    Returns
    -------
    ndarray or float
        In (r, 1], increasing in r. For small r it tends to e r, and at r = 1/2 it is 1.

    Raises
    ------
    ValueError
        For a share outside (0, 1/2].
    """
    q = np.asarray(list_quantile(r))
    # The quantile x of the tail: the logarithm of its hazard rate is concave, so that Newton's method climbs.
    level = np.where(q > 0, q, 1.0)
    x = np.where(level > 2, level - 1 / level, -np.sqrt(2 * np.maximum(-np.log(level), 0)) - 0.5)
    for _ in range(100):
        step = np.log(_hazard(x) / level) / _mean_excess(x)
        x = x - step
        if np.all(np.abs(step) <= 1e-15 * np.maximum(1, np.abs(x))):
            break
    far = np.asarray(r, dtype=float) * np.exp(_log_ratio(np.maximum(x, 0), level))
    return np.where(q > NEAR, far, np.where(q > 0, special.ndtr(-x), 1.0))[()]


def listed_fraction(tail: ArrayLike) -> np.ndarray | float:
    """The share r of a list whose quantile is the average of a tail: the inverse of `equivalent_tail`.

    Below the critical load of the tail, every signal of the memory that is trained for it is in this share.

    Parameters
    ----------
    tail : array_like
        Tail fractions in (0, 1].

    Returns
    -------
    ndarray or float
        In (0, 1/2], increasing in the tail.

    Raises
    ------
    ValueError
        For a fraction outside (0, 1].
    """
    require_numbers("tail", tail, 0, 1, ends="(]")
    tail = np.asarray(tail, dtype=float)
    kappa = np.asarray(tail_mean(tail))
    x = np.maximum(-special.ndtri(np.minimum(tail, 0.5)), 0)
    far = tail * np.exp(-_log_ratio(x, x + _mean_excess(x)))
    return np.where(tail < 0.5, far, special.ndtr(-kappa))[()]


def best_share(load: ArrayLike) -> np.ndarray | float:
    """Smallest share in which some memory has every signal: the inverse of `list_capacity`.

    It is ``Phi(-rho_alpha)`` with the edge of `sat_edge`: the memory of the largest margin has every signal
    at or above this one edge, whatever share or tail it was trained for.

    Parameters
    ----------
    load : array_like
        In [1e-6, 2].

    Returns
    -------
    ndarray or float
        In [0, 1/2], increasing in the load; below a load of 1/1500 it is too small for a float, and 0.

    Raises
    ------
    ValueError
        For a load out of range.
    """
    require_numbers("load", load, LOADS[0], 2, ends="[]")
    return np.minimum(special.ndtr(-np.asarray(sat_edge(load))), 0.5)[()]


def solve_list(load: ArrayLike, r: ArrayLike, *, ridge: ArrayLike) -> ScalarSolution:
    """The two numbers and the laws of the loss of lists, ``log(1 + exp(-m))`` with a ridge.

    Parameters
    ----------
    load : array_like
        ``alpha = n / d^2`` in [1e-6, 1e6].
    r : array_like
        Shares of the list in [1e-12, 1/2].
    ridge : array_like
        In [1e-16, 1e3], or 0 above the list capacity, where there is a saddle point without a ridge.

    Returns
    -------
    ScalarSolution
        With attributes of the broadcast shape of the parameters: ``r`` is the share of the list, ``beta``
        infinite, ``c`` the spread times ``q_r``, and ``mu`` the threshold of the equivalent tail.

    Raises
    ------
    ValueError
        For a parameter out of range, or a ridge of 0 at a load that is not above the list capacity.
    """
    load, r, ridge = broadcast(load=load, r=r, ridge=ridge)
    require_numbers("load", load, *RANGES["load"], ends="[]")
    require_numbers("r", r, FRACTIONS[0], 0.5, ends="[]")
    require_numbers("ridge", ridge, 0, RANGES["ridge"][1], ends="[]")
    capacity = list_capacity(r)
    without = (ridge < RANGES["ridge"][0]) & ~((ridge == 0) & (load > capacity * (1 + LEAST_EXCESS)))
    allowed = "in [1e-16, 1000], or 0 where the load is above the list capacity"
    require(not np.any(without), "ridge", ridge.tolist(), allowed)
    tail = np.minimum(equivalent_tail(r), np.nextafter(1, 0))
    found = saddle_points(load, tail, np.full(load.shape, SHARPEST), ridge)
    return replace(found, r=r[()], beta=np.full(load.shape, np.inf)[()])


def _hazard(x):
    """Density at x over the share beyond, which is the mean of a standard normal G that is above x."""
    return np.sqrt(2 / np.pi) / special.erfcx(x / np.sqrt(2))


def _mean_excess(x):
    """Mean of ``G - x`` for a standard normal G that is above x."""
    far = np.maximum(x, FAR)
    fraction = far
    for i in range(TERMS, 1, -1):
        fraction = far + i / fraction
    return np.where(x > FAR, 1 / fraction, _hazard(np.minimum(x, FAR)) - x)


def _log_ratio(x, q):
    """Logarithm of the share beyond x over that beyond q, where q is the mean of the former."""
    w = _mean_excess(x)
    return w * (q - w / 2) - np.log(q / _hazard(q))
