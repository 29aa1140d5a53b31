"""Each correction on the page of errata holds, and what the paper prints fails on the same numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import expit

from assocmem.experiments import errata
from assocmem.pairs.data import gaussian_pairs
from assocmem.removal.hessians import evaluate
from assocmem.removal.leave_one_out import full_problem, minimise
from assocmem.theory.norm_bounds import largest_square
from assocmem.theory.outer_products import log_expected_failures, log_pair_bound
from assocmem.theory.scalar import reduced_potential, scalar_tail_average, solve_scalar
from assocmem.training.fit import fit
from assocmem.training.losses import TailAverage


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def problem(d, n, *, r=0.3, beta=3.0, ridge=0.3, seed=1):
    return full_problem(gaussian_pairs(n, d, seed=seed), TailAverage(r, beta), ridge)


# --- wrong as printed -----------------------------------------------------------------------------


def test_the_margin_grows_with_its_threshold_like_the_sum_of_Q(rng):
    printed, corrected = errata.margin_slope(errata.Column(rng.standard_normal(9), 0.2, 3, 2.0)).misses()
    assert corrected < 1e-8
    assert printed == pytest.approx(2)


def test_the_residual_off_the_diagonal_has_three_other_signs_and_one_more_term(rng):
    rest = errata.Column(rng.standard_normal(9), 0.2, 3, 2.0)
    moved = np.append(rest.s + 0.1 * rng.standard_normal(9), 0.7)
    printed, corrected = errata.taylor_residual(rest, errata.Column(moved, 0.25, 3, 2.0)).misses()
    assert corrected < 1e-12
    assert printed > 0.5


def test_the_residual_follows_the_threshold_in_proportion():
    """So a threshold that moves by d^(-3/2), as (A1) says, makes entries of d^(-7/2), and not of d^(-4)."""
    rest = errata.Column(np.linspace(-1, 1, 9), 0.2, 3, 2.0)
    rest = rest._replace(mu=threshold(rest))
    same = np.append(rest.s, -60.0)  # only the threshold moves, as the new competitor counts for nothing
    large, small = (
        errata.taylor_residual(rest, errata.Column(same, rest.mu + h, 3, 2.0)).truth / h for h in (1e-3, 1e-4)
    )
    np.testing.assert_allclose(large, small, rtol=1e-2)
    np.testing.assert_allclose(small, -rest.a * 2 * rest.q * (1 - rest.q) / 3, rtol=1e-3)


def threshold(column):
    """The minimising threshold, by bisection."""
    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if column._replace(mu=middle).q.sum() > column.k else (low, middle)
    return low


@pytest.mark.parametrize(("r", "least_miss"), [(0.2, 0.4), (0.5, 0)])
def test_the_targets_around_a_threshold_have_a_mean_along_the_output(r, least_miss):
    """Its square is ``A^2/d + B^2/d^2``; Appendix B has ``A = 0``, as it is where curvature is symmetric."""
    load, beta, ridge, d = 0.25, 3.0, 0.5, 32
    theory = solve_scalar(load, r, beta=beta, ridge=ridge)
    z = np.linspace(-9, 9, 4001)
    weights = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    q = expit(beta * (theory.nu * z - theory.mu))
    second, third = beta * q * (1 - q), beta**2 * q * (1 - q) * (1 - 2 * q)
    A, B = theory.nu / r * abs(weights @ third), math.sqrt(weights @ second**2 / load) / r
    squares = []
    for seed in range(4):
        point = minimise(problem(d, int(load * d * d), r=r, beta=beta, ridge=ridge, seed=seed))
        squares.append(float((point.problem.pairs.U @ point.c).square().sum(dim=0).mean()))
    length = math.sqrt(np.mean(squares))
    assert length == pytest.approx(math.sqrt(A**2 / d + B**2 / d**2), rel=0.03)
    assert abs(B / d - length) >= least_miss * length
    assert (A > 1) == (r != 0.5)


def test_the_weights_of_an_iterated_removal_are_those_before_each_loss():
    found = errata.iterated_removal(problem(12, 72, ridge=1.0), 3)
    lengths = [np.linalg.norm(x) for x in (found.truth, found.truth - found.corrected)]
    assert lengths[1] < 0.4 * lengths[0]
    assert not found.printed.any()


def test_the_norm_scale_may_exceed_the_constant_that_bounds_its_square():
    r, beta, ridge, d, n = 0.5, 10.0, 100.0, 30, 18
    square = largest_square(r, beta, ridge)
    trained = fit(gaussian_pairs(n, d, seed=3), TailAverage(r, beta), ridge=ridge, tol=1e-9).W
    for nu in (solve_scalar(n / d**2, r, beta=beta, ridge=ridge).nu, float(trained.norm()) / d):
        assert square < 0.8 * nu
        assert nu < math.sqrt(square)


def test_the_action_of_the_score_hessian_lets_thresholds_follow():
    point = minimise(problem(5, 14))
    T = torch.from_numpy(np.random.default_rng(2).standard_normal((14, 14)))
    printed, corrected = errata.score_action(point, T).misses()
    assert corrected < 1e-7
    assert printed > 1e-2


def test_the_target_that_goes_moves_its_scores_more_than_those_that_stay_move():
    ratios = []
    for d in (8, 16, 32):
        held_out, surviving = errata.moved_scores(problem(d, d * d // 2))
        ratios.append(held_out / surviving)
    slope = np.polyfit(np.log([8, 16, 32]), np.log(ratios), 1)[0]
    assert 0.25 < slope < 0.75  # a half if the rows are of d^(-1/2) and d^(-1), none if (A2) held for both


def test_the_factor_of_the_threshold_term_vanishes_at_a_minimiser():
    assert errata.summed_tail_weights(problem(8, 32)) < 1e-12


def test_equal_eigenvalues_do_not_make_the_scale_of_the_coupling_vanish():
    d = 64
    equal, single = math.sqrt(d) * np.eye(d), np.zeros((d, d))
    single[0, 0] = d  # of the same Frobenius norm
    scales = [np.linalg.norm(W.T @ W) / d**2 for W in (equal, single)]
    spreads = [np.std(np.linalg.eigvalsh(W.T @ W)) / d for W in (equal, single)]
    assert spreads[0] == 0
    assert scales == pytest.approx([d**-0.5, 1])


# --- true with a condition, or by another argument ------------------------------------------------


def test_the_union_bound_over_pairs_loses_no_power_of_n_above_eight():
    """Key by key and pair by pair the exponents agree, so that 8 is no cost of the union bound."""
    log_n = 2e4
    for ratio in (8.5, 10, 14):
        keys, pairs = log_expected_failures(log_n, ratio) / log_n, log_pair_bound(log_n, ratio) / log_n
        assert keys == pytest.approx(pairs, abs=2e-3)
    typical = log_n * (1 - (math.sqrt(5) - math.sqrt(2)) ** 2 / 2)  # a single signal against the maximum
    assert log_expected_failures(log_n, 5) == pytest.approx(typical, rel=2e-3)
    assert log_pair_bound(log_n, 5) > 1.1 * typical


def test_the_threshold_of_a_rounded_tail_is_not_at_r():
    """The profile of Lemma 19 is stationary at ``q = k / (n - 1)``, which is r only without rounding."""
    n, r, beta = 12, 0.3, 2.0
    k = math.ceil(r * (n - 1))
    slopes = [-1 + (n - 1) / k * q for q in (r, k / (n - 1))]
    assert abs(slopes[0]) > 0.05
    assert slopes[1] == pytest.approx(0, abs=1e-12)
    at_zero = math.log1p(math.exp((n - 1) / k * math.log(2) / beta))  # Psi(0, 0) / n
    assert at_zero < math.log1p(math.exp(math.log(2) / (r * beta)))


def test_a_smoothed_tail_of_all_competitors_has_no_threshold(rng):
    x = rng.standard_normal(6)
    slopes = [1 - expit(2 * (x - mu)).sum() / 6 for mu in (-3, -8, -15)]
    assert slopes[0] > slopes[1] > slopes[2] > 0


def test_without_a_ridge_the_loss_of_a_separable_instance_only_approaches_zero():
    pairs, loss = gaussian_pairs(12, 8, seed=4), TailAverage(0.3, 3.0)
    W = fit(pairs, loss, ridge=1e-4, tol=1e-9).W
    losses = [
        float(torch.nn.functional.softplus(-evaluate(full_problem(pairs, loss, 1.0), t * W).m).mean())
        for t in (1, 2, 4)
    ]
    assert losses[0] > losses[1] > losses[2] > 0


def test_positive_margins_of_nearly_all_keys_are_not_a_vanishing_loss():
    point = minimise(problem(12, 10, r=0.5, beta=10, ridge=5.0))
    assert float((point.m > 0).double().mean()) == 1
    assert float(torch.nn.functional.softplus(-point.m).mean()) > 0.3


def test_moved_signal_coefficients_move_the_trace():
    point = minimise(problem(5, 14))
    change, bound = errata.moved_signal_coefficients(point, 0.05 * torch.ones(14, dtype=torch.float64))
    assert change < -1e-4
    assert abs(change) < bound


def test_the_adjoint_gives_the_gradient_of_the_norm_too():
    """So the norm concentrates by the argument of Appendix D itself, and Proposition 6 need not be known."""
    whole = problem(4, 12)
    in_targets, in_keys = errata.squared_norm_gradient(whole)
    for name, gradient in (("U", in_targets), ("V", in_keys)):
        for place in ((0, 0), (2, 5)):
            ends = []
            for step in (1e-4, -1e-4):
                data = getattr(whole.pairs, name).clone()
                data[place] += step
                moved = replace(whole, pairs=replace(whole.pairs, **{name: data}))
                ends.append(float(minimise(moved).W.square().sum()) / whole.pairs.d**2)
            slope = (ends[0] - ends[1]) / 2e-4
            assert float(gradient[place]) == pytest.approx(slope, rel=1e-3, abs=1e-5)
    lengths = [
        math.sqrt(sum(float(x.square().sum()) for x in errata.squared_norm_gradient(problem(d, d * d // 2))))
        for d in (8, 24)
    ]
    assert lengths[1] / lengths[0] == pytest.approx(math.sqrt(1 / 3), abs=0.1)  # 1 without the gain of (A4)


# --- sharper than printed -------------------------------------------------------------------------


def test_the_potential_falls_at_zero_so_that_its_minimiser_is_positive():
    load, r, beta, ridge, nu = 0.4, 0.3, 3.0, 5.0, 1e-3
    c, _, _ = scalar_tail_average(nu, r, beta)
    start = math.log1p(math.exp(c))
    slope = (reduced_potential(nu, load, r, beta=beta, ridge=ridge) - start) / nu
    assert slope == pytest.approx(-expit(c) / math.sqrt(load), rel=1e-2)


def test_the_force_of_a_mean_over_signals_is_of_the_order_of_one_over_d():
    """``|U B V'|_F`` for ``psi(s) = s``, where Appendix D has the root of that."""
    forces = [float((p.U @ p.V.T).norm()) / p.n for p in (gaussian_pairs(d * d, d, seed=5) for d in (16, 64))]
    assert forces[0] / forces[1] == pytest.approx(4, rel=0.05)


def test_the_projection_splits_into_three_orthogonal_parts(rng):
    x, y = np.eye(6)[0], np.full(6, 6**-0.5)
    U, V, G = rng.standard_normal((6, 20)), rng.standard_normal((6, 20)), rng.standard_normal((20, 20))
    printed, corrected = errata.projected_square(U, G, V, x, y).misses()
    assert corrected < 1e-12
    assert printed > 1


def test_the_features_that_a_cavity_leaves_out_are_of_the_order_of_one_over_d():
    norms = [errata.removed_features(problem(d, d * d // 2)) for d in (8, 16, 32)]
    slope = np.polyfit(np.log([8, 16, 32]), np.log(norms), 1)[0]
    assert slope < -0.9
