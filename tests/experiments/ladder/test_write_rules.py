"""The rules under their names, the dimensions that they need, and the point functions over them."""

import math

import pytest
import torch

from assocmem.checks import UsageError
from assocmem.experiments import points
from assocmem.experiments.explicit.constructions import nested_pairs
from assocmem.experiments.gaussian_facts import gaussian_facts
from assocmem.experiments.ladder.rules import RULES
from assocmem.experiments.ladder.smallest import retrieved, smallest
from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.sweeps.point_functions import point_function

NO_FACTS = {"sparse_repair"}
"""Rules for pairs alone."""

QUICK = ["outer_products", "least_squares", "delta", "evened", "even_clip", "even_clip_ten", "softmax_ten"]


def test_a_sweep_may_name_every_rule_and_no_other():
    for name in ("rule_dimension", "rule_share"):
        words = point_function(name).parameters["rule"].allowed.words
        assert list(words) == list(RULES)
    assert [rule.name for rule in RULES.values()] == list(RULES)
    assert len({rule.label for rule in RULES.values()}) == len(RULES) == 20


def test_each_rule_says_what_is_known_of_its_constant():
    for rule in RULES.values():
        assert rule.status in ("proved", "derived", "measured")
        assert (rule.constant is None) == (rule.status == "measured"), rule.name
        assert rule.constant is None or rule.constant >= 2  # which no memory goes below
        assert rule.passes >= 0
        assert rule.source


@pytest.mark.parametrize("name", RULES)
def test_each_rule_stores_pairs_and_facts(name):
    if name.startswith("muon") and not hasattr(torch.optim, "Muon"):
        pytest.skip("torch before 2.9 has no Muon")
    rule = RULES[name]
    pairs = nested_pairs(60, 1)(55)
    W = rule.write(pairs)
    assert W.shape == (55, 55)
    assert float((retrieval_margins(pairs, W) > 0).double().mean()) > 0.9
    again = rule.write(Pairs(pairs.U.clone(), pairs.V.clone()))
    assert torch.equal(W, again)
    if name not in NO_FACTS:
        facts = gaussian_facts(40, 30, 20, 60, seed=1)
        W = rule.write(facts)
        assert W.shape == (30, 40)
        assert float((retrieval_margins(facts, W) > 0).double().mean()) > 0.6


def test_a_rule_retrieves_all_at_its_dimension_and_not_one_below():
    at = nested_pairs(100, 3)
    for name in QUICK:
        d, _ = smallest(RULES[name].write, 100, seed=3)
        assert float(retrieval_margins(at(d), RULES[name].write(at(d))).min()) > 0
        assert float(retrieval_margins(at(d - 1), RULES[name].write(at(d - 1))).min()) <= 0


def test_the_order_of_the_ladder():
    needed = {
        name: sum(smallest(RULES[name].write, 100, seed=seed)[0] for seed in range(3)) for name in QUICK
    }
    for worse, better in (
        ("outer_products", "least_squares"),
        ("least_squares", "evened"),
        ("evened", "even_clip"),
        ("even_clip", "even_clip_ten"),
        ("outer_products", "softmax_ten"),
    ):
        assert needed[better] < needed[worse]


def test_shares_are_those_of_the_keys_in_their_order():
    pairs = nested_pairs(95, 2)(20)
    right = retrieval_margins(pairs, RULES["gated_delta"].write(pairs)) > 0
    found = retrieved(RULES["gated_delta"], 95, 20, seed=2)
    assert found.all == pytest.approx(int(right.sum()) / 95)
    assert found.oldest == pytest.approx(int(right[:10].sum()) / 10)
    assert found.newest == pytest.approx(int(right[-10:].sum()) / 10)


def test_a_gate_costs_the_oldest_most():
    shares = [retrieved(RULES["gated_delta"], 300, 90, seed=seed) for seed in range(4)]
    assert sum(s.oldest for s in shares) < sum(s.newest for s in shares) - 0.3


def test_rows_of_the_point_functions():
    row = points.rule_dimension(100, "even_clip", 3)
    assert row["d"] == smallest(RULES["even_clip"].write, 100, seed=3)[0]
    assert row["ratio"] == pytest.approx(row["d"] ** 2 / (100 * math.log(100)), rel=1e-4)
    assert 10 <= points.rule_dimension(20, "equal_signals", 0)["d"] < 20
    row = points.rule_share(100, 20, "outer_products", 3)
    assert set(row) == {"retrieved", "oldest", "newest"}
    assert 0 < row["retrieved"] < 1


def test_what_no_rule_can_do_is_refused():
    share, dimension = point_function("rule_share"), point_function("rule_dimension")
    for function, wrong, match in (
        (dimension, {"n": 5, "rule": "delta", "seed": 0}, "n = 5"),
        (dimension, {"n": 20, "rule": "hebb", "seed": 0}, "rule = hebb"),
        (share, {"n": 100, "d": 5000, "rule": "delta", "seed": 0}, "d = 5000"),
        (share, {"n": 100, "d": 10, "rule": "one_clip", "seed": 0}, "d = 10"),
    ):
        with pytest.raises(UsageError, match=match):
            function.convert(wrong)
