"""Sums of outer products, reshaped: what a function of the entries or singular values keeps of the signal.

``G = U V'`` has for ``n >> d`` entries that are close to independent normal ones of variance ``n / d^2``. A
pair is a change of G by ``u_i v_i'``, of norm 1, that hides in it. For a function F of G, Stein's lemma gives
the mean signal ``u_i' F(G) v_i`` as the mean of ``<G, F(G)>`` over n, and all other scores have the variance
``|F(G)|_F^2 / d^2``. So the square of signal over spread is the share

    rho = E[x f(x)]^2 / (E[x^2] E[f(x)^2])

of that of G itself, x being a standard normal number where f acts on entries, and a number of the quarter
circle on [0, 2] where f acts on the singular values. The constant 8 of outer products becomes ``8 / rho``.
That the signal is the mean of a derivative is exact for a normal G; that the rest is normal noise is not
proved here.

At sizes that can be run n is a few times d, and there functions of the singular values also even out the
spectra of U and V. For the polar factor the mean signal and both variances are known at any ratio
``n / d``, from the resolvent: see `polar_moments`.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize, special

from assocmem.checks import (
    require,
    require_callable,
    require_choice,
    require_flag,
    require_integer,
    require_number,
    require_numbers,
)
from assocmem.theory import gaussian_keys, outer_products

LAWS = ("normal", "quarter circle")
"""Of what a function acts on: of the entries, and of the singular values."""

SIGN_SHARE = 2 / math.pi
"""Kept by the signs of the entries."""

POLAR_SHARE = (8 / (3 * math.pi)) ** 2
"""Kept by the polar factor, all of whose singular values are 1."""

MUON_COEFFICIENTS = (3.4445, -4.775, 2.0315)
"""Of the quintic iteration of ``torch.optim.Muon``, by its documentation."""

MUON_STEPS = 5
"""Steps of that iteration by default."""

MOST_BITS = 8
"""Of the quantisers that are computed."""

LARGEST_DIMENSION = 10**12
"""Up to which the share of the iteration of Muon is given."""

MOST_STEPS = 100
"""Of that iteration, less than which its documentation asks for."""

RANGE = 12.0
"""Standard deviations over which a normal law is integrated."""

PANELS = 600
"""Into which the range of an integral is cut, besides the breaks of the function."""

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)
"""Of the Gauss-Legendre rule on [-1, 1], for each panel."""


def kept_share(
    f: Callable[[np.ndarray], np.ndarray], *, law: str = "normal", breaks: ArrayLike | None = None
) -> float:
    """Share of the squared signal-to-noise that a function of the entries or singular values keeps.

    Parameters
    ----------
    f : callable
        From an array of numbers, scaled to mean square 1, to an array of the same shape. On entries only its
        odd part makes a signal.
    law : str
        ``"normal"`` for the entries, ``"quarter circle"`` for the singular values.
    breaks : array_like, optional
        Points at which the function jumps or bends; without them it should be smooth.

    Returns
    -------
    float
        In [0, 1]; 1 for multiples of the identity alone.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range; also for a function that is not finite, or zero throughout.
    """
    require_callable("f", f)
    require_choice("law", law, LAWS)
    breaks = [] if breaks is None else breaks
    if not (isinstance(breaks, list | tuple) and not breaks):
        require_numbers("breaks", breaks, -1e6, 1e6, ends="[]")
    x, weights = _nodes(law, np.ravel(np.asarray(breaks, dtype=float)))
    values = _values(f, x)
    power = float(weights @ values**2)
    require(
        0 < power < math.inf, "f", f, "a function that is not zero throughout, and whose square is finite"
    )
    return min(float(weights @ (x * values)) ** 2 / power / float(weights @ x**2), 1.0)


def _values(f, x):
    """What a function makes of an array, checked."""
    values = f(x)
    ok = isinstance(values, np.ndarray) and values.shape == x.shape and values.dtype.kind in "iufb"
    ok = ok and bool(np.all(np.isfinite(values)))
    require(ok, "f", f, "a function from an array to finite numbers in the same shape")
    return values.astype(float)


def _nodes(law, breaks):
    """Nodes and weights for the mean over a law; the quarter circle as ``x = 2 sin t``, smooth at its end."""
    low, high = (-RANGE, RANGE) if law == "normal" else (0.0, math.pi / 2)
    if law != "normal":
        breaks = np.arcsin(np.clip(breaks / 2, 0, 1))
    edges = np.concatenate([np.linspace(low, high, PANELS + 1), breaks[(breaks > low) & (breaks < high)]])
    edges = np.unique(edges)
    half = 0.5 * np.diff(edges)[:, None]
    t = (edges[:-1, None] + half * (1 + NODES)).ravel()
    weights = (half * NODE_WEIGHTS).ravel()
    if law == "normal":
        return t, weights * np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi)
    return 2 * np.sin(t), weights * 4 / math.pi * np.cos(t) ** 2


# --- entries ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantiser:
    """A symmetric quantiser of standard normal numbers.

    Attributes
    ----------
    bits : int
        It has ``2^bits`` levels.
    levels : ndarray
        The levels, increasing.
    edges : ndarray
        The ``2^bits - 1`` points between the levels, where the value that is rounded changes its level.
    share : float
        Of the squared signal-to-noise that is kept; 1 minus the mean squared error.
    """

    bits: int
    levels: np.ndarray
    edges: np.ndarray
    share: float


def best_quantiser(bits: int, *, uniform: bool = False) -> Quantiser:
    """The quantiser of a standard normal number with the least mean squared error.

    Parameters
    ----------
    bits : int
        From 1 to 8.
    uniform : bool
        Whether levels are evenly spaced, at odd multiples of one number; otherwise they are free.

    Returns
    -------
    Quantiser

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_integer("bits", bits, 1)
    require(bits <= MOST_BITS, "bits", bits, f"at most {MOST_BITS}")
    require_flag("uniform", uniform)
    return _quantiser(int(bits), bool(uniform))


