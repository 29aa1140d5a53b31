"""Halves of relations, the facts made of them, and the last one that is retrievable."""

import numpy as np
import pytest
import torch

from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.words.nested_facts import (
    KINDS,
    facts_of,
    first_facts,
    halves,
    last_retrievable_fact,
    without_hidden,
)
from assocmem.experiments.words.rule_strength import measure_rule
from assocmem.experiments.words.ruled_instances import ruled_facts
from assocmem.pairs.data import Facts


def test_halves_are_apart_and_all_of_the_relation():
    cut = halves("antonym", 7, 3)
    together = np.concatenate([cut.first, cut.second])
    assert sorted(together) == list(range(len(cut.answers)))
    assert len(cut.first) == len(together) // 2
    assert cut.targets.shape == (7, len(cut.answered)) and cut.keys.shape == (7, len(cut.asked))
    known = dict(zip(cut.asked, (cut.answered[j] for j in cut.answers), strict=True))
    assert known["hot"] == "cold"


def test_orders_differ_and_come_again():
    one, other = halves("capital", 5, 0), halves("capital", 5, 1)
    assert (one.second != other.second).any()
    np.testing.assert_array_equal(one.second, halves("capital", 5, 0).second)


def test_made_up_facts_have_the_answers_of_true_ones():
    true, shuffled, gaussian = (
        facts_of("hypernym", kind, 24, 1) for kind in ("true", "shuffled", "gaussian")
    )
    assert torch.equal(true.keys, shuffled.keys) and torch.equal(true.targets, shuffled.targets)
    assert torch.equal(true.answers, gaussian.answers) and gaussian.m == true.m == 558
    assert torch.equal(true.answers.sort().values, shuffled.answers.sort().values)
    assert not torch.equal(true.answers, shuffled.answers)
    assert not torch.equal(gaussian.keys, true.keys)


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_one_is_retrievable_and_the_next_is_not(kind):
    facts = facts_of("capital", kind, 10, 1)
    n = last_retrievable_fact(facts)
    assert decide_top1(first_facts(facts, n)).feasible is True
    assert decide_top1(first_facts(facts, n + 1)).feasible is False


def test_facts_whose_answers_are_averages_of_other_targets_are_left_out():
    targets = torch.tensor([[1.0, -1.0, 0.0, 0.0, 0.1], [0.0, 0.0, 1.0, -1.0, 0.1]], dtype=torch.float64)
    keys = torch.eye(5, dtype=torch.float64)
    kept = without_hidden(Facts(targets, keys, torch.tensor([4, 0, 4, 1, 2])))
    assert kept.answers.tolist() == [0, 1, 2]
    assert torch.equal(kept.keys, keys[:, [1, 3, 4]])
    with pytest.raises(ValueError, match="no average of others"):
        without_hidden(Facts(targets, keys, torch.tensor([4, 4, 4, 4, 4])))
    asked = halves("past", 24, 0)
    turned = asked.answered.index("turned")
    assert turned in asked.answers[asked.second]
    assert turned not in facts_of("past", "true", 24, 0).answers


def test_where_all_fit_it_is_all_of_them():
    facts = first_facts(facts_of("capital", "true", 30, 0), 20)
    assert last_retrievable_fact(facts) == 20


def test_where_none_fits_it_is_none():
    targets = torch.tensor([[1.0, -1.0, 0.0]], dtype=torch.float64)
    facts = Facts(targets, torch.ones(1, 2, dtype=torch.float64), torch.tensor([2, 0]))
    assert last_retrievable_fact(facts) == 0


def test_ruled_facts_have_the_strength_that_was_asked_for():
    facts = ruled_facts(3000, 3000, 9, 1.8, seed=0)
    targets, keys = facts.targets.numpy(), facts.keys.numpy()
    rule = measure_rule(targets, keys, np.arange(3000))
    assert rule.strength == pytest.approx(1.8, abs=0.05)
    assert rule.spread == pytest.approx(0.36, abs=0.05)
    np.testing.assert_allclose(targets @ targets.T / 3000, np.eye(9), atol=0.1)
    few = ruled_facts(20, 3000, 9, 1.8, seed=0)
    assert torch.equal(few.keys, facts.keys[:, :20]) and torch.equal(few.targets, facts.targets)


def test_a_rule_makes_room_for_more_facts():
    without, weak = (
        np.mean([last_retrievable_fact(ruled_facts(40, 40, 6, q, seed=s)) for s in range(5)])
        for q in (0.0, 1.8)
    )
    assert weak > 1.15 * without


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: halves("rhyme", 5, 0), "relation = 'rhyme'"),
        (lambda: halves("past", 51, 0), "d = 51: must be at most 50"),
        (lambda: halves("past", 5, -1), "order = -1"),
        (lambda: facts_of("past", "false", 5, 0), "kind = 'false'"),
        (lambda: first_facts(facts_of("capital", "true", 12, 0), 79), "n = 79: must be at most 78"),
        (lambda: ruled_facts(5, 4, 3, 1.0, seed=0), "n = 5: must be at most m = 4"),
        (lambda: ruled_facts(4, 4, 4, 2.0, seed=0), "strength = 2.0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
