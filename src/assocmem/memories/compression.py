"""Memories in fewer numbers: rounded to a few bits, with few entries, or of low rank (not in the paper).

**Rounding.** With b bits an entry has one of ``2^b`` values, ``(k + 1/2) step`` for ``k = -2^(b - 1), ...,
2^(b - 1) - 1``: evenly spaced, symmetric, and without zero. One bit is a sign times a scale. The step is the
one with the least squared error, found on the entries themselves, for the whole memory or for each row. At it
the error is uncorrelated with what is kept, so that the rounded memory is ``(1 - D) W`` and noise of
variance ``D (1 - D)``, D the relative squared error (Max 1960; of normal entries D = 1 - 2 / pi for one bit).

**Random rounding** takes one of the two nearest values with chances that make the mean right, so that it is
unbiased between the lowest value and the highest. What lies outside becomes the nearer of these two. Its step
has the least squared error on average. That is larger than the error of the nearest values, by up to a factor
of two where there are many bits.
"""

import math
from collections.abc import Callable

import numpy as np
import torch

from assocmem.checks import require, require_flag, require_integer, require_number
from assocmem.pairs.data import describe, is_dense, plain

MOST_BITS = 16
"""Bits of one entry at most: with more, rounding is no matter."""

STEPS, ROUNDS = 25, 5
"""Steps that are tried at a time, and how often the best is looked for more finely."""

NARROWEST, WIDEST = 0.1, 16.0
"""Steps between which the best is looked for, in roots of the mean square over half the number of values. Of
normal entries it is 1.6 for one bit and 4 for eight. Where the best lies outside, an end is taken."""


def rounded(W: torch.Tensor, bits: int, *, rows: bool = False, seed: int | None = None) -> torch.Tensor:
    """A memory whose entries have ``2^bits`` values, evenly spaced and symmetric about zero.

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
    bits : int
        From 1 to 16.
    rows : bool
        Whether each row has a scale of its own; by default there is one for all.
    seed : int, optional
        Of random rounding, which is unbiased within the range of the values; by default each entry becomes
        the nearest value, at the scale with the least squared error.

    Returns
    -------
    Tensor, shape (d_out, d_in)
        A memory, or a row, that is zero stays zero.

    Raises
    ------
    ValueError
        For what is no finite matrix, or a parameter out of range.
    """
    W = _matrix(W)
    require_integer("bits", bits, 1)
    require(bits <= MOST_BITS, "bits", bits, f"at most {MOST_BITS}")
    require_flag("rows", rows)
    if seed is not None:
        require_integer("seed", seed, 0)
    groups = W.double() if rows else W.double().reshape(1, -1)
    top = groups.abs().amax(dim=1, keepdim=True)
    scaled = groups / torch.where(top > 0, top, 1.0)
    half = 2 ** (int(bits) - 1)
    step = _best_step(scaled, half, _nearest_error if seed is None else _random_error)
    if seed is None:
        kept = _nearest(scaled, step, half)
    else:
        drawn = torch.from_numpy(np.random.default_rng(int(seed)).random(tuple(scaled.shape)))
        place = torch.floor(scaled / step - 0.5 + drawn.to(W.device)).clamp(-half, half - 1)
        kept = (place + 0.5) * step
    kept = torch.where(top > 0, kept * top, 0.0)
    return kept.reshape(W.shape).to(W.dtype)


def sparsified(W: torch.Tensor, share: float) -> torch.Tensor:
    """A memory with a share of its entries, the largest, and zeros.

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
    share : float
        In (0, 1]; at least one entry is kept.

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For what is no finite matrix, or a share out of range.
    """
    W = _matrix(W)
    require_number("share", share, 0, 1, ends="(]")
    kept = max(1, round(share * W.numel()))
    largest = W.abs().flatten().topk(kept).indices
    found = torch.zeros_like(W).flatten()
    found[largest] = W.flatten()[largest]
    return found.reshape(W.shape)


