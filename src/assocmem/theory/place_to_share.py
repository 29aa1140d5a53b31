"""From a place to a share: the transition of the tail average of the k best, for k from 1 to a share of n.

The cone of a key and its two levels are those of `tail_cone`. Here the number of competitors above a level is
replaced by its mean, so that the levels a < b follow from the signal g_1 alone:

    Q(x) = k x + m E(g - x)_+,    Q(a) = Q(b) = k g_1 + k (k + 1) (b - a),    m = n - 1.

The squared distance from the cone is a saddle value of a sum over competitors: least in the lower level a,
largest in the rise ``tau = k (b - a)`` of the signal. With their mean in place of the sum it is
``tau^2 + m E clip(g - a, 0, b - a)^2``. That the competitors fluctuate is felt in second order only: the
value moves by minus half the trace of the inverse Hessian times the covariance of the gradient. Both are
averaged over the signal.

All levels are told relative to the level x_0 above which k competitors are expected. So sizes enter by their
logarithms, which may have thousands of digits in front of the point for all that matters.

For many pairs at a fixed ``z = 2 log n / k`` the place lies ``2 log(1 - exp(-z))`` above that of k = 1
(`crossover_shift`). None of this is in the paper, which has k = 1 and a fixed share k/n.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq

from assocmem.checks import SCALES, require, require_flag, require_number, require_numbers

LEAST_LOG_N = math.log(3)
"""Logarithm of the smallest number of pairs, as in `kinematics.large_size`."""

LARGEST_LOG_N = 1e9
"""Largest logarithm of a number of pairs; a place, which is about twice that, has three decimals there."""

LARGEST_SHARE = 0.5
"""Largest share of the competitors that the tail may have."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(160)
"""Of the Gauss-Legendre rule over the rise of the signal; with half as many a place changes by 1e-12."""

INNER = np.polynomial.legendre.leggauss(24)
"""Of the rule between two levels that are close, on [-1, 1]."""

CLOSE = 2.0
"""Distance of the levels, in units of one over the level, up to which that rule is used. Beyond it values at
the two levels are subtracted, which loses no digits there."""

FURTHEST_SIGNAL = 9.0
"""Standard deviations beyond which a signal has a probability of 1e-19."""

SERIES_FROM = 15.0
"""Level from which on the moments of the excess come from their asymptotic series, good to all digits."""

SERIES_TERMS = 12
"""Of these series."""

LOG_SHARE_BELOW = -600.0
"""Logarithm of a share below which SciPy's quantile gives way to a search."""

MOST_STEPS = 100
"""Of the search for the lower level, which takes fewer than ten; each halves an interval at worst."""

LONGEST_COUNTED = math.log(1e9)
"""Logarithm of the length from which on a tail is taken for infinite. The levels of longer ones are so close
that their difference drowns in rounding, and what one over the length changes is below 1e-8."""

NEWTON_STEP = 1e-11
"""Relative step after which that search ends: the error left is of the order of its square."""

STEP = 1e-3
"""Step in ``log log n`` of a central difference."""


@dataclass(frozen=True)
class TwoLevels:
    """The cheapest change of one key's scores after which its signal reaches the mean of the k best.

    Attributes
    ----------
    lower, upper : float
        The levels a and b. Competitors above b fall by b - a, those between fall to a.
    expected : float
        The level above which k competitors are expected, between the two.
    rise : float
        Of the signal, ``k (b - a)``.
    log_moved : float
        Logarithm of the number of competitors above the lower level.
    untied : float
        The share of these that lies above the upper level as well, about ``exp(-z)`` for ``z = a (b - a)``.
    distance : float
        The squared distance, without what fluctuations change.
    """

    lower: float
    upper: float
    expected: float
    rise: float
    log_moved: float
    untied: float
    distance: float


