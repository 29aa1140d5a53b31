"""Scores a write rule on public instances, beside the rules of the ladder.

An instance is public: anyone draws it again from its number of pairs and its seed, in any dimension, by
`assocmem.experiments.explicit.constructions.nested_pairs`. Of those on the stored ladder it is also known
from how many dimensions on *some* memory retrieves every pair, with proofs from both sides.
"""

import csv
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files

import numpy as np
import torch

from assocmem.checks import require_callable, require_integer, require_number, shown
from assocmem.deciding.certificates import Certificate
from assocmem.deciding.feasibility import verify
from assocmem.experiments.explicit.constructions import nested_pairs
from assocmem.experiments.ladder.smallest import mean_ratio, smallest
from assocmem.experiments.ladder.survival import retrieved_share
from assocmem.memories.compression import rounded
from assocmem.pairs.data import Pairs, derived_seed, gaussian_pairs
from assocmem.pairs.sizes import dimension_at_ratio
from assocmem.progress import progress

ANY_MEMORY = "any_memory"
"""In the ladder, the fewest dimensions in which some memory retrieves all pairs."""
RATIOS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Values of ``d^2 / (n log n)`` at which the share of retrieved pairs is told; at the last one also what is
left of them."""
NOISE = 0.5
"""Spread of the noise on queries, relative to the length of a key."""
BITS = 2
"""Bits to which each entry of the memory is rounded."""


class RuleError(Exception):
    """A rule did not do what a rule has to; the message is one line."""


@dataclass(frozen=True)
class SizeScore:
    """What a rule does at one number of pairs.

    Attributes
    ----------
    n : int
    dimensions : tuple of int or None
        For each instance, seeds from zero on, the dimension from which on the rule retrieves every pair: in
        it the memory has been verified, in the one below a pair fails. None where it fails in all that were
        tried.
    ratio, error : float or None
        Mean of ``d^2 / (n log n)`` there, with its standard error; None with a dimension missing.
    shares : dict of float to float
        Share of pairs that are retrieved, mean over the instances, by ``d^2 / (n log n)``.
    noisy, rounded : float
        The same at the largest of these where queries are keys with noise of spread `NOISE`, and where
        entries of the memory are rounded to `BITS` bits.
    seconds : float
        That it takes to write a memory there, the median over the instances.
    """

    n: int
    dimensions: tuple[int | None, ...]
    ratio: float | None
    error: float | None
    shares: dict[float, float]
    noisy: float
    rounded: float
    seconds: float


@dataclass(frozen=True)
class Rung:
    """A rule of the ladder at one number of pairs.

    Attributes
    ----------
    rule : str
        Its name in `assocmem.experiments.ladder.rules.RULES`, or `ANY_MEMORY`.
    ratio, error : float
        As in `SizeScore`.
    dimensions : dict of int to int
        Smallest dimension by seed.
    """

    rule: str
    ratio: float
    error: float
    dimensions: dict[int, int] = field(repr=False)


def score_rule(
    write: Callable[[torch.Tensor, torch.Tensor], object], n: int, *, instances: int = 4
) -> SizeScore:
    """Find out from how many dimensions on a rule retrieves all pairs, and what it retrieves with fewer.

    Parameters
    ----------
    write : callable
        Takes targets U and keys V, float64 tensors of shape (d, n) whose columns are pairs, and returns a
        memory of shape (d, d), as a tensor or an array. It may change what it is given.
    n : int
        Number of pairs, at least 3.
    instances : int
        How many instances, at least 1.

    Returns
    -------
    SizeScore
        The dimension of an instance is where a search ends that goes up in strides and then halves them. It
        is one of several where a rule fails again above a dimension that it can do with.

    Raises
    ------
    ValueError
        For an argument out of range.
    RuleError
        If the rule raises, or returns what is no finite memory of the right shape.
    """
    require_callable("write", write)
    require_integer("n", n, 3)
    require_integer("instances", instances, 1)
    dimensions, shares = [], {ratio: [] for ratio in RATIOS}
    noisy, coarse, seconds = [], [], []
    for seed in progress(range(instances), f"{n} pairs"):
        at = nested_pairs(n, seed)
        for ratio in RATIOS:
            pairs, started = at(dimension_at_ratio(n, ratio)), time.perf_counter()
            W = written(write, pairs)
            took = time.perf_counter() - started
            shares[ratio].append(retrieved_share(pairs, W))
        noise = gaussian_pairs(n, pairs.d, seed=derived_seed(seed, n)).V
        noisy.append(retrieved_share(pairs.with_vectors(pairs.U, pairs.V + NOISE * noise), W))
        coarse.append(retrieved_share(pairs, rounded(W, BITS)))
        seconds.append(took)
        dimensions.append(_from_which(write, n, seed, at))
    ratio = error = None
    if None not in dimensions:
        ratio, error = mean_ratio(n, dimensions)
    means = {ratio: statistics.fmean(found) for ratio, found in shares.items()}
    left = statistics.fmean(noisy), statistics.fmean(coarse)
    return SizeScore(n, tuple(dimensions), ratio, error, means, *left, statistics.median(seconds))


def written(write: Callable[[torch.Tensor, torch.Tensor], object], pairs: Pairs) -> torch.Tensor:
    """The memory that a rule writes, checked.

    Parameters
    ----------
    write : callable
        As in `score_rule`.
    pairs : Pairs

    Returns
    -------
    Tensor, shape (d, d)

    Raises
    ------
    RuleError
        As in `score_rule`.
    """
    where = f"n = {pairs.n}, d = {pairs.d}"
    try:
        found = write(pairs.U.clone(), pairs.V.clone())
    except Exception as error:
        raise RuleError(f"{type(error).__name__}: {' '.join(str(error).split())} ({where})") from error
    try:
        W = torch.as_tensor(np.asarray(found.detach().cpu() if isinstance(found, torch.Tensor) else found))
        W = W.to(pairs.U.dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        raise RuleError(f"returned {shown(found)}: must be a matrix of numbers ({where})") from error
    if W.shape != (pairs.d, pairs.d):
        raise RuleError(
            f"returned a memory of shape {tuple(W.shape)}: must be {(pairs.d, pairs.d)} ({where})"
        )
    if not bool(torch.isfinite(W).all()):
        raise RuleError(f"returned a memory with inf or nan: must be finite ({where})")
    return W


def _from_which(write, n, seed, at):
    """Dimension from which on a rule retrieves an instance, or None; the last memory is verified."""
    try:
        d, W = smallest(partial(written, write), n, seed=seed)
    except ArithmeticError:
        return None
    if not verify(Certificate(k=1, W=W.numpy()), at(d)):
        raise RuleError(f"retrieves all pairs only within rounding (n = {n}, d = {d}, seed = {seed})")
    return d


@cache
def ladder(n: int) -> tuple[Rung, ...]:
    """What the rules of the book need at a number of pairs, the one that needs least first.

    Parameters
    ----------
    n : int

    Returns
    -------
    tuple of Rung
        Empty at a size that is not stored.
    """
    require_number("n", n, 0)
    found = {}
    for row in _stored():
        if int(row["n"]) == n:
            found.setdefault(row["rule"], {})[int(row["seed"])] = int(row["d"])
    rungs = (Rung(rule, *mean_ratio(n, list(by_seed.values())), by_seed) for rule, by_seed in found.items())
    return tuple(sorted(rungs, key=lambda rung: rung.ratio))


def stored_sizes() -> list[int]:
    """Numbers of pairs for which there is a ladder, rising."""
    return sorted({int(row["n"]) for row in _stored()})


@cache
def _stored():
    """The rows of the ladder that the package carries."""
    with files("assocmem.capacity").joinpath("ladder.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
