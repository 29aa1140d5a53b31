"""How the two phases meet: norm and loss for a small ridge, explicitly.

The paper has the limits; these are the rates. Where nu is large the tail average of the competitors is
``kappa nu``, and the weights of the keys become a hinge cut off at one,

    A = min((kappa - G)_+ / M, 1),    M = chi / nu.

Keys with ``G < tau = kappa - M`` are given up. To first order in 1/nu the two saddle-point equations are then

    E (tau - G)_+^2 = 1/alpha_c - 1/alpha + 2 M ridge nu,
    ridge nu^2 + nu E (tau - G)_+ = Y,                     Y = E A log((1 - A)/A) over G > tau,

and the loss is ``E H(A) - ridge nu^2`` with the entropy ``H(a) = -a log a - (1 - a) log(1 - a)``. The
smoothing beta has dropped out. Further below the critical load M grows like a power of 1/ridge, and the edge
of the laws moves from kappa to rho; `ridge_at_norm` has that side.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.optimize import brentq

from assocmem.checks import is_number, require, require_number, require_numbers
from assocmem.theory.ridgeless import critical_load, hinge_edge, hinge_moments, sat_edge, sat_laws, tail_mean
from assocmem.theory.scalar import density

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)
"""Of the Gauss-Legendre rule on [-1, 1], for averages over the hinge; their number was chosen by trial."""

GAUSSIAN_RANGE = 12.0
"""Standard deviations beyond which less than 1e-32 of a normal law lies."""

WIDEST = 1e300
"""Width of the hinge that stands for an infinite one: near the largest number that a float can be."""

STEEPEST = 1e3
"""Bound on the logarithm that is searched for a zero, since a search cannot go on from an infinity; near the
zero the logarithm is far below it."""


@dataclass(frozen=True)
class Crossover:
    """Norm and loss near the critical load, to leading order in 1/nu.

    Attributes
    ----------
    load, r, ridge : float
        What was asked for.
    M : float
        Width of the hinge, chi / nu.
    given_up : float
        Share of keys whose weight is one.
    nu : float
        Norm scale, the limit of ``|W|_F / d``.
    loss : float
        Mean loss, the ridge not included.
    """

    load: float
    r: float
    ridge: float
    M: float
    given_up: float
    nu: float
    loss: float


def crossover(load: float, r: float, ridge: float) -> Crossover:
    """Norm and loss for a load near the critical one and a ridge that is small or zero.

    Parameters
    ----------
    load : float
        Positive, and at most so far above the critical load that nu is positive: by a relative excess of
        1.6e-4 at r = 0.15, 1e-3 at 0.5, 5e-6 at 0.01. Far below it the formulas give numbers, but are no
        longer near the truth.
    r : float
        Tail fraction in [1e-12, 1 - 1e-9].
    ridge : float
        Nonnegative; 0 only above the critical load.

    Returns
    -------
    Crossover

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require(is_number(r) and 1e-12 <= r <= 1 - 1e-9, "r", r, "in [1e-12, 1 - 1e-9]")
    require_number("ridge", ridge, 0, ends="[)")
    kappa, second = float(tail_mean(r)), 1 / float(critical_load(r))
    least = brentq(lambda M: _averages(kappa, M)[1], 0.5, 50.0)  # where nu would be zero
    highest = 1 / (second - _given_up(kappa, least)[1])
    lowest = 1 / second if ridge == 0 else 0.0
    allowed = f"above {lowest:.6g} and below {highest:.6g} at r = {r:g}"
    require(is_number(load) and lowest < load < highest, "load", load, allowed)
    excess = second - 1 / load
    widest = WIDEST if excess <= 0 else kappa - float(hinge_edge(excess))

    def log_ridge_ratio(log_M):
        """Logarithm of the ridge that has this hinge over the one asked for, within the bound."""
        M = math.exp(log_M)
        first, squares = _given_up(kappa, M)
        pull, Y = (squares - excess) / (2 * M), _averages(kappa, M)[1]
        if pull <= 0 or Y <= 0:
            return -STEEPEST if pull <= 0 else STEEPEST
        found = math.log(pull) + math.log(pull + first) - math.log(Y) - math.log(ridge)
        return min(STEEPEST, max(-STEEPEST, found))

    M = widest
    if ridge:
        room = log_ridge_ratio(math.log(least)) > 0
        require(room, "ridge", ridge, f"smaller, as nu would not be positive at load = {load:g}")
        beyond = math.log(widest) + 1e-9  # where the ridge is negative, whatever the rounding of the edge
        require(log_ridge_ratio(beyond) < 0, "load", load, "so large that the width of the hinge is a number")
        M = math.exp(brentq(log_ridge_ratio, math.log(least), beyond, xtol=1e-13, rtol=1e-13))
    first, squares = _given_up(kappa, M)
    entropy, Y = _averages(kappa, M)
    nu = Y / (max(squares - excess, 0) / (2 * M) + first)
    return Crossover(load, r, ridge, M, float(special.ndtr(kappa - M)), nu, entropy - ridge * nu**2)


