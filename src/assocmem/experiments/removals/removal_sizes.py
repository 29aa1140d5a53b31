"""Every size that the leave-one-out method bounds, on one instance.

`assocmem.experiments.removals.removal_rates` says which statement of the paper each belongs to, and with what
power of d.
"""

import math
from functools import cache

import numpy as np
import torch

from assocmem.checks import require
from assocmem.pairs.data import Pairs, derived_seed, gaussian_pairs
from assocmem.pairs.scores import scores
from assocmem.pairs.sizes import pairs_at_load
from assocmem.removal.hessians import Evaluation, dense_inverse, evaluate, hessian_product, pull_back
from assocmem.removal.leave_one_out import (
    drop,
    full_problem,
    insertion,
    margin_gradient,
    minimise,
    newton_step,
    rank_one_response,
    without,
)
from assocmem.theory.scalar import solve_scalar
from assocmem.training.losses import TailAverage

EXACT_DIMENSION = 64
"""Largest dimension at which Hessians are inverted as matrices: one of 64^2 x 64^2 numbers takes 128 MB."""
FRESH = 64
"""Fresh pairs in which quadratic forms are taken."""
FORMS = 512
"""Pairs of the instance itself in which they are taken, at most."""
FORM_SIZES = (
    *("fresh_trace", "fresh_trace_rms", "diagonal_form", "diagonal_form_rms", "other_form", "other_form_rms"),
    *("response", "simplification", "simplification_bound", "chi", "chi_simplified"),
)
"""What takes an inverse Hessian."""
PATH_NODES, PATH_WEIGHTS = np.polynomial.legendre.leggauss(6)
"""Of a quadrature along the path between two minimisers, on [-1, 1]."""

LAWS = ("gaussian", "sphere", "rademacher")
SETTINGS = (
    {"load": 0.25, "r": 0.2, "beta": 3.0, "ridge": 0.5, "law": "gaussian"},
    {"load": 0.25, "r": 0.2, "beta": 3.0, "ridge": 0.5, "law": "sphere"},
    {"load": 0.25, "r": 0.2, "beta": 3.0, "ridge": 0.5, "law": "rademacher"},
    {"load": 0.25, "r": 0.2, "beta": 10.0, "ridge": 0.5, "law": "gaussian"},
    {"load": 0.25, "r": 0.2, "beta": 30.0, "ridge": 0.5, "law": "gaussian"},
    {"load": 0.25, "r": 0.2, "beta": 100.0, "ridge": 0.5, "law": "gaussian"},
    {"load": 0.25, "r": 0.2, "beta": 3.0, "ridge": 0.1, "law": "gaussian"},
    {"load": 0.25, "r": 0.2, "beta": 3.0, "ridge": 0.01, "law": "gaussian"},
    {"load": 0.25, "r": 0.2, "beta": 3.0, "ridge": 0.001, "law": "gaussian"},
    {"load": 0.5, "r": 0.2, "beta": 3.0, "ridge": 0.01, "law": "gaussian"},
    {"load": 0.5, "r": 0.2, "beta": 3.0, "ridge": 0.001, "law": "gaussian"},
)
"""Where stored sizes belong; the first is the one that all exponents are measured at."""


def pairs_of_law(n: int, d: int, law: str, *, seed: int) -> Pairs:
    """Pairs with mean zero and covariance ``I / d`` that need not be Gaussian.

    Parameters
    ----------
    n, d : int
    law : {"gaussian", "sphere", "rademacher"}
        Gaussian entries, uniform directions of length one, or random signs over ``sqrt(d)``.
    seed : int

    Returns
    -------
    Pairs
    """
    require(law in LAWS, "law", law, f"one of {', '.join(LAWS)}")
    pairs = gaussian_pairs(n, d, seed=seed)
    if law == "sphere":
        return Pairs(pairs.U / pairs.U.norm(dim=0), pairs.V / pairs.V.norm(dim=0))
    if law == "rademacher":
        return Pairs(pairs.U.sign() / math.sqrt(d), pairs.V.sign() / math.sqrt(d))
    return pairs


