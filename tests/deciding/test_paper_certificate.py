"""The explicit dual array and the constant of the proof, against definitions and small exact cases."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm

from assocmem.deciding.paper_certificate import cutoff, dual_array, inverse_mills, predicted_size, reach
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.sizes import dimension_at_ratio


def test_the_array_follows_the_proof_entry_by_entry():
    n, d, r = 60, 8, 4
    pairs = gaussian_pairs(n, d, seed=0)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    array = dual_array(pairs, r)
    M = sum(np.outer(U[:, i], V[:, i]) for i in range(r, n))
    H = sum(np.outer(V[:, i], V[:, i]) for i in range(r, n))
    b, total = 1 - 1 / math.log(n), np.zeros((d, d))
    for i in range(r, n):
        x = M @ np.linalg.inv(H) @ V[:, i]
        z = inverse_mills(math.sqrt(d) * np.linalg.norm(x) / b)
        for j in range(r):
            beyond = math.sqrt(d) * U[:, j] @ x / np.linalg.norm(x) >= z
            weight = (1 / math.log(n) + b / norm.sf(z) * beyond) / r
            assert float(array.weights[j, i - r]) == pytest.approx(weight, rel=1e-10)
            total += weight * np.outer(U[:, i] - U[:, j], V[:, i])
    np.testing.assert_allclose(array.sum, total, rtol=1e-9, atol=1e-9)
    assert array.size == pytest.approx(np.linalg.norm(total) * d * math.log(n) / n)
    assert float(array.weights.min()) >= 1 / (r * math.log(n)) * (1 - 1e-12)


def test_weights_average_to_one_and_point_along_the_fit():
    """E c_i = 1 and E u c_i = x_i over a fresh target, the two identities that centre the sum."""
    n, d, r = 3000, 80, 1500
    pairs = gaussian_pairs(n, d, seed=1)
    weights = dual_array(pairs, r).weights * r
    assert float(weights.mean()) == pytest.approx(1, abs=0.02)
    drift = pairs.U[:, :r] @ weights / r
    U, V = pairs.U[:, r:], pairs.V[:, r:]
    X = U @ V.T @ torch.linalg.solve(V @ V.T, V)
    slope = float((drift * X).sum() / (X * X).sum())
    assert slope == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("value", [1e-6, 0.3, math.sqrt(2 / math.pi), 1, 7, 100])
def test_inverse_mills_ratio_is_inverted(value):
    z = float(inverse_mills(value))
    assert math.exp(norm.logpdf(z) - norm.logsf(z)) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("c, n", [(0.3, 3000), (0.6, 3000)])
def test_size_is_as_predicted(c, n):
    d = dimension_at_ratio(n, c)
    sizes = [dual_array(gaussian_pairs(n, d, seed=seed)).size for seed in range(3)]
    predicted = predicted_size(math.log(n), d**2 / (n * math.log(n)))
    assert math.sqrt(np.mean(np.square(sizes))) == pytest.approx(predicted, rel=0.2)


def test_predicted_size_vanishes_in_the_end_below_two_only():
    assert predicted_size(200.0, 1.0) < 1e-6
    assert predicted_size(2000.0, 1.9) < 1e-3
    assert predicted_size(2000.0, 2.1) > 1e3


def test_reach_in_one_dimension_is_a_plain_sum():
    pairs = gaussian_pairs(12, 1, seed=0)
    U, V = pairs.U[0], pairs.V[0]
    total = sum(abs(float((U[i] - U[j]) * V[i])) for i in range(4, 12) for j in range(4))
    lower, upper = reach(pairs, 4)
    assert upper == pytest.approx(total / (4 * 8))
    assert lower <= upper


def test_reach_is_zero_where_comparisons_are_too_few():
    lower, upper = reach(gaussian_pairs(12, 6, seed=0), 2)  # 20 of them in 36 dimensions
    assert lower == pytest.approx(0, abs=1e-12)
    assert upper < 1e-9


def test_reach_is_between_its_bounds_and_near_its_limit_for_many_pairs():
    lower, upper = reach(gaussian_pairs(400, 3, seed=0), 100)
    assert 0 < lower < upper
    assert 2 / math.pi < upper < 2 * math.sqrt(2) / math.pi
    rng = np.random.default_rng(0)
    pairs = gaussian_pairs(400, 3, seed=0)
    for _ in range(20):  # no other matrix does better than what was found
        X = torch.from_numpy(np.outer(*rng.standard_normal((2, 3))))
        S = (pairs.U[:, 100:] * (X @ pairs.V[:, 100:])).sum(0) - pairs.U[:, :100].T @ X @ pairs.V[:, 100:]
        assert float(S.abs().sum() / X.norm()) * 3 / (100 * 300) > upper


def test_a_cutoff_that_leaves_too_few_keys_is_refused():
    pairs = gaussian_pairs(20, 10, seed=0)
    with pytest.raises(ValueError, match="r = 10: must be less than n - d = 10"):
        dual_array(pairs, 10)
    with pytest.raises(ValueError, match="r = 0: must be an integer >= 1"):
        dual_array(Pairs(pairs.U, pairs.V), 0)
    assert cutoff(1000) == 20
