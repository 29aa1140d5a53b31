"""Streamed passes over the score matrix: values, gradients and Hessian products of a loss.

One pass walks over blocks of keys. Per block there are two large matrix products, scores and their pull-back,
and in between the loss of `assocmem.training.losses`, which overwrites the scores by their weights. Memory is
that of the vectors and of a block of scores. Where facts have weights, every mean over keys is that with
weights; the margins of a pass and its features are still those of single keys.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from assocmem.checks import require, require_choice, require_flag, require_instance
from assocmem.pairs.data import (
    Facts,
    Pairs,
    describe,
    is_dense,
    mean_loss,
    require_array,
    require_facts,
    times_weights,
)
from assocmem.pairs.scores import (
    block_columns,
    require_finite_products,
    require_memory_matrix,
    take_signal,
)
from assocmem.pairs.sizes import column_slices
from assocmem.training import small_pass
from assocmem.training.losses import (
    CrossEntropy,
    Loss,
    TailAverage,
    mean_and_spread,
    require_loss,
    second_order,
    triton_is_there,
)
from assocmem.training.precision import EXACT, PRECISIONS, Products


@dataclass(frozen=True)
class Pass:
    """What one pass over the scores yields at a memory ``W``.

    Attributes
    ----------
    loss : float
        Mean loss of a key, by the weights of the facts where there are any, the ridge not included.
    gradient : Tensor, shape (d_out, d_in)
        Its derivative in ``W``.
    margins : Tensor, shape (n,)
        Signal less aggregate of the competitors (eq. ``c_i_m_i``).
    mu : Tensor, shape (n,)
        Thresholds of the columns.
    features : Tensor, shape (d_out, n), or None
        ``g_i = u_i - U T_i``, where u_i is the target of key i, whose margin has the gradient ``g_i v_i'`` in
        ``W``.
    curvature : Tensor, shape (n,), or None
        Trace ``sum(C)`` of the aggregate's Hessian without its rank-one part.
    """

    loss: float
    gradient: torch.Tensor
    margins: torch.Tensor
    mu: torch.Tensor
    features: torch.Tensor | None = None
    curvature: torch.Tensor | None = None


def loss_pass(
    pairs: Pairs | Facts, loss: Loss, W: torch.Tensor, *, features: bool = False, precision: str = EXACT
) -> Pass:
    """Mean loss, its gradient, margins and thresholds in one pass of ``4 m n d_out`` operations.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    W : Tensor, shape (d_out, d_in)
    features : bool
        Whether to return the features and curvatures too.
    precision : str
        How the two products of a block are computed: one of `assocmem.training.precision.PRECISIONS`.
        What is not of the size of a block stays in the type of the pairs.

    Returns
    -------
    Pass

    Raises
    ------
    ValueError
        If ``W`` does not fit the pairs.
    """
    require_memory_matrix(pairs, W)
    require_loss(loss)
    require_flag("features", features)
    require_choice("precision", precision, PRECISIONS)
    W = W.detach()
    if isinstance(loss, CrossEntropy) and without_stored_scores(pairs, precision):
        return attended_pass(pairs, W, features=features, precision=precision)
    if small_pass.suits(pairs, loss, precision):
        return Pass(*small_pass.small_pass(pairs, loss, W, features=features))
    margins, mu = pairs.V.new_empty(pairs.n), pairs.V.new_empty(pairs.n)
    gradient = torch.zeros_like(W)
    g = pairs.U.new_empty(pairs.d_out, pairs.n) if features else None
    curvature = torch.empty_like(mu) if features else None
    products = Products(pairs.U, precision)
    for columns, V, T, signal, moments in _blocks(pairs, W, products):
        c, mu[columns] = loss.aggregate(T, moments)
        margins[columns] = signal - c
        a = times_weights(pairs, torch.sigmoid(-margins[columns]), columns)
        pulled = products.pulled(T) - pairs.answered(columns)
        if features:
            g[:, columns] = -pulled
            curvature[columns] = loss.total_curvature(T)
        gradient.addmm_(pulled.mul_(a), V.T)
    return Pass(mean_loss(pairs, margins), gradient.div_(pairs.n), margins, mu, g, curvature)


def without_stored_scores(pairs: Pairs | Facts, precision: str) -> bool:
    """Whether a pass of cross-entropy goes the way of `attended_pass` in this precision.

    Parameters
    ----------
    pairs : Pairs or Facts
    precision : str

    Returns
    -------
    bool
        True only on a card with Triton.
    """
    require_facts(pairs)
    require_choice("precision", precision, PRECISIONS)
    if pairs.U.device.type != "cuda" or not triton_is_there():
        return False
    from assocmem.training.attention_gpu import suits

    return suits(pairs.d_out, precision)


def attended_pass(
    pairs: Pairs | Facts, W: torch.Tensor, *, features: bool = False, precision: str = EXACT
) -> Pass:
    """`loss_pass` of cross-entropy with no score stored; see `assocmem.training.attention_gpu`.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)
    features : bool
    precision : str
        As in `loss_pass`.

    Returns
    -------
    Pass
    """
    from assocmem.training.attention_gpu import attend

    WV = W @ pairs.V
    rough = [X if precision == EXACT else X.float() for X in (WV, pairs.U)]
    c, pulled = (x.to(W.dtype) for x in attend(*rough, pairs.answers, precision))
    own = pairs.answered()
    margins = torch.linalg.vecdot(own, WV, dim=0) - c
    g, curvature = (own - pulled, torch.ones_like(c)) if features else (None, None)
    gradient = (pulled - own).mul_(times_weights(pairs, torch.sigmoid(-margins))) @ pairs.V.T
    return Pass(mean_loss(pairs, margins), gradient.div_(pairs.n), margins, c, g, curvature)


def joint_pass(
    pairs: Pairs | Facts, loss: TailAverage, W: torch.Tensor, mu: torch.Tensor
) -> tuple[float, torch.Tensor, torch.Tensor]:
    """Mean tail-average loss at given thresholds, and its gradients (the joint form of eq. ``tam-learning``).

    Minimising over ``mu`` as well gives `loss_pass`, whose thresholds make the second gradient vanish.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : TailAverage
    W : Tensor, shape (d_out, d_in)
    mu : Tensor, shape (n,)
        Finite.

    Returns
    -------
    loss : float
    gradient : Tensor, shape (d_out, d_in)
    mu_gradient : Tensor, shape (n,)

    Raises
    ------
    ValueError
        If ``W`` or ``mu`` does not fit the pairs.
    """
    require_memory_matrix(pairs, W)
    require_instance("loss", loss, TailAverage)
    ok = is_dense(mu) and mu.shape == (pairs.n,) and mu.dtype == W.dtype and mu.device == W.device
    ok = ok and bool(torch.isfinite(mu).all())
    W, mu = W.detach(), mu.detach() if ok else mu
    require(ok, "mu", describe(mu), f"one finite threshold of {W.dtype} for each of {pairs.n} keys")
    margins, slope = torch.empty_like(mu), torch.empty_like(mu)
    gradient = torch.zeros_like(W)
    for columns, V, T, signal, _ in _blocks(pairs, W, Products(pairs.U, EXACT)):
        c, slope[columns] = loss.aggregate_at(T, mu[columns])
        margins[columns] = signal - c
        a = times_weights(pairs, torch.sigmoid(-margins[columns]), columns)
        gradient.addmm_((pairs.U @ T - pairs.answered(columns)).mul_(a), V.T)
    a = times_weights(pairs, torch.sigmoid(-margins))
    return mean_loss(pairs, margins), gradient.div_(pairs.n), a * slope / pairs.n


def hessian_pass(
    pairs: Pairs | Facts, loss: Loss, W: torch.Tensor, D: torch.Tensor, *, precision: str = EXACT
) -> torch.Tensor:
    """Hessian of the mean loss times a direction, thresholds profiled out: ``6 m n d_out`` operations.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    W, D : Tensor, shape (d_out, d_in)
    precision : str
        As in `loss_pass`, for the three products of a block.

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        If ``W`` or ``D`` does not fit the pairs.
    """
    require_memory_matrix(pairs, W)
    require_memory_matrix(pairs, D, "D")
    require_loss(loss)
    require_choice("precision", precision, PRECISIONS)
    W, D = W.detach(), D.detach()
    products, product = Products(pairs.U, precision), torch.zeros_like(W)
    for columns, V, T, signal, moments in _blocks(pairs, W, products):
        c, _ = loss.aggregate(T, moments)
        a = torch.sigmoid(c - signal)
        DV = D @ V
        dS = products.scores(DV, products.space(V.shape[1])).T
        targets = pairs.answered(columns)
        outer = second_order(loss, T, dS, a, torch.linalg.vecdot(targets, DV, dim=0))
        product.addmm_(times_weights(pairs, products.pulled(dS) + targets * outer, columns), V.T)
    return product.div_(pairs.n)


def dense_hessian(
    pairs: Pairs | Facts, loss: Loss, W: torch.Tensor, *, profiled: bool = True
) -> torch.Tensor:
    """Hessian of the mean loss as a matrix, for small dimensions: ``n d^4 / 2`` operations for pairs.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    W : Tensor, shape (d_out, d_in)
    profiled : bool
        Whether the thresholds move along with W, as in `loss_pass`, or stay where they are (Definition 2).

    Returns
    -------
    Tensor, shape (d_out d_in, d_out d_in)
        Acts on ``W.reshape(-1)``.

    Raises
    ------
    ValueError
        If ``W`` does not fit the pairs.
    """
    require_memory_matrix(pairs, W)
    require_loss(loss)
    require_flag("profiled", profiled)
    W = W.detach()
    U, V, n = pairs.U, pairs.V, pairs.n
    ((_, _, T, signal, moments),) = _blocks(pairs, W, Products(U, EXACT), n)
    c, _ = loss.aggregate(T, moments)
    a = torch.sigmoid(c - signal)
    C, g = loss.curvature(T), pairs.answered() - U @ T
    shares = (times_weights(pairs, x) / n for x in (a, a * (1 - a)))
    return assemble_hessian(U, V, g, C, *shares, profiled=profiled)


def assemble_hessian(
    U: torch.Tensor,
    V: torch.Tensor,
    g: torch.Tensor,
    C: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    profiled: bool,
) -> torch.Tensor:
    """Matrix of ``D -> sum_i (a_i U K_i U' + b_i g_i g_i') D v_i v_i'`` with ``K_i = diag(C_i)`` or less.

    Parameters
    ----------
    U : Tensor, shape (d_out, m)
        Targets.
    V, g : Tensor, shapes (d_in, n) and (d_out, n)
        Keys, and gradients of the margins by output.
    C : Tensor, shape (m, n)
        Curvatures of the aggregates by column.
    a, b : Tensor, shape (n,)
        Weights of the aggregates' curvature and of the squared gradients.
    profiled : bool
        Whether each column loses ``C_i C_i' / sum(C_i)``, the share of a threshold that moves along.

    Returns
    -------
    Tensor, shape (d_out d_in, d_out d_in)
        Acts on ``D.reshape(-1)``.

    Raises
    ------
    ValueError
        For tensors that do not fit each other.
    """
    require_array("U", U, (None, None))
    require_array("V", V, (None, None), U)
    (d_out, m), (d_in, n) = U.shape, V.shape
    require_array("g", g, (d_out, n), U)
    require_array("C", C, (m, n), U)
    require_array("a", a, (n,), U)
    require_array("b", b, (n,), U)
    require_flag("profiled", profiled)
    left = _squares(U) @ C
    if profiled:
        total = C.sum(dim=0).clamp(min=torch.finfo(C.dtype).tiny)
        left.sub_(_squares(U @ C).div_(total))
    left.mul_(a).add_(_squares(g).mul_(b))
    K = left @ _squares(V).T
    rows, columns = _places(d_out, U.device), _places(d_in, U.device)
    H = U.new_empty(d_out, d_in, d_out, d_in)
    for row in range(d_out):
        H[row] = K[rows[row]][:, columns].transpose(0, 1)
    return H.view(d_out * d_in, d_out * d_in)


def _places(d: int, device: torch.device) -> torch.Tensor:
    """Where entry (i, j) of a symmetric matrix stands among those of `_squares`, shape (d, d)."""
    place = torch.empty(d, d, dtype=torch.long, device=device)
    i, j = torch.triu_indices(d, d, device=device)
    place[i, j] = place[j, i] = torch.arange(len(i), device=device)
    return place


def _squares(X: torch.Tensor) -> torch.Tensor:
    """Outer product of each column with itself, one of each two equal entries, shape (d (d + 1) / 2, n)."""
    i, j = torch.triu_indices(len(X), len(X), device=X.device)
    return X[i] * X[j]


def _blocks(
    pairs: Pairs | Facts, W: torch.Tensor, products: Products, step: int | None = None
) -> Iterator[tuple]:
    """Walk over blocks of keys, by default as large as memory allows.

    All blocks share the memory of the scores: to be given new memory for each takes as long as a fifth of the
    products.

    Yields
    ------
    columns : slice
    V : Tensor, shape (d_in, b)
        The keys.
    S : Tensor, shape (m, b)
        Their scores with ``-inf`` at the signal; may be overwritten.
    signal : Tensor, shape (b,)
    moments : pair of Tensor, shape (b,)
        Mean and standard deviation of the competitors.
    """
    step = step or block_columns(pairs.m, pairs.V.element_size(), pairs.V.device, keys=pairs.n)
    answers = pairs.answers
    total, gram = pairs.U.sum(dim=1), pairs.U @ pairs.U.T
    require_finite_products(gram)
    space = products.space(step)
    for columns in column_slices(pairs.n, step):
        V = pairs.V[:, columns]
        WV = W @ V
        S = products.scores(WV, space[: V.shape[1]]).T  # the scores of a key lie side by side
        signal = take_signal(S, answers[columns], -torch.inf)
        if not products.exact:
            signal = torch.linalg.vecdot(pairs.answered(columns), WV, dim=0)
        square = torch.linalg.vecdot(WV, gram @ WV, dim=0) - signal**2
        mean, spread = mean_and_spread(total @ WV - signal, square, pairs.m - 1)
        yield columns, V, S, signal, (mean.to(S.dtype), spread.to(S.dtype))
