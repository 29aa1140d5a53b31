"""The figure on the opening page: what is known about both capacities."""

import math
import sys

import numpy as np

from assocmem.correlation import exact_half_success_ratio
from assocmem.plotting import ANY_MEMORY, LIMIT, OUTER_PRODUCTS, panels, use_style
from assocmem.ridgeless import critical_load


def overview():
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


def _top1(ax):
    n = np.logspace(2, 12, 41)
    log_n = np.log(n)
    few = np.unique(np.round(np.logspace(2, 12, 31)).astype(int))
    ax.fill_between(n, 0, 2, color=LIMIT, alpha=0.15, lw=0)
    ax.fill_between(n, 2, 8, color=ANY_MEMORY, alpha=0.13, lw=0)
    ax.fill_between(n, 8, 14, color=OUTER_PRODUCTS, alpha=0.13, lw=0)
    ax.axhline(8, color=OUTER_PRODUCTS, lw=1.2)
    ax.axhline(2, color=ANY_MEMORY, lw=1.2)
    ax.plot(few, [exact_half_success_ratio(int(m)) for m in few], color=OUTER_PRODUCTS, ls="--", lw=1.4)
    ax.plot(n, 2 - 3 * np.log(log_n) / log_n, color=ANY_MEMORY, ls="--", lw=1.4)
    middle = math.sqrt(n[0] * n[-1])
    ax.text(middle, 10.5, "outer products retrieve all pairs", ha="center")
    ax.text(middle, 4.4, "some memory retrieves all pairs", ha="center")
    ax.text(middle, 0.25, "no memory can", ha="center")
    ax.set(xscale="log", xlim=(n[0], n[-1]), ylim=(0, 14), yticks=[0, 2, 4, 6, 8, 10, 12, 14])
    ax.set(xlabel="number of pairs $n$", ylabel="$d^2/(n\\,\\log n)$", title="a. Every target first")
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


if __name__ == "__main__":
    overview().savefig(sys.argv[1], dpi=160)
