"""The five figures of "The idea in 15 minutes": narrow, in rows, so that a phone shows them whole."""

import math
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy import special

from assocmem.book.plotting import (
    AMONG_BEST,
    ANY_MEMORY,
    COMPETITOR,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    SIGNAL,
    TAIL_AVERAGE,
    panels,
    proportions,
    use_style,
)
from assocmem.memories.outer_products import correlation_memory
from assocmem.memories.sparse_repair import repair_in_place
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import scores, signals_and_rivals
from assocmem.pairs.sizes import dimension_at_ratio, tail_count
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.kinematics import statistical_dimension
from assocmem.theory.ridgeless import hinge_moments, tail_mean
from assocmem.theory.scalar import density

WIDTH = 4.8
"""Inches: at this width letters of ten points are ten pixels high on a phone."""
TAIL = 0.15
"""The tail fraction of the page, from the paper's Figure 3."""
ONE_KEY = {"n": 400, "dimensions": (100, 40, 20), "seed": 258}
"""The first figure: the same number of pairs in three matrices, and a key that is typical of all three."""
MANY_KEYS = {"n": 1000, "seed": 1, "wide": 8.0, "narrow": 5.0, "gamma": 0.1}
"""The third figure: pairs, two ratios of entries to ``n log n``, the margin below which a key is mended."""
DECIDED = {"first": (100, 300), "tails": ((0.15, 640), (0.4, 640))}
"""The fifth figure: sizes of the stored verdicts, for first place and for tail averages (fraction, pairs)."""


def one_key() -> Figure:
    """Draw what one key is answered by three matrices that hold the same number of pairs.

    Returns
    -------
    Figure
        A row for each dimension.
    """
    use_style()
    dimensions = ONE_KEY["dimensions"]
    figure, axes = panels(1, rows=len(dimensions), height=4.6, width=WIDTH, sharex=True)
    for ax, d in zip(axes, dimensions, strict=True):
        pairs = gaussian_pairs(ONE_KEY["n"], d, seed=ONE_KEY["seed"])
        column = scores(pairs, correlation_memory(pairs), slice(0, 1)).numpy()[:, 0]
        ax.hist(column[1:], bins=np.arange(-3.5, 3.51, 0.1), color=COMPETITOR, alpha=0.55)
        ax.plot(
            column[1:], np.full(pairs.n - 1, -0.06 * ax.get_ylim()[1]), "|", color=COMPETITOR, ms=5, mew=0.6
        )
        ax.axvline(column[0], color=SIGNAL, lw=2.4)
        above = int((column[1:] > column[0]).sum())
        verdict = {0: "first place", 1: "one is ahead"}.get(above, f"{above} are ahead")
        ax.set_title(f"{d} × {d} numbers: {verdict}")
        ax.set(yticks=[], xlim=(-2.6, 2.6))
        ax.grid(visible=False)
    top = axes[0]
    top.annotate("signal", (1, 1), xytext=(1.12, 0.78), textcoords=top.get_xaxis_transform(), color=SIGNAL)
    top.text(-2.5, 0.78 * top.get_ylim()[1], "399 competitors", color=COMPETITOR)
    axes[-1].set_xlabel("score of a target for the one key")
    return figure


def best_of_many() -> Figure:
    """Draw the largest of many normal numbers, and the average of their top fraction, as they become more.

    Returns
    -------
    Figure
    """
    use_style()
    figure, ax = panels(height=3.5, width=WIDTH)
    n = np.logspace(1, 9, 33)
    # The largest of n is below x with probability Phi(x)^n, so its quantiles need no simulation.
    low, middle, high = (special.ndtri(np.exp(np.log(q) / n)) for q in (0.1, 0.5, 0.9))
    ax.fill_between(n, low, high, color=COMPETITOR, alpha=0.25, lw=0)
    ax.plot(n, middle, color=COMPETITOR, marker="o", markevery=4, label="the largest of $n$, and its scatter")
    ax.plot(n, np.sqrt(2 * np.log(n)), color=INK, ls="--", lw=1.4, label=r"$\sqrt{2\,\log n}$")
    average = float(tail_mean(TAIL))
    label = f"average of the top {TAIL:.0%}"
    ax.axhline(average, color=TAIL_AVERAGE, ls="-.", lw=2.2, label=label)
    ax.set(xscale="log", xlim=(n[0], n[-1]), ylim=(0, 8.4))
    ax.set(xlabel="how many normal numbers, $n$", ylabel="in standard deviations")
    ax.legend(loc="upper left")
    return figure


