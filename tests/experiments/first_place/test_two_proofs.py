"""Both kinds of proof of one instance, and offers that are none, against the definitions."""

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr, logsumexp

from assocmem.deciding.certificates import weights_of
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.experiments.first_place.two_proofs import (
    decided_by_newton,
    decided_by_passes,
    file_bytes,
    gram_of_comparisons,
    numbers_in,
    tilted_certificate,
)
from assocmem.pairs.data import gaussian_pairs


def comparisons(U, V):
    """All comparisons as vectors, with the competitor and the key of each."""
    n = U.shape[1]
    off = [(j, i) for j in range(n) for i in range(n) if i != j]
    return np.array([np.outer(U[:, i] - U[:, j], V[:, i]).ravel() for j, i in off]), tuple(np.transpose(off))


def arrays(pairs):
    return pairs.U.numpy(), pairs.V.numpy()


@pytest.mark.parametrize("k", [1, 3])
def test_both_ways_agree_and_each_proof_is_of_its_kind(k):
    seen = set()
    for d in (4, 6, 8):
        pairs = gaussian_pairs(20, d, seed=2)
        stored, computed = decided_by_newton(pairs, k), decided_by_passes(pairs, k)
        assert stored.feasible is computed.feasible is not None
        seen.add(stored.feasible)
        assert (stored.passes, computed.steps) == (0, 0)
        assert stored.steps > 0 < computed.passes
        if stored.feasible:
            continue
        assert stored.certificate.weights is not None
        assert computed.certificate.computed is not None
        assert holds_exactly(computed.certificate, pairs)
    assert seen == {True, False}


def test_steps_are_reported():
    told = []
    verdict = decided_by_passes(gaussian_pairs(20, 5, seed=0), report=lambda step, left: told.append(step))
    assert [x["passes"] for x in told] == sorted(x["passes"] for x in told)
    assert told[-1]["passes"] == verdict.passes


def test_the_gram_matrix_is_that_of_all_comparisons():
    U, V = arrays(gaussian_pairs(6, 3, seed=1))
    A, _ = comparisons(U, V)
    np.testing.assert_allclose(gram_of_comparisons(U, V), A.T @ A, atol=1e-12)
    centred = U - U.mean(axis=1, keepdims=True)
    bound = np.linalg.eigvalsh(centred @ centred.T)[0] * np.linalg.eigvalsh(V @ V.T)[0]
    assert 0 < bound <= np.linalg.eigvalsh(A.T @ A)[0]


@pytest.mark.parametrize("balanced", [False, True])
def test_offers_have_the_weights_that_they_say(balanced):
    pairs, floor = gaussian_pairs(8, 4, seed=3), 1e-2
    U, V = arrays(pairs)
    W = torch.from_numpy(np.random.default_rng(0).standard_normal((4, 4)))
    weights = weights_of(tilted_certificate(pairs, W, floor, balanced=balanced), U, V)
    lengths = np.linalg.norm(V, axis=0)
    A, where = comparisons(U, V)
    of_one = weights[where] * lengths[where[1]]  # for keys of length one
    S = U.T @ W.numpy() @ (V / lengths)
    softmax = (np.exp(S) / np.exp(S).sum(axis=0))[where]
    if balanced:
        assert np.linalg.norm(weights[where] @ A) < 1e-12
        units = A / lengths[where[1]][:, None]
        Z = -np.linalg.solve(units.T @ units, (softmax + floor) @ units) / floor
        np.testing.assert_allclose(of_one, softmax + floor * (1 + units @ Z), atol=1e-12)
    else:
        np.testing.assert_allclose(of_one, softmax + floor, rtol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 1])
@pytest.mark.parametrize("balanced", [False, True])
def test_no_offer_passes_where_a_memory_exists(balanced, scale):
    pairs = gaussian_pairs(20, 10, seed=0)
    W = scale * torch.from_numpy(decide_top1(pairs).certificate.W)
    offer = tilted_certificate(pairs, W, 1e-4, balanced=balanced)
    assert not verify(offer, pairs)
    assert not holds_exactly(offer, pairs)
    U, V = arrays(pairs)
    weights = weights_of(offer, U, V)[~np.eye(20, dtype=bool)]
    assert (weights.min() > 0) is not balanced


@pytest.mark.parametrize("balanced", [False, True])
def test_equal_weights_are_a_proof_where_pairs_are_many_and_dimensions_few(balanced):
    pairs, W = gaussian_pairs(1000, 2, seed=0), torch.zeros(2, 2, dtype=torch.float64)
    assert verify(tilted_certificate(pairs, W, 1.0, balanced=balanced), pairs)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-3, 3))
def test_the_tilted_loss_is_at_least_the_entropy_of_weights_that_cancel(seed, log_size):
    """For any memory at all; so a negative value shows that no such weights have this floor."""
    pairs = gaussian_pairs(16, 3, seed=0)
    U, V = arrays(pairs)
    V = V / np.linalg.norm(V, axis=0)
    weights, floor = weights_that_cancel(), 1e-3
    q = np.where(np.eye(16, dtype=bool), 0, weights - floor)
    W = 10**log_size * np.random.default_rng(seed).standard_normal((3, 3))
    S = U.T @ W @ V
    gaps = S.diagonal() - S
    tilted = logsumexp(-gaps, axis=0).sum() - floor * gaps.sum()
    assert q.min() >= 0
    assert q.sum(axis=0).max() <= 1
    entropy = (entr(q).sum(axis=0) + entr(1 - q.sum(axis=0))).sum()
    assert tilted >= entropy * (1 - 1e-9) - 1e-9 * np.abs(gaps).sum()


@cache
def weights_that_cancel():
    """Of an instance that no memory retrieves, for keys of length one, of total one less the floor."""
    pairs = gaussian_pairs(16, 3, seed=0)
    U, V = arrays(pairs)
    lengths = np.linalg.norm(V, axis=0)
    weights = weights_of(decided_by_passes(pairs).certificate, U, V) * lengths
    weights /= weights.sum(axis=0).max()
    assert weights[~np.eye(16, dtype=bool)].min() > 1e-3
    return weights


def test_what_a_proof_holds():
    pairs = gaussian_pairs(20, 4, seed=0)
    stored, computed = decided_by_newton(pairs).certificate, decided_by_passes(pairs).certificate
    assert numbers_in(stored) == 400
    assert numbers_in(computed) == 4 * 16 + 2 * 20 + 1
    memory = decided_by_newton(gaussian_pairs(20, 10, seed=0)).certificate
    assert numbers_in(memory) == 100
    assert 8 * 2 * 20 * 4 < file_bytes(computed, pairs) < file_bytes(stored, pairs)


def test_arguments_that_do_not_fit_are_refused():
    pairs = gaussian_pairs(8, 3, seed=0)
    W = torch.zeros(3, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="k = 7"):
        decided_by_passes(pairs, 7)
    with pytest.raises(ValueError, match="k = 8"):
        decided_by_newton(pairs, 8)
    with pytest.raises(ValueError, match="floor = 0"):
        tilted_certificate(pairs, W, 0, balanced=True)
    with pytest.raises(ValueError, match="W"):
        tilted_certificate(pairs, W[:2], 1.0, balanced=True)
