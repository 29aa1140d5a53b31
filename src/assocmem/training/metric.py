"""Inverses of Hessians that a step of a fit is taken with: of a model, and of the objective itself.

The margin of key i is nearly linear in W with the gradient ``g_i v_i'``, ``g_i = u_i - U T_i``. The Hessian
of the objective is therefore close to

    D -> D K + sum_i (b_i / n) <g_i v_i', D> g_i v_i',     b_i = p_i a_i (1 - a_i),

with the weight p_i of the key, or one where facts have no weights. ``K = ridge / d^2 + sum_i p_i a_i sum(C_i)
v_i v_i' / (n d)`` is the ridge and the curvature of the aggregates, as if it were even in all directions of
targets; less of it is there in the direction of W itself, since a tail average scales with W. The inverse
costs one n x n Cholesky factor and then ``O(n d^2 + n^2)`` a product, little beside a pass over the scores.

**One factor for many steps.** A factor costs as much as several passes, and `Model` says when it still
serves. On the way of a fit the whole Hessian shrinks, as the ridge does, and K grows against the rest as the
smoothing sharpens, while the shares of the keys stay what they are. The model with the scale s and ``(1 + x)
K`` in place of K needs no other factor: with ``t = K^1/2 H^-1 K^1/2``, whose eigenvalues lie between 0 and 1,
its inverse has ``t / (1 + x t)`` in place of t. We take ``t + (1 / (1 + x) - 1) t^2``, which is exact at both
ends and in between too large by the share ``t (1 - t) x^2 / (1 + x)``, so by an eighth at most for x from
-1/2 to 1.

In small d the exact Hessian is affordable as a matrix.

An inverse is a function from matrices to matrices, both of the shape of a memory, or from several to several.
"""

import math
from collections.abc import Callable

import torch

from assocmem.checks import require, require_callable, require_instance, require_integer, require_number
from assocmem.pairs.data import Facts, Pairs, describe, is_dense, require_array, times_weights
from assocmem.pairs.scores import require_memory_matrix
from assocmem.training.losses import Loss, require_loss
from assocmem.training.passes import Pass, dense_hessian

Inverse = Callable[[torch.Tensor], torch.Tensor]

Change = tuple[float, float]
"""Scale of a Hessian against that of another memory, and of K against the rest."""

UNCHANGED: Change = (1.0, 1.0)
"""That of the memory itself."""

METRIC_KEYS = 16_000
"""Keys whose rank-one terms a model keeps at most, so that their factor takes 2 GiB. A model that lacks many
terms is a poor metric, as trials showed."""

SHARE_ALONG_W = 0.95
"""Share of the mean curvature of the aggregates that is taken off along W. A tail average has no curvature
there but for its smoothing; less than the whole keeps the model positive definite. Chosen by trial."""

KEYS_IN_DOUBLE = 300
"""Keys up to which the factor is one of float64. Eigenvalues of the model are at most some thousands apart
over the share of K, so that float32 has digits enough, and takes half the time."""

SMALLEST_WEIGHT = 1e-200
"""Least ``b_i``, a number: keys far from their threshold have ``b_i = 0``, and models divide by their sum."""

CHANGED = 0.2
"""Change up to which a factor serves: of the b_i, summed and apart from a common factor, over their sum, and
of the g_i over their lengths."""

CHANGED_SHARE = 2.0
"""Factor by which K may grow or shrink against the rest for a factor to serve."""

CLOSELY = 0.05
"""Share of these changes up to which a factor serves that has done so for long."""

CHANGED_SCALE = 2.0
"""Factor by which the exact Hessian may grow or shrink for its factor to serve."""