def crossover_shift(z: ArrayLike) -> np.ndarray | float:
    """How far the place lies above that of k = 1, for many pairs: ``2 log(1 - exp(-z))``.

    Parameters
    ----------
    z : array_like
        ``2 log n / k``, in [1e-60, 1e60].

    Returns
    -------
    ndarray or float
        Negative: about ``2 log z`` where the tail is much longer than log n, zero where it is much shorter.

    Raises
    ------
    ValueError
        For a z out of range.
    """
    require_numbers("z", z, *SCALES, ends="[]")
    z = np.asarray(z, dtype=float)
    with np.errstate(divide="ignore", under="ignore"):  # each branch is computed for all
        return 2 * np.where(z < 1, np.log(-np.expm1(-z)), np.log1p(-np.exp(-z)))[()]


def log_log_coefficient(z: ArrayLike) -> np.ndarray | float:
    """The coefficient of ``log log n`` that many pairs show locally, at a fixed k: ``2 z / (e^z - 1) - 3``.

    Parameters
    ----------
    z : array_like
        ``2 log n / k``, in [1e-60, 1e60].

    Returns
    -------
    ndarray or float
        From -1, where the tail is much longer than log n, to -3 of the paper's Conjecture 1.

    Raises
    ------
    ValueError
        For a z out of range.
    """
    require_numbers("z", z, *SCALES, ends="[]")
    z = np.asarray(z, dtype=float)
    near = np.minimum(z, 700.0)  # beyond it the fraction is below 1e-300
    return (2 * near / np.expm1(near) - 3)[()]


def two_levels(log_n: float, log_k: float, signal: float = 0.0) -> TwoLevels:
    """The two levels of a signal, with the mean number of competitors above each in place of the number.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, in [log 3, 1e9].
    log_k : float
        Natural logarithm of the length of the tail: at least 0, and at most half of the competitors.
    signal : float
        In [-9, 9], in standard deviations, and below the mean of the k best.

    Returns
    -------
    TwoLevels

    Raises
    ------
    ValueError
        For a size, tail or signal out of range.
    """
    column = _column(log_n, log_k)
    require_number("signal", signal, -FURTHEST_SIGNAL, FURTHEST_SIGNAL, ends="[]")
    top = float(column.saddles(np.zeros(1)).signal[0])
    require(signal < top, "signal", signal, f"below the mean of the tail, {top:.6g}")
    tau = brentq(
        lambda t: column.saddles(np.array([t])).signal[0] - signal, 0, top - signal + 1e-9, rtol=1e-14
    )
    found = column.saddles(np.array([tau]))
    above, beyond = float(found.above_a[0]), float(found.above_b[0])
    lower, upper = float(found.a[0]), float(found.a[0] + found.c[0])
    log_moved = math.log(above) + log_k
    return TwoLevels(lower, upper, column.middle, tau, log_moved, beyond / above, float(found.distance[0]))


def place_from_levels(log_n: float, log_k: float = 0.0, *, fluctuations: bool = True) -> float:
    """Where half of all instances should be solvable, ``d^2 / n``, for the tail average of the k best.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, in [log 3, 1e9].
    log_k : float
        Natural logarithm of the length of the tail: at least 0, and at most half of the competitors.
    fluctuations : bool
        Whether to count what the fluctuations of competitors change. Without them the place is too high by
        about ``1 / log n`` at k = 1, and by less for longer tails.

    Returns
    -------
    float
        `kinematics.statistical_dimension` to about 0.002 from 100 pairs on, and closer for more.

    Raises
    ------
    ValueError
        For a size, a tail or a flag out of range.
    """
    require_flag("fluctuations", fluctuations)
    column = _column(log_n, log_k)
    least, most = column.rises()
    tau = least + (most - least) * (NODES + 1) / 2
    found = column.saddles(tau)
    density = np.exp(-(found.signal**2) / 2) / math.sqrt(2 * math.pi)
    weights = WEIGHTS * (most - least) / 2 * density * -found.slope
    return float(weights @ (found.distance + (found.correction if fluctuations else 0.0)))


