"""Rules that write one pair after another and forget: what a key of a given age has left.

The *delta rule* writes ``W <- g W (I - eta v v') + eta u v'``, with a step eta and a gate g that is 1 for the
plain rule; the *decayed* sum writes ``W <- g W + u v'``. The key that was written last has the age 0.

A key of age a has the mean signal ``eta (g (1 - eta / d))^a``, for keys and answers of normal coordinates
exactly, at any step. Its crosstalk is ``eta sum_k c_k (u_j' u_k)`` with weights c_k whose mean squares are
exact as well: a query that passes the writes of other keys is shortened by each of them, by the factor
``g^2 (1 - (2 eta - eta^2 (1 + 2/d)) / d)`` in the mean square. In the long run that gives crosstalk of the
variance ``eta / ((2 - eta) d)``, less ``eta^2`` times the squared signal over d, by which a key clears its
own direction before it is written. Only for steps of order one do that, and the lengths of keys, matter.

For small steps all of these rules are one: with ``x = eta n / d`` after n pairs, the oldest key has the noise
of outer products times ``(e^2x - 1) / (2x)``, and the newest times ``(1 - e^-2x) / (2x)``. So a rule that has
to retrieve every pair wants a small step. A stream without an end wants another: it keeps the last
``d / (2 eta) log(2 eta d / (c log n))`` keys, the most with the step ``e c log n / (2 d)``, which are
``d^2 / (e c log n)``. Not to know the end costs the factor e.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from assocmem.checks import require, require_integer, require_number, require_numbers
from assocmem.theory.gaussian_keys import LOG_HALF, LOG_NONE, half_point, log_failure_of_tail

PRICE = math.e
"""Factor by which a stream without an end keeps fewer pairs than a rule that knows its end."""

LARGEST_SIZE = 10**12
"""Pairs and dimensions up to which moments are given."""

MOST_AGES = 10**5
"""Ages for which shares are computed in one call."""

AGES = 16
"""Nodes over the ages when failures are added up."""

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(4)
"""Of the Gauss-Legendre rule on [-1, 1], for each panel over the ages of competitors."""

MOST_STEP = 1.8
"""Of the delta rule where a half point is searched for; from 2 on a memory grows without bounds."""

LARGEST_CONSTANT = 1e6
"""Of ``d^2 / (n log n)``."""


@dataclass(frozen=True)
class ScoreMoments:
    """Scores of a key of a given age under a rule that forgets.

    Attributes
    ----------
    signal : ndarray or float
        Mean signal.
    signal_variance : ndarray or float
        Variance of the signal.
    rival_variance : ndarray or float
        Mean square of a competitor, over all other targets that have been written.
    crosstalk : ndarray or float
        The part of both variances that other pairs bring in.
    weights : tuple
        Squared weights that the newest pair and the next older one than the key have in its answer, and the
        log of the factor by which they fall with the age of a pair.
    """

    signal: np.ndarray | float
    signal_variance: np.ndarray | float
    rival_variance: np.ndarray | float
    crosstalk: np.ndarray | float
    weights: tuple[float, np.ndarray | float, float]


def delta_moments(age: ArrayLike, n: int, d: float, *, step: float, keep: float = 1.0) -> ScoreMoments:
    """Moments of the scores of keys under the delta rule, from an empty memory, at any step.

    Parameters
    ----------
    age : array_like
        Pairs written after the key, from 0 to n - 1; not necessarily integers.
    n : int
        Pairs written in all, from 2 to 1e12.
    d : float
        Dimension, at least 2.
    step : float
        ``eta``, positive and below the ``2 / (1 + 2/d)`` from which on the memory grows without bounds.
    keep : float
        The gate g in (0, 1]; 1 for the plain delta rule.

    Returns
    -------
    ScoreMoments
        Means over all keys and answers, which have independent normal coordinates of variance ``1/d``.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    age = _require_sizes(age, n, d)
    require_number("step", step, 0, 2 / (1 + 2 / d))
    require(step >= 1e-15, "step", step, "at least 1e-15")
    require_number("keep", keep, 1e-6, 1, ends="[]")
    n, d, eta = float(n), float(d), float(step)
    fourth = 1 + 2 / d  # mean fourth power of the length of a key
    gate = 2 * math.log(keep)
    lost = (2 * eta - eta**2 * fourth) / d
    log_r = gate + math.log1p(-lost)  # of the mean square of a query that passes one write
    mean = np.exp(age * (0.5 * gate + math.log1p(-eta / d)))
    # Mean square of v' P v, where P is the product of the younger writes: f <- rho f + eta^2 r^a / d^2.
    log_rho = gate + math.log1p(-2 * eta / d + 2 * eta**2 / d**2)
    square = fourth * (np.exp(age * log_rho) + eta**2 / d**2 * keep**2 * _two_powers(age, log_rho, log_r))
    # The key's own write shortens what is left along it; then the query passes the older ones.
    own = np.exp(age * log_r) - square * (2 * eta - eta**2 * (1 + 4 / d))
    first = eta**2 / d, eta**2 / d * keep**2 * np.maximum(own, 0)
    return _moments(eta * mean, eta**2 * square, first, log_r, age, n, d)


