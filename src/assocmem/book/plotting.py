"""One look for every figure and table."""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import TypeVar

import matplotlib as mpl
import numpy as np
from cycler import cycler
from IPython import get_ipython
from IPython.core.pylabtools import retina_figure, select_figure_formats
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike
from PIL import Image
from scipy.stats import binomtest

from assocmem.book.terminal_table import aligned
from assocmem.checks import require

BLUE = "#015a9e"
ORANGE = "#ab4b01"
GREEN = "#5a9169"
PINK = "#ca64b3"
SKY = "#1594fb"
GREY = "#4f4f4f"
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, GREY)
"""Distinguishable with common colour-vision deficiencies, also where a dark page inverts them: tests hold the
colours to that."""

MARKERS = "os^vDP"
"""One for each colour of the palette, so that curves can be told apart without colours too."""

# What a colour stands for, in every figure; line styles and markers tell apart what shares one.
OUTER_PRODUCTS = BLUE
REPAIR = SKY  # outer products, changed where keys fail
CLIPPED = PINK  # equal signals, with or without clipped competitors
ANY_MEMORY = GREEN  # what the best memory can: certified, predicted, conjectured
CROSS_ENTROPY = ORANGE  # memories trained for first place
TAIL_AVERAGE = PINK  # memories trained for the tail average, which no figure has together with clips
AMONG_BEST = SKY  # a place in a list is enough; not in one figure with repairs
SIGNAL = ORANGE  # the score of a key's own target
COMPETITOR = BLUE  # the scores of the others
BELOW = BLUE  # loads below the critical one
AT = PINK  # the critical load
ABOVE = ORANGE  # loads above it
LIMIT = GREY  # of many pairs or dimensions, and lines to compare with
MARK = ORANGE  # what a drawing without data points at
OTHER_MARK = SKY  # and what it sets against that
INK = "black"  # predictions on top of coloured measurements
REPAIR_AS_PROVED = GREY  # with the reserve of the proof, beside better repairs
REPAIR_IN_PLACE = INK  # without a reserve, beside repairs that have one
PAPER = "white"  # on maps
MAP = LinearSegmentedColormap.from_list("map", [PAPER, "#a9d5f5", SKY, BLUE, "#02223c"])
"""From nothing to much, on a map. It begins with the paper, so that nothing is dark and much is bright on a
dark page, which turns figures over. Lines on it are told apart by dashes, which no page turns over."""
PHASES = LinearSegmentedColormap.from_list("phases", [BELOW, "#f4f1ea", ABOVE])
"""From the colour of loads below the critical one to that of loads above, for maps of both."""

Value = TypeVar("Value")

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
"""Settings of matplotlib: sizes in points that read well at the width of the text, thin grids behind the
data, and names within an SVG that are the same in every run."""


def use_style() -> None:
    """Set the look of all figures that follow, sharp on any screen where they go into a notebook."""
    mpl.rcdefaults()  # whatever the reader's own settings are
    mpl.rcParams.update(STYLE)
    shell = get_ipython()
    if shell is not None:
        select_figure_formats(shell, {"retina"})
        shell.display_formatter.formatters["image/png"].for_type(Figure, _shown)


def _shown(figure):
    """A figure as a notebook keeps it, sharp and small, with its size on the page."""
    drawn = retina_figure(figure, base64=False, pil_kwargs={"compress_level": 1})  # it is packed again below
    if drawn is None:  # an empty figure
        return None
    png, size = drawn
    return base64.b64encode(in_few_colours(png)).decode(), size


def in_few_colours(png: bytes) -> bytes:
    """A picture with at most 256 colours, which takes a third of the bytes.

    Parameters
    ----------
    png : bytes
        Without transparency.

    Returns
    -------
    bytes
        Also a PNG. A colour moves by a few steps of 255 at most where there were more than 256 of them; the
        colours that most of the picture has, such as white paper, stay.
    """
    picture = Image.open(io.BytesIO(png))
    few = picture.convert("RGB").quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small = io.BytesIO()
    # level 9 saves another twentieth of the bytes, and takes seven times as long
    few.save(small, "PNG", compress_level=7, dpi=picture.info.get("dpi"))
    return min(small.getvalue(), png, key=len)


def panels(
    count: int = 1, *, rows: int = 1, height: float = 3.3, width: float = 7.4, **keywords: object
) -> tuple[Figure, Axes | np.ndarray]:
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


def proportion_interval(successes: Sequence[int], trials: Sequence[int], level: float = 0.95) -> np.ndarray:
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


def proportions(
    ax: Axes, x: ArrayLike, successes: Sequence[int], trials: Sequence[int], **keywords: object
) -> ErrorbarContainer:
    """Draw measured proportions as points with 95% Wilson error bars.

    Parameters
    ----------
    ax : Axes
    x : array of m numbers
        Where the points are.
    successes, trials : sequence of int
        As for `proportion_interval`.
    **keywords
        For `matplotlib.axes.Axes.errorbar`.

    Returns
    -------
    ErrorbarContainer
    """
    look = {"marker": "o", "ls": "none", "elinewidth": 1.1} | keywords
    successes, trials = np.asarray(successes), np.asarray(trials)
    centre = successes / trials
    low, high = proportion_interval(successes, trials)
    error = np.clip([centre - low, high - centre], 0, None)
    return ax.errorbar(x, centre, yerr=error, **look)


def series(values: Iterable[Value]) -> list[tuple[Value, dict[str, str]]]:
    """Pair each value of a parameter with the look of its curve, round again where looks run out.

    Returns
    -------
    list of (value, dict)
        Colour and marker, as keywords for a plot.
    """
    looks = cycle({"color": color, "marker": marker} for color, marker in zip(PALETTE, MARKERS, strict=True))
    return list(zip(values, looks, strict=False))


def density_line(
    ax: Axes, sample: np.ndarray, bins: np.ndarray, *style: str, **keywords: object
) -> list[Line2D]:
    """Draw the density of a sample as a line through the middles of histogram bins.

    Parameters
    ----------
    ax : Axes
    sample : ndarray
    bins : ndarray
        Edges of the bins, increasing.
    *style, **keywords
        For `matplotlib.axes.Axes.plot`.

    Returns
    -------
    list of Line2D
        The one line.
    """
    heights, _ = np.histogram(sample, bins)
    widths = np.diff(bins)
    return ax.plot(bins[:-1] + widths / 2, heights / len(sample) / widths, *style, **keywords)


class Table:
    """Rows of numbers and words that print as a table, in a notebook and on a terminal."""

    def __init__(
        self,
        columns: Mapping[str, Iterable[float | str]],
        formats: Mapping[str, str] | str = "",
    ) -> None:
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

    def _repr_markdown_(self):  # a table of bars, which Jupyter shows without MyST
        lines = [self.head, ["---:"] * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def __repr__(self):
        return "\n".join(aligned([self.head, *self.rows], str.rjust))


def _cell(x, fmt):
    return x if isinstance(x, str) else format(x, fmt)
