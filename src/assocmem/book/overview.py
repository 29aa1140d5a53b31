"""The figures on the opening page and the card for shared links: what is asked, what is known."""

import math
import sys
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from assocmem.book.plotting import (
    ANY_MEMORY,
    COMPETITOR,
    INK,
    LIMIT,
    OUTER_PRODUCTS,
    SIGNAL,
    TAIL_AVERAGE,
    panels,
    use_style,
)
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import retrieval_margins, scores
from assocmem.pairs.sizes import tail_count
from assocmem.theory.outer_products import exact_half_success_ratio
from assocmem.theory.ridgeless import critical_load

SMALL = {"n": 14, "d": 10, "seed": 3}
"""The memory shown entry by entry: small enough to see each; some of its keys fail."""
COLUMN = {"n": 400, "d": 26, "seed": 1}
"""The memory of which one column is shown: with enough competitors for a histogram."""
TAIL = 0.15
"""The fraction of competitors whose average the signal must beat, from the paper's Figure 3."""


def task() -> Figure:
    """Draw the scores of a small memory (above) and one column of a larger one (below).

    Returns
    -------
    Figure
        Narrow, so that a phone shows it whole.
    """
    use_style()
    figure, (above, below) = panels(1, rows=2, height=6.8, width=4.8, height_ratios=[1.25, 1])
    _score_matrix(above)
    _score_column(below)
    return figure


def overview() -> Figure:
    """Draw the thresholds of top-1 retrieval (left) and of tail-average learning (right).

    Returns
    -------
    Figure
    """
    use_style()
    figure, (left, right) = panels(2, height=3.4, width=8.6)
    _top1(left)
    _tail_average(right)
    return figure


def overview_in_rows() -> Figure:
    """Draw the same, one below the other.

    Returns
    -------
    Figure
        Narrow, so that a phone shows it whole.
    """
    use_style()
    figure, (above, below) = panels(1, rows=2, height=7, width=4.8)
    _top1(above)
    _tail_average(below)
    return figure


def card() -> Figure:
    """Draw the same with a title, in the shape in which previews of links are shown.

    Returns
    -------
    Figure
        1200 by 630 pixels at 150 dots per inch.
    """
    use_style()
    figure, (left, right) = panels(2, height=4.2, width=8)
    _top1(left)
    _tail_average(right)
    figure.suptitle("Linear associative memory, executed", fontsize=18, fontweight="bold", x=0.035, ha="left")
    figure.get_layout_engine().set(w_pad=0.2, h_pad=0.17)  # inches: some services cut off the corners
    return figure


_half_success = cache(exact_half_success_ratio)  # three figures show the same curve


def _top1(ax):
    n = np.logspace(2, 12, 41)
    log_n = np.log(n)
    conjectured = 2 - 3 * np.log(log_n) / log_n
    outer = np.array([_half_success(round(m)) for m in n])
    ax.fill_between(n, 0, conjectured, color=LIMIT, alpha=0.15, lw=0)
    ax.fill_between(n, conjectured, outer, color=ANY_MEMORY, alpha=0.13, lw=0)
    ax.fill_between(n, outer, 15, color=OUTER_PRODUCTS, alpha=0.13, lw=0)
    ax.axhline(8, color=OUTER_PRODUCTS, lw=1.2)
    ax.axhline(2, color=ANY_MEMORY, lw=1.2)
    ax.plot(n, outer, color=OUTER_PRODUCTS, ls="--", lw=1.4)
    ax.plot(n, conjectured, color=ANY_MEMORY, ls="--", lw=1.4)
    middle = math.sqrt(n[0] * n[-1])
    ax.text(middle, 10.5, "outer products retrieve all pairs", ha="center")
    ax.text(middle, 4.4, "some memory retrieves all pairs", ha="center")
    ax.text(middle, 0.25, "no memory can", ha="center")
    for limit in (2, 8):
        ax.text(n[-1], limit + 0.12, "$n \\to \\infty$", ha="right", va="bottom", fontsize=8)
    ax.set(xscale="log", xlim=(n[0], n[-1]), ylim=(0, 14), yticks=[0, 2, 4, 6, 8, 10, 12, 14])
    ax.set(xlabel="number of pairs $n$", ylabel="ratio $d^2/(n\\,\\log n)$", title="a. Every target first")
    ax.grid(visible=False)


