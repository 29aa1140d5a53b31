"""The figures of the section on the correlation matrix memory; what they show is computed in the section."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from assocmem.book import plotting as plot
from assocmem.book.plotting import (
    ANY_MEMORY,
    COMPETITOR,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    PAPER,
    SIGNAL,
    panels,
    series,
)
from assocmem.theory import outer_products as cmm

RATIO = "ratio $d^2/(n\\,\\log n)$"
"""What stands at the axis of ratios."""
NARROW = 5.8
"""Width in inches of a figure that is to be read on a phone too: its words are then less reduced."""
BINS = 50
"""Of each histogram of scores."""
SHOWN = 0.002, 0.99
"""Quantiles between which a histogram of scores is shown: the last per cent would stretch it."""


def draw_columns(
    statistics: Mapping[str, Callable[[np.ndarray], np.ndarray]],
    simulated: np.ndarray,
    exact: np.ndarray,
    gaussian: np.ndarray,
) -> Figure:
    """Histograms of statistics of simulated score columns, with two laws as lines.

    Parameters
    ----------
    statistics : dict of str to callable
        A number from each column, by its name; one panel for each.
    simulated, exact, gaussian : ndarray, shape (size, n)
        Columns from instances, from the exact law, and from the Gaussian picture.

    Returns
    -------
    Figure
    """
    height = 0.4 + 2.3 * len(statistics)
    figure, axes = panels(rows=len(statistics), width=NARROW, height=height, squeeze=False)
    lines = ((exact, "-", OUTER_PRODUCTS, "exact law"), (gaussian, "--", INK, "Gaussian picture"))
    for ax, (name, statistic) in zip(axes[:, 0], statistics.items(), strict=True):
        values = statistic(simulated)
        bins = np.linspace(*np.quantile(values, SHOWN), BINS)
        ax.hist(values, bins, density=True, color=OUTER_PRODUCTS, alpha=0.25, label="simulated")
        for sample, style, color, label in lines:
            plot.density_line(ax, statistic(sample), bins, ls=style, color=color, label=label)
        ax.set(xlabel=f"score of the {name}", ylabel="density", yticks=[])
    axes[0, 0].legend()
    return figure


def draw_plane(dip: np.ndarray, rise: np.ndarray, n: int, d: int) -> Figure:
    """Dip of the signal and rise of the best competitor of each key, and where pairs occur for many pairs.

    Parameters
    ----------
    dip, rise : ndarray, shape (n,)
        As from `assocmem.experiments.explicit.outer_product_memories.dips_and_rises`.
    n, d : int
        Pairs and dimension of the memory.

    Returns
    -------
    Figure
    """
    figure, ax = panels(width=NARROW, height=4.8)
    angle = np.linspace(0, np.pi, 200)
    inside = np.abs(2 * np.cos(angle)) <= math.sqrt(2)
    edge = 2 * np.cos(angle[inside]), 2 * np.sin(angle[inside])
    ax.fill_between(*edge, color=LIMIT, alpha=0.18, lw=0, label="where pairs occur, $n \\to \\infty$")
    ax.plot(dip, rise, ".", ms=2.5, color=OUTER_PRODUCTS, alpha=0.6, label=f"keys, $n = {n}$, $d = {d}$")
    x = np.linspace(-1.6, 2.4, 2)
    here = d**2 / (n * math.log(n))
    for c, color, style in ((2, ANY_MEMORY, "-."), (here, INK, "--"), (8, OUTER_PRODUCTS, "-")):
        label = f"ratio {c:.3g}" + (", this memory" if c == here else "")
        ax.plot(x, math.sqrt(c) - x, style, color=color, label=label)
    root = math.sqrt(2)
    ax.plot([0, root], [root, root], "o", color=INK, mfc="none", ms=9, mew=1.6)
    for place, words in ((0, "typical key"), (root, "worst key")):
        ground = {"boxstyle": "round,pad=0.15", "fc": PAPER, "ec": "none", "alpha": 0.8}
        where = {"xytext": (9, 9), "textcoords": "offset points"}
        ax.annotate(words, (place, root), fontsize=10, bbox=ground, **where)
    ax.set(xlim=(-1.6, 2.4), ylim=(0, 3.4))
    ax.set(xlabel="dip $x$ of the signal below 1", ylabel="rise $y$ of the best competitor above 0")
    ax.legend(loc="lower left", fontsize=8, frameon=True, framealpha=0.85, edgecolor="none")
    return figure


def draw_variances(n: Sequence[float], d: Sequence[float], found: np.ndarray, error: np.ndarray) -> Figure:
    """Variances of signal and competitor over the load: sampled, exact, and as in the Gaussian picture.

    Parameters
    ----------
    n, d : sequence of float
        Numbers of pairs and dimensions, ascending in n.
    found, error : ndarray, shape (2, sizes)
        Sampled variances over the load of signals and of competitors, and their standard errors.

    Returns
    -------
    Figure
    """
    figure, ax = panels(width=NARROW, height=3.6)
    fine = np.geomspace(n[0], n[-1], 60)
    wide = np.exp(np.interp(np.log(fine), np.log(n), np.log(d)))
    laws = (
        ("signal", cmm.signal_variance, SIGNAL, "o", "-"),
        ("competitor", cmm.competitor_variance, COMPETITOR, "s", "--"),
    )
    for (name, variance, color, marker, style), y, e in zip(laws, found, error, strict=True):
        exact = [variance(m, width) * width**2 / m for m, width in zip(fine, wide, strict=True)]
        ax.plot(fine, exact, style, color=color, label=f"{name}, exact")
        ax.errorbar(n, y, yerr=2 * e, fmt=marker, color=color, label=f"{name}, sampled")
    ax.axhline(1, color=INK, lw=1, ls=":", label="Gaussian picture")
    ax.set(xscale="log", xlabel="number of pairs $n$", ylabel="variance of a score over the load")
    ax.set_ylim(bottom=0.8)
    ax.legend()
    return figure


def draw_success(
    outcomes: Mapping[int, tuple[np.ndarray, np.ndarray, np.ndarray]],
    laws: Mapping[int, tuple[np.ndarray, np.ndarray]],
    bounds: Mapping[int, tuple[np.ndarray, np.ndarray]],
) -> Figure:
    """Probability that all pairs are retrieved: simulated, from the exact law of one key, and as bounded.

    Parameters
    ----------
    outcomes : dict of int to three ndarrays
        By the number of pairs: ratios, successes and trials.
    laws : dict of int to two ndarrays
        Ratios, and the probability by the exact law.
    bounds : dict of int to two ndarrays
        Ratios, and one minus the union bound over pairs, for some of the numbers of pairs.

    Returns
    -------
    Figure
    """
    figure, ax = panels(width=NARROW, height=4.2)
    for n, look in series(outcomes):
        plot.proportions(ax, *outcomes[n], label=f"$n = {n}$", **look)
        ax.plot(*laws[n], color=look["color"])
        if n in bounds:
            ax.plot(*bounds[n], ":", color=look["color"])
    ax.axvline(8, color=LIMIT, lw=1)
    ax.set(xlabel=RATIO, ylabel="probability that all are retrieved", ylim=(-0.03, 1.03))
    _two_keys(ax, {"simulated": "o", "exact law": "-", "union bound": ":"})
    return figure


def _two_keys(ax: Axes, styles: Mapping[str, str]) -> None:
    """A key for the curves at the lower right, and beside it one for what points and lines mean."""
    first = ax.legend(loc="lower right")
    looks = {word: {"marker": s, "ls": "none"} if s == "o" else {"ls": s} for word, s in styles.items()}
    handles = [Line2D([], [], color=LIMIT, label=word, **look) for word, look in looks.items()]
    ax.legend(handles=handles, loc="upper left")
    ax.add_artist(first)


def draw_half(
    sizes: np.ndarray, exact: Sequence[float], digits: np.ndarray, picture: Sequence[float]
) -> Figure:
    """The ratio at which half of all memories succeed, against the number of decimal digits of n.

    Parameters
    ----------
    sizes : ndarray
        Numbers of pairs for which the exact law was asked.
    exact : sequence of float
        Its ratios.
    digits : ndarray
        Decimal logarithms of numbers of pairs for which the Gaussian picture was asked.
    picture : sequence of float
        Its ratios.

    Returns
    -------
    Figure
    """
    figure, ax = panels(width=NARROW, height=3.9)
    ax.plot(np.log10(sizes), exact, color=OUTER_PRODUCTS, marker="o", markevery=3, label="exact law")
    ax.plot(digits, picture, "--", color=INK, label="Gaussian picture")
    expanded = cmm.half_success_expansion(digits * math.log(10))
    ax.plot(digits, expanded, ":", color=INK, label="two-term expansion")
    ax.axhline(8, color=LIMIT, lw=1, label="limit 8")
    ax.set(xscale="log", xlabel="decimal digits of the number of pairs $n$", ylim=(5.5, 14))
    ax.set_ylabel(f"{RATIO}\nwhere half succeed")
    ax.set_xticks([2, 3, 6, 12, 25, 50, 100], ["2", "3", "6", "12", "25", "50", "100"])
    ax.minorticks_off()
    ax.legend()
    return figure


def draw_percentiles(measured: Mapping[float, np.ndarray]) -> Figure:
    """Distribution functions and densities of percentiles, simulated and predicted.

    Parameters
    ----------
    measured : dict of float to ndarray
        Percentiles of the keys, by the load.

    Returns
    -------
    Figure
    """
    figure, (upper, lower) = panels(rows=2, width=NARROW, height=5.4, sharex=True)
    omega = np.linspace(0, 1, 400)
    for (load, values), look in series(measured.items()):
        color = look["color"]
        upper.ecdf(values, color=color, alpha=0.4, lw=4)
        law = cmm.percentile_cdf(omega, load)
        upper.plot(omega, law, lw=1.2, markevery=40, label=f"load {load:g}", **look)
        lower.hist(values, 25, range=(0, 1), density=True, color=color, alpha=0.5, histtype="step", lw=2)
        lower.plot(omega[1:-1], cmm.percentile_pdf(omega[1:-1], load), lw=1.2, markevery=40, **look)
    upper.set(ylabel="share of keys below $\\omega$")
    lower.set(xlabel="percentile $\\omega$ of the signal", ylabel="density of keys", ylim=(0, 6))
    upper.legend()
    return figure
