"""The three Hessians of the tail-average objective, as operators on memories.

All belong to the *summed* objective ``Psi`` of the paper (eq. ``loss_stam_joint``), whose ridge is
``effective_ridge / 2 |W|_F^2`` with ``effective_ridge = ridge n / d^2``. With ``X = U' D V`` each of them is

    D -> effective_ridge D + U Y V',     Y = weights on X, column by column.

``full`` holds the thresholds still (Definition 2), ``profiled`` lets them follow W, and ``simplified`` keeps
only the signal of each margin's gradient (eq. ``simplified_hessian_main``). An evaluation of the objective at
a memory keeps its arrays of the size of the scores, so that a Hessian times a direction costs two products of
``n x d x n`` and no exponential.
"""

import math
from dataclasses import dataclass

import torch

from assocmem.checks import require, require_choice, require_instance, require_integer, require_number
from assocmem.memories.conjugate_gradients import conjugate_gradients
from assocmem.pairs.data import Pairs, require_array, require_pairs
from assocmem.pairs.scores import require_finite_products, require_memory_matrix, scores
from assocmem.training.losses import TailAverage
from assocmem.training.passes import assemble_hessian

KINDS = ("full", "profiled", "simplified")
"""Names of the three Hessians."""
MOST_STEPS = 2000
"""Steps of conjugate gradients after which a system counts as unsolvable. Chosen by trial, as a guard against
an endless loop: it is far more than any system of this book takes."""
MOST_PROBES = 10**6
"""Random probes of a trace at most; the error of so many is a thousandth of that of one."""
PROBE_RESIDUAL = 1e-6
"""Relative residual to which the system of each random probe of a trace is solved: small enough that the
scatter between probes hides what is left."""


@dataclass(frozen=True)
class Problem:
    """The summed objective ``Psi`` (eq. ``loss_stam_joint``), thresholds profiled out.

    Attributes
    ----------
    pairs : Pairs, float64
    loss : TailAverage
    effective_ridge : float
        ``ridge n / d^2`` with the n of the problem before any removal: the coefficient of the summed
        objective's ridge, below which no eigenvalue of a Hessian lies.
    """

    pairs: Pairs
    loss: TailAverage
    effective_ridge: float

    def __post_init__(self) -> None:
        """Check the parts; a ValueError names the one that is wrong."""
        require_pairs(self.pairs)
        require_instance("loss", self.loss, TailAverage)
        require_number("effective_ridge", self.effective_ridge, 0)

    @property
    def k(self) -> int:
        """Size of the tail."""
        return self.loss.tail(self.pairs.n - 1)

    @property
    def ridge(self) -> float:
        """The ridge of `assocmem.training.fit.fit` for the same minimiser."""
        return self.effective_ridge * self.pairs.d**2 / self.pairs.n


@dataclass(frozen=True)
class Evaluation:
    """A memory with all that one evaluation of the objective at it says.

    Attributes
    ----------
    problem : Problem
    W : Tensor, shape (d, d)
    S : Tensor, shape (n, n)
        Scores, ``S[j, i] = u_j' W v_i``.
    mu, t, m, a, b : Tensor, shape (n,)
        Thresholds, smoothed tail averages, margins, ``sigmoid(-m)``, and ``a (1 - a)``.
    p : Tensor, shape (n, n)
        Tail weights ``q / k``, 0 at the signal; columns sum to one.
    c : Tensor, shape (n, n)
        ``beta q (1 - q) / k``, 0 at the signal.
    """

    problem: Problem
    W: torch.Tensor
    S: torch.Tensor
    mu: torch.Tensor
    t: torch.Tensor
    m: torch.Tensor
    a: torch.Tensor
    b: torch.Tensor
    p: torch.Tensor
    c: torch.Tensor

    @property
    def loss_gradient(self) -> torch.Tensor:
        """Gradient of the summed loss in W without the ridge, shape (d, d)."""
        return pull_back(self.problem.pairs, self.p * self.a, -self.a)

    @property
    def gradient(self) -> torch.Tensor:
        """Gradient of the objective in W (eq. ``grad_W``), shape (d, d)."""
        return self.loss_gradient + self.problem.effective_ridge * self.W


def evaluate(problem: Problem, W: torch.Tensor) -> Evaluation:
    """Scores, thresholds, margins and weights of a problem at a memory.

    Parameters
    ----------
    problem : Problem
    W : Tensor, shape (d, d)

    Returns
    -------
    Evaluation
        Holds three arrays of n x n.

    Raises
    ------
    ValueError
        If ``W`` is no memory for the pairs of the problem, or scores overflow.
    """
    require_instance("problem", problem, Problem)
    require_memory_matrix(problem.pairs, W)
    W = W.detach()
    S = scores(problem.pairs, W)
    require_finite_products(S)
    p, signal = S.clone(), S.diagonal().clone()
    p.fill_diagonal_(-math.inf)
    t, mu = problem.loss.aggregate(p)
    m = signal - t
    a = torch.sigmoid(-m)
    return Evaluation(problem, W, S, mu, t, m, a, a * (1 - a), p, problem.loss.curvature(p))


def pull_back(pairs: Pairs, Y: torch.Tensor, diagonal: torch.Tensor) -> torch.Tensor:
    """``U Y V'`` with the diagonal of Y replaced by a vector.

    Parameters
    ----------
    pairs : Pairs
    Y : Tensor, shape (n, n)
        Zero on the diagonal.
    diagonal : Tensor, shape (n,)

    Returns
    -------
    Tensor, shape (d, d)

    Raises
    ------
    ValueError
        For arrays that do not fit the pairs.
    """
    require_pairs(pairs)
    require_array("Y", Y, (pairs.n, pairs.n), pairs.U)
    require_array("diagonal", diagonal, (pairs.n,), pairs.U)
    return (pairs.U @ Y + pairs.U * diagonal) @ pairs.V.T


