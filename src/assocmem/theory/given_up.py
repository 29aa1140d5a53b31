"""The ridge to zero where facts have weights: who is given up, and how the two phases meet.

The critical load is that of the paper, whatever the weights, as long as none is zero. *Below* it every fact
is kept as the ridge vanishes: the norm diverges, and weights only move the margins of the keys at the edge,
by the logarithm of p. With ``h = (rho - G)_+`` and ``delta = rho - kappa``

    log(1 / ridge) = delta nu + log nu + E[h log h] / E h - E log P - log(delta E h),

so that a law of weights acts as a ridge that is larger by one over the geometric mean of the weights. To
leading order the loss is ``ridge nu / delta``.

*Near* it nu is large on both sides, and the pull of a key is ``min((kappa - G)_+, M p)`` in units of nu, with
``M = chi / nu``: a key of weight p is given up, by a margin of the order of nu, if ``G < kappa - M p``. Of
those that are not, keys with ``G < kappa - M p / 2`` lie below zero too, by margins of order one. This is
`crossover` with weights,

    E (kappa - M P - G)_+^2 = 1/alpha_c - 1/alpha + 2 M ridge nu,
    ridge nu^2 + nu E[P (kappa - M P - G)_+] = E[P A log((1 - A)/A)],    A = min((kappa - G)_+ / (M P), 1),

to first order in 1/nu, and the loss is ``E[P H(A)] - ridge nu^2`` with the entropy H. The keys that are kept
count in both equations: they lie above their level by margins of the order of a logarithm, and that costs as
much as giving up the others saves.

*Just above* it, with ``e = 1/alpha_c - 1/alpha`` and no ridge, only facts of the least weight are given up,
about ``e t^2 / 2`` of all, where ``t = M p - kappa`` is about ``sqrt(2 log(1/e))``: more than the share
``alpha_c e`` that would have to be. The norm diverges as ``1/e`` and the loss vanishes as ``1/t``, both up to
logarithms. The share with a margin below zero is much larger and vanishes as the fourth root of e, likewise.

Derived from the saddle point by expansion, not proved; tests hold it against `solve_weighted`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq

from assocmem.checks import require, require_instance, require_number, require_numbers
from assocmem.theory.crossover import GAUSSIAN_RANGE, edge_shift, ridge_at_norm
from assocmem.theory.frequencies import Frequencies, condensed
from assocmem.theory.ridgeless import FRACTIONS, critical_load, hinge_moments, sat_laws, tail_mean
from assocmem.theory.scalar import density

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)
"""Of the Gauss-Legendre rule on [-1, 1], for averages over one hinge."""

SMALLEST_RIDGE = 1e-300
"""Above zero, so that its logarithm is a number."""


@dataclass(frozen=True)
class GivenUp:
    """Norm, loss and error near the critical load, to leading order in 1/nu.

    Attributes
    ----------
    load, r, ridge : float
        What was asked for.
    frequencies : Frequencies
        The law of weights.
    M : float
        Width of the hinge of a key of weight one, ``chi / nu``.
    nu : float
        Norm scale.
    loss : float
        Weighted mean loss, the ridge not included.
    error : float
        Share of the questions that meet a fact with a margin below zero.
    """

    load: float
    r: float
    ridge: float
    frequencies: Frequencies
    M: float
    nu: float
    loss: float
    error: float

    def lost(self, p: ArrayLike) -> np.ndarray | float:
        """Share of the facts of weight p with a margin below zero, ``Phi(kappa - M p / 2)``.

        Parameters
        ----------
        p : array_like
            Positive.

        Returns
        -------
        ndarray or float

        Raises
        ------
        ValueError
            For a weight that is not positive.
        """
        return self._below(0.5, p)

    def left(self, p: ArrayLike) -> np.ndarray | float:
        """Share of the facts of weight p left behind by a margin of the order of nu, ``Phi(kappa - M p)``.

        Parameters
        ----------
        p : array_like
            Positive.

        Returns
        -------
        ndarray or float

        Raises
        ------
        ValueError
            For a weight that is not positive.
        """
        return self._below(1.0, p)

    def _below(self, part, p):
        """Share of the facts of weight p below a part of the width of their hinge."""
        require_numbers("p", p, 0, np.inf, ends="(]")
        return special.ndtr(float(tail_mean(self.r)) - part * self.M * np.asarray(p, dtype=float))[()]


def given_up(load: float, r: float, ridge: float, frequencies: Frequencies) -> GivenUp:
    """Who is given up near the critical load, for a small ridge or none.

    Parameters
    ----------
    load : float
        Positive, and at most so far above the critical load that nu is positive; below it, near it.
    r : float
        Tail fraction in [1e-12, 1 - 1e-9].
    ridge : float
        In [1e-300, 1], or 0 above the critical load.
    frequencies : Frequencies
        The law of weights.

    Returns
    -------
    GivenUp

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("r", r, *FRACTIONS, ends="[]")
    require_number("ridge", ridge, 0, 1, ends="[]")
    require(ridge == 0 or ridge >= SMALLEST_RIDGE, "ridge", ridge, f"0 or at least {SMALLEST_RIDGE:g}")
    require_instance("frequencies", frequencies, Frequencies)
    few = condensed(frequencies)
    hinge = _Hinge(float(tail_mean(r)), few.values, few.masses)
    second = 1 / float(critical_load(r))
    low, high = (math.log(x / few.values.min()) for x in (1e-3, 60.0))
    least = brentq(lambda v: hinge.averages(math.exp(v))[1], low, high) + 1e-12  # where nu would be zero
    highest = 1 / (second - hinge.beyond(math.exp(least))[1])
    lowest = 1 / second if ridge == 0 else 0.0
    allowed = f"above {lowest:.6g} and below {highest:.6g} at r = {r:g} with these weights"
    require_number("load", load, 0)
    require(lowest < load < highest, "load", load, allowed)
    excess = second - 1 / load

    def pull(v):
        """Ridge times nu."""
        return (hinge.beyond(math.exp(v))[1] - excess) / (2 * math.exp(v))

    def miss(v):
        """Logarithm of the ridge that has this hinge over the one asked for."""
        at, first, Y = pull(v), hinge.beyond(math.exp(v))[0], hinge.averages(math.exp(v))[1]
        if at <= 0 or Y <= 0:
            return -1e3 if at <= 0 else 1e3
        found = math.log(at) + math.log(at + first) - math.log(Y) - math.log(ridge)
        return min(1e3, max(-1e3, found))

    if ridge:
        high = least
        while miss(high) > 0:
            high += 1.0
            require(high < 690, "load", load, "nearer to the critical load")
        require(high > least, "ridge", ridge, f"smaller, as nu would not be positive at load = {load:g}")
    else:
        high = least
        while pull(high) > 0:
            high += 1.0
    v = brentq(miss if ridge else pull, least, high, xtol=1e-14, rtol=1e-14)
    M = math.exp(v)
    first, Y = hinge.beyond(M)[0], hinge.averages(M)[1]
    nu = Y / ((max(pull(v), 0.0) if ridge else 0.0) + first)
    loss = hinge.averages(M)[0] - ridge * nu**2
    values, masses = frequencies.values, frequencies.masses
    error = float((masses * values) @ special.ndtr(hinge.kappa - 0.5 * M * values))
    return GivenUp(float(load), float(r), float(ridge), frequencies, M, float(nu), float(loss), error)


