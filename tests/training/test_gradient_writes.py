"""Few gradient steps as a rule: against plain ones, against autograd, and Muon's against its own."""

import pytest
import torch

import assocmem.pairs.scores
from assocmem.experiments.gaussian_facts import gaussian_facts
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Facts, Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.training.gradient_writes import muon_memory, softmax_memory
from assocmem.training.losses import CrossEntropy
from assocmem.training.passes import loss_pass

needs_muon = pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="torch before 2.9 has no Muon")


def close(a, b, tol=1e-12):
    torch.testing.assert_close(a, b, rtol=0, atol=tol * float(b.abs().amax()))


def plainly(facts, scale, lengths, block):
    """Steps along the gradient that autograd finds, block after block."""
    W = torch.zeros(facts.d_out, facts.d_in, dtype=facts.V.dtype)
    for length in lengths:
        for start in range(0, facts.n, block):
            keys = slice(start, start + block)
            X = W.clone().requires_grad_()
            logits = scale * (X @ facts.V[:, keys]).T @ facts.U
            torch.nn.functional.cross_entropy(logits, facts.answers[keys], reduction="sum").backward()
            W = W - length / scale * X.grad
    return W


@pytest.mark.parametrize("block", [1, 7, 40])
@pytest.mark.parametrize("lengths", [(0.5,), (1.0, 0.4, 0.2)])
def test_steps_are_along_the_gradient_of_cross_entropy(lengths, block):
    pairs = gaussian_pairs(40, 9, seed=1)
    found = softmax_memory(pairs, steps=len(lengths), scale=6.0, step=lengths, block=block)
    close(found, plainly(pairs, 6.0, lengths, block))


def test_the_first_step_is_outer_products_with_centred_targets():
    pairs = gaussian_pairs(50, 8, seed=2)
    centred = Pairs(pairs.U - pairs.U.mean(dim=1, keepdim=True), pairs.V)
    close(softmax_memory(pairs, steps=1, scale=3.0, step=1.0), correlation_memory(centred))


def test_one_block_is_a_full_step_and_one_length_stands_for_all():
    pairs = gaussian_pairs(50, 8, seed=3)
    full = softmax_memory(pairs, steps=3, scale=5.0, step=0.4)
    for block in (50, 10**6):
        assert torch.equal(softmax_memory(pairs, steps=3, scale=5.0, step=0.4, block=block), full)
    assert torch.equal(softmax_memory(pairs, steps=3, scale=5.0, step=(0.4, 0.4, 0.4)), full)


def test_only_scale_times_step_counts():
    pairs = gaussian_pairs(50, 8, seed=4)
    W = softmax_memory(pairs, steps=4, scale=5.0, step=0.4)
    close(softmax_memory(pairs, steps=4, scale=1.0, step=2.0), 5 * W, 1e-10)


def test_small_blocks_of_scores_come_to_the_same(monkeypatch):
    pairs = gaussian_pairs(60, 8, seed=5)
    whole = softmax_memory(pairs, steps=3, scale=5.0, step=0.4, block=25)
    monkeypatch.setattr(assocmem.pairs.scores, "BLOCK_BYTES", 8 * 60 * 7)
    close(softmax_memory(pairs, steps=3, scale=5.0, step=0.4, block=25), whole)


def test_more_steps_store_more():
    pairs = gaussian_pairs(300, 60, seed=6)
    failing = [
        int((retrieval_margins(pairs, softmax_memory(pairs, **how)) <= 0).sum())
        for how in (
            {"steps": 1, "scale": 12.0, "step": 1.0},
            {"steps": 2, "scale": 12.0, "step": (1.0, 0.6)},
            {"steps": 10, "scale": 20.0, "step": (1.0, *[0.3] * 9)},
        )
    ]
    assert failing == sorted(failing, reverse=True)
    assert failing[0] > 100
    assert failing[2] == 0 < failing[1]


def test_facts_with_shared_answers_and_dimensions_of_their_own():
    facts = gaussian_facts(10, 6, 9, 50, seed=7)
    close(softmax_memory(facts, steps=2, scale=4.0, step=0.7, block=20), plainly(facts, 4.0, (0.7, 0.7), 20))


def test_large_scales_do_not_overflow():
    pairs = gaussian_pairs(30, 6, seed=8)
    W = softmax_memory(pairs, steps=3, scale=1e12, step=1.0)
    assert bool(torch.isfinite(W).all())


