"""The correlation matrix memory ``W = U V'`` (CMM): exact laws, Gaussian limit, and what retrieval costs.

Three descriptions of one score column, from exact to asymptotic, live here side by side: the exact law
(Lemma ``single-coord-law``), its moments, and the Gaussian picture (eq. ``cmm-score-heuristic``) in which the
signal is ``1 + sqrt(load) Z`` and every competitor an independent ``sqrt(load) Z``.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special
from scipy.stats import qmc

from assocmem.checks import SCALES, is_number, require, require_integer, require_number, require_numbers
from assocmem.machine import memory_shortage

FEW_DEGREES = 150
"""Degrees of freedom below which chi-square quantiles are exact; from there on an expansion serves."""

LARGEST_SIZE = 10**15
"""Pairs and dimensions up to which the exact law has digits; it has been tried up to 1e12 pairs."""

LARGEST_RATIO = 1e6
"""Of ``d^2 / (n log n)``, far beyond any at which something happens; where it is larger, numbers overflow."""

LARGEST_LOG_N = 1e8
"""Natural logarithm of the number of pairs up to which the grid of the quadrature takes less than 1 GB."""

MOST_LOG2_POINTS = 22
"""Logarithm of the number of points in a set at most; so many take 200 MB."""

MOST_REPLICATES = 10**4
"""Sets of points at most; few are needed, since each is large."""

LEAST_FAILURES = 1e-300
"""Stands for an expected number of failures that has underflowed, so that it has a logarithm."""

# --- the exact law of one column ------------------------------------------------------------------


def sample_score_column(n: int, d: int, size: int, *, seed: int) -> np.ndarray:
    """Sample the scores of one key under the CMM from their exact law (Lemma ``single-coord-law``).

    Each sample costs n + 5 random numbers instead of the 2 n d of the pairs.

    Parameters
    ----------
    n : int
        Number of pairs, at least 3.
    d : int
        Dimension, at least 2.
    size : int
        Number of independent columns, at least 1.
    seed : int
        Nonnegative.

    Returns
    -------
    ndarray, shape (size, n)
        Entry 0 of each row is the signal ``s_11``, the others are the competitors ``s_21 .. s_n1``.

    Raises
    ------
    ValueError
        Naming the argument, or the memory that is missing.
    """
    _require_sizes(n, d)
    require_integer("size", size, 1)
    require_integer("seed", seed, 0)
    shortage = memory_shortage(lambda m: 3 * 8 * size * m, n)
    require(not shortage, "n", n, shortage)
    n, d, size = int(n), int(d), int(size)
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(size)
    norms = (np.sqrt(rng.chisquare(df, size) / scale) for df, scale in _chi_parameters(n, d))
    signal, radius = _signal_and_radius(n, d, a, *norms)
    columns = np.empty((size, n))
    columns[:, 0] = signal
    g = columns[:, 1:]
    g[:] = rng.standard_normal((size, n - 1))
    g *= (radius / np.linalg.norm(g, axis=1))[:, None]
    return columns


def _chi_parameters(n, d):
    """Degrees of freedom and scale of rho_1 .. rho_5 in the lemma: ``rho = chi(df) / sqrt(scale)``."""
    return ((d, d), (d, d), (n - 1, n), (d - 1, d), (n - 2, n))


def _signal_and_radius(n, d, a, rho1, rho2, rho3, rho4, rho5):
    """Signal and Euclidean norm of the competitors in the lemma, from its six independent scalars."""
    tau = rho1 * rho2 + math.sqrt(n) / d * rho3 * a
    along = (a * tau / math.sqrt(n) + rho3 * rho4**2) ** 2 / d
    across = tau**2 * rho5**2 / d + n / d**2 * (rho3 * rho4 * rho5) ** 2
    return rho1 * rho2 * tau, rho1 * np.sqrt(n * (along + across))


def signal_variance(n: int, d: int) -> float:
    """Exact variance of a CMM signal score, ``4/d + (n + 3)/d^2``; its mean is 1.

    Parameters
    ----------
    n : int
        Number of pairs.
    d : int
        Dimension.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("n", n, 0, SCALES[1])
    require_numbers("d", d, *SCALES, ends="[]")
    return 4 / d + (n + 3) / d**2


