"""Verdicts agree with linear programming and with what is known, and say so when they do not know."""

import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from linear_programs import best_margin

from assocmem.deciding import feasibility
from assocmem.deciding.comparisons import cancellation
from assocmem.deciding.feasibility import decide, decide_top1, verify
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins


def pairs_of(U, V):
    return Pairs(torch.tensor(U, dtype=torch.float64), torch.tensor(V, dtype=torch.float64))


@pytest.mark.parametrize("n, dimensions", [(8, (2, 3, 4, 5)), (14, (4, 5, 6, 7)), (20, (6, 7, 8, 9))])
def test_top1_agrees_with_linear_programming(n, dimensions):
    seen = set()
    for d in dimensions:
        for seed in range(4):
            pairs = gaussian_pairs(n, d, seed=seed)
            verdict = decide_top1(pairs)
            assert verdict.feasible == (best_margin(pairs) > 1e-9), (d, seed)
            assert verify(verdict.certificate, pairs)
            assert verdict.reason == ""
            seen.add(verdict.feasible)
    assert seen == {True, False}


@pytest.mark.parametrize("k", [2, 3, 6, 7])
def test_tail_averages_agree_with_linear_programming(k):
    seen = set()
    for d in (2, 3, 4):
        for seed in range(4):
            pairs = gaussian_pairs(8, d, seed=seed)
            verdict = decide(pairs, k)
            assert verdict.feasible == (best_margin(pairs, k) > 1e-9), (d, seed)
            assert verify(verdict.certificate, pairs)
            seen.add(verdict.feasible)
    assert seen == {True, False}


def test_a_longer_tail_is_never_harder():
    for seed in range(6):
        verdicts = [decide(gaussian_pairs(9, 3, seed=seed), k).feasible for k in range(1, 9)]
        assert verdicts == sorted(verdicts), seed
        assert None not in verdicts


def test_a_feasible_verdict_carries_a_memory_that_retrieves():
    pairs = gaussian_pairs(60, 17, seed=2)
    verdict = decide_top1(pairs)
    W = torch.from_numpy(verdict.certificate.W)
    worst = float(retrieval_margins(pairs, W).min())
    assert verdict.feasible is True
    assert verdict.margin == pytest.approx(worst / (float(W.norm()) / pairs.d))
    assert worst > 0


def test_an_infeasible_verdict_carries_weights_that_cancel():
    pairs = gaussian_pairs(60, 14, seed=2)
    verdict = decide_top1(pairs)
    weights = torch.from_numpy(verdict.certificate.weights)
    assert verdict.feasible is False
    assert verdict.margin < 0
    assert bool((weights >= 0).all())
    assert float(cancellation(pairs, weights).norm()) < 1e-8 * float(weights.sum())


@given(
    u=st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
    v=st.tuples(st.floats(0.1, 2), st.floats(0.1, 2)),
    signs=st.tuples(st.sampled_from([-1, 1]), st.sampled_from([-1, 1])),
)
def test_two_pairs_of_numbers_are_separable_iff_keys_have_opposite_signs(u, v, signs):
    if abs(u[0] - u[1]) < 1e-3:
        u = (u[0], u[0] + 1)
    pairs = pairs_of([u], [[v[0] * signs[0], v[1] * signs[1]]])
    assert decide_top1(pairs).feasible is (signs[0] != signs[1])


def test_three_numbers_have_one_in_between():
    verdict = decide_top1(gaussian_pairs(3, 1, seed=0))
    assert verdict.feasible is False


def test_as_many_dimensions_as_pairs_are_always_enough():
    for n in (2, 5, 12):
        assert decide_top1(gaussian_pairs(n, n, seed=n)).feasible is True


def test_vectors_in_a_subspace_get_the_answer_of_the_subspace():
    for d, answer in ((5, False), (11, True)):
        pairs = gaussian_pairs(30, d, seed=1)
        flat = Pairs(torch.cat([pairs.U, 0 * pairs.U]), torch.cat([pairs.V, pairs.V]))
        for case in (pairs, flat):
            verdict = decide_top1(case)
            assert verdict.feasible is answer
            assert verify(verdict.certificate, case)


