"""Facts with weights: every mean of losses is that of keys which are there as often as they weigh."""

import hashlib

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from assocmem.checks import UnusableState
from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.deciding.lists import decide_list
from assocmem.memories.least_squares import least_squares_memory
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Facts, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins
from assocmem.pairs.tail_average import smoothed_threshold
from assocmem.removal.hessians import Problem
from assocmem.training import descent
from assocmem.training.checkpoints import digest
from assocmem.training.fit import fit
from assocmem.training.gradient_writes import muon_memory, softmax_memory
from assocmem.training.list_fit import fit_list
from assocmem.training.list_loss import list_hessian_product, list_pass
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.metric import model_inverse
from assocmem.training.passes import dense_hessian, hessian_pass, joint_pass, loss_pass
from assocmem.training.precision import PRECISIONS

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


@pytest.mark.parametrize(("most", "ridge"), [(20, 1e-2), (7, 1e-3), (0, 1e-2)])
def test_the_metric_is_the_inverse_of_its_model(most, ridge):
    facts, W = draw_facts(4, 3, 9, 20, 5)
    done = loss_pass(facts, CrossEntropy(), W, features=True)
    a = (facts.weights * torch.sigmoid(-done.margins)).numpy()
    b, g, V = a * torch.sigmoid(done.margins).numpy(), done.features.numpy(), facts.keys.numpy()
    kept, rest = np.argsort(-b)[:most], np.argsort(-b)[most:]
    shared = (V * a) @ V.T / (20 * 4)
    K = shared + (V[:, rest] * b[rest] * (g[:, rest] ** 2).sum(axis=0)) @ V[:, rest].T / (20 * 4)
    H = np.kron(np.eye(4), K + ridge / 12 * np.eye(3))
    for i in kept:
        x = np.outer(g[:, i], V[:, i]).ravel()
        H += b[i] / 20 * np.outer(x, x)
    if most:
        along = (W.numpy() @ shared).ravel()
        H -= 0.95 * np.outer(along, along) / (along @ W.numpy().ravel())
    assert np.linalg.eigvalsh(H).min() > 0
    inverse = model_inverse(facts, done, W, ridge, most)
    X = torch.from_numpy(np.random.default_rng(1).standard_normal((4, 3)))
    found = H @ inverse(X).numpy().ravel()
    np.testing.assert_allclose(found, X.numpy().ravel(), rtol=1e-9, atol=1e-9)


def test_weights_over_many_orders_of_magnitude_take_no_more_passes_than_few():
    facts = zipf_facts(600, 12, 2.0)
    for loss, most in ((CrossEntropy(), 110), (TailAverage(0.15, 1.0), 70)):
        found = fit(facts, loss, ridge=1e-4, max_passes=most)
        assert found.converged
    steep = zipf_facts(300, 10, 6.0)  # weights from 300 to 1e-13
    found = fit(steep, TailAverage(0.15, 1.0), ridge=1e-3, max_passes=200)
    assert found.converged


@pytest.mark.parametrize("precision", ["float32", "tf32"])
def test_cheap_passes_lead_to_the_same_minimum(precision):
    facts, loss = zipf_facts(80, 8, 1.5), CrossEntropy()
    exact, cheap = fit(facts, loss, ridge=1e-2), fit(facts, loss, ridge=1e-2, precision=precision)
    assert cheap.converged
    assert cheap.objective == pytest.approx(exact.objective, rel=2e-6)
    single = facts.with_vectors(facts.U.float(), facts.V.float())
    done, rough = (loss_pass(x, loss, exact.W.to(x.U.dtype), features=True) for x in (facts, single))
    assert rough.gradient.dtype == rough.margins.dtype == torch.float32
    assert rough.loss == pytest.approx(done.loss, rel=1e-5)
    D = torch.ones_like(exact.W)
    product = hessian_pass(single, loss, exact.W.float(), D.float())
    torch.testing.assert_close(product.double(), hessian_pass(facts, loss, exact.W, D), rtol=1e-3, atol=1e-5)


def test_a_fit_goes_on_with_its_own_weights_only(tmp_path):
    facts, loss, file = zipf_facts(80, 8, 1.5), CrossEntropy(), tmp_path / "state"
    broken = fit(facts, loss, ridge=1e-4, max_passes=7, checkpoint=file)
    assert not broken.converged
    again = Facts(facts.U, facts.V, weights=np.arange(1.0, 81) ** -1.5)
    found = fit(again, loss, ridge=1e-4, checkpoint=file)
    assert found.converged
    assert found.passes > broken.passes
    assert found.trace[: broken.passes - 2] == broken.trace[: broken.passes - 2]
    for other in (facts.unweighted(), zipf_facts(80, 8, 1.4), gaussian_pairs(80, 8, seed=0)):
        with pytest.raises(UnusableState, match="of the same pairs, loss and ridge"):
            fit(other, loss, ridge=1e-4, checkpoint=file)


def test_weights_are_the_last_part_of_a_digest():
    facts = zipf_facts(30, 4, 1.5)
    plain, U, V = facts.unweighted(), facts.U.T.contiguous(), facts.V.T.contiguous()
    total = hashlib.sha256(U.numpy().tobytes() + V.numpy().tobytes() + facts.answers.numpy().tobytes())
    assert digest(plain) == total.hexdigest()
    total.update(facts.weights.numpy().tobytes())
    assert digest(facts) == total.hexdigest()


