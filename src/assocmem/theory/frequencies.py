"""Laws of the weights of facts: how often each is asked, over the mean of that.

A law is a list of values with masses. That of Zipf, ``p(i) = i^-s`` over ranks i from 1 to n, has as many
values as there are facts; here a few hundred ranks stand for all of them, however many there are. Averages
over them are sums by Gauss's rule in the logarithm of the rank: over single ranks at first, then over bins of
ranks, and from rank 1e5 on over the integral that the sum differs from by less than 1e-10 of itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from assocmem.checks import require, require_callable, require_instance, require_number, require_numbers

LARGEST_RANK = 1e15
"""Most facts of a law of Zipf."""

EXPONENTS = (0.0, 50.0)
"""Exponents of ranks, among which there is none."""

MOST_VALUES = 10**6
"""Of a law that is given by its values."""

RANGE = (1e-300, 1e300)
"""Least and largest value, before they are divided by their mean."""

BIN = 2.0
"""Width of a bin of ranks in the logarithm of a weight; with 16 nodes in each, averages are good to 1e-10."""

BIN_NODES = 16
"""Nodes of a bin."""

SUMMED = 10**5
"""Rank up to which the nodes of a bin are made for the sum over its ranks; beyond, for an integral."""


@dataclass(frozen=True)
class Frequencies:
    """A law of positive weights with mean one.

    Attributes
    ----------
    values : ndarray, shape (k,)
        The weights that there are; those given are divided by their mean.
    masses : ndarray, shape (k,)
        Share of the facts that have each; those given are divided by their sum. Equal shares by default.
    """

    values: np.ndarray
    masses: np.ndarray | None = None

    def __post_init__(self):
        require_numbers("values", self.values, *RANGE, ends="[]")
        values = np.asarray(self.values, dtype=float)
        given = np.ones(values.shape) if self.masses is None else self.masses
        require_numbers("masses", given, 0, RANGE[1])
        masses = np.asarray(given, dtype=float)
        require(values.ndim == 1, "values", self.values, "a vector")
        require(len(values) <= MOST_VALUES, "values", values.shape, f"at most {MOST_VALUES} of them")
        require(masses.shape == values.shape, "masses", self.masses, f"a vector of {len(values)} numbers")
        masses = masses / masses.max()
        masses = masses / masses.sum()
        top = values.max()
        values = values / top / (masses @ (values / top))
        require(values.min() > 0, "values", self.values, f"no more than a factor {RANGE[1]:g} apart")
        for name, array in (("values", values), ("masses", masses)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def mean(self, function: Callable[[np.ndarray], np.ndarray]) -> float:
        """Average of a function of the weight over all facts.

        Parameters
        ----------
        function : callable
            From the array of weights to an array of its shape.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            For what is no function, or one that returns something else than such numbers.
        """
        require_callable("function", function)
        found = function(self.values)
        require_numbers("function", found)
        ok = np.shape(found) in ((), self.values.shape)
        require(ok, "function", function, f"a function to arrays of the shape {self.values.shape}")
        return float(self.masses @ np.broadcast_to(found, self.values.shape))


def equal() -> Frequencies:
    """The law of facts that are all asked equally often.

    Returns
    -------
    Frequencies
    """
    return Frequencies(np.ones(1), np.ones(1))


def two_classes(share: float, ratio: float) -> Frequencies:
    """The law of frequent and rare facts.

    Parameters
    ----------
    share : float
        Of all facts, that of the frequent ones, above 0 and below 1.
    ratio : float
        How many times more often a frequent one is asked than a rare one; in [1e-6, 1e6].

    Returns
    -------
    Frequencies
        The rare ones come first.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("share", share, 1e-12, 1 - 1e-12, ends="[]")
    require_number("ratio", ratio, 1e-6, 1e6, ends="[]")
    return Frequencies(np.array([1.0, ratio]), np.array([1 - share, share]))


