"""Simulated projections onto the cone of one key, against their optimality and the kinematic value."""

import math

import numpy as np
import pytest

from assocmem.experiments.first_place.cone_projections import (
    asked_dimensions,
    asked_of_one_vector,
    simulated_pools,
    tail_levels,
)
from assocmem.theory.kinematics import pool, statistical_dimension


def test_two_scores_are_pooled_as_often_as_they_are_in_the_wrong_order():
    found = simulated_pools(2, 50, np.random.default_rng(3))
    g = np.random.default_rng(3).standard_normal((50, 2))
    wrong = g[:, 1] > g[:, 0]
    np.testing.assert_array_equal(found[:, 0], wrong)
    np.testing.assert_allclose(found[:, 1], np.where(wrong, (g[:, 1] - g[:, 0]) ** 2 / 2, 0), atol=1e-12)


def test_no_point_of_the_cone_is_nearer():
    rng = np.random.default_rng(1)
    g, found = (
        np.random.default_rng(5).standard_normal((4, 6)),
        simulated_pools(6, 4, np.random.default_rng(5)),
    )
    for column, (count, cost) in zip(g, found, strict=True):
        for level in column.max() + np.linspace(-3, 1, 200):  # the nearest point is a pool at some level
            moved = (level - column[0]) ** 2 + (np.maximum(column[1:] - level, 0) ** 2).sum()
            assert moved >= cost - 1e-12
        for _ in range(50):
            point = rng.standard_normal(6)
            point[0] = point.max()
            assert ((column - point) ** 2).sum() >= cost
        assert 0 <= count <= 5


def test_mean_pool_and_mean_distance_are_the_kinematic_value():
    n, draws = 30, 4000
    pools, distances = simulated_pools(n, draws, np.random.default_rng(0)).T
    for sample in (pools, distances):
        error = sample.std() / math.sqrt(draws)
        assert sample.mean() == pytest.approx(statistical_dimension(n), abs=4 * error)


def test_in_one_dimension_a_key_asks_for_one_or_nothing():
    """Where its target is inside the others any direction is ruled out, else the half-line decides."""
    asked = asked_dimensions(6, 1, 300, np.random.default_rng(0))
    assert set(asked[:, 0]) <= {0, 1}
    # 4 of 6 targets are inside; of the others each sign of the vector is as likely
    assert asked[:, 0].mean() == pytest.approx(4 / 6 + 2 / 6 / 2, abs=0.1)


def test_gaussian_targets_ask_for_the_kinematic_value_and_unit_ones_for_less():
    asked = asked_dimensions(20, 12, 1500, np.random.default_rng(1))
    mean, error = asked.mean(axis=0), asked.std(axis=0) / math.sqrt(1500)
    assert mean[0] == pytest.approx(statistical_dimension(20), abs=4 * error[0])
    assert mean[1] < mean[0] - 2 * error[0]


def test_kinds_of_targets_take_turns():
    rng = np.random.default_rng(2)
    one_by_one = [[asked_of_one_vector(9, 5, unit=unit, rng=rng) for unit in (False, True)] for _ in range(7)]
    np.testing.assert_array_equal(asked_dimensions(9, 5, 7, np.random.default_rng(2)), one_by_one)


@pytest.mark.parametrize("k", [1, 4, 29])
@pytest.mark.parametrize("signal", [-2.0, 0.0, 1.0])
def test_two_levels_project_on_the_cone_of_the_tail_average(k, signal):
    rivals = np.sort(np.random.default_rng(3).standard_normal(29))[::-1]
    low, high = tail_levels(signal, rivals, k)
    taken = np.clip(rivals - low, 0, high - low)
    after, raised = rivals - taken, signal + taken.sum()
    top = np.sort(after)[::-1][:k].mean()
    if signal >= rivals[:k].mean():
        assert low == high
        return
    # The point is in the cone, what was added is orthogonal to it and in the polar cone: the projection.
    assert raised == pytest.approx(top)
    assert -taken.sum() * raised + taken @ after == pytest.approx(0)
    assert taken.max() <= taken.sum() / k + 1e-9


def test_for_one_competitor_the_levels_are_those_of_the_pool():
    rivals = np.sort(np.random.default_rng(4).standard_normal(20))[::-1]
    low, _ = tail_levels(-1.0, rivals, 1)
    assert low == pytest.approx(pool(-1.0, rivals)[0])


@pytest.mark.parametrize("rivals, k", [([1.0, 2.0], 1), ([2.0, 1.0], 3), ([2.0, 1.0], 0)])
def test_levels_of_no_tail_are_refused(rivals, k):
    with pytest.raises(ValueError):
        tail_levels(0.0, np.array(rivals), k)
