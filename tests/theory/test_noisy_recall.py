"""Recall under noise: exponents by a search, memories that are drawn and disturbed, bits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from assocmem.theory import noisy_recall as theory
from assocmem.theory import repair
from assocmem.theory.reshaped import best_quantiser, quantiser_share, rule_constant


def farthest(c, s, memory):
    """Largest x + y + z that the exponents allow at a constant c, by a search and nothing else."""
    signal = 1 + s**2 if memory == "outer products" else s**2  # variances in units of the load
    limits = [
        {"type": "ineq", "fun": lambda p: 2 - c / 2 * (p[0] ** 2 + p[1] ** 2 / s**2 + p[2] ** 2 / signal)},
        {"type": "ineq", "fun": lambda p: 1 - c / 2 * p[2] ** 2 / signal},  # one signal for each key
    ]
    most = math.sqrt(2 / c) if memory == "clipped" else None
    found = optimize.minimize(
        lambda p: -p.sum(), [0.1, 0.1, 0.1], bounds=[(0, most), (0, None), (0, None)], constraints=limits
    )
    return -found.fun


@pytest.mark.parametrize("memory", theory.MEMORIES)
@pytest.mark.parametrize("s", [0.05, 0.3, 0.7, 0.72, 1.5])
def test_constants_are_where_the_exponents_reach_the_signal(s, memory):
    c = theory.noisy_constant(s, memory=memory)
    assert farthest(c, s, memory) == pytest.approx(1, abs=1e-5)
    assert farthest(1.1 * c, s, memory) < 0.999


def test_without_noise_they_are_eight_four_and_two():
    assert [theory.noisy_constant(0, memory=m) for m in theory.MEMORIES] == [8, 4, 2]
    assert theory.noisy_share_constant(0) == 2


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 100))
def test_order_and_continuity(s):
    outer, equal, clipped = (theory.noisy_constant(s, memory=m) for m in theory.MEMORIES)
    assert theory.noisy_share_constant(s) <= clipped + 1e-9
    assert clipped <= equal + 1e-9
    assert outer - equal == pytest.approx(4)  # what evening saves, whatever the noise
    more = theory.noisy_constant(s + 1e-6, memory="clipped")
    assert clipped <= more <= clipped + 1e-2
    assert 0 < theory.best_clip(s) <= 1


def test_the_clip_is_at_the_competitors_of_which_each_key_has_one():
    s = np.array([0.0, 0.2, 0.6])
    c = theory.noisy_constant(s, memory="clipped")
    np.testing.assert_allclose(theory.best_clip(s), np.sqrt(2 / c))
    assert theory.best_clip(theory.TURN) == pytest.approx(0.5)


def test_bits():
    assert theory.rounding_noise(1) ** 2 == pytest.approx(math.pi / 2 - 1)
    for bits in (1, 2, 4):
        rho = quantiser_share(bits)
        same = theory.rounded_constant(bits, memory="outer products")  # rounding reshapes the sum
        assert same == pytest.approx(rule_constant(rho))
        even = theory.rounded_constant(bits, memory="clipped", uniform=True)
        assert even >= theory.rounded_constant(bits, memory="clipped") - 1e-9
    costs = [b * theory.rounded_constant(b, memory="clipped") for b in range(1, 9)]
    np.testing.assert_allclose(costs[:4], [8.57, 9.19, 9.64, 10.37], atol=0.01)
    assert np.all(np.diff(costs) > 0)
    assert {theory.best_bits(memory=m) for m in theory.MEMORIES} == {1}
    assert theory.facts_per_bit(10.0, 2, memory="clipped") == pytest.approx(1 / (10 * costs[1]))


def whitened(X):
    """A matrix that makes ``X X'`` a multiple of the identity, and the columns it makes."""
    values, basis = np.linalg.eigh(X @ X.T * (len(X) / X.shape[1]))
    R = basis / np.sqrt(values) @ basis.T
    return R, R @ X


