"""What the shared vectors of a memory do to its capacity: score directions with less and less structure.

The score of target j for key i is the product of the memory, as a vector of d^2 numbers, with the direction
``vec(u_j v_i')``. These directions differ from independent Gaussian ones, of which the kinematic prediction
holds, in three ways: each is a product of two vectors, products of long vectors are longer, and vectors
are shared: all competitors of a key have its v_i in common, and each competes for every key with the same
u_j. Here each can be had without the others.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import brentq, linprog

from assocmem.checks import require, require_integer
from assocmem.machine import memory_shortage

COPIES = 4
"""How often the directions are in memory, at most, while an instance is decided: drawn, scaled, compared."""
STEPS = 60
"""Newton steps towards a verdict, at most, before a linear program decides; a training may take 40 times as
many, since its ridge falls by stages."""
SHORTEST = 1e-9
"""Length, relative to a Newton step, below which a search along it gives up."""
LEAP = 30.0
"""Length of a step, relative to the memory so far, that the damping of the Hessian allows; by trial."""
LONGEST = 64.0
"""Length, relative to a Newton step, up to which a search along it doubles."""
CANCELLED = 1e-10
"""Norm of the weighted sum of comparisons, relative to their size and number, at which it counts as zero."""
SETTLED = 1e-8
"""Decrease still promised, relative to the ridge's share, at which a minimum is reached."""
ARMIJO = 1e-4
"""Part of the promised decrease that a step has to deliver: the usual small number."""


@dataclass(frozen=True)
class Structure:
    """How score directions are drawn.

    Attributes
    ----------
    name : str
    product : bool
        Whether they are products of two vectors, or all entries independent, where nothing is shared.
    same_targets, same_keys : bool
        Whether u_j is the same for every key, and v_i for every target.
    unit : bool
        Whether the vectors have unit length, or Gaussian entries of variance 1/d.
    """

    name: str
    product: bool = True
    same_targets: bool = False
    same_keys: bool = False
    unit: bool = False


STRUCTURES = (
    Structure("independent", product=False),
    Structure("products, unit", unit=True),
    Structure("products"),
    Structure("same targets, unit", same_targets=True, unit=True),
    Structure("same keys, unit", same_keys=True, unit=True),
    Structure("same targets and keys, unit", same_targets=True, same_keys=True, unit=True),
    Structure("same targets and keys", same_targets=True, same_keys=True),
    Structure("same targets", same_targets=True),
    Structure("same keys", same_keys=True),
)
"""The kinematic surrogate is the first; the memory of the paper has the same targets and keys, Gaussian.

Stored tables know them by their place.
"""


def score_directions(structure: Structure, n: int, d: int, seed: int) -> torch.Tensor:
    """Directions ``A[j, i]`` of the scores of target j for key i.

    Parameters
    ----------
    structure : Structure
    n, d, seed : int
        Number of pairs, at least 2, dimension, at least 1, and a nonnegative seed.

    Returns
    -------
    Tensor, shape (n, n, d * d), float64

    Raises
    ------
    ValueError
        For an n, d or seed out of range, or naming the memory that is missing.
    """
    require_integer("n", n, 2)
    require_integer("d", d, 1)
    require_integer("seed", seed, 0)
    shortage = memory_shortage(lambda m: 8 * (COPIES * m**2 * d**2 + 2 * d**4), n)
    if shortage:
        raise ValueError(shortage)
    rng = np.random.default_rng(seed)

    def vectors(targets, keys, size):
        x = torch.from_numpy(rng.standard_normal((targets, keys, size)))
        return x / x.norm(dim=-1, keepdim=True) if structure.unit else x / math.sqrt(size)

    if not structure.product:
        return vectors(n, n, d * d)
    U = vectors(n, 1 if structure.same_targets else n, d)
    V = vectors(1 if structure.same_keys else n, n, d)
    return (U[..., :, None] * V[..., None, :]).reshape(n, n, d * d)


def meets_cone(A: torch.Tensor) -> bool | None:
    """Whether some w has ``A[i, i] w > A[j, i] w`` for every key i and competitor j.

    Newton's method on the cross-entropy, until a w on the way is a solution or the weights at its minimum,
    all positive, cancel; both in double precision. Where it stalls, a linear program decides.
    This is the method of `assocmem.deciding.search` in its simplest form, since directions that are no
    products ``u_j v_i'`` have no factors to compute with, and no certificate to verify.

    Parameters
    ----------
    A : Tensor, shape (n, n, D)

    Returns
    -------
    bool or None
        None where the linear program fails as well.
    """
    (n, _, D), F = A.shape, _comparisons(A)
    signal, w = torch.eye(n, dtype=torch.bool), A.new_zeros(D)
    scale = float(F.norm()) / n
    for _ in range(STEPS):
        s = (F @ w).reshape(n, n)
        if bool((s.masked_fill(signal, -math.inf) < 0).all()):
            return True
        p, slope, H = _derivatives(F, s)
        H.diagonal().add_(float(slope.norm()) / (LEAP * max(float(w.norm()), math.sqrt(D))))
        L, failed = torch.linalg.cholesky_ex(H)
        if int(failed):
            break
        move = torch.cholesky_solve(slope[:, None], L)[:, 0]
        t = (F @ move).reshape(n, n)
        weights = p * (1 - t + (p * t).sum(dim=1, keepdim=True))  # at the minimum, to first order
        if bool((weights.masked_fill(signal, 1.0) > 0).all()):
            rest = F.T @ weights.reshape(-1)
            if float(rest.norm()) < CANCELLED * scale * float(weights.sum()):
                return False
        length = _step_length(s, t, w, move, 0.0, float(slope @ move))
        if not length:
            break
        w = w - length * move
    comparisons = F[~signal.flatten()].numpy()
    asked = {"A_ub": comparisons, "b_ub": -np.ones(len(comparisons)), "bounds": (None, None)}
    for method in ("highs-ds", "highs-ipm"):
        status = linprog(np.zeros(D), method=method, **asked).status
        if status in (0, 2):
            return status == 0
    return None