def ridge_at_weighted_norm(
    load: float, r: float, nu: float | np.ndarray, frequencies: Frequencies
) -> float | np.ndarray:
    """The ridge at which the norm scale is nu, below the critical load, to leading order for a large nu.

    Parameters
    ----------
    load, r : float
        As in `assocmem.theory.ridgeless.sat_laws`.
    nu : float or ndarray
        Positive, large.
    frequencies : Frequencies
        The law of weights.

    Returns
    -------
    float or ndarray
        That of equal weights times the geometric mean of the weights.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_instance("frequencies", frequencies, Frequencies)
    return ridge_at_norm(load, r, nu) * math.exp(frequencies.mean(np.log))


@dataclass(frozen=True)
class AllKept:
    """Norm, loss and margins below the critical load for a small ridge, to leading order.

    Attributes
    ----------
    load, r, ridge : float
        What was asked for.
    nu : float
        Norm scale.
    chi : float
        Susceptibility of a key of weight one.
    loss : float
        Weighted mean loss, the ridge not included.
    edge : float
        Mean margin that a key of weight one has at the edge: at G it is ``edge - log(rho - G)``.
    """

    load: float
    r: float
    ridge: float
    nu: float
    chi: float
    loss: float
    edge: float

    def least_margin(self, p: ArrayLike) -> np.ndarray | float:
        """Margin of a key of weight p with ``rho - G = 1``: that of weight one and ``log p``.

        Parameters
        ----------
        p : array_like
            Positive.

        Returns
        -------
        ndarray or float

        Raises
        ------
        ValueError
            For a weight that is not positive.
        """
        require_numbers("p", p, 0, np.inf)
        return (self.edge + np.log(np.asarray(p, dtype=float)))[()]


def all_kept(load: float, r: float, ridge: float, frequencies: Frequencies) -> AllKept:
    """Norm, loss and margins below the critical load, for a small ridge.

    Parameters
    ----------
    load, r : float
        As in `assocmem.theory.ridgeless.sat_laws`.
    ridge : float
        In [1e-300, 1].
    frequencies : Frequencies
        The law of weights.

    Returns
    -------
    AllKept

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("ridge", ridge, SMALLEST_RIDGE, 1, ends="[]")
    require_instance("frequencies", frequencies, Frequencies)
    laws = sat_laws(load, r)
    delta, first = laws.rho - laws.kappa, float(hinge_moments(laws.rho)[0])
    mean = frequencies.mean(np.log)
    log_z = math.log(delta**2 * first / ridge) + mean - edge_shift(load)
    nu = float(special.wrightomega(log_z)) / delta
    chi = delta * first / ridge
    edge = math.log(chi / nu)
    return AllKept(float(load), float(r), float(ridge), nu, chi, ridge * nu / delta, edge)


