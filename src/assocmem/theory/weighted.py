"""The limit of tail-average learning where facts have weights: what is kept, by weight.

The loss of a key of weight p counts p times; weights have mean one, and P is one drawn at random. The two
numbers of `assocmem.theory.scalar` remain, and a key sees the channel of the paper with ``chi p`` in place of
``chi``: its margin is ``y = Prox_{chi p}(nu G - c)``. With ``a = sigma(-y)`` the saddle point has

    nu^2 = load chi^2 E[(P a)^2],      0 = ridge - 1 / (load chi) + (E[P a] c'(nu) - E[P a G]) / nu.

A key is kept (its signal is above the average of its best competitors) where ``nu G > c - chi p / 2``. This
is derived as the paper derives its scalar limit, and reduces to that where all weights are one.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from assocmem.checks import require, require_instance, require_number, require_numbers
from assocmem.theory.frequencies import Frequencies, condensed
from assocmem.theory.laws import Law
from assocmem.theory.ridgeless import LEAST_EXCESS, critical_load
from assocmem.theory.scalar import (
    GAUSSIAN_RANGE,
    GAUSSIAN_STEP,
    LOGISTIC_RANGE,
    LOGISTIC_STEP,
    NODES,
    RANGES,
    RESIDUAL_TOLERANCE,
    STEP_TOLERANCE,
    WEIGHTS,
    ScalarSolution,
    _density,
    _near_prox,
    scalar_tail_average,
)

LEAST_STEP = 1e-13
"""Step ``chi p`` of the proximal map, over nu where that is below one, that moves no digit that counts."""

LARGEST_WEIGHT = 1e150
"""Of which a square is a number."""

LEAST_RIDGE, MOST_RIDGE = 1e-23, 1e20
"""Of a sum over facts; the least counts where there is no saddle point without a ridge."""

FEW = 12
"""Weights up to which the saddle point is searched with all of them from the start."""

GROUP = 1.5
"""Width, in the logarithm of a weight, of groups that stand for many weights at the start of a search."""

NEWTON_TOLERANCE = 1e-7
"""Size of the step of Newton's method in two variables after which one more is the last."""

NEWTON_RESIDUAL = 1e-11
"""Error in the equations up to which that method has done its work."""

LOG_LARGEST = 650.0
"""Logarithm of the largest step of a proximal map, near that of the largest number."""

LEAST_SQUARE = 1e-290
"""Mean square of a pull that still has digits."""

LONGEST_STEP = 20.0
"""In the logarithm of chi."""

NEWTON_STEPS = 12
"""After which the saddle point is searched in the slower way."""


