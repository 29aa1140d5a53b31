"""The potential as sums over nodes, against the panels of the solver, and its shape."""

import numpy as np
import pytest

from assocmem.theory.potential_shape import (
    channel_averages,
    curvature,
    envelope_on_nodes,
    exponent_by_differences,
    potential_on_nodes,
    reduced_by_search,
    tail_average_on_nodes,
)
from assocmem.theory.scalar import reduced_potential, saddle_potential, scalar_tail_average, solve_scalar

AT = {"load": 0.6, "r": 0.15, "beta": 3.0, "ridge": 0.01}


@pytest.mark.parametrize("nu", [0.01, 1.3, 200.0])
def test_nodes_and_panels_agree(nu):
    assert tail_average_on_nodes(nu, 0.15, 3.0) == pytest.approx(
        scalar_tail_average(nu, 0.15, 3.0)[0], rel=1e-12
    )
    for chi in (1e-3, 2.0, 1e5):
        expected = saddle_potential(nu, chi, **AT)
        assert potential_on_nodes(nu, chi, **AT) == pytest.approx(expected, rel=1e-11)


def test_the_search_finds_what_the_equation_of_chi_gives():
    for nu in (0.2, 2.0, 60.0):
        assert reduced_by_search(nu, **AT) == pytest.approx(reduced_potential(nu, **AT), abs=1e-11)


def test_the_power_by_differences_is_that_of_the_proof():
    c = tail_average_on_nodes(0.6, 0.15, 3.0)
    powers = [exponent_by_differences(0.6, chi, c) for chi in (0.01, 1.0, 1e4)]
    np.testing.assert_allclose(
        powers, [channel_averages(0.6, x, c)["exponent"] for x in (0.01, 1.0, 1e4)], 1e-5
    )
    assert 2 > powers[0] > powers[1] > powers[2] > 0


def test_slopes_of_the_envelope_are_averages():
    """``dM/dchi = -E A^2 / 2`` (eq. ``M_chi_derivative``), and the averages solve the second equation."""
    s = solve_scalar(**AT)
    means = channel_averages(s.nu, s.chi, s.c)
    h = 1e-5
    slope = (envelope_on_nodes(s.nu, s.chi + h, s.c) - envelope_on_nodes(s.nu, s.chi - h, s.c)) / (2 * h)
    assert slope == pytest.approx(-means["AA"] / 2, rel=1e-7)
    assert s.nu**2 == pytest.approx(AT["load"] * s.chi**2 * means["AA"], rel=1e-9)


def test_the_curvature_is_that_of_a_parabola_far_out():
    assert curvature(500.0, **AT) == pytest.approx(AT["ridge"], rel=1e-4)
    assert curvature(1.0, **AT) > 10 * AT["ridge"]


def test_ranges_are_told():
    with pytest.raises(ValueError, match="nu"):
        tail_average_on_nodes(1e3, 0.15, 1e3)
    with pytest.raises(ValueError, match="chi"):
        envelope_on_nodes(1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="chi"):
        exponent_by_differences(1.0, 1e30, 0.0)
    with pytest.raises(ValueError, match="step"):
        curvature(1.0, **AT, step=0.9)
