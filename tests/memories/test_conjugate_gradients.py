"""Conjugate gradients against closed forms and a direct solver, and what they report where they fail."""

import pytest
import torch

from assocmem.memories.conjugate_gradients import conjugate_gradients


def system(size, condition, seed=0):
    """A positive definite matrix with a given condition number, and a right-hand side."""
    generator = torch.Generator().manual_seed(seed)
    basis, _ = torch.linalg.qr(torch.randn(size, size, dtype=torch.float64, generator=generator))
    values = torch.logspace(0, torch.tensor(float(condition)).log10(), size, dtype=torch.float64)
    return basis * values @ basis.T, torch.randn(size, dtype=torch.float64, generator=generator)


def test_each_distinct_eigenvalue_takes_one_step():
    values = torch.tensor([1.0, 2.0, 2.0, 5.0, 5.0, 5.0], dtype=torch.float64)
    right = torch.arange(1.0, 7.0, dtype=torch.float64)
    found = conjugate_gradients(lambda x: values * x, right, tol=1e-12, most_steps=50)
    assert found.converged
    assert found.steps == 3
    torch.testing.assert_close(found.x, right / values)


def test_any_shape_against_a_direct_solver():
    A, right = system(12, 100.0)
    product = lambda X: (A @ X.reshape(-1)).reshape(3, 4)  # noqa: E731
    found = conjugate_gradients(product, right.reshape(3, 4), tol=1e-12, most_steps=100)
    torch.testing.assert_close(found.x.reshape(-1), torch.linalg.solve(A, right), rtol=1e-9, atol=1e-12)
    assert found.residual == pytest.approx(
        float((right - A @ found.x.reshape(-1)).norm() / right.norm()), abs=1e-13
    )
    assert found.residual <= 1e-12


def test_a_guess_is_where_the_search_begins_and_stays_as_it_was():
    A, right = system(20, 10.0)
    exact = torch.linalg.solve(A, right)
    assert conjugate_gradients(lambda x: A @ x, right, tol=1e-10, most_steps=50, start=exact).steps == 0
    near = exact + 1e-6
    before = near.clone()
    warm = conjugate_gradients(lambda x: A @ x, right, tol=1e-10, most_steps=50, start=near)
    cold = conjugate_gradients(lambda x: A @ x, right, tol=1e-10, most_steps=50)
    assert 0 < warm.steps < cold.steps
    assert torch.equal(near, before)
    torch.testing.assert_close(warm.x, exact, rtol=1e-8, atol=1e-10)


def test_a_search_that_is_given_up_is_reported():
    A, right = system(40, 1e6)
    found = conjugate_gradients(lambda x: A @ x, right, tol=1e-10, most_steps=7)
    assert not found.converged
    assert found.steps == 7
    assert found.residual > 1e-10
    assert found.residual == pytest.approx(float((right - A @ found.x).norm() / right.norm()), rel=1e-9)


def test_nothing_on_the_right_has_the_solution_zero():
    zero = torch.zeros(5, dtype=torch.float64)
    found = conjugate_gradients(lambda x: 2 * x, zero, tol=1e-10, most_steps=5)
    assert found.converged
    assert found.steps == 0
    assert torch.equal(found.x, zero)
    assert found.residual == 0
