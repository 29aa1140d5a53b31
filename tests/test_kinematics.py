"""The kinematic prediction against projections of random vectors, closed cases and its own expansion."""

import math

import numpy as np
import pytest
from scipy import special
from scipy.optimize import minimize_scalar

from assocmem.kinematics import (
    critical_dimension,
    half_point,
    pool,
    pooled_moments,
    retrieval_probability,
    statistical_dimension,
)


def pooled(g):
    """Competitors pooled with the signal ``g[0]``, and the squared distance to the cone."""
    rivals = np.sort(g[1:])[::-1]
    level, count = pool(g[0], rivals)
    distance = (level - g[0]) ** 2 + ((rivals[:count] - level) ** 2).sum()
    return count, distance


def bill(t, signal, rivals):
    """Least squares that bring the signal up and its competitors down to ``t``."""
    return max(t - signal, 0) ** 2 + (np.maximum(rivals - t, 0) ** 2).sum()


def test_the_pool_is_the_closest_point_of_the_cone():
    rng = np.random.default_rng(0)
    for _ in range(20):
        signal, rivals = rng.standard_normal(), np.sort(rng.standard_normal(12))[::-1]
        level, count = pool(signal, rivals)
        asked = {"args": (signal, rivals), "bounds": (-4, 4), "options": {"xatol": 1e-10}}
        best = minimize_scalar(bill, method="bounded", **asked)
        assert bill(level, signal, rivals) == pytest.approx(best.fun, abs=1e-12)
        assert count == (rivals > max(level, signal)).sum()


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_moments_are_those_of_projections(n):
    rng = np.random.default_rng(n)
    counts, distances = np.array([pooled(rng.standard_normal(n)) for _ in range(20000)]).T
    mean = statistical_dimension(n)
    assert mean == pytest.approx(counts.mean(), abs=4 * counts.std() / math.sqrt(20000))
    assert mean == pytest.approx(distances.mean(), abs=4 * distances.std() / math.sqrt(20000))
    found, variance, third = pooled_moments(n)
    assert found == mean
    assert variance == pytest.approx(counts.var(), rel=0.06)
    assert third == pytest.approx(((counts - mean) ** 3).mean(), rel=0.15, abs=0.02)


def test_two_and_three_pairs_in_closed_form():
    """A half-space; and a wedge of angle 2 pi / 3 times a line, whose polar is a wedge of pi / 3."""
    assert statistical_dimension(2) == pytest.approx(1 / 2, abs=1e-12)
    wedge = 1 * 1 / 2 + 2 * (math.pi / 3) / (2 * math.pi)
    assert statistical_dimension(3) == pytest.approx(wedge, abs=1e-12)


def test_it_grows_as_two_logarithms_less_three_of_the_logarithm():
    n = np.logspace(3, 12, 10)
    rest = [statistical_dimension(m) - 2 * math.log(m) + 3 * math.log(math.log(m)) for m in n]
    assert np.ptp(rest) < 1.0
    assert np.all(np.abs(np.diff(rest)) < 0.3)
    assert np.ptp([statistical_dimension(m) - 2 * math.log(m) for m in n]) > 3


def test_probability_runs_through_one_half_at_the_critical_dimension():
    for n in (10, 1000, 10**9):
        d = critical_dimension(n)
        assert retrieval_probability(n, d) == pytest.approx(0.5, abs=0.5 / math.sqrt(n))
        assert retrieval_probability(n, d - 2) < 0.1
        assert retrieval_probability(n, d + 2) > 0.9


def test_half_point_is_found_from_counts():
    n, d = 300, np.arange(38, 50)
    exact = 1e6 * retrieval_probability(n, np.sqrt(np.maximum(d**2 + 0.2 * n, 0)))
    found, error = half_point(n, d, exact, np.full(12, 1e6))
    assert found == pytest.approx(statistical_dimension(n) - 0.2, abs=1e-3)
    np.testing.assert_allclose(exact, 1e6 * retrieval_probability(n, d, shift=-0.2), rtol=1e-9)
    coarse, wider = half_point(n, d, np.round(exact / 1e5), np.full(12, 10))
    assert abs(coarse - found) < 3 * wider
    assert wider == pytest.approx(error * math.sqrt(1e5), rel=0.2)


def test_half_point_needs_both_outcomes():
    with pytest.raises(ValueError, match="successes = .*: must be neither all 0 nor all equal to trials"):
        half_point(30, [8, 9], [0, 0], [5, 5])


@pytest.mark.parametrize("n", [1, 1e13, math.nan])
def test_sizes_out_of_range_are_refused(n):
    with pytest.raises(ValueError, match="n = .*: must be in"):
        statistical_dimension(n)
