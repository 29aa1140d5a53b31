"""False certificates: what is wrong with them, and that both checks refuse them."""

import numpy as np
import pytest
import torch

from assocmem.deciding.certificates import Certificate
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.deciding.forgeries import forged, largest_negated, nearest_miss
from assocmem.experiments.first_place.two_proofs import decided_by_passes
from assocmem.pairs.data import Pairs, gaussian_pairs


def test_the_largest_weight_changes_its_sign_in_a_copy():
    weights = np.array([[0.0, 2.0], [5.0, 0.0]])
    np.testing.assert_array_equal(largest_negated(weights), [[0.0, 2.0], [-5.0, 0.0]])
    assert weights[1, 0] == 5


@pytest.mark.parametrize("d, feasible", [(4, False), (10, True)])
def test_a_forgery_makes_the_same_claim_and_is_refused(d, feasible):
    pairs = gaussian_pairs(20, d, seed=0)
    genuine = decide_top1(pairs).certificate
    false = forged(genuine)
    assert false.feasible == genuine.feasible == feasible
    assert false.k == genuine.k
    for accepts in (verify, holds_exactly):
        assert accepts(genuine, pairs)
        assert not accepts(false, pairs)


@pytest.mark.parametrize("k", [1, 4])
def test_weights_computed_from_the_negated_memory_are_refused(k):
    pairs = gaussian_pairs(20, 4, seed=0)
    genuine = decided_by_passes(pairs, k).certificate
    assert genuine.computed is not None
    false = forged(genuine)
    assert (false.k, false.feasible) == (k, False)
    for accepts in (verify, holds_exactly):
        assert accepts(genuine, pairs)
        assert not accepts(false, pairs)


def test_a_miss_is_the_nearest_point_of_the_hull():
    """With two pairs there are two comparisons, and the nearest point of a segment is a projection."""
    pairs = gaussian_pairs(2, 3, seed=4)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    a, b = np.outer(U[:, 0] - U[:, 1], V[:, 0]), np.outer(U[:, 1] - U[:, 0], V[:, 1])
    share = np.clip(np.vdot(b, b - a) / np.vdot(a - b, a - b), 0, 1)  # of the first
    weights, length = nearest_miss(pairs)
    np.testing.assert_allclose(weights, [[0, 1 - share], [share, 0]], atol=1e-12)
    assert length == pytest.approx(np.linalg.norm(share * a + (1 - share) * b))


def test_a_miss_of_a_retrievable_instance_proves_nothing():
    pairs = gaussian_pairs(12, 8, seed=1)
    assert decide_top1(pairs).feasible
    weights, length = nearest_miss(pairs)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    assert length > 1e-3
    U, V = pairs.U.numpy(), pairs.V.numpy()
    total = (U * weights.sum(axis=0) - U @ weights) @ V.T
    assert np.linalg.norm(total) == pytest.approx(length)
    assert not verify(Certificate(1, weights=weights), pairs)


def test_a_hopeless_instance_is_not_missed():
    pairs = gaussian_pairs(12, 3, seed=1)
    assert decide_top1(pairs).feasible is False
    assert nearest_miss(pairs)[1] < 1e-12
    hidden = Pairs(
        torch.tensor([[1.0, -1.0, 0.0]]), torch.ones(1, 3)
    )  # the third is an average of the others
    assert nearest_miss(hidden)[1] < 1e-12