def _tail_average(ax):
    r = np.concatenate([np.logspace(-4, -2, 60), np.linspace(0.01, 0.999, 400)])
    load = critical_load(r)
    ax.fill_between(r, 0, load, color=ANY_MEMORY, alpha=0.13, lw=0)
    ax.fill_between(r, load, 2.2, color=LIMIT, alpha=0.15, lw=0)
    ax.plot(r, load, color=ANY_MEMORY)
    ax.text(0.62, 0.22, "loss can vanish", ha="center")
    ax.text(0.36, 1.3, "loss stays positive", ha="center")
    ax.text(0.72, 0.87, "$\\alpha_c(r)$")
    ax.set(xlim=(0, 1), ylim=(0, 2.05), xlabel="tail fraction $r$", ylabel="load $n/d^2$")
    ax.set_title("b. Beat the average of the top $r$-fraction")
    ax.grid(visible=False)


def _score_matrix(ax):
    pairs = gaussian_pairs(**SMALL)
    W = correlation_memory(pairs)
    S, margins = scores(pairs, W).numpy(), retrieval_margins(pairs, W).numpy()
    reach = np.abs(S).max()
    ax.imshow(S, cmap="PuOr_r", vmin=-reach, vmax=reach)
    for i, margin in enumerate(margins):
        rival = int(np.argmax(np.where(np.arange(pairs.n) == i, -np.inf, S[:, i])))
        for j, colour in ((i, INK), *([(rival, COMPETITOR)] if margin < 0 else [])):
            ax.add_patch(Rectangle((i - 0.5, j - 0.5), 1, 1, fill=False, ec=colour, lw=1.6))
    ax.set(xlabel="key $v_i$", ylabel="target $u_j$", xticks=[], yticks=[])
    ax.set_title("a. Scores $s_{ji} = u_j^\\top W v_i$")
    ax.grid(visible=False)


def _score_column(ax):
    pairs = gaussian_pairs(**COLUMN)
    S = scores(pairs, correlation_memory(pairs)).numpy()
    k = tail_count(TAIL, pairs.n - 1)
    i = _telling_column(S, k)
    rivals = np.sort(np.delete(S[:, i], i))
    edges = rivals[-k] + 0.08 * np.arange(-40, 41)  # the tail begins at an edge
    heights = ax.hist(rivals[:-k], bins=edges, color=COMPETITOR, alpha=0.35)[0]
    ax.hist(rivals[-k:], bins=edges, color=COMPETITOR)
    top, signal, average = 1.2 * heights.max(), S[i, i], rivals[-k:].mean()
    ax.axvline(signal, color=SIGNAL, lw=2)
    ax.axvline(average, color=TAIL_AVERAGE, ls="--", lw=2)
    ax.text(signal + 0.04, 0.9 * top, "signal $s_{ii}$", color=SIGNAL)
    ax.text(average - 0.04, 0.9 * top, "average of\nthe top 15%", color=TAIL_AVERAGE, ha="right", va="center")
    ax.set(xlim=(rivals[0] - 0.1, rivals[-1] + 0.45))
    ax.set(xlabel="score of a target for one key", ylabel="competitors", ylim=(0, top))
    ax.set_title("b. Not first, but above a tail average")
    ax.grid(visible=False)


def _telling_column(S, k):
    """A column whose signal lies midway between the average of its top k competitors and the best of them."""
    rivals = np.sort(np.where(np.eye(len(S), dtype=bool), -np.inf, S), axis=0)
    best, average = rivals[-1], rivals[-k:].mean(axis=0)
    return int(np.argmin(np.abs(np.diag(S) - 0.5 * (best + average))))


PLACES = {
    task: ("figures/task.png", 200),
    overview: ("figures/overview.png", 160),  # for the README
    overview_in_rows: ("figures/overview_in_rows.png", 200),
    card: ("_static_src/card.png", 150),
}
"""Where each figure is kept below ``book``, and its dots per inch."""


if __name__ == "__main__":
    for draw, (place, dpi) in PLACES.items():
        draw().savefig(Path(sys.argv[1], place), dpi=dpi)
