"""What a fact costs a memory when answers follow a linear rule, by the kinematic argument.

Let targets and keys be white, and let a target be linear in its key up to noise, ``u = C v + noise``. Then
the rule ``W = C / |C|_F`` gives a competitor a score of mean 0 and variance 1, and a signal the mean
``|C|_F``: call that the *strength* q of the rule. A memory ``t C / |C|_F + W'`` has scores ``g + t s``, where
W' is free in all directions and g stands for the score directions that it commands, taken for independent as
in `kinematics`. A random subspace of dimension D then meets the cones of n facts, moved by ``t s``, where D
is more than ``n E dist(g + t s, C)^2`` [Gordon, 1988; Amelunxen, Lotz, McCoy and Tropp, 2014], and a memory
has ``D = d_in min(d_out, m - 1)`` and the choice of t. Divide by the variance ``1 + t^2`` of a competitor:
with ``x = t / sqrt(1 + t^2)`` a fact costs

    min over x in [0, 1) of  E dist(g + x q e_1, C)^2 / (1 - x^2) ,

the mean squared distance of a score column whose signal leads by ``x q``. At q = 0 that is the statistical
dimension of facts without a rule. The same argument gives the phase transition of logistic regression with a
signal [Candes and Sur, 2020].
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special
from scipy.optimize import minimize_scalar

from assocmem.checks import require, require_integer, require_number
from assocmem.theory.kinematics import statistical_dimension

NODES = 80
"""Gauss-Legendre nodes over the level at which a signal meets its competitors."""
FREQUENCIES = 200
"""Midpoints of the Fourier integral; with so many, and so many nodes, distances are good to six digits."""
HIGHEST_FREQUENCY = 8.5
"""Frequency, in units of the signal's deviation, at which the integral ends."""
HOPELESS_EXCESS = 60.0
"""Sum of excesses that no signal makes up for."""
LOWEST_LEVEL = -9.0
"""Level below which a competitor has a probability of 1e-19."""
TINY = 1e-300
"""Keeps the logarithm of a number that has underflowed finite."""
MOST_TARGETS = 1_000_000
"""Targets up to which the quadrature was tried."""
LARGEST_LEAD = 20.0
"""Lead, and strength of a rule, up to which it was tried: there a million targets are beaten for nothing."""
LARGEST_SHARE = 0.9999
"""Share of the rule in a memory up to which the best one is looked for."""


@dataclass(frozen=True)
class RuledCost:
    """What a fact costs that follows a rule.

    Attributes
    ----------
    dimensions : float
        Numbers of the memory that a fact takes: the statistical dimension of a fact without a rule, or less.
    share : float
        The ``x`` of the best memory: 0 if it makes no use of the rule, near 1 if it is little else.
    """

    dimensions: float
    share: float


def led_distance(m: int, lead: float, variance: float = 1.0) -> float:
    """Mean squared distance of a score column from the cone of those whose signal is the largest.

    Competitors are independent standard normal numbers. The squared distance is that of lifting the signal
    and lowering the competitors above it to a common level. Given the competitors, the level y is a monotone
    function of the signal; so the mean is an integral over y of what is lowered there, which the
    characteristic function of the sum of excesses gives.

    Parameters
    ----------
    m : int
        Number of targets, from 2 to a million.
    lead : float
        Mean of the signal, in [-20, 20].
    variance : float
        Of the signal, in [1/2, 4].

    Returns
    -------
    float
        To an absolute 1e-6 up to ten thousand targets, and 1e-3 at a million. At lead 0 and variance 1 it is
        `statistical_dimension`.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("m", m, 2)
    require(m <= MOST_TARGETS, "m", m, f"at most {MOST_TARGETS}")
    require_number("lead", lead, -LARGEST_LEAD, LARGEST_LEAD, ends="[]")
    require_number("variance", variance, 0.5, 4.0, ends="[]")
    return _led_distance(int(m), float(lead), float(variance))


def ruled_cost(m: int, strength: float, spread: float = 0.0) -> RuledCost:
    """Numbers of a memory that a fact takes whose answer follows a linear rule of some strength.

    Parameters
    ----------
    m : int
        Number of targets, from 2 to a million.
    strength : float
        Mean of the rule's score of a right answer, in deviations of its scores of wrong ones; in [0, 20].
        For Gaussian vectors it is ``|C|_F``, the root of the sum of the squared canonical correlations.
    spread : float
        Variance of the rule's score of right answers beyond that of wrong ones, in [0, 3].

    Returns
    -------
    RuledCost

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("m", m, 2)
    require(m <= MOST_TARGETS, "m", m, f"at most {MOST_TARGETS}")
    require_number("strength", strength, 0, LARGEST_LEAD, ends="[]")
    require_number("spread", spread, 0, 3.0, ends="[]")
    return _ruled_cost(int(m), float(strength), float(spread))


