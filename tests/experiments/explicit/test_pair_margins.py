"""Failing pairs are counted as the definition says, and their exponent is that of a normal tail."""

import math

import pytest
from scipy import special

from assocmem.experiments.explicit.pair_margins import exponent, exponent_in_large_dimension, failing_share
from assocmem.pairs.data import gaussian_pairs


def test_the_share_is_that_of_a_loop():
    pairs = gaussian_pairs(12, 4, seed=1)
    S = pairs.U.T @ pairs.U @ pairs.V.T @ pairs.V
    beaten = sum(bool(S[j, i] >= S[i, i]) for i in range(12) for j in range(12) if i != j)
    assert failing_share(pairs) == beaten / (12 * 11)


@pytest.mark.parametrize("load", [0.05, 0.3])
def test_the_exponent_of_the_picture_is_one(load):
    share = special.ndtr(-1 / math.sqrt(2 * load))
    assert exponent(share, load) == pytest.approx(1)
    assert exponent(special.ndtr(-1 / math.sqrt(2.5 * load)), load) == pytest.approx(0.8)


def test_instances_are_continued_to_one():
    value, error, more = exponent_in_large_dimension(0.25, 20, range(6))
    assert abs(value - 1) < 4 * error + 2 * more
    assert error < 0.1
