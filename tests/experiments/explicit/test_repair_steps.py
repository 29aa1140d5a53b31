"""Steps of sparse repair on instances, against whole score matrices."""

import math

import numpy as np
import pytest
import torch

from assocmem.experiments.explicit.repair_steps import (
    failing_after_repair,
    noise_bound,
    repair_step,
    reserve_scores,
)
from assocmem.memories.sparse_repair import default_reserve, sparse_repair
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.pairs.sizes import dimension_at_ratio

GAMMA = 0.1


@pytest.fixture
def pairs():
    return gaussian_pairs(120, 60, seed=1)


@pytest.fixture
def repair(pairs):
    found = sparse_repair(pairs, gamma=GAMMA, reserve=12)
    assert 0 < len(found.deficient) < 120
    return found


def test_scores_are_those_of_the_second_block(pairs, repair):
    U, V, W = (X.numpy()[-12:] for X in (pairs.U, pairs.V, repair.W))
    S = U.T @ W[:, -12:] @ V
    own, rival = reserve_scores(pairs, repair)
    np.testing.assert_allclose(own, S.diagonal()[repair.deficient])
    np.fill_diagonal(S, -np.inf)
    np.testing.assert_allclose(rival, S.max(axis=0))


def test_a_step_adds_up(pairs, repair):
    own, rival = reserve_scores(pairs, repair)
    found = repair_step(pairs, repair)
    assert found.lifted == pytest.approx(float((repair.base_margins[repair.deficient] + own).mean()))
    # as the weights are 2 gamma - m, what is missed of them is what the lift is off by
    assert abs(found.lifted - 2 * GAMMA) <= found.noise
    assert found.noise >= float(rival.max())
    assert found.bound == noise_bound(repair.weights, 120, 12)


def test_keys_are_lifted_to_twice_gamma_on_average():
    n, d = 600, dimension_at_ratio(600, 9.0)
    lifted = []
    for seed in range(8):
        pairs = gaussian_pairs(n, d, seed=seed)
        lifted.append(repair_step(pairs, sparse_repair(pairs, gamma=GAMMA, reserve=round(0.14 * d))).lifted)
    error = np.std(lifted, ddof=1) / math.sqrt(len(lifted))
    assert np.mean(lifted) == pytest.approx(2 * GAMMA, abs=4 * error)
    assert 4 * error < GAMMA / 2


def test_the_bound_of_a_single_weight():
    n, d1, w = 100, 25, 0.3
    log = math.log(n)
    expected = w * (math.sqrt(log) / 5 + log / 25 + math.sqrt(log) / 25)
    assert noise_bound(torch.tensor([w], dtype=torch.float64), n, d1) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.2, None])
def test_failing_keys_are_those_without_a_margin(pairs, share):
    reserve = 12 if share else default_reserve(120, 60)
    margins = retrieval_margins(pairs, sparse_repair(pairs, gamma=GAMMA, reserve=reserve).W)
    assert failing_after_repair(pairs, share=share, gamma=GAMMA) == int((margins <= 0).sum())


def test_nothing_fails_with_dimensions_to_spare():
    pairs = gaussian_pairs(50, dimension_at_ratio(50, 60.0), seed=0)
    assert failing_after_repair(pairs, share=0.2, gamma=GAMMA) == 0