class Model:
    """The model of a Hessian at one memory, whose factor serves at others as well.

    Parameters
    ----------
    pairs : Pairs or Facts
    done : Pass
        The pass at this memory, with features.
    ridge : float
    most : int
        Rank-one terms that are kept, the largest ones; the others are spread evenly over all directions of
        targets. With none the model is K alone.

    Raises
    ------
    ValueError
        For a pass without features, or another argument that does not fit the pairs.
    """

    def __init__(self, pairs: Pairs | Facts, done: Pass, ridge: float, most: int):
        require_instance("done", done, Pass)
        require(done.features is not None, "done", "a pass without features", "one with features")
        require_number("ridge", ridge, 0)
        require_integer("most", most, 0)
        self.pairs, self.most, self.features = pairs, most, done.features
        self.bends = _bends(pairs, done)
        n, entries = pairs.n, pairs.entries
        keys = torch.topk(self.bends, min(n, most)).indices
        rest = self.bends * torch.linalg.vector_norm(self.features, dim=0) ** 2
        rest[keys] = 0
        self.rest = (pairs.V * rest) @ pairs.V.T / (n * pairs.d_out)
        self.K = self.rest + _aggregates(pairs, done)
        self.K.diagonal().add_(ridge / entries)
        sizes, axes = torch.linalg.eigh(self.K)
        self.K_inverse = (axes / sizes.clamp(min=ridge / entries)) @ axes.T
        if len(keys):
            kind = torch.float64 if len(keys) <= KEYS_IN_DOUBLE else torch.float32
            self.g = (self.features[:, keys] * (self.bends[keys] / n).sqrt()).to(kind)
            self.v, responses = pairs.V[:, keys], self.K_inverse @ pairs.V[:, keys]
            self.v, self.responses = self.v.to(kind), responses.to(kind)
            kernel = (self.g.T @ self.g).mul_(self.v.T @ self.responses)
            kernel.diagonal().add_(1)
            self.factor = torch.linalg.cholesky(kernel)

    def change(self, done: Pass, ridge: float) -> Change:
        """Scale of the Hessian at another memory against this one, and of K against the rest.

        Parameters
        ----------
        done : Pass
        ridge : float

        Returns
        -------
        scale, share : float
        """
        scale = float(_bends(self.pairs, done).sum() / self.bends.sum()) if self.most else 1.0
        lengths = torch.linalg.vector_norm(self.pairs.V, dim=0) ** 2
        a = times_weights(self.pairs, torch.sigmoid(-done.margins))
        K = (
            float((a * done.curvature) @ lengths) / (self.pairs.n * self.pairs.d_out)
            + ridge / self.pairs.d_out
        )
        return scale, (K / scale + float(self.rest.trace())) / float(self.K.trace())

    def serves(self, done: Pass, change: Change, *, closely: bool) -> bool:
        """Whether the factor is near enough to that of another memory.

        Parameters
        ----------
        done : Pass
            The pass there, with features.
        change : pair of float
            What `change` says of it.
        closely : bool
            Whether to ask for more, as is worth it once the cost of the factor is spread over many steps.

        Returns
        -------
        bool
        """
        if not self.most:
            return True
        strict = CLOSELY if closely else 1.0
        near = CHANGED_SHARE**-strict < change[1] < CHANGED_SHARE**strict
        return near and _changes(self.pairs, self.bends, self.features, done) < strict * CHANGED

    def inverse(self, done: Pass, W: torch.Tensor, change: Change = UNCHANGED) -> Inverse:
        """Inverse of the model Hessian at this memory or another one.

        Parameters
        ----------
        done : Pass
            The pass there.
        W : Tensor, shape (d_out, d_in)
            The memory there.
        change : pair of float
            What `change` says of it; by default it is the memory of the model.

        Returns
        -------
        callable
        """
        require_memory_matrix(self.pairs, W)
        scale, share = change
        if not self.most:
            return lambda X: X @ self.K_inverse / share
        more = 1 / share - 1

        def inverse(X: torch.Tensor) -> torch.Tensor:
            Y = self._times(X)
            return (Y + more * self._times(Y @ self.K) if abs(more) > 0.01 else Y / share) / scale

        return less_curvature_along(W, SHARE_ALONG_W * _aggregates(self.pairs, done), inverse)

    def _times(self, X: torch.Tensor) -> torch.Tensor:
        """The inverse at the memory of the model, by Woodbury's identity."""
        X = X @ self.K_inverse
        size = float(X.abs().max()) or 1.0  # as float32 has no numbers below 1e-38
        response = torch.linalg.vecdot(self.g, (X / size).to(self.g.dtype) @ self.v, dim=-2)
        weights = solve_with_factor(self.factor, response).unsqueeze(-2)
        return X - ((self.g * weights) @ self.responses.T).to(X.dtype) * size


class Exact:
    """The Hessian at one memory by a dense Cholesky factor, in ``O(d^6)`` for pairs.

    A step with it is one of Newton's method.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    done : Pass
        The pass at this memory, with features.
    W : Tensor, shape (d_out, d_in)
        The memory.
    ridge : float

    Raises
    ------
    ValueError
        For a loss, a memory or a ridge that is none.
    """

    def __init__(self, pairs: Pairs | Facts, loss: Loss, done: Pass, W: torch.Tensor, ridge: float):
        self.pairs, self.bends, self.features = pairs, _bends(pairs, done), done.features
        self.times = exact_inverse(pairs, loss, W, ridge)

    def serves(self, done: Pass, change: Change, *, closely: bool) -> bool:
        """Whether the factor is near enough to that of another memory: not if it has to be close.

        Parameters
        ----------
        done : Pass
            The pass there, with features.
        change : pair of float
            Of no account; see `Model.serves`.
        closely : bool

        Returns
        -------
        bool
        """
        scale = float(_bends(self.pairs, done).sum() / self.bends.sum())
        near = 1 / CHANGED_SCALE < scale < CHANGED_SCALE and not closely
        return near and _changes(self.pairs, self.bends, self.features, done) < 0.5 * CHANGED

    def change(self, done: Pass, ridge: float) -> Change:
        """As `Model.change`; nothing is said to change, since the inverse stays what it is.

        Parameters
        ----------
        done : Pass
        ridge : float

        Returns
        -------
        scale, share : float
            One each.
        """
        return UNCHANGED

    def inverse(self, done: Pass, W: torch.Tensor, change: Change = UNCHANGED) -> Inverse:
        """The inverse at the memory of the factor, whatever the arguments.

        Parameters
        ----------
        done : Pass
        W : Tensor, shape (d_out, d_in)
        change : pair of float
            All as in `Model.inverse`.

        Returns
        -------
        callable
        """
        return self.times