def zipf_frequencies(n: float, s: float, gamma: float = 1.0) -> Frequencies:
    """The law of weights ``i^(-s gamma)`` over the ranks i from 1 to n.

    Parameters
    ----------
    n : float
        Number of facts, a whole number in [1, 1e15].
    s : float
        Exponent of the law, in [0, 50].
    gamma : float
        Power to which frequencies are raised, such that ``s gamma`` is in [0, 50]; 1 leaves them as they are.

    Returns
    -------
    Frequencies
        Averages of smooth functions of the logarithm of a weight are those over all n ranks to about 1e-10
        of themselves.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("s", s, *EXPONENTS, ends="[]")
    require_number("gamma", gamma, *EXPONENTS, ends="[]")
    exponent = float(s) * float(gamma)
    require(exponent <= EXPONENTS[1], "gamma", gamma, f"at most {EXPONENTS[1]:g} times 1 / s")
    ranks, counts = rank_nodes(n, exponent)
    return Frequencies(np.maximum((ranks / ranks[0]) ** -exponent, RANGE[0]), counts)


def rank_nodes(n: float, exponent: float, *, first: float = 1) -> tuple[np.ndarray, np.ndarray]:
    """Ranks, not necessarily whole, that stand for all from the first to n, and how many each stands for.

    Parameters
    ----------
    n : float
        Number of ranks, a whole number in [1, 1e15].
    exponent : float
        Sums are accurate for functions that change as smoothly as ``i^-exponent``; in [0, 50].
    first : float
        A whole number from 1 to n.

    Returns
    -------
    ranks, counts : ndarray
        Increasing ranks; the counts add up to the number of ranks.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("n", n, 1, LARGEST_RANK, ends="[]")
    require(float(n).is_integer(), "n", n, "a whole number")
    require_number("exponent", exponent, *EXPONENTS, ends="[]")
    require_number("first", first, 1, n, ends="[]")
    require(float(first).is_integer(), "first", first, "a whole number")
    return _rank_nodes(float(n), float(exponent), float(first))


@lru_cache(maxsize=64)
def _rank_nodes(n, exponent, first):
    """Result of `rank_nodes`."""
    width = BIN / max(exponent, 1.0)
    places, counts = [], []
    low = first
    while low <= min(n, SUMMED):
        # A bin of so few ranks that they are as many as its nodes has them all.
        high = min(n, max(np.floor(low * np.exp(width)), low + BIN_NODES - 1))
        logs = np.log(np.arange(low, high + 1))
        at, many = _sum_rule(logs, np.ones(len(logs)))
        places.append(np.exp(at))
        counts.append(many)
        low = high + 1
    if low <= n:
        ends = np.log([low - 0.5, n + 0.5])
        edges = np.linspace(*ends, max(int(np.ceil((ends[1] - ends[0]) / width)), 1) + 1)
        x, weights = np.polynomial.legendre.leggauss(BIN_NODES)
        half = 0.5 * np.diff(edges)[:, None]
        logs = edges[:-1, None] + half * (1 + x)
        places.append(np.exp(logs).ravel())
        counts.append((half * weights * np.exp(logs)).ravel())
    ranks, masses = np.concatenate(places), np.concatenate(counts)
    masses = masses * ((n - first + 1) / masses.sum())
    for array in (ranks, masses):
        array.setflags(write=False)
    return ranks, masses


def _sum_rule(logs, masses):
    """Gauss's rule for a sum over points on a line, with as many nodes as a bin has, or all points."""
    if len(logs) <= BIN_NODES:
        return logs, masses
    # Lanczos: the matrix of the recursion of polynomials that are orthogonal over these points
    middle, half = 0.5 * (logs[0] + logs[-1]), 0.5 * (logs[-1] - logs[0])
    x, root = (logs - middle) / half, np.sqrt(masses)
    total = masses.sum()
    basis = [root / np.sqrt(total)]
    diagonal, beside = [], []
    for _ in range(BIN_NODES):
        v = x * basis[-1]
        diagonal.append(v @ basis[-1])
        for _ in range(2):  # once more, against rounding
            for u in basis:
                v = v - (v @ u) * u
        beside.append(np.linalg.norm(v))
        basis.append(v / beside[-1])
    matrix = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return middle + half * nodes, total * vectors[0] ** 2


def condensed(frequencies: Frequencies) -> Frequencies:
    """A law of few weights with the same averages.

    Parameters
    ----------
    frequencies : Frequencies
        A law of up to a million weights.

    Returns
    -------
    Frequencies
        At most eight weights for each unit of their logarithm, by Gauss's rule; averages of smooth functions
        of that logarithm stay the same to about 1e-10. A law of few weights is left as it is.

    Raises
    ------
    ValueError
        For what is no law.
    """
    require_instance("frequencies", frequencies, Frequencies)
    logs, group = np.unique(np.log(frequencies.values), return_inverse=True)
    masses = np.bincount(group, frequencies.masses)
    if len(logs) <= 10 * BIN_NODES:
        return frequencies
    cuts = np.flatnonzero(np.diff(np.floor((logs - logs[0]) / BIN))) + 1
    parts = zip(np.split(logs, cuts), np.split(masses, cuts), strict=True)
    places, shares = zip(*(_sum_rule(*part) for part in parts), strict=True)
    return Frequencies(np.exp(np.concatenate(places)), np.concatenate(shares))
