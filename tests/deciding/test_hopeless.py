"""Instances that no memory retrieves, as can be told without a search."""

import numpy as np
import torch

from assocmem.deciding.feasibility import decide, decide_top1, verify
from assocmem.deciding.hopeless import hidden_target, vanishing_comparison
from assocmem.pairs.data import Pairs, gaussian_pairs


def test_random_instances_are_not_hopeless_at_first_sight():
    for k in (1, 3):
        assert vanishing_comparison(gaussian_pairs(20, 12, seed=0), k) is None
        assert hidden_target(gaussian_pairs(20, 12, seed=0), k) is None


def test_a_target_among_others_is_hopeless_whatever_the_keys():
    U = torch.tensor([[1, -1, 0, 0, 0.1], [0, 0, 1, -1, 0.1]], dtype=torch.float64)
    pairs = Pairs(U, torch.from_numpy(np.random.default_rng(0).standard_normal((2, 5))))
    verdict = decide_top1(pairs)
    assert verdict.feasible is False
    assert np.flatnonzero(verdict.certificate.weights.any(axis=0)).tolist() == [4]
    assert verify(verdict.certificate, pairs)


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
