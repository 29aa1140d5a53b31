"""One key among n targets in the Gaussian picture: how often it fails, and where n keys succeed.

The signal is normal with mean 1, competitors are independent and have a given tail. All is in logarithms, so
that n may be ``e^10000``. Rules that write (`assocmem.theory.reshaped`, `assocmem.theory.least_squares`,
`assocmem.theory.forgetting`) and noise (`assocmem.theory.noisy_recall`) differ in the spreads alone.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from assocmem.checks import is_number, require, require_callable, require_number

LARGEST_LOG_N = 1e4
"""Natural logarithm of the number of pairs up to which the quadrature has been tried."""

LARGEST_SPREAD = 1e3
"""Spread of scores, in units of the signal, beyond any at which something is retrieved."""

LEAST_SPREAD = 1e-4
"""Of a competitor, at which none of ``e^10000`` comes near the signal."""

LOG_HALF = math.log(math.log(2))
"""Log of the expected number of failing keys with which all are retrieved half of the time."""

FAINTEST = 0.02
"""Spread of scores down to which failures are followed however rare they are; of smaller spreads only those
that are not much rarer than one in ``n^3``."""

LOG_NONE = -60.0
"""Stands for the log of any smaller number of failures, where a search needs finite numbers."""

MOST_RATIO = 1e9
"""Up to which a half point is searched for."""


def log_failure(log_n: float, signal_spread: float, rival_spread: float, *, shared: float = 0.0) -> float:
    """Log of the probability that a normal signal of mean 1 is not above n independent normal competitors.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of competitors, between log 10 and 1e4.
    signal_spread : float
        Standard deviation of the signal, in [0, 1000].
    rival_spread : float
        Standard deviation of a competitor, in [1e-4, 1000].
    shared : float
        Variance that a competitor has in addition, in units of the square of the signal, as the answer that
        makes the signal has a product with other answers; in [0, 1000].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_log_n(log_n)
    require_number("signal_spread", signal_spread, 0, LARGEST_SPREAD, ends="[]")
    require_number("rival_spread", rival_spread, LEAST_SPREAD, LARGEST_SPREAD, ends="[]")
    require_number("shared", shared, 0, LARGEST_SPREAD, ends="[]")
    if shared == 0 and signal_spread > rival_spread:
        return _over_best_rivals(log_n, signal_spread, rival_spread)

    def log_tail(level):
        return special.log_ndtr(-level / np.sqrt(rival_spread**2 + shared * level**2))

    return _over_signals(log_n, signal_spread, log_tail, rival_spread)


