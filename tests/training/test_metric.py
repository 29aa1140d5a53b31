"""Inverses of Hessians against the matrices that they are inverses of."""

import pytest
import torch

from assocmem.pairs.data import gaussian_pairs
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.metric import SHARE_ALONG_W, Model, exact_inverse, less_curvature_along, model_inverse
from assocmem.training.passes import dense_hessian, loss_pass

RIDGE = 1e-3


def problem(loss, n=50, d=6):
    pairs = gaussian_pairs(n, d, seed=1)
    W, D = torch.randn(2, d, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return pairs, W, D, loss_pass(pairs, loss, W, features=True)


def shared_curvature(pairs, done):
    """The curvature of the aggregates by direction of keys."""
    a = torch.sigmoid(-done.margins)
    return (pairs.V * (a * done.curvature)) @ pairs.V.T / (pairs.n * pairs.d)


def model(pairs, done, ridge):
    """The model Hessian with all of its rank-one terms, but nothing taken off along W, as a matrix."""
    a = torch.sigmoid(-done.margins)
    identity = torch.eye(pairs.d, dtype=torch.float64)
    shared = torch.kron(identity, shared_curvature(pairs, done) + ridge / pairs.d**2 * identity)
    terms = torch.einsum("ai,bi->iab", done.features, pairs.V).reshape(pairs.n, -1)
    weights = a * (1 - a) / pairs.n
    return shared + terms.T @ (weights[:, None] * terms)


@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.3, 3.0)], ids=str)
def test_the_model_is_inverted(loss):
    pairs, W, D, done = problem(loss)
    H, along = model(pairs, done, RIDGE), (W @ shared_curvature(pairs, done)).reshape(-1)
    H -= SHARE_ALONG_W * torch.outer(along, along) / (along @ W.reshape(-1))
    found = model_inverse(pairs, done, W, RIDGE, pairs.n)(D)
    torch.testing.assert_close((H @ found.reshape(-1)).reshape(D.shape), D)
    at_zero = model_inverse(pairs, done, 0 * W, RIDGE, pairs.n)(D)
    torch.testing.assert_close((model(pairs, done, RIDGE) @ at_zero.reshape(-1)).reshape(D.shape), D)


def test_a_model_without_terms_spreads_them_over_all_directions_of_targets():
    pairs, W, D, done = problem(CrossEntropy())
    H = model(pairs, done, RIDGE).reshape(6, 6, 6, 6)
    K = torch.einsum("aiaj->ij", H) / 6
    torch.testing.assert_close(model_inverse(pairs, done, W, RIDGE, 0)(D) @ K, D)


def test_many_terms_are_inverted_in_single_precision_and_several_matrices_at_once(monkeypatch):
    pairs, W, D, done = problem(TailAverage(0.3, 3.0))
    exact = model_inverse(pairs, done, W, RIDGE, pairs.n)(D)
    monkeypatch.setattr("assocmem.training.metric.KEYS_IN_DOUBLE", 10)
    inverse = model_inverse(pairs, done, W, RIDGE, pairs.n)
    for scale in (1.0, 1e-60):  # float32 has no such numbers
        found = inverse(scale * torch.stack([D, 2 * D]))
        torch.testing.assert_close(found[0], scale * exact, rtol=1e-4, atol=1e-5 * scale)
        torch.testing.assert_close(found[1], 2 * found[0], rtol=1e-4, atol=1e-5 * scale)


@pytest.mark.parametrize("ridge", [2e-4, 4e-3, 1e-2])
def test_a_factor_serves_other_ridges_and_scales(ridge):
    """At up to ten times the ridge the scaled inverse is close to the one with a factor of its own."""
    pairs, W, D, done = problem(TailAverage(0.3, 3.0), n=20, d=8)
    made = Model(pairs, done, RIDGE, pairs.n)
    scale, share = made.change(done, ridge)
    assert scale == 1
    K = float(shared_curvature(pairs, done).trace())
    assert share == pytest.approx((K + ridge / 8) / (K + RIDGE / 8), rel=1e-12)
    assert made.serves(done, (1.0, 1.0), closely=True)
    own = Model(pairs, done, ridge, pairs.n).inverse(done, W)(D)
    assert float((made.inverse(done, W, (scale, share))(D) - own).norm()) < 0.15 * float(own.norm())
    if share > 2:  # as it stands it is far off
        assert float((made.inverse(done, W)(D) - own).norm()) > 0.5 * float(own.norm())
        assert not made.serves(done, (scale, share), closely=False)


def test_a_factor_serves_until_keys_or_features_have_moved():
    pairs, W, _, done = problem(TailAverage(0.3, 3.0))
    made = Model(pairs, done, RIDGE, pairs.n)
    near, far = (loss_pass(pairs, TailAverage(0.3, 3.0), W * x, features=True) for x in (1.02, 2.0))
    assert made.serves(near, made.change(near, RIDGE), closely=False)
    assert not made.serves(far, made.change(far, RIDGE), closely=False)
    nearer = loss_pass(pairs, TailAverage(0.3, 3.0), W * 1.001, features=True)
    assert made.serves(nearer, made.change(nearer, RIDGE), closely=True)
    near = loss_pass(pairs, TailAverage(0.3, 3.0), W * 1.1, features=True)
    assert not made.serves(near, made.change(near, RIDGE), closely=True)
    bare = Model(pairs, done, RIDGE, 0)
    assert bare.serves(far, bare.change(far, RIDGE), closely=True)  # it has no factor


def test_the_curvature_of_a_scaled_tail_average_is_that_of_its_margin():
    """Why curvature is taken off along W: with sharp smoothing little but the rank-one terms is there."""
    loss = TailAverage(0.3, 300.0)
    pairs, W, D, done = problem(loss)
    H = dense_hessian(pairs, loss, W)
    a = torch.sigmoid(-done.margins)
    shared = float((a * done.curvature).mean()) / pairs.d**2
    bare = model(pairs, done, 0.0) - shared * torch.eye(pairs.d**2, dtype=torch.float64)
    w, other = (X.reshape(-1) / X.norm() for X in (W, D))
    along, across = (float(x @ (H - bare) @ x) / shared for x in (w, other))
    assert abs(along) < 0.05
    assert across > 0.3


def test_curvature_is_taken_off_in_one_direction():
    W = torch.tensor([[3.0, 0.0], [0.0, 4.0]], dtype=torch.float64)
    inverse = less_curvature_along(W, 1.5 * torch.eye(2, dtype=torch.float64), lambda X: X / 2)
    torch.testing.assert_close(inverse(W), W / 0.5)
    across = torch.tensor([[4.0, 1.0], [2.0, -3.0]], dtype=torch.float64)
    torch.testing.assert_close(inverse(across), across / 2)


def test_an_inverse_from_elsewhere_stays_positive():
    """Taking off more than the Hessian has that was inverted must not turn a direction round."""
    W = torch.tensor([[3.0, 0.0], [0.0, 4.0]], dtype=torch.float64)
    inverse = less_curvature_along(W, 5 * torch.eye(2, dtype=torch.float64), lambda X: X / 2)
    assert float((inverse(W) * W).sum()) > 0


@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.3, 3.0)], ids=str)
def test_the_exact_hessian_is_inverted(loss):
    pairs, W, D, _ = problem(loss)
    H = dense_hessian(pairs, loss, W)
    H.diagonal().add_(RIDGE / pairs.d**2)
    found = exact_inverse(pairs, loss, W, RIDGE)(D)
    torch.testing.assert_close((H @ found.reshape(-1)).reshape(D.shape), D)
