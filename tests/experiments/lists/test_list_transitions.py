"""Counts of verdicts on lists tell where they cross one half."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import special

from assocmem.experiments.lists.list_transitions import list_transition, tally_lists


def test_undecided_instances_do_not_count():
    outcomes = pd.DataFrame(
        {"d": [8, 8, 8, 9], "n": [20, 20, 20, 30], "feasible": [1, math.nan, 0, 1], "seed": [0, 1, 2, 0]}
    )
    counted = tally_lists(outcomes)
    assert [x.tolist() for x in counted[8]] == [[20], [1], [2]]
    assert [x.tolist() for x in counted[9]] == [[30], [1], [1]]


def test_place_and_width_come_out():
    n, trials = np.arange(230, 345, 10), np.full(12, 1000)
    yes = np.round(1000 * special.ndtr((288 - n) / 15))
    found = list_transition(24, n, yes, trials)
    assert found.load == pytest.approx(288 / 24**2, abs=3 * found.error)
    assert found.width == pytest.approx(15 / 24**2, rel=0.05)
    few = list_transition(24, n, np.round(yes / 100), np.full(12, 10))
    assert 5 < few.error / found.error < 15


@pytest.mark.parametrize("yes", [[0, 0], [10, 10]])
def test_counts_that_are_all_alike_have_no_transition(yes):
    with pytest.raises(ValueError, match="successes"):
        list_transition(8, [20, 40], yes, [10, 10])
