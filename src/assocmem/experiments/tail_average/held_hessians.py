"""Hessians with the thresholds held or moving along: by definition, by the engine, and by differentiation."""

from functools import partial

import numpy as np
import torch

from assocmem.checks import SCALES, require, require_number, require_numbers
from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import scores
from assocmem.pairs.sizes import tail_count
from assocmem.pairs.tail_average import smoothed_gradient, smoothed_hessian
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
        "measured": [
            np.linalg.norm(defined - differentiated.numpy()) / size,
            float((held - differentiated).norm()) / size,
        ],
        "predicted": 0.0,
        "tolerance": 1e-12,
        "falsehood": ("the thresholds move along", float((moving - differentiated).norm()) / size),
    }


def column_evidence(x: np.ndarray, r: float, beta: float, step: float = 1e-5) -> dict:
    """What a check of Lemma 4 compares: the Hessian of a tail average with differences of its gradient.

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
        The arguments of `assocmem.book.claims.check`. The falsehood is the Hessian with the threshold held.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_numbers("x", x, -SCALES[1], SCALES[1])
    require(np.ndim(x) == 1, "x", x, "a vector")
    require_number("step", step, 1e-12, 1)
    x = np.asarray(x)
    m = len(x)
    gradient = partial(smoothed_gradient, r=r, beta=beta)
    moves = step * np.eye(m)
    differences = np.array([gradient(x + move) - gradient(x - move) for move in moves]) / (2 * step)
    hessian = smoothed_hessian(x, r, beta)
    k = tail_count(r, m)
    q = k * smoothed_gradient(x, r, beta)
    held = np.diag(beta / k * q * (1 - q))
    size = np.linalg.norm(hessian)
    return {
        "claim": "lemma-4",
        "what": "relative distance of the Hessian from differences of the gradient",
        "measured": np.linalg.norm(differences - hessian) / size,
        "predicted": 0.0,
        "tolerance": 1e-5,
        "falsehood": ("the threshold stays where it is", np.linalg.norm(held - hessian) / size),
    }
