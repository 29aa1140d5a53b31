"""Averages of the weights of a column, by quadrature, by a sample and in both limits of the spread."""

import math

import numpy as np
import pytest
from scipy import special

from assocmem.pairs.tail_average import smoothed_gradient, smoothed_threshold
from assocmem.theory.column_smoothing import smoothed_share
from assocmem.theory.column_weights import column_weights, density_alone
from assocmem.theory.scalar_reference import normal_average


@pytest.mark.parametrize(("rho", "r", "beta"), [(0.3, 0.15, 3.0), (2.0, 0.5, 1.0), (4.0, 0.1, 5.0)])
def test_averages_are_those_of_adaptive_quadrature(rho, r, beta):
    found = column_weights(rho, r, beta)

    def q(z):
        return special.expit(beta * (rho * z - found.threshold))

    def g(z):
        return q(z) * (1 - q(z))

    assert normal_average(q) == pytest.approx(r, abs=1e-9)
    felt = normal_average(g)
    assert found.felt == pytest.approx(felt, abs=1e-9)
    assert found.spread == pytest.approx(normal_average(lambda z: g(z) ** 2) / felt**2, rel=1e-7)
    assert found.payer == pytest.approx(normal_average(lambda z: q(z) * g(z)) / felt, rel=1e-7)
    assert found.owner == pytest.approx(normal_average(lambda z: q(z) ** 2) / r, rel=1e-7)
    assert found.felt * (1 + rho) == pytest.approx(smoothed_share(rho, r, beta), rel=1e-10)


def test_a_large_sample_has_these_weights():
    x = 1.5 * np.random.default_rng(1).standard_normal(200_000)
    found = column_weights(1.5, 0.2, 4.0)
    q = 0.2 * len(x) * smoothed_gradient(x, 0.2, 4.0)
    g = q * (1 - q)
    assert smoothed_threshold(x, 0.2, 4.0) == pytest.approx(found.threshold, abs=0.02)
    assert len(x) * (g @ g) / g.sum() ** 2 == pytest.approx(found.spread, rel=0.02)


@pytest.mark.parametrize("r", [0.01, 0.15, 0.8])
def test_limits_of_narrow_and_wide_columns(r):
    """Equal scores share one weight; a constant density gives integrals of powers of a logistic slope."""
    narrow, wide = column_weights(1e-6, r, 2.0), column_weights(1e7, r, 2.0)
    assert narrow.felt == pytest.approx(r * (1 - r), rel=1e-5)
    assert narrow.spread == pytest.approx(1, rel=1e-5)
    assert narrow.payer == pytest.approx(r, rel=1e-5)
    alone = density_alone(1e7, r, 2.0)
    assert wide.felt == pytest.approx(alone, rel=1e-6)
    assert wide.spread == pytest.approx(1 / (6 * alone), rel=1e-6)
    assert wide.payer == pytest.approx(0.5, rel=1e-6)
    assert wide.threshold == pytest.approx(-1e7 * float(special.ndtri(r)), rel=1e-6)


def test_ranges_are_told():
    with pytest.raises(ValueError, match="rho"):
        column_weights(0.0, 0.1, 1.0)
    with pytest.raises(ValueError, match="r ="):
        density_alone(1.0, math.nan, 1.0)
