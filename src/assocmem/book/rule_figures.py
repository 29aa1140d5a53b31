"""The figures of write rules: the ladder, shares by age, what is left of a signal, noise and bits."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from assocmem.book.plotting import (
    ANY_MEMORY,
    CLIPPED,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    MARKERS,
    OUTER_PRODUCTS,
    PAPER,
    REPAIR,
    panels,
    series,
)
from assocmem.checks import require
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.ladder.rules import RULES

SOLVED = LIMIT
"""Least squares and the delta rules, which approach it."""

ADDED, REGRESSED, TRAINED, REPAIRED, EVENED = (
    "added up",
    "least squares and delta rules",
    "gradient steps on a softmax",
    "repaired",
    "equal signals and clips",
)
KINDS = {
    ADDED: OUTER_PRODUCTS,
    REGRESSED: SOLVED,
    TRAINED: CROSS_ENTROPY,
    REPAIRED: REPAIR,
    EVENED: CLIPPED,
}
"""Kinds of rules, and their colours."""
LARGEST = "the largest margin"
COLOURS = KINDS | {LARGEST: ANY_MEMORY}
"""Colours of all memories that are drawn."""


class Rung(NamedTuple):
    """What the section says about a rule besides numbers."""

    label: str
    """What the section calls it."""
    kind: str
    """One of `COLOURS`."""


RUNGS = {
    "outer_products": ADDED,
    "muon": ADDED,
    "whitened": ADDED,
    "least_squares": REGRESSED,
    "delta": REGRESSED,
    "delta_ten": REGRESSED,
    "gated_delta": REGRESSED,
    "softmax_pass": TRAINED,
    "softmax_two": TRAINED,
    "softmax_ten": TRAINED,
    "muon_ten": TRAINED,
    "cross_entropy": TRAINED,
    "sparse_repair": REPAIRED,
    "repair_in_place": REPAIRED,
    "evened": EVENED,
    "even_clip": EVENED,
    "even_clip_ten": EVENED,
    "equal_signals": EVENED,
    "one_clip": EVENED,
    "four_clips": EVENED,
}
"""Kinds of the rules of `assocmem.experiments.ladder.rules`, in the order of the ladder."""
OTHERS = {
    "largest_margin": Rung("largest margin", LARGEST),
    "delta_stream": Rung("delta rule, step of a stream", REGRESSED),
}
"""Memories that are no rung."""


def rung(name: str) -> Rung:
    """What the section says about a rule.

    Parameters
    ----------
    name : str
        Of a rule, as in the stored tables.

    Returns
    -------
    Rung
        For a rule that the section does not know, its name with spaces.
    """
    if name in OTHERS:
        return OTHERS[name]
    label = RULES[name].label if name in RULES else name.replace("_", " ")
    return Rung(label, RUNGS.get(name, ADDED))


def means(table: DataFrame, column: str, by: Sequence[str]) -> dict[tuple, tuple[float, float, int]]:
    """Mean over instances, its standard error and their number, for each group of rows.

    Parameters
    ----------
    table : DataFrame
    column : str
        What is averaged.
    by : sequence of str
        Columns that name a group.

    Returns
    -------
    dict
        From the values of ``by`` to mean, error (nan for one instance) and number of instances.
    """
    groups = table.groupby(list(by))[column]
    return {
        key: (
            float(x.mean()),
            float(x.std(ddof=1)) / math.sqrt(len(x)) if len(x) > 1 else math.nan,
            len(x),
        )
        for key, x in groups
    }


ALONE = 0.05
"""Share of a smallest ratio by which instances differ at least, whatever few of them show."""


def uncertainty(found: tuple[float, float, int]) -> float:
    """Standard error of a mean, and no less than what the scatter of instances makes of their number.

    Parameters
    ----------
    found : tuple
        From `means`.

    Returns
    -------
    float
    """
    mean, error, count = found
    return max(ALONE * mean / math.sqrt(count), 0.0 if math.isnan(error) else error)


def in_brackets(found: tuple[float, float, int] | None) -> str:
    """A mean with its standard error in brackets, in units of its last digit.

    Parameters
    ----------
    found : tuple, optional
        From `means`.

    Returns
    -------
    str
        Two decimals below 5 and one above; nothing where there is no mean, and no brackets for one instance.
    """
    if found is None:
        return ""
    mean, error, _ = found
    places = 2 if mean < 5 else 1
    if math.isnan(error):
        return f"{mean:.{places}f}"
    return f"{mean:.{places}f}({max(1, round(error * 10**places))})"


def in_order(names: Sequence[str]) -> list[str]:
    """Names of rules in the order of the ladder; those that it does not know come last.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    list of str
    """
    known = list(RUNGS)
    return sorted(set(names), key=lambda name: (known.index(name) if name in known else len(known), name))


def draw_ladder(
    table: DataFrame, limits: Mapping[str, tuple[float | None, str]], certified: Mapping[int, float]
) -> Figure:
    """The smallest ratio of every rule, at every size, beside its limit and what any memory needs.

    Parameters
    ----------
    table : DataFrame
        Rows of `assocmem.experiments.points.rule_dimension`.
    limits : dict
        Constant of a rule for infinitely many pairs, None where it is not known, and "proved", "derived" or
        "measured".
    certified : dict
        Ratio at which half of all instances are retrieved by any memory, by the number of pairs.

    Returns
    -------
    Figure
    """
    names, found = in_order(table["rule"]), means(table, "ratio", ["rule", "n"])
    sizes = sorted({int(n) for n in table["n"]})
    figure, ax = panels(height=1.4 + 0.29 * len(names), width=5.8)
    ax.axvspan(min(certified.values()), max(certified.values()), color=ANY_MEMORY, alpha=0.35, lw=0)
    for row, name in enumerate(names):
        color, y = COLOURS[rung(name).kind], len(names) - 1 - row
        for k, n in enumerate(sizes):
            if (name, n) in found:
                mean, error, _ = found[name, n]
                look = {"fmt": MARKERS[k % len(MARKERS)], "color": color, "ms": 4.5}
                place = y + 0.2 * ((len(sizes) - 1) / 2 - k)  # the smallest size on top
                ax.errorbar(mean, place, xerr=0 if math.isnan(error) else 2 * error, **look)
        constant, status = limits.get(name, (None, ""))
        if constant:
            face = INK if status == "proved" else PAPER
            ax.plot(constant, y, "|", color=INK, ms=13, mew=1.2, zorder=1)
            ax.plot(constant, y - 0.36, "^", color=INK, mfc=face, ms=4)
    ax.set(xscale="log", xlabel="smallest ratio $d^2/(n\\,\\log\\,n)$ that retrieves all pairs")
    ax.set_yticks(range(len(names)), [rung(name).label for name in reversed(names)], fontsize=8.5)
    ax.set_ylim(-0.8, len(names) - 0.3)
    ticks = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24]
    low, high = ax.get_xlim()
    ax.set_xticks([x for x in ticks if low <= x <= high], [f"{x:g}" for x in ticks if low <= x <= high])
    ax.minorticks_off()
    ax.legend(handles=_ladder_keys(sizes), fontsize=8, loc="upper right", bbox_to_anchor=(1, -0.08), ncols=2)
    return figure


def _ladder_keys(sizes):
    """What markers and colours of the ladder mean."""
    keys = [
        Line2D(
            [],
            [],
            ls="",
            marker=MARKERS[k % len(MARKERS)],
            color=LIMIT,
            label=f"{n:,} pairs".replace(",", " "),
        )
        for k, n in enumerate(sizes)
    ]
    keys += [Line2D([], [], color=color, lw=4, label=kind) for kind, color in KINDS.items()]
    keys.append(Line2D([], [], color=ANY_MEMORY, lw=6, alpha=0.5, label="any memory, certified"))
    keys.append(Line2D([], [], ls="", marker="^", color=INK, ms=4, label="limit, proved"))
    keys.append(Line2D([], [], ls="", marker="^", color=INK, mfc=PAPER, ms=4, label="limit, derived"))
    return keys


def draw_along_load(table: DataFrame, n: int, names: Sequence[str]) -> Figure:
    """The share of keys that rules retrieve, along the load.

    Parameters
    ----------
    table : DataFrame
        Rows of `assocmem.experiments.points.rule_share`.
    n : int
        Number of pairs of the instances.
    names : sequence of str
        The rules that are drawn.

    Returns
    -------
    Figure
    """
    rows = table[table["n"] == n]
    require(len(rows) > 0, "n", n, "one of the stored numbers of pairs")
    found = means(rows, "retrieved", ["rule", "d"])
    figure, ax = panels(height=3.8, width=6.4)
    for k, name in enumerate(names):
        points = sorted(
            (n / d**2, mean, error) for (rule, d), (mean, error, _) in found.items() if rule == name
        )
        if points:
            load, mean, error = np.array(points).T
            marker = (MARKERS + "X*")[k % (len(MARKERS) + 2)]
            look = {"color": COLOURS[rung(name).kind], "marker": marker, "ms": 4.5}
            ax.errorbar(load, mean, 2 * np.nan_to_num(error), lw=1.2, label=rung(name).label, **look)
    ax.set(xlabel=f"load $n/d^2$, $n = {n}$", ylabel="share of keys retrieved", xscale="log", ylim=(0, 1.03))
    ticks = [x for x in (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3) if ax.get_xlim()[0] <= x <= ax.get_xlim()[1]]
    ax.set_xticks(ticks, [f"{x:g}" for x in ticks])
    ax.minorticks_off()
    ax.legend(fontsize=8, loc="lower left")
    return figure


def draw_kept(names: Sequence[str], theory: ArrayLike, measured: ArrayLike, error: ArrayLike) -> Figure:
    """What rules that reshape outer products keep of the signal to noise: theory and measurement.

    Parameters
    ----------
    names : sequence of str
        What was done to the outer products.
    theory, measured, error : array_like
        Of each the share that is kept, what was measured of it, and a standard error.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=0.9 + 0.33 * len(names), width=6.0)
    place = np.arange(len(names))[::-1]
    ax.barh(place, theory, color=OUTER_PRODUCTS, alpha=0.25, height=0.7, label="theory, $n/d \\to \\infty$")
    ax.errorbar(measured, place, xerr=2 * np.asarray(error), fmt="o", color=INK, ms=4.5, label="measured")
    ax.axvline(1, color=LIMIT, lw=1, ls="--")
    ax.set_yticks(place, names)
    ax.set(xlabel="share of signal to noise kept", xlim=(0, None))
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(0, -0.2), ncols=2)
    return figure


