"""Laws with something replaced, against what is known of them."""

import math

import numpy as np
import pytest
from scipy import special

from assocmem.theory.finite_dimension import laws_at_size
from assocmem.theory.law_variants import (
    middle_levels,
    normal_twin,
    with_margins_along_lengths,
    with_numbers,
    without_tail_scatter,
)
from assocmem.theory.ridgeless import sat_edge
from assocmem.theory.scalar import scalar_tail_average, solve_scalar

POINT = solve_scalar(0.6, 0.15, beta=3.0, ridge=0.01)
AT_SIZE = laws_at_size(0.2, 0.15, 100, beta=30.0, ridge=1e-7)


def test_the_limits_own_numbers_change_nothing():
    same = with_numbers(POINT, POINT.nu, POINT.chi)
    p = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(same.signal.quantile(p), POINT.signal.quantile(p), rtol=1e-12)


def test_the_tail_average_goes_with_the_numbers():
    other = with_numbers(POINT, 2.0, 0.5)
    assert (other.nu, other.chi) == (2.0, 0.5)
    assert (other.c, other.mu) == scalar_tail_average(2.0, POINT.r, POINT.beta)[:2]
    assert other.competitor.quantile(special.ndtr(1.0)) == pytest.approx(2.0)


def test_levels_lie_in_the_middle_of_equal_parts():
    np.testing.assert_allclose(middle_levels(4), [0.125, 0.375, 0.625, 0.875])


def test_a_normal_law_is_its_own_twin():
    twin = normal_twin(POINT.competitor, middle_levels(20_000))
    assert twin.mean == pytest.approx(0, abs=1e-9)
    assert twin.deviation == pytest.approx(POINT.nu, rel=1e-3)
    assert twin.distance < 1e-3
    np.testing.assert_allclose(twin.cdf(twin.quantile(np.array([0.2, 0.7]))), [0.2, 0.7])


def test_a_bent_law_is_at_a_distance_from_its_twin():
    x = POINT.margin.sample(100_000, seed=1)
    twin = normal_twin(POINT.margin, middle_levels(20_000))
    assert twin.mean == pytest.approx(x.mean(), abs=0.01)
    assert twin.deviation == pytest.approx(x.std(), rel=0.01)
    t = np.linspace(-3, 3, 61) * twin.deviation + twin.mean
    gap = abs(POINT.margin.cdf(t) - twin.cdf(t)).max()
    assert gap == pytest.approx(twin.distance, rel=0.05)


def test_the_whole_signal_along_the_length():
    """A signal is its margin and L times the tail average; in the variant the margin has the factor L too."""
    variant = with_margins_along_lengths(AT_SIZE)
    length = (AT_SIZE.signal - AT_SIZE.margin) / AT_SIZE.tail
    np.testing.assert_allclose(variant.signal, length * (AT_SIZE.margin + AT_SIZE.tail))
    np.testing.assert_array_equal(variant.margin, AT_SIZE.margin)


def test_the_scatter_of_a_share():
    variant = without_tail_scatter(AT_SIZE, 0.2, 100)
    share = special.ndtr(sat_edge(0.2))
    assert variant.scatter == pytest.approx(math.sqrt(share * (1 - share) / 2000))
    np.testing.assert_array_equal(variant.signal, AT_SIZE.signal)
