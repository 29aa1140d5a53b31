"""The cost of unequal lengths from the level, against simulation and in its limits."""

import math

import pytest

from assocmem.experiments.first_place.surrogates import pooled_with_norms
from assocmem.theory.kinematics import critical_dimension, large_size
from assocmem.theory.unequal_lengths import length_cost


@pytest.mark.parametrize("n, d", [(20, 7), (60, 16), (300, 43)])
def test_the_cost_is_that_of_simulated_projections(n, d):
    simulated, error = pooled_with_norms(n, d, draws=6000, seed=1)
    assert length_cost(n, d) == pytest.approx(simulated[1], abs=4 * error[1] + 0.01)


def test_equal_lengths_cost_nothing_and_small_differences_their_variance():
    assert length_cost(1000, 1e12) == pytest.approx(0, abs=1e-9)
    assert length_cost(1000, 4e5) == pytest.approx(length_cost(1000, 2e5) / 2, rel=1e-3)


def test_longer_targets_differ_less_and_more_competitors_notice_more():
    assert length_cost(300, 20) > length_cost(300, 43) > length_cost(300, 200) > 0
    assert length_cost(3000, 43) > length_cost(300, 43)


def test_the_cost_rises_and_falls_along_the_transition():
    costs = [length_cost(n, critical_dimension(n)) for n in (20, 200, 1e4, 1e6)]
    assert costs[0] < costs[1] > costs[2] > costs[3]


@pytest.mark.parametrize("n", [1e4, 1e8, 1e12])
def test_far_away_lengths_act_as_more_competitors(n):
    log, d = math.log(n), 1e8
    more = large_size(log).level ** 4 / (4 * d)  # by so much the logarithm of their number grows
    slope = (large_size(log + 0.01).mean - large_size(log - 0.01).mean) / 0.02
    rise = 2 * large_size(log).level ** 2 / d  # and the signal's own length
    assert length_cost(n, d) == pytest.approx(slope * more + rise, rel=0.05)
    assert 0.6 < length_cost(n, d) * d / log**2 < 2  # the limit is 2, and far


@pytest.mark.parametrize("n, d, name", [(2, 9, "n"), (1e13, 9, "n"), (30, 3, "d"), (30, math.inf, "d")])
def test_sizes_without_an_expansion_are_refused(n, d, name):
    with pytest.raises(ValueError, match=f"{name} = .*: must be in "):
        length_cost(n, d)