def competitor_variance(n: int, d: float) -> float:
    """Exact variance of a CMM competitor score, ``2/d + (n + 2)/d^2``; its mean is 0.

    Parameters
    ----------
    n : int
        Number of pairs.
    d : float
        Dimension.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("n", n, 0, SCALES[1])
    require_numbers("d", d, *SCALES, ends="[]")
    return 2 / d + (n + 2) / d**2


@dataclass(frozen=True)
class MonteCarloEstimate:
    """A number found by randomised integration.

    Attributes
    ----------
    value : float
    error : float
        Standard error of the value.
    """

    value: float
    error: float


def query_failure(
    n: int, d: int, *, seed: int = 0, log2_points: int = 12, replicates: int = 4
) -> MonteCarloEstimate:
    """Probability that the CMM does not rank one given key's target first, from the exact one-column law.

    The six scalars of the lemma are integrated by randomised quasi-Monte Carlo with importance sampling.
    Given them the competitors are uniform on a sphere, where the law of the maximum is exact up to
    three-point correlations: for n >= 60 the result agrees with Monte Carlo to within 1%. No n-vector is
    drawn; n has been tried up to 1e12.

    Parameters
    ----------
    n : int
        Number of pairs, at least 3.
    d : int
        Dimension, at least 2.
    seed : int
        Of the randomisation.
    log2_points : int
        Logarithm to base 2 of the number of points in a set.
    replicates : int
        Number of independent sets of points, at least 2; their spread gives the error.

    Returns
    -------
    MonteCarloEstimate

    Raises
    ------
    ValueError
        For sizes or replicates out of range.
    """
    _require_sizes(n, d)
    require(max(n, d) <= LARGEST_SIZE, "n and d", (n, d), f"at most {LARGEST_SIZE:g}")
    _require_points(seed, log2_points)
    require_integer("replicates", replicates, 2)
    require(replicates <= MOST_REPLICATES, "replicates", replicates, f"at most {MOST_REPLICATES}")
    n, d = int(n), int(d)
    return _query_failure(n, d, seed, log2_points, replicates)


def query_failure_at_ratio(
    n: int, ratio: float, *, seed: int = 0, log2_points: int = 11
) -> MonteCarloEstimate:
    """Result of `query_failure` for ``d^2 = ratio n log n``, a dimension that need not be an integer.

    Parameters
    ----------
    n : int
        Number of pairs, at least 3.
    ratio : float
        ``d^2 / (n log n)``, positive, and so large that d is above 1.
    seed, log2_points : int
        As in `query_failure`.

    Returns
    -------
    MonteCarloEstimate

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_integer("n", n, 3)
    require(n <= LARGEST_SIZE, "n", n, f"at most {LARGEST_SIZE:g}")
    _require_points(seed, log2_points)
    n = int(n)
    lowest = 1 / (n * math.log(n))
    ok = is_number(ratio) and lowest < ratio <= LARGEST_RATIO
    require(ok, "ratio", ratio, f"a number > {lowest:.3g}, where d = 1, and at most {LARGEST_RATIO:g}")
    return _query_failure(n, math.sqrt(ratio * n * math.log(n)), seed, log2_points, 4)


def _query_failure(n, d, seed, log2_points, replicates):
    """Result of `query_failure`, where d may be any real number above 1."""
    shift = _shift_to_failure(n, d)
    values = []
    for stream in np.random.SeedSequence(seed).spawn(replicates):
        points = qmc.Sobol(6, rng=np.random.default_rng(stream)).random_base2(log2_points).T
        y = special.ndtri(np.clip(points, 1e-16, 1 - 2**-53)) + shift[:, None]
        weight = np.exp(0.5 * shift @ shift - shift @ y)
        norms = (
            np.sqrt(df / scale * _chi_square_over_df(df, y_rho))
            for (df, scale), y_rho in zip(_chi_parameters(n, d), y[1:], strict=True)
        )
        signal, radius = _signal_and_radius(n, d, y[0], *norms)
        values.append(np.mean(weight * _sphere_maximum_exceeds(signal / radius, n - 1)))
    return MonteCarloEstimate(float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(replicates)))


def _shift_to_failure(n, d):
    """Where the six normal coordinates (a, then those of rho_1 .. rho_5) sit when a query typically fails.

    To first order the signal is 1 plus ``sqrt(n)/d`` times the first and ``sqrt(2/d)`` times the next two; it
    fails when it is down to the typical largest competitor. Sampling around that point keeps the relative
    error of a small probability bounded.
    """
    slope = np.array([math.sqrt(n) / d, math.sqrt(2 / d), math.sqrt(2 / d), 0, 0, 0])
    deficit = 1 - math.sqrt(2 * math.log(n) * competitor_variance(n, d))
    return -slope * max(0.0, deficit) / (slope @ slope)


