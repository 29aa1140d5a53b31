"""Strengths of rules: those of vectors drawn with one, none where there is none, and bad input."""

import numpy as np
import pytest

from assocmem.experiments.words.rule_strength import Rule, forecast, measure_rule, whitened
from assocmem.theory.kinematics import statistical_dimension


def drawn(correlations, n, seed):
    """Facts with given canonical correlations, each with a target of its own."""
    rng = np.random.default_rng(seed)
    rho = np.asarray(correlations)[:, None]
    keys = rng.standard_normal((len(rho), n))
    return rho * keys + np.sqrt(1 - rho**2) * rng.standard_normal(keys.shape), keys


@pytest.mark.parametrize("correlations", [[0.5] * 8, [0.9, 0.3, 0.0, 0.0], [0.2] * 12])
def test_a_rule_that_was_drawn_is_found(correlations):
    found = [measure_rule(*drawn(correlations, 300, seed), np.arange(300)) for seed in range(40)]
    squares = np.array([rule.strength**2 for rule in found])
    rho = np.array(correlations)
    wanted = (rho**2).sum()
    assert squares.mean() == pytest.approx(wanted, abs=4 * squares.std() / np.sqrt(len(squares)))
    assert np.mean([rule.spread for rule in found]) == pytest.approx((rho**4).sum() / wanted, abs=0.06)


def test_facts_without_a_rule_have_none():
    """A naive estimate from as few facts would find a strength of 4."""
    squares = []
    for seed in range(60):
        targets, keys = drawn([0.0] * 16, 16, seed)
        squares.append(measure_rule(targets, keys, np.arange(16)).strength ** 2)
    assert np.mean(squares) < 3


def test_strengths_do_not_feel_linear_maps():
    targets, keys = drawn([0.6, 0.4, 0.1], 500, 3)
    rng = np.random.default_rng(4)
    A, B = rng.standard_normal((2, 3, 3))
    before = measure_rule(whitened(targets, centred=True), whitened(keys, centred=False), np.arange(500))
    moved = A @ targets + rng.standard_normal((3, 1)), B @ keys
    after = measure_rule(whitened(moved[0], centred=True), whitened(moved[1], centred=False), np.arange(500))
    assert after.strength == pytest.approx(before.strength, rel=1e-9)
    assert after.spread == pytest.approx(before.spread, rel=1e-9)


def test_whitened_vectors_are_white():
    vectors = np.random.default_rng(5).standard_normal((4, 50)) * [[1.0], [5.0], [0.1], [2.0]] + 3
    plain, centred = whitened(vectors, centred=False), whitened(vectors, centred=True)
    np.testing.assert_allclose(plain @ plain.T / 50, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(centred @ centred.T / 50, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(centred.mean(axis=1), 0, atol=1e-9)


def test_forecasts_without_a_rule_are_those_of_dimensions():
    assert forecast(50, 10, 20, Rule(0.0, 0.0)) == pytest.approx(200 / statistical_dimension(50))
    assert forecast(5, 10, 20, Rule(0.0, 0.0)) == pytest.approx(40 / statistical_dimension(5))
    assert forecast(50, 10, 20, Rule(2.0, 0.2)) > 1.3 * forecast(50, 10, 20, Rule(0.0, 0.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, a: whitened(x[:, :2], centred=True), "must be vectors that span all dimensions"),
        (lambda x, a: whitened(x[0], centred=True), "vectors = 'an array of shape"),
        (lambda x, a: measure_rule(x, x * np.nan, a), "keys ="),
        (lambda x, a: measure_rule(x, x[:, :3], a[:3]), "at least four facts"),
        (lambda x, a: measure_rule(x, x, a + 1), "must be 9 places among the targets"),
        (lambda x, a: measure_rule(x, x, a * 1.0), "answers ="),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(call, message):
    x = np.random.default_rng(6).standard_normal((3, 9))
    with pytest.raises(ValueError, match=message):
        call(x, np.arange(9))