def worst_keys() -> Figure:
    """Draw the signal of every key against its best competitor: at ratio 8, at a lower one, and mended.

    Returns
    -------
    Figure
        A row for each memory.
    """
    use_style()
    figure, axes = panels(1, rows=3, height=7.6, width=WIDTH, sharex=True, sharey=True)
    n, seed, gamma = MANY_KEYS["n"], MANY_KEYS["seed"], MANY_KEYS["gamma"]
    wide, narrow = MANY_KEYS["wide"], MANY_KEYS["narrow"]
    many = gaussian_pairs(n, dimension_at_ratio(n, wide), seed=seed)
    few = gaussian_pairs(n, dimension_at_ratio(n, narrow), seed=seed)
    plain = correlation_memory(few)
    mended = repair_in_place(few, plain, gamma=gamma).W
    weak = _margins(few, plain) <= gamma
    rows = [
        (many, correlation_memory(many), None, f"a. Ratio {wide:g}"),
        (few, plain, None, f"b. Ratio {narrow:g}"),
        (few, mended, weak, f"c. Ratio {narrow:g}, the weakest keys mended"),
    ]
    for ax, (pairs, W, lifted, title) in zip(axes, rows, strict=True):
        signal, rival = (x.numpy() for x in signals_and_rivals(pairs, W))
        lost = signal <= rival
        kept = ~lost if lifted is None else ~lost & ~lifted
        ax.fill_between([0, 2], [0, 2], [0, 0], color=LIMIT, alpha=0.15, lw=0)
        ax.plot(rival[kept], signal[kept], "o", color=COMPETITOR, ms=2.6, alpha=0.5, mew=0)
        if lifted is not None:
            ax.plot(
                rival[lifted],
                signal[lifted],
                "^",
                color=ANY_MEMORY,
                ms=4,
                label=f"{lifted.sum()} mended keys",
            )
        if lost.any():
            ax.plot(
                rival[lost], signal[lost], "X", color=SIGNAL, ms=6, label=f"{lost.sum()} of {n} keys fail"
            )
        else:
            ax.plot([], [], " ", label="no key fails")
        ax.set(title=title, ylabel="signal", xlim=(0.2, 1.3), ylim=(0.1, 2.0))
        ax.legend(loc="upper right", handletextpad=0.2)
    axes[0].text(1.27, 0.2, "the competitor is ahead", ha="right", color=LIMIT)
    axes[-1].set_xlabel("best competitor of the same key")
    return figure


def _margins(pairs, W):
    signal, rival = signals_and_rivals(pairs, W)
    return (signal - rival).numpy()


