"""The change that makes nearly cancelling weights cancel exactly, and whether it is small enough.

Weights that are found in floating-point numbers leave ``R = sum lam_ij A_ij``. With ``H = sum lam A A'`` and
``H vec(Y) = vec(R)`` the weights ``lam_ij (1 - <A_ij, Y>)`` cancel, and they are positive where
``max |A_ij| |R| / lambda_min(H)`` is below one. Where all weights are at least some floor f, the product of
f and two eigenvalues of d x d matrices may stand for ``lambda_min(H)``. Here these numbers are computed as
they come, to be looked at; `assocmem.deciding.certificates` bounds them with all rounding on the way, and
does not rely on this.
"""

from dataclasses import dataclass

import numpy as np
import torch

from assocmem.deciding import certificates
from assocmem.deciding.comparisons import cancellation
from assocmem.pairs.data import Facts, Pairs


@dataclass(frozen=True)
class Correction:
    """What decides whether weights can be made to cancel, rounding not counted.

    Attributes
    ----------
    left : float
        Frobenius norm of ``R``, what the weighted comparisons add up to.
    smallest : float
        Smallest eigenvalue of ``H``.
    longest : float
        A bound on the norm of every comparison.
    """

    left: float
    smallest: float
    longest: float

    @property
    def relative_change(self) -> float:
        """Bound on the relative change of any weight; below one, all corrected weights are positive.

        Meaningless where `smallest` is zero up to rounding, as it is where only one key has weights.
        """
        return self.longest * self.left / self.smallest


def correction(pairs: Pairs | Facts, weights: np.ndarray) -> Correction:
    """The numbers in the sufficient condition for weights of a top-1 certificate.

    Parameters
    ----------
    pairs : Pairs or Facts
    weights : ndarray, shape (m, n)
        ``weights[j, i]`` of competitor j of key i, zero at its own target.

    Returns
    -------
    Correction
    """
    left = float(cancellation(pairs, torch.from_numpy(weights)).norm())
    U, V = pairs.U.numpy(), pairs.V.numpy()
    H = certificates._gram(weights, weights.sum(axis=0), U, V, pairs.answers.numpy(), False)
    return Correction(left, float(np.linalg.eigvalsh(H)[0]), _longest(pairs))


@dataclass(frozen=True)
class FloorCorrection:
    """What decides whether weights that have a floor can be made to cancel, rounding not counted.

    Attributes
    ----------
    left : float
        Frobenius norm of ``R``, what the weighted comparisons add up to.
    least : float
        Least weight, the floor.
    extent : float
        Smallest eigenvalue of the centred Gram matrix of the targets, times that of the keys.
    longest : float
        A bound on the norm of every comparison.
    """

    left: float
    least: float
    extent: float
    longest: float

    @property
    def share(self) -> float:
        """Bound on the change of any weight over the floor; below one, all corrected weights are positive."""
        return self.longest * self.left / (self.least * self.extent) if self.least > 0 else np.inf


def floor_correction(pairs: Pairs | Facts, weights: np.ndarray) -> FloorCorrection:
    """The numbers in the sufficient condition for weights of a top-1 certificate that have a floor.

    Parameters
    ----------
    pairs : Pairs or Facts
    weights : ndarray, shape (m, n)
        As for `correction`.

    Returns
    -------
    FloorCorrection
    """
    left = float(cancellation(pairs, torch.from_numpy(weights)).norm())
    centred = pairs.U - pairs.U.mean(dim=1, keepdim=True)
    extents = [float(torch.linalg.eigvalsh(X @ X.T)[0]) for X in (centred, pairs.V)]
    least = float(weights[np.arange(pairs.m)[:, None] != pairs.answers.numpy()].min())
    return FloorCorrection(left, least, extents[0] * extents[1], _longest(pairs))


def _longest(pairs):
    """A bound on the norm of every comparison."""
    return float((pairs.U.norm(dim=0).max() * 2 * pairs.V.norm(dim=0)).max())
