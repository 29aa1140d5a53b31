"""What is left of weighted comparisons and what takes it away, against the definitions."""

import numpy as np
import pytest

from assocmem.deciding.correction import Correction, correction
from assocmem.deciding.feasibility import decide_top1
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