def instance_bytes(d: int, load: float) -> int:
    """Bytes that `measure_instance` takes at its peak: two dozen arrays of n x n, and inverse Hessians.

    Parameters
    ----------
    d : int
    load : float

    Returns
    -------
    int
    """
    n, inverted = pairs_at_load(load, d), min(d, EXACT_DIMENSION)
    return 8 * (24 * n**2 + 4 * inverted**4 + 2 * pairs_at_load(load, inverted) * inverted**2)


def measure_instance(
    d: int, seed: int, *, load: float, r: float, beta: float, ridge: float, law: str = "gaussian"
) -> dict[str, float]:
    """All sizes on one instance from which one pair is removed, and then a second one.

    Parameters
    ----------
    d, seed : int
    load, r, beta, ridge : float
    law : str
        See `pairs_of_law`.

    Returns
    -------
    dict of str to float
        The sizes of `removal_rates`, and a few that explain them; where one is a maximum ``x``, also the root
        mean square of the entries as ``x_rms``. What takes an inverse Hessian is nan beyond
        `EXACT_DIMENSION`.
    """
    pairs = pairs_of_law(pairs_at_load(load, d), d, law, seed=derived_seed(seed, d, LAWS.index(law)))
    problem = full_problem(pairs, TailAverage(r, beta), ridge)
    full = minimise(problem)
    rest = minimise(without(problem, 0), full.W)
    least = minimise(without(rest.problem, 0), rest.W)
    step = newton_step(problem, rest, 0)
    candidate = evaluate(problem, step.W)
    fresh = pairs_of_law(FRESH, d, law, seed=derived_seed(seed, d, LAWS.index(law), 1))
    one = rank_one_response(problem, full, rest, 0)
    two = rank_one_response(rest.problem, rest, least, 0)
    return {
        **_averages(full),
        **_moves(full, rest, least, step, one, two),
        **_increments(full, rest, step, candidate),
        **_residuals(full, rest, step, candidate),
        **_thresholds(full, rest),
        **_couplings(rest, fresh, _limiting_nu(load, r, beta, ridge)),
        **_forms(full, fresh, float((one / full.a[0] * torch.outer(pairs.U[:, 0], pairs.V[:, 0])).sum())),
    }


def _averages(full):
    """What concentrates (Proposition 5)."""
    signal, square = full.S.diagonal(), full.S.square()
    n = len(signal)
    return {
        "nu_square": float(full.W.square().mean()),
        "signal_square": float(signal.square().mean()),
        "competitor_square": float((square.sum() - signal.square().sum()) / (n * (n - 1))),
    }


def _moves(full, rest, least, step, one, two):
    """Distances between minimisers, and from what predicts them."""
    pairs, change, second = full.problem.pairs, full.W - rest.W, rest.W - least.W
    u, v = pairs.U, pairs.V
    unseen = torch.stack(
        [u[:, 0] @ rest.W @ v[:, 0], u[:, 1] @ least.W @ v[:, 0], u[:, 0] @ least.W @ v[:, 1]]
    )
    classical = step.a * step.response
    return {
        "rank_one": float((change - one).norm()),
        "rank_one_second": float((second - two).norm()),
        "newton_error": float((full.W - step.W).norm()),
        "classical_error": float((change - classical).norm()),
        "norm": float(full.W.norm()),
        "norm_second": float(least.W.norm()),
        "moved": float(change.norm()),
        "moved_second": float(second.norm()),
        "operator": float(torch.linalg.matrix_norm(full.W, 2)),
        "fresh_score": float(unseen.square().mean().sqrt()),
    }


