"""Recall under noise, on the query or on the memory, in the Gaussian picture: constants and half points.

A query ``v_i + s xi`` with xi like a key, or a memory ``W + s (|W|_F / d) Z`` with Z of standard normal
entries, changes every score by a normal number of spread ``s nu``, where ``nu = |W|_F / d`` is the norm
scale; signals and competitors change independently. All signals are 1 here on average, and ``nu^2`` is then
the load ``n / d^2`` to leading order, for outer products, equal signals and any clipped memory.

*Constants.* With ``d^2 = c n log n`` a competitor of the value x, noise y on it and noise -z on the signal
have a probability of ``n^-(c/2) (x^2 + (y^2 + z^2) / s^2)``. There are n^2 pairs of a key and a competitor,
and a signal's noise is the same for all competitors of a key, so that z takes at most the power 1 of n. A
pair fails where ``x + y + z >= 1``, and c is the constant at which the cheapest way there takes the power 2.
A memory can remove all competitors above ``x = sqrt(2 / c)``, of which there is less than one for each key;
below that there are more constraints than entries. This is a derivation of exponents and no proof.

*Sizes that exist.* The two places of noise differ where keys and answers are whitened: the norm grows by
``1 / (1 - d/n)``, and noise on the memory with it, but stored answers let less of a query's noise in.

*Rounding.* A memory whose entries are rounded to b bits is ``rho W`` and an error that is uncorrelated with
W, of the relative variance ``(1 - rho) / rho``, where rho is the share that `assocmem.theory.reshaped` has
for the quantiser. Taking that error for noise, and the entries for normal, gives constants for every b.
One bit is the best in the limit alone; at sizes that can be run two or three bits are as good.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from assocmem.checks import require, require_choice, require_flag, require_number, require_numbers
from assocmem.theory.gaussian_keys import (
    LEAST_SPREAD,
    LOG_HALF,
    LOG_NONE,
    half_point,
    log_failure,
    log_failure_of_tail,
    require_log_n,
)
from assocmem.theory.least_squares import PLACES, noise_gain
from assocmem.theory.reshaped import MOST_BITS, quantiser_share

LARGEST_NOISE = 1e3
"""Spread of the noise, in units of the norm scale, up to which constants are given."""

MEMORIES = ("outer products", "equal signals", "clipped")
"""Kinds of memories that have constants under noise."""

MIDDLE = 500.0
"""Natural logarithm of a number of pairs from which on no noise comes near what whitening can stand."""

CAPS = np.array([0.5, 0.65, 0.75, 0.82, 0.88, 0.93, 0.97, 1.0, 1.04, 1.1, 1.2, 1.4])
"""Levels of a clip that are tried, in units of the largest of n competitors."""

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Of the Gauss-Legendre rule on [-1, 1], over what a clip has left of a competitor."""

TURN = math.sqrt(0.5)
"""Noise from which on removing large competitors does not help."""


# --- constants --------------------------------------------------------------------------------------------


def noisy_constant(s: ArrayLike, *, memory: str) -> np.ndarray | float:
    """Constant of ``d^2 / (n log n)`` at which all pairs are retrieved under noise, as n goes to infinity.

    ``8 (1 + s^2)`` for outer products, ``4 (1 + 2 s^2)`` for equal signals, and for the best clipped memory
    ``2 (1 + sqrt(2) s)^2`` up to ``s = 1 / sqrt(2)`` and that of equal signals from there on.

    Parameters
    ----------
    s : array_like
        Spreads of the noise in units of the norm scale, in [0, 1000].
    memory : str
        ``"outer products"``, ``"equal signals"`` or ``"clipped"``.

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_numbers("s", s, 0, LARGEST_NOISE, ends="[]")
    require_choice("memory", memory, MEMORIES)
    s = np.asarray(s, dtype=float)
    if memory == "outer products":
        return (8 * (1 + s**2))[()]
    equal = 4 * (1 + 2 * s**2)
    if memory == "equal signals":
        return equal[()]
    return np.where(s < TURN, 2 * (1 + math.sqrt(2) * s) ** 2, equal)[()]


def best_clip(s: ArrayLike) -> np.ndarray | float:
    """Highest competitor, in units of the signal, that the best clipped memory leaves at its constant.

    ``1 / (1 + sqrt(2) s)`` up to ``s = 1 / sqrt(2)``. Beyond that it is the value ``1 / (1 + 2 s^2)`` of the
    competitors that fail, which no clip can remove.

    Parameters
    ----------
    s : array_like
        Spreads of the noise in units of the norm scale, in [0, 1000].

    Returns
    -------
    ndarray or float
        In (0, 1], decreasing.

    Raises
    ------
    ValueError
        For a noise out of range.
    """
    require_numbers("s", s, 0, LARGEST_NOISE, ends="[]")
    s = np.asarray(s, dtype=float)
    return np.where(s < TURN, 1 / (1 + math.sqrt(2) * s), 1 / (1 + 2 * s**2))[()]


def noisy_share_constant(s: ArrayLike) -> np.ndarray | float:
    """Constant at which all but a vanishing share of the keys are retrieved under noise: ``2 (1 + s^2)``.

    It is the same for outer products, for equal signals and for any clipped memory: a typical signal is
    hardly changed, and the largest of n competitors is made of values that are too many to be removed.

    Parameters
    ----------
    s : array_like
        Spreads of the noise in units of the norm scale, in [0, 1000].

    Returns
    -------
    ndarray or float

    Raises
    ------
    ValueError
        For a noise out of range.
    """
    require_numbers("s", s, 0, LARGEST_NOISE, ends="[]")
    return (2 * (1 + np.asarray(s, dtype=float) ** 2))[()]


# --- bits -------------------------------------------------------------------------------------------------


def rounding_noise(bits: int, *, uniform: bool = False) -> float:
    """Spread of the noise, in units of the norm scale, that rounding a memory to b bits amounts to.

    Parameters
    ----------
    bits : int
        From 1 to 8.
    uniform : bool
        Whether levels are evenly spaced; otherwise they are the best ones for normal entries.

    Returns
    -------
    float
        ``sqrt((1 - rho) / rho)``.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    rho = quantiser_share(bits, uniform=uniform)
    return math.sqrt((1 - rho) / rho)


