"""Linear programs for the tail average and for the place of a signal that beats it."""

import numpy as np
import pytest

from assocmem.book.claims import FORCE, check
from assocmem.experiments.tail_average.criterion import (
    definition_evidence,
    fractional_tail_average,
    least_with_ahead,
    most_ahead,
    place_evidence,
)
from assocmem.pairs.tail_average import tail_average


def test_the_last_score_counts_in_part():
    x = np.array([1.0, 5.0, 3.0, 2.0])
    assert fractional_tail_average(x, 0.5) == pytest.approx(tail_average(x, 0.5))
    assert fractional_tail_average(x, 0.375) == pytest.approx((5 + 0.5 * 3) / 1.5)


def test_the_least_tail_average_is_that_of_the_best_column():
    """With few ahead the rest of the tail is at the floor, with many the tail is full of them."""
    assert least_with_ahead(2, 10, 4) == pytest.approx((2 - 20) / 4)
    assert least_with_ahead(7, 10, 4) == pytest.approx(1)
    assert [most_ahead(6, k) for k in range(1, 7)] == [0, 1, 2, 3, 4, 5]


def test_checks_hold_with_force_and_can_fail():
    x = np.random.default_rng(1).standard_normal(23)
    for evidence in (definition_evidence(x, [0.1, 0.5, 1.0]), place_evidence([(7, 0.3), (9, 1.0)])):
        found = check(**evidence)
        assert found.verdict == "holds"
        assert found.force > FORCE
        assert check(**evidence | {"measured": found.falsehood_predicted}).verdict == "does not hold"
