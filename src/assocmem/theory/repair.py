"""Repaired memories in the Gaussian picture, where only ``log n`` enters: n may be 10^100, or far more.

Scores are taken for normal variables, independent but for what the construction ties together. Under the base
memory a key has the signal ``s = 1 + sigma_s Z`` and competitors of spread ``sigma_c``. The repair adds noise
of spread ``tau``, and the weight ``2 gamma - m`` to the signal of a deficient key. The leading correction of
order 1/d is in, and goes away by itself: a factor ``|v_i|`` is common to all scores of a key and leaves their
order alone, and without it the variance of a signal exceeds the load by ``2.5/d0``, that of a competitor by
``(1 + s^2)/d0``, which is about ``1.5/d0`` where keys fail.

A repair in place is not independent of the base. With a mean weight ``w`` over all keys it is ``w`` times the
base, and only the weights' deviations from w are noise: signals and competitors grow by ``1 + w``, so that a
weight lifts by less. And a signal that is low because of a neighbour makes that neighbour's weight large:
whatever two pairs add to each other comes back with the opposite sign, an *echo* that lowers all signals by
``load (p + gamma f)``, p being the share of deficient keys and f the density of margins at gamma.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from assocmem.checks import SCALES, is_number, require, require_number
from assocmem.theory.gaussian_keys import require_log_n

LOG_2PI = math.log(2 * math.pi)

LOG_LOG_2 = math.log(math.log(2))
"""Log of the expected number of failures at which a memory is retrieved with probability one half."""

NO_NOISE = 1e-6
"""Spread of the noise below which it does not matter: a millionth of a signal."""

LOG_IMPOSSIBLE = -1e7
"""Log of a probability that is taken for zero, far less than one over the number of pairs at any size."""

LEAST_LOG_FAILURES = -50.0
"""Log of a number of failures that stands for any smaller one where a ratio is searched for: a search needs
finite numbers, and the one it is after is log log 2."""

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Of the Gauss-Legendre rule on [-1, 1], for eight standard deviations of a normal law on either side."""

LOG_E = np.linspace(-20, 4, 61)
"""Logs of values of a standard exponential variable E: it is below the first with a probability of 2e-9, and
above the last with one of ``exp(-54)``."""

LOG_E_WEIGHTS = LOG_E - np.exp(LOG_E) + math.log(LOG_E[1] - LOG_E[0])
"""Logs of the probabilities that these values stand for."""

SMALL_TAIL = 8.0
"""Standard deviations from which on ``-log(1 - tail)`` is the tail to all digits."""

MOST_LOG_FAILURES = 7.0
"""Log of an expected number of failures with which success has no probability left, ``exp(-1096)``."""


@dataclass(frozen=True)
class RepairPrediction:
    """Failures, deficient keys and noise of a repaired memory in the Gaussian picture.

    Attributes
    ----------
    log_failures : float
        Log of the expected number of keys not retrieved.
    deficient : float
        Share of the keys that are deficient.
    noise : float
        Spread ``tau`` of the scores added to other targets, in units of the base scores.
    margin : float
        Median margin of a key under the base memory alone.
    """

    log_failures: float
    deficient: float
    noise: float
    margin: float

    @property
    def success(self) -> float:
        """Probability that all keys are retrieved, failures being rare and scattered."""
        return math.exp(-math.exp(min(self.log_failures, MOST_LOG_FAILURES)))


def paper_share(log_n: float) -> float:
    """Share ``(log n)^(-1/8)`` of the coordinates that the proof reserves.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, above 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a size out of range.
    """
    require(is_number(log_n) and 1 < log_n < math.inf, "log_n", log_n, "above 1")
    return log_n**-0.125