def quantiser_share(bits: int, *, uniform: bool = False) -> float:
    """Share that is kept by the best quantiser of the entries to b bits, ``1 - D_b``.

    Parameters
    ----------
    bits : int
        From 1 to 8.
    uniform : bool
        As in `best_quantiser`.

    Returns
    -------
    float
        2/pi for one bit.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    return best_quantiser(bits, uniform=uniform).share


@functools.cache
def _quantiser(bits, uniform):
    """The best quantiser, once for each number of bits."""
    count = 2 ** (bits - 1)
    if uniform:
        found = optimize.minimize_scalar(
            lambda x: -_uniform_share(math.exp(x), count),
            bounds=(math.log(0.5 / count), math.log(8 / count)),
            method="bounded",
            options={"xatol": 1e-10},
        )
        step = math.exp(found.x)
        inner, upper = step * np.arange(1, count), step * (np.arange(count) + 0.5)
        scale = _moments(inner, upper)
        upper, share = upper * scale[0] / scale[1], scale[0] ** 2 / scale[1]
    else:
        upper = _lloyd_max(count)
        inner = 0.5 * (upper[1:] + upper[:-1])
        share = _moments(inner, upper)[1]
    levels = np.concatenate([-upper[::-1], upper])
    edges = np.concatenate([-inner[::-1], [0.0], inner])
    levels.flags.writeable = edges.flags.writeable = False
    return Quantiser(bits, levels, edges, float(share))


def _moments(inner, upper):
    """``E x q(x)`` and ``E q(x)^2`` of a symmetric quantiser with these positive edges and levels."""
    edges = np.concatenate([[0.0], inner, [np.inf]])
    density = np.exp(-0.5 * edges**2) / math.sqrt(2 * math.pi)
    return 2 * float(upper @ -np.diff(density)), 2 * float(upper**2 @ -np.diff(special.ndtr(-edges)))


def _uniform_share(step, count):
    """Share that a quantiser with evenly spaced levels keeps."""
    first, second = _moments(step * np.arange(1, count), step * (np.arange(count) + 0.5))
    return first**2 / second


def _lloyd_max(count):
    """Positive levels, each the mean of its cell, by Newton's method from levels of density ``phi^(1/3)``."""
    levels = math.sqrt(3) * special.ndtri(0.5 + (np.arange(count) + 0.5) / (2 * count))
    for _ in range(100):
        edges = np.concatenate([[0.0], 0.5 * (levels[1:] + levels[:-1]), [np.inf]])
        density = np.exp(-0.5 * edges**2) / math.sqrt(2 * math.pi)
        mass = -np.diff(special.ndtr(-edges))
        centre = -np.diff(density) / mass
        # Derivatives of a centre by its lower and its upper edge; the outer edges do not move.
        lower = density[:-1] * (centre - edges[:-1]) / mass
        upper = np.append(density[1:-1] * (edges[1:-1] - centre[:-1]) / mass[:-1], 0.0)
        lower[0] = 0.0
        bands = np.zeros((3, count))
        bands[0, 1:], bands[1], bands[2, :-1] = -0.5 * upper[:-1], 1 - 0.5 * (lower + upper), -0.5 * lower[1:]
        step = linalg.solve_banded((1, 1), bands, levels - centre)
        levels = levels - step
        if np.max(np.abs(step)) < 1e-14:
            break
    return levels


