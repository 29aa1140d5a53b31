"""The Gaussian pairs of the paper, their sizes, and everything read off the scores.

Scores are never held whole: each function here walks over blocks of score columns, so that its memory is
``O(n d + n b)`` for blocks of ``b`` columns.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from assocmem.limits import available_bytes, memory_shortage, require, require_integer

BLOCK_BYTES = 2**26
GPU_BLOCK_BYTES = 2**30  # so that a block has keys for all of its processors
RUNTIME_BYTES = 5 * 2**27


@dataclass(frozen=True)
class Pairs:
    """Targets and keys to be associated.

    Attributes
    ----------
    U, V : Tensor, shape (d, n)
        Column i of ``U`` is the target u_i, column i of ``V`` the key v_i.

    Raises
    ------
    ValueError
        If the two are not floating-point matrices of one shape, dtype and device with finite entries and at
        least two columns.
    """

    U: torch.Tensor
    V: torch.Tensor

    def __post_init__(self):
        for name, X in (("U", self.U), ("V", self.V)):
            ok = isinstance(X, torch.Tensor) and X.ndim == 2 and X.is_floating_point()
            require(ok, name, _describe(X), "a floating-point tensor of shape (d, n)")
        same = (
            self.U.shape == self.V.shape and self.U.dtype == self.V.dtype and self.U.device == self.V.device
        )
        require(same, "V", _describe(self.V), f"like U, {_describe(self.U)}")
        require(self.n >= 2, "U", _describe(self.U), "at least two columns (n >= 2)")
        for name, X in (("U", self.U), ("V", self.V)):
            finite = all(bool(torch.isfinite(part).all()) for part in X.split(4096, dim=1))
            require(finite, name, "a tensor with inf or nan", "finite")

    @property
    def d(self):
        """Dimension of the vectors."""
        return self.U.shape[0]

    @property
    def n(self):
        """Number of pairs."""
        return self.U.shape[1]


def gaussian_pairs(n, d, *, seed, dtype=torch.float64, device="cpu"):
    """Draw the pairs of the paper, independent N(0, I_d / d) vectors (eq. ``gaussian_model``).

    The draw happens on the CPU in float64 whatever the device and dtype, so that every device sees the same
    data up to one rounding. The first pairs of a larger draw are the pairs of a smaller one.

    Parameters
    ----------
    n, d : int
        Number of pairs, at least 2, and dimension, at least 1.
    seed : int
        Nonnegative.
    dtype : torch.float64 or torch.float32
    device : str or torch.device

    Returns
    -------
    Pairs
        ``U`` and ``V`` of shape (d, n).

    Raises
    ------
    ValueError
        Naming the argument, or the memory that is missing.
    """
    require_integer("n", n, 2)
    require_integer("d", d, 1)
    require_integer("seed", seed, 0)
    require(dtype in (torch.float64, torch.float32), "dtype", dtype, "torch.float64 or torch.float32")
    require_device(device)
    shortage = memory_shortage(lambda m: 8 * d * (2 * m + (m if dtype == torch.float32 else 0)), n)
    if shortage:
        raise ValueError(shortage)
    streams = np.random.SeedSequence(seed).spawn(2)
    U, V = (_gaussian_columns(n, d, stream).to(device=device, dtype=dtype) for stream in streams)
    return Pairs(U, V)


def derived_seed(seed, *indices):
    """A seed for one of many independent draws, from a base seed and the indices of the draw."""
    return int(np.random.SeedSequence(seed, spawn_key=indices).generate_state(1, np.uint64)[0])


def _gaussian_columns(n, d, stream):
    rows = np.random.default_rng(stream).standard_normal((n, d))
    rows /= math.sqrt(d)
    return torch.from_numpy(rows).T


def require_device(device):
    """Check that torch can use a device.

    Raises
    ------
    ValueError
        For a name torch does not know, or ``cuda`` where there is no GPU.
    """
    try:
        kind = torch.device(device).type
    except (RuntimeError, TypeError):
        kind = None
    require(kind in ("cpu", "cuda"), "device", str(device), "cpu or cuda")
    require(
        kind == "cpu" or torch.cuda.is_available(),
        "device",
        str(device),
        "cpu, since no CUDA GPU is available",
    )


def best_device():
    """``cuda`` where torch has a GPU, else ``cpu``."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def dimension_at_ratio(n, ratio):
    """Dimension d for which ``d^2 / (n log n)`` is closest to ``ratio`` (at least 1).

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    ratio : float
        The ``top1_ratio`` asked for, positive.
    """
    require_integer("n", n, 2)
    require(ratio > 0 and math.isfinite(ratio), "ratio", ratio, "a finite number > 0")
    return max(1, round(math.sqrt(ratio * n * math.log(n))))


def top1_ratio(n, d):
    """``d^2 / (n log n)``, whose critical value is 2 (Theorem 1). Figure 1 of the paper shows its inverse."""
    require_integer("n", n, 2)
    return d**2 / (n * math.log(n))


def pairs_at_load(load, d):
    """Number of pairs n for which ``n / d^2`` is closest to ``load`` (at least 2)."""
    require(load > 0 and math.isfinite(load), "load", load, "a finite number > 0")
    require_integer("d", d, 1)
    return max(2, round(load * d**2))


