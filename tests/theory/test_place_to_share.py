"""The two levels of a tail, against simulated order statistics, projections and every limit there is."""

import math

import numpy as np
import pytest
from scipy import optimize

from assocmem.theory.kinematics import large_size, statistical_dimension
from assocmem.theory.place_to_share import (
    crossover_shift,
    local_coefficient,
    log_log_coefficient,
    place_from_levels,
    two_levels,
)
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.second_order import local_slope

TEN = math.log(10)


def place(n, k, **options):
    return place_from_levels(math.log(n), math.log(k), **options)


@pytest.mark.parametrize(
    ("n", "k"),
    [(100, 1), (100, 4), (100, 32), (1000, 2), (1000, 16), (1000, 499), (1e6, 8), (1e9, 32), (1e12, 4096)],
)
def test_the_levels_have_the_simulated_place(n, k):
    assert place(n, k) == pytest.approx(statistical_dimension(n, k), abs=0.003, rel=3e-4)


@pytest.mark.parametrize("n", [1e4, 1e8, 1e12])
def test_first_place_is_that_of_the_quadrature_and_better_for_more_pairs(n):
    assert abs(place(n, 1) - statistical_dimension(n)) < 0.1 / math.log(n) ** 2


@pytest.mark.parametrize("digits", [100, 4000, 10**5])
def test_first_place_is_that_of_the_expansion_at_sizes_without_end(digits):
    log_n = digits * TEN
    assert abs(place_from_levels(log_n) - large_size(log_n).mean) < 0.3 / log_n**2 + 1e-13 * log_n


@pytest.mark.parametrize("r", [1e-6, 0.01, 0.15, 0.5])
def test_a_fixed_share_of_very_many_is_the_law_of_the_paper(r):
    log_n = 4000 * TEN
    assert place_from_levels(log_n, log_n + math.log(r)) == pytest.approx(1 / critical_load(r), rel=1e-10)


def test_fluctuations_matter_as_one_over_the_logarithm_at_first_place_and_not_for_long_tails():
    for log_n in (30.0, 300.0):
        gained = place_from_levels(log_n, fluctuations=False) - place_from_levels(log_n)
        assert gained == pytest.approx(1 / log_n, rel=0.25)
    assert place(1e9, 1e6, fluctuations=False) - place(1e9, 1e6) == pytest.approx(0, abs=1e-4)


def squared_distance(g, k):
    """By a solver that knows nothing of levels: rise and falls as free numbers."""
    rivals = np.sort(g[1:])[::-1]

    def bill(x):
        return x @ x

    def reached(x):
        return g[0] + x[0] - np.sort(rivals - x[1:])[::-1][:k].mean()

    start = np.zeros(len(g))
    start[0] = max(0.0, rivals[:k].mean() - g[0])
    rule = {"type": "ineq", "fun": reached}
    return optimize.minimize(bill, start, constraints=[rule], method="SLSQP").fun


@pytest.mark.parametrize("k", [1, 3])
def test_projected_columns_cost_what_the_levels_say(k):
    rng = np.random.default_rng(5)
    bills = [squared_distance(rng.standard_normal(7), k) for _ in range(120)]
    # seven scores are few for an expansion, which is 0.02 off
    assert place(7, k) == pytest.approx(np.mean(bills), abs=4 * np.std(bills) / 120**0.5 + 0.03)


def test_longer_tails_ask_for_less_and_more_pairs_for_more():
    by_tail = [place_from_levels(50.0, x) for x in np.linspace(0, 49, 12)]
    assert np.all(np.diff(by_tail) < 0)
    by_size = [place_from_levels(x, 2.0) for x in np.geomspace(4, 9000, 12)]
    assert np.all(np.diff(by_size) > 0)


def test_nothing_jumps_where_one_way_of_computing_gives_way_to_another():
    # quantiles below a share of exp(-600), levels above 15, and distances of the levels that are close
    for log_n, log_k in ((600.0, 0.0), (114.0, 0.0), (120.0, 3.0)):
        around = [place_from_levels(log_n + x, log_k) for x in np.linspace(-3, 3, 7)]
        assert np.ptp(np.diff(around, 2)) < 1e-3
    along = [place_from_levels(30.0, x) for x in np.linspace(2.0, 5.0, 13)]
    assert np.ptp(np.diff(along, 3)) < 0.03


def test_a_tail_is_taken_for_infinite_without_a_jump():
    below, above = (place_from_levels(60.0, math.log(1e9) + x) for x in (-1e-9, 1e-9))
    assert above == pytest.approx(below, abs=1e-7)


