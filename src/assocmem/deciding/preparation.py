"""An instance in other coordinates, which a search finds easier, and the way back.

Whether a memory retrieves all pairs does not change when all targets are shifted, when targets or keys are
mapped by matrices that lose nothing, or when a key gets another length. So vectors can be made to look alike
in all directions, whatever they were before. Only the search uses this: what it finds is brought back, and
proved for the pairs as they were given.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from assocmem.deciding.certificates import evening_map, mapped, spanning_rows
from assocmem.deciding.comparisons import as_arrays
from assocmem.pairs.data import Facts, Pairs

USUAL_LENGTHS = (1e-2, 1e2)
"""Lengths between which vectors need no preparation; those of the paper are near one. Chosen by trial."""
ROUNDED = 1e-13
"""Extent of vectors in a direction, over the largest, below which it may be rounding. Chosen by trial."""
HALF_AN_EXTENT = 0.5
"""Extent over the largest, after all have been made equal, below which a direction was taken for rounding; it
is left out."""


@dataclass(frozen=True)
class Prepared:
    """An instance in other coordinates.

    Attributes
    ----------
    pairs : Pairs or Facts
        The instance to search. Where vectors lie in a subspace, its last coordinates are zero.
    left, right : Tensor, shapes (d_out, d_out) and (d_in, d_in)
        The maps of targets and keys.
    lengths : Tensor, shape (n,)
        What the keys were multiplied by.
    rounded : tuple of two bool
        Whether targets, and keys, have directions that were left out and that may be more than rounding.
    """

    pairs: Pairs | Facts
    left: torch.Tensor
    right: torch.Tensor
    lengths: torch.Tensor
    rounded: tuple[bool, bool] = (False, False)

    @property
    def ranks(self) -> tuple[int, int]:
        """Dimensions of targets and of keys that were not left out."""
        return int(self.left.any(dim=1).sum()), int(self.right.any(dim=1).sum())

    @property
    def left_out(self) -> str:
        """What was taken for rounding and left out, as the end of a sentence; empty if nothing was."""
        parts = zip(("targets", "keys"), self.ranks, self.rounded, strict=True)
        flat = [f"{name} lie in {r} dimensions up to rounding" for name, r, rounded in parts if rounded]
        return "; " + " and ".join(flat) if flat else ""

    def memory(self, W: torch.Tensor) -> torch.Tensor:
        """The memory that gives the instance as it was the scores of W in this one."""
        return self.left.T @ W @ self.right

    def start(self, W: torch.Tensor) -> torch.Tensor:
        """The memory whose scores in this instance are those of W in the one as it was."""
        return torch.linalg.pinv(self.left.T) @ W @ torch.linalg.pinv(self.right)

    def weights(self, weights: torch.Tensor) -> torch.Tensor:
        """Weights for the instance as it was that cancel where these do in this one, shape (m, n)."""
        return weights * self.lengths


def as_given(pairs: Pairs | Facts) -> Prepared:
    """An instance without any preparation.

    Parameters
    ----------
    pairs : Pairs or Facts

    Returns
    -------
    Prepared
    """
    like = {"dtype": pairs.U.dtype, "device": pairs.U.device}
    left, right = torch.eye(pairs.d_out, **like), torch.eye(pairs.d_in, **like)
    return Prepared(pairs, left, right, pairs.V.new_ones(pairs.n))


def prepare(pairs: Pairs | Facts, floor: float) -> Prepared:
    """An instance in coordinates in which neither targets nor keys prefer a direction.

    Parameters
    ----------
    pairs : Pairs or Facts
        In double precision.
    floor : float
        Extent of targets or keys in a direction, over the largest, below which it is left out. `ROUNDED`
        leaves out what may be rounding; zero takes all digits at their word.

    Returns
    -------
    Prepared
    """
    U, V = as_arrays(pairs)
    powers = -np.frexp(np.abs(V).max(axis=0))[1]
    keys = np.ldexp(V, powers)
    right, V, short = _rounded(keys, 0 * keys[:, :1], floor)
    sizes = np.linalg.norm(V, axis=0)
    lengths = np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    middle = np.abs(U - np.median(U, axis=1, keepdims=True)).max(axis=0).argmin()
    left, U, flat = _rounded(U, U[:, middle, None], floor, shifted=True)
    U = U - U.mean(axis=1, keepdims=True)
    scale = math.sqrt(pairs.m / (U * U).sum()) if U.any() else 1.0
    back = {"dtype": pairs.U.dtype, "device": pairs.U.device}
    U, V, left, right, lengths = (
        torch.from_numpy(X).to(**back)
        for X in (U * scale, V * lengths, left * scale, right, np.ldexp(lengths, powers))
    )
    return Prepared(pairs.with_vectors(U, V), left, right, lengths, (flat, short))


def _rounded(X, centre, floor, *, shifted=False):
    """A map after which vectors look alike in all directions that they have, and what it makes of them.

    The centre is one of the vectors where a common shift does not count: differences are exact then. Also
    tells whether the map leaves out a direction that vectors have in their last digits.
    """
    d, rows = len(X), np.arange(len(X))
    A = _map_of_rows(X, centre, rows, floor, shifted)
    if not A.any(axis=1).all():
        rows = spanning_rows(X, shifted=shifted)
        A = _map_of_rows(X, centre, rows, floor, shifted) if len(rows) < d else A
    A = np.ldexp(A, -np.frexp(np.abs(A @ (X - centre)).max())[1])
    return A, mapped(A, X, centre)[0], int(A.any(axis=1).sum()) < min(len(rows), X.shape[1] - shifted)


def _map_of_rows(X, centre, rows, floor, shifted):
    """Such a map, from some coordinates to as many; whatever it has no use for is zero."""
    D = (X - centre)[rows]
    if shifted:
        D = D - D.mean(axis=1, keepdims=True)
    A = evening_map(D, floor)
    extents = np.linalg.norm(A @ D, axis=1)
    A[extents < HALF_AN_EXTENT * extents.max()] = 0
    whole = np.zeros((len(X), len(X)))
    whole[: len(A), rows] = A
    return whole


def has_usual_lengths(pairs: Pairs | Facts) -> bool:
    """Whether a search may begin with the pairs as they are given.

    Parameters
    ----------
    pairs : Pairs or Facts

    Returns
    -------
    bool
    """
    low, high = USUAL_LENGTHS
    return all(
        bool((low <= x.norm(dim=0)).all() and (x.norm(dim=0) <= high).all()) for x in (pairs.U, pairs.V)
    )