@dataclass(frozen=True)
class WeightedSolution:
    """The saddle point for facts with weights, and the laws that follow.

    Attributes
    ----------
    load, r, beta, ridge : float
        What was asked for.
    frequencies : Frequencies
        The law of weights.
    nu : float
        Limit of ``|W|_F / d``.
    chi : float
        Susceptibility of a key of weight one; a key of weight p has ``chi p``.
    c, mu : float
        Limits of the tail average and the threshold of a column.
    loss : float
        Limit of the weighted mean loss, the ridge not included.
    objective : float
        Limit of the weighted mean loss with the ridge.
    residual : float
        Largest error in the two saddle-point equations, relative to their terms.
    converged : bool
        Whether the residual is at most 1e-9.
    error : float
        Share of the questions, which are asked as often as the weights say, that are answered wrongly: whose
        signal is not above the average of the best competitors.
    """

    load: float
    r: float
    beta: float
    ridge: float
    frequencies: Frequencies
    nu: float
    chi: float
    c: float
    mu: float
    loss: float
    objective: float
    residual: float
    converged: bool
    error: float

    def kept(self, p: ArrayLike) -> np.ndarray | float:
        """Share of the facts of weight p that are kept.

        Parameters
        ----------
        p : array_like
            Positive.

        Returns
        -------
        ndarray or float
            ``Phi((chi p / 2 - c) / nu)``.

        Raises
        ------
        ValueError
            For a weight that is not positive.
        """
        return special.ndtr(-self._level(p))[()]

    def lost(self, p: ArrayLike) -> np.ndarray | float:
        """Share of the facts of weight p that are not kept, with all digits of a small one.

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
        return special.ndtr(self._level(p))[()]

    def _level(self, p):
        """The G below which a key of weight p is not kept."""
        require_numbers("p", p, 0, np.inf, ends="(]")
        return (self.c - 0.5 * self.chi * np.asarray(p, dtype=float)) / self.nu

    def margin(self, p: float) -> Law:
        """Law of the margins of facts of weight p.

        Parameters
        ----------
        p : float
            Positive.

        Returns
        -------
        Law

        Raises
        ------
        ValueError
            For a weight that is not positive.
        """
        return self._class(p).margin

    def percentile(self, p: float) -> Law:
        """Law of the share of competitors below the signal, for facts of weight p.

        Parameters
        ----------
        p : float
            Positive.

        Returns
        -------
        Law

        Raises
        ------
        ValueError
            For a weight that is not positive.
        """
        return self._class(p).percentile

    def _class(self, p):
        """The two numbers as facts of one weight see them."""
        require_number("p", p, 1e-300, 1e300, ends="[]")
        mine = (self.load, self.r, self.beta, self.ridge, self.nu, self.chi * p, self.c, self.mu)
        return ScalarSolution(*mine, np.nan, np.nan, self.residual, self.converged)


def solve_weighted(
    load: float, r: float, *, beta: float, ridge: float, frequencies: Frequencies
) -> WeightedSolution:
    """Saddle point of tail-average learning with weights.

    Parameters
    ----------
    load : float
        ``alpha = n / d^2`` in [1e-6, 1e6].
    r : float
        Tail fraction in [1e-4, 1 - 1e-4].
    beta : float
        Inverse smoothing width in [1e-3, 1e6].
    ridge : float
        In [1e-16, 1e3], or 0 where the load is above the critical one, which does not depend on weights.
    frequencies : Frequencies
        The law of weights, of which each counts as often as it says in loss and error.

    Returns
    -------
    WeightedSolution

    Raises
    ------
    ValueError
        Naming the parameter and its range.
    """
    for name, value in (("load", load), ("r", r), ("beta", beta)):
        require_number(name, value, *RANGES[name], ends="[]")
    require_number("ridge", ridge, 0, RANGES["ridge"][1], ends="[]")
    require_instance("frequencies", frequencies, Frequencies)
    critical = float(critical_load(r))
    above = load > critical * (1 + LEAST_EXCESS)
    least = RANGES["ridge"][0]
    allowed = f"at least {least:g}, or 0 above the critical load {critical:.6g} of r = {r:g}"
    require(ridge >= least or (ridge == 0 and above), "ridge", ridge, allowed)
    load, r, beta, ridge = (float(x) for x in (load, r, beta, ridge))
    few = condensed(frequencies)
    point = saddle_of_sums(few.values, load * few.masses, r, beta=beta, ridge=load * ridge)
    nu, chi, c, mu, total, residual, converged = point
    values, masses = frequencies.values, frequencies.masses
    error = float((masses * values) @ special.ndtr((c - 0.5 * chi * values) / nu))
    loss = total / load
    objective = loss + 0.5 * ridge * nu**2
    laws = (nu, chi, c, mu, loss, objective, residual, converged, error)
    return WeightedSolution(load, r, beta, ridge, frequencies, *laws)


def saddle_of_sums(
    values: np.ndarray, counts: np.ndarray, r: float, *, beta: float, ridge: float
) -> tuple[float, float, float, float, float, float, bool]:
    """The saddle point of a sum over facts, each counted as a share of ``d^2``.

    Parameters
    ----------
    values : ndarray, shape (k,)
        Weights in any unit, below 1e150; chi is in the inverse of it.
    counts : ndarray, shape (k,)
        Number of facts of each weight, over ``d^2``; they need not have a sum that means anything.
    r, beta : float
        As in `solve_weighted`.
    ridge : float
        Of the sum: the load times that of the mean, at most 1e20; zero only where there is a saddle point
        without it, and otherwise at least 1e-23.

    Returns
    -------
    nu, chi, c, mu, loss, residual : float
        As in `WeightedSolution`, with the sum of losses over ``d^2`` in place of their mean.
    converged : bool
        Likewise.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("values", values, 0, LARGEST_WEIGHT)
    require_numbers("counts", counts, 0, np.inf)
    values, counts = (np.asarray(x, dtype=float) for x in (values, counts))
    require(values.ndim == 1, "values", values.shape, "a vector")
    require(values.shape == counts.shape, "counts", counts.shape, f"a vector of {len(values)} numbers")
    require_number("r", r, *RANGES["r"], ends="[]")
    require_number("beta", beta, *RANGES["beta"], ends="[]")
    require_number("ridge", ridge, 0, MOST_RIDGE, ends="[]")
    critical = float(critical_load(r))
    allowed = f"at least {LEAST_RIDGE:g}, or 0 where the counts add up to more than {critical:.6g}"
    require(ridge >= LEAST_RIDGE or counts.sum() > critical * (1 + LEAST_EXCESS), "ridge", ridge, allowed)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # on the way, far from the solution
        if len(values) <= FEW:
            return _finished(values, counts, r, beta, ridge, _search(values, counts, r, beta, ridge))
        start = _search(*_grouped(values, counts), r, beta, ridge)
        point = _newton(values, counts, r, beta, ridge, *start)
        found = None if point is None else _finished(values, counts, r, beta, ridge, point)
        if found is None or found[5] > NEWTON_RESIDUAL:
            point = _search(values, counts, r, beta, ridge)
            slow = _finished(values, counts, r, beta, ridge, point)
            found = slow if found is None or slow[5] < found[5] else found
    return found


