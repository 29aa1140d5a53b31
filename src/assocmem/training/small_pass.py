"""Passes of small problems as one compiled call.

At d = 40 and 120 pairs a pass does 60 microseconds of arithmetic. As some dozens of operations on tensors it
takes half a millisecond, and a whole one where each of its products wakes a second thread. So problems of up
to `MOST_WORK` multiplications go through `value` here, from the memory to the gradient, on one thread.
`assocmem.training.small_fit` calls it from compiled code. The numbers are those of the streamed pass up to
rounding.
"""

import contextlib
import math
import threading
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  what Numba calls for products, to be found by threadpoolctl
import torch
from threadpoolctl import ThreadpoolController

from assocmem.pairs.data import Facts, Pairs
from assocmem.pairs.scores import require_finite_products
from assocmem.training import columns_cpu, losses
from assocmem.training.columns_cpu import compiled_loops, log_sum_exps, tails
from assocmem.training.losses import SMOOTHING_ERROR, Loss, ScoresOverflow, TailAverage, normal_quantile
from assocmem.training.precision import EXACT

MOST_WORK = 2**26
"""Multiplications of one of the two products up to which a pass of cross-entropy goes through here; by trial.
Above, two threads gain more than their start costs."""

SHARE_OF_TAILS = 0.25
"""Part of this up to which one of a tail average does, whose descent takes more passes here; by trial."""

MOST_SCORES = 2**23
"""Scores that are kept at most, so that they take no more than a block of others, 64 MiB."""

TOO_LARGE = -math.inf
"""What `value` returns in place of a mean loss for scores whose squares overflow."""


class SmallProblem(NamedTuple):
    """Vectors of a problem as arrays in the order of C.

    Attributes
    ----------
    U : array, shape (d_out, m)
    V : array, shape (d_in, n)
    answers : array of int, shape (n,)
    weights : array, shape (n,)
        Ones where facts have none.
    """

    U: np.ndarray
    V: np.ndarray
    answers: np.ndarray
    weights: np.ndarray


class Aggregate(NamedTuple):
    """What compiled code has to know of a loss.

    Attributes
    ----------
    k : float
        Size of the tail; 0 for cross-entropy.
    beta : float
    level, doubt : float
        Threshold of a normal sample and its standard error, in units of the spread of a column.
    """

    k: float
    beta: float
    level: float
    doubt: float


class Space(NamedTuple):
    """Memory that passes write to.

    Attributes
    ----------
    S : array, shape (n, m)
        Scores of each key side by side, and then the gradients of its aggregate.
    features, pulled : array, shape (d_out, n)
        The features of the pass, and what stands between the products.
    margins, mu : array, shape (n,)
    columns : array, shape (4, n)
        Numbers of each key.
    """

    S: np.ndarray
    features: np.ndarray
    pulled: np.ndarray
    margins: np.ndarray
    mu: np.ndarray
    columns: np.ndarray


def suits(pairs: Pairs | Facts, loss: Loss, precision: str) -> bool:
    """Whether passes of these pairs with this loss and precision are those of a small problem.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    precision : str

    Returns
    -------
    bool
    """
    most = MOST_WORK * (SHARE_OF_TAILS if isinstance(loss, TailAverage) else 1)
    entries = pairs.n * pairs.m
    small = entries <= MOST_SCORES and entries * pairs.d_out <= most
    return small and precision == EXACT and columns_cpu.suits(pairs.U)


def problem_of(pairs: Pairs | Facts) -> SmallProblem:
    """The arrays of pairs; those that are contiguous already are no copies.

    Parameters
    ----------
    pairs : Pairs or Facts
        In float64, on a processor.

    Returns
    -------
    SmallProblem
    """
    U, V = (np.ascontiguousarray(X.numpy()) for X in (pairs.U, pairs.V))
    weights = np.ones(pairs.n) if pairs.weights is None else pairs.weights.numpy()
    return SmallProblem(U, V, np.ascontiguousarray(pairs.answers.numpy()), np.ascontiguousarray(weights))


def aggregate_of(loss: Loss, m: int) -> Aggregate:
    """What compiled code has to know of a loss among m targets.

    Parameters
    ----------
    loss : CrossEntropy or TailAverage
    m : int

    Returns
    -------
    Aggregate
    """
    if not isinstance(loss, TailAverage):
        return Aggregate(0.0, 1.0, 0.0, 0.0)
    k = loss.tail(m - 1)
    level, doubt = normal_quantile(k, m - 1) if k < m - 1 else (0.0, 0.0)
    return Aggregate(float(k), float(loss.beta), level, doubt)


def space_for(problem: SmallProblem) -> Space:
    """Memory for passes of a problem.

    Parameters
    ----------
    problem : SmallProblem

    Returns
    -------
    Space
    """
    (d_out, m), n = problem.U.shape, len(problem.answers)
    return Space(
        np.empty((n, m)),
        np.empty((d_out, n)),
        np.empty((d_out, n)),
        np.empty(n),
        np.empty(n),
        np.empty((4, n)),
    )