@needs_muon
def test_muon_is_that_of_torch():
    pairs = gaussian_pairs(60, 12, seed=9)
    W = torch.nn.Parameter(torch.zeros(12, 12, dtype=torch.float64))
    optimizer = torch.optim.Muon([W], lr=3.0, weight_decay=0.0, momentum=0.9)
    for _ in range(4):
        W.grad = loss_pass(pairs, CrossEntropy(), W.detach()).gradient
        optimizer.step()
    found = muon_memory(pairs, steps=4, rate=3.0, momentum=0.9)
    close(found, W.detach(), 1e-12)  # though the first gradient is computed in another way


@needs_muon
@pytest.mark.parametrize("facts", [gaussian_pairs(100, 20, seed=1), gaussian_facts(20, 12, 30, 100, seed=1)])
def test_one_step_of_muon_is_near_the_polar_factor(facts):
    G = softmax_memory(facts, steps=1, scale=1.0, step=1.0)
    left, sizes, right = torch.linalg.svd(G, full_matrices=False)
    W = muon_memory(facts, steps=1, rate=1.0)
    assert W.shape == (facts.d_out, facts.d_in)
    ratio = max(1, facts.d_out / facts.d_in) ** 0.5  # by which Muon multiplies its rate
    inside = (left.T @ W @ right.T / ratio).diagonal()
    strong = sizes > 0.1 * sizes[0]
    assert float((inside[strong] - 1).abs().max()) < 0.35  # its iteration leaves them within about a third
    assert float((W - left @ torch.diag(inside) @ right * ratio).norm() / W.norm()) < 0.03
    assert torch.equal(muon_memory(facts, steps=1, rate=0.25), 0.25 * W)  # a power of two rounds nothing


@needs_muon
def test_ten_steps_of_muon_store_more_than_one():
    pairs = gaussian_pairs(300, 60, seed=2)
    rate = 5 * 5**0.5
    one, ten = (
        int((retrieval_margins(pairs, muon_memory(pairs, steps=steps, rate=rate)) <= 0).sum())
        for steps in (1, 10)
    )
    assert one > 100
    assert ten < 3


@needs_muon
def test_nothing_to_learn_leaves_nothing():
    nothing = Pairs(torch.zeros(3, 5, dtype=torch.float64), torch.ones(3, 5, dtype=torch.float64))
    assert not muon_memory(nothing, steps=2, rate=1.0).any()
    assert not softmax_memory(nothing, steps=2, scale=1.0, step=1.0).any()


@needs_muon
def test_single_precision_is_kept():
    single, double = (gaussian_pairs(60, 12, seed=1, dtype=t) for t in (torch.float32, torch.float64))
    assert muon_memory(single, steps=2, rate=1.0).dtype == torch.float32
    W = softmax_memory(single, steps=3, scale=5.0, step=0.5)
    assert W.dtype == torch.float32
    close(W.double(), softmax_memory(double, steps=3, scale=5.0, step=0.5), 1e-5)


def test_what_they_cannot_use_is_refused(monkeypatch):
    pairs = gaussian_pairs(30, 6, seed=1)
    good = {"steps": 2, "scale": 1.0, "step": 1.0}
    for wrong in (
        {"steps": 0},
        {"steps": 10**9},
        {"scale": 0.0},
        {"step": -1.0},
        {"step": "2"},
        {"block": 0},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            softmax_memory(pairs, **good | wrong)
    with pytest.raises(ValueError, match="step.*one for each step"):
        softmax_memory(pairs, **good | {"step": [1.0]})
    with pytest.raises(ValueError, match=r"step = 1e\+305: must be smaller"):
        softmax_memory(Facts(1e30 * pairs.U, pairs.V), **good | {"step": 1e305})
    with pytest.raises(ValueError, match="rate"):
        muon_memory(pairs, steps=2, rate=0.0)
    with pytest.raises(ValueError, match="momentum"):
        muon_memory(pairs, steps=2, rate=1.0, momentum=1.0)
    monkeypatch.delattr(torch.optim, "Muon", raising=False)
    with pytest.raises(ValueError, match="at least 2.9, to have Muon"):
        muon_memory(pairs, steps=2, rate=1.0)
