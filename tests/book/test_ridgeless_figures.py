"""The figures of the critical load: curves are the theory's, have a key, and can be told apart."""

import numpy as np
import pytest

from assocmem.book.plotting import ABOVE, AT, BELOW
from assocmem.book.ridgeless_figures import (
    draw_critical_load,
    draw_crossover,
    draw_hinges,
    draw_ridge_paths,
    draw_smoothings,
    power_of_ten,
)
from assocmem.theory.ridgeless import critical_load, solve_unsat, tail_mean
from assocmem.theory.scalar import solve_scalar

R, CRITICAL = 0.15, float(critical_load(0.15))


def keys(ax):
    """What the legend of a panel names."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def looks(ax):
    """Colour, dash and marker of each line that has a name."""
    named = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    return [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in named]


@pytest.mark.parametrize(("x", "text"), [(1e-8, "$10^{-8}$"), (0.1, "$10^{-1}$"), (2e-7, "$2e-07$")])
def test_powers_of_ten_are_written_as_such(x, text):
    assert power_of_ten(x) == text


def test_the_tail_and_the_curve_are_marked_at_the_fraction():
    tail, curve = draw_critical_load(R).axes
    marks = [line.get_xdata()[0] for line in tail.get_lines()[1:]]
    assert marks[1] == pytest.approx(float(tail_mean(R))) and marks[0] < marks[1]
    assert curve.get_lines()[1].get_ydata()[0] == pytest.approx(CRITICAL)
    assert len(keys(curve)) == 4


def test_hinges_end_at_the_limits():
    below, above = draw_hinges(0.95 * CRITICAL, R, 30.0, [1e-2, 1e-4], [1e-3, 1e-6]).axes
    for ax in (below, above):
        assert len(keys(ax)) == 3 and len(set(looks(ax))) == 3
        *_, last, limit = ax.get_lines()
        np.testing.assert_allclose(last.get_ydata(), limit.get_ydata(), atol=0.35)


def test_paths_have_the_colours_of_the_phases():
    ridges = 10.0 ** -np.arange(0, 13.0, 2)
    loads = (0.95 * CRITICAL, CRITICAL, 1.36 * CRITICAL)
    paths = {load: solve_scalar(load, R, beta=30.0, ridge=ridges) for load in loads}
    norm, loss = draw_ridge_paths(R, paths, solve_unsat(loads[-1], R, 30.0)).axes
    assert [line.get_color() for line in norm.get_lines()[:3]] == [BELOW, AT, ABOVE]
    np.testing.assert_array_equal(loss.get_lines()[0].get_ydata(), paths[loads[0]].loss)
    assert len(keys(norm)) == len(keys(loss)) == 5


def test_smoothings_meet_the_explicit_law_at_the_boundary():
    norm, loss = draw_smoothings(R, [3.0, 30.0]).axes
    assert len(set(looks(norm))) == 3
    soft, hard, law = (line.get_ydata() for line in loss.get_lines())
    np.testing.assert_allclose(soft[0], law[0], rtol=1e-3)
    np.testing.assert_allclose(hard[0], law[0], rtol=1e-3)


def test_the_explicit_law_of_the_transition_is_named_once():
    (ax,) = draw_crossover(R, 30.0, [1e-6, 1e-10, 1e-12]).axes
    assert keys(ax) == [
        "$\\lambda =$ $10^{-6}$",
        "$\\lambda =$ $10^{-10}$",
        "explicit law",
        "$\\lambda =$ $10^{-12}$",
        "critical load",
    ]
