"""The solver at small ridges is within the tolerance of the explicit rates, and falsehoods are not."""

import numpy as np

from assocmem.experiments.tail_average.ridge_rates import (
    LEVELS,
    SMALL,
    approach_above,
    edge_quantiles,
    rates_below,
    smoothing_excess,
)
from assocmem.theory.ridgeless import tail_mean
from assocmem.theory.scalar import scalar_tail_average

POINTS = ((0.15, 3.0), (0.5, 30.0))


def test_the_smoothing_is_the_first_term_of_the_tail_average():
    r, beta, nu = 0.3, 5.0, 40.0
    excess = scalar_tail_average(nu, r, beta)[0] / nu - tail_mean(r)
    np.testing.assert_allclose(excess * nu**2, smoothing_excess(r, beta), rtol=1e-3)


def test_norm_and_loss_follow_their_rates_below_and_no_others():
    ridges = np.array([1e-10, 1e-16])
    found = rates_below(POINTS, 0.9, ridges)
    assert found.from_norm.shape == (len(POINTS) * len(ridges),)
    assert np.all(abs(found.log_inverse_ridge - found.from_norm) < found.log_tolerance)
    assert np.all(abs(found.log_inverse_ridge - found.without_shift) > found.log_tolerance)
    assert np.all(abs(found.loss_ratio - 1) < found.loss_tolerance)
    assert np.all(abs(found.from_median - 1) > found.loss_tolerance)


def test_the_norm_above_is_reached_linearly():
    ratio, tolerance = approach_above(POINTS, 1.4)
    assert ratio.shape == (len(POINTS) * len(SMALL),)
    assert np.all(abs(ratio - 1) < tolerance)
    assert np.all(tolerance < 0.01)


def test_signals_are_where_the_shift_of_the_edge_puts_them():
    found = edge_quantiles(POINTS, 0.9, 1e-16)
    assert found.measured.shape == (len(POINTS) * len(LEVELS),)
    assert np.all(abs(found.measured - found.predicted) < found.tolerance)
    assert np.all(abs(found.measured - found.without_shift) > found.tolerance)
