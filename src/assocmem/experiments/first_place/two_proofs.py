"""Two ways to a proof that no memory retrieves an instance, side by side.

`assocmem.deciding.feasibility.decide` takes the one in small dimensions and the other above. Here either can
be asked for, and what a memory and a floor make of themselves can be offered whether or not it is a proof.
"""

import os
import tempfile
from collections.abc import Callable

import numpy as np
import torch
from scipy.special import expit, logsumexp

from assocmem.checks import require, require_integer
from assocmem.deciding import feasibility
from assocmem.deciding.certificates import Certificate, ComputedWeights, save
from assocmem.deciding.comparisons import as_arrays
from assocmem.deciding.feasibility import Verdict
from assocmem.deciding.preparation import as_given
from assocmem.deciding.watch import Watch
from assocmem.pairs.data import Pairs, require_pairs
from assocmem.pairs.scores import require_memory_matrix

MOST_STEPS, MOST_PASSES = 200, 3000
"""Newton steps, and passes over the scores, after which a way is given up: as `decide` has it."""


def _silent(text):
    """Shows nothing."""


def decided_by_newton(pairs: Pairs, k: int = 1) -> Verdict:
    """The verdict by Newton's method, whose proof of impossibility stores its weights.

    Parameters
    ----------
    pairs : Pairs
        In double precision, and not far from round: they are taken as they are.
    k : int
        As in `decide`.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        For a k out of range.
    """
    _require_tail(pairs, k, pairs.n - 1)
    return feasibility._newton(pairs, as_given(pairs), k, MOST_STEPS, _silent)[0]


def decided_by_passes(
    pairs: Pairs, k: int = 1, *, report: Callable[[dict, float | None], None] | None = None
) -> Verdict:
    """The verdict by passes over the scores, whose proof of impossibility computes its weights.

    Parameters
    ----------
    pairs : Pairs
        In double precision.
    k : int
        As in `decide`; less than ``n - 1``.
    report : callable, optional
        As in `decide`.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        For a k out of range.
    """
    _require_tail(pairs, k, pairs.n - 2)
    return feasibility._by_passes(pairs, k, MOST_PASSES, None, Watch(pairs, k, None, report, _silent))


def _require_tail(pairs, k, most):
    """Refuse what is no instance, or a tail that is too long for it."""
    require_pairs(pairs)
    require_integer("k", k, 1)
    require(k <= most, "k", k, f"at most {most}")


def tilted_certificate(pairs: Pairs, W: torch.Tensor, floor: float, *, balanced: bool) -> Certificate:
    """What a memory and a floor make of themselves: softmax weights on a floor, whether or not they cancel.

    For keys of length one the weight of competitor j of key i is ``softmax_ij(W) + floor (1 + <A_ij, Z>)``.

    Parameters
    ----------
    pairs : Pairs
        In double precision and of small dimension: the equation for Z is solved with a matrix of ``d^4``
        numbers.
    W : Tensor, shape (d, d)
        A memory.
    floor : float
        Positive.
    balanced : bool
        Whether Z makes the weights cancel up to rounding, which may make some of them negative. Otherwise it
        is zero.

    Returns
    -------
    Certificate
        Not verified.

    Raises
    ------
    ValueError
        For a memory of another shape, or a floor that is not positive.
    """
    require_pairs(pairs)
    require_memory_matrix(pairs, W)
    require(floor > 0, "floor", floor, "positive")
    U, V = as_arrays(pairs)
    W, V = W.detach().numpy(), V / np.linalg.norm(V, axis=0)
    U = U - U.mean(axis=1, keepdims=True)
    S = U.T @ W @ V
    signals = S.diagonal().copy()
    np.fill_diagonal(S, -np.inf)
    levels = logsumexp(S, axis=0)
    sizes = expit(levels - signals)
    Z = np.zeros_like(W)
    if balanced:
        weights = sizes * np.exp(S - levels) + floor * (1 - np.eye(pairs.n))
        left = (U * weights.sum(axis=0) - U @ weights) @ V.T
        Z = -np.linalg.solve(gram_of_comparisons(U, V), left.reshape(-1)).reshape(W.shape) / floor
    power = np.frexp(float(pairs.U.abs().max()))[1]  # the rule is for targets with entries below one
    left, right = np.ldexp(np.eye(pairs.d), power), np.eye(pairs.d)
    return Certificate(1, computed=ComputedWeights(left, right, W, Z, levels, sizes, floor))


def gram_of_comparisons(U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The sum of ``A_ij A_ij'`` over all comparisons, read as vectors.

    Parameters
    ----------
    U, V : ndarray, shape (d, n)
        Targets and keys.

    Returns
    -------
    ndarray, shape (d^2, d^2)
        The centred Gram matrix of the targets times the Gram matrix of the keys, and n times the sum over all
        pairs of the squares of ``(u_i - mean) v_i'``.
    """
    U = U - U.mean(axis=1, keepdims=True)
    own = (U[:, None] * V[None]).reshape(-1, U.shape[1])
    return np.kron(U @ U.T, V @ V.T) + U.shape[1] * own @ own.T


def file_bytes(certificate: Certificate, pairs: Pairs) -> int:
    """Bytes of the file of a certificate, with its pairs.

    Parameters
    ----------
    certificate : Certificate
    pairs : Pairs

    Returns
    -------
    int
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "proof.npz")
        save(path, certificate, *as_arrays(pairs))
        return os.path.getsize(path)


def numbers_in(certificate: Certificate) -> int:
    """Numbers that a certificate holds beside its pairs.

    Parameters
    ----------
    certificate : Certificate

    Returns
    -------
    int
    """
    rule = certificate.computed
    held = [certificate.W, certificate.weights] if rule is None else vars(rule).values()
    return sum(np.size(x) for x in held if x is not None)
