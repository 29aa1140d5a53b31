"""The figures of outer products show the numbers they are given, and a key to all of them."""

import numpy as np
import pytest

from assocmem.book import outer_product_figures as figures
from assocmem.experiments.explicit.column_scores import STATISTICS, picture_columns, simulated_columns
from assocmem.theory import outer_products as cmm


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_each_statistic_has_a_panel():
    simulated = simulated_columns(5, 3, 200, 1)
    gaussian = picture_columns(5, 3, 200, np.random.default_rng(2))
    for count in (1, 2):
        figure = figures.draw_columns(dict(list(STATISTICS.items())[:count]), simulated, simulated, gaussian)
        assert len(figure.axes) == count
        assert labels(figure.axes[0]) == ["simulated", "exact law", "Gaussian picture"]


def test_the_plane_has_every_key_and_the_line_of_this_memory():
    figure = figures.draw_plane(np.array([0.1, 0.2]), np.array([1.3, 1.4]), 1000, 200)
    (ax,) = figure.axes
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0.1, 0.2])
    here = 200**2 / (1000 * np.log(1000))
    sums = [sum(line.get_xydata()[0]) ** 2 for line in ax.lines[1:4]]
    np.testing.assert_allclose(sums, [2, here, 8])
    assert f"ratio {here:.3g}, this memory" in labels(ax)


def test_the_curves_of_variances_are_exact():
    found = np.array([[2.0, 1.5], [1.4, 1.2]])
    figure = figures.draw_variances([100, 1000], [40.0, 200.0], found, 0 * found)
    curve = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(curve[0], cmm.signal_variance(100, 40) * 40**2 / 100)
    assert len(labels(figure.axes[0])) == 5


def test_success_tells_points_from_lines_and_sizes_from_each_other():
    ratios = np.array([6.0, 10.0])
    outcomes = {n: (ratios, np.array([1, 3]), np.array([4, 4])) for n in (10, 20, 30)}
    curves = {n: (ratios, np.array([0.2, 0.8])) for n in outcomes}
    figure = figures.draw_success(outcomes, curves, {10: curves[10]})
    (ax,) = figure.axes
    keys = [
        text.get_text() for key in ax.get_children() if hasattr(key, "get_texts") for text in key.get_texts()
    ]
    assert sorted(keys) == sorted(
        ["$n = 10$", "$n = 20$", "$n = 30$", "simulated", "exact law", "union bound"]
    )


def test_the_other_figures_have_a_key():
    sizes = np.array([100, 1000])
    half = figures.draw_half(sizes, [9.0, 8.0], np.array([2.0, 3.0]), [6.0, 7.0])
    assert labels(half.axes[0]) == ["exact law", "Gaussian picture", "two-term expansion", "limit 8"]
    shares = figures.draw_percentiles({0.25: np.array([0.4, 0.9]), 1.0: np.array([0.2, 0.6])})
    assert labels(shares.axes[0]) == ["load 0.25", "load 1"]


def test_a_curve_for_each_number_of_pairs_is_needed():
    with pytest.raises(KeyError):
        figures.draw_success({10: ([6.0], [1], [2])}, {}, {})
