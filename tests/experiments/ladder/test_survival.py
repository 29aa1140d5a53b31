"""What memories survive: predictions against brute force, and harms by what they are."""

import math

import numpy as np
import pytest
import torch

from assocmem.experiments.ladder.survival import (
    HARMS,
    LARGEST_MARGIN,
    harmed,
    measure_survival,
    measured_survival,
    noise_of,
    overwritten_shares,
    predicted_survival,
    retrieved_share,
    write,
)
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Facts, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins


def rectangular():
    rng = np.random.default_rng(3)
    targets, keys = rng.standard_normal((14, 20)) / 4, rng.standard_normal((25, 30)) / 5
    return Facts(targets, keys, rng.integers(0, 20, 30))


def by_brute_force(facts, W, spread, query, draws=4000):
    """Share of the keys that are retrieved, over many draws."""
    rng, found = np.random.default_rng(9), 0.0
    for _ in range(draws):
        if query:
            noise = torch.from_numpy(rng.standard_normal(facts.V.shape)) / math.sqrt(facts.d_in)
            found += retrieved_share(facts.with_vectors(facts.U, facts.V + spread * noise), W)
        else:
            noise = torch.from_numpy(rng.standard_normal(W.shape)) * float(W.norm()) / math.sqrt(W.numel())
            found += retrieved_share(facts, W + spread * noise)
    return found / draws


@pytest.mark.parametrize("query", [False, True])
@pytest.mark.parametrize(
    ("make", "spread"), [(lambda: gaussian_pairs(40, 16, seed=1), 0.6), (rectangular, 0.4)]
)
def test_predictions_are_near_brute_force_for_every_key(make, spread, query):
    facts = make()
    W = facts.answered() @ facts.V.T
    found = by_brute_force(facts, W, spread, query, draws=800)
    told = predicted_survival(facts, W, spread, query=query)
    # competitors stay below together more often than if each did for itself, as the prediction has it
    assert found - 0.05 < told < found + 0.01
    assert abs(predicted_survival(facts, W, 3 * spread, query=query) - found) > 0.1


def test_with_one_competitor_the_prediction_is_exact():
    rng = np.random.default_rng(1)
    facts = Facts(rng.standard_normal((3, 2)), rng.standard_normal((4, 5)), [0, 1, 0, 1, 1])
    W = torch.from_numpy(rng.standard_normal((3, 4)))
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0, -1.0], dtype=torch.float64)
    difference = facts.U[:, 0] - facts.U[:, 1]
    margins = signs * (difference @ W @ facts.V)
    spread = 0.5 * W.norm() / math.sqrt(12) * difference.norm() * facts.V.norm(dim=0)
    exact = float(torch.special.ndtr(margins / spread).mean())
    assert predicted_survival(facts, W, 0.5) == pytest.approx(exact, abs=1e-6)
    spread = 0.5 / 2 * (W.T @ difference).norm()
    exact = float(torch.special.ndtr(margins / spread).mean())
    assert predicted_survival(facts, W, 0.5, query=True) == pytest.approx(exact, abs=1e-6)


def test_little_noise_leaves_what_is_retrieved():
    pairs = gaussian_pairs(60, 20, seed=1)
    W = correlation_memory(pairs)
    share = retrieved_share(pairs, W)
    assert 0.2 < share < 1
    for query in (False, True):
        assert predicted_survival(pairs, W, 1e-7, query=query) == pytest.approx(share, abs=1e-3)
        assert predicted_survival(pairs, W, 50.0, query=query) < 0.2
    assert measured_survival(pairs, W, "query", 1e-7, 0) == pytest.approx(share, abs=1e-9)


def test_measured_and_predicted_agree_at_a_size_that_exists():
    for harm, size in (
        ("query", 0.7),
        ("memory", 0.7),
        ("bits", 1),
        ("bits_stochastic", 1),
        ("entries", 0.1),
    ):
        found = measure_survival(150, 60, "even_clip", harm, size, 0)
        assert found["predicted"] == pytest.approx(found["retrieved"], abs=0.07), harm
        assert found["intact"] == 1
        assert found["retrieved"] < 0.99


