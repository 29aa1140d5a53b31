"""The tail average and the Hessian of its loss as the paper defines them, slowly.

`assocmem.pairs.tail_average` sorts, and `assocmem.training` uses streamed products. What is here does
neither: a solver of linear programs finds the tail average, and the Hessian is added up block by block.
"""

from collections.abc import Iterator

import numpy as np
from scipy import special
from scipy.optimize import linprog


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
    """
    m = len(x)
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
    """
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
    """
    d, n = U.shape
    H = ridge * n / d**2 * np.eye(d * d)
    for v, M in zip(V.T, hessian_blocks(S, mu, k, beta), strict=True):
        H += np.kron(U @ M @ U.T, np.outer(v, v))
    return H
