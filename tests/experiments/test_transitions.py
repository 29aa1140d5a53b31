"""Transitions fitted to counts: drawn from a prediction, narrower than it, or too few."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import special

from assocmem.experiments.transitions import tally, transition, with_both_verdicts
from assocmem.theory.kinematics import pooled_moments, retrieval_probability, statistical_dimension


def test_a_transition_is_found_from_counts():
    n, d = 300, np.arange(38, 50)
    exact = 1e6 * retrieval_probability(n, d, shift=-0.2)
    found = transition(n, d, exact, np.full(12, 1e6))
    assert found.half == pytest.approx(statistical_dimension(n) - 0.2, abs=1e-3)
    assert found.stretch == pytest.approx(1, abs=0.01)
    coarse = transition(n, d, np.round(exact / 1e5), np.full(12, 10))
    assert abs(coarse.half - found.half) < 3 * coarse.error
    assert coarse.error == pytest.approx(found.error * math.sqrt(1e5), rel=0.35)
    assert coarse.stretch_error > 10 * found.stretch_error


def test_the_error_of_a_transition_is_its_scatter():
    n, d, rng = 100, np.arange(19, 25), np.random.default_rng(0)
    share = retrieval_probability(n, d, shift=-0.1)
    found = [transition(n, d, rng.binomial(60, share), np.full(6, 60)) for _ in range(150)]
    halves, errors = np.array([(f.half, f.error) for f in found]).T
    assert halves.mean() == pytest.approx(statistical_dimension(n) - 0.1, abs=4 * halves.std() / 150**0.5)
    assert errors.mean() == pytest.approx(halves.std(), rel=0.2)


def test_a_narrower_transition_is_noticed_and_failures_far_above_are_not():
    n, d = 50, np.arange(10, 20)
    mean, variance = pooled_moments(n)
    exact = 1e5 * special.ndtr((d**2 / n - mean + 0.3) / math.sqrt(variance / n) / 0.8)
    exact[-3:] -= 30
    found = transition(n, d, exact, np.full(10, 1e5))
    assert found.stretch == pytest.approx(0.8, abs=0.03)
    assert found.half == pytest.approx(mean - 0.3, abs=0.02)


def test_dimensions_far_apart_leave_the_place_open():
    found = transition(30, [8, 12], [0, 5], [5, 5])
    assert 8**2 / 30 < found.half < 12**2 / 30
    assert 0.5 < found.error < 2
    unused = transition(30, [8, 9, 10], [0, 0, 3], [0, 5, 5])
    assert unused == transition(30, [9, 10], [0, 3], [5, 5])


def test_a_transition_needs_both_outcomes():
    with pytest.raises(ValueError, match="successes = .*: must be neither all 0 nor all equal to trials"):
        transition(30, [8, 9], [0, 0], [5, 5])


def test_outcomes_are_counted_by_size_and_dimension():
    rows = [(5, 3, 1), (5, 2, 0), (5, 3, math.nan), (5, 3, 0), (9, 4, 1)]
    counts = tally(pd.DataFrame(rows, columns=["n", "d", "feasible"], dtype=float))
    found = {size: [list(map(int, part)) for part in parts] for size, parts in counts.items()}
    assert found == {5: [[2, 3], [0, 1], [1, 2]], 9: [[4], [1], [1]]}


def test_sizes_at_which_all_came_out_alike_are_left_out(capsys):
    d, trials = np.array([3, 4]), np.array([5, 5])
    counts = {9: (d, np.array([0, 2]), trials), 5: (d, trials, trials), 7: (d, 0 * trials, trials)}
    assert with_both_verdicts(counts) == {9: counts[9]}
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" is ")[0] for line in lines] == ["n = 5", "n = 7"]
    assert with_both_verdicts({9: counts[9]}) == {9: counts[9]}
    assert capsys.readouterr().out == ""
