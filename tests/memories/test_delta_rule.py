"""The delta rule in blocks: against key after key, and against what it comes to in the limits."""

import math

import pytest
import torch

from assocmem.experiments.gaussian_facts import gaussian_facts
from assocmem.memories.delta_rule import BLOCK, decayed_memory, delta_memory
from assocmem.memories.least_squares import least_squares_memory
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs


def plainly(pairs, step, keep=1.0, passes=1, start=None):
    """One key after the other."""
    W = pairs.V.new_zeros(pairs.d_out, pairs.d_in) if start is None else start
    U, V = pairs.answered(), pairs.V
    for _ in range(passes):
        for u, v in zip(U.T, V.T, strict=True):
            W = keep * (W - step * torch.outer(W @ v, v)) + step * torch.outer(u, v)
    return W


def close(a, b, tol=1e-12):
    torch.testing.assert_close(a, b, rtol=0, atol=tol * float(b.abs().amax()))


@pytest.mark.parametrize("keep", [1.0, 0.97, 0.3, 0.0])
@pytest.mark.parametrize("step", [0.05, 1.0])
@pytest.mark.parametrize("n", [BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 5])
def test_blocks_are_one_key_after_the_other(n, step, keep):
    pairs = gaussian_pairs(n, 17, seed=1)
    close(delta_memory(pairs, step=step, keep=keep), plainly(pairs, step, keep))


def test_passes_go_on_from_where_the_last_ended():
    pairs, start = gaussian_pairs(150, 12, seed=2), gaussian_pairs(12, 12, seed=3).U
    thrice = delta_memory(pairs, step=0.4, keep=0.99, passes=3, start=start)
    close(thrice, plainly(pairs, 0.4, 0.99, 3, start))
    W = start
    for _ in range(3):
        W = delta_memory(pairs, step=0.4, keep=0.99, start=W)
    close(thrice, W)


def test_orthonormal_keys_are_stored_exactly_by_a_step_of_one():
    keys = torch.linalg.qr(gaussian_pairs(20, 20, seed=4).V).Q[:, :15]
    pairs = Pairs(gaussian_pairs(15, 20, seed=5).U, keys)
    W = delta_memory(pairs, step=1.0)
    close(W, correlation_memory(pairs))
    close(W @ keys, pairs.U)


def test_the_last_key_is_answered_by_a_step_of_one_over_its_squared_length():
    pairs = gaussian_pairs(90, 10, seed=6)
    keys = pairs.V / pairs.V.norm(dim=0)
    W = delta_memory(Pairs(pairs.U, keys), step=1.0)
    close(W @ keys[:, -1], pairs.U[:, -1], 1e-11)


def test_a_short_step_is_outer_products():
    pairs = gaussian_pairs(100, 10, seed=7)
    close(delta_memory(pairs, step=1e-7) / 1e-7, correlation_memory(pairs), 1e-5)
    # and with forgetting, outer products that fade
    close(delta_memory(pairs, step=1e-7, keep=0.98) / 1e-7, decayed_memory(pairs, keep=0.98), 1e-5)


def test_many_passes_come_to_least_squares():
    pairs = gaussian_pairs(60, 8, seed=8)
    best = least_squares_memory(pairs)
    miss = [
        float((delta_memory(pairs, step=step, passes=passes) - best).norm() / best.norm())
        for step, passes in ((0.02, 1), (0.02, 100), (0.002, 2000))
    ]
    assert miss[0] > 0.3
    assert miss[1] < 0.06
    assert miss[2] < 0.01  # what is left is of the order of the step


def test_fading_is_a_power_of_the_age():
    pairs = gaussian_pairs(70, 6, seed=9)
    W = decayed_memory(pairs, keep=0.9)
    plain = sum(0.9 ** (69 - k) * torch.outer(pairs.U[:, k], pairs.V[:, k]) for k in range(70))
    close(W, plain)
    close(decayed_memory(pairs, keep=1.0), correlation_memory(pairs))
    close(decayed_memory(pairs, keep=0.0), torch.outer(pairs.U[:, -1], pairs.V[:, -1]))


def test_rotations_of_targets_and_keys_rotate_the_memory():
    pairs = gaussian_pairs(80, 9, seed=10)
    A, B = (torch.linalg.qr(gaussian_pairs(9, 9, seed=seed).U).Q for seed in (11, 12))
    turned = delta_memory(Pairs(A @ pairs.U, B @ pairs.V), step=0.6, keep=0.99)
    close(turned, A @ delta_memory(pairs, step=0.6, keep=0.99) @ B.T, 1e-11)


def test_facts_with_shared_answers_and_dimensions_of_their_own():
    facts = gaussian_facts(10, 6, 9, 150, seed=13)
    close(delta_memory(facts, step=0.5, keep=0.99), plainly(facts, 0.5, 0.99))
    assert decayed_memory(facts, keep=0.9).shape == (6, 10)


def test_single_precision_is_kept():
    single, double = (gaussian_pairs(150, 12, seed=1, dtype=t) for t in (torch.float32, torch.float64))
    W = delta_memory(single, step=0.5, keep=0.99)
    assert W.dtype == torch.float32
    close(W.double(), delta_memory(double, step=0.5, keep=0.99), 1e-5)
    assert decayed_memory(single, keep=0.9).dtype == torch.float32


def test_what_it_cannot_use_is_refused():
    pairs = gaussian_pairs(40, 5, seed=1)
    good = {"step": 0.5, "keep": 1.0, "passes": 1}
    for wrong in ({"step": 0.0}, {"keep": 1.1}, {"passes": 0}, {"passes": 10**9}, {"start": torch.eye(5)}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            delta_memory(pairs, **good | wrong)
    with pytest.raises(ValueError, match=r"step = 400.0: must be smaller"):
        delta_memory(gaussian_pairs(900, 5, seed=1), step=400.0, passes=10)
    with pytest.raises(ValueError, match="keep"):
        decayed_memory(pairs, keep=math.nan)