def local_coefficient(log_n: float, log_k: float = 0.0) -> float:
    """Slope of ``d^2/n - 2 log n`` against ``log log n`` at a fixed k, by `place_from_levels`.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, in [1.2, 5e8].
    log_k : float
        As in `place_from_levels`.

    Returns
    -------
    float
        `log_log_coefficient` in the limit.

    Raises
    ------
    ValueError
        For a size or tail out of range.
    """
    require_number("log_n", log_n, 1.2, LARGEST_LOG_N / 2, ends="[]")
    sizes = log_n * math.exp(STEP), log_n * math.exp(-STEP)
    up, down = (place_from_levels(size, log_k) - 2 * size for size in sizes)
    return (up - down) / (2 * STEP)


@dataclass(frozen=True)
class _Saddles:
    """What belongs to each of several rises of the signal; numbers of competitors are divided by k.

    Attributes
    ----------
    a, c : ndarray
        Lower level, and the distance of the upper one.
    above_a, above_b : ndarray
        Numbers of competitors above them.
    signal, slope : ndarray
        The signal that rises by as much, and its derivative with respect to the rise.
    distance, correction : ndarray
        Squared distance, and what fluctuations add to it on average.
    """

    a: np.ndarray
    c: np.ndarray
    above_a: np.ndarray
    above_b: np.ndarray
    signal: np.ndarray
    slope: np.ndarray
    distance: np.ndarray
    correction: np.ndarray


class _Column:
    """One key among competitors of which k are expected above the level x_0."""

    def __init__(self, log_m, log_k):
        self.per_k = math.exp(-log_k) if log_k < LONGEST_COUNTED else 0.0
        self.share = math.exp(log_k - log_m)
        self.middle = _level_above(log_k - log_m)
        self.mills = float(_excess_moments(np.array(self.middle))[0])

    def moments(self, x):
        """Moments 0, 1, 2 of ``(g - x)_+``, summed over competitors and divided by k."""
        y = x - self.middle
        with np.errstate(over="ignore", under="ignore"):  # far below the middle there are too many to count
            ratio = np.exp(-y * (self.middle + y / 2)) / self.mills
            return tuple(ratio * moment for moment in _excess_moments(x))

    def between(self, a, c):
        """Means over ``[a, a + c]`` of the number above x and of twice that times ``(x - a) / c``, over k.

        They are the sums of ``f / c`` and of ``f^2 / c^2`` over competitors that fall by f, divided by k.
        """
        close = c * np.maximum(np.abs(a), 1) < CLOSE
        u, weights = (INNER[0] + 1) / 2, INNER[1] / 2
        near = np.where(close, c, 0)
        above = self.moments(a[:, None] + near[:, None] * u)[0]
        far = np.where(close, 1, c)
        (_, first_a, second_a), (_, first_b, second_b) = self.moments(a), self.moments(a + far)
        with np.errstate(over="ignore", invalid="ignore"):  # as in `moments`
            mean = np.where(close, above @ weights, (first_a - first_b) / far)
            square = np.where(
                close, above @ (2 * u * weights), (second_a - second_b - 2 * far * first_b) / far**2
            )
        return mean, square

    def lower_level(self, c):
        """The a for which all falls add up to k times c, by Newton on a logarithm, kept in bounds."""
        low, high = self.middle - c, np.full_like(c, self.middle)
        a = np.maximum(low, high - np.minimum(c / 2, 1 / max(self.middle, 1)))
        for _ in range(MOST_STEPS):
            mean = self.between(a, c)[0]
            low, high = np.where(mean > 1, a, low), np.where(mean > 1, high, a)
            fall = self.moments(a)[0] - self.moments(a + c)[0]
            with np.errstate(all="ignore"):  # a step that is no number is replaced
                new = a + np.log(mean) * mean * c / fall
            new = np.where((low <= new) & (new <= high), new, (low + high) / 2)
            done = np.abs(new - a) <= NEWTON_STEP * np.maximum(np.abs(a), 1)
            a = new
            if np.all(done):
                break
        return a

    def saddles(self, tau):
        """The saddle for each rise, with the derivatives of the sum there."""
        c = tau * self.per_k
        a = self.lower_level(c) if self.per_k else np.full_like(tau, self.middle)
        above_a = self.moments(a)[0]
        above_b, first_b, second_b = self.moments(a + c)
        square = self.between(a, c)[1]
        tied = above_a - above_b
        # the slope of Q's common value against c; both vanish as the levels meet
        drift = np.where(tied > 0, (above_a - 1) * (1 - above_b) / np.where(tied > 0, tied, 1), 0)
        signal = a + first_b - tau
        # Hessian and covariance of the gradient over (a, tau); rows and columns of a are divided by sqrt(k)
        root = math.sqrt(self.per_k)
        of_a, mixed = 2 * tied, 2 * (1 - above_b) * root
        of_tau = -2 - 2 * above_b * self.per_k
        rest = 1 - self.share  # so many draws are not independent counts
        noise_a = 4 * c**2 * (square - self.share)
        noise_mixed = -4 * c * first_b * rest * root
        noise_tau = 4 * self.per_k * (second_b - self.share * first_b**2)
        trace = of_tau * noise_a - 2 * mixed * noise_mixed + of_a * noise_tau
        determinant = of_a * of_tau - mixed**2
        correction = np.where(determinant < 0, -trace / 2 / np.where(determinant < 0, determinant, -1), 0)
        slope = self.per_k * (drift - 1) - 1
        distance = tau**2 * (1 + self.per_k * square)
        return _Saddles(a, c, above_a, above_b, signal, slope, distance, correction)

    def rises(self):
        """Rises between which all likely signals lie that do not reach the tail average themselves."""
        top = float(self.saddles(np.zeros(1)).signal[0])
        ends = []
        for signal in (min(top, FURTHEST_SIGNAL), -FURTHEST_SIGNAL):
            tau = (top - signal) / (1 + self.per_k)
            for _ in range(8):  # the signal is almost linear in its rise, and an end need not be exact
                found = self.saddles(np.array([tau]))
                tau = max(0.0, tau + (signal - float(found.signal[0])) / float(found.slope[0]))
            ends.append(tau)
        return ends


