"""Gaussian facts are nested draws, and counts of those that fit tell where one half is."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from assocmem.deciding.feasibility import decide
from assocmem.experiments.gaussian_facts import fact_transition, gaussian_facts, tally_facts
from assocmem.experiments.points import fact_verdict
from assocmem.pairs.data import derived_seed
from assocmem.theory.facts_that_fit import facts_that_fit, fit_probability, fit_width

SIZES = {"d_in": 6, "d_out": 4, "m": 9}


def test_more_facts_begin_with_the_same_ones():
    few, many = (gaussian_facts(**SIZES, n=n, seed=3) for n in (5, 12))
    assert (many.d_in, many.d_out, many.m, many.n) == (6, 4, 9, 12)
    assert torch.equal(few.targets, many.targets)
    assert torch.equal(few.keys, many.keys[:, :5])
    assert torch.equal(few.answers, many.answers[:5])
    other = gaussian_facts(**SIZES, n=5, seed=4)
    assert not torch.equal(other.keys, few.keys)
    assert not torch.equal(other.targets, few.targets)


def test_vectors_are_about_of_length_one_and_answers_uniform():
    facts = gaussian_facts(400, 300, 5, 2000, seed=1)
    for X, d in ((facts.keys, 400), (facts.targets, 300)):
        assert float((X**2).sum(dim=0).mean()) == pytest.approx(1, abs=4 * math.sqrt(2 / d / X.shape[1]))
    counts = np.bincount(facts.answers, minlength=5)
    assert abs(counts - 400).max() < 5 * math.sqrt(400)


def test_answers_in_turn_are_equally_frequent_and_nothing_else_changes():
    drawn, turned = (gaussian_facts(**SIZES, n=18, seed=3, in_turn=t) for t in (False, True))
    assert np.bincount(turned.answers).tolist() == [2] * 9
    assert torch.equal(drawn.keys, turned.keys)
    assert torch.equal(drawn.targets, turned.targets)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"m": 1}, "m = 1"),
        ({"n": 0}, "n = 0"),
        ({"d_in": 2.0}, "d_in"),
        ({"in_turn": 1}, "in_turn"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, word):
    with pytest.raises(ValueError, match=word):
        gaussian_facts(**SIZES | {"n": 5, "seed": 0} | changes)


def test_the_point_function_decides_such_facts():
    for in_turn in (0, 1):
        found = fact_verdict(**SIZES, n=20, seed=2, k=2, in_turn=in_turn)
        facts = gaussian_facts(**SIZES, n=20, seed=derived_seed(2, 20), in_turn=bool(in_turn))
        assert found["feasible"] == int(decide(facts, 2).feasible)


def test_counts_are_told_apart_by_size():
    rows = [
        (6, 4, 9, 1, 0, 20, 1),
        (6, 4, 9, 1, 0, 20, 0),
        (6, 4, 9, 1, 0, 24, math.nan),
        (6, 4, 9, 1, 1, 20, 1),
    ]
    columns = ["d_in", "d_out", "m", "k", "in_turn", "n", "feasible"]
    counts = tally_facts(pd.DataFrame(rows, columns=columns))
    assert list(counts) == [(6, 4, 9, 1, 0), (6, 4, 9, 1, 1)]
    assert [x.tolist() for x in counts[6, 4, 9, 1, 0]] == [[20, 24], [1, 0], [2, 0]]


@pytest.mark.parametrize(("shift", "stretch"), [(0, 1), (-4, 1), (3, 1.3)])
def test_the_place_and_the_width_come_back_from_counts(shift, stretch):
    sizes = (12, 12, 13)
    half, width = facts_that_fit(*sizes), fit_width(*sizes)
    n = np.round(half + shift + width * np.array([-1.5, -0.5, 0.5, 1.5]))
    chance = 1 / (1 + np.exp(-1.7 * (half + shift - n) / (stretch * width)))  # nearly the normal law
    trials = np.full(4, 4000)
    found = fact_transition(n, np.round(chance * trials), trials, *sizes)
    assert found.half == pytest.approx(half + shift, abs=5 * found.error + 0.1)
    assert found.stretch == pytest.approx(stretch, rel=0.1)
    assert found.ratio == pytest.approx(found.half / half)
    assert found.ratio_error == pytest.approx(found.error / half)


def test_errors_are_those_of_repeated_counts():
    sizes, trials = (12, 12, 13), np.full(4, 40)
    n = np.array([55, 60, 65, 70])
    chance = fit_probability(n, *sizes)
    rng = np.random.default_rng(0)
    found = [fact_transition(n, rng.binomial(trials, chance), trials, *sizes) for _ in range(40)]
    spread = np.std([f.half for f in found])
    assert np.mean([f.error for f in found]) == pytest.approx(spread, rel=0.4)


def test_counts_that_are_all_alike_say_nothing():
    with pytest.raises(ValueError, match="successes"):
        fact_transition([50, 60], [5, 5], [5, 5], 12, 12, 13)
