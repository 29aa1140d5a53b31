"""Losses and passes against autograd, identities, and the corners where careless formulas overflow."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.pairs.sizes import tail_count
from assocmem.training import columns_cpu, passes
from assocmem.training.columns_tensors import tail_threshold
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import dense_hessian, hessian_pass, joint_pass, loss_pass

LOSSES = [
    CrossEntropy(),
    TailAverage(0.15, 3.0),
    TailAverage(0.5, 30.0),
    TailAverage(0.9, 0.1),
    TailAverage(1.0, 5.0),
]


def dense_loss(loss, S):
    """Mean loss as a plain differentiable function of the full score matrix, from the definitions."""
    n = len(S)
    others = torch.stack([torch.cat([S[:i, i], S[i + 1 :, i]]) for i in range(n)], dim=1)
    if isinstance(loss, CrossEntropy):
        aggregate = torch.logsumexp(others, 0)
    elif tail_count(loss.r, n - 1) == n - 1:
        aggregate = others.mean(0)
    else:
        k = tail_count(loss.r, n - 1)
        mu = bisected_threshold(others.detach(), k, loss.beta)
        q = torch.sigmoid(loss.beta * (others - mu))
        mu = mu + (q.sum(0) - k) / (loss.beta * q * (1 - q)).sum(0).detach()  # its derivative in the scores
        aggregate = mu + torch.nn.functional.softplus(others - mu, beta=loss.beta, threshold=600).sum(0) / k
    return -torch.nn.functional.logsigmoid(S.diagonal() - aggregate).mean()


def bisected_threshold(x, k, beta):
    low, high = x.amin(0) - 40 / beta, x.amax(0) + 40 / beta
    for _ in range(200):
        middle = 0.5 * (low + high)
        above = torch.sigmoid(beta * (x - middle)).sum(0) > k
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return middle


def problem(n, d, scale, seed=0):
    W, D = torch.randn(2, d, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return gaussian_pairs(n, d, seed=seed), scale * W, D


def relative(x, y):
    return float(((x - y).abs().max() / y.abs().max()).detach())


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (40, 7)])
def test_value_gradient_and_hessian_product_against_autograd(loss, n, d, monkeypatch):
    monkeypatch.setattr(passes, "block_columns", lambda *_, **__: 7)
    # beyond that a tail average of so few scores is flat, and its curvature is rounding
    pairs, W, D = problem(n, d, min(2.0, 9 / getattr(loss, "beta", 1)))
    free = W.clone().requires_grad_()
    value = dense_loss(loss, pairs.U.T @ free @ pairs.V)
    (gradient,) = torch.autograd.grad(value, free, create_graph=True)
    (product,) = torch.autograd.grad((gradient * D).sum(), free)
    done = loss_pass(pairs, loss, W)
    assert done.loss == pytest.approx(value.item(), rel=1e-12)
    assert relative(done.gradient, gradient) < 1e-10
    assert relative(hessian_pass(pairs, loss, W, D), product) < 1e-10


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_dense_hessian_is_the_product_with_every_direction(loss):
    pairs, W, D = problem(30, 5, min(2.0, 9 / getattr(loss, "beta", 1)))
    product = (dense_hessian(pairs, loss, W) @ D.reshape(-1)).reshape(5, 5)
    assert relative(product, hessian_pass(pairs, loss, W, D)) < 1e-12


def test_dense_hessian_with_the_thresholds_held_is_that_of_the_joint_form():
    """Definition 2."""
    loss = TailAverage(0.3, 3.0)
    pairs, W, D = problem(30, 5, 1.0)
    mu = loss_pass(pairs, loss, W).mu
    high, low = (joint_pass(pairs, loss, W + t * D, mu)[1] for t in (1e-5, -1e-5))
    product = dense_hessian(pairs, loss, W, profiled=False) @ D.reshape(-1)
    assert relative(product.reshape(5, 5), (high - low) / 2e-5) < 1e-7


@pytest.mark.parametrize("loss", LOSSES[1:], ids=str)
def test_joint_form_against_autograd_and_its_minimum_over_the_thresholds(loss):
    pairs, W, _ = problem(40, 7, min(2.0, 9 / loss.beta))
    free = W.clone().requires_grad_()
    mu = torch.linspace(-2, 2, 40, dtype=torch.float64).requires_grad_()
    S = pairs.U.T @ free @ pairs.V
    k = tail_count(loss.r, 39)
    softplus = torch.nn.functional.softplus(S - mu, beta=loss.beta, threshold=600)
    c = mu + (softplus.sum(0) - softplus.diagonal()) / k
    value = -torch.nn.functional.logsigmoid(S.diagonal() - c).mean()
    gradients = torch.autograd.grad(value, (free, mu))
    found, *ours = joint_pass(pairs, loss, W, mu.detach())
    assert found == pytest.approx(value.item(), rel=1e-12)
    for mine, theirs in zip(ours, gradients, strict=True):
        assert relative(mine, theirs) < 1e-10
    best = loss_pass(pairs, loss, W)
    assert best.loss <= found
    if loss.r < 1:
        at_best, gradient, slope = joint_pass(pairs, loss, W, best.mu)
        assert at_best == pytest.approx(best.loss, rel=1e-12)
        assert relative(gradient, best.gradient) < 1e-10
        assert slope.abs().max() < 1e-12


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_float32_follows_float64(loss):
    pairs, W, D = problem(30, 5, 2.0)
    single = gaussian_pairs(30, 5, seed=0, dtype=torch.float32)
    exact, rough = loss_pass(pairs, loss, W), loss_pass(single, loss, W.float())
    assert rough.gradient.dtype == torch.float32
    assert relative(rough.gradient.double(), exact.gradient) < 1e-4
    product = hessian_pass(single, loss, W.float(), D.float()).double()
    assert relative(product, hessian_pass(pairs, loss, W, D)) < 1e-3


def test_cross_entropy_is_a_logistic_loss_of_the_margin():
    """Equation ce-structural."""
    pairs, W, _ = problem(20, 6, 3.0)
    S = pairs.U.T @ W @ pairs.V
    softmax_form = torch.nn.functional.cross_entropy(S.T, torch.arange(20))
    done = loss_pass(pairs, CrossEntropy(), W)
    assert done.loss == pytest.approx(softmax_form.item(), rel=1e-13)
    assert done.loss == pytest.approx(-torch.nn.functional.logsigmoid(done.margins).mean().item(), rel=1e-13)


def test_one_competitor_in_the_tail_of_a_sharp_loss_is_the_retrieval_margin():
    pairs, W, _ = problem(12, 5, 3.0)
    sharp = loss_pass(pairs, TailAverage(1 / 11, 1e4), W)
    torch.testing.assert_close(sharp.margins, retrieval_margins(pairs, W), rtol=0, atol=1e-3)


@given(st.integers(0, 99), st.floats(0.02, 0.98), st.floats(0.1, 100), st.floats(0.1, 100))
def test_threshold_equation_is_solved(seed, r, beta, scale):
    x = scale * torch.randn(60, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    k = tail_count(r, 59)
    x[0] = -torch.inf
    for guess in (-1e3, 0.0, 1e3):
        start = torch.full((4,), guess, dtype=torch.float64)
        mu, q = tail_threshold(x, start, start.abs() * 1e-2, k, 59, beta)
        assert torch.allclose(q.sum(0), torch.full((4,), k, dtype=torch.float64), rtol=1e-11)
        assert torch.allclose(q, torch.sigmoid(beta * (x - mu)), rtol=1e-12)
        doubt, narrow = start.abs() * 1e-2, torch.zeros_like(start)
        compiled, excess = columns_cpu.tail(T := x.clone(), start, doubt, narrow, k, beta)
        assert torch.allclose(T, q / k, rtol=0, atol=1e-10)
        assert torch.allclose(T.sum(0), torch.ones(4, dtype=torch.float64), rtol=1e-11)
        value = mu + torch.nn.functional.softplus(x - mu, beta=beta, threshold=100).sum(0) / k
        assert torch.allclose(compiled + excess / k, value, rtol=1e-12, atol=1e-12 / beta)


@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.15, 30.0), TailAverage(0.9, 0.5)])
@pytest.mark.parametrize("scale", [0.1, 3.0, 200.0])
def test_the_compiled_way_and_the_way_of_tensors_agree(loss, scale, monkeypatch):
    pairs, W, _ = problem(70, 9, scale)
    ours = loss_pass(pairs, loss, W)
    joint = isinstance(loss, TailAverage) and joint_pass(pairs, loss, W, ours.mu + 0.1)
    monkeypatch.setattr(columns_cpu, "suits", lambda x: False)
    theirs = loss_pass(pairs, loss, W)
    for name in ("gradient", "margins"):  # a flat stair leaves the threshold open
        torch.testing.assert_close(getattr(ours, name), getattr(theirs, name), rtol=1e-10, atol=1e-10)
    if joint:
        for mine, other in zip(joint, joint_pass(pairs, loss, W, ours.mu + 0.1), strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-11, atol=1e-12)


def test_the_value_keeps_its_digits_where_keys_fail_by_far():
    pairs, W, _ = problem(60, 8, 40.0)
    done = loss_pass(pairs, CrossEntropy(), W)
    assert float((done.margins < -20).double().mean()) > 0.1
    S = pairs.U.T @ W @ pairs.V
    exact = (S.logsumexp(dim=0) - S.diagonal()).mean()
    assert done.loss == pytest.approx(float(exact), rel=1e-15)


def test_scores_too_large_to_be_squared_are_refused():
    pairs, W, _ = problem(20, 4, 1.0)
    for factor in (1e160, 1e300):
        with pytest.raises(ValueError, match="W: scores of up to .* whose squares overflow"):
            loss_pass(pairs, TailAverage(0.15, 30.0), factor * W)


def test_compiled_exponentials_are_right_to_the_last_digits():
    x, E = np.linspace(-24, 24, 40_001), np.empty(40_001)
    columns_cpu._exponentials(x, 0.5, 30.0, E, np.empty_like(x))
    argument = 30 * (0.5 - x)
    inside = np.abs(argument) < columns_cpu.LARGEST_POWER
    np.testing.assert_allclose(E[inside], np.exp(argument[inside]), rtol=5e-16)
    assert np.all(E[~inside & (argument > 0)] > 1e304)
    assert np.all(E[~inside & (argument < 0)] < 1e-303)


def test_threads_and_layout_change_nothing(monkeypatch):
    monkeypatch.setattr(columns_cpu, "WORTH_A_THREAD", 0)
    pairs, W, _ = problem(300, 6, 5.0)
    S = (pairs.U.T @ W @ pairs.V).fill_diagonal_(-torch.inf)
    moments = torch.zeros(300, dtype=torch.float64), torch.ones(300, dtype=torch.float64)
    threads, results = torch.get_num_threads(), []
    try:
        for count, layout in ((1, S.T.contiguous().T), (3, S.T.contiguous().T), (2, S.contiguous())):
            torch.set_num_threads(count)
            results.append((*TailAverage(0.2, 10.0).aggregate(T := layout.clone(), moments), T))
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(results[0], other, strict=True))


FIRST_AND_LATER = """
import torch
from assocmem.training import columns_cpu
x = 3 * torch.randn(70, 70, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
x.fill_diagonal_(-torch.inf)
print(columns_cpu.log_sum_exp(T := x.clone()).tolist(), T.tolist())
one = torch.ones(70, dtype=torch.float64)
mu, excess = columns_cpu.tail(T := x.clone(), 3 * one, one, one, 9, 30.0)
print(mu.tolist(), excess.tolist(), T.tolist())
"""


def test_a_process_that_compiles_the_loops_gives_the_digits_of_one_that_finds_them(tmp_path):
    settings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", FIRST_AND_LATER]
    first, later = (subprocess.run(run, capture_output=True, check=True, env=settings) for _ in range(2))
    assert first.stdout == later.stdout


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("law", ["normal", "heavy tails", "two clusters", "ties"])
def test_a_search_among_few_scores_gives_what_the_full_search_gives(law, dtype):
    """The short cut where scores lie far apart; laws that deceive its guess must fall back."""
    generator = torch.Generator().manual_seed(3)
    x = 100 * torch.randn(1500, 6, dtype=torch.float64, generator=generator)
    if law == "heavy tails":
        x = x**3 / 1e4
    elif law == "two clusters":
        x = torch.where(x > 100, x + 400, x)
    elif law == "ties":
        x = 40 * torch.round(x / 40)
    x = x.to(dtype)
    x[7] = -torch.inf
    k = tail_count(0.15, 1499)
    c, mu = TailAverage(0.15, 30.0).aggregate(T := x.clone())
    start = torch.zeros_like(mu)
    exact, q = tail_threshold(x, start, start + 100, k, 1499, 30.0)
    rough = dtype == torch.float32
    torch.testing.assert_close(T, q / k, rtol=0, atol=1e-5 if rough else 1e-12)
    value = exact + torch.nn.functional.softplus(x - exact, beta=30, threshold=60).sum(0) / k
    torch.testing.assert_close(c, value, rtol=1e-5 if rough else 1e-12, atol=0)
    assert torch.allclose(T.sum(0), torch.ones(6, dtype=dtype), rtol=1e-4 if rough else 1e-11)


@given(st.integers(0, 99), st.floats(0.05, 0.95), st.floats(0.1, 50))
def test_aggregate_lies_between_the_tail_average_and_its_smoothing_error(seed, r, beta):
    x = torch.randn(30, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    k = tail_count(r, 29)
    exact = x[1:].sort(dim=0, descending=True).values[:k].mean(0)
    padded = x.clone()
    padded[0] = -torch.inf
    c, _ = TailAverage(r, beta).aggregate(padded)
    T = padded
    slack = 0 if k == 29 else math.log(2) * 29 / (beta * k)
    assert torch.all(c >= exact - 1e-12)
    assert torch.all(c <= exact + slack + 1e-12)
    assert torch.all(T[0] == 0)
    assert torch.allclose(T.sum(0), torch.ones(3, dtype=torch.float64), rtol=1e-11)


@pytest.mark.parametrize("beta", [0.1, 30.0, 1e4])
@pytest.mark.parametrize("r", [1 / 19, 0.3, 1.0])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_large_scores_ties_and_sharp_smoothing_stay_finite(beta, r, dtype):
    pairs = gaussian_pairs(20, 4, seed=1, dtype=dtype)
    direction = torch.ones(4, 4, dtype=dtype)
    for W in (torch.zeros(4, 4, dtype=dtype), 1e4 * torch.eye(4, dtype=dtype), -1e4 * direction):
        for loss in (CrossEntropy(), TailAverage(r, beta)):
            done = loss_pass(pairs, loss, W)
            product = hessian_pass(pairs, loss, W, direction)
            assert math.isfinite(done.loss)
            assert torch.isfinite(done.gradient).all()
            assert torch.isfinite(product).all()


def test_loss_at_zero_is_that_of_equal_scores():
    pairs, W, _ = problem(20, 4, 0.0)
    assert loss_pass(pairs, CrossEntropy(), W).loss == pytest.approx(math.log(20))
    smooth = loss_pass(pairs, TailAverage(4 / 19, 2.0), W)
    mu = math.log(15 / 4) / 2  # sigmoid(-2 mu) = 4/19
    aggregate = mu + 19 / 4 * math.log1p(math.exp(-2 * mu)) / 2
    torch.testing.assert_close(smooth.margins, torch.full_like(smooth.margins, -aggregate))


@given(st.integers(1, 400), st.data())
def test_tail_count_reads_a_float_as_the_fraction_it_was_written_as(m, data):
    k = data.draw(st.integers(1, m))
    assert tail_count(k / m, m) == k
    assert tail_count(1.0, m) == m


def test_tail_count_where_plain_ceiling_goes_wrong():
    assert tail_count(0.1, 30) == 3
    assert tail_count(0.07, 100) == 7  # 0.07 * 100 = 7.000000000000001
    assert math.ceil(0.07 * 100) == 8
    assert tail_count(1e-9, 50) == 1


@pytest.mark.parametrize(
    ("r", "beta", "message"),
    [(0, 1, "r = 0"), (1.1, 1, "r = 1.1"), (0.5, 0, "beta = 0"), (0.5, math.inf, "beta = inf")],
)
def test_bad_losses_are_refused(r, beta, message):
    with pytest.raises(ValueError, match=message):
        TailAverage(r, beta)


def test_bad_passes_are_refused():
    pairs, W, D = problem(6, 3, 1.0)
    with pytest.raises(ValueError, match="D = .*must be a tensor of shape"):
        hessian_pass(pairs, CrossEntropy(), W, D[:2])
    for mu in (torch.zeros(5), torch.full((6,), torch.inf, dtype=torch.float64)):
        with pytest.raises(ValueError, match=r"mu = .*one finite threshold of torch.float64 for each of 6 k"):
            joint_pass(pairs, TailAverage(0.5, 1.0), W, mu)
