"""Definitions done slowly: a linear program for the tail average, blocks for the Hessian."""

import numpy as np
import pytest

from assocmem.pairs.tail_average import smoothed_threshold
from assocmem.theory.tail_average_reference import (
    held_hessian,
    hessian_blocks,
    tail_average_by_linear_program,
)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_the_linear_program_finds_the_mean_of_the_largest(k):
    x = np.random.default_rng(k).standard_normal(7)
    assert tail_average_by_linear_program(x, k) == pytest.approx(np.sort(x)[-k:].mean(), abs=1e-9)


def summed_loss(w, U, V, mu, k, beta, ridge):
    d, n = U.shape
    S = U.T @ w.reshape(d, d) @ V
    excess = np.logaddexp(0, beta * (S - mu)) / beta
    np.fill_diagonal(excess, 0)
    return np.logaddexp(0, mu + excess.sum(axis=0) / k - S.diagonal()).sum() + ridge * n / (2 * d**2) * w @ w


def test_the_hessian_is_that_of_the_summed_loss():
    rng = np.random.default_rng(1)
    d, n, k, beta, ridge = 2, 6, 2, 3.0, 0.3
    U, V, w = rng.standard_normal((d, n)), rng.standard_normal((d, n)), rng.standard_normal(d * d)
    S = U.T @ w.reshape(d, d) @ V
    mu = rng.standard_normal(n)
    H = held_hessian(U, V, S, mu, k=k, beta=beta, ridge=ridge)
    step = 1e-4
    value = lambda a, b: summed_loss(w + step * (a + b), U, V, mu, k, beta, ridge)  # noqa: E731
    E = np.eye(d * d)
    differences = [[(value(a, b) - value(a, -b) - value(-a, b) + value(-a, -b)) for b in E] for a in E]
    np.testing.assert_allclose(H, np.array(differences) / (4 * step**2), atol=1e-5)


def test_a_block_is_positive_semidefinite_and_blind_to_a_common_move_of_the_scores():
    rng = np.random.default_rng(2)
    S = rng.standard_normal((5, 5))
    mu = np.array([smoothed_threshold(np.delete(S[:, i], i), 0.4, 2.0) for i in range(5)])
    for i, M in enumerate(hessian_blocks(S, mu, 2, 2.0)):
        values = np.linalg.eigvalsh(M)
        assert values[0] > -1e-12
        # At the best threshold q sums to k, and Q is orthogonal to a move of all scores together.
        assert abs(M[i].sum()) < 1e-9
