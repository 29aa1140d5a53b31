"""The list loss: derivatives, the gap, limits in which others know the answer, and honesty."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from assocmem.pairs.data import Facts, Pairs, gaussian_pairs
from assocmem.training.list_fit import fit_list, list_fit_bytes
from assocmem.training.list_loss import list_hessian_product, list_level, list_pass


def some_facts(seed=0, m=6, n=25, d_out=5, d_in=4):
    draw = np.random.default_rng(seed)
    targets, keys = draw.normal(size=(d_out, m)) / d_out**0.5, draw.normal(size=(d_in, n)) / d_in**0.5
    return Facts(targets, keys, draw.integers(m, size=n))


def memory(pairs, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(pairs.d_out, pairs.d_in)))


def plain_loss(pairs, r, W):
    """The definition, for torch to differentiate."""
    Z, q = W @ pairs.V, norm.isf(r)
    margins = (pairs.answered() * Z).sum(dim=0) - q * (Z * Z).sum(dim=0).sqrt() / pairs.d_out**0.5
    return torch.nn.functional.softplus(-margins).mean()


PROBLEMS = [gaussian_pairs(30, 5, seed=1), some_facts(), Facts(torch.ones(1, 2), torch.ones(3, 1), [1])]


@pytest.mark.parametrize("r", [0.5, 0.3, 0.05])
@pytest.mark.parametrize("pairs", PROBLEMS, ids=["pairs", "facts", "one fact"])
def test_derivatives_are_those_of_the_definition(pairs, r):
    pairs = pairs.with_vectors(pairs.U.double(), pairs.V.double())
    W, D = memory(pairs).requires_grad_(True), memory(pairs, seed=2)
    loss = plain_loss(pairs, r, W)
    (gradient,) = torch.autograd.grad(loss, W, create_graph=True)
    (product,) = torch.autograd.grad((gradient * D).sum(), W)
    done = list_pass(pairs, r, W)
    assert done.loss == pytest.approx(float(loss.detach()), rel=1e-13)
    torch.testing.assert_close(done.gradient, gradient.detach(), rtol=1e-11, atol=1e-13)
    torch.testing.assert_close(list_hessian_product(pairs, r, W, D), product, rtol=1e-10, atol=1e-12)
    Z = W.detach() @ pairs.V
    torch.testing.assert_close((done.features * Z).sum(dim=0), done.margins, rtol=1e-11, atol=1e-13)
    a = torch.sigmoid(-done.margins)
    torch.testing.assert_close(-(done.features * a) @ pairs.V.T / pairs.n, done.gradient)
    torch.testing.assert_close(done.spreads, torch.linalg.vector_norm(Z, dim=0) / pairs.d_out**0.5)
    assert list_pass(pairs, r, W, features=False).features is None


def test_the_gradient_is_a_difference_quotient_and_the_hessian_one_of_gradients():
    pairs, r, step = gaussian_pairs(20, 4, seed=3), 0.2, 1e-6
    W, D = memory(pairs), memory(pairs, seed=5)
    up, down = list_pass(pairs, r, W + step * D), list_pass(pairs, r, W - step * D)
    along = float((list_pass(pairs, r, W).gradient * D).sum())
    assert (up.loss - down.loss) / (2 * step) == pytest.approx(along, rel=1e-7)
    quotient = (up.gradient - down.gradient) / (2 * step)
    torch.testing.assert_close(list_hessian_product(pairs, r, W, D), quotient, rtol=1e-6, atol=1e-9)


def test_margins_are_homogeneous_and_blocks_do_not_show(monkeypatch):
    pairs = gaussian_pairs(50, 6, seed=2)
    W = memory(pairs)
    once, twice = list_pass(pairs, 0.15, W), list_pass(pairs, 0.15, 2 * W)
    torch.testing.assert_close(twice.margins, 2 * once.margins)
    torch.testing.assert_close(twice.features, once.features)
    torch.testing.assert_close((once.features * (W @ pairs.V)).sum(dim=0), once.margins)
    monkeypatch.setattr("assocmem.training.list_loss.BLOCK_ENTRIES", 20)
    blocks = list_pass(pairs, 0.15, W)
    torch.testing.assert_close(blocks.gradient, once.gradient)
    torch.testing.assert_close(blocks.features, once.features)


def test_the_level_is_the_quantile_of_the_normal_law():
    assert list_level(0.5) == 0
    for r in (0.3, 0.15, 1e-3, 1e-20):
        assert norm.sf(list_level(r)) == pytest.approx(r, rel=1e-12)


def test_a_signal_above_the_level_is_in_the_top_share_of_fresh_competitors():
    pairs, W, r = gaussian_pairs(40, 30, seed=4), torch.eye(30, dtype=torch.float64), 0.15
    others = gaussian_pairs(20_000, 30, seed=5).U
    S = others.T @ W @ pairs.V
    done = list_pass(pairs, r, W)
    level = (pairs.U * (W @ pairs.V)).sum(dim=0) - done.margins
    share = (level < S).double().mean(dim=0)
    assert float((share - r).abs().max()) < 5 * math.sqrt(r * (1 - r) / 20_000)


@pytest.mark.parametrize("r", [0.5, 0.15])
def test_the_gap_bounds_the_distance_from_a_much_tighter_fit(r):
    pairs, ridge, seen = gaussian_pairs(60, 12, seed=1), 1e-4, []
    c = ridge / 144

    def see(W, done):
        objective = done.loss + c / 2 * float((W * W).sum())
        gradient = done.gradient + c * W
        seen.append((objective, float((gradient * gradient).sum()) / (2 * c)))
        return False

    tight = fit_list(pairs, r, ridge=ridge, tol=1e-11)
    found = fit_list(pairs, r, ridge=ridge, tol=1e-5, until=see)
    assert tight.converged and found.converged and found.gap <= 1e-5
    assert len(seen) > 10
    for objective, gap in seen:
        assert objective - gap <= tight.objective * (1 + 1e-12)
    assert tight.objective * (1 - 1e-12) <= found.objective <= tight.objective * (1 + 1e-5)
    assert found.nu == pytest.approx(float(found.W.norm()) / 12)
    assert found.objective == pytest.approx(found.loss + ridge / 2 * found.nu**2)
    torch.testing.assert_close(found.margins, list_pass(pairs, r, found.W).margins)


def test_half_of_the_list_is_logistic_regression():
    pairs, ridge = gaussian_pairs(70, 6, seed=2), 1e-2
    X = (pairs.U[:, None] * pairs.V[None]).reshape(36, 70).numpy()

    def objective(w):
        m = w @ X
        slope = -(X * expit(-m)).mean(axis=1) + ridge / 36 * w
        return np.logaddexp(0, -m).mean() + ridge / 72 * w @ w, slope

    best = minimize(objective, np.zeros(36), jac=True, method="BFGS", options={"gtol": 1e-10})
    found = fit_list(pairs, 0.5, ridge=ridge, tol=1e-9)
    assert found.objective == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(found.W.numpy().ravel(), best.x, atol=1e-3 * np.abs(best.x).max())


@pytest.mark.parametrize("r", [0.3, 0.1])
def test_the_minimum_is_that_of_another_method_in_few_dimensions(r):
    pairs, ridge = some_facts(3), 1e-2

    def objective(w):
        W = torch.from_numpy(w.reshape(5, 4)).requires_grad_(True)
        value = plain_loss(pairs, r, W) + ridge / 40 * (W * W).sum()
        value.backward()
        return value.item(), W.grad.numpy().ravel()

    starts = [np.random.default_rng(s).normal(size=20) for s in range(3)]
    values = [minimize(objective, w, jac=True, method="BFGS").fun for w in starts]
    assert fit_list(pairs, r, ridge=ridge, tol=1e-9).objective == pytest.approx(min(values), rel=1e-6)


@pytest.mark.parametrize(("d", "load"), [(20, 0.3), (20, 0.47), (20, 0.7), (8, 0.02)])
def test_fits_reach_the_tolerance(d, load):
    pairs = gaussian_pairs(max(2, round(load * d * d)), d, seed=1)
    found = fit_list(pairs, 0.15, ridge=1e-6)
    assert found.converged and found.gap <= 1e-6
    again = fit_list(pairs, 0.15, ridge=1e-6, W0=found.W)
    assert again.converged and again.passes == 1


def test_beyond_a_load_no_memory_is_the_best_one():
    pairs = gaussian_pairs(480, 20, seed=1)  # 1.2 d^2, while 1 / q^2 is 0.93
    found = fit_list(pairs, 0.15, ridge=1e-6)
    assert found.converged and found.nu == 0 and found.loss == pytest.approx(math.log(2))
    for seed in range(20):  # any memory, small or large, costs more
        W = memory(pairs, seed)
        for size in (1e-3, 1.0):
            assert list_pass(pairs, 0.15, size * W).loss > found.loss
    assert fit_list(gaussian_pairs(240, 20, seed=1), 0.15, ridge=1e-6).nu > 0.1


def test_a_fit_that_stops_early_says_so():
    pairs = gaussian_pairs(180, 20, seed=1)
    found = fit_list(pairs, 0.15, ridge=1e-6, max_passes=12)
    assert not found.converged and found.passes == 12 and found.gap > 1e-6
    best = fit_list(pairs, 0.15, ridge=1e-6).objective
    assert found.objective * (1 - found.gap) <= best * (1 + 1e-6)
    stopped = fit_list(pairs, 0.15, ridge=1e-6, until=lambda W, done: float(done.margins.min()) > 0)
    assert float(stopped.margins.min()) > 0


@pytest.mark.parametrize("size", [1e-20, 1e-6, 1e6, 1e20])
def test_units_of_the_keys_do_not_matter(size):
    pairs = gaussian_pairs(60, 12, seed=1)
    scaled = Pairs(pairs.U, size * pairs.V)
    W = memory(pairs)
    torch.testing.assert_close(list_pass(scaled, 0.2, W / size).margins, list_pass(pairs, 0.2, W).margins)
    found = fit_list(scaled, 0.2, ridge=1e-4 * size**2)
    assert found.converged
    assert found.loss == pytest.approx(fit_list(pairs, 0.2, ridge=1e-4).loss, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"r": 0.6}, "r = 0.6"),
        ({"r": 0.0}, "r = 0"),
        ({"ridge": 0.0}, "ridge = 0"),
        ({"ridge": 1e-320}, "ridge = "),
        ({"tol": -1}, "tol = -1"),
        ({"max_passes": 0}, "max_passes = 0"),
        ({"W0": torch.zeros(2, 2)}, "W0 = "),
        ({"until": 3}, "until = 3"),
        ({"pairs": "pairs"}, "pairs = 'pairs'"),
    ],
)
def test_bad_arguments_get_one_line(change, text):
    arguments = {"pairs": gaussian_pairs(12, 4, seed=1), "r": 0.3, "ridge": 0.1} | change
    with pytest.raises(ValueError, match=text) as error:
        fit_list(**arguments)
    assert "\n" not in str(error.value)


def test_vectors_whose_squares_overflow_are_refused():
    pairs = gaussian_pairs(12, 4, seed=1)
    for size in (1e100, 1e-100):
        with pytest.raises(ValueError, match="pairs = 'lengths of up to"):
            fit_list(Pairs(size * pairs.U, size * pairs.V), 0.3, ridge=0.1)


def test_degenerate_vectors_are_fitted():
    zero = torch.zeros(3, 4, dtype=torch.float64)
    pairs = gaussian_pairs(4, 3, seed=1)
    for given in (Pairs(zero, pairs.V), Pairs(pairs.U, zero)):
        found = fit_list(given, 0.2, ridge=0.1)
        assert found.converged and found.nu == 0
    assert fit_list(Pairs(pairs.U[:, :2], pairs.V[:, :2]), 0.2, ridge=1e-3).converged  # n < d


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr("assocmem.machine.available_bytes", lambda: 2**29)
    with pytest.raises(ValueError, match="pairs = '12 pairs': must be fewer"):
        fit_list(gaussian_pairs(12, 4, seed=1), 0.3, ridge=0.1)
    assert list_fit_bytes(10**5, 500) < 4 * 2**30


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_fit_on_a_card_is_that_on_the_processor():
    there = fit_list(gaussian_pairs(180, 20, seed=1, device="cuda"), 0.15, ridge=1e-6)
    here = fit_list(gaussian_pairs(180, 20, seed=1), 0.15, ridge=1e-6)
    assert there.converged and there.W.device.type == "cuda"
    assert there.objective == pytest.approx(here.objective, rel=2e-6)
