"""What is found out about somebody's facts: verdicts that are proved, against brute force where it can be."""

import itertools
import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assocmem.capacity import examine
from assocmem.capacity.conflicts import (
    chosen,
    first_retrievable,
    hidden_alone,
    impossible_sets,
    repeated_keys,
    weights_by_fact,
)
from assocmem.capacity.examine import capacity_report
from assocmem.capacity.outcomes import counts, evened, explicit_outcomes, in_their_spans, inverse_gram, rank
from assocmem.deciding import certificates
from assocmem.deciding.feasibility import decide
from assocmem.deciding.hopeless import unseen_targets
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Facts, gaussian_pairs
from assocmem.theory.kinematics import statistical_dimension


def facts_of(seed, n, m, d_in, d_out, *, dtype=torch.float64):
    """Gaussian vectors and answers by chance."""
    rng = np.random.default_rng(seed)
    U, V = (torch.from_numpy(rng.standard_normal(shape)).to(dtype) for shape in ((d_out, m), (d_in, n)))
    return Facts(targets=U, keys=V, answers=torch.from_numpy(rng.integers(0, m, n)))


def outcome(report, name):
    return next(found for found in report.memories if found.memory == name)


# --- what a memory retrieves --------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(1, 30), st.integers(2, 15), st.integers(1, 4))
def test_counts_are_those_of_sorted_scores(seed, n, m, k):
    facts, k = facts_of(seed, n, m, 3, 2), min(k, m - 1)
    W = torch.from_numpy(np.random.default_rng(seed).standard_normal((2, 3)))
    first = top = ten = 0
    for i in range(n):
        s = facts.U.T @ W @ facts.V[:, i]
        own = s[facts.answers[i]]
        others = torch.cat([s[: facts.answers[i]], s[facts.answers[i] + 1 :]]).sort(descending=True).values
        first, top = first + int(own > others[0]), top + int(own > others[:k].mean())
        ten += int((others >= own).sum() < 10)
    assert counts(facts, W, k) == (first, top, ten if m > 10 else None)


def test_scores_that_are_equal_do_not_count():
    U = torch.tensor([[1.0, 1.0, 0.0], [0.1, 0.1, 1.0]], dtype=torch.float64)
    facts = Facts(targets=U, keys=torch.eye(2, 2, dtype=torch.float64), answers=torch.tensor([0, 2]))
    assert counts(facts, torch.eye(2, dtype=torch.float64)) == (1, 1, None)
    assert counts(facts, torch.zeros(2, 2, dtype=torch.float64)) == (0, 0, None)


def test_whitened_keys_are_ridge_regression_without_a_ridge():
    facts = evened(facts_of(1, 40, 9, 5, 4))
    whitened = correlation_memory(facts) @ inverse_gram(facts.V) / facts.n
    closed = facts.U[:, facts.answers] @ torch.linalg.pinv(facts.V)
    torch.testing.assert_close(whitened, closed)


def test_whitening_makes_outer_products_indifferent_to_maps():
    """Where keys and targets are whitened, an invertible map of either changes nothing."""
    facts = facts_of(2, 60, 12, 6, 5)
    rng = np.random.default_rng(0)
    A, B = (torch.from_numpy(rng.standard_normal((d, d))) for d in (5, 6))
    mapped = Facts(targets=A @ facts.U + 3.0, keys=B @ facts.V, answers=facts.answers)
    name = "outer products, keys and targets whitened"
    found = [next(x for x in explicit_outcomes(evened(f), 2) if x.memory == name) for f in (facts, mapped)]
    assert found[0] == found[1]


def test_facts_in_their_spans_have_the_same_scores_and_the_same_equal_vectors():
    flat = facts_of(3, 30, 8, 7, 6)
    U, V = flat.U.clone(), flat.V.clone()
    U[4:], V[5:] = U[:2], V[:2] - V[2:4]
    V[:, 9] = V[:, 2]
    flat = Facts(targets=U, keys=V, answers=flat.answers)
    found, B, C = in_their_spans(flat)
    assert (found.d_out, found.d_in) == (4, 5) == (rank(U), rank(V))
    W = torch.from_numpy(np.random.default_rng(0).standard_normal((4, 5)))
    torch.testing.assert_close(found.U.T @ W @ found.V, flat.U.T @ (B @ W @ C.T) @ flat.V)
    assert bool((found.V[:, 9] == found.V[:, 2]).all())


@pytest.mark.parametrize("power", [0, 600, -600])
def test_what_memories_retrieve_does_not_depend_on_units(power):
    facts = facts_of(4, 20, 6, 4, 4)
    huge = Facts(
        targets=torch.ldexp(facts.U, torch.tensor(power)),
        keys=torch.ldexp(facts.V, torch.tensor(-power)),
        answers=facts.answers,
    )
    found = evened(huge)
    torch.testing.assert_close(found.U, evened(facts).U)
    assert float(found.V.square().sum(dim=0).mean()) == pytest.approx(1)


