"""The paper's own dual array at sizes that exist, and the sizes from which its proof would begin to work.

The array of Lemma ``array`` is carried out on instances and its size compared with the leading terms of the
prediction. What the proof needs besides can be written down for any n, and the number of pairs from which on
each condition holds has many digits.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from assocmem.checks import require_number
from assocmem.deciding.paper_certificate import dual_array, predicted_size
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.sizes import dimension_at_ratio, top1_ratio

LARGEST_RATIO = 1e6
"""Of ``d^2 / (n log n)``, far beyond any at which an array is small."""

LOG_SIZES = np.linspace(math.log(10), 400, 400000)
"""Natural logarithms of the numbers of pairs among which the onset of a condition is looked for.

From ten pairs to 173 digits, in steps of a thousandth, which is far finer than the tenth of a digit that is
reported.
"""


@dataclass(frozen=True)
class ArraySize:
    """Size of the array, in units of ``n / (d log n)``, over several instances.

    Attributes
    ----------
    root, error : float
        Root mean square, and its standard error.
    predicted : float
        To leading order, from `predicted_size`.
    """

    root: float
    error: float
    predicted: float


def array_size(n: int, d: int, seeds: Iterable[int]) -> ArraySize:
    """Size of the dual array on instances, measured and predicted.

    Parameters
    ----------
    n, d : int
        As in `gaussian_pairs`.
    seeds : iterable of int
        One for each instance, at least two of them.

    Returns
    -------
    ArraySize
    """
    squares = [dual_array(gaussian_pairs(n, d, seed=seed)).size ** 2 for seed in seeds]
    root = math.sqrt(np.mean(squares))
    error = np.std(squares, ddof=1) / math.sqrt(len(squares)) / (2 * root)
    return ArraySize(root, error, float(predicted_size(math.log(n), top1_ratio(n, d))))


def size_without_overlap(n: int, ratio: float) -> float:
    """Predicted size of the array if keys did not overlap, so that only rare events counted.

    Parameters
    ----------
    n : int
    ratio : float
        ``d^2 / (n log n)`` from which the dimension follows.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_number("ratio", ratio, 0, LARGEST_RATIO)
    d = dimension_at_ratio(n, ratio)
    leading = predicted_size(math.log(n), top1_ratio(n, d))
    return float(np.sqrt(np.square(leading) - ratio * math.log(n) ** 5 * d / n))


def _compared(log_n):
    """Logarithm of the number of targets that the proof compares with, ``r = n / (log n)^2``."""
    return log_n - 2 * np.log(log_n)


def _log_dimension(log_n, ratio):
    """Logarithm of the dimension at a ratio ``d^2 / (n log n)``."""
    return 0.5 * (math.log(ratio) + log_n + np.log(log_n))


Condition = Callable[[np.ndarray, float], np.ndarray]
"""Surplus, positive where a condition holds, as a function of ``log n`` and the ratio ``d^2 / (n log n)``."""

CONDITIONS: dict[str, Condition] = {
    "$r(n-r) \\ge d^2$, a sum can vanish at all": lambda log_n, ratio: (
        _compared(log_n) + log_n - 2 * _log_dimension(log_n, ratio)
    ),
    "$r > d$, the proof's bound is not zero": lambda log_n, ratio: (
        _compared(log_n) - _log_dimension(log_n, ratio)
    ),
    "the array is of size 1": lambda log_n, ratio: -np.log(predicted_size(log_n, ratio)),
    "the array is of size $1/\\pi$, half the reach": lambda log_n, ratio: (
        -np.log(math.pi * predicted_size(log_n, ratio))
    ),
}
"""What the proof needs of n, in words, to leading order."""


def onset(condition: Condition, ratio: float, log_n: np.ndarray = LOG_SIZES) -> str:
    """The number of pairs from which on a condition holds, in words.

    Parameters
    ----------
    condition : callable
        One of `CONDITIONS`.
    ratio : float
        ``d^2 / (n log n)``.
    log_n : ndarray
        Natural logarithms of the numbers of pairs that are tried, ascending.

    Returns
    -------
    str
        A power of ten as a formula; "at most" the first of them if the condition holds throughout, and
        "further" if it does not hold at the last.
    """
    fails = condition(log_n, ratio) < 0
    last = log_n[np.flatnonzero(fails)[-1]] if fails.any() else log_n[0]
    power = f"$10^{{{last / math.log(10):.1f}}}$"
    if not fails.any():
        return f"at most {power}"
    return "further" if fails[-1] else power