def draw_small_ratio(
    fine: ArrayLike, curves: Mapping[str, ArrayLike], ratios: ArrayLike, found: np.ndarray
) -> Figure:
    """Signal to noise of rules against the number of pairs for each dimension: theory and instances.

    Parameters
    ----------
    fine : array_like
        ``n / d`` at which theory is given.
    curves : dict
        From a rule to theory.
    ratios : array_like
        ``n / d`` of the instances.
    found : ndarray, shape (rules, ratios, instances)
        What was measured, in the order of the curves.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=3.6, width=6.2)
    ax.axvspan(2, 10, color=LIMIT, alpha=0.12, lw=0)
    for (name, look), own in zip(series(curves), found, strict=True):
        ax.plot(fine, curves[name], color=look["color"], lw=1.2)
        error = own.std(axis=1, ddof=1) / math.sqrt(own.shape[1])
        points = {"color": look["color"], "fmt": look["marker"], "ms": 4.5, "label": name}
        ax.errorbar(ratios, own.mean(axis=1), 2 * error, **points)
    ax.set(xscale="log", xlabel="pairs for each dimension, $n/d$", ylim=(0, 2.2))
    ax.set(ylabel="squared signal to noise, times $n/d^2$")
    ax.legend(fontsize=8)
    return figure


def draw_ages(
    ages: ArrayLike, curves: Mapping[str, tuple[Callable[[np.ndarray], ArrayLike], ArrayLike, ArrayLike]]
) -> Figure:
    """The share of keys retrieved, by their age: theory as lines, memories as points.

    Parameters
    ----------
    ages : array_like
        Middle of each group of keys, in pairs written since.
    curves : dict
        From what is drawn to its shares in theory, as a function of ages, what was measured at those above,
        and the standard errors of that.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=3.5, width=6.2)
    for name, look in series(curves):
        theory, measured, error = curves[name]
        fine = np.linspace(0, max(ages), 200)
        ax.plot(fine, theory(fine), color=look["color"], lw=1.2)
        points = {"color": look["color"], "fmt": look["marker"], "ms": 4.5}
        ax.errorbar(ages, measured, 2 * np.asarray(error), label=name, **points)
    ax.set(xlabel="age, in pairs written since", ylabel="share of keys retrieved", ylim=(-0.03, 1.05))
    ax.legend(fontsize=8)
    return figure


