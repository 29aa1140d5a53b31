"""One look for every figure and table."""

from itertools import cycle

import matplotlib as mpl
import numpy as np
from cycler import cycler
from IPython import get_ipython
from IPython.core.pylabtools import select_figure_formats
from matplotlib.figure import Figure
from scipy.stats import binomtest

from assocmem.checks import require

BLUE, ORANGE, GREEN, PINK, SKY, GREY = "#015a9e", "#ab4b01", "#5a9169", "#ca64b3", "#1594fb", "#4f4f4f"
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, GREY)
"""Distinguishable with common colour-vision deficiencies, also where a dark page inverts them."""

MARKERS = "os^vDP"

# What a colour stands for, in every figure; line styles and markers tell apart what shares one.
OUTER_PRODUCTS = BLUE
REPAIR = SKY  # outer products, changed where keys fail
CLIPPED = PINK  # equal signals, with or without clipped competitors
ANY_MEMORY = GREEN  # what the best memory can: certified, predicted, conjectured
CROSS_ENTROPY = ORANGE  # memories trained for first place
TAIL_AVERAGE = PINK  # memories trained for the tail average, which no figure has together with clips
AMONG_BEST = SKY  # a place in a list is enough; not in one figure with repairs
SIGNAL, COMPETITOR = ORANGE, BLUE
BELOW, AT, ABOVE = BLUE, PINK, ORANGE  # loads against the critical one
LIMIT = GREY  # of many pairs or dimensions, and lines to compare with
INK = "black"  # predictions on top of coloured measurements
PAPER = "white"  # on maps

STYLE = {
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.formatter.useoffset": False,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "font.size": 10,
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "assocmem",
}


def use_style():
    """Set the look of all figures that follow, sharp on any screen where they go into a notebook."""
    mpl.rcdefaults()  # whatever the reader's own settings are
    mpl.rcParams.update(STYLE)
    shell = get_ipython()
    if shell is not None:
        select_figure_formats(shell, {"retina"})


def panels(count=1, *, rows=1, height=3.3, width=7.4, **keywords):
    """A figure with ``count`` axes side by side, shown by naming it in the last line of a cell.

    Parameters
    ----------
    count : int
    rows : int
        Rows of axes, ``count`` in each.
    height, width : float
        In inches; 7.4 is the width of the text.
    **keywords
        For `matplotlib.figure.Figure.subplots`.

    Returns
    -------
    Figure and Axes, or Figure and array of Axes
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, count, **keywords)


def proportion_interval(successes, trials, level=0.95):
    """Wilson confidence intervals of proportions.

    Parameters
    ----------
    successes, trials : sequence of int
    level : float
        Coverage, in (0, 1).

    Returns
    -------
    ndarray, shape (2, m)
        Lower and upper ends.
    """
    tests = (binomtest(int(k), int(m)) for k, m in zip(successes, trials, strict=True))
    intervals = [t.proportion_ci(confidence_level=level, method="wilson") for t in tests]
    return np.array([(i.low, i.high) for i in intervals]).T


def proportions(ax, x, successes, trials, **keywords):
    """Draw measured proportions as points with 95% Wilson error bars."""
    look = {"marker": "o", "ls": "none", "elinewidth": 1.1} | keywords
    successes, trials = np.asarray(successes), np.asarray(trials)
    centre = successes / trials
    low, high = proportion_interval(successes, trials)
    error = np.clip([centre - low, high - centre], 0, None)
    return ax.errorbar(x, centre, yerr=error, **look)


def series(values):
    """Pair each value of a parameter with the look of its curve, round again where looks run out.

    Returns
    -------
    list of (value, dict)
        Colour and marker, as keywords for a plot.
    """
    looks = cycle({"color": color, "marker": marker} for color, marker in zip(PALETTE, MARKERS, strict=True))
    return list(zip(values, looks, strict=False))


def density_line(ax, sample, bins, *style, **keywords):
    """Draw the density of a sample as a line through the middles of histogram bins."""
    heights, _ = np.histogram(sample, bins)
    widths = np.diff(bins)
    return ax.plot(bins[:-1] + widths / 2, heights / len(sample) / widths, *style, **keywords)


class Table:
    """Rows of numbers and words that print as a table, in a notebook and on a terminal."""

    def __init__(self, columns, formats=""):
        """
        Parameters
        ----------
        columns : dict
            Heading (may hold ``$...$``) to sequence of entries.
        formats : dict or str
            Format of the numbers: one for all, or one for each heading where it differs from ``.4g``.

        Raises
        ------
        ValueError
            For an entry with a bar, which would end the cell on a page.
        """
        formats = dict.fromkeys(columns, formats or ".4g") if isinstance(formats, str) else formats
        self.head = list(columns)
        cells = [[_cell(x, formats.get(name, ".4g")) for x in values] for name, values in columns.items()]
        self.rows = [list(row) for row in zip(*cells, strict=True)]
        for entry in (entry for line in (self.head, *self.rows) for entry in line):
            require("|" not in entry, "entry", entry, "without bars (\\lvert and \\lVert in formulas)")

    def _repr_markdown_(self):
        lines = [self.head, ["---:"] * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def __repr__(self):
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [self.head, *self.rows]
        return "\n".join("  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in lines)


def _cell(x, fmt):
    return x if isinstance(x, str) else format(x, fmt)
