"""The longer figures of the sections on first place: how a key is served, and where the transition is."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Wedge
from scipy import special

from assocmem.book.plotting import (
    ANY_MEMORY,
    COMPETITOR,
    CROSS_ENTROPY,
    INK,
    LIMIT,
    MARK,
    OTHER_MARK,
    OUTER_PRODUCTS,
    SIGNAL,
    panels,
    proportions,
    series,
)
from assocmem.deciding.paper_certificate import inverse_mills
from assocmem.experiments.first_place.cone_projections import tail_levels
from assocmem.experiments.first_place.norm_peak import linearised
from assocmem.experiments.first_place.shifts import Interval
from assocmem.experiments.frames import DataFrame
from assocmem.experiments.statistics import Line
from assocmem.experiments.transitions import Transition
from assocmem.pairs.sizes import top1_ratio
from assocmem.theory.kinematics import (
    large_size,
    pool,
    pooled_moments,
    retrieval_probability,
    statistical_dimension,
)

WIDTH = 5.0
"""Of figures whose letters are to be read on a telephone too, in inches."""

DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
"""One for each colour of the palette, for curves without markers."""

MOST_CURVES = 6
"""As many can be told apart in one panel."""

Counts = Mapping[int, tuple[np.ndarray, np.ndarray, np.ndarray]]
"""For each number of pairs: dimensions, and how many of how many instances were retrievable."""

CONE_HALF_ANGLE = 60.0
"""Degrees on either side of the signal's direction, in the plane of three scores that sum to zero."""


def scientific(x: float, digits: int = 1) -> str:
    r"""A very small or large number as one writes it, ``1.4 \times 10^{-14}``.

    Parameters
    ----------
    x : float
    digits : int
        Behind the point.

    Returns
    -------
    str
        TeX without dollar signs.
    """
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}"


def dimension(d: float) -> str:
    """A dimension that need not be whole, with two decimals where they are worth reading.

    Parameters
    ----------
    d : float

    Returns
    -------
    str
    """
    return f"{d:.2f}" if d < 1000 else f"{d:,.0f}"


def draw_pool(signal: float, rivals: np.ndarray) -> tuple[Figure, Axes]:
    """Scores of one key, and the level at which the signal meets the competitors above it.

    Parameters
    ----------
    signal : float
    rivals : ndarray, shape (m,)
        Competitors in decreasing order.

    Returns
    -------
    Figure and Axes
    """
    level, pooled = pool(signal, rivals)
    figure, ax = panels(height=3.4, width=WIDTH)
    rank = np.arange(2, len(rivals) + 2)
    ax.plot(rank, rivals, ".", color=COMPETITOR, label="competitors")
    ax.axhline(level, color=LIMIT, lw=1, label="level $t$ at which they meet")
    ax.plot([1], [signal], "s", color=SIGNAL, label="signal")
    for x, y in [(1, signal), *zip(rank, rivals[:pooled], strict=False)]:
        ax.annotate("", (x, level), (x, y), arrowprops={"arrowstyle": "->", "color": INK})
    ax.set(xscale="log", xlabel="place on the list, competitors best first", ylabel="score")
    ax.legend()
    return figure, ax


def draw_transition(data: Counts, fits: Mapping[int, Transition]) -> tuple[Figure, np.ndarray]:
    """Shares of retrievable instances against the ratio, and against the distance from the prediction.

    Parameters
    ----------
    data : dict of int to (ndarray, ndarray, ndarray)
    fits : dict of int to Transition
        For each number of pairs.

    Returns
    -------
    Figure and two Axes, one below the other
    """
    figure, (above, below) = panels(1, rows=2, height=6.6, width=WIDTH)
    for (n, (d, successes, trials)), look in series(sorted(data.items())):
        color, (mean, variance) = look["color"], pooled_moments(n)
        place, fine = d**2 / n - mean, np.linspace(d.min() - 1, d.max() + 1, 200)
        near = np.abs(place) < 1.5
        proportions(above, top1_ratio(n, d), successes, trials, label=f"$n={n}$", **look)
        above.plot(top1_ratio(n, fine), retrieval_probability(n, fine), color=color, lw=1.2)
        proportions(below, place[near], successes[near], trials[near], **look)
        width = math.sqrt(variance / n) * fits[n].stretch
        z = (fine**2 / n - fits[n].half) / width
        below.plot(fine**2 / n - mean, special.ndtr(z), color=color, lw=1.2)
    above.axvline(2, color=LIMIT, lw=1)
    label = "share of instances retrievable"
    above.set(xlim=(0.6, 2.05), xlabel="ratio $d^2/(n\\,\\log n)$", ylabel=label, title="(a)")
    below.set(xlim=(-1.2, 0.9), xlabel="$d^2/n$ less its predicted place $E\\,M$", ylabel=label, title="(b)")
    handles, names = above.get_legend_handles_labels()
    handles += [Line2D([], [], color=INK, lw=1.2), Line2D([], [], color=LIMIT, lw=1)]
    above.legend(handles, [*names, "kinematic", "theorem: 2"], loc="center right", bbox_to_anchor=(0.93, 0.5))
    below.legend([Line2D([], [], color=INK, lw=1.2)], ["best fit"], loc="upper left")
    return figure, np.array([above, below])


