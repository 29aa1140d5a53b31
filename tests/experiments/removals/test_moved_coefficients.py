"""Moved coefficients: derivatives of the trace, its bound, and the check."""

import pytest
import torch

from assocmem.book.claims import check
from assocmem.experiments.removals.moved_coefficients import move_evidence, move_rate, move_trace
from assocmem.pairs.data import gaussian_pairs
from assocmem.removal.hessians import dense_operator, normalized_trace
from assocmem.removal.leave_one_out import full_problem, minimise
from assocmem.training.losses import TailAverage


@pytest.fixture(scope="module")
def point():
    return minimise(full_problem(gaussian_pairs(16, 5, seed=1), TailAverage(0.2, 3.0), 0.5))


@pytest.fixture(scope="module")
def trace(point):
    return normalized_trace(point, "simplified")[0]


def test_a_small_move_has_the_derivative_of_the_trace(point, trace):
    change, bound = move_trace(point, trace, 1e-5)
    assert 0 < change < bound
    H = dense_operator(point, "simplified")
    step = 1e-5 / point.problem.k
    coefficients = (1e-5 * point.c + (point.a + 1e-5) * step * (point.c > 0)).fill_diagonal_(0)
    U, V = point.problem.pairs.U, point.problem.pairs.V
    force = torch.zeros_like(H)
    for j in range(16):
        for i in range(16):
            x = torch.outer(U[:, j], V[:, i]).reshape(-1)
            force += coefficients[j, i] * torch.outer(x, x)
    inverse = torch.linalg.inv(H)
    expected = float((inverse @ force @ inverse).trace()) / 25
    assert change == pytest.approx(expected, rel=0.1)


def test_the_rate_is_the_derivative_and_has_two_parts(point, trace):
    change, _ = move_trace(point, trace, 1e-6)
    assert change / 1e-6 == pytest.approx(move_rate(point), rel=1e-3)
    assert 0 < move_rate(point, weights_too=False) < 0.9 * move_rate(point)


def test_the_check_holds_and_needs_the_weights():
    point = minimise(full_problem(gaussian_pairs(48, 10, seed=1), TailAverage(0.2, 3.0), 2.0))
    trace = normalized_trace(point, "simplified")[0]
    found = check(**move_evidence(point, trace, [0.01, 0.02, 0.04]))
    assert found.verdict == "holds with limits"
    assert (found.kind, len(found.measured)) == ("identity", 2)
    assert found.force > 3