def decayed_moments(age: ArrayLike, n: int, d: float, *, keep: float) -> ScoreMoments:
    """Moments of the scores of keys under a sum of outer products that decays with every pair.

    Parameters
    ----------
    age : array_like
        As in `delta_moments`.
    n : int
        As in `delta_moments`.
    d : float
        As in `delta_moments`.
    keep : float
        The factor g in (0, 1]; 1 for the plain sum.

    Returns
    -------
    ScoreMoments

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    age = _require_sizes(age, n, d)
    require_number("keep", keep, 1e-6, 1, ends="[]")
    n, d = float(n), float(d)
    gate = 2 * math.log(keep)
    square = (1 + 2 / d) * np.exp(age * gate)
    first = 1 / d, np.exp((age + 1) * gate) / d
    return _moments(np.exp(0.5 * age * gate), square, first, gate, age, n, d)


def _moments(mean, square, first, log_r, age, n, d):
    """Moments from the mean signal, its mean square but for the answer, and squared weights of others.

    The weights are those of the newest pair and of the next older one; from there on they fall by r.
    """
    younger, older = first
    weights = younger * _powers(age, log_r) + older * _powers(n - 1 - age, log_r)
    crosstalk = weights / d
    own = np.maximum((1 + 2 / d) * square - mean**2, 0) + crosstalk
    # Of a competitor: what two answers have in common, its own key's weight, and crosstalk of the others.
    rival = square / d + weights / (n - 1) * (1 + 1 / d) + crosstalk
    older = np.broadcast_to(older, np.shape(mean))
    return ScoreMoments(*(x[()] for x in (mean, own, rival, crosstalk)), (younger, older[()], log_r))


def _powers(count, log_r):
    """Sum of ``r^m`` over m below a count."""
    return count if abs(log_r) < 1e-300 else np.expm1(count * log_r) / math.expm1(log_r)


def _two_powers(count, log_a, log_b):
    """Sum of ``a^(count - 1 - m) b^m`` over m below a count, for a and b near each other or not."""
    near = (log_a - log_b) * count
    ratio = np.where(np.abs(near) < 1e-8, 1 - 0.5 * near, special.exprel(-near))
    step = special.exprel(log_b - log_a)
    return count * np.exp((count - 1) * log_a) * np.where(count > 0, ratio, 0) / step


def retrieved_by_age(
    age: ArrayLike, n: int, d: float, *, step: float | None = None, keep: float = 1.0
) -> np.ndarray | float:
    """Share of the keys of a given age that are retrieved among n targets, in the Gaussian picture.

    Parameters
    ----------
    age : array_like
        As in `delta_moments`; at most 1e5 of them.
    n : int
        From 10 to 1e12.
    d : float
        At least 2.
    step : float, optional
        As in `delta_moments`; by default the rule is the decayed sum.
    keep : float
        As in `delta_moments` or `decayed_moments`.

    Returns
    -------
    ndarray or float
        Signals and competitors are taken for normal, with their moments; a factor that all scores of a key
        share is left out of its signal.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    failing = _log_failures_at(age, n, d, step, keep)
    return (-np.expm1(failing))[()]


def _log_failures_at(age, n, d, step, keep):
    """Log probability of failure for each age."""
    if step is None:
        at = decayed_moments(age, n, d, keep=keep)
    else:
        at = delta_moments(age, n, d, step=step, keep=keep)
    require_integer("n", n, 10)
    require(np.size(at.signal) <= MOST_AGES, "age", np.shape(at.signal), f"at most {MOST_AGES} ages")
    columns = (np.asarray(age), at.signal, at.signal_variance, at.crosstalk, at.weights[1])
    columns = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in columns))
    rows = zip(*(x.ravel() for x in columns), strict=True)
    younger, _, log_r = at.weights
    found = [_log_failure_at(*row, younger, log_r, float(n), float(d)) for row in rows]
    return np.reshape(found, columns[0].shape)