def hessian_product(point: Evaluation, D: torch.Tensor, kind: str = "full") -> torch.Tensor:
    """One of the Hessians times a direction.

    Parameters
    ----------
    point : Evaluation
    D : Tensor, shape (d, d)
    kind : {"full", "profiled", "simplified"}

    Returns
    -------
    Tensor, shape (d, d)

    Raises
    ------
    ValueError
        For another kind.
    """
    require_instance("point", point, Evaluation)
    require_choice("kind", kind, KINDS)
    pairs = point.problem.pairs
    require_memory_matrix(pairs, D, "D")
    X = pairs.U.T @ (D @ pairs.V)
    change = X.diagonal().clone()
    if kind != "simplified":
        change -= torch.linalg.vecdot(point.p, X, dim=0)
    if kind == "profiled":
        X -= torch.linalg.vecdot(point.c, X, dim=0) / point.c.sum(dim=0)
    Y = X.mul_(point.c).mul_(point.a)
    if kind != "simplified":
        Y.addcmul_(point.p, point.b * change, value=-1)
    return pull_back(pairs, Y, point.b * change).add_(D, alpha=point.problem.effective_ridge)


def dense_operator(point: Evaluation, kind: str = "full") -> torch.Tensor:
    """One of the Hessians as a matrix that acts on ``D.reshape(-1)``, for small d.

    Parameters
    ----------
    point : Evaluation
    kind : {"full", "profiled", "simplified"}

    Returns
    -------
    Tensor, shape (d^2, d^2)

    Raises
    ------
    ValueError
        For another kind.
    """
    require_instance("point", point, Evaluation)
    require_choice("kind", kind, KINDS)
    U, V = point.problem.pairs.U, point.problem.pairs.V
    g = U if kind == "simplified" else U - U @ point.p
    H = assemble_hessian(U, V, g, point.c, point.a, point.b, profiled=kind == "profiled")
    H.diagonal().add_(point.problem.effective_ridge)
    return H


def dense_inverse(point: Evaluation, kind: str = "full") -> torch.Tensor:
    """Inverse of one of the Hessians as a matrix, through its Cholesky factor, in ``O(d^6)``.

    Parameters
    ----------
    point : Evaluation
    kind : {"full", "profiled", "simplified"}

    Returns
    -------
    Tensor, shape (d^2, d^2)

    Raises
    ------
    ValueError
        For another kind.
    """
    return torch.cholesky_inverse(torch.linalg.cholesky(dense_operator(point, kind)))


def solve(point: Evaluation, right: torch.Tensor, kind: str = "full", *, tol: float = 1e-10) -> torch.Tensor:
    """A Hessian's inverse applied to a matrix, by conjugate gradients.

    Parameters
    ----------
    point : Evaluation
    right : Tensor, shape (d, d)
    kind : {"full", "profiled", "simplified"}
    tol : float
        Norm of the residual over that of ``right``.

    Returns
    -------
    Tensor, shape (d, d)

    Raises
    ------
    ValueError
        For another kind.
    RuntimeError
        If the residual is not reached.
    """
    require_instance("point", point, Evaluation)
    require_choice("kind", kind, KINDS)
    require_memory_matrix(point.problem.pairs, right, "right")
    require_number("tol", tol, 0, 1, ends="[]")
    found = conjugate_gradients(
        lambda D: hessian_product(point, D, kind), right, tol=tol, most_steps=MOST_STEPS
    )
    if not found.converged:
        raise RuntimeError(f"solve: residual {found.residual:.0e} after {MOST_STEPS} steps, not {tol:.0e}")
    return found.x


def normalized_trace(
    point: Evaluation, kind: str = "full", *, probes: int | None = None, seed: int = 0
) -> tuple[float, float]:
    """``tr(H^-1) / d^2``, exactly or from random probes (Hutchinson's estimate).

    Parameters
    ----------
    point : Evaluation
    kind : {"full", "profiled", "simplified"}
    probes : int, optional
        Matrices of random signs; by default the inverse is formed, which takes ``O(d^6)``.
    seed : int

    Returns
    -------
    trace : float
    error : float
        Standard error over the probes; 0 where exact.

    Raises
    ------
    ValueError
        For another kind, or fewer than two probes.
    RuntimeError
        If the system of a probe is not solved.
    """
    require_instance("point", point, Evaluation)
    require_choice("kind", kind, KINDS)
    require_integer("seed", seed, 0)
    require(seed < 2**64, "seed", seed, "below 2^64")
    d = point.problem.pairs.d
    if probes is None:
        return float(dense_inverse(point, kind).diagonal().mean()), 0.0
    require_integer("probes", probes, 2)
    require(probes <= MOST_PROBES, "probes", probes, f"at most {MOST_PROBES}")
    generator = torch.Generator().manual_seed(int(seed))
    found = []
    for _ in range(probes):
        signs = torch.randint(0, 2, (d, d), generator=generator).to(point.W).mul_(2).sub_(1)
        found.append(float((signs * solve(point, signs, kind, tol=PROBE_RESIDUAL)).mean()))
    found = torch.tensor(found)
    return float(found.mean()), float(found.std()) / math.sqrt(probes)
