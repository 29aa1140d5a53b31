"""How large the worst margin of a memory is, and how large any can be, for certain (not in the paper).

With ``A_ij = (u_a_i - u_j) v_i'``, the comparison of key i with competitor j, the margin of a memory is
``min <A_ij, W> / |W|_F`` over all comparisons, ``|.|_F`` the Frobenius norm. Weights ``lam_ij >= 0`` bound it
for all memories at once: the least of numbers is no more than their weighted mean,

    min <A_ij, W>  <=  sum lam_ij <A_ij, W> / sum lam  <=  |sum lam_ij A_ij|_F |W|_F / sum lam.

Both sides are computed with bounds on all rounding, as in `assocmem.deciding.certificates`, and need numpy
alone: nobody has to trust how the memory and the weights were found.
"""

import math
import sys

import numpy as np

from assocmem.deciding import certificates as proofs
from assocmem.deciding.certificates import UNDERFLOW

GATHERED = 2**22
"""Numbers of the gaps between targets that are gathered at a time: 32 MiB."""

LEAST_SHARE = 2.0**-40
"""Share by which a quotient is rounded to the safe side, more than a few operations take."""


def margin_from_below(
    W: np.ndarray, U: np.ndarray, V: np.ndarray, answers: np.ndarray | None = None
) -> float:
    """A number that the worst margin of a memory over its Frobenius norm reaches for certain.

    Parameters
    ----------
    W : array or tensor, shape (d_out, d_in)
        Floating-point, taken as exact.
    U, V : array or tensor, shapes (d_out, m) and (d_in, n)
        Targets and keys.
    answers : array or tensor of integers, shape (n,), optional
        The target of each key, by its number; by default key i has target i, and shapes are equal.

    Returns
    -------
    float
        Positive only if W retrieves every key; zero for ``W = 0``; ``-inf`` where double precision cannot
        tell.

    Raises
    ------
    ValueError
        For arrays that do not fit together.
    """
    W, U, V, own = _fitting(W, U, V, answers)
    if not W.any() or not U.any() or not V.any():
        return 0.0
    W, (U, p), (V, q) = proofs._unit_scale(W, exact=True), _scaled(U), _scaled(V)
    if W is None or U is None or V is None:
        return -math.inf
    terms = len(U) + len(V) + 8
    X, sizes, worst = W @ V, np.abs(W) @ np.abs(V), math.inf
    # as for a memory in `certificates`: each score is off by g(terms) of the sum of absolute values at most
    doubt = 2 * proofs._g(terms) * proofs._norms(U).max() * proofs._norms(sizes) + UNDERFLOW
    step = proofs._keys_at_once(U, V)
    for start in range(0, V.shape[1], step):
        keys = np.arange(start, min(V.shape[1], start + step))
        signal, best = proofs._signal_and_best(U.T @ X[:, keys], own[keys], 1)
        worst = min(worst, float((signal - best - doubt[keys]).min()))
    low, high = _length_bounds(W)
    found = worst / high * (1 - LEAST_SHARE) if worst > 0 else worst / low * (1 + LEAST_SHARE)
    return min(_scaled_back(found, p + q, -math.inf), sys.float_info.max)


