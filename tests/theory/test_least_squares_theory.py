"""Noise of least squares, ridge regression and whitening: closed forms against draws of the memories."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assocmem.theory import least_squares as theory

SIZES = (240, 80)
"""Pairs and dimensions of the draws: three to one."""


def draw(seed, n, d):
    """Answers and keys."""
    U, V = np.random.default_rng([n, d, seed]).standard_normal((2, d, n)) / math.sqrt(d)
    return U, V


def written(rule, U, V, ridge=0.0):
    """The memory of a rule."""
    if rule == "outer products":
        return U @ V.T
    W = U @ np.linalg.solve(V @ V.T + ridge * np.eye(len(V)), V).T
    return np.linalg.solve(U @ U.T, W) if rule == "whitened" else W


def crosstalk(rule, n, d, seed, ridge=0.0, s=0.0):
    """Variance over the squared signal, times d, of crosstalk and noise in scores of fresh answers.

    An answer that is not stored has a product of variance ``1/d`` with each stored one, and its own key's
    answer is taken out, so that nothing but crosstalk and noise is left.
    """
    U, V = draw(seed, n, d)
    H = V.T @ np.linalg.solve(V @ V.T + ridge * np.eye(d), V)
    own = np.diag(H).copy()
    np.fill_diagonal(H, 0)
    fresh = np.random.default_rng([seed, 1]).standard_normal((d, 300)) / math.sqrt(d)
    scores = fresh.T @ U @ H
    W = written(rule, U, V, ridge)
    noise = s * fresh.T @ W @ np.random.default_rng([seed, 2]).standard_normal((d, n)) / math.sqrt(d)
    return d * np.mean((scores + noise) ** 2) / own.mean() ** 2


@pytest.mark.parametrize("ridge", [0.0, 0.5, 5.0])
def test_leverage_and_resolvent(ridge):
    n, d = SIZES
    own, fresh = [], []
    for seed in range(5):
        _, V = draw(seed, n, d)
        inverse = np.linalg.inv(V @ V.T + ridge * np.eye(d))
        own.append(np.mean(np.sum(V * (inverse @ V), axis=0)))
        fresh.append(np.trace(inverse) / d)
    assert np.mean(own) == pytest.approx(theory.leverage(n / d, ridge), rel=0.01)
    assert np.mean(fresh) == pytest.approx(theory.resolvent_trace(n / d, ridge), rel=0.03)


@pytest.mark.parametrize(("ridge", "s"), [(0.0, 0.0), (0.0, 0.5), (0.75, 0.5), (6.0, 0.5), (6.0, 0.0)])
def test_noise_of_ridge_regression(ridge, s):
    n, d = SIZES
    found = [crosstalk("least squares", n, d, seed, ridge, s) for seed in range(6)]
    assert np.mean(found) == pytest.approx(theory.ridge_noise(n / d, ridge, s), rel=0.04)


@settings(max_examples=50, deadline=None)
@given(st.floats(1.05, 1e3), st.floats(1e-3, 3), st.floats(0.05, 20))
def test_the_best_ridge_is_the_best(ratio, s, factor):
    best = theory.best_ridge(ratio, s)
    least = theory.best_ridge_noise(ratio, s)
    assert theory.ridge_noise(ratio, best, s) == pytest.approx(least, rel=1e-9)
    assert theory.ridge_noise(ratio, factor * best, s) >= least * (1 - 1e-9)
    assert ratio - 1 <= least * (1 + 1e-9)
    assert least <= ratio * (1 + s**2) * (1 + 1e-9)


def test_the_best_ridge_is_least_squares_for_noisy_keys():
    """The mean over noise of ``|U - W (V + s Xi)|^2`` is least at exactly that ridge."""
    n, d, s = 60, 20, 0.4
    U, V = draw(0, n, d)

    def loss(ridge):
        W = written("least squares", U, V, ridge)
        return np.sum((U - W @ V) ** 2) + s**2 * n / d * np.sum(W**2)

    best = theory.best_ridge(n / d, s)
    slope = (loss(best * 1.001) - loss(best * 0.999)) / loss(best)
    assert abs(slope) < 1e-6
    assert loss(best) < min(loss(0.8 * best), loss(1.2 * best))


def test_limits():
    assert theory.leverage(4.0) == pytest.approx(0.25)
    assert theory.ridge_noise(4.0) == pytest.approx(3)
    assert theory.ridge_noise(4.0, 1e9, 0.5) == pytest.approx(4 * 1.25, rel=1e-6)
    assert theory.whitened_noise(4.0) == pytest.approx(4 * 0.75**2)
    assert theory.best_ridge_noise(4.0, 0.0) == pytest.approx(3)
    np.testing.assert_allclose(theory.ridge_noise([2.0, 4.0], 0.0), [1, 3])
    assert theory.ridge_noise(1e9, 0.0) / 1e9 == pytest.approx(1)


@pytest.mark.parametrize("rule", theory.RULES)
def test_scores_have_the_spreads_that_half_points_are_made_of(rule):
    """Mean squares of competitors and variances of signals, over the squared signal."""
    n, d = SIZES
    own, rival, queries, memories = [], [], [], []
    for seed in range(12):
        U, V = draw(seed, n, d)
        W = written(rule, U, V)
        S = U.T @ W @ V
        signal = np.diag(S).copy()
        np.fill_diagonal(S, 0)
        own.append(np.mean((signal / np.linalg.norm(V, axis=0) / signal.mean()) ** 2) - 1)
        rival.append(np.sum(S**2) / (n * (n - 1)) / signal.mean() ** 2)
        queries.append(np.sum((U.T @ W) ** 2) / (n * d) / signal.mean() ** 2 * d**2 / n)
        memories.append(np.sum(W**2) / d**2 / signal.mean() ** 2 * d**2 / n)
    a, b, shared = theory.score_spreads(n, d, rule=rule)
    assert np.mean(rival) == pytest.approx(b**2 + shared, rel=0.03)
    assert np.mean(queries) == pytest.approx(theory.noise_gain(n / d, rule=rule), rel=0.05)
    assert np.mean(memories) == pytest.approx(theory.noise_gain(n / d, rule=rule, on="memory"), rel=0.06)
    if rule == "outer products":  # where the length of the key is the common factor
        assert np.mean(own) == pytest.approx(a**2, rel=0.2)


def test_whitened_competitors_have_the_load_less_one_over_n():
    _, b, shared = theory.score_spreads(300, 100, rule="whitened")
    assert b**2 + shared == pytest.approx(300 / 100**2 - 1 / 300)


def test_half_points_are_in_order_and_meet_at_eight():
    for log_n in (math.log(100), math.log(1000)):
        plain, squares, white = (theory.least_squares_half_ratio(log_n, rule=r) for r in theory.RULES)
        assert white < squares < plain
        assert squares < math.exp(log_n) / log_n
    far = [theory.least_squares_half_ratio(1e4, rule=r) for r in theory.RULES]
    np.testing.assert_allclose(far, 8, atol=0.01)
    assert np.ptp(far) < 1e-5


def test_at_the_half_point_half_of_the_draws_are_retrieved():
    """Few keys fail there, about log 2 of them; at 1.2 times the ratio hardly any."""
    n = 200
    for rule in ("least squares", "whitened"):
        ratio, failing = theory.least_squares_half_ratio(math.log(n), rule=rule), []
        for factor in (1.0, 1.25):
            d = round(math.sqrt(factor * ratio * n * math.log(n)))
            counts = []
            for seed in range(30):
                U, V = draw(seed, n, d)
                S = U.T @ written(rule, U, V) @ V
                counts.append(np.sum(S.argmax(axis=0) != np.arange(n)))
            failing.append(np.mean(counts))
        assert 0.3 < failing[0] < 1.5
        assert failing[1] < 0.4 * failing[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.resolvent_trace(1.0), "ratio = 1.0"),
        (lambda: theory.leverage(2.0, -1.0), "ridge = -1.0"),
        (lambda: theory.ridge_noise(2.0, 0.0, -1.0), "s = -1.0"),
        (lambda: theory.ridge_noise([2.0, 3.0], [1.0, 2.0, 3.0]), "ratio, ridge, s = .*shapes that fit"),
        (lambda: theory.best_ridge(0.5, 1.0), "ratio = 0.5"),
        (lambda: theory.best_ridge_noise(2.0, "x"), "s = 'x'"),
        (lambda: theory.whitened_noise(1.0), "ratio = 1.0"),
        (lambda: theory.noise_gain(2.0, rule="ridge"), "rule = 'ridge'"),
        (lambda: theory.noise_gain(2.0, rule="whitened", on="key"), "on = 'key'"),
        (lambda: theory.score_spreads(10, 10, rule="whitened"), "d = 10"),
        (lambda: theory.least_squares_half_ratio(1.0), "log_n = 1.0"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
