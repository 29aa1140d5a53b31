"""Trained memories: what is read off them, against definitions and identities."""

import numpy as np
import pytest
import torch
from scipy import special, stats

from assocmem.experiments.tail_average.scalar_instances import (
    GAP,
    column_distances,
    distance_power,
    least_norm_of,
    train_instance,
    with_scores,
)
from assocmem.pairs.scores import scores
from assocmem.theory.norm_bounds import largest_square, least_norm
from assocmem.theory.scalar import solve_scalar
from assocmem.training.passes import dense_hessian

LOAD, R, BETA, RIDGE = AT = 1.5, 0.5, 1.0, 0.3
"""Where small memories are already near the theory."""

N, DIMENSION = 216, 12
THEORY = solve_scalar(LOAD, R, beta=BETA, ridge=RIDGE)


@pytest.fixture(scope="module")
def instance():
    return train_instance(DIMENSION, *AT, seed=1)


@pytest.fixture(scope="module")
def scored(instance):
    return with_scores(instance)


def test_an_instance_is_a_converged_fit(instance):
    assert instance.fit.gap <= GAP
    assert (instance.pairs.n, instance.pairs.d) == (N, DIMENSION)
    assert instance.nu == pytest.approx(float(instance.fit.W.norm()) / DIMENSION)
    assert instance.loss == pytest.approx(np.logaddexp(0, -instance.margin).mean(), rel=1e-9)


def test_the_susceptibility_is_the_trace_of_the_inverse(instance):
    n, d = N, DIMENSION
    H = n * dense_hessian(instance.pairs, instance.loss_function, instance.fit.W, profiled=False)
    values = torch.linalg.eigvalsh(H + n * RIDGE / d**2 * torch.eye(d * d, dtype=torch.float64))
    assert instance.chi == pytest.approx(float((1 / values).sum()) / d**2)


def test_signals_are_on_the_diagonal_and_the_rest_is_carried_along(instance, scored):
    S = scores(instance.pairs, instance.fit.W).numpy()
    np.testing.assert_array_equal(scored.signal, S.diagonal())
    assert (scored.nu, scored.chi) == (instance.nu, instance.chi)
    assert scored.distance == column_distances(S, instance.nu).mean()


def test_the_identity_holds_at_every_size(scored):
    assert scored.ratios["identity"] == pytest.approx(1, abs=1e-4)
    assert scored.ratios["with what is left"] == pytest.approx(1, abs=1e-9)


def test_terms_that_are_left_out_are_missed(scored):
    assert scored.ratios["variance"] == pytest.approx(1, abs=0.15)
    assert scored.ratios["without omega"] < 0.6
    assert scored.ratios["response"] == pytest.approx(1, abs=0.15)
    assert scored.ratios["without B"] < scored.ratios["response"] - 0.2


def test_distances_are_those_of_kolmogorov_and_smirnov():
    S = np.random.default_rng(1).standard_normal((30, 30)) * 2.0
    columns = [np.delete(S[:, i], i) for i in range(30)]
    expected = [stats.kstest(x / 1.7, special.ndtr).statistic for x in columns]
    np.testing.assert_allclose(column_distances(S, 1.7), expected)
    own = [stats.kstest(x / x.std(), special.ndtr).statistic for x in columns]
    np.testing.assert_allclose(column_distances(S), own)


def test_memories_are_at_least_as_large_as_the_bound(instance):
    bound = least_norm_of(instance.pairs, instance.loss_function, RIDGE)
    assert 0 < bound < instance.nu < largest_square(R, BETA, RIDGE) ** 0.5
    assert bound == pytest.approx(least_norm(LOAD, R, beta=BETA, ridge=RIDGE), rel=0.3)


def test_the_power_of_a_distance():
    d = [10, 20, 40, 80]
    noise = 1 + 0.01 * np.random.default_rng(1).standard_normal((4, 8))
    exponent, error = distance_power(d, noise * np.array(d)[:, None] ** -0.5)
    assert exponent == pytest.approx(-0.5, abs=4 * error)
    assert 0 < error < 0.01
