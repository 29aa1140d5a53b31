"""Explicit norm and loss near the critical load against the saddle point that they expand."""

import math

import pytest
from scipy import integrate, special, stats

from assocmem.theory.crossover import crossover, edge_shift, ridge_at_norm
from assocmem.theory.ridgeless import critical_load, hinge_moments, sat_edge, sat_laws, solve_unsat, tail_mean
from assocmem.theory.scalar import solve_scalar


@pytest.mark.parametrize("r", [0.02, 0.15, 0.5])
@pytest.mark.parametrize("beta", [3.0, 100.0])
def test_without_a_ridge_it_is_the_saddle_point_just_above(r, beta):
    load = critical_load(r) * (1 + 1e-6)
    law, exact = crossover(load, r, 0.0), solve_unsat(load, r, beta)
    assert law.nu == pytest.approx(exact.nu, rel=0.03)
    assert pytest.approx(exact.chi / exact.nu, rel=1e-3) == law.M
    assert law.loss == pytest.approx(exact.loss, rel=1e-3)


def test_the_error_falls_as_one_over_the_norm():
    far = []
    for excess in (1e-5, 1e-6):
        load = critical_load(0.15) * (1 + excess)
        exact = solve_unsat(load, 0.15, 30.0)
        far.append((abs(crossover(load, 0.15, 0.0).nu / exact.nu - 1), exact.nu))
    assert far[1][0] / far[0][0] == pytest.approx(far[0][1] / far[1][1], rel=0.3)


@pytest.mark.parametrize("excess", [-1e-3, -1e-4, 0.0, 1e-6])
def test_with_a_ridge_it_holds_on_both_sides(excess):
    load = critical_load(0.15) * (1 + excess)
    law, exact = crossover(load, 0.15, 1e-12), solve_scalar(load, 0.15, beta=30.0, ridge=1e-12)
    assert law.nu == pytest.approx(exact.nu, rel=2e-3)
    assert law.loss == pytest.approx(exact.loss, rel=2e-3)
    assert pytest.approx(exact.chi / exact.nu, rel=2e-3) == law.M


def test_those_given_up_make_up_for_the_excess_load():
    r, load = 0.3, critical_load(0.3) * (1 + 1e-5)
    law = crossover(load, r, 0.0)
    tau = float(tail_mean(r)) - law.M
    assert hinge_moments(tau)[1] == pytest.approx(1 / critical_load(r) - 1 / load, rel=1e-9)
    assert law.given_up == pytest.approx(special.ndtr(tau))
    assert tau == pytest.approx(sat_edge(1 / (1 / critical_load(r) - 1 / load)), rel=1e-9)


def test_below_only_the_distance_over_the_root_of_the_ridge_counts():
    inverse = 1 / critical_load(0.15)
    laws = [crossover(1 / (inverse + 60 * math.sqrt(ridge)), 0.15, ridge) for ridge in (1e-8, 1e-14)]
    assert pytest.approx(laws[1].M, rel=1e-6) == laws[0].M
    assert laws[0].loss == pytest.approx(laws[1].loss, rel=1e-6)
    assert laws[0].nu * 1e3 == pytest.approx(laws[1].nu, rel=1e-6)


def test_the_ridge_at_a_norm_is_that_of_the_saddle_point():
    far = []
    for ridge in (1e-6, 1e-10, 1e-16):
        exact = solve_scalar(0.28, 0.15, beta=30.0, ridge=ridge)
        far.append(abs(math.log(ridge_at_norm(0.28, 0.15, exact.nu) / ridge)))
        laws = sat_laws(0.28, 0.15)
        assert exact.loss == pytest.approx(ridge * exact.nu / (laws.rho - laws.kappa), rel=2e-3)
    assert far[2] < 1e-3


def test_the_edge_shift_is_its_integral():
    rho = float(sat_edge(0.2))
    h = [
        integrate.quad(lambda g, p=p: (rho - g) * math.log(rho - g) ** p * stats.norm.pdf(g), -12, rho)[0]
        for p in (0, 1)
    ]
    assert edge_shift(0.2) == pytest.approx(h[1] / h[0], rel=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.4, 0.15, 1e-8), r"load = 0.4: must be above 0 and below 0.2944\d* at r = 0.15"),
        ((0.2, 0.15, 0.0), r"load = 0.2: must be above 0.2944\d* and below 0.2944\d* at r = 0.15"),
        ((0.29, 0.15, -1.0), "ridge = -1.0: must be a finite number >= 0"),
        ((0.29, 1.0, 1e-8), "r = 1.0: must be in"),
        ((math.nan, 0.15, 1e-8), "load = nan: must be"),
    ],
)
def test_points_out_of_reach_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        crossover(*arguments)


def test_far_below_it_is_still_a_solution_of_its_equations():
    law = crossover(0.05, 0.15, 1e-12)
    assert law.given_up == 0
    lacking = 1 / critical_load(0.15) - 1 / 0.05
    assert 2 * law.M * law.ridge * law.nu == pytest.approx(-lacking, rel=1e-9)


def test_the_smallest_ridges_are_taken():
    law = crossover(critical_load(0.15) * (1 + 1e-7), 0.15, 1e-300)
    assert law.nu == pytest.approx(crossover(critical_load(0.15) * (1 + 1e-7), 0.15, 0.0).nu)


def test_a_norm_has_to_be_positive():
    with pytest.raises(ValueError, match="nu = -5.0: must be positive"):
        ridge_at_norm(0.28, 0.15, -5.0)
