"""Everything read off the scores of a memory, block by block, so that they are never held whole.

Each function here walks over blocks of score columns, so that its memory is ``O(n d + n b)`` for blocks of
``b`` columns.
"""

import math
from collections.abc import Iterator
from numbers import Integral

import torch

from assocmem.checks import is_number, require, require_instance, require_integer
from assocmem.machine import available_bytes
from assocmem.pairs.data import Pairs, describe, is_dense, require_array, require_device, require_pairs
from assocmem.pairs.sizes import BLOCK_BYTES, column_slices

GPU_BLOCK_BYTES = 2**30
"""Bytes of one block of scores on a GPU: so many that a block has keys for all of its processors."""


def block_columns(n: int, itemsize: int = 8, device: str | torch.device = "cpu") -> int:
    """How many score columns one block holds: 64 MiB of scores, 1 GiB on a GPU, less where memory is short.

    Parameters
    ----------
    n : int
        Number of pairs, so of rows of the block.
    itemsize : int
        Bytes of one score.
    device : str or torch.device
        Where the block will be.

    Returns
    -------
    int
        From 1 to n.

    Raises
    ------
    ValueError
        For a size out of range or a device that torch cannot use.
    """
    require_integer("n", n, 1)
    require_integer("itemsize", itemsize, 1)
    require_device(device)
    on_cpu = torch.device(device).type == "cpu"
    most = BLOCK_BYTES if on_cpu else GPU_BLOCK_BYTES
    if n * n * itemsize <= most:
        return n
    free = available_bytes() if on_cpu else torch.cuda.mem_get_info(device)[0]
    budget = min(most, free // 8)
    return int(min(n, max(1, budget // (n * itemsize))))


def scores(pairs: Pairs, W: torch.Tensor, columns: slice = slice(None)) -> torch.Tensor:
    """Scores ``s_ji = u_j' W v_i`` of every target for the keys in ``columns``.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)
    columns : slice
        Which keys; all of them by default, which takes ``8 n^2`` bytes.

    Returns
    -------
    Tensor, shape (n, b)
        ``S[j, i]`` is the score of target j for the i-th of the b keys.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs, or ``columns`` no slice.
    """
    require_memory_matrix(pairs, W)
    require_instance("columns", columns, slice)
    ends = (columns.start, columns.stop, columns.step)
    whole = all(end is None or isinstance(end, Integral) for end in ends)
    forward = columns.step is None or (whole and columns.step > 0)
    require(whole and forward, "columns", columns, "a slice of integers that goes forward")
    return pairs.U.T @ (W @ pairs.V[:, columns])


def score_blocks(pairs: Pairs, W: torch.Tensor) -> Iterator[tuple[slice, torch.Tensor]]:
    """Walk over the score matrix in blocks of columns.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Yields
    ------
    columns : slice
    block : Tensor, shape (n, b)
        A fresh tensor that the caller may overwrite.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    require_memory_matrix(pairs, W)
    for columns in column_slices(pairs.n, block_columns(pairs.n, W.element_size(), W.device)):
        yield columns, pairs.U.T @ (W @ pairs.V[:, columns])


def retrieval_margins(pairs: Pairs, W: torch.Tensor) -> torch.Tensor:
    """Margin of each key, its signal score less the best competing score.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    Tensor, shape (n,)
        ``s_ii - max_{j != i} s_ji``; all positive exactly when ``W`` retrieves every pair (eq. ``top1``).

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    signal, rival = signals_and_rivals(pairs, W)
    return signal - rival


def signals_and_rivals(pairs: Pairs, W: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Signal score and best competing score of each key.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    signal, rival : Tensor, shape (n,)
        ``s_ii`` and ``max_{j != i} s_ji``.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    require_memory_matrix(pairs, W)
    signal, rival = pairs.V.new_empty(pairs.n), pairs.V.new_empty(pairs.n)
    for columns, block in score_blocks(pairs, W):
        signal[columns] = take_signal(block, columns, -math.inf)
        rival[columns] = block.amax(dim=0)
    _require_no_overflow(signal, rival)
    return signal, rival


def signal_percentiles(pairs: Pairs, W: torch.Tensor) -> torch.Tensor:
    """Share of competitors at or below the signal, for each key (the paper's Omega_i).

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    Tensor, shape (n,)
        Multiples of ``1 / (n - 1)`` between 0 and 1.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    return signals_and_percentiles(pairs, W)[1]


def signals_and_percentiles(pairs: Pairs, W: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Signal score of each key, and the share of its competitors at or below it.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    signal, percentile : Tensor, shape (n,)
        ``s_ii``, and multiples of ``1 / (n - 1)`` between 0 and 1.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    require_memory_matrix(pairs, W)
    signal, percentile = pairs.V.new_empty(pairs.n), pairs.V.new_empty(pairs.n)
    for columns, block in score_blocks(pairs, W):
        signal[columns] = take_signal(block, columns, math.inf)
        percentile[columns] = (block <= signal[columns]).sum(dim=0).to(signal.dtype) / (pairs.n - 1)
    _require_no_overflow(signal)
    return signal, percentile


def _require_no_overflow(*found):
    """Check that what was found among scores is finite, as it is unless scores overflow."""
    ok = all(bool(torch.isfinite(x).all()) for x in found)
    require(ok, "W", "a memory whose scores overflow", "smaller, or the pairs shorter")


def require_finite_products(product: torch.Tensor) -> None:
    """Check that products of targets or keys, or a memory made from them, have not overflowed.

    Parameters
    ----------
    product : Tensor

    Raises
    ------
    ValueError
        Naming the pairs.
    """
    ok = is_dense(product) and bool(torch.isfinite(product).all())
    require(ok, "pairs", "vectors whose product overflows", "shorter")


def take_signal(block: torch.Tensor, columns: slice, replacement: float) -> torch.Tensor:
    """Signal scores of a block, overwritten there so that only competitors remain.

    Parameters
    ----------
    block : Tensor, shape (n, b)
        Scores of the keys in ``columns``; changed in place.
    columns : slice
        The keys of the block.
    replacement : float
        What is written in place of the signals: minus infinity leaves the largest entry to the competitors,
        plus infinity a count of the entries that are at most some number.

    Returns
    -------
    Tensor, shape (b,)

    Raises
    ------
    ValueError
        For columns that are not those of a block.
    """
    require_array("block", block, (None, None))
    require_instance("columns", columns, slice)
    ends = columns.start, columns.stop
    ok = all(isinstance(end, Integral) for end in ends) and ends[0] >= 0 and ends[1] <= len(block)
    require(
        ok and ends[1] - ends[0] == block.shape[1], "columns", columns, "of so many keys as the block has"
    )
    require(is_number(replacement), "replacement", replacement, "a number")
    replacement = float(replacement)
    diagonal = torch.arange(columns.stop - columns.start, device=block.device)
    signal = block[diagonal + columns.start, diagonal].clone()
    block[diagonal + columns.start, diagonal] = replacement
    return signal


def require_memory_matrix(pairs: Pairs, W: torch.Tensor, name: str = "W") -> None:
    """Check that a matrix is a memory for these pairs: shape (d, d), their dtype and device, finite.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)
    name : str
        What to call the matrix in a message.

    Raises
    ------
    ValueError
        Naming the matrix by ``name``.
    """
    require_pairs(pairs)
    ok = is_dense(W) and W.shape == (pairs.d, pairs.d)
    require(ok, name, describe(W), f"a tensor of shape ({pairs.d}, {pairs.d})")
    like = W.dtype == pairs.U.dtype and W.device == pairs.U.device
    require(like, name, describe(W), f"of dtype {pairs.U.dtype} on {pairs.U.device}, like the pairs")
    require(bool(torch.isfinite(W).all()), name, "a matrix with inf or nan", "finite")