def test_where_rounding_decides_there_is_no_answer_and_a_reason():
    pairs, mixed = gaussian_pairs(30, 4, seed=1), torch.linalg.qr(gaussian_pairs(8, 8, seed=0).U).Q
    turned = Pairs(*(mixed @ torch.cat([X, 0 * X]) for X in (pairs.U, pairs.V)))
    verdict = decide_top1(turned)
    assert verdict.feasible is None
    assert verdict.certificate is None
    assert "targets lie in 4 dimensions up to rounding" in verdict.reason


@pytest.mark.parametrize("length", [1.0, -1.0, 2.0**-40])
def test_parallel_keys_contradict_each_other_and_opposite_keys_do_not(length):
    pairs = gaussian_pairs(20, 12, seed=2)
    V = pairs.V.clone()
    V[:, 1] = length * V[:, 0]
    verdict = decide_top1(Pairs(pairs.U, V))
    assert verdict.feasible is (length < 0)
    assert verify(verdict.certificate, Pairs(pairs.U, V))
    assert not verify(verdict.certificate, Pairs(pairs.U, pairs.U))


def test_contradictions_of_few_keys_are_found_among_many():
    """Two groups of keys in planes of their own, one of them with more keys than a plane can hold."""
    pairs = gaussian_pairs(40, 16, seed=3)
    V = pairs.V.clone()
    V[2:, :9] = 0
    assert decide_top1(Pairs(pairs.U[:, :30], V[:, 9:39])).feasible is True
    verdict = decide_top1(Pairs(pairs.U, V))
    assert verdict.feasible is not None
    assert verdict.feasible == (best_margin(Pairs(pairs.U, V)) > 1e-9)
    assert verify(verdict.certificate, Pairs(pairs.U, V))


@pytest.mark.parametrize("spread", [3, 6, 20, 150])
def test_targets_of_wildly_different_lengths_get_an_answer_or_a_reason(spread):
    pairs = gaussian_pairs(20, 12, seed=2)
    lengths = 10.0 ** torch.linspace(-spread, spread, 20, dtype=torch.float64)
    wild = Pairs(pairs.U * lengths, pairs.V)
    verdict = decide_top1(wild, max_steps=50, max_passes=200)
    if spread <= 6:
        assert verdict.feasible is True
        assert verify(verdict.certificate, wild)
    else:
        assert verdict.feasible is None
        assert "up to rounding" in verdict.reason or "Newton steps" in verdict.reason


def test_an_undecided_verdict_proves_nothing():
    verdict = decide_top1(gaussian_pairs(60, 15, seed=0), max_steps=1, max_passes=1)
    assert verify(verdict.certificate, gaussian_pairs(60, 15, seed=0)) is False


def test_giving_up_is_said():
    verdict = decide_top1(gaussian_pairs(60, 15, seed=0), max_steps=1, max_passes=1)
    assert verdict.feasible is None
    assert verdict.certificate is None
    assert verdict.reason == "undecided after 1 Newton steps"


@pytest.mark.parametrize("scale", [2.0**-300, 1e-6, 1e-3, 2.0**200])
def test_units_do_not_matter(scale):
    for d in (7, 9):
        pairs = gaussian_pairs(24, d, seed=3)
        for scaled in (Pairs(pairs.U * scale, pairs.V / scale), Pairs(pairs.U * scale, pairs.V)):
            verdict = decide_top1(scaled)
            assert verdict.feasible == decide_top1(pairs).feasible
            assert verify(verdict.certificate, scaled)


@given(seed=st.integers(0, 10**6), spread=st.floats(0, 8))
def test_neither_lengths_of_keys_nor_correlations_matter(seed, spread):
    pairs = gaussian_pairs(16, 5 + seed % 3, seed=seed % 7)
    rng = torch.Generator().manual_seed(seed)
    random = lambda *shape: torch.randn(shape, generator=rng, dtype=torch.float64)  # noqa: E731
    maps = [random(pairs.d, pairs.d) * 10 ** (spread / 2 * random(pairs.d, 1).tanh()) for _ in range(2)]
    other = Pairs(maps[0] @ pairs.U, maps[1] @ pairs.V * 10 ** (spread * random(16).tanh()))
    verdict = decide_top1(other)
    assert verdict.feasible == decide_top1(pairs).feasible
    assert verify(verdict.certificate, other)


