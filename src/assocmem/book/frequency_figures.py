"""The figures of frequent and rare facts: what is kept by weight, Zipf's law, streams and passes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy import special

from assocmem.book.plotting import (
    ABOVE,
    ANY_MEMORY,
    BELOW,
    COMPETITOR,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    MARKERS,
    OUTER_PRODUCTS,
    SIGNAL,
    TAIL_AVERAGE,
    panels,
    series,
)
from assocmem.checks import require
from assocmem.theory.scalar import density

DASHES = ("-", "--", ":", "-.")


class Look(NamedTuple):
    """How a way to fill a memory is drawn."""

    label: str
    color: str
    line: str
    marker: str


WAYS = {
    "lowest": Look("lower bound", ANY_MEMORY, "-", "D"),
    "keep": Look("the most frequent alone", LIMIT, "-", "s"),
    "trained_3": Look("trained, $w = p^3$", TAIL_AVERAGE, ":", "v"),
    "trained_2": Look("trained, $w = p^2$", TAIL_AVERAGE, "--", "^"),
    "trained_1": Look("trained, $w = p$", TAIL_AVERAGE, "-", "o"),
    "hebb": Look("outer products, best weights", OUTER_PRODUCTS, "-", "P"),
}
"""Ways to fill a memory with facts of Zipf's law, the best first."""

STREAM_WAYS = {
    "outer_products": Look("outer products", OUTER_PRODUCTS, "-", "o"),
    "decayed": Look("outer products that decay", OUTER_PRODUCTS, "--", "s"),
    "delta": Look("delta rule", LIMIT, "-", "^"),
    "newest": Look("trained on the newest alone", CROSS_ENTROPY, ":", "v"),
    "replay": Look("trained with replay", CROSS_ENTROPY, "--", "D"),
    "retrained": Look("retrained on all", CROSS_ENTROPY, "-", "P"),
    "sharpened": Look("retrained, sharpened", TAIL_AVERAGE, "-", "X"),
    "keep": Look("the most frequent alone", ANY_MEMORY, "-", "*"),
}
"""Ways to go through a stream, as `assocmem.experiments.frequencies.streams` has them."""


class Kept(NamedTuple):
    """What is kept at one load, by weight."""

    label: str
    above: bool
    """Whether the load is above the critical one."""
    line: tuple[ArrayLike, ArrayLike]
    """Weights, and the share that is kept in theory."""
    points: tuple[ArrayLike, ArrayLike, ArrayLike]
    """Mean weights of classes, the share that was kept of each, and its standard error."""
    told: ArrayLike
    """The share of each class in theory, which is a mean where its facts have different weights."""


def draw_kept(laws: Mapping[str, Sequence[Kept]]) -> Figure:
    """The share of facts that is kept, by weight, for some laws of weights.

    Parameters
    ----------
    laws : dict
        From the name of a law to what is kept at each load.

    Returns
    -------
    Figure
    """
    require(len(laws) > 0, "laws", laws, "at least one law")
    figure, axes = panels(len(laws), height=3.6, sharey=True, squeeze=False)
    for ax, (name, loads) in zip(axes[0], laws.items(), strict=True):
        for k, kept in enumerate(loads):
            color = ABOVE if kept.above else BELOW
            ax.plot(*kept.line, color=color, lw=1.2, ls=DASHES[k % len(DASHES)])
            weights, share, error = kept.points
            look = {"color": color, "fmt": MARKERS[k % len(MARKERS)], "ms": 4.5, "label": kept.label}
            ax.errorbar(weights, share, 2 * np.asarray(error), **look)
            ax.plot(weights, kept.told, "_", color=INK, ms=11, mew=1)
        ax.set(xscale="log", xlabel="weight $p$", title=name, ylim=(-0.03, 1.05))
        ax.legend(fontsize=7.5, loc="lower right", framealpha=0.9)
    axes[0, 0].set(ylabel="share kept")
    return figure


