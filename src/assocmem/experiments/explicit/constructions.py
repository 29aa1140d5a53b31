"""Memories that are written down rather than trained, beside trained ones: how many dimensions each needs.

An instance is seen in all dimensions at once: its vectors in dimension d are the first d coordinates of
longer ones. So each construction has, on each instance, a dimension from which on it retrieves every pair.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike

from assocmem.checks import require, require_integer, require_numbers
from assocmem.experiments.bisection import last_that_holds
from assocmem.memories.clipped import clipped_memory
from assocmem.memories.outer_products import correlation_memory
from assocmem.memories.sparse_repair import repair_in_place, reserve_at_share, sparse_repair
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.pairs.sizes import LARGEST_DIMENSION, dimension_at_ratio, top1_ratio
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy

WIDEST = 120.0
"""``d^2 / (n log n)`` of the longer vectors; more than any construction here has needed."""
HOPELESS = 0.8
"""``d^2 / (n log n)`` at which no memory is taken to retrieve all pairs, so that no search goes lower."""
GROWTH = 1.3
"""Factor by which the dimension grows while a construction fails; by trial."""
SPLIT = 0.12
"""Share of the coordinates that is reserved: near the best one for n from 300 to 10,000."""
SPLIT_GAMMA = 0.08
"""Margin of the repair with that reserve: likewise."""


@dataclass(frozen=True)
class Built:
    """A memory and its cost.

    Attributes
    ----------
    W : Tensor, shape (d, d)
    products : int
        Products of size ``n x d x n`` made on the way; a pass over the scores takes one, with gradient two.
    steps : int
        Steps of conjugate gradients, each like two products of size ``n x d x d``.
    """

    W: torch.Tensor
    products: int
    steps: int = 0


@dataclass(frozen=True)
class Construction:
    """A way to make a memory from pairs.

    Attributes
    ----------
    name : str
    build : callable
        Takes `Pairs`, returns `Built`.
    highest : float
        A ``d^2 / (n log n)`` at which it succeeds as a rule.
    trained : bool
        Whether it minimises a loss.
    """

    name: str
    build: Callable[[Pairs], Built]
    highest: float
    trained: bool = False


def _correlation(pairs):
    return Built(correlation_memory(pairs), 0)


def _split(share, gamma):
    def build(pairs):
        reserve = None if share is None else reserve_at_share(share, pairs.d)
        return Built(sparse_repair(pairs, gamma=gamma, reserve=reserve).W, 1)

    return build


def _in_place(rounds, gamma, **keywords):
    def build(pairs):
        start = correlation_memory(pairs)
        found = repair_in_place(pairs, start, gamma=gamma, rounds=rounds, **keywords)
        return Built(found.W, len(found.failures) - 1)

    return build


def _clipped(rounds, **keywords):
    def build(pairs):
        found = clipped_memory(pairs, rounds=rounds, **keywords)
        return Built(found.W, found.passes - 1, found.steps)

    return build


def _cross_entropy(ridge):
    def build(pairs):
        found = fit(pairs, CrossEntropy(), ridge=ridge, tol=1e-2)
        return Built(found.W, 2 * found.passes)

    return build


CONSTRUCTIONS = (
    Construction("outer products", _correlation, 16.0),
    Construction("sparse repair, the proof's reserve", _split(None, 0.4), 48.0),
    Construction("sparse repair, best reserve", _split(SPLIT, SPLIT_GAMMA), 16.0),
    Construction("repair in place, 1 round", _in_place(1, 0.2), 10.0),
    Construction("repair in place, 4 rounds", _in_place(4, 0.05), 6.0),
    Construction("against rivals, 16 rounds", _in_place(16, 0.05, against_rivals=True), 4.0),
    Construction("equal signals", _clipped(0), 8.0),
    Construction("equal signals, 1 clip", _clipped(1), 4.0),
    Construction("equal signals, 2 clips", _clipped(2), 3.0),
    Construction("equal signals, 4 finer clips", _clipped(4, gamma=0.05, softness=0.03), 3.0),
    Construction("cross-entropy, ridge 0.01", _cross_entropy(1e-2), 2.5, True),
    Construction("cross-entropy, ridge 0.001", _cross_entropy(1e-3), 2.5, True),
)
"""Stored tables know them by their place."""


def nested_pairs(n: int, seed: int) -> Callable[[int], Pairs]:
    """An instance in any dimension: a function from d to its `Pairs`.

    Parameters
    ----------
    n, seed : int
        As in `gaussian_pairs`.

    Returns
    -------
    callable
        From a dimension to `Pairs`; it raises ValueError for one that is too large.
    """
    longest = dimension_at_ratio(n, WIDEST)
    long = gaussian_pairs(n, longest, seed=seed)

    def at(d):
        require_integer("d", d, 1)
        require(d <= longest, "d", d, f"at most {longest} for n = {n}")
        scale = math.sqrt(longest / d)
        return Pairs(*((X[:d] * scale) for X in (long.U, long.V)))

    return at


def smallest_dimension(construction: Construction, n: int, *, seed: int) -> tuple[int, Built]:
    """Dimension from which a construction retrieves every pair of an instance, by bisection.

    Parameters
    ----------
    construction : Construction
    n, seed : int
        As in `nested_pairs`.

    Returns
    -------
    d : int
        It succeeds there and fails at ``d - 1``.
    built : Built
        What it made at d.

    Raises
    ------
    ArithmeticError
        If it does not succeed in the longest dimension.
    """
    at, longest, smallest = nested_pairs(n, seed), dimension_at_ratio(n, WIDEST), None

    def fails(d):
        nonlocal smallest
        pairs = at(d)
        built = construction.build(pairs)
        retrieved = float(retrieval_margins(pairs, built.W).min()) > 0
        smallest = built if retrieved else smallest  # a success comes at a smaller d than those before it
        return not retrieved

    failing, d = last_that_holds(
        fails,
        min(longest, dimension_at_ratio(n, construction.highest)),
        lambda d, strides: math.ceil(GROWTH * d) - d,
        known=dimension_at_ratio(n, HOPELESS),
        ceiling=longest,
    )
    if failing == longest:
        raise ArithmeticError(f"{construction.name}: fails in dimension {longest}, n = {n}, seed = {seed}")
    return d, smallest


def median_ratio(n: int, dimensions: ArrayLike) -> tuple[float, float]:
    """Ratio ``d^2 / (n log n)`` of the median of smallest dimensions: half of the instances need no more.

    Parameters
    ----------
    n : int
    dimensions : array, shape (instances,)
        Smallest dimensions of the instances.

    Returns
    -------
    ratio, error : float
        From the median, and its standard error as for normal dimensions (nan for a single instance).

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_numbers("dimensions", dimensions, 0, LARGEST_DIMENSION)
    require(np.ndim(dimensions) == 1, "dimensions", dimensions, "a vector, one of each instance")
    d = np.asarray(dimensions, dtype=float)
    median = float(np.median(d))
    spread = float(np.std(d, ddof=1)) if len(d) > 1 else math.nan
    error = math.sqrt(math.pi / 2 / len(d)) * max(spread, 0.5)
    return top1_ratio(n, median), 2 * median * error / (n * math.log(n))