def draw_growth(fits: Mapping[int, Transition], constants: Sequence[float]) -> tuple[Figure, Axes]:
    """The certified places of the transition, and laws that start together and have other constants.

    Parameters
    ----------
    fits : dict of int to Transition
        For each number of pairs.
    constants : sequence of float
        Wrong coefficients of ``log n``, two at most.

    Returns
    -------
    Figure and Axes
    """
    sizes = sorted(fits)
    figure, ax = panels(height=3.6, width=WIDTH)
    fine = np.geomspace(sizes[0], sizes[-1], 20)
    kinematic = np.array([statistical_dimension(n) for n in fine])
    ax.plot(fine, kinematic, color=ANY_MEMORY, label="constant 2 (kinematic value)")
    for constant, dashes in zip(constants, ("--", ":"), strict=False):
        other = kinematic + (constant - 2) * np.log(fine / fine[0])
        ax.plot(fine, other, ls=dashes, color=LIMIT, label=f"constant {constant:g}, other terms the same")
    places = [fits[n].half for n in sizes]
    errors = [2 * fits[n].error for n in sizes]
    ax.errorbar(sizes, places, errors, fmt="o", color=ANY_MEMORY, label="certified")
    ax.set(xscale="log", xlabel="number of pairs $n$", ylabel="$d^2/n$ at which half are retrievable")
    ax.legend()
    return figure, ax


# --- the cone of one key --------------------------------------------------------------------------


def _ray(degrees, length=1.0):
    """A point at an angle from the signal's direction, which points to the right."""
    return length * np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])


def _wedge_panel(size):
    """Axes with the cone of three scores, in the plane where their mean is zero."""
    figure, ax = panels(height=4.0, width=WIDTH)
    ax.add_patch(Wedge((0, 0), 9, -CONE_HALF_ANGLE, CONE_HALF_ANGLE, color=ANY_MEMORY, alpha=0.25, lw=0))
    for side in (-1, 1):
        ax.plot(*np.transpose([(0, 0), _ray(side * CONE_HALF_ANGLE, 9)]), color=ANY_MEMORY, lw=1.2)
    ax.set(xlim=(-size, size), ylim=(-0.75 * size, 0.75 * size), aspect="equal")
    ax.set(xlabel="signal less the mean competitor", ylabel="difference of the competitors")
    return figure, ax


def draw_lines_and_cone() -> tuple[Figure, Axes]:
    """The cone of a key with two competitors, and two lines of score vectors, one of which enters it.

    Returns
    -------
    Figure and Axes
    """
    figure, ax = _wedge_panel(2.4)
    for degrees, look, name in (
        (28, {"color": INK, "ls": "-"}, "scores of a family that retrieves"),
        (73, {"color": MARK, "ls": "--"}, "scores of one that does not"),
    ):
        ax.plot(*np.transpose([_ray(degrees, -5), _ray(degrees, 5)]), label=name, **look)
    ax.text(0.95, -0.6, "cone:\nthe signal leads", color=INK, fontsize=9)
    ax.legend(loc="upper left")
    return figure, ax