def rounded_constant(bits: int, *, memory: str, uniform: bool = False) -> float:
    """Constant of a memory that is written first and rounded to b bits afterwards.

    Parameters
    ----------
    bits : int
        From 1 to 8.
    memory : str
        As in `noisy_constant`.
    uniform : bool
        As in `rounding_noise`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    return float(noisy_constant(rounding_noise(bits, uniform=uniform), memory=memory))


def facts_per_bit(log_n: float, bits: int, *, memory: str, uniform: bool = False) -> float:
    """Pairs that a bit of storage holds, all of them retrieved: ``1 / (b c_b log n)``.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.
    bits : int
        From 1 to 8.
    memory : str
        As in `noisy_constant`.
    uniform : bool
        As in `rounding_noise`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_log_n(log_n)
    return 1 / (bits * rounded_constant(bits, memory=memory, uniform=uniform) * log_n)


def best_bits(*, memory: str, uniform: bool = False) -> int:
    """Number of bits with which a bit of storage holds the most pairs, by the constants.

    Parameters
    ----------
    memory : str
        As in `noisy_constant`.
    uniform : bool
        As in `rounding_noise`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_choice("memory", memory, MEMORIES)
    costs = [b * rounded_constant(b, memory=memory, uniform=uniform) for b in range(1, MOST_BITS + 1)]
    return 1 + int(np.argmin(costs))


# --- half points ------------------------------------------------------------------------------------------


def noisy_half_ratio(
    log_n: float, s: float, *, memory: str, whitened: bool = False, on: str = "query"
) -> float:
    """The ``d^2 / (n log n)`` at which one noisy query of each key succeeds for all keys half of the time.

    Terms of order ``1/d`` are in: lengths of keys and answers, and products of two of them. Outer products
    have signals and competitors of the variance ``load``, before noise. With equal signals competitors have
    the variance ``load / (1 - load)``, which is also the square of the norm scale. A clipped memory has the
    same competitors cut off at the best level; what the clip adds to other scores is counted, and signals
    are made equal again after it.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.
    s : float
        Spread of the noise, in [0, 1000]: on the query in units of a key, on the memory in units of the norm
        scale of outer products for the same signal, ``sqrt(load)``.
    memory : str
        ``"outer products"``, ``"equal signals"`` or ``"clipped"``.
    whitened : bool
        Whether keys and answers are whitened first, as by `assocmem.memories.clipped`. Competitors are
        smaller by ``1 - (d/n)^2`` in their variance then, but noise is larger, as in
        `assocmem.theory.least_squares.noise_gain`.
    on : str
        Where the noise is, ``"query"`` or ``"memory"``.

    Returns
    -------
    float
        At most ``n / log n`` where keys are whitened, as ``d = n`` stores everything.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_log_n(log_n)
    require_number("s", s, 0, LARGEST_NOISE, ends="[]")
    require_choice("memory", memory, MEMORIES)
    require_flag("whitened", whitened)
    require_choice("on", on, PLACES)

    def failures(ratio):
        if _turned(log_n, ratio, s, whitened):
            return LOG_NONE
        kind = "equal signals" if memory == "clipped" else memory
        at = _variances(log_n, ratio, kind, whitened, on)
        if isinstance(at, float):
            return at
        own, rival, shared, scale = at
        spreads = math.sqrt(own + s**2 * scale), math.sqrt(rival + s**2 * scale)
        return log_n + log_failure(log_n, *(min(max(x, LEAST_SPREAD), 1e3) for x in spreads), shared=shared)

    if whitened and s > 0 and log_n < MIDDLE:
        fits = failures(_middle(log_n)) < LOG_HALF
        require(fits, "s", s, "smaller, as a whitened memory retrieves no such queries in any dimension")
    equal = half_point(failures, log_n)
    if memory != "clipped":
        return equal
    return min(half_point(lambda ratio: _best_clipped(log_n, ratio, s, whitened, on), log_n), equal)