def small_pass(
    pairs: Pairs | Facts, loss: Loss, W: torch.Tensor, *, features: bool
) -> tuple[float, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
    """The parts of `assocmem.training.passes.Pass` at a memory.

    Parameters
    ----------
    pairs : Pairs or Facts
        Ones that `suits`.
    loss : CrossEntropy or TailAverage
    W : Tensor, shape (d_out, d_in)
    features : bool

    Returns
    -------
    loss : float
    gradient, margins, mu, features, curvature : Tensor
        The last two None where they are not asked for.

    Raises
    ------
    ScoresOverflow
        For scores whose squares overflow.
    """
    problem, aggregate = problem_of(pairs), aggregate_of(loss, pairs.m)
    require_finite_products(torch.from_numpy(np.einsum("aj,aj->a", problem.U, problem.U)))
    space, gradient = space_for(problem), np.empty(W.shape)
    with one_thread():
        mean = value(problem, aggregate, space, np.ascontiguousarray(W.numpy()), gradient)
    if mean == TOO_LARGE:
        largest = float(np.abs(np.where(np.isneginf(space.S), 0, space.S)).max())
        raise ScoresOverflow(f"W: scores of up to {largest:.0e}, whose squares overflow")
    parts = [torch.from_numpy(X) for X in (gradient, space.margins, space.mu)]
    if not features:
        return (mean, *parts, None, None)
    T = torch.from_numpy(space.S).T
    return (mean, *parts, torch.from_numpy(space.features), loss.total_curvature(T))


class _OneThread:
    """Holds the libraries of linear algebra that compiled code calls to one thread, as long as anyone asks.

    Their threads wait for each other in loops, so that products of this size take a hundred times as long
    where other programs use the cores.
    """

    def __init__(self):
        self.users, self.lock, self.before = 0, threading.Lock(), []

    def __enter__(self):
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.before = [(library, library.num_threads) for library in _libraries()]
                for library, _ in self.before:
                    library.set_num_threads(1)

    def __exit__(self, *error):
        with self.lock:
            self.users -= 1
            if self.users == 0:
                for library, threads in self.before:
                    library.set_num_threads(threads)


_ONE_THREAD = _OneThread()


def one_thread() -> contextlib.AbstractContextManager[None]:
    """What a ``with`` statement holds, so that products of compiled code take one thread.

    That is so whichever thread of Python asks for them.

    Returns
    -------
    context manager
    """
    return _ONE_THREAD


@cache
def _libraries():
    return ThreadpoolController().select(user_api="blas").lib_controllers


@compiled_loops(uses=[columns_cpu, losses])
def value(
    problem: SmallProblem, aggregate: Aggregate, space: Space, W: np.ndarray, gradient: np.ndarray
) -> float:
    """Mean loss of a key, compiled; the space gets margins, thresholds, features and T.

    Parameters
    ----------
    problem : SmallProblem
    aggregate : Aggregate
    space : Space
    W : array, shape (d_out, d_in)
    gradient : array, shape (d_out, d_in)
        Written.

    Returns
    -------
    float
        `TOO_LARGE` where squares of scores overflow; then the space has the scores.
    """
    U, V, answers, weights = problem
    k, beta, level, doubt = aggregate
    S, features, pulled, margins, mu, columns = space
    n, m = S.shape
    np.dot(W, V, pulled)
    np.dot(pulled.T, U, S)
    for i in range(n):
        margins[i] = S[i, answers[i]]
        S[i, answers[i]] = 0.0 if k > 0 else -np.inf
    if k == 0:
        log_sum_exps(S, mu)
        for i in range(n):
            margins[i] -= mu[i]
    elif k == m - 1:
        for i in range(n):
            margins[i] -= _sums(S[i])[0] / k
            mu[i] = -np.inf
            S[i] = 1 / k
            S[i, answers[i]] = 0.0
    else:
        for i in range(n):
            total, squares = _sums(S[i])
            S[i, answers[i]] = -np.inf
            mean = total / (m - 1)
            spread = math.sqrt(max(squares / (m - 1) - mean * mean, 0.0))
            columns[0, i] = mean + level * math.sqrt(spread * spread + (SMOOTHING_ERROR / beta) ** 2)
            columns[1, i] = spread * doubt
            columns[2, i] = spread
            if not np.isfinite(columns[0, i] + columns[1, i]):
                return TOO_LARGE
        tails(S, mu, columns[3], columns[0], columns[1], columns[2], k, beta)
        for i in range(n):
            margins[i] -= mu[i] + columns[3, i] / k
    loss = 0.0
    for i in range(n):
        x = margins[i]
        loss += weights[i] * (math.log1p(math.exp(-abs(x))) - min(x, 0.0))
        columns[0, i] = weights[i] / (1 + math.exp(x))
    np.dot(U, S.T, features)
    for a in range(len(U)):
        for i in range(n):
            features[a, i] = U[a, answers[i]] - features[a, i]
            pulled[a, i] = -features[a, i] * columns[0, i] / n
    np.dot(pulled, V.T, gradient)
    return loss / n


@compiled_loops("reassoc")
def _sums(x):
    """Sum of numbers and of their squares."""
    total, squares = 0.0, 0.0
    for j in range(len(x)):
        total += x[j]
        squares += x[j] * x[j]
    return total, squares
