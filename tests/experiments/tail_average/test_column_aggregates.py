"""Columns of scores: newcomers, and who carries the gradient of an aggregate."""

import numpy as np
import pytest

from assocmem.book.claims import check
from assocmem.experiments.tail_average.column_aggregates import (
    compare_aggregates,
    measure_newcomer,
    newcomer_evidence,
)
from assocmem.theory.column_smoothing import smoothed_share


def test_scores_that_feel_the_smoothing_are_those_of_the_integral():
    felt, taken = measure_newcomer(4000, 2.0, 0.2, 5.0, draws=8, seed=[1, 2])
    assert felt.shape == taken.shape == (8,)
    assert felt.mean() == pytest.approx(smoothed_share(2.0, 0.2, 5.0), rel=0.02)
    again, _ = measure_newcomer(4000, 2.0, 0.2, 5.0, draws=8, seed=[1, 2])
    np.testing.assert_array_equal(felt, again)


def test_a_newcomer_takes_little_from_each():
    sizes = [100, 300, 1000]
    taken = [measure_newcomer(n, 1.0, 0.2, 5.0, draws=10, seed=n)[1] for n in sizes]
    found = check(**newcomer_evidence(sizes, taken))
    assert found.verdict == "holds"
    shifted = [t * n**0.5 for t, n in zip(taken, sizes, strict=True)]
    assert check(**newcomer_evidence(sizes, shifted)).verdict == "does not hold"


def test_carriers_of_both_aggregates():
    """At spread nearly zero all scores carry the log-sum-exp, at a large one the first alone."""
    columns = np.random.default_rng(1).standard_normal((3, 200))
    values, carriers = compare_aggregates(columns, np.array([1e-6, 200.0]), 0.1, 30.0)
    assert carriers["log-sum-exp"] == pytest.approx([200, 1], rel=0.2)
    assert values["log-sum-exp"] == pytest.approx([np.log(200), 200 * columns.max(axis=1).mean()], rel=1e-2)
    assert carriers["tail average"][1] == pytest.approx(20, rel=0.05)
    tail = np.sort(columns, axis=1)[:, -20:].mean()
    assert values["tail average"][1] == pytest.approx(200 * tail, rel=1e-3)


@pytest.mark.parametrize("taken", [[3.0, 3.0, 3.0], [0.0, 0.0, 0.0]])
def test_columns_that_all_lose_the_same(taken):
    sizes, mixed = [50, 52, 300], [0.01, 0.02, 0.05]
    same = [np.full(4, x) for x in taken]
    found = check(**newcomer_evidence(sizes, same))
    assert found.verdict == ("holds" if taken[0] else "not yet")
    noisy = [*same[:2], np.full(4, 3.0) + np.array([*mixed, 0.0])]
    assert np.isfinite(check(**newcomer_evidence(sizes, noisy)).measured).all()
