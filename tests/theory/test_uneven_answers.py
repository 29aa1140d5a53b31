"""The cost of unequally frequent answers against projections of random vectors and finite differences."""

import math

import numpy as np
import pytest

from assocmem.theory.kinematics import pool, statistical_dimension
from assocmem.theory.uneven_answers import pool_averages, random_answers_cost, unevenness_cost


def weighted_distance(x, weights, answer):
    """Squared distances of rows of scores from the cone in which the answer's is the largest, by a metric."""
    rivals = np.delete(np.arange(x.shape[1]), answer)
    order = rivals[np.argsort(-x[:, rivals], axis=1)]
    total, mass = weights[answer] * x[:, answer], np.full(len(x), weights[answer])
    for j in order.T:
        score = x[np.arange(len(x)), j]
        pooled = score > total / mass
        total, mass = total + pooled * weights[j] * score, mass + pooled * weights[j]
    level = total / mass
    above = np.maximum(x[:, rivals] - level[:, None], 0)
    return weights[answer] * (level - x[:, answer]) ** 2 + above**2 @ weights[rivals]


def criterion(draws, shares, lengths, weights):
    """The quotient whose saddle point is the threshold, as a mean over given draws."""
    free = (weights * lengths**2).sum() - (weights**2 * lengths**2).sum() / weights.sum()
    # the answer is summed over, so that shares enter without noise
    spent = [share * weighted_distance(lengths * draws, weights, a).mean() for a, share in enumerate(shares)]
    return free / sum(spent)


@pytest.mark.parametrize("m", [3, 5, 20])
def test_averages_over_the_pool_are_those_of_draws(m):
    rng = np.random.default_rng(m)
    found = []
    for _ in range(3000):
        g = rng.standard_normal(m)
        level, count = pool(g[0], np.sort(g[1:])[::-1])
        found.append((count / (1 + count), max(level - g[0], 0) ** 2, count * level**2))
    found = np.array(found) / statistical_dimension(m)
    errors = found.std(axis=0) / math.sqrt(len(found))
    for value, mean, error in zip(pool_averages(m), found.mean(axis=0), errors, strict=True):
        assert value == pytest.approx(mean, abs=4 * error)


def test_equal_shares_are_a_saddle_and_the_cost_is_its_curvature():
    """Second differences of the quotient, at three targets and on the same draws, give the same constant."""
    m, h = 3, 0.15
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((5000, m))
    draws = np.concatenate([draws[:, list(p)] for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1))])
    draws = np.concatenate([draws, draws[:, ::-1]])
    one, equal = np.ones(m), np.full(m, 1 / m)
    direction = np.array([2.0, -1.0, -1.0])

    def at(e, t, w):
        return math.log(
            criterion(draws, equal * (1 + e * direction), one + t * direction, one + w * direction)
        )

    middle = at(0, 0, 0)
    tt = (at(0, h, 0) + at(0, -h, 0) - 2 * middle) / h**2
    ww = (at(0, 0, h) + at(0, 0, -h) - 2 * middle) / h**2
    tw = (at(0, h, h) + at(0, -h, -h) - at(0, h, -h) - at(0, -h, h)) / (4 * h**2)
    et = (at(h, h, 0) - at(h, -h, 0) - at(-h, h, 0) + at(-h, -h, 0)) / (4 * h**2)
    ew = (at(h, 0, h) - at(h, 0, -h) - at(-h, 0, h) + at(-h, 0, -h)) / (4 * h**2)
    slopes, curvature = np.array([et, ew]), np.array([[tt, tw], [tw, ww]])
    loss = 0.5 * slopes @ np.linalg.solve(curvature, slopes) / (direction**2).mean()
    assert loss == pytest.approx(unevenness_cost(m), rel=0.12)


def test_two_answers_may_be_as_unequal_as_one_likes():
    assert unevenness_cost(2) == random_answers_cost(2) == 0


def test_the_cost_grows_towards_a_quarter_of_the_dimension():
    costs = [unevenness_cost(m) for m in (3, 9, 50, 1000, 10**6, 10**12)]
    assert costs == sorted(costs)
    assert costs[1] == pytest.approx(0.396, abs=0.002)
    for m, cost in ((10**6, costs[-2]), (10**12, costs[-1])):
        assert cost == pytest.approx(statistical_dimension(m) / 4, rel=0.2)
    far = costs[-1] / statistical_dimension(10**12)
    assert abs(far - 0.25) < abs(costs[-2] / statistical_dimension(10**6) - 0.25)
    assert random_answers_cost(9) == 8 * costs[1]


@pytest.mark.parametrize("m", [1, 2.5, float("nan"), 10**13, "9"])
def test_numbers_out_of_range_are_refused(m):
    with pytest.raises(ValueError, match="m = "):
        unevenness_cost(m)