def written(U, V, memory, white, gamma):
    """A memory with equal signals from a linear system, and one clip with its signals made equal again."""
    d, n = U.shape
    (L, A), (R, B) = (whitened(U), whitened(V)) if white else ((np.eye(d), U), (np.eye(d), V))
    if memory == "outer products":
        return L @ A @ B.T @ R
    K = (A.T @ A) * (B.T @ B)
    W = (A * np.linalg.solve(K, np.ones(n))) @ B.T
    if memory == "clipped":
        S = A.T @ W @ B
        np.fill_diagonal(S, -9)
        W = W - A @ np.maximum(S - (1 - gamma), 0) @ B.T
        W = W + (A * np.linalg.solve(K, 1 - np.sum(A * (W @ B), axis=0))) @ B.T
    return L @ W @ R


def failing(n, ratio, s, memory, white=False, on="query", gamma=0.4, seeds=6):
    """Mean number of keys that fail, each queried with noise once for each of four draws of the noise."""
    d, counts = round(math.sqrt(ratio * n * math.log(n))), []
    for seed in range(seeds):
        rng = np.random.default_rng([n, d, seed])
        U, V = rng.standard_normal((2, d, n)) / math.sqrt(d)
        W = written(U, V, memory, white, gamma)
        for _ in range(4):
            if on == "query":
                S = U.T @ (W @ (V + s * rng.standard_normal((d, n)) / math.sqrt(d)))
            else:  # of the norm scale of the memory itself
                S = U.T @ (W + s * np.linalg.norm(W) / d * rng.standard_normal((d, d))) @ V
            counts.append(np.sum(S.argmax(axis=0) != np.arange(n)))
    return np.mean(counts)


@pytest.mark.parametrize("white", [False, True])
@pytest.mark.parametrize(("s", "on"), [(0.0, "query"), (0.4, "query"), (0.3, "memory")])
@pytest.mark.parametrize("memory", ["outer products", "equal signals"])
def test_at_the_half_point_about_one_key_fails(memory, s, on, white):
    """Log 2 of them in the picture; at a ratio that is 25% less there are many."""
    n = 250
    ratio = theory.noisy_half_ratio(math.log(n), s, memory=memory, whitened=white, on=on)
    assert failing(n, 1.1 * ratio, s, memory, white, on) < 1.1
    assert failing(n, 0.75 * ratio, s, memory, white, on) > 1.6


@pytest.mark.parametrize("white", [False, True])
def test_one_clip_under_noise(white):
    """The picture of a clip is a little too good: its norm has grown, which is not counted."""
    n, s = 300, 0.4
    ratio = theory.noisy_half_ratio(math.log(n), s, memory="clipped", whitened=white)
    assert failing(n, 1.2 * ratio, s, "clipped", white) < 1.1
    assert failing(n, 0.75 * ratio, s, "clipped", white) > 2
    assert ratio < 0.8 * theory.noisy_half_ratio(math.log(n), s, memory="equal signals", whitened=white)


def test_rounding_is_noise_on_the_memory():
    """Keys that fail after rounding entries, against noise of the spread that stands for it."""
    n, memory = 300, "equal signals"
    for bits in (1, 2):
        s, q = theory.rounding_noise(bits), best_quantiser(bits)
        ratio = 0.75 * theory.noisy_half_ratio(math.log(n), s, memory=memory, on="memory")
        d, counts = round(math.sqrt(ratio * n * math.log(n))), []
        for seed in range(24):
            U, V = np.random.default_rng([n, d, seed]).standard_normal((2, d, n)) / math.sqrt(d)
            W = written(U, V, memory, False, 0.2)
            rounded = q.levels[np.searchsorted(q.edges, W / W.std())]
            counts.append(np.sum((U.T @ rounded @ V).argmax(axis=0) != np.arange(n)))
        expected = failing(n, ratio, s, memory, on="memory")
        error = 4 * np.std(counts) / math.sqrt(len(counts))
        assert expected > 1
        assert np.mean(counts) == pytest.approx(expected, abs=error + 0.15 * expected)


def test_half_points_tend_to_the_constants():
    for memory in theory.MEMORIES[:2]:
        for s in (0.0, 0.5, 1.0):
            far = theory.noisy_half_ratio(1e4, s, memory=memory)
            assert far == pytest.approx(theory.noisy_constant(s, memory=memory), rel=2e-3)
    far = theory.noisy_half_ratio(1000.0, 0.3, memory="clipped")
    assert far == pytest.approx(theory.noisy_constant(0.3, memory="clipped"), rel=0.01)


