"""Facts with weights: every mean of losses is that of keys which are there as often as they weigh."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from assocmem.pairs.data import Facts, gaussian_pairs
from assocmem.pairs.tail_average import smoothed_threshold
from assocmem.training import descent
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import dense_hessian, hessian_pass, joint_pass, loss_pass

LOSSES = [CrossEntropy(), TailAverage(0.3, 2.0), TailAverage(0.15, 30.0), TailAverage(1.0, 2.0)]


def draw_facts(d_out, d_in, m, n, seed, *, spread=2.0):
    """Gaussian vectors, answers at random, weights over some orders of magnitude, and a memory."""
    rng = np.random.default_rng(seed)
    U, V = rng.standard_normal((d_out, m)), rng.standard_normal((d_in, n))
    weights = np.exp(spread * rng.standard_normal(n))
    return Facts(U, V, rng.integers(m, size=n), weights), torch.from_numpy(rng.standard_normal((d_out, d_in)))


def zipf_facts(n, d, s, seed=0):
    """Pairs of the paper, asked with the frequencies of Zipf's law."""
    pairs = gaussian_pairs(n, d, seed=seed)
    return Facts(pairs.U, pairs.V, weights=np.arange(1.0, n + 1) ** -s)


def repeated(facts, times):
    """Each key as often as it is said, without weights."""
    which = torch.repeat_interleave(torch.arange(facts.n), torch.as_tensor(times))
    return Facts(facts.targets, facts.keys[:, which], facts.answers[which])


def plain_loss(facts, loss, W):
    """The mean loss of a memory from the definition, with what PyTorch needs to differentiate it."""
    S = facts.targets.T @ W @ facts.keys
    own = torch.zeros_like(S, dtype=torch.bool)
    own[facts.answers, torch.arange(facts.n)] = True
    signal, rivals = S.T[own.T], S.T[~own.T].reshape(facts.n, facts.m - 1)
    if isinstance(loss, CrossEntropy):
        c = torch.logsumexp(rivals, dim=1)
    elif loss.tail(facts.m - 1) == facts.m - 1:
        c = rivals.mean(dim=1)
    else:  # at its minimum over the threshold, so the threshold needs no derivative
        mu = smoothed_threshold(rivals.detach().numpy(), loss.r, loss.beta)
        z = loss.beta * (rivals - torch.from_numpy(np.asarray(mu))[:, None])
        excess = torch.logaddexp(z, torch.zeros_like(z)).sum(dim=1)
        c = torch.from_numpy(np.asarray(mu)) + excess / (loss.beta * loss.tail(facts.m - 1))
    losses = torch.logaddexp(c - signal, torch.zeros_like(c))
    return (losses * facts.weights / facts.weights.sum()).sum()


sizes = st.tuples(
    st.integers(1, 4), st.integers(1, 4), st.integers(3, 9), st.integers(1, 12), st.integers(0, 99)
)


@given(sizes, st.sampled_from(LOSSES))
def test_a_pass_is_the_weighted_mean_of_the_definition(size, loss):
    facts, W = draw_facts(*size)
    W.requires_grad_()
    expected = plain_loss(facts, loss, W)
    (gradient,) = torch.autograd.grad(expected, W)
    found = loss_pass(facts, loss, W, features=True)
    assert found.loss == pytest.approx(expected.item(), rel=1e-11)
    torch.testing.assert_close(found.gradient, gradient, rtol=1e-8, atol=1e-10)
    a = facts.weights * torch.sigmoid(-found.margins) / facts.n
    torch.testing.assert_close(-(found.features * a) @ facts.keys.T, gradient, rtol=1e-8, atol=1e-10)
    if not bool(torch.isfinite(found.mu).all()) or isinstance(loss, CrossEntropy):
        return
    value, joint, slope = joint_pass(facts, loss, W, found.mu)
    assert value == pytest.approx(found.loss, rel=1e-11)
    torch.testing.assert_close(joint, gradient, rtol=1e-7, atol=1e-9)
    assert float(slope.abs().max()) < 1e-11


def test_the_joint_form_has_the_derivatives_of_its_value():
    (facts, W), loss, h = draw_facts(3, 4, 7, 10, 1), TailAverage(0.4, 3.0), 1e-5
    mu = loss_pass(facts, loss, W).mu + 0.3
    _, gradient, slope = joint_pass(facts, loss, W, mu)
    rng = np.random.default_rng(3)
    D, e = torch.from_numpy(rng.standard_normal(tuple(W.shape))), torch.from_numpy(rng.standard_normal(10))
    ends = [joint_pass(facts, loss, W + t * h * D, mu + t * h * e)[0] for t in (-1, 1)]
    found = float((gradient * D).sum() + (slope * e).sum())
    assert found == pytest.approx((ends[1] - ends[0]) / (2 * h), rel=1e-7)


