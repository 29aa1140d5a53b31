"""False certificates, made to be refused: with one decisive thing wrong, or as nearly right as can be."""

from dataclasses import replace

import numpy as np
from scipy.optimize import nnls

from assocmem.deciding.certificates import Certificate
from assocmem.pairs.data import Facts, Pairs


def largest_negated(weights: np.ndarray) -> np.ndarray:
    """A copy of an array of weights in which the largest has the opposite sign."""
    changed = weights.copy()
    changed[np.unravel_index(changed.argmax(), changed.shape)] *= -1
    return changed


def forged(certificate: Certificate) -> Certificate:
    """A certificate with one decisive thing wrong: the memory negated, or the largest of the weights.

    Computed weights are those of the negated memory.
    """
    if certificate.feasible:
        return Certificate(certificate.k, W=-certificate.W)
    if certificate.computed is not None:
        return Certificate(certificate.k, computed=replace(certificate.computed, W=-certificate.computed.W))
    return Certificate(certificate.k, weights=largest_negated(certificate.weights))


def nearest_miss(pairs: Pairs | Facts) -> tuple[np.ndarray, float]:
    """Nonnegative weights of total one that bring the weighted sum of comparisons closest to zero.

    They belong to the point of the hull of all comparisons ``(u_a_i - u_j) v_i'`` that is nearest to zero, a
    problem of nonnegative least squares. On an instance that no memory retrieves the sum is zero up to
    rounding; on one that some memory does retrieve it is not, and the weights prove nothing.

    Parameters
    ----------
    pairs : Pairs or Facts
        Of small size: the comparisons are held as a matrix of ``d_out d_in`` by ``n (m - 1)`` numbers.

    Returns
    -------
    weights : ndarray, shape (m, n)
        ``weights[j, i]`` of competitor j of key i, as in `Certificate`.
    length : float
        Frobenius norm of the weighted sum.
    """
    U, V, own = pairs.U.numpy(), pairs.V.numpy(), pairs.answers.numpy()
    j, i = np.nonzero(np.arange(pairs.m)[:, None] != own)
    A = ((U[:, own[i]] - U[:, j])[:, None] * V[None, :, i]).reshape(pairs.entries, -1)
    found, _ = nnls(np.vstack([A, np.ones(len(i))]), np.append(np.zeros(len(A)), 1.0))
    weights = np.zeros((pairs.m, pairs.n))
    weights[j, i] = found / found.sum()
    return weights, float(np.linalg.norm(A @ (found / found.sum())))