@cache
def _ruled_cost(m, strength, spread):
    """Result of `ruled_cost`, which takes a few dozen quadratures."""

    def cost(x):
        return _led_distance(m, x * strength, 1 + spread * x**2) / (1 - x**2)

    alone = statistical_dimension(m)
    if strength == 0:
        return RuledCost(alone, 0.0)
    found = minimize_scalar(cost, bounds=(0, LARGEST_SHARE), method="bounded", options={"xatol": 1e-3})
    return RuledCost(float(found.fun), float(found.x)) if found.fun < alone else RuledCost(alone, 0.0)


def _led_distance(m, lead, variance):
    """Result of `led_distance` for arguments that will do.

    With N competitors above the level y, excesses over it that add up to S, and squares of excesses that add
    up to Q, the signal is ``y - S``, moves by ``1 + N`` where the level moves by one, and is ``S^2 + Q`` from
    the cone. So the mean is that of ``(1 + N) (S^2 + Q)`` times the density of the signal there, over all y.
    """
    others = m - 1
    y, weights = _nodes(_hopeless_level(m), math.sqrt(2 * math.log(m)) + 7.0)
    step = HIGHEST_FREQUENCY / FREQUENCIES / math.sqrt(variance)
    omega = step * (np.arange(FREQUENCIES) + 0.5)[:, None]
    density = np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi)
    mills = math.sqrt(math.pi / 2) * special.wofz((omega + 1j * y) / math.sqrt(2))
    z = y - 1j * omega
    # Means of 1, h and h^2 times exp(i omega h), over the excess h of a competitor that is above the level.
    above, first, second = density * mills, density * (1 - z * mills), density * ((1 + z**2) * mills - z)
    logarithm = np.log(above + special.ndtr(y) + TINY)
    signal = -variance * omega**2 / 2 - 1j * omega * (y - lead)

    def rest(members):
        """What the competitors that are not singled out, and the signal, contribute."""
        return np.exp((others - members) * logarithm + signal)

    total = 4 * others * second * rest(1)  # one competitor is lowered: all of N, S and Q are its own
    if others > 1:
        total = total + others * (others - 1) * (3 * first**2 + 2 * second * above) * rest(2)
    if others > 2:
        total = total + others * (others - 1) * (others - 2) * first**2 * above * rest(3)
    return max(0.0, float(weights @ total.real.sum(axis=0)) * step / math.pi)


def _hopeless_level(m):
    """A level so low that the excesses over it add up to more than any signal makes up for."""
    levels = np.linspace(LOWEST_LEVEL, 8.0, 500)
    density = np.exp(-(levels**2) / 2) / math.sqrt(2 * math.pi)
    excess = m * (density - levels * special.ndtr(-levels))
    return float(levels[max(0, np.searchsorted(-excess, -HOPELESS_EXCESS) - 1)])


def _nodes(low, high):
    """Gauss-Legendre nodes and weights on an interval."""
    x, weights = np.polynomial.legendre.leggauss(NODES)
    return low + (high - low) * (x + 1) / 2, weights * (high - low) / 2
