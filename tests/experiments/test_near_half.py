"""Counts near one half."""

import numpy as np
import pytest

from assocmem.experiments.near_half import near_half
from assocmem.experiments.transitions import NEAR
from assocmem.theory.kinematics import pooled_moments


@pytest.mark.parametrize("k", [1, 20])
def test_dimensions_within_a_few_widths_of_the_one_nearest_to_one_half_are_kept(k):
    n, (mean, variance) = 100, pooled_moments(100, k)
    widths = np.array([-4.0, -NEAR - 0.01, -NEAR + 0.01, 0.0, 1.0, NEAR + 0.01, 0.1])
    d = np.sqrt(n * (mean + widths * np.sqrt(variance / n)))
    trials = np.array([10, 10, 10, 10, 10, 10, 0])
    successes = np.array([0, 1, 2, 6, 9, 10, 0])
    kept, yes, tried = near_half(n, d, successes, trials, k)
    np.testing.assert_array_equal(kept, d[2:5])
    np.testing.assert_array_equal(yes, [2, 6, 9])
    np.testing.assert_array_equal(tried, [10, 10, 10])
