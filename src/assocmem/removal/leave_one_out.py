"""Removing a pair: the minimiser without it, and what the leave-one-out method says about the difference.

A removed pair h leaves twice. Its own loss goes, and target h goes as a competitor of all other keys (eq.
``Psi_LOO``). The size k of the tail and the ridge stay. What is left is independent of u_h and v_h.
"""

from dataclasses import dataclass, replace

import torch
from scipy.optimize import brentq
from scipy.special import expit

from assocmem.checks import require, require_instance, require_integer, require_number
from assocmem.pairs.data import Pairs, require_array, require_pairs
from assocmem.removal.hessians import Evaluation, Problem, evaluate, pull_back, solve
from assocmem.training.fit import fit
from assocmem.training.losses import TailAverage

TOLERANCE = 1e-13
"""Relative duality gap of the minimisers. Its square root, 3e-7, is the order of their relative distance from
the exact ones, which has to be small against what one pair changes."""
ROOT_TOLERANCE = 1e-15
"""Distance from the root at which the scalar equation for a number between 0 and 1 counts as solved: a few
times the rounding of double precision."""


def full_problem(pairs: Pairs, loss: TailAverage, ridge: float) -> Problem:
    """The problem with all pairs there.

    Parameters
    ----------
    pairs : Pairs
    loss : TailAverage
    ridge : float
        As in `assocmem.training.fit.fit`.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        For a loss other than the tail average, a tail of all competitors, or a ridge that is not positive.
    """
    require_pairs(pairs)
    require_instance("loss", loss, TailAverage)
    require(loss.tail(pairs.n - 1) < pairs.n - 2, "r", loss.r, "smaller, so that competitors can be removed")
    require_number("ridge", ridge, 0)
    pairs = replace(pairs, U=pairs.U.double(), V=pairs.V.double())
    return Problem(pairs, loss, ridge * pairs.n / pairs.d**2)


def without(problem: Problem, h: int) -> Problem:
    """The problem without pair h (eq. ``Psi_LOO``): same k, same ridge of the summed objective.

    Parameters
    ----------
    problem : assocmem.removal.hessians.Problem
    h : int
        In [0, n).

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        For an h out of range, or where so few competitors are left that the tail would hold them all.
    """
    require_instance("problem", problem, Problem)
    n = problem.pairs.n
    _require_pair(h, n)
    require(problem.k < n - 2, "h", h, f"no pair, as {n} pairs hold a tail of {problem.k} and no more")
    U, V = (torch.cat([X[:, :h], X[:, h + 1 :]], dim=1) for X in (problem.pairs.U, problem.pairs.V))
    return Problem(Pairs(U, V), TailAverage(problem.k / (n - 2), problem.loss.beta), problem.effective_ridge)


def minimise(problem: Problem, W0: torch.Tensor | None = None) -> Evaluation:
    """The minimiser of a problem, to a relative gap of 1e-13.

    Parameters
    ----------
    problem : assocmem.removal.hessians.Problem
    W0 : Tensor, shape (d, d), optional
        A memory near it.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If ``W0`` is no memory for the pairs of the problem.
    RuntimeError
        If the gap is not reached.
    """
    require_instance("problem", problem, Problem)
    found = fit(problem.pairs, problem.loss, ridge=problem.ridge, tol=TOLERANCE, W0=W0)
    if not found.converged:
        raise RuntimeError(f"minimise: gap {found.gap:.0e} after {found.passes} passes, not {TOLERANCE:.0e}")
    return evaluate(problem, found.W)


@dataclass(frozen=True)
class Insertion:
    """What target h as a further competitor does to the columns of the others, at a given memory.

    Attributes
    ----------
    gap, weight_gap : Tensor, shape (n - 1,)
        Rise of the tail averages t and of the weights a.
    parts : tuple of four Tensor, shape (d, d)
        The sums of eq. ``insertion-gradient-decomp``; the last is ``u_h xi_h'``.
    xi : Tensor, shape (d,)
    """

    gap: torch.Tensor
    weight_gap: torch.Tensor
    parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
    xi: torch.Tensor

    @property
    def gradient(self) -> torch.Tensor:
        """The insertion gradient ``G_h``, shape (d, d)."""
        return sum(self.parts)


@dataclass(frozen=True)
class Step:
    """The Newton step of the proof from the minimiser without pair h towards the one with it.

    Attributes
    ----------
    h : int
    rest : Evaluation
        The minimiser without pair h.
    X : Tensor, shape (d, d)
        Gradient of the new margin, ``(u_h - eta_h) v_h'`` (eq. ``Xh0``).
    margin : float
        Margin of pair h at the old minimiser.
    insertion : Insertion
        What target h does to the other columns there.
    B, response : Tensor, shape (d, d)
        ``-T_h[G_h]`` and ``T_h[X]``, with T_h the inverse of the profiled Hessian without pair h.
    theta, zeta, a : float
        Of the scalar equation (eq. ``a-star``).
    W : Tensor, shape (d, d)
        The candidate ``rest.W + B + a response`` (eq. ``Wtilde``).
    """

    h: int
    rest: Evaluation
    X: torch.Tensor
    margin: float
    insertion: Insertion
    B: torch.Tensor
    response: torch.Tensor
    theta: float
    zeta: float
    a: float
    W: torch.Tensor


