"""Simulated score columns against whole score matrices, and comparisons of samples against closed forms."""

import math

import numpy as np
import pytest

from assocmem.experiments.explicit.column_scores import (
    STATISTICS,
    at_quartiles,
    critical_distance,
    distances,
    picture_columns,
    simulated_columns,
)
from assocmem.theory.outer_products import competitor_variance, sample_score_column, signal_variance


def test_columns_are_those_of_the_score_matrices():
    n, d, size, seed = 5, 3, 4, 9
    U, V = (np.random.default_rng([seed, k]).standard_normal((size, d, n)) / math.sqrt(d) for k in (0, 1))
    columns = [(u.T @ (u @ v.T) @ v)[:, 0] for u, v in zip(U, V, strict=True)]
    np.testing.assert_allclose(simulated_columns(n, d, size, seed), columns, rtol=1e-12)


def test_columns_have_the_exact_moments():
    n, d, size = 6, 4, 40_000
    columns = simulated_columns(n, d, size, seed=0)
    np.testing.assert_allclose(columns.mean(axis=0), np.arange(n) == 0, atol=0.03)
    assert columns[:, 0].var() == pytest.approx(signal_variance(n, d), rel=0.06)
    assert columns[:, 1:].var() == pytest.approx(competitor_variance(n, d), rel=0.03)


def test_the_picture_has_the_load_for_its_variances():
    columns = picture_columns(50, 10, 4000, np.random.default_rng(0))
    np.testing.assert_allclose(columns.mean(axis=0), np.arange(50) == 0, atol=0.06)
    assert columns.var(axis=0).mean() == pytest.approx(0.5, rel=0.02)


def test_statistics_of_a_column_that_one_can_read():
    columns = np.array([[9.0, 3.0, 4.0, 0.0]])
    assert [f(columns)[0] for f in STATISTICS.values()] == [9, 3, 4, 5, 5]


def test_samples_of_one_law_are_near_and_of_the_picture_far():
    n, d, size = 8, 4, 5000
    simulated = simulated_columns(n, d, size, seed=1)
    exact = sample_score_column(n, d, size, seed=2)
    assert max(distances(simulated, exact)) < critical_distance(size)
    picture = picture_columns(n, d, size, np.random.default_rng(3))
    assert min(distances(simulated, picture)) > critical_distance(size)
    assert distances(simulated, simulated) == [0] * len(STATISTICS)


def test_the_critical_distance_is_that_of_kolmogorov():
    x = critical_distance(1000)
    assert 2 * math.exp(-1000 * x**2) == pytest.approx(0.001 / 5)


def test_at_its_own_quartiles_a_sample_has_the_quarters():
    columns = np.random.default_rng(0).standard_normal((1001, 3))
    np.testing.assert_allclose(at_quartiles(columns, columns), [0.25, 0.5, 0.75] * 5, atol=0.002)
    assert at_quartiles(columns + 100, columns)[:12] == [0.0] * 12