def _increments(full, rest, step, candidate):
    """Scores and coefficients that move, and the insertion of the removed target."""
    k, inserted = full.problem.k, step.insertion
    moved = candidate.S - scores(full.problem.pairs, rest.W)
    slopes = drop(full.c, 0) * drop(full.a, 0) - rest.c * rest.a
    return {
        **_sizes("score", drop(full.S, 0) - rest.S),
        **_sizes("bounded", full.S),
        **_sizes("candidate_score", drop(moved, 0)),
        **_sizes("row", moved[0, 1:]),
        "column": float(moved[1:, 0].norm()),
        "row_energy": float(candidate.S[0, 1:].square().sum()),
        **_sizes("coefficient_b", drop(full.b, 0) - rest.b),
        **_sizes("coefficient_ar", k * slopes),
        "gap": float(inserted.gap.norm()),
        "weight_gap": float(inserted.weight_gap.norm()),
        "insertion": float(inserted.gradient.norm()),
        "insertion_signal": float(inserted.parts[0].norm()),
        "insertion_average": float(inserted.parts[1].norm()),
        "insertion_weights": float(inserted.parts[2].norm()),
        "insertion_xi": float(inserted.xi.norm()),
    }


def _residuals(full, rest, step, candidate):
    """The three remainders of the Newton step, and the entries of the Taylor remainder of Appendix B."""
    at_rest = evaluate(rest.problem, step.W)
    common = at_rest.gradient - hessian_product(rest, step.W - rest.W, "profiled")
    inserted = insertion(candidate, at_rest, 0).gradient - step.insertion.gradient
    diagonal, other = taylor_remainder(full, rest, 0)
    threshold_term = rest.c * rest.a * (drop(full.mu, 0) - rest.mu)
    return {
        "newton_gradient": float(candidate.gradient.norm()),
        "common_residual": float(common.norm()),
        "insertion_residual": float(inserted.norm()),
        "outer_residual": float((step.a * step.X - candidate.a[0] * margin_gradient(candidate, 0)).norm()),
        **_sizes("taylor_diagonal", diagonal),
        **_sizes("taylor_other", other),
        **_sizes("taylor_profiled", other + threshold_term),
        **_sizes("taylor_threshold", threshold_term),
        "taylor_pulled": float(pull_back(rest.problem.pairs, other, diagonal).norm()),
    }


