"""Everything read off the scores of a memory, block by block, so that they are never held whole.

Each function here walks over blocks of score columns, so that its memory is that of the vectors and of a
block, ``m b`` numbers for ``b`` of the keys. It takes `Pairs`, where ``m = n``, or `Facts`.
"""

import math
from collections.abc import Iterator
from numbers import Integral

import torch

from assocmem.checks import is_number, require, require_instance, require_integer
from assocmem.machine import available_bytes
from assocmem.pairs.data import Facts, Pairs, describe, is_dense, require_array, require_device, require_facts
from assocmem.pairs.sizes import BLOCK_BYTES, column_slices

GPU_BLOCK_BYTES = 2**30
"""Bytes of one block of scores on a GPU: so many that a block has keys for all of its processors."""


def block_columns(
    m: int, itemsize: int = 8, device: str | torch.device = "cpu", *, keys: int | None = None
) -> int:
    """How many score columns one block holds: 64 MiB of scores, 1 GiB on a GPU, less where memory is short.

    Parameters
    ----------
    m : int
        Number of targets, so of rows of the block.
    itemsize : int
        Bytes of one score.
    device : str or torch.device
        Where the block will be.
    keys : int, optional
        How many columns there are; by default as many as rows.

    Returns
    -------
    int
        From 1 to the number of keys.

    Raises
    ------
    ValueError
        For a size out of range or a device that torch cannot use.
    """
    require_integer("m", m, 1)
    require_integer("itemsize", itemsize, 1)
    require_integer("keys", m if keys is None else keys, 1)
    require_device(device)
    keys = m if keys is None else keys
    on_cpu = torch.device(device).type == "cpu"
    most = BLOCK_BYTES if on_cpu else GPU_BLOCK_BYTES
    if m * keys * itemsize <= most:
        return int(keys)
    free = available_bytes() if on_cpu else torch.cuda.mem_get_info(device)[0]
    budget = min(most, free // 8)
    return int(min(keys, max(1, budget // (m * itemsize))))


def scores(pairs: Pairs | Facts, W: torch.Tensor, columns: slice = slice(None)) -> torch.Tensor:
    """Scores ``s_ji = u_j' W v_i`` of every target for the keys in ``columns``.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)
    columns : slice
        Which keys; all of them by default, which takes ``8 m n`` bytes.

    Returns
    -------
    Tensor, shape (m, b)
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


def score_blocks(pairs: Pairs | Facts, W: torch.Tensor) -> Iterator[tuple[slice, torch.Tensor]]:
    """Walk over the score matrix in blocks of columns.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)

    Yields
    ------
    columns : slice
    block : Tensor, shape (m, b)
        A fresh tensor that the caller may overwrite.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    require_memory_matrix(pairs, W)
    step = block_columns(pairs.m, W.element_size(), W.device, keys=pairs.n)
    for columns in column_slices(pairs.n, step):
        yield columns, pairs.U.T @ (W @ pairs.V[:, columns])


def retrieval_margins(pairs: Pairs | Facts, W: torch.Tensor) -> torch.Tensor:
    """Margin of each key, its signal score less the best competing score.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)

    Returns
    -------
    Tensor, shape (n,)
        Score of the own target less the best of the others, ``s_ii - max_{j != i} s_ji`` for pairs; all
        positive exactly when ``W`` retrieves everything (eq. ``top1``).

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    signal, rival = signals_and_rivals(pairs, W)
    return signal - rival


def signals_and_rivals(pairs: Pairs | Facts, W: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Signal score and best competing score of each key.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)

    Returns
    -------
    signal, rival : Tensor, shape (n,)
        For pairs ``s_ii`` and ``max_{j != i} s_ji``.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    require_memory_matrix(pairs, W)
    answers = pairs.answers
    signal, rival = pairs.V.new_empty(pairs.n), pairs.V.new_empty(pairs.n)
    for columns, block in score_blocks(pairs, W):
        signal[columns] = take_signal(block, answers[columns], -math.inf)
        rival[columns] = block.amax(dim=0)
    _require_no_overflow(signal, rival)
    return signal, rival


def signal_percentiles(pairs: Pairs | Facts, W: torch.Tensor) -> torch.Tensor:
    """Share of competitors at or below the signal, for each key (the paper's Omega_i).

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)

    Returns
    -------
    Tensor, shape (n,)
        Multiples of ``1 / (m - 1)`` between 0 and 1.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    return signals_and_percentiles(pairs, W)[1]


def signals_and_percentiles(pairs: Pairs | Facts, W: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Signal score of each key, and the share of its competitors at or below it.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)

    Returns
    -------
    signal, percentile : Tensor, shape (n,)
        For pairs ``s_ii``; and multiples of ``1 / (m - 1)`` between 0 and 1.

    Raises
    ------
    ValueError
        If ``W`` is no memory for these pairs.
    """
    require_memory_matrix(pairs, W)
    answers = pairs.answers
    signal, percentile = pairs.V.new_empty(pairs.n), pairs.V.new_empty(pairs.n)
    for columns, block in score_blocks(pairs, W):
        signal[columns] = take_signal(block, answers[columns], math.inf)
        percentile[columns] = (block <= signal[columns]).sum(dim=0).to(signal.dtype) / (pairs.m - 1)
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


def take_signal(block: torch.Tensor, answers: torch.Tensor, replacement: float) -> torch.Tensor:
    """Signal scores of a block, overwritten there so that only competitors remain.

    Parameters
    ----------
    block : Tensor, shape (m, b)
        Scores of b keys; changed in place.
    answers : Tensor, shape (b,)
        The targets of these keys, by their numbers.
    replacement : float
        What is written in place of the signals: minus infinity leaves the largest entry to the competitors,
        plus infinity a count of the entries that are at most some number.

    Returns
    -------
    Tensor, shape (b,)

    Raises
    ------
    ValueError
        For answers that are not one row of the block for each column.
    """
    require_array("block", block, (None, None))
    ok = is_dense(answers) and answers.dtype == torch.int64 and answers.device == block.device
    ok = ok and answers.shape == block.shape[1:]
    if not ok:
        wanted = f"of torch.int64, one for each of {block.shape[1]} columns"
        require(False, "answers", describe(answers), wanted)
    require(is_number(replacement), "replacement", replacement, "a number")
    replacement = float(replacement)
    keys = torch.arange(len(answers), device=block.device)
    signal = block[answers, keys].clone()
    block[answers, keys] = replacement
    return signal


def require_memory_matrix(pairs: Pairs | Facts, W: torch.Tensor, name: str = "W") -> None:
    """Check that a matrix is a memory for these pairs: its shape, their dtype and device, finite.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)
    name : str
        What to call the matrix in a message.

    Raises
    ------
    ValueError
        Naming the matrix by ``name``.
    """
    require_facts(pairs)
    if not (is_dense(W) and W.shape == (pairs.d_out, pairs.d_in)):
        require(False, name, describe(W), f"a tensor of shape ({pairs.d_out}, {pairs.d_in})")
    if not (W.dtype == pairs.U.dtype and W.device == pairs.U.device):
        require(False, name, describe(W), f"of dtype {pairs.U.dtype} on {pairs.U.device}, like the pairs")
    require(bool(torch.isfinite(W).all()), name, "a matrix with inf or nan", "finite")
