"""The percentile law at finite size: its limit, its mean, and simulated score columns."""

import math

import numpy as np
import pytest
from scipy import integrate, special

from assocmem.theory.finite_percentiles import percentile_cdf_at_size
from assocmem.theory.outer_products import (
    competitor_variance,
    percentile_cdf,
    sample_score_column,
    signal_variance,
)

OMEGA = np.array([0.0, 0.2, 0.5, 0.8, 0.95, 1.0])


def test_it_is_a_distribution_function_that_tends_to_the_limit_law():
    near = percentile_cdf_at_size(OMEGA, 400, 20)
    assert near[0] == 0
    assert near[-1] == 1
    assert np.all(np.diff(near) > 0)
    limit = percentile_cdf(OMEGA, 1.0)
    far = percentile_cdf_at_size(OMEGA, 10**12, 10**6)
    np.testing.assert_allclose(far, limit, atol=1e-5)
    assert np.abs(near - limit).max() > 0.01


def test_its_mean_is_the_chance_of_one_competitor_against_one_signal():
    n, d = 90, 9
    mean = 1 - integrate.quad(lambda w: percentile_cdf_at_size(w, n, d), 0, 1)[0]
    spread = math.sqrt(signal_variance(n, d) + competitor_variance(n, d))
    assert mean == pytest.approx(special.ndtr(1 / spread), abs=1e-6)


def test_it_describes_sampled_columns_better_than_the_limit():
    n, d = 400, 40  # the corrections are as large as the load
    columns = sample_score_column(n, d, 20_000, seed=0)
    percentile = (columns[:, 1:] <= columns[:, :1]).mean(axis=1)
    inner = OMEGA[1:-1]
    found = np.array([np.mean(percentile <= w) for w in inner])
    miss = np.abs(found - percentile_cdf_at_size(inner, n, d)).max()
    assert miss < 0.03  # lengths make the scores less than normal
    assert np.abs(found - percentile_cdf(inner, n / d**2)).max() > 2 * miss
