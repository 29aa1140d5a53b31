"""Hessians as operators, problems without a pair, and the Newton step between their minimisers."""

import math
from dataclasses import replace

import pytest
import torch

from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.removal import hessians, leave_one_out
from assocmem.removal.hessians import (
    KINDS,
    Problem,
    dense_operator,
    evaluate,
    hessian_product,
    normalized_trace,
    solve,
)
from assocmem.removal.leave_one_out import (
    drop,
    full_problem,
    insertion,
    minimise,
    newton_step,
    rank_one_response,
    without,
)
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import dense_hessian, loss_pass


@pytest.fixture(scope="module")
def problem():
    return full_problem(gaussian_pairs(24, 7, seed=1), TailAverage(0.2, 3.0), 0.1)


@pytest.fixture(scope="module")
def full(problem):
    return minimise(problem)


@pytest.fixture(scope="module")
def rest(problem, full):
    return minimise(without(problem, 5), full.W)


def relative(x, y):
    return float((x - y).norm() / y.norm())


def matrix(d, seed):
    return torch.randn(d, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def objective(problem, mu=None):
    """The joint objective of the paper as a function of W, by its formula."""
    U, V, k, beta = problem.pairs.U, problem.pairs.V, problem.k, problem.loss.beta
    other = ~torch.eye(problem.pairs.n, dtype=torch.bool)

    def psi(W):
        S = U.T @ W @ V
        levels = evaluate(problem, W.detach()).mu if mu is None else mu
        tail = (torch.nn.functional.softplus(beta * (S - levels)) / beta * other).sum(dim=0) / k
        losses = torch.nn.functional.softplus(-(S.diagonal() - levels - tail))
        return losses.sum() + problem.effective_ridge / 2 * (W * W).sum()

    return psi


def test_gradient_and_value_are_those_of_the_joint_objective(problem):
    W = matrix(7, 2).requires_grad_()
    (gradient,) = torch.autograd.grad(objective(problem)(W), W)  # at the best thresholds their motion is free
    point = evaluate(problem, W.detach())
    assert relative(point.gradient, gradient) < 1e-12
    passed = loss_pass(problem.pairs, problem.loss, W.detach())
    assert relative(point.loss_gradient, passed.gradient * problem.pairs.n) < 1e-12
    assert torch.allclose(point.m, passed.margins)


def test_full_hessian_is_the_second_derivative_with_thresholds_still(problem):
    W, D = matrix(7, 3), matrix(7, 4)
    point = evaluate(problem, W)
    _, product = torch.autograd.functional.hvp(objective(problem, point.mu), W, D)
    assert relative(hessian_product(point, D, "full"), product) < 1e-11


def test_profiled_hessian_is_the_derivative_of_the_gradient(problem):
    W, D, step = matrix(7, 3), matrix(7, 4), 1e-5
    slope = (evaluate(problem, W + step * D).gradient - evaluate(problem, W - step * D).gradient) / (2 * step)
    assert relative(hessian_product(evaluate(problem, W), D, "profiled"), slope) < 1e-8
    assert relative(hessian_product(evaluate(problem, W), D, "full"), slope) > 1e-3


def test_simplified_hessian_is_its_sum_of_rank_one_terms(problem):
    point, U, V = evaluate(problem, matrix(7, 3)), problem.pairs.U, problem.pairs.V
    f = torch.einsum("aj,bi->jiab", U, V).flatten(2)
    weights = point.a * point.c + torch.diag(point.b)
    sum_of_terms = torch.einsum("ji,jix,jiy->xy", weights, f, f) + problem.effective_ridge * torch.eye(
        49, dtype=torch.float64
    )
    assert relative(dense_operator(point, "simplified"), sum_of_terms) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_products_matrices_solutions_and_traces_agree(problem, kind):
    point, D = evaluate(problem, matrix(7, 3)), matrix(7, 4)
    H = dense_operator(point, kind)
    assert relative(H, H.T) < 1e-14
    assert torch.linalg.eigvalsh(H)[0] >= problem.effective_ridge * (1 - 1e-9)
    assert relative((H @ D.reshape(-1)).reshape(7, 7), hessian_product(point, D, kind)) < 1e-12
    assert relative(hessian_product(point, solve(point, D, kind), kind), D) < 1e-9
    exact, no_error = normalized_trace(point, kind)
    assert exact == pytest.approx(float(torch.linalg.inv(H).trace()) / 49, rel=1e-10)
    estimate, error = normalized_trace(point, kind, probes=100)
    assert no_error == 0
    assert abs(estimate - exact) < 4 * error
    assert error < 0.1 * exact


@pytest.mark.parametrize(("kind", "profiled"), [("full", False), ("profiled", True)])
def test_dense_operators_are_those_of_the_mean_loss(problem, kind, profiled):
    W = matrix(7, 3)
    of_mean = dense_hessian(problem.pairs, problem.loss, W, profiled=profiled) * problem.pairs.n
    assert (
        relative(
            dense_operator(evaluate(problem, W), kind),
            of_mean + problem.effective_ridge * torch.eye(49, dtype=torch.float64),
        )
        < 1e-12
    )


def test_a_removed_pair_leaves_as_a_key_and_as_a_competitor(problem):
    rest, W = without(problem, 5), matrix(7, 2)
    assert (rest.k, rest.effective_ridge, rest.pairs.n) == (problem.k, problem.effective_ridge, 23)
    direct = Problem(
        Pairs(drop_columns(problem.pairs.U, 5), drop_columns(problem.pairs.V, 5)),
        rest.loss,
        rest.effective_ridge,
    )
    assert torch.equal(evaluate(rest, W).S, evaluate(direct, W).S)
    assert torch.allclose(evaluate(rest, W).S, drop(evaluate(problem, W).S, 5))
    assert bool((evaluate(rest, W).t < drop(evaluate(problem, W).t, 5)).all())  # one competitor fewer


def drop_columns(X, h):
    return torch.cat([X[:, :h], X[:, h + 1 :]], dim=1)


def test_minimisers_are_stationary(full, rest):
    for point in (full, rest):
        assert float(point.gradient.norm()) < 1e-6
    assert float((full.W - rest.W).norm()) > 0.1


def test_insertion_gradient_is_the_difference_of_the_others_losses(problem, rest):
    seen = evaluate(problem, rest.W)
    inserted = insertion(seen, rest, 5)
    others = replace(seen, a=torch.where(torch.arange(24) == 5, 0, seen.a))
    assert relative(inserted.gradient, others.loss_gradient - rest.loss_gradient) < 1e-11
    assert bool((inserted.gap > 0).all())
    assert bool((inserted.weight_gap > 0).all())
    assert float(inserted.weight_gap.max()) <= float(inserted.gap.max()) / 4
    assert relative(inserted.parts[3], torch.outer(problem.pairs.U[:, 5], inserted.xi)) < 1e-14


def test_newton_step_solves_its_two_equations(problem, rest):
    step = newton_step(problem, rest, 5)
    pushed = hessian_product(rest, step.W - rest.W, "profiled")
    assert relative(pushed, step.a * step.X - step.insertion.gradient) < 1e-8  # eq. linear-cancel
    implied = 1 / (1 + math.exp(step.margin + step.zeta + step.theta * step.a))
    assert step.a == pytest.approx(implied, abs=1e-12)


def test_newton_step_beats_the_response_to_the_own_loss_alone():
    problem = full_problem(gaussian_pairs(288, 24, seed=1), TailAverage(0.2, 3.0), 0.1)
    full = minimise(problem)
    rest = minimise(without(problem, 5), full.W)
    step = newton_step(problem, rest, 5)
    error = (full.W - step.W).norm()
    assert error < 0.5 * (full.W - rest.W - step.a * step.response).norm()
    assert error < 0.5 * (full.W - rest.W - rank_one_response(problem, full, rest, 5)).norm()


def test_removals_commute(problem, full):
    one = minimise(without(without(problem, 5), 2), full.W)
    other = minimise(without(without(problem, 2), 4), full.W)
    assert relative(one.W, other.W) < 1e-5


def test_bad_input_is_refused(problem):
    pairs = problem.pairs
    with pytest.raises(ValueError, match=r"loss = CrossEntropy\(\): must be a TailAverage"):
        full_problem(pairs, CrossEntropy(), 0.1)
    with pytest.raises(ValueError, match="r = 1"):
        full_problem(pairs, TailAverage(1.0, 3.0), 0.1)
    with pytest.raises(ValueError, match="ridge = 0"):
        full_problem(pairs, TailAverage(0.2, 3.0), 0)
    with pytest.raises(ValueError, match="h = 24: must be below 24"):
        without(problem, 24)
    with pytest.raises(ValueError, match="h = -1"):
        without(problem, -1)
    with pytest.raises(ValueError, match="kind = 'half'"):
        solve(evaluate(problem, matrix(7, 3)), matrix(7, 4), "half")
    with pytest.raises(ValueError, match="kind = 'half'"):
        hessian_product(evaluate(problem, matrix(7, 3)), matrix(7, 4), "half")
    with pytest.raises(ValueError, match="probes = 1"):
        normalized_trace(evaluate(problem, matrix(7, 3)), probes=1)


def test_no_pair_can_go_where_the_tail_takes_all_that_are_left():
    small = full_problem(gaussian_pairs(6, 3, seed=1), TailAverage(0.6, 3.0), 0.1)
    once = without(small, 0)
    with pytest.raises(ValueError, match="h = 0: must be no pair"):
        without(once, 0)


def test_a_solver_that_does_not_converge_says_so(problem, monkeypatch):
    monkeypatch.setattr(hessians, "MOST_STEPS", 2)
    with pytest.raises(RuntimeError, match="solve: residual .* after 2 steps"):
        solve(evaluate(problem, matrix(7, 3)), matrix(7, 4))
    monkeypatch.setattr(leave_one_out, "TOLERANCE", 1e-40)
    with pytest.raises(RuntimeError, match="minimise: gap"):
        minimise(problem)
