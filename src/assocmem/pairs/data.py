"""The pairs to be stored, and the Gaussian pairs of the paper."""

import math
from dataclasses import dataclass

import numpy as np
import torch

from assocmem.checks import require, require_instance, require_integer
from assocmem.machine import memory_shortage

CHECKED_COLUMNS = 4096
"""Columns that are checked for finite entries at a time, so that the check takes no memory to speak of."""


@dataclass(frozen=True)
class Pairs:
    """Targets and keys to be associated.

    Attributes
    ----------
    U, V : Tensor, shape (d, n)
        Column i of ``U`` is the target u_i, column i of ``V`` the key v_i; float64 or float32, in any order
        of memory, and zero vectors among them. Kept as they are and not copied, but that gradients are not
        followed, and that half precision and other short types become float32, which holds them exactly.

    Raises
    ------
    ValueError
        If the two are not floating-point matrices of one shape, dtype and device with finite entries, at
        least one row and at least two columns.
    """

    U: torch.Tensor
    V: torch.Tensor

    def __post_init__(self) -> None:
        """Check the tensors; the errors are those of the class."""
        for name, X in (("U", self.U), ("V", self.V)):
            ok = is_dense(X) and X.ndim == 2 and X.is_floating_point()
            require(ok, name, describe(X), "a floating-point tensor of shape (d, n), dense, on cpu or cuda")
            object.__setattr__(self, name, plain(X))
        same = (
            self.U.shape == self.V.shape and self.U.dtype == self.V.dtype and self.U.device == self.V.device
        )
        require(same, "V", describe(self.V), f"like U, {describe(self.U)}")
        require(self.n >= 2, "U", describe(self.U), "at least two columns (n >= 2)")
        require(self.d >= 1, "U", describe(self.U), "at least one row (d >= 1)")
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
    known = any(dtype is kind for kind in (torch.float64, torch.float32))
    require(known, "dtype", dtype, "torch.float64 or torch.float32")
    require_device(device)
    n, d, seed = int(n), int(d), int(seed)  # short integers of NumPy overflow in products
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

    Raises
    ------
    ValueError
        For a seed or an index that is no nonnegative integer.
    """
    require_integer("seed", seed, 0)
    for index in indices:
        require_integer("indices", index, 0)
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
        kind = torch.device(device).type if isinstance(device, str | torch.device) else None
    except RuntimeError:
        kind = None
    named = str(device) if isinstance(device, torch.device) else device
    require(kind in ("cpu", "cuda"), "device", named, "cpu or cuda")
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
    if not isinstance(X, torch.Tensor):
        return f"the class {X.__name__}" if isinstance(X, type) else type(X).__name__
    kind = str(X.dtype).removeprefix("torch.")
    if X.is_nested:  # has no shape
        return f"nested {kind} on {X.device}"
    layout = "" if X.layout == torch.strided else str(X.layout).removeprefix("torch.") + " "
    return f"{tuple(X.shape)} {layout}{kind} on {X.device}"


def is_dense(X: object) -> bool:
    """Whether something is a tensor that has all its entries, as one that is sparse or ``meta`` has not."""
    if not isinstance(X, torch.Tensor) or X.is_nested or X.layout != torch.strided:
        return False
    return X.device.type in ("cpu", "cuda")


def plain(X: torch.Tensor) -> torch.Tensor:
    """A tensor that all operations take, of the same numbers; the very one where it is one already.

    Parameters
    ----------
    X : Tensor
        Dense and floating-point. It may require a gradient, be a parameter or another subclass, be of the
        inference mode, stand for the negative of what is stored, or have less than 32 bits a number.

    Returns
    -------
    Tensor
        Of float64 or float32.

    Raises
    ------
    ValueError
        For what is no such tensor.
    """
    require(is_dense(X) and X.is_floating_point(), "X", describe(X), "a floating-point tensor")
    if type(X) is not torch.Tensor:
        X = X.detach().as_subclass(torch.Tensor)
    if X.requires_grad:
        X = X.detach()
    if X.is_inference() and not torch.is_inference_mode_enabled():
        X = X.clone()
    return (X.float() if X.itemsize < 4 else X).resolve_neg()


def require_pairs(pairs: object) -> None:
    """Check that an argument is an instance of `Pairs`."""
    require_instance("pairs", pairs, Pairs)


def require_array(
    name: str, X: object, shape: tuple[int | None, ...], like: torch.Tensor | None = None
) -> None:
    """Check that an argument is a dense floating-point tensor of a shape.

    Parameters
    ----------
    name : str
        What to call it in a message.
    X : object
        What was passed for it.
    shape : tuple of int or None
        None stands for any size.
    like : Tensor, optional
        One whose dtype and device it has to share.

    Raises
    ------
    ValueError
        Naming the argument, what was passed and what it should be.
    """
    ok = is_dense(X) and X.is_floating_point() and X.ndim == len(shape)
    ok = ok and all(wanted in (None, size) for wanted, size in zip(shape, X.shape, strict=True))
    sizes = ", ".join("any" if size is None else str(size) for size in shape)
    require(ok, name, describe(X), f"a floating-point tensor of shape ({sizes}{',' * (len(shape) == 1)})")
    if like is not None:
        same = X.dtype == like.dtype and X.device == like.device
        require(same, name, describe(X), f"of dtype {like.dtype} on {like.device}, like the rest")