def draw_projections() -> tuple[Figure, Axes]:
    """The plane of three scores divided by how many competitors a projection on the cone pools.

    Returns
    -------
    Figure and Axes
    """
    figure, ax = _wedge_panel(2.4)
    ax.add_patch(Wedge((0, 0), 9, 150, 210, color=MARK, alpha=0.3, lw=0))
    for side in (-1, 1):
        corners = [(0, 0), _ray(side * CONE_HALF_ANGLE, 9), _ray(side * 105, 13), _ray(side * 150, 9)]
        ax.add_patch(Polygon(corners, color=OTHER_MARK, alpha=0.15, lw=0))
        ax.plot(*np.transpose([(0, 0), _ray(side * 150, 9)]), color=MARK, lw=1.2, ls="--")
    moves = [((1.3, 0.7), (1.3, 0.7))]  # the signal leads already
    for start in ((-0.45, 1.35), (-0.2, -1.5)):
        edge = _ray(math.copysign(CONE_HALF_ANGLE, start[1]))
        moves.append((start, edge * (edge @ start)))
    moves += [((-1.3, 0.25), (0, 0)), ((-1.7, -0.55), (0, 0))]
    for start, end in moves:
        ax.plot(*start, "o", color=COMPETITOR)
        if not np.array_equal(start, end):
            ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": INK})
    for x, y, text in (
        (0.95, -0.35, "cone\n$M = 0$"),
        (-1.15, 1.45, "one pooled\n$M = 1$"),
        (-1.15, -1.65, "one pooled\n$M = 1$"),
        (-2.3, -0.15, "polar cone\n$M = 2$"),
    ):
        ax.text(x, y, text, fontsize=9)
    return figure, ax


def draw_two_levels(signal: float, rivals: np.ndarray, k: int) -> tuple[Figure, Axes]:
    """Scores of one key before and after the cheapest change that lets the signal reach the tail average.

    Parameters
    ----------
    signal : float
        Below the average of the k best competitors.
    rivals : ndarray, shape (m,)
        Competitors in decreasing order.
    k : int
        From 1 to m.

    Returns
    -------
    Figure and Axes
    """
    low, high = tail_levels(signal, rivals, k)
    after = rivals - np.clip(rivals - low, 0, high - low)
    figure, ax = panels(height=3.6, width=WIDTH)
    rank = np.arange(2, len(rivals) + 2)
    ax.plot(rank, rivals, "o", mfc="none", color=COMPETITOR, label="competitors before")
    ax.plot(rank, after, ".", color=COMPETITOR, label="competitors after")
    ax.plot([1], [signal], "s", mfc="none", color=SIGNAL, label="signal before")
    ax.plot([1], [signal + k * (high - low)], "s", color=SIGNAL, label="signal after")
    arrow = {"arrowstyle": "->", "color": INK, "lw": 0.8}
    moves = [(1, signal, signal + k * (high - low)), *zip(rank, rivals, after, strict=True)]
    for x, start, end in moves:
        if abs(start - end) > 0.05:
            ax.annotate("", (x, end), (x, start), arrowprops=arrow)
    ax.axhline(high, color=LIMIT, lw=1, ls="--", label="upper level $b$")
    ax.axhline(low, color=LIMIT, lw=1, label="lower level $a$")
    ax.set(xlabel="place on the list, competitors best first", ylabel="score")
    ax.legend(ncols=2)
    return figure, ax


# --- the paper's Figure 1, and the finite-size law ------------------------------------------------


def draw_norms(
    norms: DataFrame,
    peaks: Mapping[int, np.ndarray],
    means: tuple[np.ndarray, np.ndarray, np.ndarray],
    lines: tuple[Line, Line],
) -> tuple[Figure, np.ndarray]:
    """The paper's Figure 1: norms along the load, and their peaks where the conjecture is a line.

    Parameters
    ----------
    norms : DataFrame
        One row a fit: columns ``d``, ``seed``, ``n`` and ``nu``.
    peaks : dict of int to ndarray
        Numbers of pairs at the peaks, for each dimension.
    means : x, y, error
        Of the peaks, from `norm_peak.mean_line`.
    lines : (Line, Line)
        Of slope -3, and of free slope.

    Returns
    -------
    Figure and two Axes, one below the other
    """
    figure, (above, below) = panels(1, rows=2, height=7.0, width=WIDTH)
    dimensions = sorted(peaks)
    chosen = np.unique(np.linspace(0, len(dimensions) - 1, MOST_CURVES).round().astype(int))
    looks = [(look["color"], dashes) for dashes, look in series(DASHES)]
    for d, (color, dashes) in zip((dimensions[i] for i in chosen), looks, strict=False):
        mine = norms[(norms["d"] == d) & (norms["seed"] == 0)]
        n, nu = mine["n"].to_numpy(), mine["nu"].to_numpy()
        load, best = n * np.log(n) / d**2, nu.argmax()
        above.plot(load, nu, color=color, ls=dashes, lw=1.3, label=f"$d = {d}$")
        above.plot(load[best], nu[best], "*", color=color, ms=9)
    above.axvline(0.5, color=LIMIT, lw=1, label="threshold 1/2")
    above.set(yscale="log", title="(a)", xlabel="inverse ratio $n\\,\\log n/d^2$")
    above.set_ylabel("norm scale $\\|W\\|_F/d$")
    above.set_ylim(top=4e4)  # room for the names above the peaks
    above.legend(loc="upper right", ncols=2)
    _draw_peaks(below, peaks, means, lines)
    return figure, np.array([above, below])


