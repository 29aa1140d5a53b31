"""Instances that no memory retrieves, as can be told without a search."""

import numpy as np
import pytest
import torch

from assocmem.deciding.certificates import Certificate
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide, decide_top1, verify
from assocmem.deciding.hopeless import hidden_target, repeated_key, vanishing_comparison
from assocmem.pairs.data import Facts, Pairs, gaussian_pairs


def test_random_instances_are_not_hopeless_at_first_sight():
    for k in (1, 3):
        assert vanishing_comparison(gaussian_pairs(20, 12, seed=0), k) is None
        assert hidden_target(gaussian_pairs(20, 12, seed=0), k) is None
        assert repeated_key(gaussian_pairs(20, 12, seed=0), k) is None


def test_a_target_among_others_is_hopeless_whatever_the_keys():
    U = torch.tensor([[1, -1, 0, 0, 0.1], [0, 0, 1, -1, 0.1]], dtype=torch.float64)
    pairs = Pairs(U, torch.from_numpy(np.random.default_rng(0).standard_normal((2, 5))))
    verdict = decide_top1(pairs)
    assert verdict.feasible is False
    assert np.flatnonzero(verdict.certificate.weights.any(axis=0)).tolist() == [4]
    assert verify(verdict.certificate, pairs)


@pytest.mark.parametrize("empty", ["targets", "keys", "both"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_nothing_is_retrieved_where_all_targets_or_all_keys_are_zero(empty, k):
    pairs = gaussian_pairs(6, 4, seed=0)
    U, V = (X * (empty not in (name, "both")) for X, name in ((pairs.U, "targets"), (pairs.V, "keys")))
    for instance in (Pairs(U, V), Facts(U, V, [5, 0, 0, 3, 1, 2])):
        verdict = decide(instance, k)
        assert verdict.feasible is False
        assert verify(verdict.certificate, instance)
        assert holds_exactly(verdict.certificate, instance)
        assert not verify(verdict.certificate, pairs)
        assert not verify(Certificate(k, W=np.eye(4)), instance)


def test_equal_targets_and_empty_keys_are_hopeless():
    pairs = gaussian_pairs(4, 6, seed=0)
    U, V = pairs.U.clone(), pairs.V.clone()
    U[:, 2] = U[:, 0]
    twins = Pairs(U, V)
    assert decide_top1(twins).feasible is False
    V[:, 1] = 0
    silent = Pairs(pairs.U, V)
    for k in (1, 2, 3):
        verdict = decide(silent, k)
        assert verdict.feasible is False
        assert verify(verdict.certificate, silent)
    assert not verify(decide_top1(twins).certificate, pairs)


@pytest.mark.parametrize("factor", [1.0, 2.0, 0.25, 2.0**-500])
@pytest.mark.parametrize("n, d", [(4, 6), (60, 18), (60, 30)])
def test_a_key_with_two_targets_is_hopeless(n, d, factor):
    pairs = gaussian_pairs(n, d, seed=1)
    V = pairs.V.clone()
    V[:, 1] = factor * V[:, 0]
    twins = Pairs(pairs.U, V)
    verdict = decide_top1(twins)
    assert (verdict.feasible, verdict.steps, verdict.passes) == (False, 0, 0)
    assert np.argwhere(verdict.certificate.weights).tolist() == [[0, 1], [1, 0]]
    assert verify(verdict.certificate, twins)
    assert not verify(verdict.certificate, pairs)
    assert repeated_key(twins, 2) is None


def test_opposite_keys_are_two():
    pairs = gaussian_pairs(4, 6, seed=0)
    V = pairs.V.clone()
    V[:, 1] = -V[:, 0]
    assert repeated_key(Pairs(pairs.U, V)) is None
    assert decide_top1(Pairs(pairs.U, V)).feasible is True


def test_as_many_equal_targets_as_a_tail_has_are_hopeless():
    pairs = gaussian_pairs(20, 12, seed=2)
    U = pairs.U.clone()
    U[:, 5:10] = U[:, 4:5]  # six alike
    for k, answer in ((1, False), (3, False), (5, False), (6, True)):
        verdict = decide(Pairs(U, pairs.V), k)
        assert verdict.feasible is answer
        assert verify(verdict.certificate, Pairs(U, pairs.V))
        assert holds_exactly(verdict.certificate, Pairs(U, pairs.V))
    all_alike = Pairs(U[:, 4:5].repeat(1, 20), pairs.V)
    for k in (1, 3, 19):
        assert verify(decide(all_alike, k).certificate, all_alike)
    weights = np.zeros((20, 20))
    weights[5:9, 4] = 1.0  # four of a tail of five, and twins of unequal weights
    assert not verify(Certificate(5, weights=weights), Pairs(U, pairs.V))
    weights[9, 4] = 0.5
    assert not verify(Certificate(5, weights=weights), Pairs(U, pairs.V))