def trained(A: torch.Tensor, ridge: float) -> torch.Tensor:
    """Minimiser of the summed cross-entropy of scores ``A w`` and ``ridge / 2 |w|^2``, by Newton's method.

    `assocmem.training.fit` cannot take its place: it needs targets and keys, which these directions need not
    have. All scores are stored, so that a line search looks at many steps for the price of one.

    Parameters
    ----------
    A : Tensor, shape (n, n, D)
    ridge : float
        Positive.

    Returns
    -------
    Tensor, shape (D,)

    Raises
    ------
    ArithmeticError
        If the gradient does not get small.
    """
    (n, _, D), F = A.shape, _comparisons(A)
    w, stage = A.new_zeros(D), max(ridge, 1.0)
    for _ in range(40 * STEPS):
        s = (F @ w).reshape(n, n)
        _, slope, H = _derivatives(F, s)
        slope = slope + stage * w
        H.diagonal().add_(stage)
        move = torch.cholesky_solve(slope[:, None], torch.linalg.cholesky(H))[:, 0]
        if float(slope @ move) < SETTLED * stage * float(w @ w):
            if stage == ridge:
                return w
            stage = max(ridge, stage / 10)
            continue
        t = (F @ move).reshape(n, n)
        w = w - _step_length(s, t, w, move, stage, float(slope @ move)) * move
    raise ArithmeticError(f"no minimum in {40 * STEPS} steps at ridge {ridge:g}")


def scale_exponent(lengths: np.ndarray, scores: np.ndarray) -> float:
    """Exponent p with which the size of scores grows with lengths: scores of variance ``C lengths^(2 p)``.

    Parameters
    ----------
    lengths, scores : ndarray, shape (m,)
        Positive, and real.

    Returns
    -------
    float
        By maximum likelihood of normal scores.
    """
    x, squares = np.log(lengths), scores**2
    x = x - x.mean()

    def miss(p):
        weights = squares * np.exp(-2 * p * x)
        return (x * weights).sum() / weights.sum()  # zero where all have one variance after scaling

    return brentq(miss, -20, 20)


def _comparisons(A):
    """Scores of competitors less the signal, as rows (key by key); zero rows at the signals."""
    n, _, D = A.shape
    return (A - A.diagonal(dim1=0, dim2=1).T).transpose(0, 1).reshape(n * n, D)


def _derivatives(F, s):
    """Weights, gradient and Hessian of the summed cross-entropy."""
    p = s.softmax(dim=1)
    weighted = F * p.reshape(-1, 1)
    means = weighted.reshape(*s.shape, -1).sum(dim=1)
    return p, means.sum(dim=0), F.T @ weighted - means.T @ means


def _step_length(s, t, w, move, ridge, decrease):
    """A step from w along ``-move`` that lowers the objective by part of what a full one promises, or 0.

    Scores change by ``-t``.
    """

    def value(step):
        moved = w - step * move
        return float((s - step * t).logsumexp(dim=1).sum()) + 0.5 * ridge * float(moved @ moved)

    before, step = value(0.0), 1.0
    while not value(step) < before - ARMIJO * step * decrease:
        step /= 2
        if step < SHORTEST:
            return 0.0
    while 1 <= step < LONGEST and value(2 * step) < value(step):
        step *= 2
    return step


def pooled_with_norms(n: int, d: int, *, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Statistical dimension of the cone when directions differ in length, less that of equal lengths.

    Lengths are those of products of two Gaussian vectors, ``sqrt(chi^2_d chi^2_d) / d``, and of one such
    vector, ``sqrt(chi^2_d / d)``, the other being shared by all competitors of a key. The closest point of
    the cone pools weighted scores; by simulation with common random numbers.

    Parameters
    ----------
    n, d : int
    draws, seed : int

    Returns
    -------
    excess : ndarray, shape (2,)
        For lengths of products, and of single vectors.
    error : ndarray, shape (2,)
        Standard errors.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("n", n, 2)
    require_integer("d", d, 1)
    require_integer("draws", draws, 2)
    require_integer("seed", seed, 0)
    shortage = memory_shortage(lambda m: 8 * 8 * draws * m, n)
    require(not shortage, "n", n, shortage)
    rng = np.random.default_rng(seed)
    g = rng.standard_normal((draws, n))
    single, other = (rng.chisquare(d, (draws, n)) / d for _ in range(2))
    costs = [_projection_cost(g, length) for length in (np.ones((draws, n)), single * other, single)]
    change = np.array(costs[1:]) - costs[0]
    return change.mean(axis=1), change.std(axis=1) / math.sqrt(draws)


def _projection_cost(g, squares):
    """Squared distance from rows of g to ``{s_1 sigma_1 >= s_j sigma_j}``, ``squares`` being the sigma^2."""
    values, weights = g * np.sqrt(squares), 1 / squares
    order = np.argsort(-values[:, 1:], axis=1) + 1
    order = np.concatenate([np.zeros((len(g), 1), dtype=int), order], axis=1)
    values, weights = (np.take_along_axis(x, order, axis=1) for x in (values, weights))
    mass, first, second = (np.cumsum(weights * values**p, axis=1) for p in range(3))
    rivals = np.concatenate([values[:, 1:], np.full((len(g), 1), -np.inf)], axis=1)
    count = np.argmin(rivals > first / mass, axis=1)[:, None]
    cost = second - first**2 / mass
    return np.take_along_axis(cost, count, axis=1)[:, 0]