def test_low_rank_is_no_noise():
    found = measure_survival(150, 60, "outer_products", "rank", 0.2, 0)
    assert found["retrieved"] < found["predicted"] - 0.1


def test_spreads_of_harms():
    W = torch.from_numpy(np.random.default_rng(0).standard_normal((300, 300)))
    one = 1 - 2 / math.pi
    assert noise_of(W, "bits", 1) == pytest.approx(math.sqrt(one / (1 - one)), rel=0.01)
    assert noise_of(W, "memory", 0.3) == 0.3
    assert noise_of(W, "query", 0.3) == 0.3
    noisy = harmed(W, "memory", 0.3, 1)
    assert float((noisy - W).norm() / W.norm()) == pytest.approx(0.3, rel=0.02)
    assert noise_of(W, "entries", 1) == pytest.approx(0, abs=1e-6)
    assert noise_of(W, "rank", 1) == pytest.approx(0, abs=1e-6)
    assert noise_of(torch.zeros(3, 3), "bits", 2) == 1e6


def test_the_delta_rule_overwrites_with_a_long_step_alone():
    old, new = overwritten_shares("delta_stream", 100, 80, 0.3, 0)
    kept, changed = overwritten_shares("outer_products", 100, 80, 0.3, 0)
    assert new > 0.9
    assert old > 0.5
    assert kept > 0.9
    assert 0.2 < changed < 0.8  # both targets have the same signal on average
    old, new = overwritten_shares("delta_stream", 20, 30, 1.0, 0)
    assert math.isnan(old)
    assert measure_survival(20, 30, "delta_stream", "overwritten", 1.0, 0)["retrieved"] is None


def test_the_largest_margin_is_not_what_survives_noise_best():
    pairs = gaussian_pairs(100, 50, seed=0)
    memories = {rule: write(rule, pairs) for rule in (LARGEST_MARGIN, "even_clip_ten", "cross_entropy")}
    worst = {rule: float(retrieval_margins(pairs, W).min() / W.norm()) for rule, W in memories.items()}
    lost = {rule: 1 - predicted_survival(pairs, W, 0.5) for rule, W in memories.items()}
    assert sorted(worst, key=worst.get) == ["even_clip_ten", "cross_entropy", LARGEST_MARGIN]
    # where all keys have the least margin, with several competitors each, more of them are lost to chance
    assert sorted(lost, key=lost.get) == ["cross_entropy", LARGEST_MARGIN, "even_clip_ten"]
    assert lost[LARGEST_MARGIN] > 1.5 * lost["cross_entropy"]


def test_rows_are_reproducible():
    first = measure_survival(30, 16, "muon", "query", 0.5, 3)
    assert measure_survival(30, 16, "muon", "query", 0.5, 3) == first
    assert set(first) == {"retrieved", "predicted", "intact", "spread", "new"}


@pytest.mark.parametrize(
    ("harm", "size", "line"),
    [
        ("bits", 1.5, "size = 1.5: must be a number of bits, an integer from 1 to 16"),
        ("entries", 1.5, "size = 1.5: must be a share, at most 1"),
        ("query", 0, "size = 0: must be in (0, 100)"),
        ("fire", 1, f"harm = 'fire': must be one of {', '.join(HARMS[:-1])}"),
    ],
)
def test_refusals(harm, size, line):
    pairs = gaussian_pairs(20, 10, seed=0)
    with pytest.raises(ValueError) as error:
        measured_survival(pairs, correlation_memory(pairs), harm, size, 0)
    assert str(error.value) == line


def test_rules_that_nobody_knows_are_refused():
    with pytest.raises(ValueError, match="rule = 'none': must be one of outer_products"):
        write("none", gaussian_pairs(20, 10, seed=0))
    with pytest.raises(ArithmeticError, match="largest_margin, n = 60, d = 8: gap inf"):
        write(LARGEST_MARGIN, gaussian_pairs(60, 8, seed=1))
