"""How keys fare, on scores that are written down."""

import numpy as np
import pytest
import torch

from assocmem.experiments.tail_average.key_outcomes import count_successes, judge_keys, pool_keys
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins, signal_percentiles

S = np.array([[3.0, 0.0, 1.0], [1.0, 2.0, 1.0], [2.0, 4.0, 1.0]])


def judged(r):
    identity = torch.eye(3, dtype=torch.float64)
    return judge_keys(Pairs(identity, identity), torch.from_numpy(S), r)


def test_outcomes_of_a_small_memory():
    """Keys beat both competitors, one of two, and tie with both."""
    keys = judged(1.0)
    np.testing.assert_array_equal(keys.first, [1, -2, 0])
    np.testing.assert_array_equal(keys.tail, [1.5, 0, 0])
    np.testing.assert_array_equal(keys.ahead, [0, 1, 0])
    np.testing.assert_array_equal(keys.share, [1, 0.5, 1])


def test_a_tail_of_one_is_first_place():
    keys = judged(0.5)
    np.testing.assert_array_equal(keys.tail, keys.first)


def test_outcomes_are_those_read_off_in_blocks():
    pairs = gaussian_pairs(12, 4, seed=1)
    W = torch.eye(4, dtype=torch.float64)
    keys = judge_keys(pairs, W, 0.3)
    np.testing.assert_allclose(keys.first, retrieval_margins(pairs, W).numpy(), atol=1e-12)
    np.testing.assert_allclose(keys.share, signal_percentiles(pairs, W).numpy())
    np.testing.assert_allclose(keys.share, 1 - keys.ahead / 11)


def test_keys_are_pooled_in_order():
    one, other = judged(1.0), judged(0.5)
    both = pool_keys(x for x in (one, other))
    np.testing.assert_array_equal(both.tail, [*one.tail, *other.tail])
    assert len(both.ahead) == 6 and both.ahead.dtype == one.ahead.dtype


@pytest.mark.parametrize(("places", "expected"), [([1, 1], [0, 0]), ([2, 1], [2, 0]), ([2, 3], [2, 1])])
def test_instances_count_in_which_all_keys_win(places, expected):
    rows = [[judged(1.0), judged(1.0)], [judged(1.0)]]
    assert count_successes(rows, lambda keys, k: keys.ahead < k, places) == expected
    assert count_successes(rows, lambda keys: keys.share >= 0.5) == [2, 1]
