"""The list loss: a place in the top share of the list, with no competitor looked at (not in the paper).

Under a memory W that was chosen without looking at a target ``u ~ N(0, I/d)``, the scores ``u' W v_i`` of key
i are Gaussian with the spread ``|W v_i| / sqrt(d)``. The signal ``u_i' W v_i`` then stands in the top share r
of all scores where it is above the quantile ``q = Phi^-1(1 - r)`` of this law, so where the margin

    m_i(W) = u_i' W v_i - q |W v_i| / sqrt(d)

is positive. For ``r <= 1/2`` q is not negative and ``m_i >= 0`` is a second-order cone: the margin is concave
and homogeneous of degree one in W, and ``log(1 + exp(-m_i))`` is convex. For facts d is the dimension of the
targets, ``|W v_i| / sqrt(d_out)``, and ``u_i`` the answer of key i; several keys may share it.

**Cost.** A pass takes ``4 n d_out d_in`` operations, and memory of the size of the vectors: the competitors
of a key are never looked at.

**The kink.** Where ``W v_i = 0`` the margin has no gradient. Its supergradients are ``(u_i - q e / sqrt(d))
v_i'`` with any e in the unit ball; here e = 0 is taken, and the curvature of the spread is left out. Lengths
too small for their squares count as zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from scipy.special import ndtri

from assocmem.checks import require_flag, require_number
from assocmem.pairs.data import Facts, Pairs, mean_loss, times_weights
from assocmem.pairs.scores import require_memory_matrix
from assocmem.pairs.sizes import column_slices

BLOCK_ENTRIES = 2**19
"""Entries of a block of vectors ``W v_i``, 4 MiB: few calls, and little beside the vectors. By trial."""


@dataclass(frozen=True)
class ListPass:
    """What one pass of the list loss yields at a memory ``W``.

    Attributes
    ----------
    loss : float
        Mean of ``log(1 + exp(-m_i))``, by the weights of the facts where there are any, the ridge not
        included.
    gradient : Tensor, shape (d_out, d_in)
        Its derivative in ``W``, or a subgradient where some ``W v_i`` is zero.
    margins : Tensor, shape (n,)
        Signal less ``q`` spreads.
    spreads : Tensor, shape (n,)
        ``|W v_i| / sqrt(d_out)``.
    features : Tensor, shape (d_out, n), or None
        ``g_i = u_i - q e_i / sqrt(d_out)`` with ``e_i = W v_i / |W v_i|``, or zero: the margin of key i has
        the gradient ``g_i v_i'`` in ``W``, and ``m_i = g_i' W v_i``.
    """

    loss: float
    gradient: torch.Tensor
    margins: torch.Tensor
    spreads: torch.Tensor
    features: torch.Tensor | None = None


def list_level(r: float) -> float:
    """Spreads by which a signal has to stand above zero for the top share r, ``q = Phi^-1(1 - r)``.

    Parameters
    ----------
    r : float
        Share of the list, in (0, 1/2]: above, the cone is no longer convex.

    Returns
    -------
    float
        Zero at r = 1/2.

    Raises
    ------
    ValueError
        For a share out of range.
    """
    require_number("r", r, 0, 0.5, ends="(]")
    return max(0.0, -float(ndtri(float(r))))


def list_pass(pairs: Pairs | Facts, r: float, W: torch.Tensor, *, features: bool = True) -> ListPass:
    """Mean list loss, its gradient, margins and features in one pass of ``4 n d_out d_in`` operations.

    Parameters
    ----------
    pairs : Pairs or Facts
    r : float
        Share of the list, in (0, 1/2].
    W : Tensor, shape (d_out, d_in)
    features : bool
        Whether to return the features, which take as much memory as the targets of all keys.

    Returns
    -------
    ListPass

    Raises
    ------
    ValueError
        For a share out of range, or a ``W`` that does not fit the pairs.
    """
    q = list_level(r)
    require_memory_matrix(pairs, W)
    require_flag("features", features)
    W = W.detach()
    margins, spreads = pairs.V.new_empty(pairs.n), pairs.V.new_empty(pairs.n)
    gradient = torch.zeros_like(W)
    g = pairs.U.new_empty(pairs.d_out, pairs.n) if features else None
    for columns, V, Z, length, targets in _blocks(pairs, W):
        spreads[columns] = length / pairs.d_out**0.5
        margins[columns] = torch.linalg.vecdot(targets, Z, dim=0) - q * spreads[columns]
        part = targets - Z.mul_(_per_length(length, q / pairs.d_out**0.5))
        if features:
            g[:, columns] = part
        a = times_weights(pairs, torch.sigmoid(-margins[columns]), columns)
        gradient.addmm_(part.mul_(a), V.T)
    return ListPass(mean_loss(pairs, margins), gradient.div_(-pairs.n), margins, spreads, g)


def list_hessian_product(pairs: Pairs | Facts, r: float, W: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """Hessian of the mean list loss times a direction: ``6 n d_out d_in`` operations.

    Parameters
    ----------
    pairs : Pairs or Facts
    r : float
        Share of the list, in (0, 1/2].
    W, D : Tensor, shape (d_out, d_in)

    Returns
    -------
    Tensor, shape (d_out, d_in)
        Without the curvature of spreads at keys with ``W v_i = 0``, where there is none.

    Raises
    ------
    ValueError
        For a share out of range, or a ``W`` or ``D`` that does not fit the pairs.
    """
    q = list_level(r)
    require_memory_matrix(pairs, W)
    require_memory_matrix(pairs, D, "D")
    W, D = W.detach(), D.detach()
    product, kappa = torch.zeros_like(W), q / pairs.d_out**0.5
    for columns, V, Z, length, targets in _blocks(pairs, W):
        margins = torch.linalg.vecdot(targets, Z, dim=0) - kappa * length
        a = torch.sigmoid(-margins)
        X, E = D @ V, Z.mul_(_per_length(length, 1.0))
        along = torch.linalg.vecdot(E, X, dim=0)
        feature = targets - kappa * E
        part = feature * (a * torch.sigmoid(margins) * torch.linalg.vecdot(feature, X, dim=0))
        part += (X - E * along) * (a * _per_length(length, kappa))
        product.addmm_(times_weights(pairs, part, columns), V.T)
    return product.div_(pairs.n)


def _per_length(length: torch.Tensor, size: float) -> torch.Tensor:
    """A number over each length; zero for a length of zero."""
    return torch.where(length > 0, size / length, torch.zeros_like(length))


def _blocks(pairs: Pairs | Facts, W: torch.Tensor) -> Iterator[tuple]:
    """Walk over blocks of keys.

    Yields
    ------
    columns : slice
    V : Tensor, shape (d_in, b)
        The keys.
    Z : Tensor, shape (d_out, b)
        ``W v_i``; may be overwritten.
    length : Tensor, shape (b,)
        ``|W v_i|``.
    targets : Tensor, shape (d_out, b)
        Not to be overwritten.
    """
    for columns in column_slices(pairs.n, max(1, BLOCK_ENTRIES // max(pairs.d_out, pairs.d_in))):
        V = pairs.V[:, columns]
        Z = W @ V
        yield columns, V, Z, torch.linalg.vector_norm(Z, dim=0), pairs.answered(columns)
