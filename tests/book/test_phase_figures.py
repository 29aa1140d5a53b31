"""The figures of trained memories: what lies where, and that every mark has a key."""

import numpy as np
import pandas as pd
import pytest

from assocmem.book.phase_figures import (
    PHASES,
    Trained,
    draw_boundaries,
    draw_lengths,
    draw_phase_map,
    draw_slice,
    draw_slice_laws,
)
from assocmem.book.plotting import ABOVE, BELOW
from assocmem.experiments.tail_average.phase import LEVELS, ByDimension, Map
from assocmem.theory.finite_dimension import LawsAtSize
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import solve_scalar

HERE = [Trained(0.2, 0.15, 0.01, 30.0), Trained(0.4, 0.15, 0.8, 0.9)]


def points(load):
    """Two boundaries, measured and predicted."""
    return ByDimension(
        np.array([20, 40]), np.array([load, load]), np.array([0.01, 0.01]), np.array([0.3, 0.3])
    )


def test_maps_have_the_colours_of_the_phases():
    assert PHASES(0.0)[:3] == pytest.approx([int(BELOW[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    assert PHASES(1.0)[:3] == pytest.approx([int(ABOVE[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    grid = Map(20, np.array([0.1, 0.3, 0.5]), np.array([0.1, 0.2]), np.ones((2, 3)), np.ones((2, 3)))
    figure = draw_phase_map(grid, HERE, {0.15: points(0.31)})
    curve, circles = figure.axes[0].get_lines()
    np.testing.assert_allclose(curve.get_xdata(), critical_load(curve.get_ydata()))
    assert circles.get_xdata()[0] == 0.31
    assert len(figure.legends[0].get_texts()) == 3
    assert len(figure.axes) == 4  # two maps, two keys of colours


def test_boundaries_are_drawn_in_per_cent_of_the_critical_load():
    critical = float(critical_load(0.15))
    figure = draw_boundaries({0.15: points(1.03 * critical)}, {0.15: points(critical)})
    (ax,) = figure.axes
    assert ax.get_lines()[0].get_ydata()[0] == pytest.approx(3.0)
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 5


def test_the_slice_has_theory_and_memories():
    loads = np.array([0.2, 0.28, 0.4])
    theory = solve_scalar(loads, 0.15, beta=30.0, ridge=1e-7)
    stored = pd.DataFrame({"d": [100, 200], "seed": 0, "load": 0.2, "loss": 0.01, "nu": 30.0})
    loss, inverse = draw_slice(loads, theory, 0.294, stored, HERE, 30).axes
    np.testing.assert_array_equal(inverse.get_lines()[0].get_ydata(), 1 / theory.nu)
    assert len(loss.get_legend().get_texts()) == 5


def test_lengths_move_signals_and_leave_margins():
    L = np.array([0.9, 1.1])
    (ax,) = draw_lengths(L, 0.05 + 1.5 * L, [0.05, 0.05], edge=0.05, tail=1.5).axes
    dots, line, crosses, flat = ax.get_lines()
    np.testing.assert_allclose(dots.get_ydata(), line.get_ydata())
    np.testing.assert_allclose(crosses.get_ydata(), flat.get_ydata())


def test_laws_of_the_slice_are_predicted_and_stored():
    signal = np.linspace(1.5, 2.5, 400)
    laws = dict.fromkeys((50, 100, 200), LawsAtSize(signal, signal - 1.5, signal / 2.6, 1e-3, 1.5))
    rows = [
        {"d": d, "load": 0.28}
        | {f"{kind}_{k}": p for kind in ("signal", "margin", "percentile") for k, p in enumerate(LEVELS)}
        for d in laws
    ]
    figure = draw_slice_laws(pd.DataFrame(rows), 0.28, 0.15, laws, {200: [100.0]}, 30.0)
    assert [len(ax.get_legend().get_texts()) for ax in figure.axes] == [5, 3, 5]