def predict_repair(log_n: float, ratio: float, *, share: float | None, gamma: float) -> RepairPrediction:
    """Failures of sparse repair from the Gaussian picture, by quadrature in the logarithm.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.
    ratio : float
        ``d^2 / (n log n)``, positive.
    share : float or None
        Share ``d1 / d`` of the coordinates that is reserved, in (0, 1); None for a repair in place, where all
        of them serve twice.
    gamma : float
        As in `assocmem.memories.sparse_repair.sparse_repair`, in (0, 1/2).

    Returns
    -------
    RepairPrediction
        Far out (log n above 1000) only the ratio at which failures set in is accurate, to 1e-4, not their
        number, which changes by orders within that; and where there are next to no deficient keys, at a
        ratio of the base near 8 and above, their share is a lower bound.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_log_n(log_n)
    require_number("ratio", ratio, 0)
    require(SCALES[0] <= ratio <= SCALES[1], "ratio", ratio, f"in [{SCALES[0]:g}, {SCALES[1]:g}]")
    require(
        share is None or (is_number(share) and SCALES[0] <= share < 1), "share", share, "None or in (0, 1)"
    )
    require(is_number(gamma) and 0 < gamma < 0.5, "gamma", gamma, "in (0, 1/2)")
    # Load, dimensions of base and repair in units of d, and spreads of signals and competitors.
    load = 1 / (ratio * log_n)
    one_over_d = math.exp(-0.5 * (math.log(ratio * log_n) + log_n))
    d0, d1 = (1, 1) if share is None else (1 - share, share)
    sigma_s = math.sqrt(load / d0**2 + 2.5 * one_over_d / d0)
    sigma_c = math.sqrt(load / d0**2 + 1.5 * one_over_d / d0)

    # The best competitor x of a key: n times the probability of a larger score is an exponential variable E.
    best = -sigma_c * special.ndtri_exp(np.minimum(LOG_E - log_n, -1e-9))
    weights = np.exp(LOG_E_WEIGHTS)

    # A key is deficient if its signal is below best + gamma. Their share, and moments of their weights.
    shortfall = (best + gamma - 1) / sigma_s
    deficient = math.exp(special.logsumexp(LOG_E_WEIGHTS + special.log_ndtr(shortfall)))
    first, second = _weight_moments(shortfall, gamma, sigma_s)
    mean, square = float(np.sum(weights * first)), float(np.sum(weights * second))
    own = square / max(deficient, 1e-300)

    # Where the repair lifts a deficient signal to, what every signal loses, and by what the base has grown.
    level, lost, grown = best + 2 * gamma, 0.0, 1.0
    if share is None:  # the repair is ``mean`` times the base, and noise from weights that differ from it
        boundary = np.sum(weights * np.exp(-0.5 * shortfall**2)) / math.sqrt(2 * math.pi) / sigma_s
        echo = load * (deficient + gamma * boundary)
        grown, square = 1 + mean, max(square - mean**2, 0.0)
        lost = (mean + echo) / grown
        dip = np.exp(-0.5 * shortfall**2 - special.log_ndtr(shortfall)) / math.sqrt(2 * math.pi)
        level = best + 2 * gamma / grown + (1 - sigma_s * dip - best) * mean / grown

    # Spread of the noise at any score, at those of a deficient key, and at the signal of such a key.
    tau = math.sqrt(square * (load / d1**2 + one_over_d / d1)) / grown
    tau_own = math.sqrt(tau**2 + own * one_over_d / d1)
    tau_signal = math.sqrt(tau**2 + 4 * own * one_over_d / d1)

    # Failures among the deficient keys and among the others.
    lifted = _log_beaten(best, level - lost, log_n, sigma_c, tau_own, tau_signal, rival=True)
    failing_lifted = special.logsumexp(LOG_E_WEIGHTS + special.log_ndtr(shortfall) + lifted)
    failing_rest = _log_rest(gamma, log_n, sigma_s, sigma_c, tau, lost)
    total = np.logaddexp(failing_lifted, failing_rest) + log_n
    median = 1 + math.sqrt(load / d0**2 + 2 * one_over_d / d0) * special.ndtri_exp(LOG_LOG_2 - log_n)
    return RepairPrediction(float(total), deficient, tau, float(median))


def _weight_moments(x, gamma, sigma):
    """``E w`` and ``E w^2`` of ``w = gamma + sigma (x - Z)`` where that is above gamma, and 0 elsewhere."""
    density, tail = np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi), special.ndtr(x)
    first = np.maximum(x * tail + density, 0)
    second = np.maximum((1 + x**2) * tail + x * density, 0)
    return gamma * tail + sigma * first, gamma**2 * tail + 2 * gamma * sigma * first + sigma**2 * second


def _log_rest(gamma, log_n, sigma_s, sigma_c, tau, lost):
    """Log probability that a key is not deficient and fails all the same, its signal lowered by ``lost``."""

    def integrand(z):
        s = 1 + sigma_s * z
        spared = -np.exp(np.minimum(log_n + special.log_ndtr(-(s - gamma) / sigma_c), 700.0))
        return (
            spared - 0.5 * z**2 - 0.5 * LOG_2PI + _log_beaten(s - gamma, s - lost, log_n, sigma_c, tau, tau)
        )

    span = math.sqrt(2 * log_n)
    coarse = np.linspace(-span - 3, 6, 40)
    values = integrand(coarse)
    if not values.max() > LOG_IMPOSSIBLE:
        return -math.inf
    inside = coarse[values > values.max() - 40]
    z = np.linspace(inside[0] - 0.3, inside[-1] + 0.3, 50)
    return special.logsumexp(integrand(z)) + math.log(z[1] - z[0])


def _log_beaten(best, signal, log_n, sigma, tau, tau_signal, rival=False):
    """Log probability that a key is not retrieved after noise, for keys whose competitors are below ``best``.

    The signal is ``signal`` and noise of spread ``tau_signal``; a competitor of spread ``sigma``, known to be
    below ``best``, receives noise of spread ``tau``. With ``rival`` there is one at ``best`` itself.
    """
    best, signal = np.broadcast_arrays(np.asarray(best, float), np.asarray(signal, float))
    if tau < NO_NOISE:
        return np.full(best.shape, -np.inf)
    span = math.sqrt(2 * log_n) + 2
    y = np.linspace(-span, 5, 41)
    values = _log_beaten_at(best[:, None], signal[:, None], y, log_n, sigma, tau, tau_signal, rival)
    fine = y[np.argmax(values - 0.5 * y**2, axis=1)][:, None] + np.linspace(-6, 6, 41)
    values = _log_beaten_at(best[:, None], signal[:, None], fine, log_n, sigma, tau, tau_signal, rival)
    return _log_sum(values - 0.5 * fine**2) - 0.5 * LOG_2PI + math.log(12 / 40)


def _log_beaten_at(best, signal, y, log_n, sigma, tau, tau_signal, rival):
    """The probability of `_log_beaten` given that the signal's noise is ``tau_signal y``."""
    level = signal + tau_signal * y
    log_rate = log_n + _log_crossing(best, level, sigma, tau)
    if rival:
        clear = (level - best) / tau
        log_tail = special.log_ndtr(-clear)
        near = np.log(-special.log_ndtr(np.minimum(clear, SMALL_TAIL)))
        log_rate = np.logaddexp(log_rate, np.where(clear < SMALL_TAIL, near, log_tail))
    return _log_some(log_rate)


