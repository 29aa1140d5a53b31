"""Columns of normal scores under a smoothed tail average: who feels it, and what a newcomer takes."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from assocmem.pairs.sizes import tail_count
from assocmem.pairs.tail_average import smoothed_gradient, smoothed_threshold
from assocmem.theory.column_weights import ColumnWeights, column_weights, density_alone

NOTHING = 1e-5
"""What a newcomer takes at least, and the least relative error of it: far below any that is measured."""
OUT_OF_REACH = 60.0
"""Height of a newcomer above the threshold, in widths of the smoothing, at which it has its full weight."""


@dataclass(frozen=True)
class Columns:
    """What was measured on columns of one size and one spread; arrays of shape (draws,) but for `taken`.

    Attributes
    ----------
    n, rho : int and float
        Number of scores and their standard deviation.
    limit : ColumnWeights
        The averages of infinitely many scores.
    threshold : ndarray
        Of each column.
    felt : ndarray
        Scores that feel the smoothing, ``sum g`` with ``g = q (1 - q)``, over n.
    spread : ndarray
        Squared length of the weights g, divided by their sum, times n.
    taken : ndarray, shape (heights, draws)
        Length of what one more competitor takes from the weights of the others, times ``k sqrt(n)``.
    payer : ndarray
        Mean of q among those who pay for the highest newcomer, in proportion to what they pay.
    rises : int
        Old weights that grew when a newcomer came, by more than rounding.
    """

    n: int
    rho: float
    limit: ColumnWeights
    threshold: np.ndarray
    felt: np.ndarray
    spread: np.ndarray
    taken: np.ndarray
    payer: np.ndarray
    rises: int


def measure_columns(
    n: int,
    rho: float,
    r: float,
    beta: float,
    heights: tuple[float, ...] = (OUT_OF_REACH,),
    *,
    draws: int,
    seed: int | list[int],
) -> Columns:
    """What Lemma 4 bounds, on columns of normal scores.

    Parameters
    ----------
    n : int
        Scores in a column.
    rho : float
        Their standard deviation.
    r, beta : float
        Tail fraction and inverse smoothing width.
    heights : tuple of float
        Of newcomers above the threshold of the column, in widths ``1 / beta``; they come one at a time, and
        the size of the tail stays.
    draws : int
        Columns.
    seed : int or list of int
        As for `numpy.random.default_rng`.

    Returns
    -------
    Columns
    """
    x = rho * np.random.default_rng(seed).standard_normal((draws, n))
    k = tail_count(r, n)
    mu = smoothed_threshold(x, r, beta)
    q = special.expit(beta * (x - mu[:, None]))
    g = q * special.expit(-beta * (x - mu[:, None]))
    lost = []
    for height in heights:
        grown = np.hstack([x, mu[:, None] + height / beta])
        lost.append(q / k - smoothed_gradient(grown, (k - 0.5) / (n + 1), beta)[:, :-1])
    highest = lost[int(np.argmax(heights))]
    sums = g.sum(axis=1)
    return Columns(
        n=n,
        rho=rho,
        limit=column_weights(rho, r, beta),
        threshold=mu,
        felt=sums / n,
        spread=n * (g**2).sum(axis=1) / sums**2,
        taken=k * math.sqrt(n) * np.array([np.linalg.norm(part, axis=1) for part in lost]),
        payer=(highest * q).sum(axis=1) / highest.sum(axis=1),
        rises=sum(int((part < -1e-12 / k).sum()) for part in lost),
    )


def threshold_evidence(columns: list[Columns], r: float) -> dict:
    """What a check of Lemma 4 compares: thresholds at all spreads, over ``1 + rho``, with the normal law's.

    Parameters
    ----------
    columns : list of Columns
        At spreads from a fraction of the smoothing to many.
    r : float
        Tail fraction.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    scale = np.array([1 + c.rho for c in columns])
    return _on_columns(
        columns,
        r"thresholds over $1 + \nu$",
        [c.threshold for c in columns] / scale[:, None],
        np.array([c.limit.threshold for c in columns]) / scale,
        (
            "the quantile of the scores, so that the $1$ is not needed",
            -special.ndtri(r) * (scale - 1) / scale,
        ),
        r"threshold over $1 + \nu$",
    )


