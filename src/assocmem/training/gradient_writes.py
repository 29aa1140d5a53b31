"""Few steps of gradient descent on cross-entropy as a rule to write: plain ones, and those of Muon.

The gradient of ``sum_i (log sum_j exp(scale s_ji) - scale s_ii)`` over ``-scale`` is
``sum_i (u_i - sum_j p_ji u_j) v_i'`` with the softmax p of the scores of a key. At W = 0 that is the sum of
outer products, with targets less their mean. The next step adds most where the softmax does not yet find the
signal and takes away what stands beside it: a repair in place whose weights are soft. Where facts have
weights, every sum over keys is one with weights.

Layers that learn while they are used take such steps in blocks of keys, each from the memory that the blocks
before have left (Sun et al., 2024: TTT); Muon turns each gradient into a matrix with nearly equal singular
values first (Jordan et al., 2024).
"""

import math
from collections.abc import Sequence

import torch

from assocmem.checks import require, require_integer, require_number
from assocmem.pairs.data import Facts, Pairs, require_facts, times_weights
from assocmem.pairs.scores import block_columns, require_finite_products
from assocmem.pairs.sizes import column_slices
from assocmem.training.losses import CrossEntropy
from assocmem.training.passes import loss_pass

MOST_STEPS = 10_000
"""Steps at most; whoever wants a minimum has `assocmem.training.fit`."""


def softmax_memory(
    pairs: Pairs | Facts,
    *,
    steps: int,
    scale: float,
    step: float | Sequence[float],
    block: int | None = None,
) -> torch.Tensor:
    """The memory after few gradient steps from zero on the cross-entropy of scaled scores.

    Parameters
    ----------
    pairs : Pairs or Facts
    steps : int
        Steps that each key takes part in, at least 1.
    scale : float
        By which scores are multiplied before the softmax; positive. Signals of the outer products are near
        the product of the squared lengths of a target and a key.
    step : float, or sequence of float
        Length of each step, of ``sum_i (u_i - sum_j p_ji u_j) v_i'``; positive. One for all steps, or one
        for each.
    block : int, optional
        Keys of one step: each block of so many keys takes a step from what the blocks before have left.
        By default all keys take one together.

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For an argument out of range, and steps so long that the memory overflows.
    """
    require_facts(pairs)
    lengths = _lengths(step, steps)
    require_number("scale", scale, 0)
    if block is not None:
        require_integer("block", block, 1)
    size = pairs.n if block is None else min(int(block), pairs.n)
    W, untouched = pairs.V.new_zeros(pairs.d_out, pairs.d_in), True
    for length in lengths:
        for columns in column_slices(pairs.n, size):
            pulled = _first(pairs, columns) if untouched else _pulled(pairs, W, columns, float(scale))
            W, untouched = W + length * pulled, False
            ok = bool(torch.isfinite(W).all())
            require(ok, "step", step, "smaller: the memory overflows")
    return W


def muon_memory(
    pairs: Pairs | Facts,
    *,
    steps: int,
    rate: float | Sequence[float],
    momentum: float = 0.95,
) -> torch.Tensor:
    """The memory after few steps of Muon from zero on the cross-entropy, by ``torch.optim.Muon`` itself.

    Muon's products are in bfloat16, so that runs on different processors agree to two or three digits.

    Parameters
    ----------
    pairs : Pairs or Facts
    steps : int
        At least 1. After the first one the memory is nearly the polar factor of the outer products.
    rate : float, or sequence of float
        Learning rate, so about the singular values of each step; positive. One for all, or one for each.
    momentum : float
        Of Muon, in [0, 1).

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For an argument out of range, rates so large that the memory overflows, and a torch before 2.9, which
        has no Muon.
    """
    require_facts(pairs)
    lengths = _lengths(rate, steps, "rate")
    require_number("momentum", momentum, 0, 1, ends="[)")
    require(hasattr(torch.optim, "Muon"), "torch", torch.__version__, "at least 2.9, to have Muon")
    W = torch.nn.Parameter(pairs.V.new_zeros(pairs.d_out, pairs.d_in))
    optimizer = torch.optim.Muon([W], lr=lengths[0], weight_decay=0.0, momentum=float(momentum))
    gradient = _at_zero(pairs)
    # only ratios of gradients count; a power of two leaves all roundings as they are, and very small or large
    # numbers leave the range of bfloat16
    unit = 2.0 ** math.floor(math.log2(float(gradient.abs().amax()) or 1.0))
    for count, length in enumerate(lengths):
        if count:
            gradient = loss_pass(pairs, CrossEntropy(), W.detach()).gradient
        W.grad = gradient / unit
        optimizer.param_groups[0]["lr"] = length
        optimizer.step()
        ok = bool(torch.isfinite(W.detach()).all())
        require(ok, "rate", rate, "smaller: the memory overflows")
    return W.detach()


def _lengths(step, steps, name="step"):
    """One positive length for each step."""
    require_integer("steps", steps, 1)
    require(steps <= MOST_STEPS, "steps", steps, f"at most {MOST_STEPS}")
    if isinstance(step, Sequence) and not isinstance(step, str | bytes):
        require(len(step) == steps, name, step, f"a number, or {steps} of them, one for each step")
        for length in step:
            require_number(name, length, 0)
        return [float(length) for length in step]
    require_number(name, step, 0)
    return [float(step)] * int(steps)


def _at_zero(pairs):
    """Gradient of the mean cross-entropy at zero."""
    return _first(pairs, slice(0, pairs.n)) / -pairs.n


def _first(pairs, columns):
    """``sum_i (u_i - sum_j p_ji u_j) v_i'`` over some keys where all scores are equal."""
    wanted = pairs.answered(columns) - pairs.U.mean(dim=1, keepdim=True)
    found = times_weights(pairs, wanted, columns) @ pairs.V[:, columns].T
    require_finite_products(found)
    return found


def _pulled(pairs, W, columns, scale):
    """``sum_i (u_i - sum_j p_ji u_j) v_i'`` over some keys, in blocks of score columns."""
    U, found = pairs.U, torch.zeros_like(W)
    count = columns.stop - columns.start
    size = block_columns(pairs.m, U.element_size(), U.device, keys=count)
    for part in column_slices(count, size):
        keys = slice(columns.start + part.start, columns.start + part.stop)
        V = pairs.V[:, keys]
        P = torch.softmax((W @ V * scale).T @ U, dim=1)
        found.addmm_(times_weights(pairs, pairs.answered(keys) - U @ P.T, keys), V.T)
    return found