def _finished(values, counts, r, beta, ridge, point):
    """Result of `saddle_of_sums` from the two numbers."""
    nu, chi = point
    c, mu, slope = scalar_tail_average(nu, r, beta)
    channel = _Channels(nu, c, chi, values, counts)
    loss = channel.sum(np.logaddexp(0, -channel.y))
    # the errors in the two equations, relative to their terms, in the form of Propositions 8 and 9
    a, b = channel.a, channel.b
    omega = channel.sum(a) * slope / nu
    score = channel.sum(a * (c + channel.y))
    variance = (nu**2 * (ridge + omega) - score) / channel.sum(a * np.abs(c + channel.y))
    response = chi * (ridge + omega + channel.sum(b / (1 + channel.tau * b))) - 1
    residual = float(max(abs(variance), abs(response)))
    return nu, chi, float(c), float(mu), loss, residual, residual <= RESIDUAL_TOLERANCE


def _grouped(values, counts):
    """Few weights that stand for many, with the sums of theirs and of their counts."""
    place = np.floor(np.log(values / values.max()) / GROUP).astype(int)
    _, group = np.unique(place, return_inverse=True)
    many = np.bincount(group, counts)
    return np.bincount(group, counts * values) / many, many


def _search(values, counts, r, beta, ridge):
    """The two numbers by nested searches, as `assocmem.theory.scalar` has them for one weight."""
    width = 1 / values.max()  # chi / nu, which changes little with nu: the last one starts the next search

    def slope(log_nu):
        nonlocal width
        nu = np.exp(log_nu)
        c, _, c_slope = scalar_tail_average(nu, r, beta)
        chi = _susceptibility(nu, c, values, counts, width * nu)
        width = chi / nu
        channel = _Channels(nu, c, chi, values, counts)
        # the mean of a G is by parts, since it is a small difference where nu is small
        response = channel.sum(channel.b / (1 + channel.tau * channel.b))
        return ridge - 1 / chi + channel.sum(channel.a) * c_slope / nu + response

    # for a small load chi would be beyond all numbers at nu = 1
    low = high = 0.5 * min(0.0, math.log(counts.sum()))
    if slope(low) > 0:
        while slope(low) > 0:
            low, high = low - 2, low
    else:
        while slope(high) < 0:
            low, high = high, high + 2
    nu = float(np.exp(optimize.brentq(slope, low, high, xtol=1e-15, rtol=1e-15)))
    c, _, _ = scalar_tail_average(nu, r, beta)
    return nu, _susceptibility(nu, c, values, counts, width * nu)


def _susceptibility(nu, c, values, counts, start):
    """The chi of the first equation, by Newton's method in its logarithm."""
    log_chi, low, high = np.log(start), -np.inf, np.inf
    most = LOG_LARGEST - np.log(values.max())
    for k in range(200):
        if high - low <= STEP_TOLERANCE:
            break
        log_chi = min(log_chi, most)
        chi = np.exp(log_chi)
        channel = _Channels(nu, c, chi, values, counts)
        square = channel.sum(channel.a**2, 2)
        if square < LEAST_SQUARE:  # chi is so large that no pull is a number
            high = log_chi
            log_chi = 0.5 * (low + high) if np.isfinite(low) else log_chi - LONGEST_STEP
            continue
        miss = np.log(square) + 2 * log_chi - 2 * np.log(nu)
        low, high = (log_chi, high) if miss < 0 else (low, log_chi)
        response = channel.sum(channel.a**2 / (1 + channel.tau * channel.b), 2)
        if miss < 0 and log_chi == most:
            break
        following = log_chi - np.clip(miss * square / (2 * response), -LONGEST_STEP, LONGEST_STEP)
        # between classes that are saturated Newton's method goes in circles
        halve = k % 4 == 3 and high - low < 10 * LONGEST_STEP and abs(following - log_chi) > 0.1
        if halve or not low <= following <= high:
            log_chi = 0.5 * (low + high)
            continue
        moved, log_chi = abs(following - log_chi), following
        if moved <= STEP_TOLERANCE:
            break
    return float(np.exp(log_chi))