class _Hinge:
    """Averages over the hinges of all weights."""

    def __init__(self, kappa, values, masses):
        self.kappa, self.values, self.masses = kappa, values, masses

    def beyond(self, M):
        """First moment with weights, and second without, of the way by which keys are beyond their hinge."""
        tau = np.maximum(self.kappa - M * self.values, -38.0)
        first, second = (np.where(tau > -38, moment, 0.0) for moment in hinge_moments(tau))
        return float((self.masses * self.values) @ first), float(self.masses @ second)

    def averages(self, M):
        """Weighted averages of the entropy of A and of ``A log((1 - A) / A)`` over the keys that are kept."""
        width = M * self.values[:, None]
        top = np.minimum(width, self.kappa + GAUSSIAN_RANGE)
        u = 0.5 * (1 + NODES)
        h = top * u**2 * (3 - 2 * u)
        shares = 0.5 * WEIGHTS * top * 6 * u * (1 - u) * density(self.kappa - h)
        A = h / width
        # 1 - A has no digits left where the hinge ends, but there u is near one and says it
        rest = np.where(top == width, (1 - u) ** 2 * (1 + 2 * u), 1 - A)
        odds = np.log(rest) - np.log(A)
        entropy = -A * np.log(A) - rest * np.log(rest)
        weights = (self.masses * self.values)[:, None] * shares
        return float((weights * entropy).sum()), float((weights * A * odds).sum())
