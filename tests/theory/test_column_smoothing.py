"""What smoothing does to a normal column: bounds, a limit, and samples."""

import math

import numpy as np
import pytest
from scipy import special

from assocmem.pairs.tail_average import smoothed_gradient, smoothed_tail_average, tail_average
from assocmem.theory.column_smoothing import largest_excess, normal_excess, smoothed_share
from assocmem.theory.ridgeless import tail_mean
from assocmem.theory.scalar import scalar_tail_average


def test_a_column_of_equal_scores_reaches_the_bound():
    column, r, beta = np.zeros(20), 0.5, 4.0
    excess = smoothed_tail_average(column, r, beta) - tail_average(column, r)
    assert excess == pytest.approx(largest_excess(r, beta))
    other = np.random.default_rng(1).standard_normal(20)
    assert smoothed_tail_average(other, r, beta) - tail_average(other, r) < largest_excess(r, beta)


@pytest.mark.parametrize("r", [0.05, 0.15, 0.5])
def test_the_excess_of_a_normal_law_at_large_beta(r):
    beta = np.array([30.0, 100.0])
    excess = [scalar_tail_average(1.0, r, b)[0] - float(tail_mean(r)) for b in beta]
    np.testing.assert_allclose(normal_excess(r, beta), excess, rtol=0.02)


def test_the_smoothed_share_is_that_of_a_long_column():
    rho, r, beta = 2.0, 0.2, 5.0
    column = rho * special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    q = r * len(column) * smoothed_gradient(column, r, beta)
    assert smoothed_share(rho, r, beta) == pytest.approx((q * (1 - q)).mean() * (1 + rho), rel=1e-3)


def test_the_smoothed_share_tends_to_the_density_at_the_threshold():
    """A logistic curve of width ``1 / beta`` has ``integral q (1 - q) = 1 / beta``."""
    rho, r, beta = 1000.0, 0.3, 1.0
    density = math.exp(-(special.ndtri(r) ** 2) / 2) / math.sqrt(2 * math.pi)
    assert smoothed_share(rho, r, beta) == pytest.approx(density / beta, rel=2e-3)
