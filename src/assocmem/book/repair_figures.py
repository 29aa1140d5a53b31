"""The figures of the section on sparse repair; what they show is computed in the section."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from assocmem.book import plotting as plot
from assocmem.book.plotting import (
    CLIPPED,
    COMPETITOR,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    REPAIR,
    REPAIR_IN_PLACE,
    SIGNAL,
    panels,
    series,
)
from assocmem.experiments.explicit.echoes import Echoes

NARROW = 5.8
"""Width in inches of a figure that is to be read on a phone too: its words are then less reduced."""
RATIO = "ratio $d^2/(n\\,\\log n)$"
"""What stands at the axis of ratios."""
LEAST_COUNT = 0.05
"""Number of failing keys at which none is drawn, on a logarithmic axis."""
GROUPS = 12
"""Of keys with about the same cross-talk, whose means are drawn."""
NO_PRODUCT = 0.5
"""Where a memory that takes no product is drawn, on a logarithmic axis."""
GOOD_ENOUGH = 1.5
"""Dimension squared over that of the best memory, drawn as a line."""

KINDS = {
    "outer products": (OUTER_PRODUCTS, "o"),
    "repaired with a reserve": (REPAIR, "D"),
    "repaired in place": (REPAIR_IN_PLACE, "v"),
    "equal signals": (CLIPPED, "^"),
    "trained": (CROSS_ENTROPY, "s"),
}
"""Colour and marker of the kinds of memories whose cost is compared."""

BESIDE = {
    "above": {"xytext": (6, 4)},
    "below": {"xytext": (6, -5), "va": "top"},
    "left": {"xytext": (-6, -6), "ha": "right", "va": "top"},
}
"""Where a name may stand beside its point."""
PLACES = {
    "sparse repair, best reserve": "below",
    "equal signals": "left",
    "equal signals, 2 clips": "left",
    "equal signals, 4 finer clips": "left",
    "cross-entropy, ridge 0.001": "left",
}
"""Where the names stand that would run into others above their points."""


def draw_repaired(memories: Mapping[str, tuple[np.ndarray, np.ndarray]], gamma: float) -> Figure:
    """Margin of each key before and after the repair, one panel for each memory.

    Parameters
    ----------
    memories : dict of str to two ndarrays
        Title of the panel to the margins before and after.
    gamma : float
        Margin at or below which a key is repaired.

    Returns
    -------
    Figure
    """
    height = 0.8 + 2.7 * len(memories)
    figure, axes = panels(rows=len(memories), width=NARROW, height=height, squeeze=False)
    for ax, (title, (before, after)) in zip(axes[:, 0], memories.items(), strict=True):
        low = before <= gamma
        kinds = (~low, ".", OUTER_PRODUCTS, "left alone"), (low, "x", REPAIR, "deficient, repaired")
        for which, marker, color, name in kinds:
            ax.plot(before[which], after[which], marker, ms=3.5, color=color, label=name)
        ax.axhline(2 * gamma, color=LIMIT, lw=1, ls=":", label="aim of the repair, $2\\gamma$")
        ax.axhline(0, color=LIMIT, lw=1, label="retrieved above this line")
        ax.set(title=title, ylabel="margin after the repair")
    axes[-1, 0].set_xlabel("margin before the repair")
    figure.legend(*axes[-1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_grid(
    outcomes: Mapping[str, Mapping[int, tuple[np.ndarray, Sequence[int], Sequence[int]]]],
    ratios: np.ndarray,
    predicted: Mapping[str, Mapping[int, np.ndarray]],
) -> Figure:
    """Success of repaired memories against the ratio, simulated and predicted, one panel for each reserve.

    Parameters
    ----------
    outcomes : dict of str to dict of int to tuple
        Title of the panel, then the number of pairs, to ratios, successes and trials.
    ratios : ndarray
        Where the predictions are.
    predicted : dict of str to dict of int to ndarray
        In the same order.

    Returns
    -------
    Figure
    """
    height = 1.1 + 2.4 * len(outcomes)
    figure, axes = panels(rows=len(outcomes), sharex=True, width=NARROW, height=height, squeeze=False)
    for ax, (title, by_size) in zip(axes[:, 0], outcomes.items(), strict=True):
        for size, look in series(by_size):
            plot.proportions(ax, *by_size[size], label=f"$n = {size}$, simulated", **look)
            ax.plot(ratios, predicted[title][size], color=look["color"], label=f"$n = {size}$, predicted")
        ax.set(title=title, ylabel="probability that\nall are retrieved", xscale="log")
        ax.set_xticks([2, 4, 8, 16, 32], ["2", "4", "8", "16", "32"])
        ax.minorticks_off()
    axes[-1, 0].set_xlabel(RATIO)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_split(
    shares: Sequence[float],
    failures: Mapping[float, np.ndarray],
    predicted: Mapping[float, tuple[np.ndarray, np.ndarray]],
    plain: float,
    proof: float,
    n: int,
) -> Figure:
    """Keys not retrieved against the share of coordinates that is reserved, for several margins.

    Parameters
    ----------
    shares : sequence of float
    failures : dict of float to ndarray, shape (shares, instances)
        By the margin.
    predicted : dict of float to two ndarrays
        By the margin: shares, and keys not retrieved.
    plain : float
        Keys that outer products fail to retrieve.
    proof : float
        The share that the proof reserves.
    n : int
        Number of pairs.

    Returns
    -------
    Figure
    """
    figure, ax = panels(width=NARROW, height=4.2)
    for margin, look in series(failures):
        counts = failures[margin]
        mean = np.maximum(counts.mean(axis=1), LEAST_COUNT)
        error = counts.std(axis=1) / np.sqrt(counts.shape[1])
        ax.errorbar(shares, mean, yerr=error, ls="none", label=f"$\\gamma = {margin:g}$", **look)
        ax.plot(*predicted[margin], color=look["color"])
    no_repair = {"color": INK, "ls": "--", "lw": 1.2, "label": "outer products, no repair"}
    ax.axhline(max(plain, LEAST_COUNT), **no_repair)
    ax.axvline(proof, color=LIMIT, lw=1.2, ls=":", label="reserve of the proof")
    ax.set(xscale="log", yscale="log", ylim=(0.8 * LEAST_COUNT, 2 * n))
    ax.set(xlabel="share of the coordinates that is reserved", ylabel=f"keys not retrieved of {n}")
    ax.set_xticks([0.05, 0.1, 0.2, 0.4, 0.8], ["0.05", "0.1", "0.2", "0.4", "0.8"])
    ax.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_echo(found: Sequence[Echoes]) -> Figure:
    """What the repair of the other keys adds to a signal, against what they add in the base.

    Parameters
    ----------
    found : sequence of Echoes
        Of several instances, whose keys are drawn together.

    Returns
    -------
    Figure
    """
    figure, ax = panels(width=NARROW, height=3.9)
    x = np.concatenate([e.crosstalk for e in found])
    y = np.concatenate([e.added for e in found])
    ax.plot(x, y, ".", ms=2, alpha=0.25, color=REPAIR, label="keys")
    for k, part in enumerate(np.array_split(np.argsort(x), GROUPS)):
        error = 2 * y[part].std() / np.sqrt(len(part))
        name = {"label": "means of keys with like cross-talk"} if k == 0 else {}
        ax.errorbar(x[part].mean(), y[part].mean(), yerr=error, fmt="o", color=SIGNAL, **name)
    weight, lost = (np.mean([getattr(e, name) for e in found]) for name in ("mean_weight", "lost"))
    line = np.array([x.min(), x.max()])
    ax.plot(line, weight * line, "--", color=LIMIT, label="growth of the base alone")
    ax.plot(line, weight * line - lost * (1 + line), color=INK, label="growth less echo")
    ax.set(xlabel="cross-talk on the signal in the base", ylabel="what the repair of others adds to it")
    ax.legend(fontsize=8, loc="upper left")
    return figure


def draw_signals(memories: Mapping[str, tuple[np.ndarray, np.ndarray]], n: int) -> Figure:
    """Histograms of the signals and the best competitors of one instance, one panel for each memory.

    Parameters
    ----------
    memories : dict of str to two ndarrays
        Title of the panel to signals and best competitors.
    n : int
        Number of pairs.

    Returns
    -------
    Figure
    """
    figure, axes = panels(rows=len(memories), sharex=True, height=5.2, width=NARROW, squeeze=False)
    bins = np.linspace(-0.2, 2.2, 73)
    for ax, (title, (signal, rival)) in zip(axes[:, 0], memories.items(), strict=True):
        ax.hist(rival, bins, color=COMPETITOR, alpha=0.6, label="best competitor")
        ax.hist(signal, bins, color=SIGNAL, histtype="step", lw=1.8, label="signal")
        ax.set(title=title, ylabel="keys", ylim=(0, 0.2 * n))
    axes[0, 0].legend()
    axes[-1, 0].set_xlabel("score")
    return figure


def draw_costs(points: Sequence[tuple[str, str, float, float]]) -> Figure:
    """How near each construction comes to the best memory, against the products that making it takes.

    Parameters
    ----------
    points : sequence of (str, str, float, float)
        Name, kind (one of `KINDS`), products, and dimension squared over that of the best memory.

    Returns
    -------
    Figure
    """
    figure, ax = panels(width=NARROW, height=5.6)
    for name, kind, products, excess in points:
        color, marker = KINDS[kind]
        place = max(products, NO_PRODUCT), excess
        ax.plot(*place, marker, color=color, ms=7, ls="none")
        ax.annotate(name, place, textcoords="offset points", fontsize=8, **BESIDE[PLACES.get(name, "above")])
    for kind, (color, marker) in KINDS.items():
        ax.plot([], [], marker, color=color, ms=7, ls="none", label=kind)
    ax.axhline(GOOD_ENOUGH, color=LIMIT, lw=1.2, ls=":", label=f"{GOOD_ENOUGH:g} times the best")
    ax.set(xscale="log", yscale="log", xlim=(0.4, 900), ylim=(0.85, 24))
    ax.set_xlabel(f"products of size $n \\times d \\times n$ (none: drawn at {NO_PRODUCT:g})")
    ax.set_ylabel("$d^2$ needed over that of the best memory")
    ax.set_yticks([1, 1.5, 2, 3, 5, 10, 20], ["1", "1.5", "2", "3", "5", "10", "20"])
    ax.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2)
    return figure
