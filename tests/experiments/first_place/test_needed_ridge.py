"""A ridge that is small enough by the paper's argument, and what training does there."""

import math

import numpy as np
import pytest

from assocmem.experiments.first_place.needed_ridge import ridge_outcomes, sufficient_ridge


@pytest.mark.parametrize(("n", "margin"), [(10, 0.3), (100, 0.01)])
def test_the_sufficient_ridge_solves_its_inequality(n, margin):
    ridge = sufficient_ridge(n, margin)
    t = np.geomspace(1, 1e4, 100001) / margin
    least = np.min((n - 1) * np.exp(-t * margin) + ridge * t**2 / 2)
    assert least == pytest.approx(math.log(2) / n, rel=1e-4)


def test_retrievable_instances_are_retrieved_at_their_ridge_and_no_others():
    outcomes = ridge_outcomes(12, 5, range(4), (0.1,))
    assert {x.feasible for x in outcomes} == {True, False}
    assert all(x.retrieved == x.feasible for x in outcomes)
    assert all(x.ridge < 0.1 for x in outcomes if x.feasible)
    assert not all(x.at_others[0] for x in outcomes if x.feasible)
