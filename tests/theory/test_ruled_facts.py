"""What a fact costs that follows a rule: closed forms, brute force, limits."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr

from assocmem.theory.kinematics import pool, statistical_dimension
from assocmem.theory.ruled_facts import led_distance, ruled_cost


def of_two(lead, variance=1.0):
    """Two targets: half the squared part of ``g_2 - g_1`` that is positive."""
    scale = math.sqrt(1 + variance)
    a = lead / scale
    density = math.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
    return scale**2 / 2 * ((1 + a**2) * ndtr(-a) - a * density)


@pytest.mark.parametrize(
    ("m", "rel"), [(2, 1e-9), (12, 1e-9), (500, 1e-7), (20_000, 2e-6), (1_000_000, 3e-5)]
)
def test_without_a_lead_it_is_the_statistical_dimension(m, rel):
    assert led_distance(m, 0.0) == pytest.approx(statistical_dimension(m), rel=rel)
    cost = ruled_cost(m, 0.0)
    assert (cost.dimensions, cost.share) == (statistical_dimension(m), 0.0)


@pytest.mark.parametrize("lead", [-3.0, 0.0, 0.7, 4.0])
@pytest.mark.parametrize("variance", [0.5, 1.0, 2.5])
def test_two_targets_have_a_closed_form(lead, variance):
    assert led_distance(2, lead, variance) == pytest.approx(of_two(lead, variance), abs=1e-8)


@pytest.mark.parametrize(("m", "lead", "variance"), [(3, 1.0, 1.0), (20, 2.0, 1.5), (200, -1.0, 0.7)])
def test_distances_are_those_of_draws(m, lead, variance):
    rng = np.random.default_rng([1, m])
    drawn = []
    for _ in range(3000):
        signal = lead + math.sqrt(variance) * rng.standard_normal()
        rivals = np.sort(rng.standard_normal(m - 1))[::-1]
        level, count = pool(signal, rivals)
        drawn.append((level - signal) ** 2 + ((rivals[:count] - level) ** 2).sum() if count else 0.0)
    error = np.std(drawn) / math.sqrt(len(drawn))
    assert led_distance(m, lead, variance) == pytest.approx(np.mean(drawn), abs=4 * error)


def test_a_lead_saves_what_it_is_short_of():
    """The squared distance falls by twice the lift for each unit of lead; far behind, the lift is the lag."""
    for m in (2, 50, 3000):
        slopes = [led_distance(m, x - 0.5) - led_distance(m, x + 0.5) for x in (-15.0, 0.0, 3.0, 8.0)]
        assert all(a > b >= 0 for a, b in pairwise(slopes))
    assert led_distance(50, 20.0) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("m", [2, 3000])
def test_a_stronger_rule_costs_less(m):
    costs = [ruled_cost(m, q) for q in (0.0, 0.5, 2.0, 8.0)]
    assert all(a.dimensions > b.dimensions for a, b in pairwise(costs))
    assert all(a.share < b.share for a, b in pairwise(costs))
    assert costs[-1].dimensions < 0.01 * costs[0].dimensions


def test_the_best_share_is_the_best_of_many():
    grid = np.linspace(0, 0.99, 400)
    values = [of_two(1.5 * x) / (1 - x**2) for x in grid]
    cost = ruled_cost(2, 1.5)
    assert cost.dimensions == pytest.approx(min(values), rel=1e-4)
    assert cost.share == pytest.approx(grid[np.argmin(values)], abs=0.02)


def test_a_weak_rule_saves_by_its_square():
    """The first saving is quadratic in the strength, since the share that is worth while grows with it."""
    alone = statistical_dimension(300)
    saved = [alone - ruled_cost(300, q).dimensions for q in (0.1, 0.2)]
    assert saved[1] / saved[0] == pytest.approx(4, rel=0.03)


def test_signals_that_spread_save_less_or_as_much():
    assert ruled_cost(300, 2.0, 0.5).dimensions > ruled_cost(300, 2.0).dimensions


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: led_distance(1, 0.0), "m = 1: must be"),
        (lambda: led_distance(10**7, 0.0), "m = 10000000: must be at most 1000000"),
        (lambda: led_distance(5, math.nan), "lead = nan"),
        (lambda: led_distance(5, 0.0, 0.1), "variance = 0.1"),
        (lambda: ruled_cost(5, -1.0), "strength = -1.0"),
        (lambda: ruled_cost(5, 1.0, 4.0), "spread = 4.0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
