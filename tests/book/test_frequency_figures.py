"""The figures of frequent and rare facts show what they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from assocmem.book import frequency_figures as figures
from assocmem.experiments.frequencies.streams import WAYS as STREAM_WAYS


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def bars(ax):
    """Places of the markers with error bars, in order."""
    return [bar.lines[0].get_xydata() for bar in ax.containers]


def test_every_way_through_a_stream_has_a_look_of_its_own():
    assert set(figures.STREAM_WAYS) == set(STREAM_WAYS)
    for looks in (figures.STREAM_WAYS, figures.WAYS):
        assert len({(look.color, look.line) for look in looks.values()}) == len(looks)
        assert len({look.marker for look in looks.values()}) == len(looks)


def test_each_law_has_a_panel_with_lines_and_points():
    low = figures.Kept("load 0.2", False, ([0.1, 1], [1, 1]), ([0.5], [0.99], [0.01]), [1])
    high = figures.Kept("load 0.6", True, ([0.1, 1], [0.1, 0.6]), ([0.25, 4], [0.1, 1], [0.02, 0]), [0.12, 1])
    figure = figures.draw_kept({"two classes": [low, high], "equal": [low]})
    first, second = figure.axes
    assert [ax.get_title(loc="left") or ax.get_title() for ax in figure.axes] == ["two classes", "equal"]
    assert bars(first)[1] == pytest.approx(np.array([[0.25, 0.1], [4, 1]]))
    assert first.get_legend_handles_labels()[1] == ["load 0.2", "load 0.6"]
    assert len(bars(second)) == 1
    assert 0.12 in [y for line in first.lines for y in line.get_ydata()]
    with pytest.raises(ValueError, match="at least one law"):
        figures.draw_kept({})


def test_levels_say_how_many_are_on_their_left():
    (ax,) = figures.draw_levels(2.0, {"rare": 1.0, "frequent": -4.0}).axes
    words = ax.get_legend_handles_labels()[1]
    assert words[:2] == [
        "rare: lost on the left, 0.84 of them",
        "frequent: lost on the left, 3.2e-05 of them",
    ]
    assert ax.get_xlim()[0] < -4


def test_slopes_are_those_of_the_errors():
    entries = np.geomspace(100, 1e6, 9)
    measured = {"hebb": ([100, 400, 1600], [0.3, 0.15, 0.075], [0.01, 0.01, 0.01])}
    figure = figures.draw_scaling(entries, {"trained_1": entries**-0.5}, measured, -0.5)
    left, right = figure.axes
    assert right.lines[0].get_ydata() == pytest.approx(-0.5)
    assert bars(right)[0] == pytest.approx(np.array([[200, -0.5], [800, -0.5]]))
    assert left.get_legend_handles_labels()[1] == ["trained, $w = p$"]


def test_constants_stand_beside_the_others():
    found = [figures.Constants(1.5, [2.0, 1.3], 1.9, 0.8), figures.Constants(2.0, [2.5, 1.5], 4.0, 0.8)]
    figure = figures.draw_constants([1, 2], found)
    levels = [line.get_ydata()[0] for line in figure.axes[0].lines[1:]]
    assert levels == [1.9, 1, 0.8]
    assert figure.axes[1].lines[0].get_ydata() == pytest.approx([2.5, 1.5])
    with pytest.raises(ValueError, match="at least one exponent"):
        figures.draw_constants([1], [])


def test_streams_have_shares_by_bin_and_theory_where_there_is_one():
    by_age = {
        "outer_products": ([0.9, 0.5], [0.01, 0.01], [0.88, 0.52]),
        "newest": ([1.0, 0.1], [0, 0.02], None),
    }
    figure = figures.draw_streams((["0", "1"], by_age), (["1", "2 to 3"], by_age))
    left, right = figure.axes
    assert [y for _, y in bars(left)[1]] == [1.0, 0.1]
    assert [line.get_ydata().tolist() for line in left.lines if line.get_marker() == "None"][-1:] != []
    assert [label.get_text() for label in right.get_xticklabels()] == ["1", "2 to 3"]
    alone = figures.draw_stream(["0", "1"], by_age, "age")
    assert alone.axes[0].get_xlabel() == "age"


def test_passes_have_a_line_of_the_power_through_the_first_curve():
    found = {
        "$d = 20$": ([1, 10, 100], [0.5, 0.2, 0.1], [0, 0, 0]),
        "$d = 40$": ([1, 10], [0.4, 0.1], [0, 0]),
    }
    (ax,) = figures.draw_passes(found, -0.5).axes
    (line,) = (line for line in ax.lines if line.get_ls() == ":")
    assert line.get_ydata() == pytest.approx([0.2 * 10**0.5, 0.2, 0.2 / 10**0.5])
    assert ax.get_legend_handles_labels()[1] == list(found)
    with pytest.raises(ValueError, match="at least one curve"):
        figures.draw_passes({}, -0.5)


def test_bins_are_named_by_their_ends():
    assert figures.places(((0, 0), (2, 3), (16, None))) == ["0", "2 to 3", "16 on"]