def log_failure_of_tail(
    log_n: float, signal_spread: float, log_tail: Callable[[np.ndarray], np.ndarray], *, width: float
) -> float:
    """Log of the probability that a normal signal of mean 1 is not above n competitors of a given tail.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of competitors, between log 10 and 1e4.
    signal_spread : float
        Standard deviation of the signal, in [0, 1000].
    log_tail : callable
        From an array of levels to the logs of the probabilities that one competitor is above them.
    width : float
        Spread of a competitor, in [1e-4, 1000], that sets the step of the quadrature.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_log_n(log_n)
    require_number("signal_spread", signal_spread, 0, LARGEST_SPREAD, ends="[]")
    require_callable("log_tail", log_tail)
    require_number("width", width, LEAST_SPREAD, LARGEST_SPREAD, ends="[]")
    probe = log_tail(np.array([0.0, 1.0]))
    ok = isinstance(probe, np.ndarray) and probe.shape == (2,) and probe.dtype.kind == "f"
    require(
        ok and bool(np.all(probe <= 0)), "log_tail", log_tail, "a function from an array to logs of tails"
    )
    return _over_signals(log_n, signal_spread, log_tail, width)


def half_point(log_failures: Callable[[float], float], log_n: float) -> float:
    """The ``d^2 / (n log n)`` at which an expected number of failures, given by its log, is ``log 2``.

    Parameters
    ----------
    log_failures : callable
        Log of the expected number of failures as a function of the ratio, decreasing where it matters.
    log_n : float
        Natural logarithm of the number of pairs, between log 10 and 1e4.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming a parameter that is out of range, or that the function is not finite or has no such point.
    """
    require_callable("log_failures", log_failures)
    require_log_n(log_n)

    def surplus(log_ratio):
        found = log_failures(math.exp(log_ratio))
        require(
            is_number(found) and not math.isnan(found),
            "log_failures",
            found,
            "a function that returns numbers",
        )
        return min(max(found, LOG_NONE), -LOG_NONE) - LOG_HALF

    low = math.log(0.05 / log_n)
    high = max(low, 0.0) + 1.0
    while surplus(high) > 0:
        low, high = high, high + 0.5
        require(high < math.log(MOST_RATIO), "log_failures", log_failures, "small at a large ratio")
    if surplus(low) < 0:
        return math.exp(low)
    return math.exp(optimize.toms748(surplus, low, high, xtol=1e-8))


def require_log_n(log_n: object) -> None:
    """Check that a size is one for which the quadrature has been tried.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs.

    Raises
    ------
    ValueError
        For a size that is not between log 10 and 1e4.
    """
    ok = is_number(log_n) and math.log(10) <= log_n <= LARGEST_LOG_N
    require(ok, "log_n", log_n, f"between log 10 and {LARGEST_LOG_N:g}")


# --- quadrature -------------------------------------------------------------------------------------------


def _over_signals(log_n, spread, log_tail, rival_spread):
    """Log failure of a key, integrated over its signal; ``log_tail`` is that of one competitor."""

    def integrand(z):
        return _log_some(log_n, log_tail(1 + spread * z)) - 0.5 * z**2 - 0.5 * math.log(2 * math.pi)

    deepest = 1.5 * math.sqrt(2 * log_n) + min(1 / max(spread, FAINTEST), 1 / FAINTEST) + 6
    coarse = np.linspace(-deepest, 6, 240)
    peak = coarse[np.argmax(integrand(coarse))]
    finest = min(1.0, rival_spread / max(spread, 1e-300)) / math.sqrt(2 * log_n)
    z = np.arange(peak - 9, peak + 9, max(min(0.1, 0.5 * finest), 1e-4))
    return min(float(special.logsumexp(integrand(z))) + math.log(z[1] - z[0]), 0.0)


def _over_best_rivals(log_n, signal_spread, rival_spread):
    """Log failure of a key, integrated over its best competitor by the law of the largest of n."""
    log_e = np.arange(-3 * log_n - 60 - min(0.5 / rival_spread**2, 0.5 / FAINTEST**2), 5, 0.1)
    log_share = log_e - log_n  # -log Phi of the best competitor is E / n
    share = np.exp(log_share)
    log_tail = np.where(log_share < -20, log_share, np.log(-np.expm1(-np.maximum(share, 1e-9))))
    best = np.where(
        share < 0.5, -special.ndtri_exp(np.minimum(log_tail, -1e-12)), special.ndtri(np.exp(-share))
    )
    logs = log_e - np.exp(log_e) + special.log_ndtr(-(1 - rival_spread * best) / signal_spread)
    return min(float(special.logsumexp(logs)) + math.log(0.1), 0.0)


def _log_some(log_n, log_tail):
    """Log of ``1 - (1 - tail)^n``, without underflow."""
    log_tail = np.minimum(log_tail, -1e-300)
    near = np.maximum(log_tail, -30.0)
    # -log(1 - tail), by the form that has its digits.
    far = -np.log1p(-np.exp(np.minimum(near, -1.0)))
    close = -np.log(np.maximum(-np.expm1(near), 1e-300))
    exact = np.log(np.where(near < -1.0, far, close))
    log_rate = log_n + np.where(log_tail < -30, log_tail, exact)
    small = np.maximum(log_rate, -30.0)
    return np.where(log_rate < -30, log_rate, np.log(-np.expm1(-np.exp(np.minimum(small, 700.0)))))