def _column(log_n, log_k):
    """The column of a size and a tail, both checked."""
    require_number("log_n", log_n, LEAST_LOG_N - 1e-12, LARGEST_LOG_N, ends="[]")
    log_m = log_n + math.log1p(-math.exp(-log_n))
    require_number("log_k", log_k, 0, ends="[)")
    most = max(0.0, log_m + math.log(LARGEST_SHARE))
    require(log_k <= most + 1e-12, "log_k", log_k, f"at most {most:.6g}, half of the competitors")
    return _Column(log_m, log_k)


def _level_above(log_share):
    """The level above which a share of a normal law lies, from the logarithm of the share."""
    if log_share > LOG_SHARE_BELOW:
        return float(-special.ndtri_exp(log_share))

    def excess(x):
        mills = float(_excess_moments(np.array(x))[0])
        return math.log(mills) - x**2 / 2 - 0.5 * math.log(2 * math.pi) - log_share

    top = math.sqrt(-2 * log_share)
    return float(brentq(excess, top - 1, top + 1, xtol=1e-15, rtol=1e-15))


def _excess_moments(x):
    """Moments 0, 1 and 2 of ``(g - x)_+`` over the normal density at x."""
    near = np.minimum(x, SERIES_FROM)
    mills = math.sqrt(math.pi / 2) * special.erfcx(near / math.sqrt(2))
    first = 1 - near * mills
    second = mills - near * first
    far = np.maximum(x, SERIES_FROM)
    terms = range(SERIES_TERMS)
    return tuple(
        np.where(x < SERIES_FROM, value, sum(_series_term(i, p) / far ** (2 * i + p + 1) for i in terms))
        for p, value in enumerate((mills, first, second))
    )


def _series_term(i, p):
    """Coefficient number i of the asymptotic series of moment p."""
    return (-1) ** i * math.factorial(2 * i + p) / (math.factorial(i) * 2**i)
