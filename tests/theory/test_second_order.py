"""The terms beyond 2 log n, against each other and against the kinematic value."""

import math

import numpy as np
import pytest

from assocmem.theory.kinematics import large_size, statistical_dimension
from assocmem.theory.second_order import beyond_leading, local_slope, surrogate_series, two_terms

DIGITS = np.array([100.0, 1e4, 1e6]) * math.log(10)


def test_two_terms_are_the_conjectures():
    assert two_terms(math.e) == pytest.approx(2 * math.e - 3)
    np.testing.assert_allclose(two_terms(np.array([1.0, math.e])), [2, 2 * math.e - 3])


def test_the_series_tends_to_the_value_faster_than_its_last_term():
    value = np.array([large_size(x).mean for x in DIGITS])
    miss = np.abs(surrogate_series(DIGITS) - value)
    last = (9 * np.log(2 * DIGITS) + 3 * math.log(2 * math.pi) - 15) / (2 * DIGITS)
    assert np.all(miss < 0.5 * last)
    assert np.all(np.diff(miss / last) < 0)


def test_the_series_less_two_terms_tends_to_its_constant():
    constant = 3 - 3 * math.log(2) - math.log(2 * math.pi)
    assert surrogate_series(1e9) - two_terms(1e9) == pytest.approx(constant, abs=1e-6)


@pytest.mark.parametrize("n", [20, 1000, 10**9])
def test_what_is_beyond_the_leading_term_is_the_rest_of_the_value(n):
    assert beyond_leading(math.log(n)) == pytest.approx(statistical_dimension(n) - 2 * math.log(n), abs=1e-6)


def test_quadrature_and_expansion_meet():
    assert beyond_leading(26.999) == pytest.approx(beyond_leading(27.001), abs=1e-3)


def test_the_slope_passes_through_its_limit_and_comes_back_to_it():
    assert local_slope(math.log(20)) > -3 > local_slope(math.log(1e6))
    assert local_slope(3000 * math.log(10)) == pytest.approx(-3, abs=0.01)
    x = 500.0  # where the series is accurate: its derivative with respect to log x
    y = 2 * x
    step = (-9 * np.log(y) - 3 * math.log(2 * math.pi) + 15 + 9) / y
    assert local_slope(x) == pytest.approx(-3 + step, abs=2e-3)
