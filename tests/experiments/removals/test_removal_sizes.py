"""Sizes that the leave-one-out method bounds, and the exponents fitted to them."""

import numpy as np
import pytest
import torch

from assocmem.experiments.removals import removal_sizes
from assocmem.experiments.removals.removal_rates import ESTIMATES, FLUCTUATIONS
from assocmem.experiments.removals.removal_sizes import (
    LAWS,
    SETTINGS,
    measure_instance,
    pairs_of_law,
    taylor_remainder,
    threshold_identity,
    threshold_path,
)
from assocmem.pairs.data import gaussian_pairs
from assocmem.removal.hessians import evaluate, hessian_product, pull_back
from assocmem.removal.leave_one_out import drop, full_problem, insertion, minimise, newton_step, without
from assocmem.training.losses import TailAverage

H = 3


@pytest.fixture(scope="module")
def removed():
    problem = full_problem(gaussian_pairs(50, 10, seed=1), TailAverage(0.2, 3.0), 0.1)
    full = minimise(problem)
    return problem, full, minimise(without(problem, H), full.W)


def test_taylor_remainder_completes_the_linearised_equation(removed):
    """Eq. ``H_LOO_identity`` is exact, with the thresholds still."""
    problem, full, rest = removed
    u, v, a = problem.pairs.U[:, H], problem.pairs.V[:, H], float(full.a[H])
    eta = problem.pairs.U @ full.p[:, H]
    xi = insertion(full, evaluate(rest.problem, full.W), H).xi
    diagonal, other = taylor_remainder(full, rest, H)
    left = hessian_product(rest, full.W - rest.W, "full")
    right = a * torch.outer(u - eta, v) - torch.outer(u, xi) - pull_back(rest.problem.pairs, other, diagonal)
    assert float((left - right).norm()) < 1e-5 * float(left.norm())
    assert float(other.diagonal().abs().max()) == 0


def test_threshold_identity_is_exact_and_needs_the_new_competitor(removed):
    _, full, rest = removed
    left, right = threshold_identity(full, rest, H)
    assert torch.allclose(left, right, atol=1e-9)
    path = threshold_path(full, rest, H)
    without_it = torch.linalg.vecdot(path, drop(full.S, H) - rest.S, dim=0) / path.sum(dim=0)
    assert float((left - without_it).abs().max()) > 1e-2


def test_residuals_of_the_newton_step_add_up(removed):
    """Eq. ``residual-decomp``; the three parts measured apart make the gradient at the candidate."""
    problem, _, rest = removed
    step = newton_step(problem, rest, H)
    at_full, at_rest = evaluate(problem, step.W), evaluate(rest.problem, step.W)
    common = at_rest.gradient - hessian_product(rest, step.W - rest.W, "profiled")
    inserted = insertion(at_full, at_rest, H).gradient - step.insertion.gradient
    X = torch.outer(problem.pairs.U[:, H] - problem.pairs.U @ at_full.p[:, H], problem.pairs.V[:, H])
    outer = step.a * step.X - at_full.a[H] * X
    assert float((common + inserted + outer - at_full.gradient).norm()) < 1e-6


def test_an_instance_has_every_size():
    found = measure_instance(12, 0, **SETTINGS[0])
    for size in [e.size for e in ESTIMATES] + [f.size for f in FLUCTUATIONS]:
        assert found[size] > 0
    for e in ESTIMATES:
        assert not e.logs or 0 < found[f"{e.size}_rms"] < found[e.size]
    assert found["newton_error"] < found["moved"]
    assert found["simplification"] <= found["simplification_bound"]
    assert found == measure_instance(12, 0, **SETTINGS[0])


def test_without_an_inverse_its_sizes_are_missing(monkeypatch):
    monkeypatch.setattr(removal_sizes, "EXACT_DIMENSION", 8)
    found = measure_instance(12, 0, **SETTINGS[0])
    missing = {name for name, x in found.items() if np.isnan(x)}
    assert {"fresh_trace", "diagonal_form", "other_form_rms", "chi", "response"} <= missing
    assert "rank_one" not in missing


@pytest.mark.parametrize("law", LAWS)
def test_laws_have_mean_zero_and_covariance_one_over_d(law):
    pairs = pairs_of_law(20_000, 4, law, seed=3)
    for X in (pairs.U, pairs.V):
        assert float(X.mean(dim=1).abs().max()) < 0.015
        assert float((X @ X.T / 20_000 - torch.eye(4) / 4).abs().max()) < 0.01
        lengths = X.norm(dim=0)
        assert (float(lengths.std()) > 0.1) == (law == "gaussian")
    assert (float(pairs.U.abs().std()) < 1e-12) == (law == "rademacher")


def test_an_unknown_law_is_refused():
    with pytest.raises(ValueError, match="law = 'cauchy': must be one of gaussian, sphere, rademacher"):
        pairs_of_law(10, 3, "cauchy", seed=1)