def _log_some(log_rate):
    """Log of ``1 - exp(-rate)``, without underflow."""
    log_rate = np.minimum(log_rate, 30.0)
    return np.where(log_rate < -30, log_rate, np.log(-np.expm1(-np.exp(np.maximum(log_rate, -30.0)))))


def _log_crossing(best, level, sigma, tau):
    """Log of ``P(A < best, A + B > level)`` for independent normal A, B of spreads sigma and tau."""
    total = math.hypot(sigma, tau)
    width = sigma * tau / total
    centre = np.minimum(level * (sigma / total) ** 2, best)
    low = centre - 8 * width
    high = np.minimum(best, centre + 8 * width)
    half = 0.5 * (high - low)
    a = (low + half)[..., None] + half[..., None] * NODES
    log_f = special.log_ndtr(-(level[..., None] - a) / tau) - 0.5 * (a / sigma) ** 2
    return _log_sum(log_f, NODE_WEIGHTS) + np.log(half) - 0.5 * LOG_2PI - math.log(sigma)


def _log_sum(x, weights=1.0):
    """Log of the weighted sum of ``exp(x)`` over the last axis, in half the time that SciPy takes."""
    largest = np.maximum(x.max(axis=-1), -1e300)
    return largest + np.log(np.sum(weights * np.exp(x - largest[..., None]), axis=-1))


def half_success_ratio(log_n: float, *, share: float | None, gamma: float) -> float:
    """The ``d^2 / (n log n)`` at which a repair succeeds with probability one half, in the Gaussian picture.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.
    share : float or None
        As in `predict_repair`.
    gamma : float
        As in `predict_repair`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """

    def surplus(log_ratio):
        found = predict_repair(log_n, math.exp(log_ratio), share=share, gamma=gamma).log_failures
        return max(found, LEAST_LOG_FAILURES) - LOG_LOG_2

    low, high = math.log(1.0), math.log(16.0)
    while surplus(high) > 0:
        low, high = high, high + math.log(16.0)
    return math.exp(optimize.toms748(surplus, low, high, xtol=1e-4))


@dataclass(frozen=True)
class BestRepair:
    """The reserve and the margin with which a repair needs the fewest dimensions.

    Attributes
    ----------
    ratio : float
        ``d^2 / (n log n)`` at which it succeeds half of the time.
    share : float or None
        As in `predict_repair`.
    gamma : float
        As in `predict_repair`.
    """

    ratio: float
    share: float | None
    gamma: float