def _log_failure_at(age, signal, variance, crosstalk, older, younger, log_r, n, d):
    """Log probability of failure for one age, with the competitors of each age as loud as they are."""
    if signal < 1e-100 or crosstalk > 1e5 * signal**2:
        return math.log1p(-1 / n)
    # The length of the query: half of its part of the signal, in the logarithm, is common to all scores.
    own = math.sqrt(max(variance / signal**2 - 1.5 / d, 0))
    (ages_y, shares_y), (ages_o, shares_o) = _panels(age, log_r), _panels(n - 1 - age, log_r)
    weights = np.concatenate([younger * np.exp(ages_y * log_r), older * np.exp(ages_o * log_r)])
    shares = np.concatenate([shares_y, shares_o]) / (n - 1)
    squares = (crosstalk + weights) / signal**2

    def log_tail(level):
        # The product of two answers comes with the signal, whatever that turns out to be.
        logs = special.log_ndtr(-level[:, None] / np.sqrt(squares + level[:, None] ** 2 / d))
        return np.minimum(special.logsumexp(logs, b=shares, axis=1), 0.0)

    width = math.sqrt(max(float(squares.max()), 1e-8))
    return log_failure_of_tail(math.log(n), own, log_tail, width=min(width, 1e3))


def _panels(count, log_r):
    """Ages below a count and how many pairs each stands for, close together where weights change."""
    if count <= 0:
        return np.empty(0), np.empty(0)
    scale = -1 / log_r if log_r < -1e-12 else math.inf
    edges = np.array([0.0, *(x * scale for x in (0.5, 1, 2, 4, 8) if x * scale < count), count])
    half = 0.5 * np.diff(edges)[:, None]
    ages = (edges[:-1, None] + half * (1 + NODES)).ravel()
    return np.maximum(ages - 0.5, 0), (half * NODE_WEIGHTS).ravel()


def log_forgetful_failures(n: int, d: float, *, step: float | None = None, keep: float = 1.0) -> float:
    """Log of the expected number of keys, of all n that were written, that are not retrieved.

    Parameters
    ----------
    n, d, step, keep
        As in `retrieved_by_age`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_integer("n", n, 10)
    require(n <= LARGEST_SIZE, "n", n, f"at most {LARGEST_SIZE:g}")
    x, weights = np.polynomial.legendre.leggauss(AGES)
    age = 0.5 * (x + 1) * (n - 1)
    logs = _log_failures_at(age, n, d, step, keep)
    return float(special.logsumexp(logs, b=0.5 * weights)) + math.log(n)


def forgetful_half_ratio(n: int, x: float, *, rule: str = "delta") -> float:
    """The ``d^2 / (n log n)`` at which a rule that forgets retrieves all n pairs half of the time.

    Parameters
    ----------
    n : int
        From 10 to 1e12.
    x : float
        ``eta n / d`` for the delta rule, ``n log(1 / g)`` for the decayed sum; in [1e-6, 20].
    rule : str
        ``"delta"`` or ``"decayed"``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    require_integer("n", n, 10)
    require(n <= LARGEST_SIZE, "n", n, f"at most {LARGEST_SIZE:g}")
    require_number("x", x, 1e-6, 20, ends="[]")
    require(isinstance(rule, str) and rule in ("delta", "decayed"), "rule", rule, "delta or decayed")
    log_n = math.log(n)

    def failures(ratio):
        d = math.sqrt(ratio * n * log_n)
        if d <= 2:
            return -LOG_NONE
        if rule == "decayed":
            return log_forgetful_failures(n, d, keep=max(math.exp(-x / n), 1e-6))
        return log_forgetful_failures(n, d, step=min(x * d / n, MOST_STEP / (1 + 2 / d)))

    if rule == "delta":  # a fixed x is a larger step in a larger dimension, until it is too large
        last = max((MOST_STEP * n / x) ** 2 / (n * log_n), 1e-3)
        fits = failures(last) < LOG_HALF
        require(fits, "x", x, f"smaller for n = {n}, as no step below 2 retrieves every pair")
    return half_point(failures, log_n)


