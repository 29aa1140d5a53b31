"""Rules that forget: exact moments against the rules themselves, small steps, streams, shares by age."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assocmem.theory import forgetting as theory
from assocmem.theory import least_squares


def written(U, V, step, keep):
    """The memory after all pairs, one after another; a step of None adds them up."""
    d = len(U)
    W = np.zeros((d, d))
    for u, v in zip(U.T, V.T, strict=True):
        W = keep * (W if step is None else W - step * np.outer(W @ v, v))
        W += np.outer(u if step is None else step * u, v)
    return W


def drawn(n, d, step, keep, runs):
    """Signals, mean squares of competitors and successes by age, for each run."""
    signals, rivals, retrieved = [], [], []
    for run in range(runs):
        U, V = np.random.default_rng([n, d, run]).standard_normal((2, d, n)) / math.sqrt(d)
        S = U.T @ written(U, V, step, keep) @ V
        retrieved.append((S.argmax(axis=0) == np.arange(n))[::-1])
        signals.append(np.diag(S)[::-1].copy())
        np.fill_diagonal(S, 0)
        rivals.append(np.sum(S**2, axis=0)[::-1] / (n - 1))
    return np.array(signals), np.array(rivals), np.array(retrieved)


CASES = [(0.3, 1.0), (1.0, 1.0), (1.6, 1.0), (0.5, 0.99), (None, 0.99), (None, 1.0)]


@pytest.mark.parametrize(("step", "keep"), CASES)
def test_moments_are_those_of_the_rule(step, keep):
    """At three ranges of ages, each within four standard errors of the runs."""
    n, d, runs = 120, 30, 60
    age = np.arange(n)
    if step is None:
        at = theory.decayed_moments(age, n, d, keep=keep)
    else:
        at = theory.delta_moments(age, n, d, step=step, keep=keep)
    signals, rivals, retrieved = drawn(n, d, step, keep, runs)
    squares = (signals - at.signal) ** 2
    share = theory.retrieved_by_age(age, n, d, step=step, keep=keep)
    for part in (slice(0, 10), slice(10, 40), slice(40, n)):
        pairs = [(signals, at.signal), (squares, at.signal_variance), (rivals, at.rival_variance)]
        for seen, expected in pairs:
            means = seen[:, part].mean(axis=1)
            error = means.std() / math.sqrt(runs)
            assert abs(means.mean() - np.mean(expected[part])) < 4 * error
        means = retrieved[:, part].mean(axis=1)  # a picture, so that some of it is off
        error = means.std() / math.sqrt(runs)
        assert abs(means.mean() - share[part].mean()) < 4 * error + 0.025


def test_sums_over_ages_without_their_closed_forms():
    """The recursions, one write after another."""
    n, d, eta, keep = 40, 9, 0.7, 0.95
    f, r, squares, powers = 1.0, 1.0, [], []
    for _ in range(n):
        squares.append(f)
        powers.append(r)
        f = keep**2 * (f * (1 - 2 * eta / d + 2 * eta**2 / d**2) + eta**2 / d**2 * r)
        r = keep**2 * r * (1 - (2 * eta - eta**2 * (1 + 2 / d)) / d)
    fourth = 1 + 2 / d
    at = theory.delta_moments(np.arange(n), n, d, step=eta, keep=keep)
    for age in (0, 1, 17, n - 1):
        own = powers[age] - fourth * squares[age] * (2 * eta - eta**2 * (1 + 4 / d))
        weights = sum(powers[:age]) + keep**2 * own * sum(powers[: n - 1 - age])
        assert at.crosstalk[age] == pytest.approx(eta**2 * weights / d**2, rel=1e-10)
        mean = eta * (keep * (1 - eta / d)) ** age
        variance = eta**2 * fourth**2 * squares[age] - mean**2 + at.crosstalk[age]
        assert at.signal[age] == pytest.approx(mean)
        assert at.signal_variance[age] == pytest.approx(variance, rel=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 1), st.floats(1e-3, 5))
def test_small_steps_are_one_law(part, x):
    """Crosstalk over the squared signal is that of outer products times a factor of age and x alone."""
    n, d = 10**9, 10**7
    age = part * (n - 1)
    factor = math.exp(2 * x * part) * theory.last_written_factor(x)
    delta = theory.delta_moments(age, n, d, step=x * d / n)
    assert delta.crosstalk / delta.signal**2 == pytest.approx(n / d**2 * factor, rel=0.2)
    decayed = theory.decayed_moments(age, n, d, keep=math.exp(-x / n))
    assert decayed.crosstalk / decayed.signal**2 == pytest.approx(n / d**2 * factor, rel=1e-5)


def test_first_and_last():
    x = np.array([1e-9, 0.3, 1.0, 4.0])
    np.testing.assert_allclose(theory.first_written_factor(x), np.expm1(2 * x) / (2 * x), rtol=1e-12)
    np.testing.assert_allclose(theory.last_written_factor(x), -np.expm1(-2 * x) / (2 * x), rtol=1e-12)
    assert theory.first_written_factor(0) == theory.last_written_factor(0.0) == 1
    ratio = theory.first_written_factor(x) / theory.last_written_factor(x)
    np.testing.assert_allclose(ratio, np.exp(2 * x))


def test_in_the_long_run_noise_reaches_its_limit():
    n, d, eta = 10**7, 1000, 0.4
    at = theory.delta_moments(20000, n, d, step=eta)
    assert at.crosstalk == pytest.approx(eta / ((2 - eta) * d), rel=2e-3)
    new = theory.delta_moments(0, n, d, step=eta)
    assert new.crosstalk == pytest.approx(eta / ((2 - eta) * d) - eta**2 / d, rel=5e-3)
    whole = theory.delta_moments(0, n, 10**6, step=1.0)
    assert whole.crosstalk < 1e-5 / 10**3  # a step of one writes the newest key without crosstalk


def test_without_forgetting_they_are_outer_products():
    n, d = 500, 80
    at = theory.decayed_moments([0, 499], n, d, keep=1.0)
    np.testing.assert_allclose(at.signal, 1)
    np.testing.assert_allclose(at.crosstalk, (n - 1) / d**2)
    for n in (300, 1000):
        plain = least_squares.least_squares_half_ratio(math.log(n), rule="outer products")
        assert theory.forgetful_half_ratio(n, 1e-3) == pytest.approx(plain, rel=5e-3)
        assert theory.forgetful_half_ratio(n, 1e-3, rule="decayed") == pytest.approx(plain, rel=5e-3)


def test_forgetting_costs_where_every_pair_counts():
    at = [theory.forgetful_half_ratio(10**6, x) for x in (0.01, 0.3, 1.0)]
    assert at[0] < at[1] < at[2]
    assert at[2] / at[0] < theory.first_written_factor(1.0)  # only the oldest pay in full
    few = [theory.forgetful_half_ratio(300, x) for x in (1e-3, 0.1)]
    assert 0.96 < few[1] / few[0] < 1  # at small sizes a delta pass gains a little


def test_a_stream_keeps_less_by_the_factor_e():
    d, log_n = 10**6, 10.0
    step = theory.best_stream_step(d, log_n)
    assert step == pytest.approx(math.e * 8 * log_n / (2 * d), rel=1e-3)
    most = theory.stream_window(d, log_n, step=step)
    assert most == pytest.approx(theory.stream_capacity(d, log_n), rel=1e-3)
    assert most * theory.PRICE == pytest.approx(d**2 / (8 * log_n), rel=1e-3)
    for factor in (0.7, 1.4):
        assert theory.stream_window(d, log_n, step=factor * step) < most


def test_a_window_ends_where_the_squared_signal_has_fallen_to_the_noise():
    d, log_n, step = 2000, 5.0, 0.5
    window = theory.stream_window(d, log_n, step=step, constant=2.0)
    at = theory.delta_moments(window, 10**7, d, step=step)
    assert at.signal**2 / at.crosstalk == pytest.approx(2.0 * log_n, rel=0.02)
    assert theory.stream_window(10, 10.0, step=0.5) == 0
    assert theory.best_stream_step(10, 10.0) == 1.0


def test_a_stream_keeps_as_many_keys_as_the_shares_add_up_to():
    n, d, step = 400, 40, 0.25
    _, _, retrieved = drawn(n, d, step, 1.0, 15)
    share = theory.retrieved_by_age(np.arange(n), n, d, step=step)
    seen = retrieved.mean(axis=0)
    assert np.sum(share) == pytest.approx(np.sum(seen), rel=0.06)
    assert share[0] > 0.8
    assert share[-1] < 0.02


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.delta_moments(5, 5, 4, step=0.1), "age = 5"),
        (lambda: theory.delta_moments(0, 5, 1, step=0.1), "d = 1"),
        (lambda: theory.delta_moments(0, 5, 4, step=1.4), "step = 1.4"),
        (lambda: theory.delta_moments(0, 5, 4, step=0.1, keep=0), "keep = 0"),
        (lambda: theory.decayed_moments(0, 1, 4, keep=1.0), "n = 1"),
        (lambda: theory.decayed_moments(0, 5, 4, keep=1.1), "keep = 1.1"),
        (lambda: theory.retrieved_by_age(0, 5, 4, step=0.1), "n = 5"),
        (lambda: theory.log_forgetful_failures(5, 4, step=0.1), "n = 5"),
        (lambda: theory.forgetful_half_ratio(30, 0.0), "x = 0.0"),
        (lambda: theory.forgetful_half_ratio(12, 2.0), "x = 2.0: must be smaller"),
        (lambda: theory.forgetful_half_ratio(30, 0.1, rule="gated"), "rule = 'gated'"),
        (lambda: theory.first_written_factor(-1.0), "x = -1.0"),
        (lambda: theory.last_written_factor(301.0), "x = 301.0"),
        (lambda: theory.stream_window(100, 5.0, step=2.0), "step = 2.0"),
        (lambda: theory.stream_window(1, 5.0, step=1.0), "d = 1"),
        (lambda: theory.best_stream_step(100, 0.0), "log_n = 0.0"),
        (lambda: theory.stream_capacity(100, 5.0, constant=0.0), "constant = 0.0"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
