"""Hessians with the thresholds held or moving along: by definition, by the engine, and by differentiation."""

from functools import partial

import numpy as np
import torch

from assocmem.checks import SCALES, require, require_number, require_numbers
from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import scores
from assocmem.pairs.sizes import tail_count
from assocmem.pairs.tail_average import (
    smoothed_gradient,
    smoothed_hessian,
    smoothed_tail_average,
    smoothed_threshold,
)
from assocmem.theory.tail_average_reference import held_hessian
from assocmem.training.losses import TailAverage
from assocmem.training.passes import dense_hessian, loss_pass


def joint_objective(
    W: torch.Tensor, pairs: Pairs, mu: torch.Tensor, loss: TailAverage, ridge: float
) -> torch.Tensor:
    """The summed loss at given thresholds, with the ridge, written for automatic differentiation.

    Parameters
    ----------
    W : Tensor, shape (d, d) or (d^2,)
    pairs : Pairs
    mu : Tensor, shape (n,)
        Thresholds.
    loss : TailAverage
    ridge : float

    Returns
    -------
    Tensor
        A single number.
    """
    n, d = pairs.n, pairs.d
    S = pairs.U.T @ W.reshape(d, d) @ pairs.V
    excess = torch.nn.functional.softplus(S - mu, beta=loss.beta, threshold=700)
    softplus = excess * ~torch.eye(n, dtype=torch.bool)
    c = mu + softplus.sum(dim=0) / tail_count(loss.r, n - 1)
    fitted = -torch.nn.functional.logsigmoid(S.diagonal() - c).sum()
    return fitted + ridge * n / (2 * d**2) * (W**2).sum()


def hessian_evidence(pairs: Pairs, W: torch.Tensor, loss: TailAverage, ridge: float) -> dict:
    """What a check of Definition 2 compares: relative distances of Hessians from automatic differentiation.

    Parameters
    ----------
    pairs : Pairs
        A few; all Hessians are formed as matrices.
    W : Tensor, shape (d, d)
    loss : TailAverage
    ridge : float

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. Measured are the definition and the engine, the
        falsehood is the engine's Hessian whose thresholds move along.
    """
    n, d = pairs.n, pairs.d
    mu = loss_pass(pairs, loss, W).mu
    differentiated = torch.autograd.functional.hessian(
        lambda w: joint_objective(w, pairs, mu, loss, ridge), W.reshape(-1)
    )
    identity = torch.eye(d * d, dtype=torch.float64)
    held, moving = (
        n * (dense_hessian(pairs, loss, W, profiled=profiled) + ridge / d**2 * identity)
        for profiled in (False, True)
    )
    defined = held_hessian(
        pairs.U.numpy(),
        pairs.V.numpy(),
        scores(pairs, W).numpy(),
        mu.numpy(),
        k=tail_count(loss.r, n - 1),
        beta=loss.beta,
        ridge=ridge,
    )
    size = float(differentiated.norm())
    return {
        "claim": "definition-2",
        "what": (
            "relative distances of the definition and of the engine's Hessian from automatic differentiation"
        ),
        "kind": "identity",
        "measured": [
            np.linalg.norm(defined - differentiated.numpy()) / size,
            float((held - differentiated).norm()) / size,
        ],
        "predicted": 0.0,
        "tolerance": 1e-12,
        "falsehood": ("the thresholds move along", float((moving - differentiated).norm()) / size),
        "axis": "relative distance from automatic differentiation",
        "each": ["as defined", "as the fit has it"],
    }


def column_evidence(x: np.ndarray, r: float, beta: float, step: float = 1e-5) -> dict:
    """What a check of Lemma 4 compares: derivatives of a tail average with central differences.

    Parameters
    ----------
    x : ndarray, shape (m,)
        Scores.
    r, beta : float
        Tail fraction and inverse smoothing width.
    step : float
        Of the central differences; 1e-5 balances its square against rounding over it.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. Measured are relative distances of the gradient of the
        value, the gradient of the threshold, and the Hessian. The falsehoods are the gradient without
        smoothing, a threshold that moves like the value, and the Hessian with the threshold held.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    value, threshold, gradient = _differences(x, r, beta, step)
    m = len(x)
    hessian = smoothed_hessian(x, r, beta)
    k = tail_count(r, m)
    p = smoothed_gradient(x, r, beta)
    w = beta * p * (1 - k * p)
    tail = np.asarray(x) >= np.sort(x)[-k]
    pairs = (value, p), (threshold, w / w.sum()), (gradient, hessian)
    wrong = (tail / k, p), (p, w / w.sum()), (np.diag(w), hessian)
    measured, falsehood = (
        [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in numbers] for numbers in (pairs, wrong)
    )
    return {
        "claim": "lemma-4",
        "what": "relative distances of gradient, motion of the threshold and Hessian from differences",
        "kind": "identity",
        "measured": measured,
        "predicted": 0.0,
        "tolerance": 1e-5,
        "falsehood": (
            "weights without smoothing, a threshold that moves like the value, one that stays where it is",
            falsehood,
        ),
        "axis": "relative distance from central differences",
        "each": ["gradient", "motion of the threshold", "Hessian"],
    }


def order_evidence(x: np.ndarray, r: float, beta: float, step: float = 1e-5) -> dict:
    """What a check of Lemma 4 compares: the Hessian, by differences, relative to its diagonal bound.

    With ``D = diag(w)`` the matrix ``D^(-1/2) B D^(-1/2)`` is a projection that takes one direction away, so
    ``0 <= B <= D`` is as tight as it can be: the least eigenvalue is 0 and all others are 1.

    Parameters
    ----------
    x : ndarray, shape (m,)
        Scores, none of them many widths of the smoothing away from the threshold.
    r, beta : float
        Tail fraction and inverse smoothing width.
    step : float
        Of the central differences.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. The falsehood has the same trace.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    _, _, hessian = _differences(x, r, beta, step)
    p = smoothed_gradient(x, r, beta)
    root = np.sqrt(beta * p * (1 - tail_count(r, len(x)) * p))
    ratios = np.linalg.eigvalsh(0.5 * (hessian + hessian.T) / np.outer(root, root))
    m = len(x)
    return {
        "claim": "lemma-4",
        "what": f"the {m} eigenvalues of $B$ relative to $D$, by differences of the gradient",
        "kind": "identity",
        "measured": ratios,
        "predicted": [0.0] + [1.0] * (m - 1),
        "tolerance": 1e-5,
        "falsehood": (f"each direction loses an equal share, $1/{m}$", 1 - 1 / m),
        "axis": "eigenvalue of $B$ relative to $D$",
    }


def _differences(x, r, beta, step):
    """Gradients of value and threshold, and the Hessian, of a column by central differences."""
    require_numbers("x", x, -SCALES[1], SCALES[1])
    require(np.ndim(x) == 1, "x", x, "a vector")
    require_number("step", step, 1e-12, 1)
    moves = step * np.eye(len(x))
    functions = (
        partial(f, r=r, beta=beta) for f in (smoothed_tail_average, smoothed_threshold, smoothed_gradient)
    )
    x = np.asarray(x)
    return [np.array([f(x + move) - f(x - move) for move in moves]) / (2 * step) for f in functions]
