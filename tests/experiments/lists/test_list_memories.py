"""Memories for lists: what is trained, what is counted, and the shares that the theory expects."""

import numpy as np
import pytest
import torch

from assocmem.experiments.lists.list_memories import LIST, LONG_TAIL, LOSSES, measure_lists, train_for_lists
from assocmem.experiments.points import list_memory, list_verdict
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import scores
from assocmem.theory.lists import list_capacity

PAIRS = gaussian_pairs(90, 16, seed=3)


def test_places_are_counted_as_they_would_be_by_hand():
    memory = train_for_lists(LIST, PAIRS, 0.2, ridge=1e-3)
    S = scores(PAIRS, memory.W)
    below = ((S.diagonal() > S).sum(dim=0) / (PAIRS.n - 1)).double().numpy()
    found = measure_lists(LIST, PAIRS, 0.2, ridge=1e-3)
    assert found["listed"] == np.mean(below >= 0.8)
    assert found["first"] == np.mean(below == 1)
    assert (found["worst"], found["middle"]) == pytest.approx((below.min(), below.mean()))
    spreads = torch.linalg.vector_norm(memory.W @ PAIRS.V, dim=0) / (memory.nu * 4)
    assert found["spread"] == pytest.approx(float(spreads.std()))
    assert found["least"] == pytest.approx(float(spreads.min()))


@pytest.mark.parametrize("loss", LOSSES)
def test_each_memory_says_how_it_was_made(loss):
    found = measure_lists(loss, PAIRS, 0.3, ridge=1e-2, tol=1e-2)
    assert 0 <= found["worst"] <= found["middle"] <= 1
    if loss == LOSSES[0]:
        assert (found["value"], found["gap"], found["passes"]) == (None, None, None)
    else:
        assert found["gap"] <= 1e-2
        assert found["passes"] >= 1


def test_between_the_two_capacities_the_longer_tail_and_the_list_have_everybody_on_it():
    pairs = gaussian_pairs(round(0.8 * list_capacity(0.3) * 24**2), 24, seed=1)
    listed = {loss: measure_lists(loss, pairs, 0.3, ridge=1e-6)["listed"] for loss in LOSSES}
    assert min(listed[LIST], listed[LONG_TAIL]) > 0.995
    assert max(listed[loss] for loss in LOSSES[:3]) < 0.95


def test_a_fit_that_does_not_end_is_told(monkeypatch):
    monkeypatch.setattr("assocmem.experiments.lists.list_memories.PASSES", 3)
    with pytest.raises(ArithmeticError, match="list loss, n = 90, d = 16, r = 0.2: gap .* after . passes"):
        train_for_lists(LIST, PAIRS, 0.2, ridge=1e-8, tol=1e-9)


def test_outer_products_are_not_trained():
    with pytest.raises(ValueError, match="loss = "):
        train_for_lists(LOSSES[0], PAIRS, 0.2, ridge=1e-3)


def test_the_points_of_the_sweeps_give_rows():
    row = list_memory(d=8, r=0.3, load=0.4, loss=4, seed=0, ridge=1e-2)
    assert row["n"] == 26
    assert set(row) == {"n", "first", "listed", "worst", "middle", "nu", "spread", "least"} | {
        "value",
        "gap",
        "passes",
    }
    few, many = (list_verdict(d=8, n=n, r=0.3, seed=0) for n in (30, 120))
    assert (few["feasible"], many["feasible"]) == (1, 0)
    assert few["margin"] > 0
