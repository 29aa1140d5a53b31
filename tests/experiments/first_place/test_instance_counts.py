"""Verdicts on many instances, against one verdict at a time and against what is known without any."""

import numpy as np

from assocmem.deciding.feasibility import decide, decide_top1
from assocmem.deciding.hopeless import hidden_target
from assocmem.experiments.first_place.instance_counts import (
    count_feasible,
    first_instances,
    possible_and_trained,
    share_hiding,
)
from assocmem.pairs.data import gaussian_pairs

SEEDS = range(12)


def test_counts_are_those_of_single_verdicts():
    found = [decide_top1(gaussian_pairs(12, 5, seed=s)).feasible for s in SEEDS]
    assert 0 < sum(found) < len(found)
    assert count_feasible(12, 5, SEEDS) == (sum(found), len(found))
    longer = [decide(gaussian_pairs(12, 3, seed=s), 6).feasible for s in SEEDS]
    assert count_feasible(12, 3, iter(SEEDS), 6) == (sum(longer), len(longer))


def test_with_as_many_dimensions_as_pairs_every_instance_is_retrievable():
    assert count_feasible(6, 6, SEEDS) == (len(SEEDS), len(SEEDS))
    assert count_feasible(6, 1, SEEDS) == (0, len(SEEDS))


def test_first_instances_come_in_the_order_of_their_seeds():
    for feasible in (True, False):
        with_verdict = [s for s in SEEDS if decide_top1(gaussian_pairs(12, 5, seed=s)).feasible is feasible]
        found = first_instances(12, 5, SEEDS, feasible=feasible, count=2)
        for pairs, seed in zip(found, with_verdict, strict=False):
            assert bool((pairs.U == gaussian_pairs(12, 5, seed=seed).U).all())
        assert len(found) == min(2, len(with_verdict))
        everything = first_instances(12, 5, SEEDS, feasible=feasible, count=100)
        assert len(everything) == len(with_verdict)


def test_targets_hide_always_on_a_line_and_as_often_as_they_are_found_to():
    assert share_hiding(5, 1, SEEDS) == 1  # of five numbers, three lie between others
    found = [hidden_target(gaussian_pairs(20, 6, seed=s)) is not None for s in SEEDS]
    assert share_hiding(20, 6, SEEDS) == np.mean(found)


def test_training_finds_nothing_impossible_and_more_with_less_ridge():
    outcomes = possible_and_trained(12, 6, SEEDS, [1.0, 1e-3])
    assert outcomes.shape == (len(SEEDS), 3)
    certified, strong, weak = outcomes.T
    assert certified.sum() == count_feasible(12, 6, SEEDS)[0]
    assert not (~certified & (strong | weak)).any()
    assert not (strong & ~weak).any()
    assert weak.any()
