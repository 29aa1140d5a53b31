"""A memory is returned with its pairs, or not at all."""

from dataclasses import replace

import pytest
import torch

from assocmem.experiments.tail_average import memories_at_load
from assocmem.experiments.tail_average.memories_at_load import train_at_load
from assocmem.pairs.data import gaussian_pairs
from assocmem.training.losses import CrossEntropy, TailAverage


@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.2, 3.0)])
def test_pairs_are_those_of_the_seed_and_the_gap_is_reached(loss):
    pairs, found = train_at_load(0.5, 6, loss, ridge=0.1, tol=1e-4, seed=3)
    assert (pairs.n, pairs.d) == (18, 6)
    assert torch.equal(pairs.U, gaussian_pairs(18, 6, seed=3).U)
    assert found.converged and found.gap <= 1e-4


def test_a_fit_that_has_not_converged_is_an_error(monkeypatch):
    original = memories_at_load.fit
    monkeypatch.setattr(memories_at_load, "fit", lambda *a, **k: replace(original(*a, **k), converged=False))
    with pytest.raises(ArithmeticError, match=r"load 0.5, d = 6, seed = 3: gap \d"):
        train_at_load(0.5, 6, CrossEntropy(), ridge=0.1, tol=1e-4, seed=3)