def test_single_precision_data_are_exact_numbers_too():
    pairs = gaussian_pairs(24, 7, seed=3, dtype=torch.float32)
    verdict = decide_top1(pairs)
    assert verdict.feasible is False
    assert verify(verdict.certificate, pairs)


@pytest.mark.parametrize(
    "k, line", [(0, "k = 0: must be"), (6, "at most n - 1 = 5"), (1.0, "k = 1.0: must be")]
)
def test_a_tail_out_of_range_is_refused(k, line):
    with pytest.raises(ValueError, match=line):
        decide(gaussian_pairs(6, 3, seed=0), k)


def test_an_instance_too_large_for_memory_is_refused(monkeypatch):
    monkeypatch.setattr("assocmem.machine.available_bytes", lambda: 2**29)
    with pytest.raises(ValueError, match="dimension 200': must be smaller, since n = 300 needs about"):
        decide_top1(gaussian_pairs(300, 200, seed=0))
    with pytest.raises(ValueError, match="dimension 20': must be smaller, since d = 20 needs about"):
        decide_top1(gaussian_pairs(100, 20, seed=0))


def test_the_largest_dimension_is_the_last_that_fits():
    for bytes_at in (feasibility.card_bytes, feasibility.decision_bytes):
        d = feasibility.largest_dimension(2**34, bytes_at)
        n, more = (next(n for n in range(1, d * d) if 2 * n * math.log(n) >= e**2) for e in (d, d + 1))
        assert bytes_at(n, d) <= 2**34 < bytes_at(more, d + 1)
    assert feasibility.largest_dimension(2**28) == 0


def test_memory_of_the_card_and_of_the_processor_both_count(monkeypatch):
    pairs = SimpleNamespace(n=2000, m=2000, entries=190**2, U=SimpleNamespace(device=torch.device("cuda")))
    plenty = {"host": 2**40, "card": 2**40}
    for scarce, bytes_at in (("host", feasibility.verification_bytes), ("card", feasibility.card_bytes)):
        free = plenty | {scarce: 2**34}
        monkeypatch.setattr("assocmem.machine.available_bytes", lambda free=free: free["host"])
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _, free=free: (free["card"], 2**41))
        assert f"d = 190 needs about {bytes_at(2000, 190) / 2**30:.3g} GiB" in feasibility.dense_shortage(
            pairs
        )
    monkeypatch.setattr("assocmem.machine.available_bytes", lambda: 2**40)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (2**40, 2**41))
    assert not feasibility.dense_shortage(pairs)


def test_tiny_instances_are_all_decided():
    """Most of these contradict themselves in four comparisons, which neither search can see in the limit."""
    for seed in (16, 24, 41, 163, 209, 295):
        pairs = gaussian_pairs(4, 2, seed=seed)
        verdict = decide_top1(pairs, max_steps=30, max_passes=50)
        assert verdict.feasible is False
        assert 0 < (verdict.certificate.weights > 0).sum() <= 4
        assert verify(verdict.certificate, pairs)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
def test_verdicts_on_a_gpu():
    for d in (19, 24):
        pairs = gaussian_pairs(100, d, seed=0)
        here, there = decide_top1(pairs), decide_top1(gaussian_pairs(100, d, seed=0, device="cuda"))
        assert here.feasible == there.feasible
        assert verify(there.certificate, pairs)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
@pytest.mark.parametrize("k, dimensions", [(1, (29, 34)), (5, (19, 26))])
def test_passes_on_a_gpu(monkeypatch, k, dimensions):
    monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 0)
    for d in dimensions:
        pairs = gaussian_pairs(200, d, seed=0)
        here, there = decide(pairs, k), decide(gaussian_pairs(200, d, seed=0, device="cuda"), k)
        assert here.feasible == there.feasible
        assert there.passes > 0
        assert verify(there.certificate, pairs)