def largest_entries_share(p: ArrayLike) -> np.ndarray | float:
    """Share that is kept where the largest share p of the entries stays and the others become 0.

    ``p + 2 t phi(t)`` with ``t = Phi^-1(1 - p / 2)``; a share p of the entries drawn at random keeps p.

    Parameters
    ----------
    p : array_like
        Shares of the entries in (0, 1].

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        For a share outside (0, 1].
    """
    require_numbers("p", p, 0, 1, ends="(]")
    p = np.asarray(p, dtype=float)
    t = np.abs(special.ndtri(0.5 * p))
    return (p + 2 * t * np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi))[()]


# --- singular values --------------------------------------------------------------------------------------


def rank_share(p: ArrayLike) -> np.ndarray | float:
    """Share that is kept by the share p of the singular values that are largest, of a square matrix.

    With ``p = (2 t - sin 2 t) / pi``, where ``2 cos t`` is the least value that stays, it is
    ``(2 t - sin(4 t) / 2) / pi``.

    Parameters
    ----------
    p : array_like
        Ranks over the dimension, in (0, 1].

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        For a share outside (0, 1].
    """
    require_numbers("p", p, 0, 1, ends="(]")
    p = np.asarray(p, dtype=float)
    low, high = np.zeros_like(p), np.full_like(p, math.pi / 2)
    for _ in range(60):  # halving: the left side increases from 0 to 1
        t = 0.5 * (low + high)
        below = 2 * t - np.sin(2 * t) < math.pi * p
        low, high = np.where(below, t, low), np.where(below, high, t)
    t = 0.5 * (low + high)
    return np.clip((2 * t - 0.5 * np.sin(4 * t)) / math.pi, 0, 1)[()]


def newton_schulz(x: ArrayLike, *, steps: int = MUON_STEPS) -> np.ndarray | float:
    """What the iteration of ``torch.optim.Muon`` makes of a singular value: a quintic, step by step.

    Parameters
    ----------
    x : array_like
        Singular values of a matrix of Frobenius norm 1, in [0, 1].
    steps : int
        From 0 to 99; five in Muon.

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_numbers("x", x, 0, 1, ends="[]")
    _require_steps(steps)
    x = np.asarray(x, dtype=float)
    a, b, c = MUON_COEFFICIENTS
    for _ in range(steps):
        square = x * x
        x = x * (a + square * (b + c * square))
    return x[()]


def newton_schulz_share(d: int, *, steps: int = MUON_STEPS) -> float:
    """Share that is kept by the iteration of ``torch.optim.Muon`` from a sum of many outer products.

    The iteration begins with the Frobenius norm made 1, singular values of ``x / sqrt(d)``. In a large
    dimension its steps end before the small ones have come near 1, so that it keeps more than the polar
    factor does; without any step it would keep all.

    Parameters
    ----------
    d : int
        Dimension, from 4 to 1e12.
    steps : int
        From 0 to 99.

    Returns
    -------
    float
        For n much larger than d; arithmetic is taken for exact, where Muon has eight bits.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_integer("d", d, 4)
    require(d <= LARGEST_DIMENSION, "d", d, f"at most {LARGEST_DIMENSION:g}")
    _require_steps(steps)
    root = math.sqrt(d)
    return kept_share(lambda x: newton_schulz(np.minimum(x / root, 1.0), steps=steps), law="quarter circle")


def _require_steps(steps):
    """Check a number of steps."""
    require_integer("steps", steps, 0)
    require(steps < MOST_STEPS, "steps", steps, f"below {MOST_STEPS}")


@dataclass(frozen=True)
class PolarMoments:
    """Scores of the polar factor of a sum of n outer products in d dimensions, at a fixed ratio ``n / d``.

    Attributes
    ----------
    signal : float
        Mean signal.
    signal_variance : float
        Variance of a signal, times d.
    rival_variance : float
        Variance of a competitor, times d.
    share : float
        ``(n / d) signal^2 / rival_variance``, that of the squared signal-to-noise with respect to crosstalk
        of the variance ``n / d^2``. Outer products have ``1 / (1 + 2 d / n)`` in the same count.
    """

    signal: float
    signal_variance: float
    rival_variance: float
    share: float


def polar_moments(ratio: float) -> PolarMoments:
    """Signal and noise of the polar factor of ``U V'`` as d goes to infinity at a fixed ``n / d``.

    With H the matrix with blocks G and G', the polar factor is an integral of the resolvent of H along the
    imaginary axis. Taking pairs out of H leaves the mean ``i gamma(y)`` of its diagonal and independent
    normal numbers, and the law of the singular values gives ``y = 1 / gamma - (n/d) gamma / (1 + gamma^2)``.
    The signal is ``(2 / pi)`` times the integral of ``gamma^2 / (1 + gamma^2)`` over positive y, which has
    a closed form; the variances are double integrals.

    Parameters
    ----------
    ratio : float
        ``n / d``, in [1.05, 1e6].

    Returns
    -------
    PolarMoments

    Raises
    ------
    ValueError
        For a ratio out of range.
    """
    require_number("ratio", ratio, 1.05, 1e6, ends="[]")
    return _polar_moments(float(ratio))


