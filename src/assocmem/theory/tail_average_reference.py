"""The tail average and the Hessian of its loss as the paper defines them, slowly.

`assocmem.pairs.tail_average` sorts, and `assocmem.training` uses streamed products. What is here does
neither: a solver of linear programs finds the tail average, and the Hessian is added up block by block.
"""

from collections.abc import Iterator

import numpy as np
from scipy import special
from scipy.optimize import linprog

from assocmem.checks import SCALES, require, require_integer, require_number, require_numbers


def tail_average_by_linear_program(x: np.ndarray, k: int) -> float:
    """The tail average as the least ``mu + sum(t) / k`` with ``t >= x - mu`` and ``t >= 0``.

    Parameters
    ----------
    x : ndarray, shape (m,)
    k : int
        Size of the tail, from 1 to m.

    Returns
    -------
    float
        The mean of the k largest entries.

    Raises
    ------
    ValueError
        For entries that are no vector of numbers, or a k out of range.
    """
    require_numbers("x", x, -SCALES[1], SCALES[1])
    require(np.ndim(x) == 1, "x", x, "a vector")
    x, m = np.asarray(x), len(x)
    require_integer("k", k, 1)
    require(k <= m, "k", k, f"at most {m}")
    cost = np.append(np.full(m, 1 / k), 1.0)
    lower = np.hstack([-np.eye(m), -np.ones((m, 1))])
    bounds = [(0, None)] * m + [(None, None)]
    return linprog(cost, A_ub=lower, b_ub=-x, bounds=bounds).fun


def hessian_blocks(S: np.ndarray, mu: np.ndarray, k: int, beta: float) -> Iterator[np.ndarray]:
    """The matrices ``M_i`` of Definition 2, one for each column of scores, with the thresholds held.

    Parameters
    ----------
    S : ndarray, shape (n, n)
        Scores; columns are keys.
    mu : ndarray, shape (n,)
        Thresholds.
    k : int
        Size of the tail.
    beta : float
        Inverse smoothing width.

    Yields
    ------
    ndarray, shape (n, n)
        ``b_i Q_i Q_i' + a_i diag(beta q (1 - q) / k)``.

    Raises
    ------
    ValueError
        For arrays that do not fit each other, or a k or beta out of range.
    """
    _require_matrix("S", S)
    n = len(S)
    require(np.shape(S) == (n, n), "S", S, "a square matrix")
    require_numbers("mu", mu, -SCALES[1], SCALES[1])
    require(np.shape(mu) == (n,), "mu", mu, f"a vector of {n} thresholds")
    require_integer("k", k, 1)
    require(k < n, "k", k, f"at most {n - 1}")
    require_number("beta", beta, *SCALES, ends="[]")
    for i in range(len(S)):
        q = special.expit(beta * (S[:, i] - mu[i]))
        q[i] = 0
        softplus = np.delete(np.logaddexp(0, beta * (S[:, i] - mu[i])), i)
        margin = S[i, i] - mu[i] - softplus.sum() / (beta * k)
        a, Q = special.expit(-margin), q / k - (np.arange(len(S)) == i)
        yield a * (1 - a) * np.outer(Q, Q) + a * beta / k * np.diag(q * (1 - q))


def held_hessian(
    U: np.ndarray, V: np.ndarray, S: np.ndarray, mu: np.ndarray, *, k: int, beta: float, ridge: float
) -> np.ndarray:
    """The Hessian of the summed loss with the thresholds held (Definition 2), as a matrix.

    Parameters
    ----------
    U, V : ndarray, shape (d, n)
        Targets and keys.
    S, mu, k, beta
        As for `hessian_blocks`.
    ridge : float

    Returns
    -------
    ndarray, shape (d^2, d^2)
        It acts on the rows of W, one after the other.

    Raises
    ------
    ValueError
        For arrays that do not fit each other, or a parameter out of range.
    """
    _require_matrix("U", U)
    _require_matrix("V", V)
    _require_matrix("S", S)
    d, n = np.shape(U)
    require(np.shape(V) == (d, n), "V", V, f"of shape ({d}, {n}), like U")
    require(np.shape(S) == (n, n), "S", S, f"of shape ({n}, {n})")
    require_number("ridge", ridge, 0, SCALES[1], ends="[]")
    H = ridge * n / d**2 * np.eye(d * d)
    for v, M in zip(V.T, hessian_blocks(S, mu, k, beta), strict=True):
        H += np.kron(U @ M @ U.T, np.outer(v, v))
    return H


def _require_matrix(name, X):
    """Check that an argument is a matrix of numbers."""
    require_numbers(name, X, -SCALES[1], SCALES[1])
    require(np.ndim(X) == 2, name, X, "a matrix")