def _draw_peaks(ax, peaks, means, lines):
    (x, y, errors), (fixed, free) = means, lines
    for d, n in peaks.items():
        ax.plot(*linearised(n, d), ".", color=CROSS_ENTROPY, alpha=0.25, ms=3)
    ends = np.array([x.min() - 0.03, x.max() + 0.03])
    band = {"color": LIMIT, "lw": 7, "alpha": 0.35, "solid_capstyle": "butt"}
    ax.plot(ends, fixed.intercept - 3 * ends, label="line of slope −3", **band)
    name = f"best line, slope −{-free.slope:.2f}"
    ax.plot(ends, free.intercept + free.slope * ends, "--", color=INK, lw=1.2, label=name)
    many = np.exp(np.exp(np.linspace(*ends, 12)))
    surrogate = [statistical_dimension(n) - 2 * math.log(n) for n in many]
    ax.plot(np.log(np.log(many)), surrogate, ":", color=ANY_MEMORY, label="kinematic value")
    ax.errorbar(x, y, 2 * errors, fmt="s", color=CROSS_ENTROPY, label="peaks, mean over instances")
    ax.set(title="(b)", xlabel="$\\log\\log n$ at the peak", ylabel="$d^2/n - 2\\,\\log n$ at the peak")
    handles, names = ax.get_legend_handles_labels()
    handles.append(Line2D([], [], marker=".", ls="none", color=CROSS_ENTROPY, alpha=0.4))
    ax.legend(handles, [*names, "peaks of single instances"])


def draw_law(
    peaks: tuple[np.ndarray, np.ndarray, np.ndarray], found: Mapping[int, Transition]
) -> tuple[Figure, Axes]:
    """The finite-size law: certified places, peaks of the norm, and what is predicted.

    Parameters
    ----------
    peaks : x, y, error
        From `norm_peak.mean_line`.
    found : dict of int to Transition
        For each number of pairs.

    Returns
    -------
    Figure and Axes
    """
    (x, y, errors), sizes = peaks, np.array(sorted(found))
    figure, ax = panels(height=4.0, width=WIDTH)
    span = np.geomspace(16, 1.2 * max(np.exp(np.exp(x.max())), sizes.max()), 25)
    less = 2 * np.log(span)
    kinematic = np.array([statistical_dimension(n) for n in span]) - less
    expansion = np.array([large_size(math.log(n)).mean for n in span]) - less
    band = {"color": ANY_MEMORY, "lw": 6, "alpha": 0.35, "solid_capstyle": "butt"}
    ax.plot(span, kinematic, label="kinematic value", **band)
    ax.plot(span, expansion, ":", color=INK, label="its expansion")
    ax.plot(span, -3 * np.log(np.log(span)), "--", color=LIMIT, label="conjecture: $-3\\,\\log\\log n$")
    at = np.exp(np.exp(x))
    ax.errorbar(at, y, 2 * errors, fmt="s", color=CROSS_ENTROPY, label="peaks of the norm")
    places = np.array([found[n].half for n in sizes]) - 2 * np.log(sizes)
    error = [2 * found[n].error for n in sizes]
    ax.errorbar(sizes, places, error, fmt="o", color=ANY_MEMORY, label="certified")
    ax.set(xscale="log", xlabel="number of pairs $n$", ylabel="$d^2/n - 2\\,\\log n$ at one half")
    ax.legend()
    return figure, ax


