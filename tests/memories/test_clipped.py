"""Equal signals at the least energy, and clipped competitors: against the conditions of optimality."""

import math

import numpy as np
import pytest
import torch

from assocmem.memories.clipped import clipped_memory, equalised_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins, scores


def energy_gradient(pairs, W):
    """Gradient of ``|U' W V|^2 / 2 / (n/d)^2``."""
    scale = (pairs.d / pairs.n) ** 2
    return scale * pairs.U @ pairs.U.T @ W @ pairs.V @ pairs.V.T


def outside_span(pairs, G):
    """Relative part of G that is no combination of the outer products ``u_i v_i'``."""
    products = torch.einsum("ai,bi->abi", pairs.U, pairs.V).reshape(-1, pairs.n)
    rest = G.reshape(-1, 1) - products @ torch.linalg.lstsq(products, G.reshape(-1, 1)).solution
    return float(rest.norm() / G.norm())


def test_equal_signals_with_the_least_energy():
    pairs = gaussian_pairs(50, 12, seed=1)
    W = equalised_memory(pairs)
    torch.testing.assert_close(
        scores(pairs, W).diagonal(), torch.ones(50, dtype=torch.float64), rtol=0, atol=1e-3
    )
    assert outside_span(pairs, energy_gradient(pairs, W)) < 1e-8
    assert outside_span(pairs, W) > 0.01  # the least norm is another memory


@pytest.mark.parametrize(("gamma", "softness"), [(0.1, 0.1), (0.3, 1.0)])
def test_a_clip_is_the_least_of_energy_and_penalty(gamma, softness):
    pairs = gaussian_pairs(60, 20, seed=2)
    start = scores(pairs, equalised_memory(pairs))
    above = (start > 1 - gamma) & ~torch.eye(60, dtype=torch.bool)
    found = clipped_memory(pairs, rounds=1, gamma=gamma, softness=softness)
    assert found.clipped == int(above.sum()) > 5
    S = scores(pairs, found.W)
    excess = torch.where(above, S - (1 - gamma), 0.0)
    G = energy_gradient(pairs, found.W) + pairs.U @ excess @ pairs.V.T / softness
    assert outside_span(pairs, G) < 0.01
    assert outside_span(pairs, energy_gradient(pairs, found.W)) > 0.1
    torch.testing.assert_close(S.diagonal(), torch.ones(60, dtype=torch.float64), rtol=0, atol=2e-3)


def test_clips_retrieve_where_outer_products_fail():
    pairs = gaussian_pairs(300, 56, seed=4)
    found = clipped_memory(pairs, rounds=4, gamma=0.05, softness=0.03)
    assert found.retrieves
    assert found.converged
    assert found.failures[0] > 30
    assert list(found.failures) == sorted(found.failures, reverse=True)
    assert found.passes == len(found.failures) <= 5
    assert float(retrieval_margins(pairs, found.W).min()) > 0
    assert clipped_memory(pairs, rounds=0).failures == found.failures[:1]


def test_rotations_of_targets_and_keys_do_not_matter():
    pairs = gaussian_pairs(80, 20, seed=5)
    rng = np.random.default_rng(1)
    A, B = (torch.from_numpy(rng.standard_normal((20, 20))) for _ in range(2))
    turned = Pairs(A @ pairs.U, B @ pairs.V)  # any change of coordinates: the energy is one of scores
    first, second = (scores(p, clipped_memory(p, rounds=1).W) for p in (pairs, turned))
    torch.testing.assert_close(first, second, rtol=0, atol=2e-3)


def test_hopeless_instances_are_reported():
    pairs = gaussian_pairs(200, 20, seed=1)
    found = clipped_memory(pairs, rounds=9)
    assert not found.retrieves
    assert found.passes < 10  # more comparisons to clip than entries


def test_a_system_that_is_not_solved_is_reported(monkeypatch):
    monkeypatch.setattr("assocmem.memories.clipped.STEPS", 5)
    tight = gaussian_pairs(63, 8, seed=1)
    found = clipped_memory(tight, rounds=0)
    assert not found.converged
    assert found.steps == 5
    with pytest.raises(ArithmeticError, match="no equal signals within 5 steps for n = 63, d = 8"):
        equalised_memory(tight)


@pytest.mark.parametrize(
    ("n", "d", "keywords", "line"),
    [
        (20, 6, {"rounds": -1}, "rounds = -1: must be an integer >= 0"),
        (20, 6, {"gamma": 1.0}, "gamma = 1.0: must be in (0, 1)"),
        (20, 6, {"softness": 0.0}, "softness = 0.0: must be a finite number > 0"),
        (20, 6, {"softness": math.inf}, "softness = inf: must be a finite number > 0"),
        (20, 4, {}, "pairs = '20 keys': must be fewer than the 16 entries that a memory can use"),
        (16, 4, {}, "pairs = '16 keys': must be fewer than the 16 entries that a memory can use"),
    ],
)
def test_refusals(n, d, keywords, line):
    with pytest.raises(ValueError) as error:
        clipped_memory(gaussian_pairs(n, d, seed=1), **keywords)
    assert str(error.value) == line


def test_targets_in_a_plane_are_refused():
    pairs = gaussian_pairs(30, 8, seed=1)
    flat = pairs.U.clone()
    flat[-1] = flat[0]
    with pytest.raises(ValueError, match="must be of full rank"):
        clipped_memory(Pairs(flat, pairs.V))


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
def test_clips_on_a_gpu():
    pairs = gaussian_pairs(300, 56, seed=4)
    there = clipped_memory(Pairs(pairs.U.cuda(), pairs.V.cuda()), rounds=2)
    here = clipped_memory(pairs, rounds=2)
    assert there.failures == here.failures
    torch.testing.assert_close(there.W.cpu(), here.W, rtol=0, atol=1e-3)