def test_the_levels_balance():
    n, k = 1e6, 10
    found = two_levels(math.log(n), math.log(k), -0.5)
    a, b = found.lower, found.upper
    g = np.linspace(a, 12, 400001)
    falls = np.clip(g - a, 0, b - a) * np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi)
    total = (n - 1) * np.trapezoid(falls, g)
    assert total == pytest.approx(found.rise, rel=1e-6)
    assert found.rise == pytest.approx(k * (b - a), rel=1e-12)
    beyond = (n - 1) * np.trapezoid(np.maximum(g - b, 0) * np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi), g)
    # the signal ends at the mean of the k best as they are then: those above b, and the rest at a
    assert -0.5 + found.rise == pytest.approx(a + beyond / k, rel=1e-6)
    assert a < found.expected < b


def test_as_many_fall_as_the_limit_says():
    log_n = 4000 * TEN
    for ratio in (0.5, 2.0, 20.0):
        z = 2 / ratio
        found = two_levels(log_n, math.log(ratio * log_n))
        moved = math.exp(found.log_moved)
        assert moved == pytest.approx(2 * log_n / -math.expm1(-z), rel=0.01)
        assert found.untied == pytest.approx(math.exp(-z), rel=0.01)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 4.0, 30.0])
def test_the_scaling_function_is_reached_with_its_error_term(ratio):
    z = 2 / ratio
    leading = -1.5 * (log_log_coefficient(z) + 3)
    rest = []
    for digits in (400, 4000, 40000):
        log_n = digits * TEN
        moved = place_from_levels(log_n, math.log(ratio * log_n)) - place_from_levels(log_n)
        error = moved - crossover_shift(z)
        assert abs(error) < 4 * math.log(2 * log_n) / log_n
        rest.append((error - leading * math.log(2 * log_n) / log_n) * log_n)
    # what the error term leaves is of the order 1 / log n, with a constant that settles
    assert abs(rest[2] - rest[1]) < 0.2 * abs(rest[1] - rest[0]) + 0.02
    assert abs(rest[2]) < 12


def test_the_scaling_function_has_its_limits():
    small, large = 1e-9, 50.0
    assert crossover_shift(small) == pytest.approx(2 * math.log(small), abs=1e-8)
    assert crossover_shift(large) == pytest.approx(0, abs=1e-20)
    assert log_log_coefficient(small) == pytest.approx(-1, abs=1e-8)
    assert log_log_coefficient(large) == pytest.approx(-3, abs=1e-18)
    z = np.geomspace(1e-12, 1e60, 200)
    assert np.all(np.diff(crossover_shift(z)) >= 0)
    assert crossover_shift(0.3) == pytest.approx(crossover_shift(np.array([0.3]))[0])
    assert np.all(np.diff(log_log_coefficient(z)) <= 0)


def test_the_coefficient_is_the_derivative_of_the_scaling_function():
    z, step = 0.8, 1e-5
    slope = (crossover_shift(z * (1 + step)) - crossover_shift(z * (1 - step))) / (2 * step)
    assert slope - 3 == pytest.approx(log_log_coefficient(z), abs=1e-8)


def test_the_local_coefficient_goes_from_first_place_to_a_share():
    assert local_coefficient(500.0) == pytest.approx(local_slope(500.0), abs=1e-3)
    for ratio in (0.3, 1.0, 20.0):
        found = local_coefficient(1e6, math.log(ratio * 1e6))
        assert found == pytest.approx(log_log_coefficient(2 / ratio), abs=2e-4)


@pytest.mark.parametrize(
    ("log_n", "log_k", "named"),
    [
        (1.0, 0.0, "log_n"),
        (2e9, 0.0, "log_n"),
        (math.nan, 0.0, "log_n"),
        (10.0, -0.1, "log_k"),
        (10.0, 9.5, "log_k"),
        (10.0, math.inf, "log_k"),
        (True, 0.0, "log_n"),
    ],
)
def test_sizes_out_of_range_are_refused(log_n, log_k, named):
    with pytest.raises(ValueError, match=f"^{named} = "):
        place_from_levels(log_n, log_k)


def test_a_signal_above_the_mean_of_the_tail_is_refused():
    with pytest.raises(ValueError, match="below the mean of the tail"):
        two_levels(math.log(100), math.log(49), 2.0)
    with pytest.raises(ValueError, match=r"signal = -9.5"):
        two_levels(30.0, 1.0, -9.5)


@pytest.mark.parametrize("function", [crossover_shift, log_log_coefficient])
@pytest.mark.parametrize("z", [0.0, -1.0, math.nan, math.inf, "1", []])
def test_a_z_that_is_none_is_refused(function, z):
    with pytest.raises(ValueError, match="^z = "):
        function(z)
