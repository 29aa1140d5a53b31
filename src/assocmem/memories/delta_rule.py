"""The delta rule, with and without forgetting: keys come in their order, each corrects what is there.

    W <- keep W (1 - step v v') + step u v'

is, with ``keep = 1``, the rule of Widrow and Hoff (1960), a step of stochastic gradient descent for least
squares; fast weights take it (Schlag et al., 2021: DeltaNet), and with ``keep`` it is the gated rule of
Yang et al. (2024: gated DeltaNet). Without the correction, that is ``W <- keep W + u v'``, it is the sum of
outer products with forgetting.

It goes in blocks of keys, and exactly: the corrections of a block solve a triangular system, so that nearly
all operations are products of matrices (Yang et al., 2024, for linear attention).
"""

import torch

from assocmem.checks import require, require_integer, require_number
from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.pairs.scores import require_finite_products, require_memory_matrix
from assocmem.pairs.sizes import column_slices

BLOCK = 64
"""Keys of a block; by trial at dimensions from 50 to 800."""

MOST_PASSES = 10_000
"""Passes at most, so that a slip of the pen does not run for days."""


def delta_memory(
    pairs: Pairs | Facts,
    *,
    step: float,
    keep: float = 1.0,
    passes: int = 1,
    start: torch.Tensor | None = None,
) -> torch.Tensor:
    """The memory that the delta rule makes of keys that come one after the other.

    Parameters
    ----------
    pairs : Pairs or Facts
        Keys in the order of their columns.
    step : float
        What each key corrects of its error, for keys of length one; positive. Beyond two over the squared
        length of the keys errors grow.
    keep : float
        What is kept of the memory when a key comes, in [0, 1].
    passes : int
        How often all keys come, at least 1.
    start : Tensor, shape (d_out, d_in), optional
        The memory before the first key, zero by default.

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For an argument out of range, and a step so large that the memory overflows.
    """
    require_facts(pairs)
    require_number("step", step, 0)
    require_number("keep", keep, 0, 1, ends="[]")
    require_integer("passes", passes, 1)
    require(passes <= MOST_PASSES, "passes", passes, f"at most {MOST_PASSES}")
    V, step = pairs.V, float(step)
    if start is None:
        W = V.new_zeros(pairs.d_out, pairs.d_in)
    else:
        require_memory_matrix(pairs, start, "start")
        W = start.detach().clone()
    blocks = []
    powers = torch.tensor(float(keep), dtype=V.dtype, device=V.device) ** torch.arange(
        BLOCK + 1, device=V.device
    )
    for columns in column_slices(pairs.n, BLOCK):
        keys = V[:, columns]
        b = keys.shape[1]
        age = torch.arange(b, device=V.device)
        between = powers[(age[None, :] - age[:, None]).clamp(min=0)]
        blocks.append((columns, keys, step * (keys.T @ keys * between).triu(1), powers[1 : b + 1], b))
        require_finite_products(blocks[-1][2])
    for _ in range(int(passes)):
        for columns, keys, overlap, kept, b in blocks:
            error = pairs.answered(columns) - W @ keys * kept
            # the error of a key is less what the keys before it in the block have corrected
            error = torch.linalg.solve_triangular(overlap, error, upper=True, left=False, unitriangular=True)
            W = torch.addmm(W, error * powers[:b].flip(0), keys.T, beta=float(powers[b]), alpha=step)
        ok = bool(torch.isfinite(W).all())
        require(ok, "step", step, "smaller: beyond two over the squared length of the keys errors grow")
    return W


def decayed_memory(pairs: Pairs | Facts, *, keep: float) -> torch.Tensor:
    """Outer products with forgetting, ``W <- keep W + u v'`` for one key after the other.

    Parameters
    ----------
    pairs : Pairs or Facts
        Keys in the order of their columns.
    keep : float
        What is kept of the memory when a key comes, in [0, 1].

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For a keep out of range, and vectors so long that their product overflows.
    """
    require_facts(pairs)
    require_number("keep", keep, 0, 1, ends="[]")
    V = pairs.V
    ages = torch.arange(pairs.n - 1, -1, -1, device=V.device)
    weights = torch.tensor(float(keep), dtype=torch.float64, device=V.device) ** ages
    W = pairs.answered() * weights.to(V.dtype) @ V.T
    require_finite_products(W)
    return W