@given(sizes, st.sampled_from([0.05, 0.3, 0.5]))
def test_the_list_loss_is_that_of_repeated_keys(size, r):
    facts, W = draw_facts(*size)
    rng = np.random.default_rng(5)
    times, D = rng.integers(1, 4, size=facts.n), torch.from_numpy(rng.standard_normal(tuple(W.shape)))
    facts = Facts(facts.U, facts.V, facts.answers, times)
    one, other = (
        list_pass(x, r, W, features=features)
        for x, features in ((facts, True), (repeated(facts, times), False))
    )
    assert one.loss == pytest.approx(other.loss, rel=1e-12)
    torch.testing.assert_close(one.gradient, other.gradient, rtol=1e-10, atol=1e-12)
    one, other = (list_hessian_product(x, r, W, D) for x in (facts, repeated(facts, times)))
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("n", "d", "r", "ridge"), [(60, 8, 0.1, 1e-3), (300, 6, 0.3, 1e-2), (400, 5, 0.02, 1e-3)]
)
def test_a_fit_of_the_list_loss_is_that_of_repeated_keys(n, d, r, ridge):
    pairs = gaussian_pairs(n, d, seed=0)
    times = np.random.default_rng(1).integers(1, 6, size=n)
    facts = Facts(pairs.U, pairs.V, weights=times)
    one, other = (fit_list(x, r, ridge=ridge) for x in (facts, repeated(facts, times)))
    assert one.converged
    assert one.objective == pytest.approx(other.objective, rel=2e-6)
    done = list_pass(facts, r, one.W)
    assert one.loss == done.loss
    assert one.objective == pytest.approx(done.loss + ridge / 2 * one.nu**2)


def test_the_list_loss_of_weights_over_many_orders_of_magnitude_is_minimised():
    found = fit_list(zipf_facts(1000, 12, 2.0), 0.15, ridge=1e-4)
    assert found.converged


def test_few_gradient_steps_are_those_of_repeated_keys():
    rng = np.random.default_rng(0)
    times = rng.integers(1, 5, size=20)
    facts = Facts(rng.standard_normal((4, 9)), rng.standard_normal((3, 20)), rng.integers(9, size=20), times)
    other = repeated(facts, times)
    step = 0.02
    found = softmax_memory(facts, steps=3, scale=0.5, step=step * float(times.mean()))
    torch.testing.assert_close(
        found, softmax_memory(other, steps=3, scale=0.5, step=step), rtol=1e-11, atol=1e-12
    )
    one, other = (muon_memory(x, steps=2, rate=0.1) for x in (facts, other))
    torch.testing.assert_close(one, other, rtol=0.05, atol=0.02)


def test_what_does_not_depend_on_weights_takes_no_notice_of_them():
    facts = zipf_facts(60, 8, 2.0)
    plain = facts.unweighted()
    W = least_squares_memory(facts)
    assert torch.equal(W, least_squares_memory(plain))
    assert torch.equal(correlation_memory(facts), correlation_memory(plain))
    assert torch.equal(retrieval_margins(facts, W), retrieval_margins(plain, W))
    for d in (8, 6):
        facts = zipf_facts(40, d, 2.0)
        verdicts = [decide_top1(x) for x in (facts, facts.unweighted())]
        assert verdicts[0].feasible is verdicts[1].feasible
        assert verdicts[0].steps == verdicts[1].steps
        assert verify(verdicts[0].certificate, facts)
        lists = [decide_list(x, 0.2) for x in (facts, facts.unweighted())]
        assert lists[0].feasible is lists[1].feasible
        assert lists[0].passes == lists[1].passes


def test_removals_are_of_pairs():
    with pytest.raises(ValueError, match="pairs"):
        Problem(zipf_facts(20, 4, 1.0), TailAverage(0.3, 2.0), 1e-2)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_card_says_what_a_processor_says(loss):
    facts, W = draw_facts(20, 17, 40, 90, 3)
    there = Facts(facts.U.cuda(), facts.V.cuda(), facts.answers, facts.weights)
    assert there.weights.device.type == "cuda"
    assert torch.equal(there.weights.cpu(), facts.weights)
    assert digest(there) == digest(facts)
    D = torch.ones_like(W)
    for precision in PRECISIONS:
        one, other = (
            loss_pass(x, loss, Y, features=True, precision=precision)
            for x, Y in ((facts, W), (there, W.cuda()))
        )
        share = {"float64": 1e-10, "float32": 1e-4, "tf32x3": 1e-4, "tf32": 5e-2}[precision]
        assert other.loss == pytest.approx(one.loss, rel=share)
        size = float(one.gradient.abs().max())
        torch.testing.assert_close(other.gradient.cpu(), one.gradient, rtol=share, atol=share * size)
    products = [hessian_pass(facts, loss, W, D), hessian_pass(there, loss, W.cuda(), D.cuda()).cpu()]
    torch.testing.assert_close(*products, rtol=1e-7, atol=1e-9)
    fits = [fit(x, loss, ridge=1e-2) for x in (facts, there)]
    assert fits[1].converged
    assert fits[1].objective == pytest.approx(fits[0].objective, rel=2e-6)
    lists = [fit_list(x, 0.2, ridge=1e-2) for x in (facts, there)]
    assert lists[1].objective == pytest.approx(lists[0].objective, rel=2e-6)
