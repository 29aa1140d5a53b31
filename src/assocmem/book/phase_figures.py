"""The figures of trained memories across the critical load: the paper's Figures 2 and 3, and more."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.colors import LogNorm, TwoSlopeNorm
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy import special

from assocmem.book.plotting import (
    ANY_MEMORY,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    PAPER,
    PHASES,
    SIGNAL,
    TAIL_AVERAGE,
    panels,
    series,
)
from assocmem.book.ridgeless_figures import NARROW
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.tail_average.certified_shift import Counts
from assocmem.experiments.tail_average.percentile_laws import stored_quantiles
from assocmem.experiments.tail_average.phase import HALF, LEVELS, ByDimension, Map
from assocmem.experiments.transitions import transition
from assocmem.theory.finite_dimension import LawsAtSize
from assocmem.theory.outer_products import percentile_cdf
from assocmem.theory.ridgeless import critical_load, sat_laws
from assocmem.theory.scalar import ScalarSolution, scalar_tail_average
from assocmem.theory.tail_lengths import limiting_cost

LARGEST_TAIL = 0.42
"""Tail fractions up to which a map is drawn."""
SHARED = {"sharex": True, "squeeze": False}
"""Rows of panels with one axis of dimensions."""


class Trained(NamedTuple):
    """A memory that was trained for a figure: where, and what came out."""

    load: float
    r: float
    loss: float
    nu: float


def draw_phase_map(grid: Map, here: Sequence[Trained], boundaries: Mapping[float, ByDimension]) -> Figure:
    """Loss and norm of trained memories over load and tail fraction, with the critical load.

    Parameters
    ----------
    grid : Map
        Stored memories: the tiles.
    here : sequence of Trained
        Squares.
    boundaries : dict of float to ByDimension
        By tail fraction; the one of the largest dimension is a circle.

    Returns
    -------
    Figure
    """
    figure, axes = panels(1, rows=2, height=6.8, width=NARROW, sharex=True)
    squares = np.array(here, dtype=float).reshape(-1, 4).T
    circles = [points.load[-1] for points in boundaries.values()]
    curve = np.linspace(0.005, LARGEST_TAIL, 80)
    maps = (
        ("loss", {"norm": TwoSlopeNorm(HALF, 0, 1), "cmap": PHASES}, "(a) mean loss"),
        ("nu", {"norm": LogNorm(0.1, 100), "cmap": PHASES.reversed()}, "(b) norm scale $\\nu$"),
    )
    for ax, (name, look, title), colour in zip(axes, maps, squares[2:], strict=True):
        tiles = ax.pcolormesh(grid.load, grid.r, getattr(grid, name), rasterized=True, **look)
        mine = {"marker": "s", "edgecolors": INK, "linewidths": 0.8, "s": 30, "label": "trained here"}
        ax.scatter(*squares[:2], c=colour, **mine, **look)
        ax.plot(critical_load(curve), curve, color=INK, label="critical load")
        stored = {"mfc": PAPER, "mec": INK, "mew": 1.3, "ms": 6.5, "label": "boundary of stored memories"}
        ax.plot(circles, list(boundaries), "o", **stored)
        ax.set(xlim=(0.025, 0.625), ylim=(0, LARGEST_TAIL), ylabel="tail fraction $r$", title=title)
        ax.grid(False)
        figure.colorbar(tiles, ax=ax)
    axes[1].set_xlabel("load $\\alpha = n/d^2$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def draw_boundaries(certified: Mapping[float, ByDimension], trained: Mapping[float, ByDimension]) -> Figure:
    """Boundaries over the critical load against the dimension, with the kinematic predictions.

    Parameters
    ----------
    certified : dict of float to ByDimension
        By tail fraction: loads at which half of the instances are certified.
    trained : dict of float to ByDimension
        The same from the loss of trained memories; more tail fractions than above will do.

    Returns
    -------
    Figure
        With axes for each tail fraction that is certified.
    """
    count = len(certified)
    shape = {"height": 1.2 + 1.6 * count, "width": NARROW, "sharex": True, "squeeze": False}
    figure, axes = panels(1, rows=count, **shape)
    for ax, (r, proved) in zip(axes[:, 0], certified.items(), strict=True):
        critical = float(critical_load(r))
        kinds = (
            (proved, "s", "-", ANY_MEMORY, "certified"),
            (trained[r], "o", "--", TAIL_AVERAGE, "trained"),
        )
        for points, marker, dash, color, name in kinds:
            excess, error = 100 * (points.load / critical - 1), 200 * points.error / critical
            ax.errorbar(
                points.d, excess, error, fmt=marker, color=color, mfc="none", label=f"{name}, measured"
            )
            look = {"color": color, "lw": 1, "ls": dash, "label": f"{name}, kinematic formula"}
            ax.plot(points.d, 100 * (points.predicted / critical - 1), **look)
        ax.axhline(0, color=LIMIT, lw=0.8, ls=":", label="critical load")
        ax.set(
            xscale="log", title=f"tail fraction $r = {r:g}$", ylabel="above $\\alpha_{\\mathrm{c}}$, per cent"
        )
        ax.set_xticks([10, 20, 50, 100], ["10", "20", "50", "100"])
        ax.minorticks_off()
    axes[-1, 0].set_xlabel("dimension $d$")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8)
    return figure


def draw_shifts(counts: Sequence[Counts], costs: np.ndarray, share: float) -> Figure:
    """How many dimensions certified transitions lie below the kinematic ones, against the dimension.

    Parameters
    ----------
    counts : sequence of Counts
        At several sizes of several tail fractions.
    costs : ndarray, shape (m,)
        What the lengths of targets cost at each, in ``d^2 / n``.
    share : float
        Part of the cost that is drawn as a line, and dotted its limit for many pairs.

    Returns
    -------
    Figure
    """
    fractions = sorted({x.r for x in counts})
    figure, axes = panels(1, rows=len(fractions), height=1.4 + 1.5 * len(fractions), width=NARROW, **SHARED)
    for ax, r in zip(axes[:, 0], fractions, strict=True):
        mine = [(x, cost) for x, cost in zip(counts, costs, strict=True) if x.r == r]
        d = np.array([x.dimension for x, _ in mine])
        per_d = np.array([x.n for x, _ in mine]) / (2 * d)  # dimensions for a change of d^2 / n
        found = [transition(x.n, x.d, x.yes, x.decided, x.k) for x, _ in mine]
        below = per_d * [x.kinematic - half.half for (x, _), half in zip(mine, found, strict=True)]
        error = 2 * per_d * [half.error for half in found]
        ax.errorbar(d, below, error, fmt="s", color=ANY_MEMORY, mfc="none", label="certified")
        line = share * per_d * [cost for _, cost in mine]
        ax.plot(d, line, color=LIMIT, lw=1.2, label=f"{share:.2f} of what lengths cost")
        limit = share * limiting_cost(r) * float(critical_load(r)) / 2
        ax.axhline(limit, color=LIMIT, lw=0.8, ls=":", label="the same, many pairs")
        ax.set(xscale="log", title=f"tail fraction $r = {r:g}$", ylabel="dimensions", ylim=(0, None))
        ax.set_xticks([10, 20, 50, 100], ["10", "20", "50", "100"])
        ax.minorticks_off()
    axes[-1, 0].set_xlabel("dimension $d$")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def draw_slice(
    loads: np.ndarray, theory: ScalarSolution, edge: float, stored: DataFrame, here: Sequence[Trained], d: int
) -> Figure:
    """Loss and inverse norm along the load.

    Parameters
    ----------
    loads : ndarray
        Of the theory.
    theory : ScalarSolution
        At these loads.
    edge : float
        The critical load.
    stored : DataFrame
        Memories of many dimensions; the first instance of d = 100 and of the largest is drawn.
    here : sequence of Trained
        Memories trained here.
    d : int
        Their dimension.

    Returns
    -------
    Figure
    """
    figure, axes = panels(1, rows=2, height=5.4, width=NARROW, sharex=True)
    mine = {"loss": np.array([x.loss for x in here]), "nu": np.array([x.nu for x in here])}
    readings = (lambda x: np.asarray(x["loss"]), lambda x: 1 / np.asarray(x["nu"]))
    for ax, reading in zip(axes, readings, strict=True):
        ax.plot(loads, reading(vars(theory)), color=INK, lw=1, label="scalar theory")
        ax.axvline(edge, color=LIMIT, ls="--", lw=0.8, label="critical load")
        for size, mark in ((100, "x"), (int(max(stored["d"])), "o")):
            rows = (stored["d"] == size) & (stored["seed"] == 0)
            look = {"color": TAIL_AVERAGE, "mfc": "none", "label": f"stored, $d = {size}$"}
            ax.plot(stored["load"][rows], reading(stored[rows]), mark, **look)
        look = {"color": TAIL_AVERAGE, "ms": 5, "label": f"trained here, $d = {d}$"}
        ax.plot([x.load for x in here], reading(mine), "s", **look)
    axes[0].set(ylabel="mean loss", title="(a)")
    axes[1].set(ylabel="inverse norm $1/\\nu$", title="(b)", ylim=(0, 6))
    axes[1].set(xlabel="load $\\alpha = n/d^2$", xlim=(0.08, 0.52))
    axes[0].legend(fontsize=8)
    return figure


def draw_lengths(
    lengths: ArrayLike, signals: ArrayLike, margins: ArrayLike, *, edge: float, tail: float
) -> Figure:
    """Signals and margins of the keys of one memory against the lengths of its answers.

    Parameters
    ----------
    lengths : array_like, shape (n,)
        Of ``W v``, over their root mean square.
    signals, margins : array_like, shape (n,)
        Over nu.
    edge : float
        Margin of a key at the edge, over nu.
    tail : float
        Tail average of the competitors of a key of mean length, over nu.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=3.8, width=NARROW)
    ends = np.array([np.min(lengths), np.max(lengths)])
    ax.plot(lengths, signals, ".", color=SIGNAL, alpha=0.7, label="signals over $\\nu$")
    ax.plot(ends, edge + tail * ends, color=SIGNAL, lw=1, label="one margin, and a tail average like $L_i$")
    ax.plot(lengths, margins, "+", color=TAIL_AVERAGE, alpha=0.8, label="margins over $\\nu$")
    ax.plot(ends, [edge, edge], "--", color=TAIL_AVERAGE, lw=1, label="one margin for all")
    ax.set(xlabel="length $L_i$ of the answer $W v_i$, 1 on average", ylabel="over the norm scale $\\nu$")
    ax.set_ylim(None, 1.25 * float(np.max(signals)))
    ax.legend(fontsize=8, ncols=2, loc="upper left")
    return figure


