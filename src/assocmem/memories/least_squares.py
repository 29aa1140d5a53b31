"""Linear regression as a memory, around a prior memory, and the outer products whitened on both sides.

The least squares memory makes ``sum_i |u_i - W v_i|^2`` least (the optimal linear associator of Kohonen and
Ruohonen, 1973). With a prior memory W0 and the covariance C0 of the keys whose answers it shall keep,

    W = W0 + (U - W0 V) V' (C0 + V V' + ridge)^-1

is least in ``|U - W V|^2 + tr (W - W0) (C0 + ridge) (W - W0)'``: the update by which MEMIT edits a language
model (Meng et al., 2023). It is recursive: old facts by way of W0 and C0 and then new ones, and all at once,
come to the same.
"""

import torch

from assocmem.checks import require, require_number
from assocmem.pairs.data import Facts, Pairs, require_array, require_facts
from assocmem.pairs.scores import require_finite_products, require_memory_matrix


def least_squares_memory(
    pairs: Pairs | Facts,
    *,
    ridge: float = 0.0,
    prior: torch.Tensor | None = None,
    covariance: torch.Tensor | None = None,
) -> torch.Tensor:
    """The memory that answers keys with the least sum of squared errors, near a prior memory.

    Parameters
    ----------
    pairs : Pairs or Facts
    ridge : float
        Weight of ``|W - W0|^2``, not negative. For keys with Gaussian noise of spread s in each entry times
        ``sqrt(d)`` that is ``n s^2 / d``.
    prior : Tensor, shape (d_out, d_in), optional
        W0, zero by default.
    covariance : Tensor, shape (d_in, d_in), optional
        C0, the sum of ``k k'`` over the keys k whose answers shall stay as W0 has them; none by default.

    Returns
    -------
    Tensor, shape (d_out, d_in)
        Where several memories are as good, the one nearest to W0.

    Raises
    ------
    ValueError
        For an argument out of range, a covariance that is not symmetric or has negative eigenvalues, and
        vectors so long that their products overflow.
    """
    require_facts(pairs)
    require_number("ridge", ridge, 0, ends="[)")
    V, wrong = pairs.V, pairs.answered()
    if prior is not None:
        require_memory_matrix(pairs, prior, "prior")
        prior = prior.detach()
        wrong = wrong - prior @ V
    gram = V @ V.T
    if covariance is not None:
        require_array("covariance", covariance, (pairs.d_in, pairs.d_in), V)
        covariance = covariance.detach()
        size = covariance.abs().amax()
        even = bool((covariance - covariance.T).abs().amax() <= 1e-5 * size)  # False of a nan
        require(even, "covariance", "a matrix that differs from its transpose", "finite and symmetric")
        gram = gram + covariance
    product = wrong @ V.T
    gram.diagonal().add_(float(ridge))
    require_finite_products(gram)
    require_finite_products(product)
    added = _times_inverse(product, gram)
    require_finite_products(added)
    return added if prior is None else prior + added


def whitened_memory(pairs: Pairs | Facts) -> torch.Tensor:
    """Outer products of whitened vectors, ``(U U')^-1 U V' (V V')^-1``: least squares on both sides.

    Scores by this memory are the outer products' in coordinates in which the targets, and the keys, have no
    preferred direction.

    Parameters
    ----------
    pairs : Pairs or Facts

    Returns
    -------
    Tensor, shape (d_out, d_in)
        Times the numbers of targets and of keys over their dimensions, so that it does not vanish with them.

    Raises
    ------
    ValueError
        For vectors so long that their products overflow.
    """
    require_facts(pairs)
    U, V = pairs.U, pairs.V
    left, right, W = U @ U.T, V @ V.T, pairs.answered() @ V.T
    for product in (left, right, W):
        require_finite_products(product)
    W = _times_inverse(_times_inverse(W, right * (pairs.d_in / pairs.n)).T, left * (pairs.d_out / pairs.m)).T
    require_finite_products(W)
    return W.contiguous()


def _times_inverse(B: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
    """``B A^-1`` for a symmetric A without negative eigenvalues; its pseudo-inverse where it is singular."""
    eps = torch.finfo(A.dtype).eps
    factor, failed = torch.linalg.cholesky_ex(A)
    pivots = factor.diagonal()
    if not failed and bool(pivots.min() > len(A) * eps**0.5 * pivots.max()):
        return torch.cholesky_solve(B.T, factor).T
    sizes, basis = torch.linalg.eigh(A)
    cutoff = 4 * len(A) * eps * float(sizes.abs().amax())
    require(float(sizes[0]) >= -cutoff, "covariance", "a matrix with a negative eigenvalue", "positive")
    held = sizes > cutoff
    basis = basis[:, held]
    return (B @ basis / sizes[held]) @ basis.T