def verify_margin_bound(
    weights: np.ndarray,
    targets: np.ndarray,
    keys: np.ndarray,
    U: np.ndarray,
    V: np.ndarray,
    answers: np.ndarray | None = None,
) -> float:
    """A number that no memory's worst margin over its Frobenius norm exceeds, by weights on comparisons.

    Parameters
    ----------
    weights : array or tensor, shape (c,)
        Not negative and not all zero; any such weights give a bound, the right ones the least.
    targets, keys : array or tensor of integers, shape (c,)
        Each weight is on the comparison of this key's own target with this one, which has to be another.
    U, V, answers
        As for `margin_from_below`.

    Returns
    -------
    float
        Not negative; ``inf`` where double precision cannot tell.

    Raises
    ------
    ValueError
        For arrays that do not fit together, and for weights that bound nothing: a negative one, none that is
        positive, or one on a key's own target.
    """
    _, U, V, own = _fitting(None, U, V, answers)
    weights = proofs._matrix(weights, 1)
    targets, keys = proofs._numbers(targets), proofs._numbers(keys)
    if weights is None or targets is None or keys is None or not weights.shape == targets.shape == keys.shape:
        raise ValueError("weights: must be finite numbers, with as many integers for targets and for keys")
    if not (weights >= 0).all() or not weights.any():
        raise ValueError("weights: must not be negative, nor all zero")
    inside = (targets >= 0).all() and (targets < U.shape[1]).all()
    inside = inside and (keys >= 0).all() and (keys < V.shape[1]).all()
    if not inside or (own[keys] == targets).any():
        raise ValueError("targets: must be of comparisons of a key with another target than its own")
    if not U.any() or not V.any():
        return 0.0
    (U, p), (V, q), weights = _scaled(U), _scaled(V), proofs._unit_scale(weights)
    if U is None or V is None:
        return math.inf
    total, size, count, zero = np.zeros((len(U), len(V))), 0.0, len(weights), True
    lengths, step = proofs._norms(V), max(1, GATHERED // len(U))
    for start in range(0, count, step):
        part = slice(start, start + step)
        gaps = U[:, own[keys[part]]] - U[:, targets[part]]
        zero = zero and not (gaps.any(axis=0) & V[:, keys[part]].any(axis=0) & (weights[part] > 0)).any()
        gaps *= weights[part]
        total += gaps @ V[:, keys[part]].T
        size += float(proofs._norms(gaps) @ lengths[keys[part]])
    # each entry is a sum of so many products, with a difference and a product by a weight in each
    rounding = proofs._g(count + 8) * size * proofs.UPWARD + UNDERFLOW
    least = float(weights.sum()) * (1 - 2 * proofs._g(count + 8))
    found = (_length_bounds(total)[1] + rounding) / least * (1 + LEAST_SHARE)
    return 0.0 if zero else _scaled_back(found, p + q, math.inf)


def _fitting(W, U, V, answers):
    """Arrays in double precision that fit together."""
    U, V = proofs._matrix(U), proofs._matrix(V)
    if U is None or V is None or (answers is None and U.shape != V.shape):
        raise ValueError("U and V: must be finite floating-point matrices, of one shape without answers")
    own = np.arange(V.shape[1]) if answers is None else proofs._numbers(answers)
    fits = own is not None and own.shape == V.shape[1:] and min(*U.shape, *V.shape) > 0 and U.shape[1] > 1
    if not fits or own.min() < 0 or own.max() >= U.shape[1]:
        raise ValueError("answers: must be the number of a target for each key, of two targets or more")
    if W is not None:
        W = proofs._matrix(W)
        if W is None or W.shape != (len(U), len(V)):
            raise ValueError(f"W: must be a finite floating-point matrix of shape {(len(U), len(V))}")
    return W, U, V, own


def _scaled(X):
    """An array times a power of two that makes its largest entry about one, and the power that undoes it."""
    power = int(np.frexp(np.abs(X).max())[1])
    return proofs._unit_scale(X, exact=True), power


def _scaled_back(x, power, direction):
    """A number times a power of two, rounded in a direction; what is too large for a float is infinite."""
    with np.errstate(all="ignore"):
        found = float(np.ldexp(x, power))
    return found if math.isinf(found) else math.nextafter(found, direction)


def _length_bounds(X):
    """Bounds on the Frobenius norm of an array of entries up to about one."""
    square, share = float((X * X).sum()), 2 * proofs._g(X.size + 8)
    return max(0.0, math.sqrt(square) * (1 - share) - UNDERFLOW), math.sqrt(square) * (1 + share) + UNDERFLOW