# --- what the first and the last get ----------------------------------------------------------------------


def first_written_factor(x: ArrayLike) -> np.ndarray | float:
    """Noise over squared signal of the key that was written first, over that of outer products.

    Parameters
    ----------
    x : array_like
        ``eta n / d``, in [0, 300].

    Returns
    -------
    ndarray or float
        ``(e^2x - 1) / (2x)``, which is 1 at zero.

    Raises
    ------
    ValueError
        For a number out of range.
    """
    require_numbers("x", x, 0, 300, ends="[]")
    return np.asarray(special.exprel(2 * np.asarray(x, dtype=float)))[()]


def last_written_factor(x: ArrayLike) -> np.ndarray | float:
    """Noise over squared signal of the key that was written last, over that of outer products.

    Parameters
    ----------
    x : array_like
        ``eta n / d``, in [0, 300].

    Returns
    -------
    ndarray or float
        ``(1 - e^-2x) / (2x)``, which is 1 at zero.

    Raises
    ------
    ValueError
        For a number out of range.
    """
    require_numbers("x", x, 0, 300, ends="[]")
    return np.asarray(special.exprel(-2 * np.asarray(x, dtype=float)))[()]


# --- streams ----------------------------------------------------------------------------------------------


def stream_window(d: float, log_n: float, *, step: float, constant: float = 8.0) -> float:
    """Number of the last keys that an endless stream keeps with a step: where noise reaches its limit.

    A key is kept while ``eta (2 - eta) d (1 - eta / d)^2a >= constant log n``, which for small steps is
    ``a <= d / (2 eta) log(2 eta d / (constant log n))``.

    Parameters
    ----------
    d : float
        Dimension, from 2 to 1e12.
    log_n : float
        Natural logarithm of the number of keys that are kept, where there are as many targets; in general
        half of that of the product of the two numbers. In (0, 1e4].
    step : float
        ``eta``, in (0, 2).
    constant : float
        Of the rule that knows its end; 8, or 2 for all but a vanishing share of the keys.

    Returns
    -------
    float
        0 where not even the newest is kept.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    _require_stream(d, log_n, constant)
    require_number("step", step, 1e-15, 2, ends="[)")
    excess = math.log(step * (2 - step)) + math.log(d / (constant * log_n))
    shrink = -math.log1p(-min(step / d, 0.999999))
    return max(excess, 0.0) / (2 * shrink)


def best_stream_step(d: float, log_n: float, *, constant: float = 8.0) -> float:
    """Step with which a stream keeps the most keys; ``e constant log n / (2 d)`` in large dimensions.

    Parameters
    ----------
    d, log_n, constant : float
        As in `stream_window`.

    Returns
    -------
    float
        By a search with `stream_window`; 1 where no step keeps any key.

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    _require_stream(d, log_n, constant)
    guess = min(0.5 * math.e * constant * log_n / d, 1.0)
    found = optimize.minimize_scalar(
        lambda x: -stream_window(d, log_n, step=math.exp(x), constant=constant),
        bounds=(max(math.log(guess) - 1.5, -34.0), 0.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return math.exp(found.x) if found.fun < 0 else 1.0


def stream_capacity(d: float, log_n: float, *, constant: float = 8.0) -> float:
    """Keys that an endless stream keeps with its best step, to leading order: ``d^2 / (e constant log n)``.

    Parameters
    ----------
    d, log_n, constant : float
        As in `stream_window`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Naming the parameter that is out of range.
    """
    _require_stream(d, log_n, constant)
    return float(d) ** 2 / (PRICE * constant * log_n)


def _require_stream(d, log_n, constant):
    """Check what a stream is described by."""
    require_number("d", d, 2, LARGEST_SIZE, ends="[]")
    require_number("log_n", log_n, 1e-3, 1e4, ends="[]")
    require_number("constant", constant, 1e-3, LARGEST_CONSTANT, ends="[]")


def _require_sizes(age, n, d):
    """Check sizes, and return ages as an array."""
    require_integer("n", n, 2)
    require(n <= LARGEST_SIZE, "n", n, f"at most {LARGEST_SIZE:g}")
    require_number("d", d, 2, LARGEST_SIZE, ends="[]")
    require_numbers("age", age, 0, n - 1, ends="[]")
    return np.asarray(age, dtype=float)
