"""What the figures on first place show."""

import math

import numpy as np
import pandas as pd
import pytest

from assocmem.book import first_place_figures as figures
from assocmem.experiments.first_place.norm_peak import grid_peaks, mean_line
from assocmem.experiments.transitions import Transition
from assocmem.theory.kinematics import pool, statistical_dimension


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def counts(n):
    d = np.arange(-1, 2) + round(np.sqrt(n * statistical_dimension(n)))
    return d, np.array([1, 5, 9]), np.array([10, 10, 10])


def found(n):
    return Transition(statistical_dimension(n) - 0.2, 0.05, 0.9, 0.1)


@pytest.fixture
def sweep():
    """Norms of one instance at each of eight dimensions, with a peak at twice the dimension."""
    rows = [(d, 0, n, 1.0 + (n == 2 * d)) for d in range(8, 24, 2) for n in range(d, 3 * d)]
    return pd.DataFrame(rows, columns=["d", "seed", "n", "nu"])


def test_one_arrow_for_the_signal_and_for_each_competitor_of_its_pool():
    rivals = np.sort(np.random.default_rng(1).standard_normal(50))[::-1]
    _, ax = figures.draw_pool(-0.3, rivals)
    assert len(ax.texts) == 1 + pool(-0.3, rivals)[1]


def test_each_size_has_a_name_beside_the_prediction():
    _, (above, _) = figures.draw_transition({30: counts(30), 60: counts(60)}, {n: found(n) for n in (30, 60)})
    assert labels(above) == ["$n=30$", "$n=60$", "kinematic", "theorem: 2"]


def test_laws_of_other_constants_start_where_the_true_one_does():
    _, ax = figures.draw_growth({n: found(n) for n in (30, 100)}, (1.6, 2.5))
    true, low, high = (line.get_ydata() for line in ax.lines[:3])
    assert low[0] == high[0] == true[0]
    assert low[-1] < true[-1] < high[-1]


@pytest.mark.parametrize("draw", [figures.draw_lines_and_cone, figures.draw_projections])
def test_the_cone_opens_by_a_third_of_the_plane(draw):
    _, ax = draw()
    wedge = ax.patches[0]
    assert wedge.theta2 - wedge.theta1 == 120


def test_a_signal_rises_to_the_tail_average():
    rivals = np.sort(np.random.default_rng(2).standard_normal(16))[::-1]
    _, ax = figures.draw_two_levels(-1.2, rivals, 4)
    _, after, _, signal = (line.get_ydata() for line in ax.lines[:4])
    assert signal[0] == pytest.approx(np.sort(after)[::-1][:4].mean())


def test_norms_of_few_dimensions_and_peaks_of_all(sweep):
    peaks = grid_peaks(sweep)
    *means, free = mean_line(peaks)
    _, (above, below) = figures.draw_norms(sweep, peaks, means, (mean_line(peaks, slope=-3.0)[-1], free))
    assert len(labels(above)) == figures.MOST_CURVES + 1
    assert labels(above)[0] == "$d = 8$"
    assert sum(line.get_marker() == "." for line in below.lines) == len(peaks)


def test_the_law_has_certified_places_and_peaks(sweep):
    *means, _ = mean_line(grid_peaks(sweep))
    _, ax = figures.draw_law(means, {n: found(n) for n in (30, 100)})
    assert {"certified", "peaks of the norm", "kinematic value"} <= set(labels(ax))


def test_comparisons_are_drawn_with_the_polygon_below():
    points = np.random.default_rng(3).standard_normal((2, 40))
    _, axes = figures.draw_sides(points, points, points, ("(a)", "(b)", "(c)"))
    np.testing.assert_array_equal(axes[2].lines[0].get_xydata().T, points)


def test_the_hidden_target_lies_among_the_others():
    _, ax = figures.draw_hidden(5)
    ring, hidden = ax.lines[0].get_xydata(), ax.lines[2].get_xydata()[0]
    sides, toward = np.diff(ring, axis=0), hidden - ring[:-1]
    turns = sides[:, 0] * toward[:, 1] - sides[:, 1] * toward[:, 0]
    corners = sides[:, 0] * np.roll(sides, -1, 0)[:, 1] - sides[:, 1] * np.roll(sides, -1, 0)[:, 0]
    assert (corners > 0).all()  # convex, so that it is the edge of all averages
    assert (turns > 0).all()


def test_weights_keep_the_mass_of_a_density_and_move_its_mean():
    _, ax = figures.draw_tilt(3 * np.log(10), 0.3)
    g, density = ax.lines[1].get_data()
    mean = ax.lines[3].get_xdata()[0]
    assert np.trapezoid(density, g) == pytest.approx(1, abs=0.01)
    assert np.trapezoid(g * density, g) == pytest.approx(mean, abs=0.02)


def test_numbers_of_tables_are_written_as_a_reader_would():
    assert figures.scientific(1.42e-14) == r"1.4 \times 10^{-14}"
    assert figures.scientific(8e-9, 0) == r"8 \times 10^{-9}"
    assert figures.dimension(21.8936) == "21.89"
    assert figures.dimension(6699720.4) == "6,699,720"


def test_weights_are_drawn_in_decreasing_order_and_a_search_floor_by_floor():
    stored, computed = np.arange(16.0).reshape(4, 4) / 100, np.full((4, 4), 0.5)
    told = [
        {"passes": p, "excess": 10.0 / p, "floor": floor}
        for p, floor in ((1, 1e-2), (2, 1e-2), (3, 1e-3), (5, 1e-3))
    ]
    _, (above, below) = figures.draw_floor(stored, computed, told)
    assert [len(line.get_ydata()) for line in above.lines] == [12, 12]  # the diagonal is left out
    assert all(np.all(np.diff(line.get_ydata()) <= 0) for line in above.lines)
    assert [line.get_xdata().tolist() for line in below.lines[:2]] == [[1, 2], [3, 5]]
    assert labels(below)[:2] == [r"floor $1.0 \times 10^{-2}$", r"floor $1.0 \times 10^{-3}$"]


@pytest.mark.parametrize(
    "x, words",
    [(0.0, "0"), (math.inf, r"$\infty$"), (1.5e-7, r"$1.5 \times 10^{-7}$"), (25, "25"), ("yes", "yes")],
)
def test_quantities_of_a_table_are_told(x, words):
    assert figures.told(x) == words