def draw_slice_laws(
    stored: DataFrame,
    load: float,
    r: float,
    laws: Mapping[int, LawsAtSize],
    nus: Mapping[int, ArrayLike],
    beta: float,
) -> Figure:
    """Laws of margins and percentiles at one load below the critical one.

    Parameters
    ----------
    stored : DataFrame
        As for `stored_quantiles`.
    load, r : float
    laws : dict of int to LawsAtSize
        Predicted, by dimension.
    nus : dict of int to array_like
        Norms of the stored memories, by dimension.
    beta : float

    Returns
    -------
    Figure
    """
    figure, axes = panels(1, rows=3, height=8.4, width=NARROW)
    limits, largest, levels = sat_laws(load, r), max(laws), np.array(LEVELS)
    t, w = np.linspace(-0.6, 2.2, 800), np.linspace(0, 1, 2001)
    nu = float(np.mean(nus[largest]))
    common = scalar_tail_average(nu, r, beta)[0] / nu
    axes[0].plot(t, limits.margin.cdf(t), color=LIMIT, label="limit")
    kinds = (
        ("signal", common, SIGNAL, ".", "-", "signal less $c_r(\\nu)$"),
        ("margin", 0, TAIL_AVERAGE, "+", "--", "margin"),
    )
    for kind, shift, color, marker, dash, name in kinds:
        law, x = laws[largest], stored_quantiles(stored, kind, largest, load).mean(axis=0)
        axes[0].plot(t, law.cdf(kind, t + shift), dash, color=color, lw=1, label=f"{name}, predicted")
        axes[0].plot(x - shift, levels, marker, color=color, label=f"{name}, $d = {largest}$")
    axes[1].plot(w, limits.percentile.cdf(w), color=LIMIT, label="limit")
    axes[1].plot(w, percentile_cdf(w, load), "--", color=OUTER_PRODUCTS, label="correlation memory")
    omega = stored_quantiles(stored, "percentile", largest, load).mean(axis=0)
    axes[1].plot(omega, levels, ".", color=TAIL_AVERAGE, label=f"trained, $d = {largest}$")
    axes[2].plot(w, limits.percentile.cdf(w), color=LIMIT, label="limit")
    label = "predicted for each"
    for d, look in series(sorted({min(laws), 100, largest} & set(laws))):
        omega = stored_quantiles(stored, "percentile", d, load).mean(axis=0)
        axes[2].plot(omega, levels, ls="none", ms=3.5, label=f"trained, $d = {d}$", **look)
        axes[2].plot(w, laws[d].cdf("percentile", w), color=look["color"], lw=1, label=label)
        label = None
    edge = float(special.ndtr(limits.rho))
    axes[0].set(xlim=(-0.5, 1.1), xlabel="over the norm scale $\\nu$", title="(c) margins, two ways")
    axes[1].set(xlabel="percentile of the signal", title="(d) percentiles")
    axes[2].set(xlim=(edge - 0.025, edge + 0.035), xlabel="percentile of the signal")
    axes[2].set(title="(e) the edge of (d), enlarged")
    for ax, where in zip(axes, ("lower right", "upper left", "upper left"), strict=True):
        ax.set_ylabel("share of keys below")
        ax.legend(fontsize=8, loc=where)
    return figure