def best_split(log_n: float) -> BestRepair:
    """Reserve and margin that minimise `half_success_ratio`, by the simplex method; the ratio is good to 1%.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.

    Returns
    -------
    BestRepair

    Raises
    ------
    ValueError
        For a size out of range.
    """

    def choice(x):
        return {"share": float(special.expit(x[0])), "gamma": float(0.5 * special.expit(x[1]))}

    simplex = [(-2.5, -1.5), (-2.0, -1.5), (-2.5, -1.0)]
    found = optimize.minimize(
        lambda x: half_success_ratio(log_n, **choice(x)),
        simplex[0],
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "xatol": 0.03, "fatol": 0.003},
    )
    return BestRepair(float(found.fun), **choice(found.x))


def best_margin(log_n: float, share: float | None) -> BestRepair:
    """Margin that minimises `half_success_ratio` for a given reserve, by a bounded search.

    The search is local: up to ten digits the reserve of the proof has two minima within 1% of each other.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.
    share : float or None
        As in `predict_repair`; None for a repair in place.

    Returns
    -------
    BestRepair

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    found = optimize.minimize_scalar(
        lambda x: half_success_ratio(log_n, share=share, gamma=math.exp(x)),
        bounds=(math.log(1e-3), math.log(0.499)),
        method="bounded",
        options={"xatol": 0.02},
    )
    return BestRepair(float(found.fun), share, math.exp(found.x))


# --- equal signals ----------------------------------------------------------------------------------------


def log_equalised_failures(log_n: float, ratio: float) -> float:
    """Log of the expected number of competitors above their signal when all signals are equal.

    All n^2 competitors have the variance ``load / (1 - load)``, as n conditions have used up the share
    ``load`` of the d^2 entries, and the signal is 1.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.
    ratio : float
        ``d^2 / (n log n)``, above ``1 / log n``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_log_n(log_n)
    return 2 * log_n + float(special.log_ndtr(-1 / _equalised_spread(log_n, ratio)))


def equalised_half_ratio(log_n: float) -> float:
    """The ratio at which equal signals retrieve every pair with probability one half; it tends to 4.

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
    require_log_n(log_n)
    return (1 + special.ndtri_exp(LOG_LOG_2 - 2 * log_n) ** 2) / log_n


def log_clipped_failures(log_n: float, ratio: float, gamma: float) -> float:
    """Log of the expected number of competitors above their signal, after equal signals and one hard clip.

    The clip is at ``1 - gamma``; its noise may lift a competitor that was below.

    Parameters
    ----------
    log_n, ratio : float
        As in `log_equalised_failures`.
    gamma : float
        In (0, 1).

    Returns
    -------
    float
        Minus infinity where the clip adds next to no noise.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    sigma, load = _equalised_spread(log_n, ratio), 1 / (ratio * log_n)
    require_number("gamma", gamma, 0, 1)
    t = (1 - gamma) / sigma
    mills = math.sqrt(math.pi / 2) * special.erfcx(t / math.sqrt(2))
    square = sigma**2 * ((1 + t**2) * mills - t)
    if square <= 0:  # far below what double precision tells from nothing
        return -math.inf
    log_square = math.log(square) - 0.5 * t**2 - 0.5 * LOG_2PI
    log_tau = 0.5 * (log_n + math.log(load) + log_square)  # tau^2 = n^2 E (x - 1 + gamma)_+^2 / d^2
    if log_tau < math.log(NO_NOISE):
        return -math.inf
    tau = math.exp(min(log_tau, 50.0))
    return 2 * log_n + float(_log_crossing(np.array(1 - gamma), np.array(1.0), sigma, tau))


def clipped_half_ratio(log_n: float, gamma: float | None = None) -> float:
    """The ratio at which equal signals and one clip succeed with probability one half; it tends to 2.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.
    gamma : float, optional
        In (0, 1); by default the best one.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_log_n(log_n)
    require_number("gamma", 0.5 if gamma is None else gamma, 0, 1)
    if gamma is None:
        bounds = math.log(1e-5), -0.2
        found = optimize.minimize_scalar(
            lambda x: clipped_half_ratio(log_n, math.exp(x)), bounds=bounds, method="bounded"
        )
        return float(found.fun)

    def surplus(ratio):
        return max(log_clipped_failures(log_n, ratio, gamma) - LOG_LOG_2, LEAST_LOG_FAILURES)

    return optimize.brentq(surplus, 1.05 / log_n, 8 + 8 / log_n, xtol=1e-6)  # from a load near 1 on


def _equalised_spread(log_n, ratio):
    """Standard deviation of a competitor when all signals are one."""
    require_log_n(log_n)
    ok = is_number(ratio) and 1 / log_n < ratio < math.inf and ratio * log_n > 1
    require(ok, "ratio", ratio, "above 1 / log n, a load below 1")
    return math.sqrt(1 / (ratio * log_n - 1))
