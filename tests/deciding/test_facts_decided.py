"""Verdicts on facts: against linear programs, in exact arithmetic, in files, and where proofs are false."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from linear_programs import best_margin

import assocmem as am
from assocmem.deciding import certificates, feasibility
from assocmem.deciding.certificates import Certificate, ComputedWeights, holds, load, save, weights_of
from assocmem.deciding.comparisons import as_arrays, as_given_to_verifier, cancellation
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide, decide_top1, verify
from assocmem.deciding.forgeries import forged, nearest_miss


def draw_facts(d_out, d_in, m, n, seed):
    rng = np.random.default_rng(seed)
    return am.Facts(rng.standard_normal((d_out, m)), rng.standard_normal((d_in, n)), rng.integers(m, size=n))


def small_facts(seed):
    """Sizes from far below to far above the transition, rectangles and few targets among them."""
    rng = np.random.default_rng(seed)
    d_out, d_in, m = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(2, 8))
    most = 2 * d_in * min(d_out, m - 1) + 2
    return draw_facts(d_out, d_in, m, int(rng.integers(1, most)), seed)


@pytest.mark.parametrize("part", range(4))
def test_verdicts_are_those_of_linear_programs(part):
    answers = set()
    for seed in range(30 * part, 30 * part + 30):
        facts = small_facts(seed)
        verdict = decide_top1(facts)
        assert verdict.feasible is not None, seed
        assert verdict.feasible == (best_margin(facts) > 1e-9), seed
        assert verify(verdict.certificate, facts)
        answers.add(verdict.feasible)
    assert answers == {True, False}


@pytest.mark.parametrize("k", [2, 3])
def test_verdicts_on_longer_tails_are_those_of_linear_programs(k):
    answers = set()
    for seed, n in enumerate([5, 8, 11, 14, 17, 20]):
        facts = draw_facts(5, 4, 7, n, seed)
        verdict = decide(facts, k)
        assert verdict.feasible == (best_margin(facts, k) > 1e-9)
        answers.add(verdict.feasible)
    assert answers == {True, False}


def test_verdicts_on_the_mean_are_those_of_linear_programs():
    """Keys of one answer may contradict each other there by themselves, which only a program sees."""
    answers = set()
    for seed, (d_out, d_in, m, n) in enumerate([(5, 3, 4, 15), (4, 1, 4, 6), (5, 3, 3, 12), (4, 4, 6, 12)]):
        facts = draw_facts(d_out, d_in, m, n, seed)
        verdict = decide(facts, m - 1, max_steps=30)
        assert verdict.feasible == (best_margin(facts, m - 1) > 1e-9)
        assert verify(verdict.certificate, facts)
        answers.add(verdict.feasible)
    assert answers == {True, False}


@pytest.mark.parametrize("dimension", [0, 24])
def test_certificates_of_both_ways_hold_exactly_and_forgeries_do_not(dimension, monkeypatch):
    """With weights that are computed, in passes, and with weights that are stored, by Newton's method."""
    monkeypatch.setattr(feasibility, "DENSE_DIMENSION", dimension)
    kinds = set()
    for seed, (d_out, d_in, m, n) in enumerate([(5, 4, 6, 5), (5, 4, 6, 24), (5, 2, 4, 14), (6, 4, 7, 30)]):
        facts = draw_facts(d_out, d_in, m, n, seed)
        certificate = decide_top1(facts).certificate
        kinds.add("W" if certificate.feasible else "computed" if certificate.computed else "weights")
        assert verify(certificate, facts)
        assert holds_exactly(certificate, facts)
        assert not verify(forged(certificate), facts)
        assert not holds_exactly(forged(certificate), facts)
        other = am.Facts(facts.U, facts.V, (facts.answers + 1) % m)
        assert not verify(certificate, other)
        if not certificate.feasible:
            weights = weights_of(certificate, *as_given_to_verifier(facts))
            assert weights.shape == (m, n)
            assert not weights[facts.answers, np.arange(n)].any()
            left = cancellation(facts, torch.from_numpy(weights))
            assert float(left.norm()) < 1e-6 * weights.sum()
    assert kinds == {"W", "weights" if dimension else "computed"}