def ridge_at_norm(load: float, r: float, nu: float | np.ndarray) -> float | np.ndarray:
    """The ridge at which the norm scale is nu, below the critical load, to leading order for a large nu.

    The ratio of the true ridge to this one tends to one. With ``delta = rho - kappa``, the normalised margin
    of the keys at the edge, and `edge_shift`,

        log(1/ridge) = delta nu + log nu + shift - log(delta E (rho - G)_+).

    So the norm grows as ``log(1/ridge) / delta``; and the loss is ``ridge nu / delta``.

    Parameters
    ----------
    load, r : float
        As in `sat_laws`.
    nu : float or ndarray
        Positive, large.

    Returns
    -------
    float or ndarray
        Like ``nu``.

    Raises
    ------
    ValueError
        For a load or r out of range, or a nu that is not positive.
    """
    require_numbers("nu", nu)
    require(bool(np.all(np.asarray(nu) > 0)), "nu", np.asarray(nu).tolist(), "positive")
    laws = sat_laws(load, r)
    delta, first = laws.rho - laws.kappa, hinge_moments(laws.rho)[0]
    nu = np.asarray(nu)[()]
    return np.exp(-delta * nu - edge_shift(load)) * delta * first / nu


def edge_shift(load: float) -> float:
    """``E[h log h] / E h`` with ``h = (rho - G)_+``: where keys near the edge are for a large finite nu.

    A key with ``G < rho`` has the normalised score ``rho + (shift - log(rho - G)) / nu``, up to ``o(1/nu)``.

    Parameters
    ----------
    load : float
        In [1e-6, 1e6].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a load out of range.
    """
    require_number("load", load)
    h, weights = _hinge(float(sat_edge(load)), math.inf)
    return float(weights @ (h * np.log(h)) / (weights @ h))


def _given_up(kappa, M):
    """First and second moment of ``(tau - G)_+``, which is positive for the keys that are given up."""
    tau = kappa - M
    # both underflow where tau is below -38
    return (0.0, 0.0) if tau < -38 else tuple(float(x) for x in hinge_moments(tau))


def _averages(kappa, M):
    """The averages ``E H(A)`` and Y over the keys that are not given up."""
    h, weights = _hinge(kappa, M)
    A = h / M
    odds = math.log(M) - np.log(h) + np.log1p(-A)
    return weights @ -(special.xlogy(A, A) + special.xlog1py(1 - A, -A)), weights @ (A * odds)


def _hinge(edge, M):
    """Nodes and Gaussian weights of ``h = edge - G`` between 0 and M, fine at both ends."""
    top = min(M, edge + GAUSSIAN_RANGE)
    u = 0.5 * (1 + NODES)
    h = top * u**2 * (3 - 2 * u)
    weights = 0.5 * WEIGHTS * top * 6 * u * (1 - u)
    return h, weights * density(edge - h)
