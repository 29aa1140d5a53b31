"""The closed-form critical load against quadrature and its limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from assocmem.ridgeless import critical_load, tail_mean


@given(st.floats(0.001, 0.999))
def test_tail_mean_is_the_mean_of_the_tail(r):
    mean, _ = integrate.quad(lambda x: x * stats.norm.pdf(x), stats.norm.isf(r), 12)
    assert tail_mean(r) == pytest.approx(mean / r, rel=1e-7)


@given(st.floats(0.001, 0.999))
def test_critical_load_is_the_inverse_second_moment_of_a_hinge(r):
    kappa = float(tail_mean(r))
    moment, _ = integrate.quad(lambda z: (z + kappa) ** 2 * stats.norm.pdf(z), -kappa, 12)
    assert critical_load(r) == pytest.approx(1 / moment, rel=1e-7)


def test_limits_and_monotony():
    r = np.array([1e-12, 1e-6, 0.01, 0.15, 0.5, 0.9, 1 - 1e-9])
    load = critical_load(r)
    assert np.all(np.diff(load) > 0)
    assert load[-1] == pytest.approx(2, abs=1e-7)
    assert critical_load(1.0) == 2
    assert tail_mean(1.0) == 0
    assert load[3] == pytest.approx(0.2944, abs=5e-5)
    assert tail_mean(1e-12) == pytest.approx(math.sqrt(2 * math.log(1e12)), rel=0.05)
    assert tail_mean(1 - 1e-9) == pytest.approx(stats.norm.pdf(stats.norm.isf(1e-9)), rel=1e-7)


@pytest.mark.parametrize("r", [0.0, 1.1, -0.1, math.nan])
def test_fractions_outside_the_range_are_refused(r):
    with pytest.raises(ValueError, match=r"r = .*: must be in \(0, 1\]"):
        critical_load(r)