def test_pairs_and_facts_have_the_same_verdicts():
    for n, d in ((30, 9), (30, 12), (120, 26), (120, 30)):
        pairs = am.gaussian_pairs(n, d, seed=2)
        one, other = decide_top1(pairs), decide_top1(am.Facts(pairs.U, pairs.V))
        assert (one.feasible, one.steps, one.passes) == (other.feasible, other.steps, other.passes)
        assert verify(one.certificate, am.Facts(pairs.U, pairs.V))
        assert verify(other.certificate, pairs)


def test_a_line_of_keys_is_the_perceptron_of_cover():
    """Two targets: some memory retrieves exactly if a plane through zero separates the two classes."""
    keys = np.array([[1.0, 0.5, -1.0, -2.0], [0.3, 2.0, 1.0, -0.2]])
    targets = np.array([[1.0, 0.0], [5.0, 5.0], [0.0, 2.0]])
    separable = am.Facts(targets, keys, [0, 0, 0, 1])
    assert decide_top1(separable).feasible
    inside = am.Facts(targets, np.column_stack([keys, keys[:, 0] + keys[:, 3]]), [0, 0, 0, 0, 0])
    assert decide_top1(inside).feasible
    crossed = am.Facts(targets, np.column_stack([keys, keys[:, 0] + keys[:, 1]]), [0, 0, 0, 1, 1])
    verdict = decide_top1(crossed)
    assert verdict.feasible is False
    assert verify(verdict.certificate, crossed)
    assert holds_exactly(verdict.certificate, crossed)


def test_equal_keys_contradict_each_other_only_with_different_answers():
    facts = draw_facts(6, 5, 8, 12, 0)
    keys = facts.V.clone()
    keys[:, 7] = 4 * keys[:, 2]
    answers = facts.answers.clone()
    answers[7] = answers[2]
    assert decide_top1(am.Facts(facts.U, keys, answers)).feasible
    answers[7] = (answers[2] + 1) % 8
    contrary = am.Facts(facts.U, keys, answers)
    verdict = decide_top1(contrary)
    assert verdict.feasible is False
    assert (verdict.passes, verdict.steps) == (0, 0)
    assert (verdict.certificate.weights > 0).sum() == 2
    assert holds_exactly(verdict.certificate, contrary)


def test_what_nobody_answers_may_be_hidden_and_what_somebody_answers_may_not():
    U = np.array([[1.0, -1.0, 0.0, 0.0, 0.1], [0.0, 0.0, 1.0, -1.0, 0.1]])  # the last is inside
    V = np.random.default_rng(0).standard_normal((9, 4))
    assert decide_top1(am.Facts(U, V, [0, 1, 2, 3])).feasible
    facts = am.Facts(U, V, [0, 1, 4, 3])
    verdict = decide_top1(facts)
    assert verdict.feasible is False
    assert list(np.flatnonzero(verdict.certificate.weights.any(axis=0))) == [2]
    assert holds_exactly(verdict.certificate, facts)


def test_a_target_twice_is_a_contradiction_for_its_own_keys_only():
    facts = draw_facts(4, 6, 7, 8, 3)
    answers = torch.tensor([0, 1, 2, 3, 0, 1, 2, 3])
    U = facts.U.clone()
    U[:, 6] = U[:, 5]
    assert decide_top1(am.Facts(U, facts.V, answers)).feasible
    U[:, 6] = U[:, 2]
    verdict = decide_top1(am.Facts(U, facts.V, answers))
    assert verdict.feasible is False
    assert verify(verdict.certificate, am.Facts(U, facts.V, answers))


