"""Columns of scores: who carries the gradient of an aggregate."""

import numpy as np
import pytest

from assocmem.experiments.tail_average.column_aggregates import compare_aggregates


def test_carriers_of_both_aggregates():
    """At spread nearly zero all scores carry the log-sum-exp, at a large one the first alone."""
    columns = np.random.default_rng(1).standard_normal((3, 200))
    values, carriers = compare_aggregates(columns, np.array([1e-6, 200.0]), 0.1, 30.0)
    assert carriers["log-sum-exp"] == pytest.approx([200, 1], rel=0.2)
    assert values["log-sum-exp"] == pytest.approx([np.log(200), 200 * columns.max(axis=1).mean()], rel=1e-2)
    assert carriers["tail average"][1] == pytest.approx(20, rel=0.05)
    tail = np.sort(columns, axis=1)[:, -20:].mean()
    assert values["tail average"][1] == pytest.approx(200 * tail, rel=1e-3)