def drop(X: torch.Tensor, h: int) -> torch.Tensor:
    """A vector or matrix without the entries of pair h.

    Parameters
    ----------
    X : Tensor, shape (n,) or (n, n)
    h : int

    Returns
    -------
    Tensor, shape (n - 1,) or (n - 1, n - 1)

    Raises
    ------
    ValueError
        For an h out of range, or for what is no vector or square matrix.
    """
    square = isinstance(X, torch.Tensor) and X.ndim == 2
    require_array("X", X, (X.shape[0],) * 2 if square else (None,))
    _require_pair(h, len(X))
    keep = torch.arange(X.shape[-1], device=X.device) != h
    return X[keep] if X.ndim == 1 else X[keep][:, keep]


def insertion(full: Evaluation, rest: Evaluation, h: int) -> Insertion:
    """Compare the columns of the others with and without target h, both at one memory.

    Parameters
    ----------
    full, rest : Evaluation
        With all pairs, and without pair h, at the same W.
    h : int

    Returns
    -------
    Insertion

    Raises
    ------
    ValueError
        For an h out of range, or evaluations that are not of n and n - 1 pairs.
    """
    require_instance("full", full, Evaluation)
    require_instance("rest", rest, Evaluation)
    _require_pair(h, full.problem.pairs.n)
    _require_one_less(full.problem, rest)
    pairs, others = full.problem.pairs, rest.problem.pairs
    zero = torch.zeros_like(rest.a)
    a, p = drop(full.a, h), drop(full.p, h)
    weight_gap = a - rest.a
    xi = others.V @ (a * drop(full.p[h], h))
    parts = (
        (others.U * -weight_gap) @ others.V.T,
        pull_back(others, p * weight_gap, zero),
        pull_back(others, (p - rest.p) * rest.a, zero),
        torch.outer(pairs.U[:, h], xi),
    )
    return Insertion(drop(full.t, h) - rest.t, weight_gap, parts, xi)


def margin_gradient(point: Evaluation, h: int) -> torch.Tensor:
    """Gradient in W of the margin of pair h, ``(u_h - sum_j p_jh u_j) v_h'``.

    Parameters
    ----------
    point : Evaluation
    h : int

    Returns
    -------
    Tensor, shape (d, d)

    Raises
    ------
    ValueError
        For an h out of range.
    """
    require_instance("point", point, Evaluation)
    _require_pair(h, point.problem.pairs.n)
    U, V = point.problem.pairs.U, point.problem.pairs.V
    return torch.outer(U[:, h] - U @ point.p[:, h], V[:, h])


def newton_step(problem: Problem, rest: Evaluation, h: int) -> Step:
    """One implicit Newton step from the minimiser without pair h (Theorem 3, eq. ``Wtilde``).

    Parameters
    ----------
    problem : assocmem.removal.hessians.Problem
        With pair h.
    rest : Evaluation
        The minimiser of ``without(problem, h)``.
    h : int

    Returns
    -------
    Step

    Raises
    ------
    ValueError
        For an h out of range, or a rest that is not of one pair less.
    RuntimeError
        If one of its two linear systems is not solved.
    """
    require_instance("problem", problem, Problem)
    require_instance("rest", rest, Evaluation)
    _require_pair(h, problem.pairs.n)
    _require_one_less(problem, rest)
    seen = evaluate(problem, rest.W)
    inserted = insertion(seen, rest, h)
    X = margin_gradient(seen, h)
    B, response = -solve(rest, inserted.gradient, "profiled"), solve(rest, X, "profiled")
    theta, zeta, margin = float((X * response).sum()), float((X * B).sum()), float(seen.m[h])
    a = brentq(lambda a: a - expit(-margin - zeta - theta * a), 0, 1, xtol=ROOT_TOLERANCE)
    return Step(h, rest, X, margin, inserted, B, response, theta, zeta, a, rest.W + B + a * response)


def rank_one_response(problem: Problem, full: Evaluation, rest: Evaluation, h: int) -> torch.Tensor:
    r"""The response ``sigmoid(-m_h) (H^{\h})^-1 [u_h v_h']`` of Proposition 3, thresholds held still.

    Parameters
    ----------
    problem : assocmem.removal.hessians.Problem
        With pair h.
    full, rest : Evaluation
        The minimisers with and without it.
    h : int

    Returns
    -------
    Tensor, shape (d, d)

    Raises
    ------
    ValueError
        For an h out of range, or a rest that is not of one pair less.
    RuntimeError
        If its linear system is not solved.
    """
    require_instance("problem", problem, Problem)
    require_instance("full", full, Evaluation)
    require_instance("rest", rest, Evaluation)
    _require_pair(h, problem.pairs.n)
    _require_one_less(problem, rest)
    pairs = problem.pairs
    return float(full.a[h]) * solve(rest, torch.outer(pairs.U[:, h], pairs.V[:, h]), "full")


def _require_pair(h, n):
    """Check that h is one of n pairs."""
    require_integer("h", h, 0)
    require(h < n, "h", h, f"below {n}")


def _require_one_less(problem, rest):
    """Check that an evaluation is of one pair less than a problem."""
    n, left = problem.pairs.n, rest.problem.pairs.n
    require(left == n - 1, "rest", f"{left} pairs", f"of {n - 1}, one less than there are")
