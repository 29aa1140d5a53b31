"""Inverses of Hessians that a step of a fit is taken with: of a model, and of the objective itself.

The margin of key i is nearly linear in W with the gradient ``g_i v_i'``, ``g_i = u_i - U T_i``. The Hessian
of the objective is therefore close to

    c I + sum_i (b_i / n) vec(g_i v_i') vec(g_i v_i')',     b_i = p_i a_i (1 - a_i),

with the weight p_i of the key, or one where facts have no weights,
whose inverse costs one n x n Cholesky factor and then ``O(n d^2 + n^2)`` a product, little beside a pass over
the scores. The identity part c is the ridge plus the mean curvature of the aggregates, less in the direction
of W itself, since a tail average scales with W. In small d the exact Hessian is affordable as a matrix.

Where facts have weights, the curvature of the aggregates is not even in all directions: a few heavy keys make
up most of it. Then ``c I`` becomes ``D -> D K`` with ``K = ridge / d^2 + sum_i p_i a_i sum(C_i) v_i v_i' / (n
d)``, and the rest stays as it is. (Fits of cross-entropy to facts with the frequencies of Zipf's law take up
to four times fewer passes so.)

An inverse is a function from matrices to matrices, both of the shape of a memory.
"""

from collections.abc import Callable

import torch

from assocmem.checks import require, require_callable, require_instance, require_integer, require_number
from assocmem.pairs.data import Facts, Pairs, require_array, times_weights
from assocmem.pairs.scores import require_memory_matrix
from assocmem.training.losses import Loss, require_loss
from assocmem.training.passes import Pass, dense_hessian

Inverse = Callable[[torch.Tensor], torch.Tensor]

METRIC_KEYS = 16_000
"""Keys whose rank-one terms a model keeps at most, so that their factor takes 2 GiB. A model that lacks many
terms is a poor metric, as trials showed."""

SHARE_ALONG_W = 0.95
"""Share of the mean curvature of the aggregates that is taken off along W. A tail average has no curvature
there but for its smoothing; less than the whole keeps the model positive definite. Chosen by trial."""

SMALLEST_WEIGHT = 1e-200
"""Least ``b_i``, a number: the factor divides by it, and keys far from their threshold have ``b_i = 0``."""


def model_inverse(pairs: Pairs | Facts, done: Pass, W: torch.Tensor, ridge: float, most: int) -> Inverse:
    """Inverse of the model Hessian at a memory, by Woodbury's identity.

    Parameters
    ----------
    pairs : Pairs or Facts
    done : Pass
        The pass at this memory, with features.
    W : Tensor, shape (d_out, d_in)
    ridge : float
    most : int
        Rank-one terms that are kept, the largest ones; the others are spread evenly over all directions.
        With none the model is a multiple of the identity.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        For a pass without features, or another argument that does not fit the pairs.
    """
    require_memory_matrix(pairs, W)
    require_instance("done", done, Pass)
    require(done.features is not None, "done", "a pass without features", "one with features")
    require_number("ridge", ridge, 0)
    require_integer("most", most, 0)
    if pairs.weights is not None:
        return _inverse_by_keys(pairs, done, W, ridge, most)
    entries, n = pairs.entries, pairs.n
    a = torch.sigmoid(-done.margins)
    b = (a * (1 - a)).clamp(min=SMALLEST_WEIGHT)
    shared = (ridge + float((a * done.curvature).mean())) / entries
    keys = torch.topk(b, min(n, most)).indices
    g, V = done.features, pairs.V
    traces = b * torch.linalg.vector_norm(g, dim=0) ** 2 * torch.linalg.vector_norm(V, dim=0) ** 2
    c = shared + float(traces.sum() - traces[keys].sum()) / (n * entries)
    if not len(keys):
        return lambda X: X / c
    g, V = g[:, keys], V[:, keys]
    kernel = (g.T @ g).mul_(V.T @ V)
    kernel.diagonal().add_(c * n / b[keys])
    factor = torch.linalg.cholesky(kernel)

    def inverse(X: torch.Tensor) -> torch.Tensor:
        response = torch.linalg.vecdot(g, X @ V, dim=0)
        weights = torch.cholesky_solve(response[:, None], factor)[:, 0]
        return (X - (g * weights) @ V.T) / c

    return less_curvature_along(W, SHARE_ALONG_W * (shared - ridge / entries), inverse)


