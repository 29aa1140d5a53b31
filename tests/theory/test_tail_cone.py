"""Faces of the tail-average cone against explicit projections, the exact case k = 1 and limits."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

from assocmem.theory.kinematics import (
    critical_dimension,
    pooled_moments,
    retrieval_probability,
    statistical_dimension,
)
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.tail_cone import _order_statistics, _signal_thresholds, face_moments


def generators(m, k):
    """Columns ``(-1, w)``, w the uniform weights of k of the m competitors; they span the polar cone."""
    subsets = list(combinations(range(m), k))
    G = np.zeros((m + 1, len(subsets)))
    G[0] = -1
    for column, subset in enumerate(subsets):
        G[1 + np.array(subset), column] = 1 / k
    return G


def face_dimension(g, k, G):
    """Dimension of the face of the polar cone that the projection of g lies in, and its squared length."""
    point = G @ nnls(G, g)[0]
    tau, y = -point[0], point[1:]
    if tau < 1e-12:
        return 0, 0.0
    between = int(((y > 1e-9) & (y < tau / k - 1e-9)).sum())
    return max(between, 1), point @ point


@pytest.mark.parametrize(("m", "k"), [(5, 1), (6, 2), (6, 3), (7, 5), (5, 4), (4, 4)])
def test_thresholds_count_the_dimensions_of_the_face(m, k):
    rng, G = np.random.default_rng(m * 10 + k), generators(m, k)
    for _ in range(60):
        rivals = np.sort(rng.standard_normal(m))[::-1]
        upper, lower = rivals[:k][::-1][None], rivals[k:][None]
        (thresholds,), _ = _signal_thresholds(upper, lower, upper.mean(axis=1), k)
        signal = rng.normal(-0.5, 1.5)
        dimension, _ = face_dimension(np.append(signal, rivals), k, G)
        assert dimension == (signal < thresholds).sum()


@pytest.mark.parametrize(("n", "k"), [(8, 2), (8, 4), (9, 7)])
def test_mean_dimension_is_the_mean_squared_distance(n, k):
    rng, G = np.random.default_rng(n + k), generators(n - 1, k)
    found = np.array([face_dimension(rng.standard_normal(n), k, G) for _ in range(4000)])
    counts, distances = found.T
    mean, variance = pooled_moments(n, k)
    assert mean == pytest.approx(counts.mean(), abs=4 * counts.std() / 4000**0.5)
    assert mean == pytest.approx(distances.mean(), abs=4 * distances.std() / 4000**0.5)
    assert variance == pytest.approx(counts.var(), rel=0.1)


@pytest.mark.parametrize("n", [2, 3, 30, 1e4, 1e12])
def test_simulation_agrees_with_quadrature_for_the_best_competitor(n):
    mean, variance, _, error = face_moments(n, 1)
    exact_mean, exact_variance = pooled_moments(n)
    assert mean == pytest.approx(exact_mean, rel=3e-4)
    assert variance == pytest.approx(exact_variance, rel=3e-3)
    assert abs(mean - exact_mean) < 5 * max(error, 1e-6)


@pytest.mark.parametrize("r", [0.01, 0.15, 0.9])
def test_many_pairs_give_the_critical_load(r):
    n = 1e8
    assert statistical_dimension(n, round(r * (n - 1))) == pytest.approx(1 / critical_load(r), rel=6e-4)


@pytest.mark.parametrize("r", [0.1, 0.3])
def test_ranks_of_very_many_pairs_are_told_apart(r):
    """At 1e12 pairs neighbours in a long tail differ by 1e-12, and the dimension no longer depends on n."""
    few, many = (face_moments(n, round(r * (n - 1)), repeats=1)[:3] for n in (1e8, 1e12))
    assert many == pytest.approx(few, rel=3e-5)


def test_a_tail_in_the_extremes_of_very_many():
    """k = 1000 of 1e12, where ranks are 1e-12 apart in probability: the limit again."""
    assert statistical_dimension(1e12, 1000) == pytest.approx(1 / critical_load(1e-9), rel=3e-3)


def test_short_tails_of_very_many_pairs():
    """Where a tail of a few is no different from the best, and the pool is at its largest."""
    found = [pooled_moments(1e12, k) for k in (1, 2, 10)]
    means, variances = np.array(found).T
    assert np.all(np.diff(means) < 3e-4 * means[0])
    assert means[-1] > 44.8
    np.testing.assert_allclose(variances, variances[0], rtol=0.02)


def test_order_statistics_have_the_moments_of_sorted_samples():
    rng = np.random.default_rng(0)
    upper, lower, top = _order_statistics(40, 12, 0, 40)
    sample = -np.sort(-rng.standard_normal((20000, 40)), axis=1)
    np.testing.assert_allclose(upper.mean(axis=0), sample[:, :12][:, ::-1].mean(axis=0), atol=0.02)
    np.testing.assert_allclose(lower.mean(axis=0), sample[:, 12:].mean(axis=0), atol=0.02)
    assert top.std() == pytest.approx(sample[:, :12].mean(axis=1).std(), rel=0.03)


def test_a_long_tail_is_summed_by_its_conditional_mean():
    """More than the window: the mean of the largest 200 of 1000."""
    _, _, top = _order_statistics(1000, 200, 0, 120)
    sample = -np.sort(-np.random.default_rng(1).standard_normal((4000, 1000)), axis=1)[:, :200].mean(axis=1)
    assert top.mean() == pytest.approx(sample.mean(), abs=0.003)
    assert top.std() == pytest.approx(sample.std(), rel=0.05)


def test_longer_tails_ask_for_less():
    asked = [critical_dimension(50, k) for k in (1, 3, 15, 30, 49)]
    assert np.all(np.diff(asked) < 0)
    assert asked[-1] == 5.0  # Cover's half: n demands on d^2 = n / 2 numbers
    assert retrieval_probability(50, asked[2], 15) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("k", [0, 10, 2.5])
def test_tails_out_of_range_are_refused(k):
    with pytest.raises(ValueError, match="k = .*: must be"):
        statistical_dimension(10, k)
