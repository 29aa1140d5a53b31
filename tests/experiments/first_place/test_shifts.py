"""Shifts of the transition, on counts made up to follow one and on counts too few for a normal error."""

import math

import numpy as np
import pytest

from assocmem.book.claims import check
from assocmem.experiments.first_place.shifts import (
    CommonWidth,
    coefficient_evidence,
    common_width,
    fit_law,
    instances_needed,
    shift_interval,
    transitions_of_width,
)
from assocmem.experiments.transitions import transition
from assocmem.theory.kinematics import critical_dimension, log_probabilities, statistical_dimension
from assocmem.theory.unequal_lengths import length_cost

WIDTH = CommonWidth(0.85, 0.02, 0.0, 3)


def shares(n, shift, stretch, reach=3):
    """Dimensions around the transition, and the probabilities there."""
    middle = round(math.sqrt(n * (statistical_dimension(n) + shift)))
    d = np.arange(middle - reach, middle + reach + 1)
    return d, np.exp(log_probabilities(n, d, 1, shift, stretch)[0])


def made_up(shift, trials, stretch=0.85, sizes=(50, 200, 1000), rng=None):
    """Counts that follow shifts given as a function of n, exactly or drawn."""
    counts = {}
    for n in sizes:
        d, p = shares(n, shift(n), stretch)
        drawn = rng.binomial(trials, p) if rng else trials * p
        counts[n] = d, drawn, np.full(len(d), trials)
    return counts


def test_exact_counts_give_back_the_width_and_the_shifts():
    counts = made_up(lambda n: -0.3 / math.log(n), 10**5)
    width = common_width(counts)
    assert width.stretch == pytest.approx(0.85, abs=2e-3)
    assert width.deviance == pytest.approx(0, abs=0.05)
    assert width.freedom == 2
    for n, found in transitions_of_width(counts, width).items():
        assert found.half - statistical_dimension(n) == pytest.approx(-0.3 / math.log(n), abs=1e-3)
        assert found.stretch == width.stretch


def test_a_width_that_changes_with_size_is_noticed():
    narrow, wide = (made_up(lambda n: -0.1, 300, stretch) for stretch in (0.7, 1.0))
    assert common_width(narrow | {50: wide[50]}).probability < 1e-4
    alone = common_width({50: wide[50]})
    assert alone.stretch == pytest.approx(1.0, abs=0.02)
    assert (alone.deviance, alone.freedom, alone.probability) == (0.0, 0, 1.0)


def test_many_instances_give_the_place_and_error_of_a_fit_by_itself():
    counts = made_up(lambda n: -0.2, 400)[200]
    interval, alone = shift_interval(200, *counts, 0.85), transition(200, *counts)
    assert interval.shift == pytest.approx(alone.half - statistical_dimension(200), abs=2e-3)
    assert (interval.high - interval.low) / 4 == pytest.approx(alone.error, rel=0.05)


def test_intervals_of_three_instances_at_each_dimension_cover_the_truth():
    rng, n = np.random.default_rng(0), 1000
    d, _ = shares(n, -0.12, 0.85)
    covered = []
    for shift in rng.uniform(-0.22, -0.02, 400):  # places anywhere between two dimensions
        drawn = rng.binomial(3, np.exp(log_probabilities(n, d, 1, shift, 0.85)[0]))
        found = shift_interval(n, d, drawn, np.full(len(d), 3), 0.85)
        assert found.low < found.shift < found.high
        covered.append(found.low < shift < found.high)
    assert 0.92 < np.mean(covered) < 0.98


def test_an_interval_is_found_where_outcomes_do_not_overlap():
    found = shift_interval(1000, [88, 89, 90], [0, 0, 3], [3, 0, 3], 0.85)
    assert 88**2 / 1000 < found.shift + statistical_dimension(1000) < 90**2 / 1000
    assert 0.02 < found.high - found.low < 0.4


def test_a_law_is_found_and_another_one_rejected():
    counts = made_up(lambda n: -0.6 / math.log(n), 2000)
    inverse = {n: [-1 / math.log(n)] for n in counts}
    right = fit_law(counts, inverse, WIDTH)
    assert right.coefficients == pytest.approx([0.6], abs=3 * right.errors[0])
    assert right.freedom == 2
    assert right.probability > 0.9
    constant = fit_law(counts, {n: [-1.0] for n in counts}, WIDTH)
    none = fit_law(counts, {n: [] for n in counts}, WIDTH)
    assert constant.probability < 1e-3
    assert none.freedom == 3
    assert none.deviance > constant.deviance > right.deviance
    both = fit_law(counts, {n: [*inverse[n], -1.0] for n in counts}, WIDTH)
    assert both.coefficients == pytest.approx([0.6, 0.0], abs=0.03)
    assert both.deviance <= right.deviance + 1e-6


def test_deviances_of_a_true_law_are_those_of_chi_squared():
    rng = np.random.default_rng(1)
    deviances = []
    for _ in range(60):
        counts = made_up(lambda n: -0.15, 6, rng=rng)
        deviances.append(fit_law(counts, {n: [-1.0] for n in counts}, WIDTH).deviance)
    assert np.mean(deviances) == pytest.approx(2, abs=4 * 2 / 60**0.5)


def test_the_instances_needed_give_that_error():
    n, width = 1000, CommonWidth(0.85, 0.02, 0.0, 3)
    needed = instances_needed(n, 0.06, width, errors=3.0)
    d, p = shares(n, -0.12, 0.85, reach=6)
    trials = np.full(len(d), 100 * needed)
    found = shift_interval(n, d, trials * p, trials, 0.85)
    assert (found.high - found.low) / 4 == pytest.approx(0.02 / 10, rel=0.1)
    assert instances_needed(n, 0.03, width) == pytest.approx(4 * needed)
    step = (critical_dimension(n) + 1) ** 2 / n - critical_dimension(n) ** 2 / n
    assert 0.15 < step < 0.2  # one dimension more


@pytest.mark.parametrize("coefficient, verdict", [(-3.0, "holds with limits"), (-2.4, "does not hold")])
def test_the_coefficient_is_found_and_another_one_rejected(coefficient, verdict):
    sizes = (20, 60, 200, 1000)
    costs = {n: length_cost(n, critical_dimension(n)) for n in sizes}

    def shift(n):
        return -0.6 * costs[n] + (coefficient + 3) * math.log(math.log(n))

    counts = made_up(shift, 4000, sizes=sizes)
    evidence = coefficient_evidence(counts, costs, WIDTH, -2.4, limits="far away")
    assert evidence["measured"] == pytest.approx(coefficient, abs=0.01)
    assert check(**evidence).verdict == verdict


@pytest.mark.parametrize(
    "call, named",
    [
        (lambda counts: common_width({}), "counts = "),
        (lambda counts: fit_law(counts, {}, WIDTH), "terms = "),
        (lambda counts: fit_law(counts, {n: [1.0, 2.0] for n in counts}, WIDTH), "terms = "),
        (lambda counts: shift_interval(50, *counts[50], 0.0), "stretch = "),
        (lambda counts: shift_interval(50, [12, 13], [0, 0], [5, 5], 0.8), "successes = "),
        (lambda counts: instances_needed(50, 0.0, WIDTH), "difference = "),
    ],
)
def test_what_cannot_be_fitted_is_refused(call, named):
    with pytest.raises(ValueError, match=named):
        call(made_up(lambda n: -0.1, 20))
