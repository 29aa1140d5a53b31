"""The figures of lists: one column, the two capacities, and memories between them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from assocmem.book.plotting import (
    AMONG_BEST,
    COMPETITOR,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    SIGNAL,
    TAIL_AVERAGE,
    panels,
)
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.lists.list_averages import along_load
from assocmem.experiments.lists.list_memories import (
    CROSS_ENTROPY as FIRST_PLACE,
)
from assocmem.experiments.lists.list_memories import (
    LIST,
    LONG_TAIL,
    SHORT_TAIL,
)
from assocmem.experiments.lists.list_memories import (
    OUTER_PRODUCTS as WRITTEN,
)
from assocmem.theory.lists import best_share, equivalent_tail, list_capacity, list_quantile
from assocmem.theory.ridgeless import critical_load, tail_mean
from assocmem.theory.scalar import density

LOOKS = {
    WRITTEN: {"color": OUTER_PRODUCTS, "fmt": "P"},
    FIRST_PLACE: {"color": CROSS_ENTROPY, "fmt": "^"},
    SHORT_TAIL: {"color": TAIL_AVERAGE, "fmt": "v"},
    LONG_TAIL: {"color": TAIL_AVERAGE, "fmt": "s"},
    LIST: {"color": AMONG_BEST, "fmt": "o"},
}
"""Colour and marker of the memories of each loss."""

STORED_R = 0.15
"""The list of the stored tables."""


def draw_column(scores: np.ndarray, signal: float, r: float) -> Figure:
    """The competitors of one key, over their spread, with the places that matter.

    Parameters
    ----------
    scores : ndarray, shape (n - 1,)
        Competing scores of a key, over ``|W v_i| / sqrt(d)``.
    signal : float
        Its signal, over the same.
    r : float
        List fraction.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=3.2, width=6.0)
    ax.hist(scores, bins=30, density=True, color=COMPETITOR, alpha=0.35, label="competitors of one key")
    z, q = np.linspace(-3.6, 3.6, 400), list_quantile(r)
    ax.plot(z, density(z), color=INK, lw=1, label="normal law")
    ax.fill_between(z, density(z), where=z >= q, color=AMONG_BEST, alpha=0.35, lw=0)
    ax.axvline(q, color=AMONG_BEST, label=f"the list begins, $q_r = {q:.3g}$")
    ax.axvline(
        tail_mean(r), color=TAIL_AVERAGE, ls="--", label=f"its average, $\\kappa_r = {tail_mean(r):.3g}$"
    )
    ax.plot(signal, 0.02, "^", color=SIGNAL, ms=9, label="signal")
    ax.set(xlabel="score over the spread of the key", ylabel="density", ylim=(0, 0.75))
    ax.legend(loc="upper left", fontsize=8)
    return figure


def draw_capacities(r: float) -> Figure:
    """The capacity of lists beside the critical load of the tail average, and the way to the longer tail.

    Parameters
    ----------
    r : float
        The list that is marked.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=3.4, width=6.0)
    shares = np.geomspace(1e-4, 0.5, 200)
    ax.plot(shares, list_capacity(shares), color=AMONG_BEST, label="a list of share $r$")
    tails = np.geomspace(1e-4, 1, 300)
    look = {"color": TAIL_AVERAGE, "ls": "--"}
    ax.plot(tails, critical_load(tails), label="the average of the top share $r$", **look)
    load, longer = float(list_capacity(r)), float(equivalent_tail(r))
    arrow = {"arrowstyle": "->", "color": INK, "shrinkA": 4, "shrinkB": 4}
    ax.annotate("", (longer, load), xytext=(r, load), arrowprops=arrow)
    ax.plot([r, longer], [load, load], "o", color=INK, ms=4)
    ax.plot(r, critical_load(r), "o", color=TAIL_AVERAGE, ms=5)
    ax.text(r, load * 1.12, "$r$", ha="right")
    ax.text(longer, load * 0.8, "$r'$", ha="left", va="top")
    ax.set(xscale="log", yscale="log", xlabel="share", ylabel="load $n/d^2$ that fits")
    ax.legend()
    return figure


def draw_listed(stored: DataFrame, dimensions: Sequence[int]) -> Figure:
    """Share of keys on the list, by loss, between the two loads.

    Parameters
    ----------
    stored : DataFrame
        Rows of `assocmem.experiments.points.list_memory`.
    dimensions : sequence of int

    Returns
    -------
    Figure
    """
    figure, axes = panels(len(dimensions), height=3.4, sharey=True)
    for ax, d in zip(np.atleast_1d(axes), dimensions, strict=True):
        for loss, look in LOOKS.items():
            found = along_load(stored, "listed", loss=loss, d=d)
            if len(found.load):
                ax.errorbar(found.load, found.mean, 2 * found.error, ls=":", ms=4.5, lw=1, label=loss, **look)
        for load, color in (
            (critical_load(STORED_R), TAIL_AVERAGE),
            (list_capacity(STORED_R), AMONG_BEST),
        ):
            ax.axvline(load, color=color, lw=1, ls="--")
        ax.set(xlabel=f"load $n/d^2$, $d = {d}$")
    np.atleast_1d(axes)[0].set(ylabel=f"share of keys in the top {100 * STORED_R:g} %")
    np.atleast_1d(axes)[0].legend(fontsize=7, loc="lower left", framealpha=0.9)
    return figure


def draw_worst(stored: DataFrame, dimensions: Sequence[int]) -> Figure:
    """Share of competitors above the worst-placed signal, against the best possible share.

    Parameters
    ----------
    stored : DataFrame
        Rows of `assocmem.experiments.points.list_memory`.
    dimensions : sequence of int

    Returns
    -------
    Figure
    """
    figure, axes = panels(2, height=3.4, sharey=True)
    for ax, loss in zip(axes, (LONG_TAIL, LIST), strict=True):
        load = np.linspace(0.15, 0.56, 200)
        ax.plot(load, best_share(load), color=INK, lw=1.2, label="best possible, $r^*(\\alpha)$")
        ax.axhline(STORED_R, color=LIMIT, lw=0.8, ls=":")
        for d, marker in zip(dimensions, "o^sD", strict=False):
            found = along_load(stored, "worst", loss=loss, d=d)
            look = {"fmt": marker, "color": LOOKS[loss]["color"], "ms": 4.5, "label": f"$d = {d}$"}
            if len(found.load):
                ax.errorbar(found.load, 1 - found.mean, 2 * found.error, **look)
        ax.set(xlabel=f"load $n/d^2$, {loss}", ylim=(0, 0.3))
        ax.legend(fontsize=8, loc="upper left")
    axes[0].set(ylabel="share above the worst signal")
    return figure