def draw_shift(
    sizes: np.ndarray, intervals: Sequence[Interval], laws: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> tuple[Figure, Axes]:
    """How far the certified transition is from the kinematic value, and laws of that shift.

    Parameters
    ----------
    sizes : ndarray, shape (m,)
        Numbers of pairs.
    intervals : sequence of m Interval
        Shifts there.
    laws : mapping of str to (ndarray, ndarray)
        For each law, by its name, numbers of pairs and the shifts there.

    Returns
    -------
    Figure and Axes
    """
    figure, ax = panels(height=4.0, width=WIDTH)
    ax.axhline(0, color=ANY_MEMORY, lw=6, alpha=0.35, label="kinematic value")
    looks = zip(DASHES, (INK, LIMIT, MARK, OTHER_MARK, OUTER_PRODUCTS), strict=False)
    for (name, (many, values)), (dashes, color) in zip(laws.items(), looks, strict=False):
        ax.plot(many, values, ls=dashes, color=color, lw=1.5, label=name)
    middle = np.array([interval.shift for interval in intervals])
    ends = np.array([(interval.low, interval.high) for interval in intervals]).T
    error = np.abs(ends - middle)
    ax.errorbar(sizes, middle, error, fmt="o", color=ANY_MEMORY, label="certified", zorder=3)
    ax.set(xscale="log", xlabel="number of pairs $n$", ylabel="shift of $d^2/n$ at one half")
    ax.legend(loc="lower right")
    return figure, ax


# --- proofs that nothing retrieves ----------------------------------------------------------------


def draw_sides(
    positive: np.ndarray, mixed: np.ndarray, polygon: np.ndarray, titles: Sequence[str]
) -> tuple[Figure, np.ndarray]:
    """Comparisons of two instances in a plane, and the polygon that one of them closes.

    Parameters
    ----------
    positive, mixed : ndarray, shape (2, m)
        Comparisons along a memory and across, of an instance that it retrieves and of one that none does.
    polygon : ndarray, shape (2, m + 1)
        The second ones weighted and put head to tail.
    titles : three of str

    Returns
    -------
    Figure and three Axes, one below the other
    """
    figure, axes = panels(1, rows=3, height=8.4, width=WIDTH)
    shown = ((positive, "$W$", ANY_MEMORY), (mixed, "$U V^T$", OUTER_PRODUCTS))
    for ax, (points, name, color) in zip(axes, shown, strict=False):
        ax.plot(*points, ".", ms=1.5, color=color, alpha=0.5, label="comparisons")
        ax.axvline(0, color=LIMIT, lw=1, label="zero: a tie")
        ax.set(xlabel=f"along {name}", ylabel="across")
        ax.legend(loc="upper right", markerscale=5)
    axes[2].plot(*polygon, color=INK, label="weighted comparisons")
    axes[2].plot(0, 0, "o", color=MARK, label="beginning and end")
    axes[2].set(xlabel="along $U V^T$", ylabel="across", aspect="equal")
    axes[2].legend(loc="upper left", bbox_to_anchor=(1.02, 1))
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
    return figure, axes


def draw_hidden(seed: int) -> tuple[Figure, Axes]:
    """Targets in a plane, of which one lies among the others.

    Parameters
    ----------
    seed : int
        Of the other targets, which lie about a circle.

    Returns
    -------
    Figure and Axes
    """
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, 7, endpoint=False) + 0.25 * rng.standard_normal(7)
    others = (0.95 + 0.05 * rng.random(7)) * np.array([np.cos(angle), np.sin(angle)])
    figure, ax = panels(height=3.6, width=WIDTH)
    ax.plot(*np.append(others, others[:, :1], axis=1), "-", color=LIMIT, lw=1, label="edge of their averages")
    ax.plot(*others, "o", color=COMPETITOR, label="other targets")
    hidden, toward = np.array([0.25, 0.2]), np.array([0.8, 0.6])
    ax.plot(*hidden, "s", color=SIGNAL, label="target that hides")
    ax.annotate("", 1.5 * toward, (0, 0), arrowprops={"arrowstyle": "->", "color": INK})
    across = 0.75 * np.array([-toward[1], toward[0]])
    foot = (hidden @ toward) * toward
    ax.plot(*np.transpose([foot - across, foot + across]), "--", color=SIGNAL, lw=1, label="the same score")
    ax.text(*(1.5 * toward + [0.04, -0.05]), "$x$")
    ax.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal")
    ax.set(xlim=(-1.3, 1.5), ylim=(-1.3, 1.3))
    ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1))
    return figure, ax


