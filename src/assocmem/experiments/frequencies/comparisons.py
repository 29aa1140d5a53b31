"""Stored memories of frequent and rare facts put together, and beside the theory of their own settings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from assocmem.checks import require, require_integer, require_numbers
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.frequencies.kept import classes_of
from assocmem.experiments.frequencies.passes import COUNTS, TRAININGS
from assocmem.experiments.statistics import Line, line_through
from assocmem.pairs.sizes import pairs_at_load
from assocmem.theory.frequencies import Frequencies
from assocmem.theory.frequency_scaling import hebb_weights
from assocmem.theory.ridgeless import tail_mean
from assocmem.theory.weighted import WeightedSolution, solve_weighted

ALONE = 0.1
"""Error of a single instance, over its value, where there is no other one to tell how instances scatter."""

LEAST = 1e-6
"""Error of an instance over its value, at least: instances may agree by chance."""


@dataclass(frozen=True)
class KeptClasses:
    """What memories of one setting keep of each class, from the most frequent down.

    Attributes
    ----------
    law : str
    load, ridge : float
    d : int
    weights, sizes : ndarray, shape (k,)
        Mean weights of the classes, and how many facts they have in all instances together.
    kept, error : ndarray, shape (k,)
        Shares that are kept, means over instances, and standard errors: from the scatter of instances, and no
        less than if facts were kept independently.
    told : ndarray, shape (k,)
        The shares in theory.
    theory : WeightedSolution
    """

    law: str
    load: float
    ridge: float
    d: int
    weights: np.ndarray
    sizes: np.ndarray
    kept: np.ndarray
    error: np.ndarray
    told: np.ndarray
    theory: WeightedSolution


def kept_classes(
    stored: DataFrame, law: str, load: float, ridge: float, d: int, *, r: float = 0.15, beta: float = 5.0
) -> KeptClasses:
    """Stored memories of one setting beside the theory with the weights of their facts.

    Parameters
    ----------
    stored : DataFrame
        Rows of `assocmem.experiments.points.kept_shares`.
    law : str
        A name in `assocmem.experiments.frequencies.kept.LAWS`.
    load, ridge : float
    d : int
    r, beta : float
        Those of the sweep.

    Returns
    -------
    KeptClasses

    Raises
    ------
    ValueError
        If there are no such rows.
    """
    rows = stored[(stored["law"] == law) & (stored["load"] == load)]
    rows = rows[(rows["ridge"] == ridge) & (rows["d"] == d)]
    require(len(rows) > 0, "law", law, f"stored with load {load:g}, ridge {ridge:g}, d = {d}")
    n = pairs_at_load(load, d)
    classes = classes_of(law, n)
    theory = solve_weighted(
        n / d**2,
        r,
        beta=beta,
        ridge=ridge,
        frequencies=Frequencies(classes.weights),
    )
    parts = [part for part in np.split(classes.weights, classes.ends[:-1]) if len(part)]
    told = np.array([float(np.mean(theory.kept(part))) for part in parts])
    numbers = range(1, len(parts) + 1)
    sizes = np.array([float(rows[f"size_{k}"].sum()) for k in numbers])
    kept = np.array([float(rows[f"kept_{k}"].mean()) for k in numbers])
    chance = np.sqrt(np.clip(told * (1 - told), 1e-12, None) / sizes)
    scatter = np.array([_error(rows[f"kept_{k}"]) for k in numbers])
    weights = np.array([float(part.mean()) for part in parts])
    return KeptClasses(law, load, ridge, d, weights, sizes, kept, np.maximum(chance, scatter), told, theory)


def _error(values):
    """Standard error of a mean; 0 for a single value."""
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0


@dataclass(frozen=True)
class ZipfErrors:
    """Errors of one way to fill a memory, by its dimension.

    Attributes
    ----------
    d : ndarray of int, shape (k,)
    mean, error : ndarray, shape (k,)
        Means over instances, and standard errors.
    told : ndarray, shape (k,)
        The errors in theory, for the same number of facts; nan where none is stored. Those of outer
        products count in what lengths do, which matters for them.
    exponent : Line
        The slope of the logarithm of the error against that of ``d^2``, with its standard error. The error
        is taken as a share of the questions about an endless list, so that it does not matter for the slope
        that longer lists have more questions.
    """

    d: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    told: np.ndarray
    exponent: Line


def zipf_errors(
    stored: DataFrame,
    predicted: DataFrame,
    s: float,
    way: str,
    gamma: float = 1.0,
    *,
    per_entry: int = 2,
    column: str = "error",
) -> ZipfErrors:
    """Stored errors under a law of Zipf, at one number of facts for each entry of the memory.

    Parameters
    ----------
    stored : DataFrame
        Rows of `assocmem.experiments.points.zipf_error`.
    predicted : DataFrame
        Rows of `assocmem.experiments.points.zipf_prediction`.
    s : float
    way : str
        A name in `assocmem.experiments.frequencies.zipf.WAYS`.
    gamma : float
        Power of the frequencies, for trained memories.
    per_entry : int
        Facts for each entry.
    column : str
        ``"error"``, or ``"error_first"`` for the first place, of which there is no theory.

    Returns
    -------
    ZipfErrors

    Raises
    ------
    ValueError
        If there are fewer than three dimensions.
    """
    rows = stored[(stored["s"] == s) & (stored["way"] == way) & (stored["gamma"] == gamma)]
    rows = rows[rows["n"] == per_entry * rows["d"] ** 2]
    found = rows.groupby("d")[column]
    mean, count = found.mean(), found.count().to_numpy()
    require(len(mean) >= 3, "way", way, f"stored in three dimensions for s = {s:g}, gamma = {gamma:g}")
    d, values = mean.index.to_numpy(int), mean.to_numpy(float)
    scatter = found.std(ddof=1).to_numpy(float) / values
    known = np.isfinite(scatter) & (count > 2)
    # relative deviations of an instance fall like 1/d, so that those of few instances follow from others
    one = float(np.mean(scatter[known] * d[known])) if known.any() else ALONE * float(d[0])
    share = np.maximum(np.where(known, np.nan_to_num(scatter), one / d), LEAST)
    error = values * share / np.sqrt(count)
    asked = np.array([_asked(per_entry * int(x) ** 2, s) for x in d])
    exponent = line_through(np.log(d.astype(float) ** 2), np.log(values * asked), error / values)
    if way == "hebb":
        told = [_told_of_hebb(s, int(x), per_entry) for x in d]
    else:
        name = {"tail_average": "trained"}.get(way, way)
        told = [_told(predicted, s, gamma, int(x), per_entry, name) for x in d]
    told = np.array(told)
    return ZipfErrors(d, values, error, told, exponent)


def _asked(n, s):
    """How often the first n facts are asked, over the first one."""
    return float(np.sum(np.arange(1, n + 1) ** -float(s)))


def _told_of_hebb(s, d, per_entry, r=0.15):
    """The error of outer products with the weights that are best without an end of dimensions."""
    n = per_entry * d**2
    return written_error(np.arange(1, n + 1) ** -float(s), hebb_weights(n, d, s, r), d, r, levelled=True)


def written_error(
    asked: np.ndarray, weights: np.ndarray, d: int, r: float, *, levelled: bool = False
) -> float:
    """Expected error of a sum of outer products with any weights.

    Signals and competing scores are taken for normal. In spreads of the competitors, a signal t has the
    variance one of the crosstalk and ``2.5 t^2 / d`` of the lengths: those of an answer, and of a key, half
    of whose length every score of it shares. Where outer products are divided by the squared lengths of their
    vectors, signals are level, and what is left is the spread of the competitors, ``0.5 t^2 / d``.

    Parameters
    ----------
    asked : ndarray, shape (n,)
        How often each fact is asked, in any unit.
    weights : ndarray, shape (n,)
        Of its outer product, in any unit.
    d : int
        Dimension.
    r : float
        Tail fraction of the competitors whose average a signal has to beat.
    levelled : bool
        Whether outer products are divided by squared lengths.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For numbers out of range, or not as many weights as facts.
    """
    require_numbers("asked", asked, 0, np.inf, ends="[)")
    require_numbers("weights", weights, 0, np.inf, ends="[)")
    require(np.shape(asked) == np.shape(weights), "weights", np.shape(weights), f"{np.shape(asked)}")
    require_integer("d", d, 3)
    t = weights * (d - 2 * levelled) / math.sqrt(float(weights @ weights))
    scatter = (0.5 if levelled else 2.5) / d
    lost = special.ndtr((float(tail_mean(r)) - t) / np.sqrt(1 + scatter * t**2))
    return float(asked @ lost / asked.sum())


def _told(predicted, s, gamma, d, per_entry, name):
    """One number of the theory, or nan."""
    rows = predicted[(predicted["s"] == s) & (predicted["gamma"] == gamma) & (predicted["d"] == d)]
    rows = rows[rows["n"] == per_entry * d**2]
    return float(rows[name].iloc[0]) if len(rows) and name in rows else math.nan


@dataclass(frozen=True)
class StreamShares:
    """Shares of facts that are answered at the end of a stream, in bins.

    Attributes
    ----------
    mean, error : ndarray, shape (k,)
        Over all facts of all instances, and standard errors between instances.
    told : ndarray, shape (k,)
        The same in theory, nan where there is none.
    """

    mean: np.ndarray
    error: np.ndarray
    told: np.ndarray


def stream_shares(
    stored: DataFrame, d: int, chunks: int, way: str, s: float, bins: Sequence[str]
) -> StreamShares:
    """Stored shares of one way through streams, in bins of age or of how often facts came.

    Parameters
    ----------
    stored : DataFrame
        Rows of `assocmem.experiments.points.fact_stream`.
    d, chunks : int
    way : str
        A name in `assocmem.experiments.frequencies.streams.WAYS`.
    s : float
    bins : sequence of str
        Names of columns, such as ``"age_0"``.

    Returns
    -------
    StreamShares

    Raises
    ------
    ValueError
        If there are no such rows.
    """
    rows = stored[(stored["d"] == d) & (stored["chunks"] == chunks) & (stored["s"] == s)]
    rows = rows[rows["way"] == way]
    require(len(rows) > 0, "way", way, f"stored with d = {d}, {chunks} chunks, s = {s:g}")
    mean, error, told = [], [], []
    for name in bins:
        counts = rows[f"of_{name}"].to_numpy(float)
        own = rows[name].fillna(0.0).to_numpy(float)
        total = max(counts.sum(), 1.0)
        mean.append(float(counts @ own) / total)
        spread = math.sqrt(float(((counts * (own - mean[-1])) ** 2).sum())) / total
        if len(rows) > 1:
            spread *= math.sqrt(len(rows) / (len(rows) - 1))
        error.append(max(spread, math.sqrt(mean[-1] * (1 - mean[-1]) / total)))
        tells = (
            rows[f"told_{name}"].fillna(0.0).to_numpy(float) if rows[f"told_{name}"].notna().any() else None
        )
        told.append(math.nan if tells is None else float(counts @ tells) / total)
    return StreamShares(*(np.array(x) for x in (mean, error, told)))


def passes_by_size(stored: DataFrame, s: float) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Errors against passes, for each training and dimension, with the best step of descent at each number.

    Parameters
    ----------
    stored : DataFrame
        Rows of `assocmem.experiments.points.error_by_passes`.
    s : float

    Returns
    -------
    dict
        From words to passes, mean errors over instances and their standard errors.

    Raises
    ------
    ValueError
        If there are no such rows.
    """
    rows = stored[stored["s"] == s]
    require(len(rows) > 0, "s", s, "a stored exponent")
    columns = [f"error_{count}" for count in COUNTS]
    found = {}
    for training in TRAININGS:
        for d, own in rows[rows["training"] == training].groupby("d"):
            step = own["step"].fillna(0.0)  # a fit has none
            best = own.groupby(step)[columns].mean().idxmin()
            values = [own[step == best[name]][name] for name in columns]
            mean = np.array([float(x.mean()) for x in values])
            error = np.array([_error(x) for x in values])
            found[f"{training}, $d = {int(d)}$"] = (np.array(COUNTS), mean, error)
    return found