# --- facts in each other's way ------------------------------------------------------------------------------


def test_the_first_facts_that_are_retrievable_are_found():
    facts = facts_of(5, 40, 5, 4, 3)
    told = {}
    low, high = first_retrievable(facts, 1, 20, lambda n, verdict: told.setdefault(n, verdict.feasible))
    assert high == low + 1 and told[low] is True and told[high] is False
    assert all((n <= low) == answer for n, answer in told.items())
    assert [decide(chosen(facts, range(n))).feasible for n in (low - 1, low + 3)] == [True, False]


@pytest.mark.parametrize(("start", "n"), [(1, 1), (50, 2), (1, 12)])
def test_the_first_facts_at_the_ends(start, n):
    """Two facts whose key is the same: one can be retrieved."""
    V = torch.ones(3, n, dtype=torch.float64)
    facts = Facts(targets=torch.eye(3, dtype=torch.float64), keys=V, answers=torch.arange(n) % 2)
    expected = (0, 1) if n == 1 else (1, 2)
    assert first_retrievable(facts, 1, start, lambda *_: None) == expected
    if n > 1:
        assert first_retrievable(facts, 1, start, lambda *_: None, whole=None)[0] == 1


def test_a_set_that_is_impossible_by_itself_is_as_small_as_it_says():
    facts = facts_of(6, 20, 4, 3, 3)
    verdict = decide(facts)
    assert verdict.feasible is False
    shares, against = weights_by_fact(verdict.certificate, facts)
    assert shares.sum() == pytest.approx(1) and bool((against != facts.answers.numpy()).all())
    steps = list(impossible_sets(facts, 1, np.argsort(-shares).tolist(), 100))
    sizes = [len(which) for which, *_ in steps]
    which, certificate, minimal, decisions = steps[-1]
    assert minimal and sizes == sorted(sizes, reverse=True) and decisions <= 100
    part = chosen(facts, which)
    assert certificates.holds(certificate, part.U, part.V, part.answers)
    for left_out in which:
        assert decide(chosen(facts, [i for i in which if i != left_out])).feasible is True


def test_a_search_that_is_cut_short_says_so():
    facts = facts_of(6, 20, 4, 3, 3)
    for most in (0, 1, 3):
        *_, (which, _, minimal, decisions) = impossible_sets(facts, 1, range(20), most)
        assert not minimal and decisions <= most and decide(chosen(facts, which)).feasible is False


def test_keys_are_repeated_up_to_a_power_of_two():
    V = torch.tensor([[1.0, 2.0, 0.5, 3.0, -1.0, 0.0], [0.0, -0.0, 0.0, 0.0, 0.0, 1.0]])
    facts = Facts(targets=torch.eye(2, 3), keys=V, answers=torch.tensor([0, 1, 0, 1, 1, 2]))
    assert repeated_keys(facts) == [(1, 0)]


def test_answers_that_others_hide():
    corners = list(itertools.product((-1.0, 1.0), repeat=2))
    U = torch.tensor([*corners, (0.2, 0.1), (0.0, 0.0)], dtype=torch.float64).T
    facts = Facts(targets=U, keys=torch.ones(3, 7, dtype=torch.float64), answers=[4, 0, 1, 2, 3, 4, 5])
    assert unseen_targets(facts, 1) == [4, 5]
    for answer, which in ((4, [0, 5]), (5, [6]), (0, [])):
        hidden, against = hidden_alone(facts, 1, answer)
        assert hidden == which and (not which or against != answer)


# --- the report ---------------------------------------------------------------------------------------------


def read_back(folder):
    """Every proof in a folder, checked, and the report."""
    for path in folder.glob("*.npz"):
        assert certificates.holds(*certificates.load(path)), path.name
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def test_a_report_on_facts_that_are_retrievable(tmp_path):
    facts = facts_of(7, 20, 12, 9, 8, dtype=torch.float32)
    report = capacity_report(facts, folder=tmp_path)
    assert report.finished and report.verdict.retrievable is True and report.verdict.verified
    assert outcome(report, "the matrix of the proof").first == 20
    assert report.first_facts is None and report.conflict is None
    expected = 9 * 8 / statistical_dimension(12, 1)
    assert report.forecast.facts == pytest.approx(expected, rel=1e-5)
    assert report.forecast.excess_from == pytest.approx(20 / expected - 1, abs=1e-4)
    assert read_back(tmp_path) == report.as_dict()
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "report.html", "verdict.npz"}


