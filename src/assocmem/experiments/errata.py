"""Formulas of the paper as they are printed and as they should read, on the same numbers.

The page ``book/errata.md`` lists where the paper says something else than its own proofs give. Each function
here computes the quantity itself in a way that needs neither formula, next to both of them, so that a test
can show that the correction holds and the printed form does not.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import expit

from assocmem.removal.hessians import Evaluation, Problem, hessian_product, solve
from assocmem.removal.leave_one_out import minimise, without

STEP = 1e-6
"""Step of central differences in numbers of order one: the best one for double precision."""


class Readings(NamedTuple):
    """A quantity, and what two formulas say it is.

    Attributes
    ----------
    truth : ndarray
        Computed without either formula.
    printed, corrected : ndarray
        By the formula of the paper, and by that of the page.
    """

    truth: np.ndarray
    printed: np.ndarray
    corrected: np.ndarray

    def misses(self) -> tuple[float, float]:
        """Largest distance of the printed and of the corrected form from the truth, over the truth's largest.

        Returns
        -------
        tuple of two float
        """
        scale = np.abs(self.truth).max()
        found = (np.abs(form - self.truth).max() / scale for form in (self.printed, self.corrected))
        return tuple(float(x) for x in found)


# --- Section 4.1 and Appendix B: one column of scores ---------------------------------------------


class Column(NamedTuple):
    """One column of scores with a threshold, which need not be the minimising one.

    Attributes
    ----------
    s : ndarray, shape (m + 1,)
        The signal first, then the competitors.
    mu : float
    k : int
    beta : float
    """

    s: np.ndarray
    mu: float
    k: int
    beta: float

    @property
    def softplus(self) -> np.ndarray:
        """``phi_beta(s_j - mu)`` of the competitors."""
        return np.logaddexp(0, self.beta * (self.s[1:] - self.mu)) / self.beta

    @property
    def q(self) -> np.ndarray:
        """``sigmoid(beta (s_j - mu))`` of the competitors."""
        return expit(self.beta * (self.s[1:] - self.mu))

    @property
    def Q(self) -> np.ndarray:
        """The column of eq. ``Q_def``."""
        return np.concatenate([[-1.0], self.q / self.k])

    @property
    def margin(self) -> float:
        """``m`` of eq. ``c_i_m_i``."""
        return float(self.s[0] - self.mu - self.softplus.sum() / self.k)

    @property
    def a(self) -> float:
        """``sigmoid(-m)``."""
        return float(expit(-self.margin))


def margin_slope(column: Column) -> Readings:
    """Slope of the margin in its threshold, which Section 4.1 gives the sign of a minus.

    Parameters
    ----------
    column : Column

    Returns
    -------
    Readings
        The truth by a central difference.
    """
    up, down = (column._replace(mu=column.mu + step).margin for step in (STEP, -STEP))
    total = np.array([column.Q.sum()])
    return Readings(np.array([(up - down) / (2 * STEP)]), -total, total)


def taylor_residual(rest: Column, full: Column) -> Readings:
    """The residual off the diagonal, ``E_ji`` (eq. ``Ehat_off_explicit``), in one column.

    The formula is an identity in two points of which nothing need be optimal, once its remainders are taken
    for what the Taylor identities of Appendix B leave over.

    Parameters
    ----------
    rest : Column
        Without the held-out competitor.
    full : Column
        With it, as the last entry; the others in the same order.

    Returns
    -------
    Readings
        Over the competitors that both have.
    """
    k, beta, a = rest.k, rest.beta, rest.a
    b, q = a * (1 - a), rest.q
    change = full.s[:-1] - rest.s
    move, threshold = change[1:], full.mu - rest.mu
    curvature = beta * q * (1 - q) / k
    reaction = float(rest.Q @ change)
    held_out = float(np.logaddexp(0, beta * (full.s[-1] - rest.mu)) / beta)  # its score does not matter here
    rise, gained = full.margin - rest.margin, full.q[:-1] - q
    rho_q = gained - k * curvature * (move - threshold)
    rho_m = rise + reaction - rest.Q.sum() * threshold + held_out / k
    rho_a = full.a - a + b * rise
    linear = a * curvature * move + b * q / k * reaction
    truth = (full.a * full.q[:-1] - a * q) / k - linear
    common = a / k * rho_q - a * curvature * threshold + (full.a - a) * gained / k
    slope = b * rest.Q.sum() * threshold
    return Readings(
        truth,
        common - b * q / k**2 * held_out + q / k * (slope - rho_a),
        common + b * q / k**2 * held_out + q / k * (-slope - b * rho_m + rho_a),
    )


# --- Proposition 6: the weights of an iterated removal --------------------------------------------


def iterated_removal(problem: Problem, count: int) -> Readings:
    """A memory less the one without its last pairs, and the responses of eq. ``competitor_iterated_LOO``.

    The printed weight of each pair is that at the minimiser which has already lost it, where it is zero by
    the convention of Section 4.2; the corrected one that at the minimiser from which it is just being taken.

    Parameters
    ----------
    problem : Problem
    count : int
        How many pairs are removed, one after the other and from the last on.

    Returns
    -------
    Readings
    """
    point = start = minimise(problem)
    total = torch.zeros_like(point.W)
    for _ in range(count):
        h = point.problem.pairs.n - 1
        rest = minimise(without(point.problem, h), point.W)
        u, v = point.problem.pairs.U[:, h], point.problem.pairs.V[:, h]
        total += float(point.a[h]) * solve(rest, torch.outer(u, v), "full")
        point = rest
    difference = (start.W - point.W).numpy()
    return Readings(difference, np.zeros_like(difference), total.numpy())


# --- Appendix B: the held-out row is no surviving score -------------------------------------------


def moved_scores(problem: Problem) -> tuple[float, float]:
    """How far scores move when the last pair goes: those of its target, and those of the pairs that stay.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    held_out, surviving : float
        Root mean squares of ``Delta S[h, i]`` and ``Delta S[j, i]``.
    """
    full = minimise(problem)
    h = problem.pairs.n - 1
    rest = minimise(without(problem, h), full.W)
    change = problem.pairs.U.T @ (full.W - rest.W) @ rest.problem.pairs.V
    return float(change[h].square().mean().sqrt()), float(_drop_row(change, h).square().mean().sqrt())


def _drop_row(X: torch.Tensor, h: int) -> torch.Tensor:
    """A matrix without row h."""
    return torch.cat([X[:h], X[h + 1 :]])


def summed_tail_weights(problem: Problem) -> float:
    """The largest ``|(Q' 1)_i|`` without the last pair, which Appendix B bounds by a constant.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    float
    """
    rest = minimise(without(problem, problem.pairs.n - 1))
    return float((rest.p.sum(dim=0) - 1).abs().max())


# --- Appendix D: the adjoint ----------------------------------------------------------------------


def score_action(point: Evaluation, T: torch.Tensor) -> Readings:
    """The action of the score Hessian on T (eq. ``ssa_C_coordinates``).

    Parameters
    ----------
    point : Evaluation
    T : Tensor, shape (n, n)

    Returns
    -------
    Readings
        The truth by central differences of the score gradient; printed, with the ``D_i`` of Lemma 4.
    """
    up, down = (_score_gradient(point.problem, point.S + step * T) for step in (STEP, -STEP))
    delta = T.diagonal() - torch.linalg.vecdot(point.p, T, dim=0)
    own = -point.p * (point.b * delta)
    forms = (own + point.a * part for part in (point.c * T, _curvature_action(point, T)))
    printed, corrected = ((form + torch.diag(point.b * delta)).numpy() for form in forms)
    return Readings(((up - down) / (2 * STEP)).numpy(), printed, corrected)


def _curvature_action(point, T):
    """``B_i T_i`` for all columns, with the rank-one part that lets thresholds follow."""
    along = torch.linalg.vecdot(point.c, T, dim=0) / point.c.sum(dim=0)
    return point.c * (T - along)


def _score_gradient(problem, S):
    """Gradient of the summed loss in the scores, with thresholds profiled out."""
    p, signal = S.clone(), S.diagonal().clone()
    p.fill_diagonal_(-math.inf)
    t, _ = problem.loss.aggregate(p)
    a = torch.sigmoid(t - signal)
    return p * a - torch.diag(a)


def squared_norm_gradient(problem: Problem) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradient of ``|W|_F^2 / d^2`` of the minimiser in the data, by the adjoint method of Appendix D.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    in_targets, in_keys : Tensor, shape (d, n)
    """
    point = minimise(problem)
    U, V, W = problem.pairs.U, problem.pairs.V, point.W
    P = solve(point, 2 * W / problem.pairs.d**2, "profiled", tol=1e-12)
    T = U.T @ P @ V
    delta = T.diagonal() - torch.linalg.vecdot(point.p, T, dim=0)
    C = point.a * _curvature_action(point, T) - point.p * (point.b * delta) + torch.diag(point.b * delta)
    G = point.p * point.a - torch.diag(point.a)
    return -W @ V @ C.T - P @ V @ G.T, -W.T @ U @ C - P.T @ U @ G


# --- Appendix E: the projection behind (A4) -------------------------------------------------------


def projected_square(U: np.ndarray, G: np.ndarray, V: np.ndarray, x: np.ndarray, y: np.ndarray) -> Readings:
    """Square of ``|Pi[U G V']|_F`` (eq. ``ssa_projected_three``) for unit vectors x and y.

    Parameters
    ----------
    U, V : ndarray, shape (d, n)
    G : ndarray, shape (n, n)
    x, y : ndarray, shape (d,)

    Returns
    -------
    Readings
        Printed, the square of the bound; corrected, the sum of the three squares.
    """
    M = U @ G @ V.T
    X, Y = np.outer(x, x), np.outer(y, y)
    truth = np.sum((X @ M + M @ Y - X @ M @ Y) ** 2)
    p, r = U.T @ x, V.T @ y
    sides = ((V - np.outer(y, r)) @ G.T @ p, (U - np.outer(x, p)) @ G @ r)
    both = abs(p @ G @ r)
    bound = (3 * both + sum(map(np.linalg.norm, sides))) ** 2
    return Readings(*(np.array([z]) for z in (truth, bound, both**2 + sum(z @ z for z in sides))))


# --- Appendix G: what the coefficients of a rank-one feature do to the trace ----------------------


def moved_signal_coefficients(point: Evaluation, shift: torch.Tensor) -> tuple[float, float]:
    """Change of the simplified trace when only the ``b_i`` move, and the bound that Lemma 23 lacks.

    Parameters
    ----------
    point : Evaluation
    shift : Tensor, shape (n,)
        Added to ``b``.

    Returns
    -------
    change, bound : float
        Of ``tr(H^-1) / d^2``; the bound is ``sum |shift_i| |u_i|^2 |v_i|^2 / (tau^2 d^2)``.
    """
    pairs, tau = point.problem.pairs, point.problem.effective_ridge
    eye = torch.eye(pairs.d**2, dtype=torch.float64)
    traces = []
    for moved in (point, Evaluation(**(vars(point) | {"b": point.b + shift}))):
        columns = [hessian_product(moved, E.reshape(pairs.d, pairs.d), "simplified").reshape(-1) for E in eye]
        traces.append(float(torch.linalg.inv(torch.stack(columns)).diagonal().mean()))
    lengths = pairs.U.square().sum(dim=0) * pairs.V.square().sum(dim=0)
    return traces[1] - traces[0], float((shift.abs() * lengths).sum()) / (tau * pairs.d) ** 2


def removed_features(problem: Problem) -> float:
    """Operator norm of the features of one target that the cavity of Lemma 25 leaves out (in ``C_i^feat``).

    They are ``sum_l (a_l r_il / k) f_il f_il'`` over the keys that stay: one target, so the norm is that of a
    d x d matrix times ``|u_i|^2``.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    float
    """
    point, V = minimise(problem), problem.pairs.V
    weights = point.a * point.c[0]
    return float(torch.linalg.matrix_norm((V * weights) @ V.T, 2) * problem.pairs.U[:, 0].square().sum())