def low_rank(W: torch.Tensor, rank: int) -> torch.Tensor:
    """The nearest memory of a rank, from the largest singular values (Eckart and Young 1936).

    Parameters
    ----------
    W : Tensor, shape (d_out, d_in)
    rank : int
        At least 1; one that is no less than the number of rows or columns changes nothing.

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For what is no finite matrix, or a rank out of range.
    """
    W = _matrix(W)
    require_integer("rank", rank, 1)
    if rank >= min(W.shape):
        return W.clone()
    left, sizes, right = torch.linalg.svd(W, full_matrices=False)
    return (left[:, :rank] * sizes[:rank]) @ right[:rank]


def _matrix(W: object) -> torch.Tensor:
    """The memory as a plain tensor, if it is a finite matrix."""
    ok = is_dense(W) and W.is_floating_point() and W.ndim == 2 and W.numel() > 0
    require(ok, "W", describe(W), "a floating-point matrix, dense and not empty")
    W = plain(W)
    require(bool(torch.isfinite(W).all()), "W", "a matrix with inf or nan", "finite")
    return W


def _nearest(x: torch.Tensor, step: torch.Tensor, half: int) -> torch.Tensor:
    """The nearest of the values."""
    return (torch.floor(x / step).clamp(-half, half - 1) + 0.5) * step


def _nearest_error(x: torch.Tensor, step: torch.Tensor, half: int) -> torch.Tensor:
    """Squared error of rounding to the nearest value, for each row."""
    return (_nearest(x, step, half) - x).square().sum(dim=1)


def _random_error(x: torch.Tensor, step: torch.Tensor, half: int) -> torch.Tensor:
    """Mean squared error of random rounding, for each row."""
    most = (half - 0.5) * step
    inside = x.clamp(-most, most)
    place = inside / step - 0.5
    above = place - place.floor()
    return ((inside - x).square() + above * (1 - above) * step.square()).sum(dim=1)


def _best_step(
    x: torch.Tensor, half: int, error: Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]
) -> torch.Tensor:
    """For each row the step with the least error, from grids that close in on it, shape (rows, 1)."""
    root = x.square().mean(dim=1, keepdim=True).sqrt()
    root = torch.where(root > 0, root, 1.0)
    low = (NARROWEST * root / half).log()
    high = (WIDEST * root / half).log()
    for _ in range(ROUNDS):
        tried = low + (high - low) * torch.linspace(0, 1, STEPS, dtype=x.dtype, device=x.device)
        errors = torch.stack([error(x, t.exp()[:, None], half) for t in tried.unbind(1)], dim=1)
        best = tried.gather(1, errors.argmin(dim=1, keepdim=True))
        width = 2 * (high - low) / (STEPS - 1)
        low, high = best - width, best + width
    return best.exp()


def relative_error(W: torch.Tensor, kept: torch.Tensor) -> float:
    """Relative variance of the noise in a memory that stands for another, once both have one scale.

    With ``a = <kept, W> / |W|^2`` the memory kept is ``a W`` and a rest that is orthogonal to it. Its square
    over that of ``a W`` is the result. For the best rounding, whose relative squared error is D, it is
    ``D / (1 - D)``.

    Parameters
    ----------
    W, kept : Tensor, shape (d_out, d_in)

    Returns
    -------
    float
        Infinite where nothing of W is left.

    Raises
    ------
    ValueError
        For what are no finite matrices of one shape.
    """
    W, kept = _matrix(W), _matrix(kept)
    require(W.shape == kept.shape, "kept", describe(kept), f"of shape {tuple(W.shape)}, like W")
    one, other = (X.double() / X.double().abs().max().clamp(min=1e-300) for X in (W, kept))
    common = float((one * other).sum())
    if common <= 0:
        return math.inf
    return max(0.0, float((one * one).sum()) * float((other * other).sum()) / common**2 - 1)