def draw_levels(average: float, levels: Mapping[str, float]) -> Figure:
    """Who is lost: the normal law of signals without their own pull, and the levels of facts of some weights.

    Parameters
    ----------
    average : float
        The tail average, in spreads of the competing scores.
    levels : dict
        From the name of a class of facts to the signal below which its facts are lost, over the same.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=3.2, width=6.2)
    z = np.linspace(min(-3.6, *levels.values()) - 0.4, max(3.6, average + 0.6), 500)
    ax.plot(z, density(z), color=INK, lw=1)
    looks = zip(levels.items(), (COMPETITOR, SIGNAL, LIMIT), (0.3, 0.9, 0.5), strict=False)
    for (name, level), color, alpha in looks:
        ax.fill_between(z, density(z), where=z <= level, color=color, alpha=alpha, lw=0)
        share = float(special.ndtr(level))
        ax.axvline(level, color=color, ls="--", label=f"{name}: lost on the left, {share:.2g} of them")
    ax.axvline(average, color=TAIL_AVERAGE, label="average of the best competitors")
    ax.set(xlabel="signal without its own pull, over $\\nu$", ylabel="density", ylim=(0, 0.7))
    ax.legend(fontsize=8, loc="upper left")
    return figure


def draw_scaling(
    entries: ArrayLike,
    theory: Mapping[str, ArrayLike],
    measured: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    slope: float,
) -> Figure:
    """Errors against the size of the memory on double logarithmic axes, and their local slopes.

    Parameters
    ----------
    entries : array_like, shape (k,)
        ``d^2`` at which theory is given, increasing.
    theory : dict
        From a way of `WAYS` to its errors.
    measured : dict
        From a way to ``d^2``, mean errors and standard errors of these.
    slope : float
        That of the limit, drawn as a line in the second panel.

    Returns
    -------
    Figure
    """
    figure, (left, right) = panels(2, height=3.9)
    entries = np.asarray(entries, dtype=float)
    for name, errors in theory.items():
        look = WAYS[name]
        left.plot(entries, errors, color=look.color, ls=look.line, lw=1.2, label=look.label)
        middles = np.sqrt(entries[1:] * entries[:-1])
        slopes = np.diff(np.log(errors)) / np.diff(np.log(entries))
        right.plot(middles, slopes, color=look.color, ls=look.line, lw=1.2)
    for name, found in measured.items():
        look = WAYS[name]
        size, mean, error = (np.asarray(x, dtype=float) for x in found)
        left.errorbar(size, mean, 2 * error, color=look.color, fmt=look.marker, ms=4.5)
        if len(size) > 1:
            steps, relative = np.diff(np.log(size)), error / mean
            spread = np.hypot(relative[1:], relative[:-1]) / steps
            at, own = np.sqrt(size[1:] * size[:-1]), np.diff(np.log(mean)) / steps
            right.errorbar(at, own, 2 * spread, color=look.color, fmt=look.marker, ms=4.5)
    right.axhline(slope, color=INK, lw=1, label=f"the limit, {slope:g}")
    left.set(xscale="log", yscale="log", xlabel="entries of the matrix, $d^2$", ylabel="error")
    right.set(xscale="log", xlabel="entries of the matrix, $d^2$", ylabel="local slope")
    left.legend(fontsize=7.5)
    right.legend(fontsize=8)
    return figure


class Constants(NamedTuple):
    """Constants of one exponent of Zipf's law, each over that of keeping the most frequent facts alone."""

    s: float
    trained: ArrayLike
    """For each power of the frequencies."""
    hebb: float
    lowest: float


def draw_constants(gammas: ArrayLike, found: Sequence[Constants]) -> Figure:
    """Constants of training against the power of the frequencies, beside those of other memories.

    Parameters
    ----------
    gammas : array_like
        Powers of the frequencies that are taken as weights.
    found : sequence of Constants

    Returns
    -------
    Figure
    """
    require(len(found) > 0, "found", found, "at least one exponent")
    figure, axes = panels(len(found), height=3.4, sharey=True, squeeze=False)
    for ax, own in zip(axes[0], found, strict=True):
        ax.plot(gammas, own.trained, "-o", color=TAIL_AVERAGE, ms=4, label="trained, $w = p^\\gamma$")
        ax.axhline(own.hebb, color=OUTER_PRODUCTS, ls="--", label="outer products, best weights")
        ax.axhline(1, color=LIMIT, lw=1.2, label="the most frequent alone")
        ax.axhline(own.lowest, color=ANY_MEMORY, ls=":", label="lower bound")
        ax.set(xlabel="power $\\gamma$", title=f"$s = {own.s:g}$", yscale="log")
    ticks = [0.7, 1, 1.5, 2, 3, 4]
    axes[0, 0].set_yticks(ticks, [f"{x:g}" for x in ticks])
    axes[0, 0].minorticks_off()
    axes[0, 0].set(ylabel="error over that of\nthe most frequent alone")
    axes[0, 0].legend(fontsize=7, loc="upper right", framealpha=0.9)
    return figure


