"""The proof's array over instances, and the sizes from which its conditions hold."""

import math

import numpy as np
import pytest

from assocmem.deciding.paper_certificate import cutoff, dual_array, predicted_size
from assocmem.experiments.first_place.proof_arrays import CONDITIONS, array_size, onset, size_without_overlap
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.sizes import dimension_at_ratio, top1_ratio


def test_sizes_are_root_mean_squares_with_the_error_of_the_mean():
    n, d = 300, 20
    squares = np.array([dual_array(gaussian_pairs(n, d, seed=s)).size ** 2 for s in range(3)])
    found = array_size(n, d, range(3))
    assert found.root == pytest.approx(math.sqrt(squares.mean()))
    assert 2 * found.root * found.error == pytest.approx(squares.std(ddof=1) / math.sqrt(3))
    assert found.predicted == pytest.approx(predicted_size(math.log(n), top1_ratio(n, d)))


def test_without_overlap_the_rare_events_are_left():
    n, ratio = 10_000, 1.0
    d = dimension_at_ratio(n, ratio)
    alone, whole = size_without_overlap(n, ratio), float(predicted_size(math.log(n), top1_ratio(n, d)))
    assert 0 < alone < whole
    assert whole**2 - alone**2 == pytest.approx(d * math.log(n) ** 5 / n)


def test_onset_is_where_a_condition_last_fails():
    log_n = np.linspace(math.log(10), 40, 20_000)
    twelve = 12 * math.log(10)
    assert onset(lambda x, ratio: x - ratio * twelve, 1.0, log_n) == "$10^{12.0}$"
    assert onset(lambda x, ratio: x - ratio * twelve, 0.5, log_n) == "$10^{6.0}$"
    assert onset(lambda x, _: (x - twelve) * (x - 2), 1.0, log_n) == "$10^{12.0}$"
    assert onset(lambda x, _: x, 1.0, log_n) == "at most $10^{1.0}$"
    assert onset(lambda x, _: x - 50, 1.0, log_n) == "further"


def test_conditions_are_the_proofs_at_sizes_that_exist():
    """The number of targets compared with is rounded down on instances; here it is a real number."""
    many, spanning, *small = CONDITIONS.values()
    for n, ratio in ((10**4, 1.0), (10**6, 0.5), (10**8, 1.5)):
        r, d, log_n = cutoff(n), dimension_at_ratio(n, ratio), np.array([math.log(n)])
        assert math.exp(many(log_n, ratio)[0]) == pytest.approx(r * n / d**2, rel=0.02)
        assert math.exp(spanning(log_n, ratio)[0]) == pytest.approx(r / d, rel=0.02)
        size = float(predicted_size(math.log(n), ratio))
        assert [float(f(log_n, ratio)[0]) for f in small] == pytest.approx(
            [-math.log(size), -math.log(math.pi * size)]
        )


def test_the_array_becomes_small_later_at_a_larger_ratio():
    one = CONDITIONS["the array is of size 1"]
    assert onset(one, 0.5) == "$10^{16.5}$"
    assert float(predicted_size(16.4 * math.log(10), 0.5)) > 1 > predicted_size(16.6 * math.log(10), 0.5)
    power = [float(onset(one, ratio).strip("$10^{}")) for ratio in (0.5, 1.0, 1.5)]
    assert power == sorted(power)
    assert onset(one, 1.99) == "further"