def _chi_square_over_df(df, y):
    """Quantile of ``chi^2(df) / df`` at the level ``Phi(y)``.

    From 150 degrees of freedom on by the Cornish-Fisher expansion, whose error there is below 1e-4 standard
    deviations for ``-6.5 < y < 4``; the incomplete gamma function loses digits beyond 1e8.
    """
    if df < FEW_DEGREES:
        return 2 / df * special.gammaincinv(df / 2, special.ndtr(y))
    h = df**-0.5
    terms = (
        math.sqrt(2) * y,
        2 / 3 * (y**2 - 1),
        (y**3 - 7 * y) / (9 * math.sqrt(2)),
        -(6 * y**4 + 14 * y**2 - 32) / 405,
        (9 * y**5 + 256 * y**3 - 433 * y) / (4860 * math.sqrt(2)),
    )
    return 1 + h * (terms[0] + h * (terms[1] + h * (terms[2] + h * (terms[3] + h * terms[4]))))


def _sphere_maximum_exceeds(t, m):
    """P(largest coordinate > t) of a uniformly random direction in R^m.

    Coordinates exceed t like independent events but for a pair correlation, which is negative since one
    large coordinate leaves less length to the others: the second cumulant of the count takes care of it.
    """
    q = _sphere_tail(t, m)
    rest = np.maximum(1 - t**2 - 2 / m, 1e-12)  # square length left by a coordinate that exceeds t
    second = _sphere_tail(t / np.sqrt(rest), m - 1)
    log_none = m * np.log1p(-q) + 0.5 * m * (m - 1) * q * np.minimum(second - q, 0)
    return -np.expm1(np.where(t > 0, log_none, -np.inf))


def _sphere_tail(t, m):
    """P(first coordinate > t) for t > 0 and a uniformly random direction in R^m."""
    return 0.5 * special.betainc((m - 1) / 2, 0.5, np.clip(1 - t**2, 0, 1))


def _require_sizes(n, d):
    """Check the sizes for which the lemma holds."""
    require_integer("n", n, 3)
    require_integer("d", d, 2)


def _require_points(seed, log2_points):
    """Check what a randomised integration is asked for."""
    require_integer("seed", seed, 0)
    require_integer("log2_points", log2_points, 0)
    require(log2_points <= MOST_LOG2_POINTS, "log2_points", log2_points, f"at most {MOST_LOG2_POINTS}")


# --- the Gaussian picture: percentiles ------------------------------------------------------------


def percentile_cdf(omega: ArrayLike, load: float) -> np.ndarray | float:
    """Limit law of a CMM signal's percentile (eq. ``percentile-copula``).

    ``F(w) = Phi(Phi^-1(w) - load^-1/2)``.

    Parameters
    ----------
    omega : array_like
        Percentiles in [0, 1].
    load : float
        ``n / d^2``, positive.

    Returns
    -------
    ndarray or float
        Like ``omega``, in [0, 1].

    Raises
    ------
    ValueError
        For a percentile outside [0, 1] or a load that is not positive.
    """
    omega = _require_percentiles(omega, load)
    return special.ndtr(special.ndtri(omega) - load**-0.5)


def percentile_pdf(omega: ArrayLike, load: float) -> np.ndarray | float:
    """Density of the percentile law, ``exp(Phi^-1(w) / sqrt(load) - 1 / (2 load))``.

    Parameters
    ----------
    omega : array_like
        Percentiles in [0, 1].
    load : float
        ``n / d^2``, positive.

    Returns
    -------
    ndarray or float
        Like ``omega``; 0 at ``w = 0`` and infinite at ``w = 1``.

    Raises
    ------
    ValueError
        For a percentile outside [0, 1] or a load that is not positive.
    """
    omega = _require_percentiles(omega, load)
    with np.errstate(over="ignore"):
        return np.exp(special.ndtri(omega) / math.sqrt(load) - 1 / (2 * load))


def percentile_mean(load: float) -> float:
    """Mean of the percentile law, ``Phi(1 / sqrt(2 load))``: one competitor against one signal."""
    require_number("load", load, 0)
    return float(special.ndtr(1 / math.sqrt(2 * load)))


def _require_percentiles(omega, load):
    """Percentiles as an array, checked together with the load."""
    require_number("load", load, 0)
    require_numbers("omega", omega, 0, 1, ends="[]")
    return np.asarray(omega, dtype=float)


def _require_log_n(log_n):
    """Check that a size is one for which the quadrature has a grid."""
    ok = is_number(log_n) and math.log(3) <= log_n <= LARGEST_LOG_N
    require(ok, "log_n", log_n, f"at least log 3, at most {LARGEST_LOG_N:g}")


