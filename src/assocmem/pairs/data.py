"""The pairs to be stored, and the Gaussian pairs of the paper."""

import math
from dataclasses import dataclass

import numpy as np
import torch

from assocmem.checks import require, require_integer
from assocmem.machine import memory_shortage

CHECKED_COLUMNS = 4096
"""Columns that are checked for finite entries at a time, so that the check takes no memory to speak of."""


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

    def __post_init__(self) -> None:
        """Check the tensors; the errors are those of the class."""
        for name, X in (("U", self.U), ("V", self.V)):
            ok = isinstance(X, torch.Tensor) and X.ndim == 2 and X.is_floating_point()
            require(ok, name, describe(X), "a floating-point tensor of shape (d, n)")
        same = (
            self.U.shape == self.V.shape and self.U.dtype == self.V.dtype and self.U.device == self.V.device
        )
        require(same, "V", describe(self.V), f"like U, {describe(self.U)}")
        require(self.n >= 2, "U", describe(self.U), "at least two columns (n >= 2)")
        for name, X in (("U", self.U), ("V", self.V)):
            finite = all(bool(torch.isfinite(part).all()) for part in X.split(CHECKED_COLUMNS, dim=1))
            require(finite, name, "a tensor with inf or nan", "finite")

    @property
    def d(self) -> int:
        """Dimension of the vectors."""
        return self.U.shape[0]

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.U.shape[1]


def gaussian_pairs(
    n: int,
    d: int,
    *,
    seed: int,
    dtype: torch.dtype = torch.float64,
    device: str | torch.device = "cpu",
) -> Pairs:
    """Draw the pairs of the paper, independent N(0, I_d / d) vectors (eq. ``gaussian_model``).

    The draw happens on the CPU in float64 whatever the device and dtype, so that every device sees the same
    data up to one rounding. The first pairs of a larger draw are the pairs of a smaller one.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    d : int
        Dimension, at least 1.
    seed : int
        Nonnegative.
    dtype : torch.dtype
        ``torch.float64`` or ``torch.float32``.
    device : str or torch.device
        Where the pairs are put.

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


def derived_seed(seed: int, *indices: int) -> int:
    """A seed for one of many independent draws, from a base seed and the indices of the draw.

    Parameters
    ----------
    seed : int
        The base seed, nonnegative.
    *indices : int
        What tells this draw from the others, nonnegative.

    Returns
    -------
    int
        Nonnegative and below 2^64.
    """
    return int(np.random.SeedSequence(seed, spawn_key=indices).generate_state(1, np.uint64)[0])


def _gaussian_columns(n, d, stream):
    """Independent N(0, I_d / d) vectors as the columns of a tensor of shape (d, n)."""
    rows = np.random.default_rng(stream).standard_normal((n, d))
    rows /= math.sqrt(d)
    return torch.from_numpy(rows).T


def require_device(device: str | torch.device) -> None:
    """Check that torch can use a device.

    Parameters
    ----------
    device : str or torch.device

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


def best_device() -> str:
    """``cuda`` where torch has a GPU, else ``cpu``."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def describe(X: object) -> str:
    """Shape, dtype and device of a tensor, for messages.

    Parameters
    ----------
    X : object
        A tensor, or what was passed for one.

    Returns
    -------
    str
        Of an object that is not a tensor, the name of its type.
    """
    if isinstance(X, torch.Tensor):
        return f"{tuple(X.shape)} {str(X.dtype).removeprefix('torch.')} on {X.device}"
    return type(X).__name__
