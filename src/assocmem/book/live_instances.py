"""Vectors for the live memory of the opening page, with proofs of what any memory can do with them.

The vectors are nested: an instance takes the first n of them and their first d coordinates. A memory that
retrieves n pairs retrieves the first of these as well, and a proof that no memory retrieves n pairs speaks
about all larger instances too. So one memory and one proof for each dimension decide every number of pairs.

All vectors, and the memories, are integers: the browser finds the margins of a memory without rounding. Of a
proof it is given the comparisons alone. They are as few as determine their weights up to a factor, and the
browser finds these by solving linear equations.
"""

import numpy as np
import torch
from scipy.optimize import nnls

from assocmem.deciding.certificates import Certificate
from assocmem.deciding.feasibility import verify
from assocmem.pairs.data import Pairs, gaussian_pairs

SEEDS = (2, 4, 13)
"""Of the draws, in the order of the page. In each some memory retrieves about as many pairs as is usual, in
every dimension, and 40 pairs are too many for dimension 12."""
MOST_PAIRS, MOST_DIMENSIONS = 40, 12
"""The largest instance."""
UNIT = 100
"""Coordinates are rounded to this part of a standard deviation."""
NOTHING = 1e-9
"""Weights, or a distance, up to which rounding makes them: chosen by trial, and all proofs are verified."""
KEPT = 0.95
"""Share of its smallest margin that a memory keeps when it is rounded to integers."""


def live_instances() -> dict[str, object]:
    """All draws, with the verdicts of every dimension, as plain data.

    Returns
    -------
    dict
        ``unit``: what coordinates are divided by, together with the square root of the dimension; ``draws``:
        for each its vectors ``U`` and ``V``, as lists of integers, one list a pair, and ``verdicts``, one for
        each dimension from 2 on: ``d``; ``n``, the most of the first pairs that some memory retrieves;
        ``W``, such a memory, row by row; ``proof``, the comparisons ``[j, i]`` of a proof that no memory
        retrieves one pair more, the one of the largest weight last. Pairs are counted from zero.
    """
    return {"unit": UNIT, "draws": [_draw(seed) for seed in SEEDS]}


def integer_pairs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian pairs with integer coordinates, of standard deviation about `UNIT`.

    Parameters
    ----------
    seed : int

    Returns
    -------
    U, V : array, shape (12, 40)
    """
    pairs = gaussian_pairs(MOST_PAIRS, MOST_DIMENSIONS, seed=seed)
    scale = UNIT * MOST_DIMENSIONS**0.5
    return tuple(np.rint(scale * X.numpy()) for X in (pairs.U, pairs.V))


def _draw(seed):
    U, V = integer_pairs(seed)
    verdicts, n = [], 2
    for d in range(2, MOST_DIMENSIONS + 1):  # what fewer dimensions retrieve more of them retrieve as well
        n, W, proof = last_retrievable(U[:d], V[:d], n)
        verdicts.append({"d": d, "n": n, "W": W.astype(int).reshape(-1).tolist(), "proof": proof})
    return {"U": U.T.astype(int).tolist(), "V": V.T.astype(int).tolist(), "verdicts": verdicts}


def last_retrievable(U: np.ndarray, V: np.ndarray, start: int) -> tuple[int, np.ndarray, list[list[int]]]:
    """How many of the first pairs some memory retrieves, such a memory, and a proof for one pair more.

    Parameters
    ----------
    U, V : array, shape (d, m)
        Targets and keys, integers.
    start : int
        A number of pairs that some memory retrieves.

    Returns
    -------
    n : int
        At most m.
    W : array, shape (d, d)
        A memory that retrieves the first n pairs, with integer entries; verified.
    proof : list of [j, i]
        Comparisons of competitor j with key i. Nonnegative weights of these alone, unique up to a factor,
        make ``sum (u_i - u_j) v_i'`` zero; verified. That of the largest weight comes last. Empty if n = m.

    Raises
    ------
    ArithmeticError
        If what was found proves neither.
    """
    n, W, proof = start - 1, None, []
    while n < U.shape[1]:
        pairs = _first(U, V, n + 1)
        memory, weights = _memory_or_weights(pairs)
        if memory is None:
            if W is None or not verify(Certificate(1, weights=weights), pairs):
                raise ArithmeticError(f"no proof for the first {pairs.n} pairs in dimension {pairs.d}")
            j, i = np.nonzero(weights)
            order = np.argsort(weights[j, i], kind="stable")
            proof = np.column_stack([j, i])[order].tolist()
            break
        n, W = n + 1, memory
    return n, _rounded(W, _first(U, V, n)), proof


def _first(U, V, n):
    return Pairs(*(torch.from_numpy(X[:, :n].copy()) for X in (U, V)))


def _memory_or_weights(pairs):
    """The memory whose margins are at least one and whose norm is least, or else weights that cancel.

    Both come from the point nearest to ``(0, ..., 0, 1)`` of the cone that comparisons with a last coordinate
    of one make: where it is that point itself, its coefficients are the weights, and where it is not, the
    difference is the memory, up to a factor. At most ``d^2 + 1`` coefficients are positive.
    """
    U, V, d, n = pairs.U.numpy(), pairs.V.numpy(), pairs.d, pairs.n
    j, i = np.nonzero(~np.eye(n, dtype=bool))
    comparisons = ((U[:, i] - U[:, j])[:, None] * V[:, i][None]).reshape(d * d, -1) / UNIT**2
    cone = np.vstack([comparisons, np.ones(len(i))])
    coefficients, distance = nnls(cone, np.append(np.zeros(d * d), 1.0), maxiter=20 * len(i))
    if distance > NOTHING:
        rest = cone @ coefficients
        return (rest[:-1] / (1 - rest[-1])).reshape(d, d), None
    weights = np.zeros((n, n))
    weights[j, i] = np.where(coefficients > NOTHING * coefficients.max(), coefficients, 0)
    return None, weights


def _rounded(W, pairs):
    """The memory in the shortest integers that keep its smallest margin, verified."""
    smallest = _smallest_margin(W, pairs)
    for digits in range(2, 9):
        scale = 10**digits / np.abs(W).max()
        rounded = np.rint(scale * W)
        if _smallest_margin(rounded, pairs) >= KEPT * scale * smallest:
            if verify(Certificate(1, W=rounded), pairs):
                return rounded
            break
    raise ArithmeticError(f"no proof for the first {pairs.n} pairs in dimension {pairs.d}")


def _smallest_margin(W, pairs):
    S = pairs.U.numpy().T @ W @ pairs.V.numpy()
    signal = S.diagonal().copy()
    np.fill_diagonal(S, -np.inf)
    return (signal - S.max(axis=0)).min()