def test_a_report_on_too_many_facts(tmp_path):
    facts = facts_of(8, 40, 6, 4, 4)
    names = [f"word {i}" for i in range(40)]
    report = capacity_report(facts, key_names=names, folder=tmp_path, decisions=6)
    first, told = report.first_facts, read_back(tmp_path)
    assert report.verdict.retrievable is False and first.impossible == first.retrievable + 1
    low, high = report.forecast.excess_from, report.forecast.excess_to
    assert low == high == pytest.approx(first.retrievable / report.forecast.facts - 1)
    shares = [one.share for one in report.conflict.smallest]
    assert sum(shares) == pytest.approx(1, abs=0.01) and shares == sorted(shares, reverse=True)
    assert all(one.key == f"word {one.fact}" for one in report.conflict.involved)
    assert report.conflict.decisions <= 6 and told["finished"]
    assert set(report.proofs) <= {path.name for path in tmp_path.iterdir()}


def test_contradictions_are_named_and_the_rest_is_counted():
    facts = facts_of(9, 12, 8, 6, 6)
    V, answers = facts.V.clone(), facts.answers.clone()
    V[:, 5], answers[5] = 4 * V[:, 2], (answers[2] + 1) % 8
    V[:, 7], answers[7] = V[:, 3], answers[3]
    report = capacity_report(Facts(targets=facts.U, keys=V, answers=answers))
    assert [(one.fact, one.key) for one in report.contradictions] == [(5, "key 5")]
    assert report.contradictions[0].against == f"target {int(answers[2])}"
    assert report.verdict.retrievable is False and report.sizes.keys == 10
    assert (report.first_facts.left_out, report.first_facts.retrievable) == (1, 11)


@pytest.mark.parametrize(
    "facts",
    [
        Facts(targets=torch.eye(3), keys=torch.ones(2, 1), answers=[2]),
        facts_of(10, 9, 2, 3, 1),
        Facts(targets=1e200 * torch.eye(4).double(), keys=1e-200 * torch.eye(4).double()),
        Facts(targets=torch.ones(3, 4), keys=torch.ones(2, 3), answers=[0, 1, 0]),
        Facts(targets=torch.tensor([[0.0, 1.0]]), keys=torch.tensor([[0.0, 1.0]])),
        facts_of(11, 6, 30, 4, 2),
        gaussian_pairs(12, 5, seed=1),
    ],
    ids=["one fact", "two targets", "huge", "all alike", "a zero key", "hidden answers", "pairs"],
)
@pytest.mark.parametrize("k", [1, "all"])
def test_reports_on_awkward_facts(facts, k):
    report = capacity_report(facts, k=facts.m - 1 if k == "all" else k, decisions=5)
    assert report.finished and report.verdict is not None
    json.dumps(report.as_dict(), allow_nan=False)
    assert all(one.first is None or 0 <= one.first <= facts.n for one in report.memories)
    if report.verdict.retrievable:
        assert outcome(report, "the matrix of the proof").top == facts.n


def test_flat_vectors_are_taken_in_the_directions_that_they_have():
    rng = np.random.default_rng(0)
    U, V = (rng.standard_normal((9, r)) @ rng.standard_normal((r, n)) for r, n in ((3, 12), (2, 12)))
    report = capacity_report(Facts(targets=U, keys=V), decisions=0)
    assert (report.sizes.rank_out, report.sizes.rank_in) == (3, 2)
    assert report.verdict.retrievable is False
    assert report.forecast.facts == pytest.approx(6 / statistical_dimension(12, 1), rel=1e-5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"k": 0}, "k = 0"),
        ({"k": 6}, "at most m - 1 = 5"),
        ({"key_names": "abc"}, "key_names"),
        ({"target_names": ["a"]}, "6 words"),
        ({"decisions": -1}, "decisions"),
        ({"folder": ""}, "folder"),
        ({"facts": 3}, "facts"),
        ({"facts": Facts(targets=torch.eye(3), keys=torch.zeros(2, 3))}, "keys that are all zero"),
        ({"facts": Facts(targets=torch.zeros(3, 3), keys=torch.eye(3))}, "targets that are all zero"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(changes, said):
    given = {"facts": facts_of(8, 5, 6, 4, 4)} | changes
    with pytest.raises(ValueError) as caught:
        capacity_report(given.pop("facts"), **given)
    assert said in str(caught.value) and "\n" not in str(caught.value)


STAGES = (
    "decide",
    "explicit_outcomes",
    "unseen_targets",
    "first_retrievable",
    "impossible_sets",
    "trained_outcome",
)


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupt_keeps_what_is_known(tmp_path, monkeypatch, stage):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(examine, stage, interrupted)
    facts = facts_of(8, 40, 6, 4, 4)
    with pytest.raises(KeyboardInterrupt):
        capacity_report(facts, folder=tmp_path, decisions=3)
    told = read_back(tmp_path)
    assert not told["finished"] and told["stage"]
    assert "partial" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (told["verdict"] is None) == (stage == "decide")
    assert (told["conflict"] is None) == (stage not in STAGES[4:])
