"""Predictions at all scales: each curve against the function behind it, and the order they come in."""

import math

import numpy as np
import pytest

from assocmem.experiments.explicit import scales
from assocmem.sweeps.stored_table import read_table
from assocmem.theory import kinematics, outer_products, repair

CHOICES = read_table("sparse_repair", "predictions")


def test_curves_are_those_of_the_stored_choices():
    ratios = np.array([1.9, 4.5, 9.6, 24.0])
    curves = scales.success_curves(CHOICES, 3, ratios)
    log_n = math.log(1000)
    for name in scales.KINDS:
        best = scales.stored_choice(CHOICES, 3, name)
        found = [repair.predict_repair(log_n, c, share=best.share, gamma=best.gamma).success for c in ratios]
        np.testing.assert_allclose(curves[name], found, atol=1e-12)
    exact = math.exp(-1000 * outer_products.query_failure(1000, 258).value)
    assert curves[scales.PLAIN][2] == pytest.approx(exact, abs=0.02)
    halves = [
        np.argmax(curves[name] > 0.5) for name in (scales.CLIPPED, scales.EQUAL, scales.PLAIN, scales.PROOF)
    ]
    assert halves == [0, 1, 2, 3]


def test_far_out_outer_products_follow_the_picture():
    ratios = np.array([7.0, 7.7, 8.5])
    picture = [
        math.exp(-math.exp(outer_products.log_expected_failures(30 * math.log(10), c))) for c in ratios
    ]
    np.testing.assert_allclose(scales.success_curves(CHOICES, 30, ratios)[scales.PLAIN], picture, atol=1e-9)


def test_half_ratios_fall_or_rise_to_their_limits():
    digits, curves = scales.half_ratios(CHOICES)
    assert digits[-1] >= 1000
    for name, limit, tolerance in (
        (scales.PLAIN, 8, 0.01),
        (scales.EQUAL, 4, 0.01),
        (scales.CLIPPED, 2, 0.01),
    ):
        assert curves[name][-1] == pytest.approx(limit, abs=tolerance)
    for name in (scales.SPLIT, scales.IN_PLACE):
        assert np.all(np.diff(curves[name]) < 0)
        assert 2 < curves[name][-1] < 2.3
    assert curves[scales.PROOF][digits <= 100].min() > 8


def test_the_best_of_all_memories():
    assert scales.any_memory(3) == pytest.approx(kinematics.statistical_dimension(1000) / math.log(1000))
    log_n = 50 * math.log(10)
    assert scales.any_memory(50) == pytest.approx(2 - 3 * math.log(log_n) / log_n)


def test_where_a_curve_goes_below_a_level():
    digits, curve = np.array([2.0, 8.0, 32.0]), np.array([9.0, 4.0, 1.0])
    assert scales.digits_below(digits, curve, 4.0 - 1e-12) == "8"
    assert scales.digits_below(digits, curve, 2.0) == "16"
    assert scales.digits_below(digits, curve, 10.0) == "less than 2"
    assert scales.digits_below(digits, curve, 0.5) == "more than 32"
    assert scales.digits_below(digits, curve, 2 * curve) == "less than 2"


def test_what_is_not_stored_is_refused():
    with pytest.raises(ValueError, match="digits = 3.3: must be one of 2.5, 3, 3.5"):
        scales.success_curves(CHOICES, 3.3, [4.0])