def _inverse_by_keys(pairs: Facts, done: Pass, W: torch.Tensor, ridge: float, most: int) -> Inverse:
    """`model_inverse` with a curvature of its own for each direction of the keys, for facts with weights."""
    n, g, V = pairs.n, done.features, pairs.V
    a = times_weights(pairs, torch.sigmoid(-done.margins))
    b = (a * torch.sigmoid(done.margins)).clamp(min=SMALLEST_WEIGHT)
    keys = torch.topk(b, min(n, most)).indices
    spread = b * torch.linalg.vector_norm(g, dim=0) ** 2
    spread[keys] = 0
    shared = (V * (a * done.curvature)) @ V.T / (n * pairs.d_out)
    sizes, axes = torch.linalg.eigh(shared + (V * spread) @ V.T / (n * pairs.d_out))
    K_inverse = (axes / (sizes.clamp(min=0) + ridge / pairs.entries)) @ axes.T
    if not len(keys):
        return lambda X: X @ K_inverse
    g, V = g[:, keys], V[:, keys]
    responses = K_inverse @ V
    kernel = (g.T @ g).mul_(V.T @ responses)
    kernel.diagonal().add_(n / b[keys])
    factor = torch.linalg.cholesky(kernel)

    def inverse(X: torch.Tensor) -> torch.Tensor:
        X = X @ K_inverse
        weights = torch.cholesky_solve(torch.linalg.vecdot(g, X @ V, dim=0)[:, None], factor)[:, 0]
        return X - (g * weights) @ responses.T

    # less the aggregates' curvature along W: what is left of it has no negative direction
    along = W @ shared
    curvature = float((along * W).sum())
    if not curvature > 0:
        return inverse
    response = inverse(along)
    share = SHARE_ALONG_W / (curvature - SHARE_ALONG_W * float((along * response).sum()))
    return lambda X: inverse(X) + share * float((response * X).sum()) * response


def less_curvature_along(W: torch.Tensor, excess: float, inverse: Inverse) -> Inverse:
    """Inverse of a Hessian with ``excess`` taken off its curvature in the direction of W.

    Scaling a memory scales its tail averages, so the aggregates have almost no curvature along W. Taking it
    off is a change of rank one, for which the inverse has a closed form (Sherman and Morrison).

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
        Where it is zero there is no direction, and nothing changes.
    excess : float
    inverse : callable
        Inverse of the Hessian as it is.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        For a W that is no matrix, or an excess that is no number.
    """
    require_array("W", W, (None, None))
    require(bool(torch.isfinite(W).all()), "W", "a matrix with inf or nan", "finite")
    require_number("excess", excess)
    require_callable("inverse", inverse)
    W = W.detach()
    length = float(W.norm())
    if length == 0:
        return inverse
    w = W / length
    response = inverse(w)
    require_array("inverse", response, tuple(W.shape))
    share = excess / (1 - excess * float((w * response).sum()))

    def corrected(X: torch.Tensor) -> torch.Tensor:
        Y = inverse(X)
        return Y + share * float((w * Y).sum()) * response

    return corrected


def exact_inverse(pairs: Pairs | Facts, loss: Loss, W: torch.Tensor, ridge: float) -> Inverse:
    """Inverse of the objective's Hessian at a memory, by a dense Cholesky factor in ``O(d^6)`` for pairs.

    A step with it is one of Newton's method.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    W : Tensor, shape (d_out, d_in)
    ridge : float

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        For a loss, a memory or a ridge that is none.
    """
    require_memory_matrix(pairs, W)
    require_loss(loss)
    require_number("ridge", ridge, 0)
    H = dense_hessian(pairs, loss, W)
    H.diagonal().add_(ridge / pairs.entries)
    factor = torch.linalg.cholesky(H)
    return lambda X: torch.cholesky_solve(X.reshape(-1, 1), factor).reshape(X.shape)