def test_without_noise_they_are_those_of_repair():
    """Which leaves terms of order 1/d out: at a thousand digits there are none."""
    log_n = 600.0
    equal = theory.noisy_half_ratio(log_n, 0.0, memory="equal signals")
    assert equal == pytest.approx(repair.equalised_half_ratio(log_n), rel=1e-4)
    clipped = theory.noisy_half_ratio(log_n, 0.0, memory="clipped")
    assert clipped == pytest.approx(repair.clipped_half_ratio(log_n), rel=0.01)


def test_one_bit_is_the_best_only_for_very_many_pairs():
    """A clipped memory, for e^300 pairs and in the limit; for ten thousand pairs two bits are as good."""
    limit = [b * theory.rounded_constant(b, memory="clipped") for b in (1, 2)]

    def costs(log_n):
        noise = [theory.rounding_noise(b) for b in (1, 2)]
        halves = [theory.noisy_half_ratio(log_n, s, memory="clipped", on="memory") for s in noise]
        return np.array([1, 2]) * halves

    many, few = costs(300.0), costs(math.log(1e4))
    np.testing.assert_allclose(many, limit, rtol=0.02)
    assert few[1] - few[0] < 0.2 * (many[1] - many[0])


def test_whitening_is_seen_in_what_was_measured():
    """Means over four instances of the smallest ratio from which on all pairs are retrieved."""
    for n, seen in ((300, 3.38), (1000, 3.53)):
        found = theory.noisy_half_ratio(math.log(n), 0.0, memory="equal signals", whitened=True)
        assert found == pytest.approx(seen, rel=0.02)
    for n, seen in ((300, 1.80), (1000, 1.83)):
        found = theory.noisy_half_ratio(math.log(n), 0.0, memory="clipped", whitened=True)
        assert found == pytest.approx(seen, rel=0.05)


def test_the_tail_of_a_clipped_competitor_with_noise():
    rng = np.random.default_rng(0)
    x = np.minimum(0.5 * rng.standard_normal(400_000), 0.6) + 0.3 * rng.standard_normal(400_000)
    for level in (0.2, 0.8, 1.2):
        found = math.exp(theory._log_capped_tail(np.array([level]), 0.6, 0.5, 0.3)[0])
        assert np.mean(x > level) == pytest.approx(found, abs=4 * math.sqrt(found / 4e5))
    hinge = [
        stats.norm.expect(lambda g, t=t: (g - t) ** 2, lb=t) / stats.norm.pdf(t) for t in (0.0, 2.0, 6.0)
    ]
    np.testing.assert_allclose([math.exp(theory._log_hinge(t)) for t in (0.0, 2.0, 6.0)], hinge, rtol=1e-5)
    assert theory._log_hinge(30.001) == pytest.approx(theory._log_hinge(29.999), abs=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.noisy_constant(-0.1, memory="clipped"), "s = -0.1"),
        (lambda: theory.noisy_constant(0.1, memory="hebb"), "memory = 'hebb': must be one of outer products"),
        (lambda: theory.best_clip("x"), "s = 'x'"),
        (lambda: theory.noisy_share_constant(-1.0), "s = -1.0"),
        (lambda: theory.rounding_noise(0), "bits = 0"),
        (lambda: theory.rounded_constant(9, memory="clipped"), "bits = 9"),
        (lambda: theory.facts_per_bit(1.0, 2, memory="clipped"), "log_n = 1.0"),
        (lambda: theory.best_bits(memory=None), "memory = None"),
        (lambda: theory.noisy_half_ratio(1.0, 0.1, memory="clipped"), "log_n = 1.0"),
        (lambda: theory.noisy_half_ratio(5.0, -0.1, memory="clipped"), "s = -0.1"),
        (lambda: theory.noisy_half_ratio(5.0, 0.1, memory="clipped", on="key"), "on = 'key'"),
        (lambda: theory.noisy_half_ratio(5.0, 0.1, memory="clipped", whitened=0), "whitened = 0"),
        (
            lambda: theory.noisy_half_ratio(5.0, 2.0, memory="equal signals", whitened=True),
            "s = 2.0: must be smaller",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
