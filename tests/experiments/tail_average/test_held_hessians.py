"""Three ways to one Hessian, and the check that tells it from another."""

import numpy as np
import pytest
import torch

from assocmem.book.claims import check
from assocmem.experiments.tail_average import held_hessians
from assocmem.experiments.tail_average.held_hessians import (
    column_evidence,
    hessian_evidence,
    joint_objective,
    order_evidence,
)
from assocmem.pairs.data import gaussian_pairs
from assocmem.training.losses import TailAverage
from assocmem.training.passes import joint_pass


@pytest.fixture(scope="module")
def small():
    pairs = gaussian_pairs(9, 2, seed=1)
    return pairs, torch.tensor([[1.0, 0.5], [-0.3, 2.0]], dtype=torch.float64), TailAverage(0.3, 3.0)


def test_the_objective_is_that_of_the_engine(small):
    pairs, W, loss = small
    mu = torch.linspace(-1, 1, 9, dtype=torch.float64)
    mean, gradient, _ = joint_pass(pairs, loss, W, mu)
    w = W.clone().requires_grad_()
    objective = joint_objective(w, pairs, mu, loss, 0.2)
    objective.backward()
    ridge = 0.2 / (2 * 2**2)
    assert objective.item() / 9 == pytest.approx(mean + ridge * float((W * W).sum()), rel=1e-12)
    torch.testing.assert_close(w.grad / 9, gradient + 2 * ridge * W)


def test_the_check_holds_and_rejects_moving_thresholds(small):
    evidence = hessian_evidence(*small, 0.2)
    assert max(evidence["measured"]) < 1e-12 < evidence["falsehood"][1]
    assert check(**evidence).verdict == "holds"


@pytest.mark.parametrize("r", [0.1, 0.4])
def test_derivatives_of_a_column_are_told_from_others(r):
    x = np.random.default_rng(1).standard_normal(12)
    evidence = column_evidence(x, r, 5.0)
    assert max(evidence["measured"]) < 1e-8
    assert min(evidence["falsehood"][1]) > 0.01
    assert check(**evidence).verdict == "holds"


def test_a_hessian_is_its_diagonal_matrix_less_one_direction(monkeypatch):
    x = np.random.default_rng(2).standard_normal(8)
    evidence = order_evidence(x, 0.3, 2.0)
    assert sum(evidence["measured"]) == pytest.approx(7, abs=1e-6)
    assert check(**evidence).verdict == "holds"
    monkeypatch.setattr(held_hessians, "_differences", lambda *_: (None, None, np.eye(8)))
    assert check(**order_evidence(x, 0.3, 2.0)).verdict == "does not hold"