def draw_stream(
    places: Sequence[str],
    found: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike | None]],
    axis: str,
    ax: Axes | None = None,
) -> Figure:
    """Shares that ways to go through a stream answer, by bins of age or of how often a fact came.

    Parameters
    ----------
    places : sequence of str
        Names of the bins.
    found : dict
        From a way of `STREAM_WAYS` to its shares, their standard errors, and what theory tells, or None.
    axis : str
        What the bins are.
    ax : Axes, optional
        Where to draw; by default a figure of its own.

    Returns
    -------
    Figure
    """
    if ax is None:
        figure, ax = panels(height=3.8, width=6.4)
    else:
        figure = ax.figure
    at = np.arange(len(places))
    for k, (name, (mean, error, told)) in enumerate(found.items()):
        look = STREAM_WAYS[name]
        line = look.line if told is None else ""
        marks = {"color": look.color, "marker": look.marker, "ms": 4.5, "lw": 1.1, "ls": line}
        ax.errorbar(at + 0.02 * (k - len(found) / 2), mean, 2 * np.asarray(error), label=look.label, **marks)
        if told is not None:
            ax.plot(at, told, color=look.color, ls=look.line, lw=1.2)
    ax.set_xticks(at, places)
    ax.set(xlabel=axis, ylabel="share answered", ylim=(-0.03, 1.05))
    ax.legend(fontsize=7.5, framealpha=0.9)
    return figure


def draw_streams(
    ages: tuple[Sequence[str], Mapping[str, tuple]], times: tuple[Sequence[str], Mapping[str, tuple]]
) -> Figure:
    """What is left of a stream by age, and beside it by how often a fact came.

    Parameters
    ----------
    ages, times : tuple
        Names of the bins and what was found, as for `draw_stream`.

    Returns
    -------
    Figure
    """
    figure, (left, right) = panels(2, height=4.4, sharey=True)
    draw_stream(*ages, "blocks since the fact came", left)
    draw_stream(*times, "how often the fact came", right)
    for ax in (left, right):
        ax.get_legend().remove()
    right.set(ylabel="")
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def places(bins: Sequence[tuple[int, int | None]]) -> list[str]:
    """Names of bins of whole numbers.

    Parameters
    ----------
    bins : sequence of tuple
        First and last number of each, the last one None for a bin without an end.

    Returns
    -------
    list of str
    """
    return [f"{a}" if a == b else f"{a} on" if b is None else f"{a} to {b}" for a, b in bins]


def draw_passes(found: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]], power: float) -> Figure:
    """Errors against passes over the scores, for some sizes of the memory and ways to train it.

    Parameters
    ----------
    found : dict
        From what is drawn to passes, mean errors and standard errors.
    power : float
        Of a line to compare with, through the middle of the first curve.

    Returns
    -------
    Figure
    """
    require(len(found) > 0, "found", found, "at least one curve")
    figure, ax = panels(height=3.8, width=6.2)
    for (name, (passes, mean, error)), look in series(found.items()):
        ax.errorbar(passes, mean, 2 * np.asarray(error), lw=1.1, label=name, **look)
    passes, mean, _ = (np.asarray(x, dtype=float) for x in next(iter(found.values())))
    middle = len(passes) // 2
    ax.plot(passes, mean[middle] * (passes / passes[middle]) ** power, ":", color=INK, lw=1)
    ax.set(xscale="log", yscale="log", xlabel="passes over the scores", ylabel="error")
    ax.legend(fontsize=7.5)
    return figure