def felt_evidence(columns: list[Columns], r: float, beta: float) -> dict:
    """What a check of Lemma 4 compares: scores that feel the smoothing, times ``(1 + rho) / n``.

    Parameters
    ----------
    columns : list of Columns
        At spreads from a fraction of the smoothing to many.
    r, beta : float
        Tail fraction and inverse smoothing width.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    scale = np.array([1 + c.rho for c in columns])
    return _on_columns(
        columns,
        r"scores that feel the smoothing, times $(1 + \nu)/n$",
        [c.felt for c in columns] * scale[:, None],
        np.array([c.limit.felt for c in columns]) * scale,
        (
            "as many as the density at the threshold says, at every spread",
            np.array([density_alone(c.rho, r, beta) for c in columns]) * scale,
        ),
        r"number of scores, times $(1 + \nu)/n$",
    )


def spread_evidence(columns: list[Columns]) -> dict:
    """What a check of Lemma 4 compares: squared length of the normalised weights, times ``n / (1 + rho)``.

    Parameters
    ----------
    columns : list of Columns

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The falsehood is the bound in the lemma's proof, the
        largest weight times their sum, which is right in order.
    """
    scale = np.array([1 + c.rho for c in columns])
    return _on_columns(
        columns,
        r"squared length of the shares $g_j / \sum_l g_l$, times $n/(1 + \nu)$",
        [c.spread for c in columns] / scale[:, None],
        np.array([c.limit.spread for c in columns]) / scale,
        (
            "as large as the largest $g$, $1/4$, allows",
            np.array([0.25 / c.limit.felt for c in columns]) / scale,
        ),
        r"squared length, times $n/(1 + \nu)$",
    )


def height_evidence(columns: list[Columns], heights: tuple[float, ...]) -> dict:
    """What a check of Lemma 4 compares: lengths of what newcomers take, at several heights and spreads.

    A newcomer of weight q lifts the threshold by ``q / (beta sum g)``, so what it takes has the length
    ``(q / k) |g| / sum g``.

    Parameters
    ----------
    columns : list of Columns
    heights : tuple of float
        With which they were measured.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    q = special.expit(np.array(heights))
    scale = np.sqrt([1 + c.rho for c in columns])
    rows = [(c, i) for c in columns for i in range(len(heights))]
    return _on_columns(
        [c for c, _ in rows],
        rf"what newcomers at {len(heights)} heights take, times $k \sqrt{{n/(1 + \nu)}}$",
        np.array([c.taken[i] / math.sqrt(1 + c.rho) for c, i in rows]),
        np.outer(np.sqrt([c.limit.spread for c in columns]) / scale, q).ravel(),
        (
            "as much as the largest $g$, $1/4$, allows",
            np.outer(np.sqrt([0.25 / c.limit.felt for c in columns]) / scale, q).ravel(),
        ),
        r"length of what is taken, times $k \sqrt{n/(1 + \nu)}$",
        [rf"$\nu = {c.rho:g}$, height {heights[i]:g}" for c, i in rows],
    )


def payer_evidence(columns: list[Columns]) -> dict:
    """What a check of Lemma 4 compares: the mean weight q of those who pay for a newcomer.

    Parameters
    ----------
    columns : list of Columns

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    return _on_columns(
        columns,
        "mean of $q$ among those who pay for a newcomer",
        np.array([c.payer for c in columns]),
        np.array([c.limit.payer for c in columns]),
        ("all weights shrink by one factor", np.array([c.limit.owner for c in columns])),
        "mean weight $q$ of the payers",
    )


def size_evidence(columns: list[Columns]) -> dict:
    """What a check of Lemma 4 compares: the power of n in what a newcomer takes, with ``-3/2``.

    Parameters
    ----------
    columns : list of Columns
        Of at least three sizes.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    taken = [c.taken[-1] for c in columns]
    means = np.array([t.mean() for t in taken]).clip(NOTHING)
    errors = np.array([t.std(ddof=1) / math.sqrt(len(t)) for t in taken]) / means
    errors = errors.clip(NOTHING)  # columns whose tail is one score all lose the same
    errors[means == NOTHING] = 1.0  # where nothing is taken, no power shows
    sizes = np.log([c.n for c in columns])
    (slope, _), covariance = np.polyfit(sizes, np.log(means), 1, w=1 / errors, cov="unscaled")
    return {
        "claim": "lemma-4",
        "what": f"power of $n$ in what a newcomer takes, from {len(sizes)} sizes",
        "kind": "simulation",
        "measured": slope - 1.5,
        "predicted": -1.5,
        "tolerance": 0.05 + 4 * math.sqrt(covariance[0, 0]),
        "falsehood": ("a newcomer takes one weight of order $1/k$", -1.0),
        "axis": "power of $n$",
    }


def _on_columns(columns, what, measured, predicted, falsehood, axis, each=None):
    """Arguments of a check: means over draws, and as tolerance four standard errors and the next order.

    What is a ratio of sums over the n f scores that feel the smoothing is off by a relative 1 / (n f).
    """
    few = np.array([1 / (c.n * c.limit.felt) for c in columns])
    draws = measured.shape[1]
    rhos = [c.rho for c in columns]
    return {
        "claim": "lemma-4",
        "what": f"{what}, at spreads {min(rhos):g} to {max(rhos):g}",
        "kind": "simulation",
        "measured": measured.mean(axis=1),
        "predicted": predicted,
        "tolerance": 4 * measured.std(axis=1, ddof=1) / math.sqrt(draws) + few * abs(predicted),
        "falsehood": falsehood,
        "axis": axis,
        "each": each or [rf"$\nu = {rho:g}$" for rho in rhos],
    }