def _middle(log_n):
    """The ratio of ``d = n / 2``, near which the noise of a whitened memory is least."""
    return 0.25 * math.exp(log_n) / log_n if log_n < MIDDLE else math.inf


def _turned(log_n, ratio, s, whitened):
    """Whether a whitened memory is past that, so that a search need not go on."""
    return whitened and s > 0 and ratio > _middle(log_n)


def _variances(log_n, ratio, memory, whitened, on):
    """Variances of a signal and a competitor, what it shares with the signal, and of noise of spread 1.

    Where there is no such memory, the log of failures: many at a load above 1, none at d above n.
    """
    load = 1 / (ratio * log_n)
    one_over_d = math.exp(-0.5 * (math.log(ratio * log_n) + log_n))
    left = 1 - math.exp(0.5 * (math.log(ratio * log_n) - log_n)) if whitened else 1.0  # 1 - d / n
    if memory != "outer products" and load > 1 - 1e-6:
        return -LOG_NONE
    if left < 1e-6:
        return LOG_NONE
    used = 1.0 if memory == "outer products" else 1 - load
    own = load * left**2 + 2 * left * one_over_d if memory == "outer products" else 0.0
    lengths, product = 0.5 * left * one_over_d, left * one_over_d
    if memory == "clipped":  # the clip meets large competitors whatever has made them large
        lengths = 0.0
    if whitened:
        gain = float(noise_gain(min(load / one_over_d, 1e12), rule="whitened", on=on))
    else:  # of any combination of outer products, also for d above n
        gain = 1 + one_over_d / load * (on == "query")
    return own + lengths, load * left**2 / used + product, product, load * gain / used


def _best_clipped(log_n, ratio, s, whitened, on):
    """Log of failures of a clipped memory at the best level; below it the noise of the clip takes over."""
    if _turned(log_n, ratio, s, whitened):
        return LOG_NONE
    at = _variances(log_n, ratio, "clipped", whitened, on)
    if isinstance(at, float):
        return at
    own, rival, shared, scale = at
    sigma = math.sqrt(rival + shared)

    def failures(cap):
        noise = math.sqrt(s**2 * scale + _clip_noise(log_n, 1 / (ratio * log_n), sigma, cap) ** 2)
        if noise < 1e-6 * sigma:
            return LOG_NONE
        return log_n + log_failure_of_tail(
            log_n,
            min(math.sqrt(own + s**2 * scale), 1e3),
            lambda level: _log_capped_tail(level, cap, sigma, noise),
            width=min(max(sigma, LEAST_SPREAD), 1e3),
        )

    # The largest competitor of a key is near sqrt(2 log n) spreads, and so is the best level.
    largest = sigma * math.sqrt(2 * log_n)
    caps = np.minimum(largest * CAPS, 1 - 1e-6)
    values = [failures(cap) for cap in caps]
    best = int(np.argmin(values))
    low, high = caps[max(best - 1, 0)], caps[min(best + 1, len(caps) - 1)]
    if values[best] <= LOG_NONE or high - low < 1e-6:
        return values[best]
    found = optimize.minimize_scalar(
        failures, bounds=(low, high), method="bounded", options={"xatol": 1e-3 * low}
    )
    return min(float(found.fun), values[best])


def _clip_noise(log_n, load, sigma, cap):
    """Spread of what a clip at ``cap`` adds to every score: ``sqrt(n load E (x - cap)_+^2)``."""
    t = cap / sigma
    log_square = 2 * math.log(sigma) - 0.5 * t**2 - 0.5 * math.log(2 * math.pi) + _log_hinge(t)
    return math.exp(min(0.5 * (log_n + math.log(load) + log_square), 50.0))


def _log_hinge(t):
    """Log of ``E (G - t)_+^2 / phi(t)`` for t >= 0, where the difference of two terms has its digits."""
    if t > 30:
        return math.log(2 / t**3) + math.log1p(-6 / t**2)
    mills = math.sqrt(math.pi / 2) * special.erfcx(t / math.sqrt(2))
    return math.log((1 + t**2) * mills - t)


def _log_capped_tail(level, cap, sigma, noise):
    """Log of ``P(min(x, cap) + y > level)`` for independent normal x, y of spreads sigma and noise."""
    at_cap = special.log_ndtr(-cap / sigma) + special.log_ndtr(-(level - cap) / noise)
    total = math.hypot(sigma, noise)
    width = sigma * noise / total
    centre = np.minimum(level * (sigma / total) ** 2, cap)
    low, high = centre - 9 * width, np.minimum(cap, centre + 9 * width)
    half = 0.5 * (high - low)
    x = (low + half)[..., None] + half[..., None] * NODES
    logs = special.log_ndtr(-(level[..., None] - x) / noise) - 0.5 * (x / sigma) ** 2
    below = special.logsumexp(logs, b=NODE_WEIGHTS, axis=-1) + np.log(half / (sigma * math.sqrt(2 * math.pi)))
    # Far below the level x + y > level is certain for y alone; nothing is missed below ``low`` but a tail.
    return np.minimum(np.logaddexp(at_cap, below), -1e-300)