def draw_tilt(log_n: float, ratio: float) -> tuple[Figure, Axes]:
    """How the paper's weights move the mean of a key's targets: densities before and after weighting.

    Parameters
    ----------
    log_n : float
        Natural logarithm of the number of pairs, above 1.
    ratio : float
        ``d^2 / (n log n)``; the mean moves to ``d / sqrt(n)``.

    Returns
    -------
    Figure and Axes
    """
    b, mean = 1 - 1 / log_n, math.sqrt(ratio * log_n)
    level = float(inverse_mills(mean / b))
    figure, ax = panels(height=3.4, width=WIDTH)
    g = np.linspace(-3.5, 5, 800)
    density = np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi)
    weight = 1 / log_n + (g >= level) * b / special.ndtr(-level)
    ax.plot(g, density, "--", color=COMPETITOR, label="targets as drawn, mean 0")
    ax.plot(g, density * weight, color=ANY_MEMORY, label="targets with their weights")
    ax.axvline(level, color=LIMIT, lw=1, ls=":", label="level $z_i$")
    ax.axvline(mean, color=ANY_MEMORY, lw=1, ls="-.", label="weighted mean")
    ax.set(xlabel="target along $x_i$, in standard deviations", ylabel="density", ylim=(0, None))
    ax.legend()
    return figure, ax


def told(x: object) -> str:
    """A quantity in a table of very different ones: words and counts as they are, other numbers with a power.

    Parameters
    ----------
    x : object
        Words, an integer, or a nonnegative number.

    Returns
    -------
    str
    """
    if isinstance(x, float):
        return f"${scientific(x)}$" if 0 < x < math.inf else "0" if x == 0 else "$\\infty$"
    return str(x)


def draw_floor(
    stored: np.ndarray, computed: np.ndarray, steps: Sequence[Mapping[str, float]]
) -> tuple[Figure, np.ndarray]:
    """Weights of two proofs in decreasing order, and a search on its way to the second.

    Parameters
    ----------
    stored, computed : ndarray, shape (n, n)
        Weights of a proof without and with a floor.
    steps : sequence of mapping
        What `assocmem.deciding.feasibility.decide` reports after each step.

    Returns
    -------
    Figure and array of two Axes
    """
    figure, axes = panels(rows=2, height=6.2, width=WIDTH)
    off = ~np.eye(len(stored), dtype=bool)
    ranks = np.arange(1, off.sum() + 1)
    weights = [np.sort(x[off])[::-1] for x in (stored, computed)]
    axes[0].plot(ranks, weights[0], "--", color=COMPETITOR, label="stored")
    axes[0].plot(ranks, weights[1], color=ANY_MEMORY, label="computed, on a floor")
    axes[0].set(xscale="log", yscale="log", xlabel="rank of the comparison", ylabel="weight")
    axes[0].set(ylim=(weights[1].min() * 1e-6, 3 * weights[1].max()))
    axes[0].set_title("(a)")
    axes[0].legend(loc="lower left")
    passes, excess, floors = (np.array([x[name] for x in steps]) for name in ("passes", "excess", "floor"))
    for floor, (look, dashes) in zip(np.unique(floors)[::-1], _search_looks(floors), strict=True):
        here = floors == floor
        label = f"floor ${scientific(floor)}$"
        axes[1].plot(passes[here], excess[here], ls=dashes, marker=".", color=look, label=label)
    axes[1].axhline(1, color=LIMIT, lw=1, label="small enough")
    axes[1].set(yscale="log", xlabel="passes over the scores", ylabel="rest, over what the floor allows")
    axes[1].set_title("(b)")
    axes[1].legend(loc="upper right")
    return figure, axes


def _search_looks(floors):
    """A colour and a dash for every floor."""
    count = len(np.unique(floors))
    colors = (INK, ANY_MEMORY, CROSS_ENTROPY, OUTER_PRODUCTS, SIGNAL, COMPETITOR)
    return [(colors[i % len(colors)], DASHES[i % 4]) for i in range(count)]
