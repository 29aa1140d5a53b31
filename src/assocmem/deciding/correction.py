"""The change that makes nearly cancelling weights cancel exactly, and whether it is small enough.

Weights that are found in floating-point numbers leave ``R = sum lam_ij A_ij``. With ``H = sum lam A A'`` and
``H vec(Y) = vec(R)`` the weights ``lam_ij (1 - <A_ij, Y>)`` cancel, and they are positive where
``max |A_ij| |R| / lambda_min(H)`` is below one. Here these numbers are computed as they come, to be looked
at; `assocmem.deciding.certificates` bounds them with all rounding on the way, and does not rely on this.
"""

from dataclasses import dataclass

import numpy as np
import torch

from assocmem.deciding import certificates
from assocmem.deciding.comparisons import cancellation
from assocmem.pairs.data import Pairs


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


def correction(pairs: Pairs, weights: np.ndarray) -> Correction:
    """The numbers in the sufficient condition for weights of a top-1 certificate.

    Parameters
    ----------
    pairs : Pairs
    weights : ndarray, shape (n, n)
        ``weights[j, i]`` of competitor j of key i, zero on the diagonal.

    Returns
    -------
    Correction
    """
    left = float(cancellation(pairs, torch.from_numpy(weights)).norm())
    U, V = pairs.U.numpy(), pairs.V.numpy()
    H = certificates._gram(weights, weights.sum(axis=0), U, V, False)
    longest = float((pairs.U.norm(dim=0).max() * 2 * pairs.V.norm(dim=0)).max())
    return Correction(left, float(np.linalg.eigvalsh(H)[0]), longest)
