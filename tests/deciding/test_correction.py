"""What is left of weighted comparisons and what takes it away, against the definitions."""

import numpy as np
import pytest

from assocmem.deciding.certificates import weights_of
from assocmem.deciding.correction import Correction, correction, floor_correction
from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.first_place.two_proofs import decided_by_passes
from assocmem.pairs.data import gaussian_pairs


def comparisons(pairs):
    """All comparisons as vectors, with the competitor and the key of each."""
    U, V = pairs.U.numpy(), pairs.V.numpy()
    off = [(j, i) for j in range(pairs.n) for i in range(pairs.n) if i != j]
    return np.array([np.outer(U[:, i] - U[:, j], V[:, i]).ravel() for j, i in off]), tuple(np.transpose(off))


def test_numbers_are_those_of_the_definitions():
    pairs = gaussian_pairs(7, 2, seed=3)
    A, where = comparisons(pairs)
    weights = np.zeros((7, 7))
    weights[where] = np.random.default_rng(0).random(len(A))
    found = correction(pairs, weights)
    assert found.left == pytest.approx(np.linalg.norm(weights[where] @ A))
    H = (A.T * weights[where]) @ A
    assert found.smallest == pytest.approx(np.linalg.eigvalsh(H)[0])
    assert found.longest >= np.linalg.norm(A, axis=1).max()


def test_a_certificate_is_corrected_to_cancel_and_stays_positive():
    pairs = gaussian_pairs(24, 7, seed=0)
    weights = decide_top1(pairs).certificate.weights
    assert weights.any(axis=0).all()  # of all keys
    found = correction(pairs, weights)
    assert found.left < 1e-9
    assert 0 < found.relative_change < 1
    A, where = comparisons(pairs)
    w = weights[where] * (
        1 + 1e-6 * np.random.default_rng(1).standard_normal(len(A))
    )  # now it misses by more
    change = A @ np.linalg.solve((A.T * w) @ A, w @ A)
    moved = weights.copy()
    moved[where] = w
    assert np.linalg.norm((w * (1 - change)) @ A) < 1e-12 < np.linalg.norm(w @ A)
    assert np.abs(change).max() <= correction(pairs, moved).relative_change


def test_a_hidden_target_has_no_correction_of_this_kind():
    assert Correction(left=1e-6, smallest=1e-3, longest=10.0).relative_change == pytest.approx(0.01)
    pairs = gaussian_pairs(16, 3, seed=0)
    weights = decide_top1(pairs).certificate.weights
    assert np.count_nonzero(weights.any(axis=0)) == 1
    assert correction(pairs, weights).smallest == pytest.approx(0, abs=1e-12)


def test_the_floor_bounds_the_smallest_eigenvalue_from_below():
    pairs = gaussian_pairs(9, 3, seed=2)
    weights = 0.01 + np.random.default_rng(0).random((9, 9))
    np.fill_diagonal(weights, 0)
    found, of_all = floor_correction(pairs, weights), correction(pairs, weights)
    assert found.left == of_all.left
    assert found.least == weights[~np.eye(9, dtype=bool)].min()
    assert 0 < found.least * found.extent <= of_all.smallest
    assert found.share == pytest.approx(of_all.longest * of_all.left / (found.least * found.extent))


@pytest.mark.parametrize("seed", range(5))
def test_weights_with_a_floor_cancel_after_a_change_of_less_than_the_floor(seed):
    """The proposition of the section, on weights that have been moved off a certificate."""
    pairs = gaussian_pairs(24, 6, seed=seed)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    weights = weights_of(decided_by_passes(pairs).certificate, U, V)
    A, where = comparisons(pairs)
    w = weights[where] + 1e-7 * np.random.default_rng(seed).standard_normal(len(A))
    moved = weights.copy()
    moved[where] = w
    found = floor_correction(pairs, moved)
    assert 1e-6 < found.share < 1
    change = A @ np.linalg.solve(A.T @ A, w @ A)
    assert np.linalg.norm((w - change) @ A) < 1e-12 < np.linalg.norm(w @ A)
    assert np.abs(change).max() <= found.share * found.least
    assert (w - change).min() > 0


def test_weights_without_a_floor_cannot_be_corrected_that_way():
    assert floor_correction(gaussian_pairs(5, 2, seed=0), np.eye(5)).share == np.inf
