"""Inverses of Hessians against the matrices that they are inverses of."""

import pytest
import torch

from assocmem.pairs.data import gaussian_pairs
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.metric import SHARE_ALONG_W, exact_inverse, less_curvature_along, model_inverse
from assocmem.training.passes import dense_hessian, loss_pass

RIDGE = 1e-3


def problem(loss, n=50, d=6):
    pairs = gaussian_pairs(n, d, seed=1)
    W, D = torch.randn(2, d, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return pairs, W, D, loss_pass(pairs, loss, W, features=True)


def model(pairs, done, ridge):
    """The model Hessian with all of its rank-one terms, but nothing taken off along W, as a matrix."""
    a = torch.sigmoid(-done.margins)
    shared = (ridge + float((a * done.curvature).mean())) / pairs.d**2
    terms = torch.einsum("ai,bi->iab", done.features, pairs.V).reshape(pairs.n, -1)
    weights = a * (1 - a) / pairs.n
    return shared * torch.eye(pairs.d**2, dtype=torch.float64) + terms.T @ (weights[:, None] * terms)


@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.3, 3.0)], ids=str)
def test_the_model_is_inverted(loss):
    pairs, W, D, done = problem(loss)
    H, w = model(pairs, done, RIDGE), (W / W.norm()).reshape(-1)
    a = torch.sigmoid(-done.margins)
    H -= SHARE_ALONG_W * float((a * done.curvature).mean()) / pairs.d**2 * torch.outer(w, w)
    found = model_inverse(pairs, done, W, RIDGE, pairs.n)(D)
    torch.testing.assert_close((H @ found.reshape(-1)).reshape(D.shape), D)
    at_zero = model_inverse(pairs, done, 0 * W, RIDGE, pairs.n)(D)
    torch.testing.assert_close((model(pairs, done, RIDGE) @ at_zero.reshape(-1)).reshape(D.shape), D)


def test_a_model_without_terms_is_a_multiple_of_the_identity_with_the_same_trace():
    pairs, W, D, done = problem(CrossEntropy())
    found = model_inverse(pairs, done, W, RIDGE, 0)(D)
    mean = float(model(pairs, done, RIDGE).diagonal().mean())
    torch.testing.assert_close(found, D / mean)


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
    inverse = less_curvature_along(W, 1.5, lambda X: X / 2)
    torch.testing.assert_close(inverse(W), W / 0.5)
    across = torch.tensor([[4.0, 1.0], [2.0, -3.0]], dtype=torch.float64)
    torch.testing.assert_close(inverse(across), across / 2)


@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.3, 3.0)], ids=str)
def test_the_exact_hessian_is_inverted(loss):
    pairs, W, D, _ = problem(loss)
    H = dense_hessian(pairs, loss, W)
    H.diagonal().add_(RIDGE / pairs.d**2)
    found = exact_inverse(pairs, loss, W, RIDGE)(D)
    torch.testing.assert_close((H @ found.reshape(-1)).reshape(D.shape), D)