def price() -> Figure:
    """Draw what one key costs: the lift it needs, and its mean square as the demanded level rises.

    Returns
    -------
    Figure
        The lift above, the price below.
    """
    use_style()
    figure, (above, below) = panels(1, rows=2, height=5.6, width=WIDTH)
    level = float(tail_mean(TAIL))
    x = np.linspace(-3.2, 3.2, 400)
    above.plot(x, density(x), color=SIGNAL, label="where signals are by chance")
    above.fill_between(x, density(x), where=x <= level, color=SIGNAL, alpha=0.18, lw=0)
    above.axvline(level, color=TAIL_AVERAGE, ls="-.", lw=2.2, label=f"level asked for: {level:.2f}")
    for place, height in ((-1.6, 0.05), (-0.7, 0.13), (0.2, 0.21), (0.9, 0.29)):
        arrow = {"arrowstyle": "->", "color": INK, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
        above.annotate("", (level, height), (place, height), arrowprops=arrow)
        above.plot(place, height, "o", color=SIGNAL)
    above.plot(2.2, 0.02, "o", color=SIGNAL)
    above.text(2.0, 0.065, "pays\nnothing", fontsize=9)
    above.set(title="a. Each key is lifted to one level", yticks=[], ylim=(0, 0.62), xlim=(-3.2, 3.2))
    above.set_xlabel("score, in standard deviations of the competitors")
    above.legend(loc="upper left")
    above.grid(visible=False)
    levels = np.linspace(0, 4.4, 300)
    cost = hinge_moments(levels)[1]
    below.plot(levels, cost, color=INK, label="mean square of the lift")
    below.plot(levels, levels**2, color=LIMIT, ls=":", label="square of the level")
    many = math.sqrt(2 * math.log(1000))
    marks = [
        (0.0, COMPETITOR, "o", "the average of all"),
        (float(tail_mean(0.5)), AMONG_BEST, "s", "the average of the top 50%"),
        (level, TAIL_AVERAGE, "^", "the average of the top 15%"),
        (many, CROSS_ENTROPY, "D", "the first of 1000"),
    ]
    for at, colour, marker, words in marks:
        value = float(hinge_moments(at)[1])
        below.plot(at, value, marker, color=colour, ms=7, label=f"{words}: {value:.1f}")
    below.set(title="b. The price of a key", xlabel="level asked for", ylabel="numbers of the matrix")
    below.set(xlim=(-0.1, 4.4), ylim=(0, 20))
    below.legend(loc="upper left")
    return figure


def decided() -> Figure:
    """Draw the share of instances that some matrix satisfies, against what it can pay over what they ask.

    Returns
    -------
    Figure
        Every point counts verdicts that carry a proof.
    """
    use_style()
    figure, ax = panels(height=4.0, width=WIDTH)
    first = read_table("finite_size_scaling", "verdicts")
    tails = read_table("ridgeless_limit", "verdicts")
    counts = [(first[first.n == n], n, 1, f"first of {n}") for n in DECIDED["first"]]
    for r, n in DECIDED["tails"]:
        rows = tails[(tails.r == r) & (tails.n == n)]
        counts.append((rows, n, tail_count(r, n - 1), f"top {r:.0%} of {n}"))
    looks = zip(
        (CROSS_ENTROPY, CROSS_ENTROPY, TAIL_AVERAGE, AMONG_BEST), "oD^s", ("-", "--") * 2, strict=True
    )
    for (rows, n, k, words), (colour, marker, style) in zip(counts, looks, strict=True):
        share = rows.groupby("d").feasible.agg(["sum", "count"])
        paid = share.index.to_numpy() ** 2 / (n * statistical_dimension(n, k))
        look = {"color": colour, "marker": marker, "ms": 5.5, "label": words}
        proportions(ax, paid, share["sum"], share["count"], ls=style, lw=1.3, **look)
    ax.axvline(1, color=INK, lw=1.2, ls=":")
    ax.text(1.012, 0.3, "bill paid\nin full", fontsize=9)
    ax.set(xlim=(0.83, 1.17), ylim=(-0.03, 1.05))
    ax.set(xlabel="numbers in the matrix / price of all keys", ylabel="share that some matrix satisfies")
    ax.legend(loc="center right", fontsize=8.5)
    return figure


PLACES = {
    one_key: ("figures/idea_one_key.png", 200),
    best_of_many: ("figures/idea_best_of_many.png", 200),
    worst_keys: ("figures/idea_worst_keys.png", 150),
    price: ("figures/idea_price.png", 200),
    decided: ("figures/idea_decided.png", 200),
}
"""Where each figure is kept below ``book``, and its dots per inch."""


if __name__ == "__main__":
    for draw, (place, dpi) in PLACES.items():
        draw().savefig(Path(sys.argv[1], place), dpi=dpi)