def tail_count(r, m):
    """Size ``k = ceil(r m)`` of the tail of m competitors.

    A float stands for the simplest fraction it could have been written as, so that 0.1 of 30 is 3 and not,
    with the rounding of 0.1, a fraction more.

    Parameters
    ----------
    r : float
        Tail fraction in (0, 1].
    m : int
        Number of competitors, at least 1.
    """
    require(0 < r <= 1, "r", r, "in (0, 1]")
    return max(1, math.ceil(Fraction(r).limit_denominator(10**9) * m))


def block_columns(n, itemsize=8, device="cpu"):
    """How many score columns one block holds: 64 MiB of scores, 1 GiB on a GPU, less where memory is short.

    Parameters
    ----------
    n : int
        Number of pairs, so of rows of the block.
    itemsize : int
        Bytes of one score.
    device : str or torch.device
        Where the block will be.
    """
    on_cpu = torch.device(device).type == "cpu"
    most = BLOCK_BYTES if on_cpu else GPU_BLOCK_BYTES
    if n * n * itemsize <= most:
        return n
    free = available_bytes() if on_cpu else torch.cuda.mem_get_info(device)[0]
    budget = min(most, free // 8)
    return int(min(n, max(1, budget // (n * itemsize))))


def column_slices(count, step):
    """Slices of at most ``step`` columns that cover ``count`` of them, in order."""
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def peak_bytes(n, d, itemsize=8):
    """Bytes that a streamed pass over ``n`` pairs takes at its peak, the runtime included."""
    block = max(BLOCK_BYTES, n * itemsize)
    return RUNTIME_BYTES + itemsize * (2 * n * d + 3 * d * d) + 2 * block


def scores(pairs, W, columns=slice(None)):
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
    """
    require_memory_matrix(pairs, W)
    return pairs.U.T @ (W @ pairs.V[:, columns])


def score_blocks(pairs, W):
    """Walk over the score matrix in blocks of columns.

    Yields
    ------
    columns : slice
    block : Tensor, shape (n, b)
        A fresh tensor that the caller may overwrite.
    """
    require_memory_matrix(pairs, W)
    for columns in column_slices(pairs.n, block_columns(pairs.n, W.element_size(), W.device)):
        yield columns, pairs.U.T @ (W @ pairs.V[:, columns])


def retrieval_margins(pairs, W):
    """Margin of each key, its signal score less the best competing score.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    Tensor, shape (n,)
        ``s_ii - max_{j != i} s_ji``; all positive exactly when ``W`` retrieves every pair (eq. ``top1``).
    """
    signal, rival = signals_and_rivals(pairs, W)
    return signal - rival


def signals_and_rivals(pairs, W):
    """Signal score and best competing score of each key.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    signal, rival : Tensor, shape (n,)
        ``s_ii`` and ``max_{j != i} s_ji``.
    """
    signal, rival = pairs.V.new_empty(pairs.n), pairs.V.new_empty(pairs.n)
    for columns, block in score_blocks(pairs, W):
        signal[columns] = take_signal(block, columns, -math.inf)
        rival[columns] = block.amax(dim=0)
    return signal, rival


def signal_percentiles(pairs, W):
    """Share of competitors at or below the signal, for each key (the paper's Omega_i).

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    Tensor, shape (n,)
        Multiples of ``1 / (n - 1)`` between 0 and 1.
    """
    return signals_and_percentiles(pairs, W)[1]


def signals_and_percentiles(pairs, W):
    """Signal score of each key, and the share of its competitors at or below it.

    Parameters
    ----------
    pairs : Pairs
    W : Tensor, shape (d, d)

    Returns
    -------
    signal, percentile : Tensor, shape (n,)
    """
    signal, percentile = pairs.V.new_empty(pairs.n), pairs.V.new_empty(pairs.n)
    for columns, block in score_blocks(pairs, W):
        signal[columns] = take_signal(block, columns, math.inf)
        percentile[columns] = (block <= signal[columns]).sum(dim=0).to(signal.dtype) / (pairs.n - 1)
    return signal, percentile


def take_signal(block, columns, replacement):
    """Signal scores of a block, overwritten there so that only competitors remain.

    Parameters
    ----------
    block : Tensor, shape (n, b)
        Scores of the keys in ``columns``; changed in place.
    columns : slice
    replacement : float

    Returns
    -------
    Tensor, shape (b,)
    """
    diagonal = torch.arange(columns.stop - columns.start, device=block.device)
    signal = block[diagonal + columns.start, diagonal].clone()
    block[diagonal + columns.start, diagonal] = replacement
    return signal


def require_memory_matrix(pairs, W, name="W"):
    """Check that a matrix is a memory for these pairs: shape (d, d), their dtype and device, finite.

    Raises
    ------
    ValueError
        Naming the matrix by ``name``.
    """
    ok = isinstance(W, torch.Tensor) and W.shape == (pairs.d, pairs.d)
    require(ok, name, _describe(W), f"a tensor of shape ({pairs.d}, {pairs.d})")
    like = W.dtype == pairs.U.dtype and W.device == pairs.U.device
    require(like, name, _describe(W), f"of dtype {pairs.U.dtype} on {pairs.U.device}, like the pairs")
    require(bool(torch.isfinite(W).all()), name, "a matrix with inf or nan", "finite")


def _describe(X):
    if isinstance(X, torch.Tensor):
        return f"{tuple(X.shape)} {str(X.dtype).removeprefix('torch.')} on {X.device}"
    return type(X).__name__