@functools.lru_cache(maxsize=256)
def _polar_moments(c):
    """The moments, once for each ratio."""
    last = 1 / math.sqrt(c - 1)  # gamma where y = 0
    t, w = (v / 2 for v in np.polynomial.legendre.leggauss(160))
    t = t + 0.5
    gamma, dgamma = last * (1 - t**2), 2 * last * t * w
    dy = dgamma * (1 / gamma**2 + c * (1 - gamma**2) / (1 + gamma**2) ** 2)
    g, h = gamma[:, None], gamma[None, :]
    product, scale = g * h, (1 + g**2) * (1 + h**2)
    # Means of (y y' + s^2) and (y y' - s^2) over (y^2 + s^2)(y'^2 + s^2), by divided differences of gamma.
    plus = 1 / (1 / product - c * (1 + product) / scale)
    minus = 1 / (1 / product + c * (1 - product) / scale)
    even, odd = 0.5 * (plus + minus), 0.5 * (plus - minus)
    measure = 4 / math.pi**2 * dy[:, None] * dy[None, :] / scale**2
    rival = float(np.sum(measure * (2 * product * even + (1 + product**2) * odd)))
    own = float(np.sum(measure * (4 * product * even + (1 - g**2) * (1 - h**2) * odd)))
    signal = 4 / math.pi * _quotient_integral(c, last)
    return PolarMoments(signal, own, rival, c * signal**2 / rival)


def _quotient_integral(c, last):
    """Integral of ``(1 - (c - 1) g^2) / (1 + g^2)^3`` from 0 to ``last = 1 / sqrt(c - 1)``."""
    # Integrals of (1 + g^2)^-k by the recursion from the arctangent; the numerator is c - (c - 1)(1 + g^2).
    if c > 1e3:  # in powers of last, where the terms of order one cancel
        k = np.arange(30)
        signs, square = (-1.0) ** k, last**2
        cubes = signs * (k + 1) * (k + 2) / 2
        return float(np.sum(cubes * last ** (2 * k + 1) * (1 / (2 * k + 1) - (c - 1) * square / (2 * k + 3))))
    first = math.atan(last)
    second = 0.5 * (last / (1 + last**2) + first)
    third = 0.25 * (last / (1 + last**2) ** 2 + 3 * second)
    return c * third - (c - 1) * second


# --- what a share means -----------------------------------------------------------------------------------


def rule_constant(rho: ArrayLike) -> np.ndarray | float:
    """Constant ``8 / rho`` of ``d^2 / (n log n)`` of a reshaped sum of outer products.

    Parameters
    ----------
    rho : array_like
        Shares in (0, 1] that are kept.

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        For a share out of range.
    """
    require_numbers("rho", rho, 1e-12, 1, ends="[]")
    return (8 / np.asarray(rho, dtype=float))[()]


def reshaped_half_ratio(log_n: float, rho: float) -> float:
    """The ``d^2 / (n log n)`` at which a reshaped sum retrieves every pair half of the time.

    It is that of outer products in the Gaussian picture over the share: the load is ``rho`` times as large.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, at least log 3.
    rho : float
        Share that is kept, in (0, 1].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_number("rho", rho, 1e-12, 1, ends="[]")
    return outer_products.half_success_ratio(log_n) / rho


def polar_half_ratio(log_n: float) -> float:
    """The ``d^2 / (n log n)`` at which the polar factor retrieves every pair half of the time, at finite n.

    By `polar_moments` at the ratio ``n / d`` that goes with it. The part of the variances that comes from the
    lengths of keys and answers, and from products of two of them, is split as for outer products, in
    proportion to what the signal's variance exceeds a competitor's by: this split is an interpolation.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a size out of range.
    """
    gaussian_keys.require_log_n(log_n)

    def failures(ratio):
        log_d = 0.5 * (math.log(ratio * log_n) + log_n)
        c = math.exp(min(log_n - log_d, 50.0))
        if c < 1.06:
            return gaussian_keys.LOG_NONE
        at = polar_moments(min(c, 1e6))
        # In units of the squared signal and of the load c / d.
        own, rival = (x / at.signal**2 / min(c, 1e6) for x in (at.signal_variance, at.rival_variance))
        load, part = 1 / (ratio * log_n), 0.5 * (own - rival)
        spreads = (math.sqrt(load * (own - 1.5 * part)), math.sqrt(load * (rival - part)))
        return log_n + gaussian_keys.log_failure(log_n, *spreads, shared=load * part)

    return gaussian_keys.half_point(failures, log_n)