@given(sizes, st.sampled_from(LOSSES))
def test_hessians_are_the_derivatives_of_gradients(size, loss):
    facts, W = draw_facts(*size)
    D, h = torch.from_numpy(np.random.default_rng(7).standard_normal(tuple(W.shape))), 1e-5
    ends = [loss_pass(facts, loss, W + t * h * D).gradient for t in (-1, 1)]
    product = hessian_pass(facts, loss, W, D)
    torch.testing.assert_close(product, (ends[1] - ends[0]) / (2 * h), rtol=1e-4, atol=1e-5)
    H = dense_hessian(facts, loss, W)
    torch.testing.assert_close((H @ D.reshape(-1)).reshape(D.shape), product, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_key_of_weight_two_is_a_key_that_is_there_twice(loss):
    rng = np.random.default_rng(0)
    times = rng.integers(1, 5, size=20)
    facts = Facts(rng.standard_normal((4, 9)), rng.standard_normal((3, 20)), rng.integers(9, size=20), times)
    again = repeated(facts, times)
    W, D = torch.from_numpy(rng.standard_normal((2, 4, 3)))
    for features in (False, True):
        one, other = (loss_pass(x, loss, W, features=features) for x in (facts, again))
        assert one.loss == pytest.approx(other.loss, rel=1e-13)
        torch.testing.assert_close(one.gradient, other.gradient, rtol=1e-12, atol=1e-14)
    one, other = (hessian_pass(x, loss, W, D) for x in (facts, again))
    torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-13)
    one, other = (dense_hessian(x, loss, W, profiled=False) for x in (facts, again))
    torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-13)
    one, other = (fit(x, loss, ridge=1e-3, tol=1e-10) for x in (facts, again))
    assert one.converged
    assert other.converged
    assert one.objective == pytest.approx(other.objective, rel=1e-9)
    torch.testing.assert_close(one.W, other.W, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_equal_weights_are_none(loss):
    facts, W = draw_facts(4, 3, 7, 40, 0)
    plain, equal = facts.unweighted(), Facts(facts.targets, facts.keys, facts.answers, [7] * 40)
    one, other = (loss_pass(x, loss, W) for x in (plain, equal))
    assert one.loss == pytest.approx(other.loss, rel=1e-14)
    torch.testing.assert_close(one.gradient, other.gradient, rtol=1e-13, atol=1e-15)
    assert fit(plain, loss, ridge=1e-2).objective == pytest.approx(fit(equal, loss, ridge=1e-2).objective)


def minimum(facts, loss, ridge):
    """The least objective by SciPy's L-BFGS-B, run to the end of its precision."""
    shape, c = (facts.d_out, facts.d_in), ridge / facts.entries

    def f(w):
        W = torch.from_numpy(w.reshape(shape))
        done = loss_pass(facts, loss, W)
        value = done.loss + c / 2 * float((W * W).sum())
        return value / ridge, ((done.gradient + c * W) / ridge).numpy().ravel()

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 0, "gtol": 0, "maxcor": 30}
    zero = np.zeros(facts.entries)
    return minimize(f, zero, jac=True, method="L-BFGS-B", options=options).fun * ridge


@pytest.mark.parametrize(
    ("loss", "n", "d", "s", "ridge"),
    [
        (CrossEntropy(), 60, 8, 1.2, 1e-3),
        (CrossEntropy(), 200, 6, 2.0, 1e-6),
        (TailAverage(0.15, 5.0), 150, 12, 1.5, 1e-5),
        (TailAverage(0.15, 1.0), 100, 8, 3.0, 1e-3),
    ],
    ids=str,
)
@pytest.mark.parametrize("exact", [0, 40], ids=["l-bfgs", "newton"])
def test_the_gap_bounds_the_distance_from_an_independent_minimum(loss, n, d, s, ridge, exact, monkeypatch):
    monkeypatch.setattr(descent, "EXACT_DIMENSION", exact)
    facts = zipf_facts(n, d, s)
    found = fit(facts, loss, ridge=ridge, tol=1e-7)
    best = minimum(facts, loss, ridge)
    assert found.converged
    assert best * (1 - 1e-5) <= found.objective <= best * (1 + 1e-7)
    for entry in found.trace:
        if entry["ridge"] == ridge and entry["beta"] == getattr(loss, "beta", None):
            assert entry["objective"] * (1 - entry["gap"]) <= best * (1 + 1e-9)
    weights = np.arange(1.0, n + 1) ** -s
    losses = torch.nn.functional.softplus(-found.margins).numpy()
    assert found.loss == pytest.approx(weights @ losses / weights.sum(), rel=1e-6)
