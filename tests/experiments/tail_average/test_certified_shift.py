"""Laws of the certified shift, found again in counts that are made of them."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from assocmem.experiments.tail_average.certified_shift import (
    Counts,
    as_expected,
    counts_near_half,
    fit_shift,
    free_power,
    length_costs,
    power_law,
)
from assocmem.pairs.sizes import tail_count
from assocmem.theory.kinematics import log_probabilities, pooled_moments
from assocmem.theory.tail_lengths import limiting_cost


@cache
def designed(rs=(0.15, 0.4), sizes=(40, 160, 640), instances=10_000):
    """Sizes and dimensions of a measurement that has not been made."""
    found = []
    for r in rs:
        for n in sizes:
            k = tail_count(r, n - 1)
            mean = pooled_moments(n, k)[0]
            d = np.round(np.sqrt(n * mean)) + np.arange(-1, 2)
            found.append(Counts(r, n, k, d, np.zeros(3), np.full(3, float(instances)), mean))
    return found


def made(power, logs=0.0, factor=0.1):
    """Counts that a law expects, with a factor of one size at the middle dimension."""
    law = power_law(designed(), power, logs)
    middle = float(np.mean(law / [x.kinematic for x in designed()]))
    start = fit_shift(half_of_all(), law)
    fit = type(start)(np.array([factor, 0.5 * factor]) / middle, start.errors, 0.85, 0.0)
    return law, fit, as_expected(designed(), law, fit)


def half_of_all():
    return [
        Counts(x.r, x.n, x.k, x.d, np.array([0.2, 0.5, 0.8]) * x.decided, x.decided, x.kinematic)
        for x in designed()
    ]


def test_a_fit_finds_the_factors_and_the_width_again():
    law, put, counts = made(1.0)
    found = fit_shift(counts, law)
    np.testing.assert_allclose(found.factors, put.factors, rtol=1e-3)
    assert found.stretch == pytest.approx(0.85, rel=1e-3)


def test_a_power_is_found_again_with_an_interval_around_it():
    power = 0.6
    _, _, counts = made(power)
    found = free_power(counts, power_law(counts, 0))
    assert found.power == pytest.approx(power, abs=0.01)
    assert found.low < power < found.high
    assert found.high - found.low < 0.2


def test_the_likelihood_of_a_fit_is_that_of_all_counts_one_after_the_other():
    law, _, counts = made(1.0)
    found = fit_shift(counts, law, together=True)
    told = 0.0
    for mine, shift in zip(counts, -found.factors[0] * law, strict=True):
        yes, no = log_probabilities(mine.n, mine.d, mine.k, shift, found.stretch)
        told -= mine.yes @ yes + (mine.decided - mine.yes) @ no
    assert found.surprise == pytest.approx(told, rel=1e-10)


def test_another_power_is_less_likely():
    law, _, counts = made(1.0)
    right, wrong = fit_shift(counts, law), fit_shift(counts, power_law(counts, 0.5))
    assert 2 * (wrong.surprise - right.surprise) > 10


def test_errors_fall_with_the_root_of_the_number_of_instances():
    law, _, counts = made(1.0)
    fewer = [Counts(x.r, x.n, x.k, x.d, x.yes / 100, x.decided / 100, x.kinematic) for x in counts]
    ratio = fit_shift(fewer, law).errors / fit_shift(counts, law).errors
    np.testing.assert_allclose(ratio, 10, rtol=0.05)


def test_one_factor_for_all_is_between_those_of_the_tails():
    law, put, counts = made(1.0)
    (factor,) = fit_shift(counts, law, together=True).factors
    assert put.factors.min() < factor < put.factors.max()


def test_a_law_with_a_logarithm():
    plain, logarithmic = power_law(designed(), 1.0), power_law(designed(), 1.0, 1.0)
    np.testing.assert_allclose(logarithmic / plain, [np.log(x.dimension) for x in designed()])


def test_costs_of_lengths_come_near_their_limit():
    (count,) = designed(rs=(0.4,), sizes=(640,))
    assert length_costs([count], seed=0)[0] * count.dimension == pytest.approx(limiting_cost(0.4), rel=0.15)


def test_counts_are_taken_near_the_half_point():
    rows = [(0.4, 40.0, d, yes) for d in (2.0, 7.0, 8.0, 9.0, 30.0) for yes in (d > 7.5, d > 8.5)]
    rows += [(0.4, 80.0, 12.0, 1.0)] * 3  # all alike
    table = pd.DataFrame(rows, columns=["r", "n", "d", "feasible"]).astype(float)
    (found,) = counts_near_half(table)
    assert (found.n, found.k) == (40, 16)
    assert found.d.tolist() == [7, 8, 9]
    assert found.yes.tolist() == [0, 1, 2]
    assert found.decided.tolist() == [2, 2, 2]


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ValueError, match="^counts = "):
        fit_shift([], np.ones(0))
    with pytest.raises(ValueError, match="^law = "):
        fit_shift(half_of_all(), np.ones(2))
    with pytest.raises(ValueError, match="^law = "):
        as_expected(designed(), -np.ones(len(designed())), fit_shift(half_of_all(), power_law(designed(), 1)))