@given(st.integers(0, 999))
def test_what_is_proved_does_not_depend_on_coordinates(seed):
    """The same weights, for keys and targets mapped by matrices without loss, and targets shifted."""
    rng = np.random.default_rng(seed)
    facts = draw_facts(3, 2, 5, 16, seed)
    verdict = decide_top1(facts)
    A, B = rng.standard_normal((3, 3)), rng.standard_normal((2, 2))
    moved = am.Facts(A @ facts.U.numpy() + rng.standard_normal((3, 1)), B @ facts.V.numpy(), facts.answers)
    assert decide_top1(moved).feasible == verdict.feasible


@pytest.mark.parametrize(("d_out", "d_in", "m"), [(40, 30, 200), (60, 40, 5), (15, 90, 30), (300, 20, 40)])
def test_large_rectangles_are_decided_in_passes_on_both_sides(d_out, d_in, m):
    """Half and twice as many facts as would fit if all comparisons were independent."""
    half = int(d_in * min(d_out, m - 1) / am.statistical_dimension(m) / 2)
    facts = draw_facts(d_out, d_in, m, 4 * half, 1)
    few = am.Facts(facts.U, facts.V[:, :half], facts.answers[:half])
    for one, expected in ((few, True), (facts, False)):
        verdict = decide_top1(one)
        assert verdict.feasible is expected
        assert verdict.passes > 0
        assert verdict.steps == 0
        assert verify(verdict.certificate, one)


def test_files_carry_the_answers(tmp_path):
    facts = draw_facts(3, 4, 6, 22, 1)
    certificate = decide_top1(facts).certificate
    given_ = as_given_to_verifier(facts)
    save(tmp_path / "proof.npz", certificate, *given_)
    again, *rest = load(tmp_path / "proof.npz")
    assert holds(again, *rest)
    np.testing.assert_array_equal(rest[2], facts.answers)
    assert not holds(again, *rest[:2])  # these are no pairs
    assert certificates._main([str(tmp_path / "proof.npz")]) == 0
    with pytest.raises(ValueError, match="fits U, V and the answers"):
        save(tmp_path / "other.npz", certificate, *given_[:2], given_[2][1:])
    assert not (tmp_path / "other.npz").exists()
    with np.load(tmp_path / "proof.npz") as file:
        parts = dict(file)
    del parts["answers"]
    np.savez(tmp_path / "bare.npz", **parts)
    with pytest.raises(ValueError, match="newer format"):
        load(tmp_path / "bare.npz")


@pytest.mark.parametrize(
    "answers", [[0, 1], [0.0] * 22, [-1] * 22, [6] * 22, np.zeros((22, 1), int), np.zeros(22, np.uint64)]
)
def test_answers_that_do_not_fit_prove_nothing(answers):
    facts = draw_facts(3, 4, 6, 22, 1)
    certificate = decide_top1(facts).certificate
    U, V = as_arrays(facts)
    assert holds(certificate, U, V, facts.answers.numpy().astype(np.int8))
    assert not holds(certificate, U, V, np.asarray(answers))
    assert not holds(certificate, U, V, answers if isinstance(answers, list) else "answers")


def test_the_nearest_miss_is_far_where_facts_are_retrievable():
    yes, no = draw_facts(3, 3, 5, 6, 1), draw_facts(3, 3, 5, 30, 1)
    assert decide_top1(yes).feasible and decide_top1(no).feasible is False
    assert nearest_miss(yes)[1] > 1e-3
    weights, left = nearest_miss(no)
    assert left < 1e-9
    assert verify(Certificate(1, weights=weights), no)


def test_a_rule_for_other_weights_proves_nothing(monkeypatch):
    monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 0)
    facts = draw_facts(6, 7, 12, 120, 4)
    rule = decide_top1(facts).certificate.computed
    assert isinstance(rule, ComputedWeights)
    assert verify(Certificate(1, computed=rule), facts)
    for false in (replace(rule, sizes=rule.sizes[::-1]), replace(rule, levels=rule.levels + 1.0)):
        assert not verify(Certificate(1, computed=false), facts)


def test_a_level_out_of_range_is_refused():
    with pytest.raises(ValueError, match="k = 6: must be at most m - 1 = 5"):
        decide(draw_facts(3, 4, 6, 22, 1), 6)
