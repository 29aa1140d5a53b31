"""Brute force against closed forms, and the potential against brute force."""

import math

import numpy as np
import pytest
from scipy import special

from assocmem.theory.scalar import saddle_potential, solve_scalar
from assocmem.theory.scalar_reference import (
    least_value,
    logarithmic_slopes,
    normal_average,
    potential_by_definition,
)

AT = {"load": 0.6, "r": 0.15, "beta": 3.0, "ridge": 0.01}


def test_moments_of_a_normal_variable():
    moments = [normal_average(lambda z, k=k: z**k) for k in range(5)]
    np.testing.assert_allclose(moments, [1, 0, 1, 0, 3], atol=1e-11)
    assert normal_average(special.ndtr) == pytest.approx(0.5)


def test_the_least_value_is_inside_or_at_an_end():
    assert least_value(lambda x: (x - 1) ** 2 + 3, -5, 4) == pytest.approx(3)
    assert least_value(lambda x: x, 2, 4) == pytest.approx(2, abs=1e-5)


@pytest.mark.parametrize(("nu", "chi"), [(1.0, 2.0), (3.0, 0.5)])
def test_the_potential_is_that_of_the_definition(nu, chi):
    value, stiff = potential_by_definition(nu, chi, **AT)
    assert value == pytest.approx(saddle_potential(nu, chi, **AT), abs=1e-8)
    assert stiff > value  # giving way can only help


def test_slopes_vanish_at_the_saddle_and_nowhere_near():
    point = solve_scalar(**AT)
    slopes = logarithmic_slopes(point.nu, point.chi, **AT)
    assert max(map(abs, slopes)) < 1e-8
    in_nu, in_chi = logarithmic_slopes(1.1 * point.nu, point.chi, **AT)
    step = math.log(1.1)
    further = saddle_potential(1.1 * point.nu, point.chi, **AT) - point.objective
    assert in_nu == pytest.approx(2 * further / step, rel=0.2)  # a parabola, nearly
    assert abs(in_chi) > 1e-4
