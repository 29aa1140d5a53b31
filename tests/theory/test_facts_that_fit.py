"""Facts that fit: Cover's count, the paper's law, small instances by linear programming, and information."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom

from assocmem.theory.facts_that_fit import (
    LIMITING_BITS,
    bits_per_parameter,
    cover_probability,
    dimension_of_answer,
    facts_at,
    facts_that_fit,
    fit_probability,
    fit_width,
    pairs_that_fit,
    score_dimensions,
)
from assocmem.theory.kinematics import critical_dimension, retrieval_probability, statistical_dimension


def fits(U, V, answers):
    """Whether some matrix gives every key a score of its answer that is larger than all others by one."""
    others = [(i, j) for i, a in enumerate(answers) for j in range(U.shape[1]) if j != a]
    rows = [np.outer(U[:, j] - U[:, answers[i]], V[:, i]).ravel() for i, j in others]
    found = linprog(
        np.zeros(U.shape[0] * V.shape[0]), np.array(rows), -np.ones(len(rows)), bounds=(None, None)
    )
    return found.status == 0


def instance(rng, d_in, d_out, m, n):
    return rng.standard_normal((d_out, m)), rng.standard_normal((d_in, n)), rng.integers(0, m, n)


def share_that_fits(d_in, d_out, m, n, count, *, each_once=False):
    rng = np.random.default_rng([d_in, d_out, m, n])
    found = 0
    for _ in range(count):
        U, V, answers = instance(rng, d_in, d_out, m, n)
        found += fits(U, V, np.arange(n) if each_once else answers)
    return found / count


# --- two targets: the perceptron ---


def test_two_targets_are_covers_perceptron():
    assert facts_that_fit(30, 7, 2) == pytest.approx(2 * 30, abs=1e-9)
    n = np.arange(1, 80)
    exact = cover_probability(n, 20)
    np.testing.assert_allclose(exact, binom.cdf(19, n - 1, 0.5), atol=1e-14)
    assert exact[39] == pytest.approx(0.5, abs=1e-14)  # Cover: at n = 2 d exactly
    assert np.all(exact[:20] == 1)
    np.testing.assert_allclose(fit_probability(n, 20, 9, 2), exact, atol=6e-3)


@pytest.mark.parametrize("d_out", [1, 3])
def test_covers_count_does_not_ask_how_large_targets_are(d_out):
    for n in (5, 6, 8):
        share = share_that_fits(3, d_out, 2, n, 150)
        exact = cover_probability(n, 3)
        assert share == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 150))


# --- any number of targets ---


@pytest.mark.parametrize(
    ("d_in", "d_out", "m", "n"), [(4, 4, 3, 9), (3, 5, 4, 8), (5, 2, 6, 8), (3, 3, 12, 7)]
)
def test_small_instances_are_near_the_law(d_in, d_out, m, n):
    """Within what four standard errors and a few per cent of the number of facts allow."""
    share = share_that_fits(d_in, d_out, m, n, 120)
    low, high = (fit_probability(c * n, d_in, d_out, m) for c in (1.18, 0.93))
    spread = 4 * 0.5 / math.sqrt(120)
    assert low - spread < share < high + spread
    wrong = fit_probability(n, d_in, d_out + 2 if m > d_out + 1 else d_out, m) if m > d_out + 1 else None
    assert wrong is None or abs(wrong - share) > 0.1


def test_as_many_targets_as_facts_are_the_papers_case():
    for d in (5, 40, 1000):
        n = pairs_that_fit(d, d)
        assert n * dimension_of_answer(n) == pytest.approx(d * d, rel=1e-9)
    n = 60
    d = np.array([12.0, 14.0, 16.0])
    for size in d:
        assert fit_probability(n, size, size, n) == pytest.approx(retrieval_probability(n, size), abs=1e-9)
    assert pairs_that_fit(critical_dimension(100), critical_dimension(100)) == pytest.approx(100, rel=1e-4)


@given(st.integers(1, 3000), st.integers(1, 3000))
def test_the_largest_number_of_pairs_solves_its_equation(d_in, d_out):
    if d_in * d_out < 2:
        return
    n = pairs_that_fit(d_in, d_out)
    assert n * dimension_of_answer(n) == pytest.approx(d_in * min(d_out, n - 1), rel=1e-9)
    assert (n + 0.5) * dimension_of_answer(n + 0.5) > d_in * min(d_out, n - 0.5)


def test_capacity_has_a_cusp_where_targets_stop_being_free():
    d = 12
    curve = [facts_that_fit(d, d, m) for m in range(2, 60)]
    top = int(np.argmax(curve)) + 2
    assert top == d + 1
    rises, falls = np.diff(curve)[: top - 2], np.diff(curve)[top - 2 :]
    assert rises.min() > 0 > falls.max()
    assert rises[-1] > 2 and falls[0] < -0.3  # a corner, not a smooth top


@given(st.floats(0.01, 0.99), st.integers(2, 200), st.integers(2, 200), st.sampled_from([2, 3, 40, 10**5]))
def test_a_probability_and_its_number_of_facts_are_inverse(probability, d_in, d_out, m):
    n = facts_at(probability, d_in, d_out, m)
    assert fit_probability(n, d_in, d_out, m) == pytest.approx(probability, abs=1e-9)


def test_the_width_is_that_between_probabilities():
    low, high = (facts_at(p, 50, 50, 300) for p in (0.84134, 0.15866))
    assert (high - low) / 2 == pytest.approx(fit_width(50, 50, 300), rel=0.01)
    assert facts_at(0.5, 50, 50, 300) == pytest.approx(facts_that_fit(50, 50, 300), rel=1e-3)


def test_longer_lists_let_more_facts_in():
    counts = [facts_that_fit(12, 12, 40, k) for k in (1, 2, 5, 39)]
    assert counts == sorted(counts)
    assert counts[-1] == pytest.approx(2 * 12 * 12)  # better than the average of all others: a half-space
    assert fit_probability(288, 12, 12, 40, 39) == pytest.approx(0.5, abs=1e-9)


# --- information ---


def test_bits_fall_from_two_towards_a_half_over_the_logarithm_of_two():
    assert bits_per_parameter(2) == pytest.approx(2, abs=1e-9)
    assert bits_per_parameter(50_257) == pytest.approx(1.0809, abs=1e-4)
    m = np.geomspace(2, 1e12, 200)
    bits = bits_per_parameter(m)
    assert np.all(np.diff(bits) < 0)
    assert np.all(bits > LIMITING_BITS)
    for value in (m[0], m[150]):
        rate = math.log2(value) * facts_that_fit(40, 60, value) / score_dimensions(40, 60, value)
        assert bits_per_parameter(float(value)) == pytest.approx(rate, rel=1e-12)


# --- refusals ---


@pytest.mark.parametrize(
    ("function", "arguments", "word"),
    [
        (facts_that_fit, (0, 5, 9), "d_in = 0"),
        (facts_that_fit, (5, float("nan"), 9), "d_out = nan"),
        (facts_that_fit, (5, 5, 1), "m = 1"),
        (facts_that_fit, (5, 5, 9, 9), "k = 9"),
        (facts_that_fit, (5, 5, 9, 1.0), "k = 1.0"),
        (pairs_that_fit, (1, 1), "d_in"),
        (fit_probability, (0, 5, 5, 9), "n = 0"),
        (facts_at, (1.0, 5, 5, 9), "probability = 1.0"),
        (cover_probability, (4.5, 3), "n = 4.5"),
    ],
)
def test_what_makes_no_sense_is_refused(function, arguments, word):
    with pytest.raises(ValueError, match=word):
        function(*arguments)


def test_statistical_dimension_is_what_one_fact_takes():
    assert dimension_of_answer(361) == pytest.approx(statistical_dimension(361), rel=1e-10)
    assert dimension_of_answer(40, 3) == statistical_dimension(40, 3)
