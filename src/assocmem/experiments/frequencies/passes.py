"""How many passes it takes until rare facts are answered: the share of wrong answers along a training.

Facts are asked by Zipf's law, and every pass goes over all of them. *descent* is plain gradient descent from
zero on the mean loss with one step for all passes; *fit* is the minimiser of `assocmem.training.fit`, which
divides the gradient by a model of the curvature. A fact of weight p pulls with a gradient in proportion to p,
so that descent answers it after a number of passes in proportion to 1/p: after T passes the facts up to rank
``T^(1/s)`` are there, and the error falls like ``T^(-(s-1)/s)``, until it meets what the size of the memory
allows. (An argument and no proof; the same power stands in the literature for the number of examples.)
"""

from collections.abc import Sequence

import torch

from assocmem.checks import require_choice, require_number
from assocmem.experiments.frequencies.zipf import zipf_weights
from assocmem.pairs.data import Facts, gaussian_pairs
from assocmem.training.fit import fit
from assocmem.training.losses import TailAverage
from assocmem.training.passes import loss_pass

TRAININGS = ("descent", "fit")
"""How a memory is trained."""

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Passes after which the error is told."""

R, BETA, RIDGE, GAP = 0.15, 1.0, 1e-7, 1e-3
"""Of the loss, the ridge, and the relative gap at which a fit ends."""


def unit_step(facts: Facts) -> float:
    """Step up to which descent is stable near zero, by the fact that is asked most.

    Twice the inverse of an estimate of the largest curvature, which is that along the outer product of a
    target and its key: a quarter, which is the most that a logistic loss has, times its weight over n. As
    soon as a fact is answered its curvature falls, so that longer steps do no harm.

    Parameters
    ----------
    facts : Facts
        With weights.

    Returns
    -------
    float
    """
    lengths = facts.answered().square().sum(dim=0) * facts.V.square().sum(dim=0)
    return float(8 * facts.n / (facts.weights * lengths).max())


def errors_of_descent(facts: Facts, loss: TailAverage, step: float, counts: Sequence[int]) -> list[float]:
    """Share of questions answered wrongly along gradient descent.

    Parameters
    ----------
    facts : Facts
        With weights.
    loss : TailAverage
    step : float
        Over `unit_step`; positive.
    counts : sequence of int
        Passes after which it is told, increasing.

    Returns
    -------
    list of float

    Raises
    ------
    ValueError
        For a step that is not positive.
    ArithmeticError
        If the memory overflows.
    """
    require_number("step", step, 0)
    length = step * unit_step(facts)
    W, found = facts.U.new_zeros(facts.d_out, facts.d_in), []
    done = loss_pass(facts, loss, W)
    for passed in range(1, counts[-1] + 1):
        W = W - length * done.gradient
        if not bool(torch.isfinite(W).all()):
            raise ArithmeticError(f"step = {step:g}: the memory overflows after {passed} passes")
        done = loss_pass(facts, loss, W)
        if passed in counts:
            found.append(wrong(facts, done.margins))
    return found


def errors_of_fit(
    facts: Facts, loss: TailAverage, ridge: float, counts: Sequence[int], *, tol: float = GAP
) -> list[float]:
    """Share of questions answered wrongly by fits that were ended after so many passes.

    Parameters
    ----------
    facts : Facts
        With weights.
    loss : TailAverage
    ridge : float
    counts : sequence of int
        Passes after which it is told, increasing. The last look, which ends a fit in the final loss and
        ridge, is not counted.
    tol : float
        Relative gap at which a fit ends; the error stays the same from there on.

    Returns
    -------
    list of float
    """
    found = []
    for passes in counts:
        done = fit(facts, loss, ridge=ridge, tol=tol, max_passes=passes)
        found.append(wrong(facts, done.margins))
        if done.converged:
            break
    return found + found[-1:] * (len(counts) - len(found))


def wrong(facts: Facts, margins: torch.Tensor) -> float:
    """Share of the questions whose margin is not positive.

    Parameters
    ----------
    facts : Facts
        With weights.
    margins : Tensor, shape (n,)

    Returns
    -------
    float
    """
    return float((facts.weights * (margins <= 0)).sum()) / facts.n


def measure_passes(n: int, d: int, s: float, training: str, step: float, seed: int) -> dict[str, float]:
    """Error after each of some numbers of passes.

    Parameters
    ----------
    n, d : int
    s : float
        Exponent of the frequencies, which are the weights of the loss.
    training : str
        One of `TRAININGS`.
    step : float
        Of descent, over `unit_step`; a fit has none.
    seed : int
        Of keys and targets.

    Returns
    -------
    dict
        ``error_1``, ``error_2``, ..., by `COUNTS`.

    Raises
    ------
    ValueError
        For another training.
    """
    require_choice("training", training, TRAININGS)
    pairs = gaussian_pairs(n, d, seed=seed)
    facts = Facts(pairs.U, pairs.V, weights=torch.from_numpy(zipf_weights(n, s)))
    loss = TailAverage(r=R, beta=BETA)
    if training == "fit":
        found = errors_of_fit(facts, loss, RIDGE, COUNTS)
    else:
        found = errors_of_descent(facts, loss, step, COUNTS)
    return {f"error_{count}": error for count, error in zip(COUNTS, found, strict=True)}
