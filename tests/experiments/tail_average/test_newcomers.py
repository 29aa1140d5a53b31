"""Columns of scores and newcomers to them, and the checks of Lemma 4 that they make."""

from dataclasses import replace

import numpy as np
import pytest

from assocmem.book.claims import FORCE, check
from assocmem.experiments.tail_average.newcomers import (
    OUT_OF_REACH,
    felt_evidence,
    height_evidence,
    measure_columns,
    payer_evidence,
    size_evidence,
    spread_evidence,
    threshold_evidence,
)

R, BETA = 0.2, 3.0
HEIGHTS = (-1.0, OUT_OF_REACH)


@pytest.fixture(scope="module")
def columns():
    at = {"draws": 8, "seed": [1, 2]}
    return [measure_columns(3000, rho, R, BETA, HEIGHTS, **at) for rho in (0.05, 0.5, 4.0)]


@pytest.mark.parametrize(
    ("evidence", "others"),
    [
        (threshold_evidence, (R,)),
        (felt_evidence, (R, BETA)),
        (spread_evidence, ()),
        (height_evidence, (HEIGHTS,)),
        (payer_evidence, ()),
    ],
)
def test_each_check_holds_with_force_and_can_fail(columns, evidence, others):
    arguments = evidence(columns, *others)
    found = check(**arguments)
    assert found.verdict == "holds"
    assert found.force > FORCE
    wrong = check(**arguments | {"measured": found.falsehood_predicted})
    assert wrong.verdict == "does not hold"


def test_columns_are_drawn_again_alike(columns):
    again = measure_columns(3000, 4.0, R, BETA, HEIGHTS, draws=8, seed=[1, 2])
    np.testing.assert_array_equal(again.taken, columns[-1].taken)
    assert all(c.rises == 0 for c in columns)
    assert (columns[0].taken[0] < columns[0].taken[1]).all()


def test_a_newcomer_takes_little_from_each():
    columns = [measure_columns(n, 1.0, R, BETA, draws=10, seed=n) for n in (100, 300, 1000)]
    found = check(**size_evidence(columns))
    assert found.verdict == "holds"
    assert found.force > FORCE
    shifted = [replace(c, taken=c.taken * c.n**0.5) for c in columns]
    assert check(**size_evidence(shifted)).verdict == "does not hold"


@pytest.mark.parametrize("taken", [3.0, 0.0])
def test_columns_that_all_lose_the_same(taken):
    columns = [measure_columns(n, 1.0, R, BETA, draws=4, seed=n) for n in (50, 52, 300)]
    same = [replace(c, taken=np.full((1, 4), taken)) for c in columns]
    found = check(**size_evidence(same))
    assert found.verdict == ("holds" if taken else "not yet")