def draw_survival(table: DataFrame, harm: str, names: Sequence[str], axis: str) -> Figure:
    """The share of keys that survive a harm, by its size: predictions as lines, measurements as points.

    Parameters
    ----------
    table : DataFrame
        Rows of `assocmem.experiments.points.survival`, of one number of pairs and one dimension.
    harm : str
    names : sequence of str
        Rules.
    axis : str
        What the size is.

    Returns
    -------
    Figure
    """
    rows = table[table["harm"] == harm]
    require(len(rows) > 0, "harm", harm, f"one of {', '.join(sorted(set(table['harm'])))}")
    figure, ax = panels(height=3.5, width=6.2)
    for k, name in enumerate(names):
        mine = rows[rows["rule"] == name]
        color, marker = COLOURS[rung(name).kind], MARKERS[k % len(MARKERS)]
        seen, told = (means(mine, column, ["size"]) for column in ("retrieved", "predicted"))
        sizes = sorted(key[0] for key in seen)
        mean, error = (np.array([seen[(x,)][i] for x in sizes]) for i in (0, 1))
        ax.plot(sizes, [told[(x,)][0] for x in sizes], color=color, lw=1.2, ls=("-", "--", ":", "-.")[k % 4])
        look = {"color": color, "fmt": marker, "ms": 4.5, "label": rung(name).label}
        ax.errorbar(sizes, mean, 2 * np.nan_to_num(error), **look)
    ax.set(xlabel=axis, ylabel="share of keys retrieved", ylim=(-0.03, 1.05))
    ax.legend(fontsize=8)
    return figure


def draw_bits(bits: ArrayLike, facts: Mapping[str, ArrayLike]) -> Figure:
    """Facts per bit of storage, times the logarithm of their number, against bits an entry.

    Parameters
    ----------
    bits : array_like
    facts : dict
        From the name of a memory to its facts per bit times log n, for each number of bits.

    Returns
    -------
    Figure
    """
    figure, ax = panels(height=3.3, width=6.0)
    for name, look in series(facts):
        ax.plot(bits, facts[name], color=look["color"], marker=look["marker"], label=name)
    ax.set(xlabel="bits an entry", ylabel="facts per bit, times $\\log\\,n$", ylim=(0, None))
    ax.legend(fontsize=8)
    return figure
