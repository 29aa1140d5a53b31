"""Even signals and clips: against plain products of whole matrices, and on what they are for."""

import pytest
import torch

import assocmem.pairs.scores
from assocmem.experiments.gaussian_facts import gaussian_facts
from assocmem.memories import even_and_clip as module
from assocmem.memories.even_and_clip import even_and_clip, falling
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Facts, Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins, scores


def close(a, b, tol=1e-11):
    torch.testing.assert_close(a, b, rtol=0, atol=tol * float(b.abs().amax()))


def plainly(facts, gammas, *, whiten):
    """The same with all scores at once, and inverses where the rule has square roots."""
    U, V, answers = facts.U, facts.V, facts.answers
    A = torch.linalg.pinv(U @ U.T * len(U) / U.shape[1]) if whiten else torch.eye(len(U), dtype=U.dtype)
    B = torch.linalg.pinv(V @ V.T * len(V) / V.shape[1]) if whiten else torch.eye(len(V), dtype=V.dtype)
    # scores of W = A X B', and the lengths that the vectors have for them
    long_u, long_v = ((X * (M @ X)).sum(dim=0) for X, M in ((U, A), (V, B)))
    own = torch.zeros(U.shape[1], V.shape[1], dtype=U.dtype)
    own[answers, torch.arange(len(answers))] = 1
    every = long_u[:, None] * long_v

    def scored(weights):
        return U.T @ A @ U @ weights @ V.T @ B @ V

    weights = own / every
    weights = weights + own * (1 - scored(weights)) / every
    for gamma in gammas:
        excess = (scored(weights) - (1 - gamma)).clamp(min=0) * (1 - own)
        weights = weights - excess / every
        weights = weights + own * (1 - scored(weights)) / every
    return A @ U @ weights @ V.T @ B


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("gammas", [(), (0.2,), (0.3, 0.1, 0.05)])
def test_it_is_the_plain_rule(gammas, whiten):
    pairs = gaussian_pairs(120, 30, seed=1)
    found = even_and_clip(pairs, clips=len(gammas), gamma=gammas or 0.2, whiten=whiten)
    close(found, plainly(pairs, gammas, whiten=whiten))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_small_blocks_and_both_ways_to_clip_come_to_the_same(share, monkeypatch):
    pairs = gaussian_pairs(120, 20, seed=2)
    whole = even_and_clip(pairs, clips=2)
    monkeypatch.setattr(module, "SPARSE", share)
    monkeypatch.setattr(assocmem.pairs.scores, "BLOCK_BYTES", 8 * 120 * 7)
    close(even_and_clip(pairs, clips=2), whole)


def test_weights_two_less_the_signal_in_plain_coordinates():
    U, V = (X / X.norm(dim=0) for X in (gaussian_pairs(50, 15, seed=3).U, gaussian_pairs(50, 15, seed=3).V))
    pairs = Pairs(U, V)
    signals = scores(pairs, correlation_memory(pairs)).diagonal()
    close(even_and_clip(pairs, clips=0, whiten=False), U * (2 - signals) @ V.T)


@pytest.mark.parametrize("n", [200, 800])
def test_signals_are_near_one(n):
    pairs = gaussian_pairs(n, round(4 * n**0.5), seed=4)
    before, after = (
        float((scores(pairs, W).diagonal() - 1).square().mean())
        for W in (correlation_memory(pairs), even_and_clip(pairs, clips=0))
    )
    assert after < 0.3 * before


def test_each_line_stores_more():
    pairs = gaussian_pairs(300, 52, seed=5)
    failing = [
        int((retrieval_margins(pairs, W) <= 0).sum())
        for W in (
            correlation_memory(pairs),
            even_and_clip(pairs, clips=0),
            even_and_clip(pairs, clips=1),
            even_and_clip(pairs, clips=10, gamma=falling(10)),
        )
    ]
    assert failing == sorted(failing, reverse=True)
    assert failing[0] > 120
    assert failing[-1] == 0 < failing[-2]


def test_scores_are_the_same_in_all_coordinates():
    pairs = gaussian_pairs(80, 20, seed=6)
    A, B = (gaussian_pairs(20, 20, seed=seed).U for seed in (7, 8))
    turned = Pairs(A @ pairs.U, B @ pairs.V)
    first, second = (scores(p, even_and_clip(p, clips=2)) for p in (pairs, turned))
    close(first, second, 1e-7)


@pytest.mark.parametrize("m", [12, 40])
def test_facts_with_shared_answers_and_dimensions_of_their_own(m):
    facts = gaussian_facts(24, 18, m, 100, seed=9)
    close(even_and_clip(facts, clips=2), plainly(facts, (0.2, 0.2), whiten=True))
    signal = (facts.answered() * (even_and_clip(facts, clips=2) @ facts.V)).sum(dim=0)
    assert float((signal - 1).abs().mean()) < 0.3


def test_fewer_vectors_than_dimensions():
    pairs = gaussian_pairs(10, 30, seed=10)
    close(scores(pairs, even_and_clip(pairs)), torch.eye(10, dtype=torch.float64), 1e-9)


def test_zero_vectors_stand_aside():
    pairs = gaussian_pairs(40, 20, seed=11)
    U, V = pairs.U.clone(), pairs.V.clone()
    U[:, 3], V[:, 7] = 0, 0
    W = even_and_clip(Pairs(U, V), clips=2)
    assert bool(torch.isfinite(W).all())
    rest = torch.tensor([k for k in range(40) if k not in (3, 7)])
    assert float(retrieval_margins(Pairs(U[:, rest], V[:, rest]), W).min()) > 0
    nothing = torch.zeros(4, 6, dtype=torch.float64)
    assert not even_and_clip(Pairs(nothing, nothing)).any()


def test_a_key_without_competitors_above_is_left_alone():
    pairs = gaussian_pairs(20, 400, seed=12)
    close(
        even_and_clip(pairs, clips=3, gamma=1e-3, whiten=False),
        even_and_clip(pairs, clips=0, whiten=False),
        0.05,
    )


def test_single_precision_is_kept():
    single, double = (gaussian_pairs(150, 40, seed=1, dtype=t) for t in (torch.float32, torch.float64))
    W = even_and_clip(single, clips=2)
    assert W.dtype == torch.float32
    close(W.double(), even_and_clip(double, clips=2), 1e-4)


def test_margins_fall_in_equal_ratios():
    assert falling(3, 0.4, 0.1) == pytest.approx((0.4, 0.2, 0.1))
    assert falling(1) == (0.2,)


def test_what_it_cannot_use_is_refused():
    pairs = gaussian_pairs(30, 6, seed=1)
    for wrong in ({"clips": -1}, {"clips": 10**9}, {"gamma": 0.0}, {"gamma": 1.0}, {"whiten": 1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            even_and_clip(pairs, **wrong)
    with pytest.raises(ValueError, match="gamma.*one for each round"):
        even_and_clip(pairs, clips=3, gamma=(0.2, 0.1))
    with pytest.raises(ValueError, match="gamma = 2"):
        even_and_clip(pairs, clips=2, gamma=(0.2, 2))
    with pytest.raises(ValueError, match="first"):
        falling(3, first=0)
    with pytest.raises(ValueError, match="pairs"):
        even_and_clip(Facts(pairs.U, 1e200 * pairs.V))