# --- the Gaussian picture: all n queries at once --------------------------------------------------


def log_expected_failures(log_n: float, ratio: float) -> float:
    """Log of the expected number of failing queries in the Gaussian picture.

    ``n * integral phi(z) [1 - Phi(z + s)^n] dz`` with ``s^2 = 1/load = ratio * log n``: the signal is
    drawn once per query and meets all its competitors. Only ``log n`` enters, so n may be 10^100.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, at least log 3.
    ratio : float
        ``d^2 / (n log n)``, positive.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    _require_log_n(log_n)
    require_number("ratio", ratio, 0, LARGEST_RATIO, ends="(]")
    s = math.sqrt(ratio * log_n)
    coarse = np.linspace(-s - 1, 1, 4096)
    peak = coarse[np.argmax(_log_failure_density(coarse, s, log_n))]
    step = 0.02 / math.sqrt(log_n)  # the integrand varies over 1/sqrt(2 log n) at the fastest
    z = np.arange(peak - 9, peak + 9, step)
    return log_n + math.log(z[1] - z[0]) + float(special.logsumexp(_log_failure_density(z, s, log_n)))


def _log_failure_density(z, s, log_n):
    """Log of ``phi(z) [1 - Phi(z + s)^n]``, without underflow for any n."""
    log_tail = special.log_ndtr(-(z + s))  # one competitor above the signal
    with np.errstate(divide="ignore"):
        log_rate = np.where(z + s > 0, np.log(-np.log1p(-np.exp(log_tail))), np.log(-special.log_ndtr(z + s)))
    log_rate = np.where(log_tail < -30, log_tail, log_rate) + log_n
    log_some = np.log(-np.expm1(-np.exp(np.clip(log_rate, -30, 700))))
    log_some = np.where(log_rate < -30, log_rate, log_some)
    return log_some - z**2 / 2 - 0.5 * math.log(2 * math.pi)


def log_pair_bound(log_n: float, ratio: float) -> float:
    """Log of the paper's union bound over pairs, ``n^2 exp(-d^2 / 4n)`` (eq. ``cmm-eight-heuristic``).

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs.
    ratio : float
        ``d^2 / (n log n)``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("log_n", log_n, 0, SCALES[1])
    require_numbers("ratio", ratio, 0, SCALES[1])
    return 2 * log_n - ratio * log_n / 4


def half_success_ratio(log_n: float) -> float:
    """The ratio ``d^2 / (n log n)`` at which the Gaussian picture gives success probability one half.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, at least log 3.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a size below three pairs.
    """
    _require_log_n(log_n)
    target = math.log(math.log(2))
    return optimize.brentq(lambda c: log_expected_failures(log_n, c) - target, 0.05, 9.0, xtol=1e-10)


def half_success_expansion(log_n: float | np.ndarray) -> float | np.ndarray:
    """Two-term expansion of `half_success_ratio` for large n, derived in the book.

    ``8 - [2 log log n + 4 log(4 sqrt(2 pi) log 2)] / log n``: the pairwise union bound with the exact
    prefactor ``1 / (sqrt(pi) s)`` of the Gaussian tail, halved because half of the failing pairs are further
    rivals of a key that has failed already.

    Parameters
    ----------
    log_n : float or ndarray
        Natural logarithm of the number of pairs.

    Returns
    -------
    float or ndarray
        Like ``log_n``.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("log_n", log_n, 0)
    log_n = np.asarray(log_n)[()]
    return 8 - (2 * np.log(log_n) + 4 * math.log(4 * math.sqrt(2 * math.pi) * math.log(2))) / log_n


def exact_half_success_ratio(n: int, *, seed: int = 0, log2_points: int = 11) -> float:
    """The ratio of `half_success_ratio`, but from the exact one-column law at finite n and d.

    The dimension is treated as a real number, so that the result varies smoothly with n.

    Parameters
    ----------
    n : int
        Number of pairs, at least 3.
    seed, log2_points : int
        As in `query_failure`.

    Returns
    -------
    float
        Good to about 0.002 for n from 60 on.

    Raises
    ------
    ValueError
        For an n out of range.
    """
    require_integer("n", n, 3)
    require(n <= LARGEST_SIZE, "n", n, f"at most {LARGEST_SIZE:g}")
    _require_points(seed, log2_points)
    n = int(n)

    def surplus(ratio):
        failures = n * query_failure_at_ratio(n, ratio, seed=seed, log2_points=log2_points).value
        return math.log(max(failures, LEAST_FAILURES)) - math.log(math.log(2))

    return optimize.toms748(surplus, 3.0, 30.0, xtol=1e-3)