def _bends(pairs: Pairs | Facts, done: Pass) -> torch.Tensor:
    """The b_i of a pass."""
    a = torch.sigmoid(-done.margins)
    return times_weights(pairs, a * torch.sigmoid(done.margins)).clamp(min=SMALLEST_WEIGHT)


def _changes(pairs: Pairs | Facts, bends: torch.Tensor, features: torch.Tensor, done: Pass) -> float:
    """The larger change of the b_i and the g_i, as `CHANGED` counts them."""
    b = _bends(pairs, done)
    total = bends.sum()
    changed = (b * (total / b.sum()) - bends).abs().sum() / total
    moved, lengths = (
        b @ torch.linalg.vector_norm(x, dim=0) ** 2 for x in (done.features - features, features)
    )
    return max(float(changed), math.sqrt(float(moved / lengths)) if float(lengths) > 0 else math.inf)


def _aggregates(pairs: Pairs | Facts, done: Pass) -> torch.Tensor:
    """Curvature of the aggregates by direction of keys, shape (d_in, d_in)."""
    a = times_weights(pairs, torch.sigmoid(-done.margins))
    return (pairs.V * (a * done.curvature)) @ pairs.V.T / (pairs.n * pairs.d_out)


def model_inverse(pairs: Pairs | Facts, done: Pass, W: torch.Tensor, ridge: float, most: int) -> Inverse:
    """Inverse of the model Hessian at a memory.

    Parameters
    ----------
    pairs : Pairs or Facts
    done : Pass
        The pass at this memory, with features.
    W : Tensor, shape (d_out, d_in)
    ridge : float
    most : int
        As in `Model`.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        For a pass without features, or another argument that does not fit the pairs.
    """
    require_memory_matrix(pairs, W)
    return Model(pairs, done, ridge, most).inverse(done, W)


def less_curvature_along(W: torch.Tensor, K: torch.Tensor, inverse: Inverse) -> Inverse:
    """Inverse of a Hessian without the curvature that ``D -> D K`` has in the direction of W.

    Scaling a memory scales its tail averages, so the aggregates have almost no curvature along W. Taking off
    ``(W K) (W K)' / <W K, W>``, which leaves no direction negative, is a change of rank one, for which the
    inverse has a closed form (Sherman and Morrison).

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
        Where it is zero there is no direction, and nothing changes.
    K : Tensor, shape (d_in, d_in)
        Symmetric and part of the Hessian.
    inverse : callable
        Inverse of the Hessian as it is.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        For a W or a K that is no such matrix.
    """
    require_array("W", W, (None, None))
    require(bool(torch.isfinite(W).all()), "W", "a matrix with inf or nan", "finite")
    require_array("K", K, (W.shape[1], W.shape[1]), W)
    require_callable("inverse", inverse)
    W = W.detach()
    along = W @ K
    curvature = float((along * W).sum())
    if not curvature > 0:
        return inverse
    response = inverse(along)
    require_array("inverse", response, tuple(W.shape))
    # what is left is at least this much, but for a factor from elsewhere, which must not make it negative
    left = max(curvature - float((along * response).sum()), (1 - SHARE_ALONG_W) * curvature)
    return lambda X: inverse(X) + _inner(response, X) / left * response


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
    return lambda X: solve_with_factor(factor, X.flatten(-2)).reshape(X.shape)


def solve_with_factor(factor: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Solutions of ``L L' y = x`` with a Cholesky factor L.

    About ten times as fast as `torch.cholesky_solve`, which copies the factor first.

    Parameters
    ----------
    factor : Tensor, shape (n, n)
    x : Tensor, shape (..., n)

    Returns
    -------
    Tensor, shape (..., n)

    Raises
    ------
    ValueError
        For a factor that is no square matrix, or vectors of another length.
    """
    require_array("factor", factor, (None, None))
    require_array("factor", factor, (len(factor), len(factor)))
    fits = is_dense(x) and x.dtype == factor.dtype and x.shape[-1:] == factor.shape[:1]
    require(fits, "x", describe(x), f"vectors of {len(factor)} numbers")
    columns = x.reshape(-1, len(factor)).T
    half = torch.linalg.solve_triangular(factor, columns, upper=False)
    return torch.linalg.solve_triangular(factor.mT, half, upper=True).T.reshape(x.shape)


def _inner(w: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """Sum of the products of the entries of two matrices, one for each of shape (..., d_out, d_in)."""
    return (w * Y).sum(dim=(-2, -1), keepdim=True)