def taylor_remainder(full: Evaluation, rest: Evaluation, h: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrix ``E`` of eq. ``interior_linearization``: what the Hessian with thresholds still leaves over.

    Parameters
    ----------
    full, rest : Evaluation
        The minimisers with and without pair h.
    h : int

    Returns
    -------
    diagonal : Tensor, shape (n - 1,)
    other : Tensor, shape (n - 1, n - 1)
        Zero on the diagonal.
    """
    a, p = drop(full.a, h), drop(full.p, h)
    X = drop(full.S, h) - rest.S
    change = X.diagonal() - torch.linalg.vecdot(rest.p, X, dim=0)
    other = p * a - rest.p * rest.a - rest.c * rest.a * X + rest.p * (rest.b * change)
    return rest.a - a - rest.b * change, other


def threshold_path(full: Evaluation, rest: Evaluation, h: int) -> torch.Tensor:
    """Curvatures ``c_bar`` averaged along the path between two minimisers (Lemma 12), by quadrature.

    Parameters
    ----------
    full, rest : Evaluation
        The minimisers with and without pair h.
    h : int

    Returns
    -------
    Tensor, shape (n - 1, n - 1)
        ``c_bar[j, i]``, 0 on the diagonal.
    """
    beta, S, mu = full.problem.loss.beta, drop(full.S, h), drop(full.mu, h)
    average = torch.zeros_like(S)
    for node, weight in zip((PATH_NODES + 1) / 2, PATH_WEIGHTS / 2, strict=True):
        q = torch.sigmoid(beta * (rest.S - rest.mu + node * (S - rest.S - mu + rest.mu)))
        average += weight * beta * q * (1 - q)
    return average.fill_diagonal_(0)


def threshold_identity(full: Evaluation, rest: Evaluation, h: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Both sides of the exact identity for ``Delta mu`` (Lemma 12).

    Parameters
    ----------
    full, rest : Evaluation
        The minimisers with and without pair h.
    h : int

    Returns
    -------
    left, right : Tensor, shape (n - 1,)
    """
    path, k = threshold_path(full, rest, h), full.problem.k
    X = drop(full.S, h) - rest.S
    q = k * drop(full.p[h], h)
    return drop(full.mu, h) - rest.mu, (q + torch.linalg.vecdot(path, X, dim=0)) / path.sum(dim=0)


def _thresholds(full, rest):
    k, others = full.problem.k, rest.problem.pairs
    path = threshold_path(full, rest, 0)
    start, along = others.U @ rest.c, others.U @ path / k
    return {
        **_sizes("threshold", drop(full.mu, 0) - rest.mu),
        **_sizes("output", (full.W @ full.problem.pairs.V).norm(dim=0)),
        **_sizes("output_rest", (rest.W @ full.problem.pairs.V).norm(dim=0)),
        **_sizes("curvature", 1 / rest.c.sum(dim=0)),
        **_sizes("path_curvature", k / path.sum(dim=0)),
        **_sizes("average", start.norm(dim=0)),
        **_sizes("average_moved", (along - start).norm(dim=0)),
        **_sizes("averaged_score", torch.linalg.vecdot(path, drop(full.S, 0) - rest.S, dim=0) / k),
    }


@cache
def _limiting_nu(load, r, beta, ridge):
    return solve_scalar(load, r, beta=beta, ridge=ridge).nu


def _couplings(rest, fresh, nu):
    """Distances of bilinear forms from their Gaussian copies, for fresh vectors (Appendix F).

    The copies have the variance of the matrix itself, or that of the limit, ``nu^2``.
    """
    W, d = rest.W, len(rest.W)
    forms = torch.linalg.vecdot(fresh.U, W @ fresh.V, dim=0)
    conditional, own = (W @ fresh.V).square().sum(dim=0) / d, float(W.square().mean())
    return {
        "coupling": float((forms * (1 - (own / conditional).sqrt())).square().mean().sqrt()),
        "coupling_random": float((forms * (1 - nu / conditional.sqrt())).square().mean().sqrt()),
    }


def _forms(full, fresh, own):
    """Normalised traces of inverse Hessians, and their quadratic forms in fresh and in own pairs."""
    pairs, d = full.problem.pairs, len(full.W)
    if d > EXACT_DIMENSION:
        return dict.fromkeys(FORM_SIZES, math.nan)
    inverse, simple = (dense_inverse(full, kind) for kind in ("full", "simplified"))
    chi, chi_simple = float(inverse.diagonal().mean()), float(simple.diagonal().mean())
    signal, next_one = torch.arange(min(pairs.n, FORMS)), torch.arange(1, min(pairs.n, FORMS))
    diagonal = _form(simple, pairs.U[:, signal], pairs.V[:, signal])
    other = _form(simple, pairs.U[:, next_one], pairs.V[:, next_one - 1])
    p = (pairs.U @ full.p).norm(dim=0)
    u, v = pairs.U.norm(dim=0), pairs.V.norm(dim=0)
    bound = float((v**2 * (2 * u * p + p**2)).sum() * full.b.max()) / (full.problem.effective_ridge * d) ** 2
    return {
        **_sizes("fresh_trace", _form(inverse, fresh.U, fresh.V) - chi),
        **_sizes("diagonal_form", diagonal - chi / (1 + full.b[signal] * chi)),
        **_sizes("other_form", other - chi),
        "response": abs(own - chi),
        "simplification": abs(chi - chi_simple),
        "simplification_bound": bound,
        "chi": chi,
        "chi_simplified": chi_simple,
    }


def _form(T, U, V):
    """``<u v', T[u v']>`` for each column, with T a matrix."""
    f = (U[:, None] * V[None]).flatten(0, 1)
    return torch.linalg.vecdot(f, T @ f, dim=0)


def _sizes(name, x):
    return {name: float(x.abs().max()), f"{name}_rms": float(x.square().mean().sqrt())}