def _newton(values, counts, r, beta, ridge, nu, chi):
    """The two numbers by Newton's method from numbers nearby, or None where that does not lead anywhere."""
    last = np.inf
    for _ in range(NEWTON_STEPS):
        c, _, slope = scalar_tail_average(nu, r, beta)
        step = 1e-4
        after, before = (scalar_tail_average(nu * (1 + x), r, beta)[2] for x in (step, -step))
        bend = (after - before) / (2 * step)
        channel = _Channels(nu, c, chi, values, counts)
        a, lever = channel.a, slope - channel.G
        give = channel.b / (1 + channel.tau * channel.b)
        square = channel.sum(a**2, 2)
        push = channel.sum(a) * slope + nu * channel.sum(give)
        F = np.array([np.log(square * chi**2 / nu**2), chi * (ridge + push / nu) - 1])
        # how much the pull of a key changes with log nu, and with log chi
        by_nu, by_chi = give * nu * lever, -channel.tau * a * give
        J = np.array(
            [
                [2 * channel.sum(a * by_nu, 2) / square - 2, 2 + 2 * channel.sum(a * by_chi, 2) / square],
                [
                    chi / nu * (channel.sum(by_nu * lever) + channel.sum(a) * bend - push),
                    chi * (ridge + push / nu) + chi / nu * channel.sum(by_chi * lever),
                ],
            ]
        )
        move = np.linalg.solve(J, -F)
        size = float(np.max(np.abs(move)))
        if not np.isfinite(size) or size > max(10 * last, 50):
            return None
        move = move / max(1.0, size)
        nu, chi = float(nu * np.exp(move[0])), float(chi * np.exp(move[1]))
        if size <= NEWTON_TOLERANCE and size >= 0.5 * last:  # as far as rounding lets it
            return nu, chi
        if size <= 1e-13:
            return nu, chi
        last = size
    return None


def _edges(x, tau, nu):
    """Proximal maps for the edges of panels, near enough for none of them to be far from its G.

    Where nu is small and tau large, a few digits are not enough.
    """
    y = _near_prox(x, tau)
    for _ in range(60):
        a = special.expit(-y)
        miss = y - tau * a - x
        if np.all(np.abs(miss) <= 0.05 * nu + 1e-12 * (np.abs(x) + np.abs(y))):
            break
        y = np.clip(y - miss / (1 + tau * a * special.expit(y)), x, x + tau)
    return y


class _Channels:
    """Nodes of the channels of all weights, and sums over them."""

    def __init__(self, nu, c, chi, values, counts):
        tau = chi * values
        powers = counts, counts * values, counts * values**2
        least = LEAST_STEP * min(1.0, nu)
        still = tau <= least
        if np.any(still):  # they share one channel
            tau = np.append(tau[~still], least)
            powers = [np.append(many[~still], many[still].sum()) for many in powers]
        grid = np.arange(-GAUSSIAN_RANGE, GAUSSIAN_RANGE + GAUSSIAN_STEP, GAUSSIAN_STEP)
        edges = _edges(nu * grid - c, tau[:, None], nu)
        bends = np.arange(-LOGISTIC_RANGE, np.log1p(tau.max()) + LOGISTIC_RANGE, LOGISTIC_STEP)
        bends = np.clip(bends, edges[:, :1], edges[:, -1:])
        edges = np.sort(np.concatenate([edges, bends], axis=1), axis=1)
        half = 0.5 * np.diff(edges, axis=1)
        row, column = np.nonzero(half > 0)
        half = half[row, column][:, None]
        self.y = edges[row, column][:, None] + half * (1 + NODES)
        self.tau = tau[row][:, None]
        self.a = special.expit(-self.y)
        self.b = self.a * special.expit(self.y)
        self.G = (self.y - self.tau * self.a + c) / nu
        self.shares = half * WEIGHTS * _density(self.G) * (1 + self.tau * self.b) / nu
        self.powers = [many[row] for many in powers]

    def sum(self, f, power=1):
        """Sum over all facts, each counted with a power of its weight."""
        return float(self.powers[power] @ np.einsum("ij,ij->i", self.shares, f))
