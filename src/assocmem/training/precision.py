"""Products of score blocks in less than double precision, on a card and, to measure their errors, off it.

A TF32 number has the range of float32 and 10 bits behind the leading one. Tensor cores multiply two of them
exactly and add in float32, which float32 products of rounded numbers do as well, on any device. ``tf32x3``
splits each number into two of TF32 and leaves out only the product of the two small parts.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from assocmem.checks import require, require_choice
from assocmem.pairs.data import describe, is_dense

EXACT = "float64"
PRECISIONS = ("tf32", "float32", "tf32x3", EXACT)
"""From the coarsest to the exact one, in which products are taken in the type of the pairs."""


class Products:
    """Products with the targets, all in one precision.

    Parameters
    ----------
    U : Tensor, shape (d_out, m)
        Targets.
    precision : str
        One of `PRECISIONS`.

    Raises
    ------
    ValueError
        For a precision that there is not.
    """

    def __init__(self, U: torch.Tensor, precision: str):
        require_choice("precision", precision, PRECISIONS)
        self.precision, self.dtype = precision, U.dtype
        self.targets = self._parts(U)

    @property
    def exact(self) -> bool:
        """Whether nothing is rounded to fewer digits than the pairs have."""
        return self.precision == EXACT

    def space(self, rows: int) -> torch.Tensor:
        """Memory for the scores of so many keys, side by side."""
        return self.targets[0].new_empty(rows, self.targets[0].shape[1])

    def scores(self, X: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """Scores of targets for images of keys.

        Parameters
        ----------
        X : Tensor, shape (d_out, b)
        out : Tensor, shape (b, m)
            Where the result is written.

        Returns
        -------
        Tensor, shape (b, m)
            ``X' U``.
        """
        return self._product(self._parts(X.T), self.targets, out)

    def pulled(self, T: torch.Tensor) -> torch.Tensor:
        """``U T`` for T of shape (m, b), in the type of the pairs."""
        return self._product(self.targets, self._parts(T)).to(self.dtype)

    def _parts(self, X: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """One or two tensors that the precision can represent; they sum to X but for its rounding error."""
        if self.exact:
            return (X,)
        X = X.float()
        if self.precision == "float32":
            return (X,)
        high = rounded_to_tf32(X)
        return (high,) if self.precision == "tf32" else (high, rounded_to_tf32(X - high))

    def _product(
        self, A: tuple[torch.Tensor, ...], B: tuple[torch.Tensor, ...], out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Product of two matrices given by parts, the product of the two small parts left out."""
        with _tensor_cores(A[0].device, self.precision.startswith("tf32")):
            total = torch.mm(A[0], B[0], out=out)
            if len(A) == 2:
                total.addmm_(A[0], B[1]).addmm_(A[1], B[0])
        return total


def rounded_to_tf32(X: torch.Tensor) -> torch.Tensor:
    """Nearest numbers with 10 bits behind the leading one, ties to even, of a float32 tensor."""
    ok = is_dense(X) and X.dtype == torch.float32
    require(ok, "X", describe(X), "a tensor of float32")
    X = X.detach()
    bits = X.view(torch.int32)
    even = torch.bitwise_right_shift(bits, 13).bitwise_and_(1).add_(0x0FFF).add_(bits)
    return even.bitwise_and_(~0x1FFF).view(torch.float32)


@contextmanager
def _tensor_cores(device: torch.device, allowed: bool) -> Iterator[None]:
    """Let float32 products on a card run as TF32, or forbid it, whatever is set elsewhere."""
    if device.type != "cuda":
        yield
        return
    settings = torch.backends.cuda.matmul
    before = settings.fp32_precision
    settings.fp32_precision = "tf32" if allowed else "ieee"
    try:
        yield
    finally:
        settings.fp32_precision = before
