"""The kinematic prediction against projections of random vectors, closed cases and its own expansion."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from assocmem.theory.kinematics import (
    critical_dimension,
    large_size,
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
    assert pooled_moments(n)[1] == pytest.approx(counts.var(), rel=0.06)


def test_two_and_three_pairs_in_closed_form():
    """A half-space; and a wedge of angle 2 pi / 3 times a line, whose polar is a wedge of pi / 3."""
    assert statistical_dimension(2) == pytest.approx(1 / 2, abs=1e-12)
    wedge = 1 * 1 / 2 + 2 * (math.pi / 3) / (2 * math.pi)
    assert statistical_dimension(3) == pytest.approx(wedge, abs=1e-12)


@pytest.mark.parametrize(("coefficient", "holds"), [(3, True), (2, False), (4, False)])
def test_it_grows_as_two_logarithms_less_three_of_the_logarithm(coefficient, holds):
    n = np.logspace(3, 12, 10)
    rest = [statistical_dimension(m) - 2 * math.log(m) + coefficient * math.log(math.log(m)) for m in n]
    assert bool(np.ptp(rest) < 0.7 and np.all(np.abs(np.diff(rest)) < 0.13)) == holds


def test_probability_runs_through_one_half_at_the_critical_dimension():
    for n in (10, 1000, 10**9):
        d = critical_dimension(n)
        assert retrieval_probability(n, d) == pytest.approx(0.5, abs=0.5 / math.sqrt(n))
        assert retrieval_probability(n, d - 2) < 0.1
        assert retrieval_probability(n, d + 2) > 0.9


def test_skewness_moves_the_median_below_the_mean():
    """A sum of n copies of M, drawn."""
    n, rng = 12, np.random.default_rng(0)
    sums = np.array([sum(pooled(rng.standard_normal(n))[0] for _ in range(n)) for _ in range(2000)])
    d = np.sqrt(np.arange(18.5, 32))
    share = (sums[:, None] < d**2).mean(axis=0)
    np.testing.assert_allclose(retrieval_probability(n, d), share, atol=4 * 0.5 / 2000**0.5)


@pytest.mark.parametrize("digits", [2, 3, 6, 12])
def test_the_expansion_about_the_level_of_the_pool(digits):
    n = 10.0**digits
    found, (mean, variance) = large_size(math.log(n)), pooled_moments(n)
    assert found.mean == pytest.approx(mean, rel=1e-3 if digits < 3 else 1e-4)
    assert found.variance == pytest.approx(variance, rel=1.5 / found.level**4)
    assert abs(found.mean - mean) < 0.5 / found.level**4


@pytest.mark.parametrize("log_n", [1e2, 1e3, 1e4, 1e6, 1e9])
def test_the_expansion_in_logarithms(log_n):
    """Two terms, a constant, and the next ones, whatever n; 900 is where another series takes over."""
    y, c = 2 * log_n, math.log(2 * math.pi)
    series = y - 3 * math.log(y) - c + 3 + (9 * math.log(y) + 3 * c - 15) / y
    assert large_size(log_n).mean == pytest.approx(series, abs=20 * math.log(log_n) ** 2 / y**2 + 1e-15 * y)
    other = y - 2 * math.log(y) - c + 3
    assert abs(large_size(log_n).mean - other) > 3


def test_the_two_series_of_the_expansion_meet():
    at = brentq(lambda x: large_size(x).level - 30, 100, 1000)
    below, above = large_size(at * (1 - 1e-9)), large_size(at * (1 + 1e-9))
    assert below.mean == pytest.approx(above.mean, rel=1e-7)
    assert below.variance == pytest.approx(above.variance, rel=1e-5)


def test_the_transition_keeps_its_width_in_dimensions():
    """Its standard deviation tends to 1 / sqrt(2) of a dimension."""
    for log_n, tolerance in ((27.6, 0.05), (1e4, 1e-3)):
        found = large_size(log_n)
        assert math.sqrt(found.variance / found.mean) / 2 == pytest.approx(2**-0.5, abs=tolerance)


def test_sizes_below_three_have_no_expansion():
    with pytest.raises(ValueError, match="log_n = 1.0: must be at least log 3"):
        large_size(1.0)


@pytest.mark.parametrize("n", [1, 1e13, math.nan])
def test_sizes_out_of_range_are_refused(n):
    with pytest.raises(ValueError, match="n = .*: must be in"):
        statistical_dimension(n)
