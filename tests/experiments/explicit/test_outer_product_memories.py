"""What the sum of outer products does on instances, against whole score matrices and the laws."""

import math

import numpy as np
import pytest

from assocmem.experiments.explicit.outer_product_memories import dips_and_rises, failing_keys, percentiles
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import scores
from assocmem.theory.outer_products import percentile_mean


@pytest.fixture
def pairs():
    return gaussian_pairs(60, 18, seed=3)


@pytest.fixture
def S(pairs):
    return scores(pairs, correlation_memory(pairs)).numpy()


def test_failing_keys_are_counted(pairs, S):
    failing = sum(S[i, i] <= np.delete(S[:, i], i).max() for i in range(60))
    assert 0 < failing < 60
    assert failing_keys(pairs) == failing


def test_dips_and_rises_say_who_fails(pairs, S):
    dip, rise = dips_and_rises(pairs)
    unit = math.sqrt(60 / 18**2 * math.log(60))
    np.testing.assert_allclose(1 - dip * unit, S.diagonal())
    np.testing.assert_allclose(rise * unit, [np.delete(S[:, i], i).max() for i in range(60)])
    far_apart = math.sqrt(18**2 / (60 * math.log(60)))
    assert (dip + rise >= far_apart).sum() == failing_keys(pairs)


def test_percentiles_are_shares_of_competitors(S):
    below = [(np.delete(S[:, i], i) <= S[i, i]).mean() for i in range(60)]
    np.testing.assert_allclose(percentiles(60, 18, seed=3), below)
    assert percentiles(1600, 40, seed=0).mean() == pytest.approx(percentile_mean(1.0), abs=0.02)
