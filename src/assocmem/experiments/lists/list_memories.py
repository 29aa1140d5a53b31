"""Memories trained by different losses at one load, and how many of their signals are among the best."""

import math

import torch

from assocmem.checks import require_choice
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import signal_percentiles
from assocmem.theory.lists import equivalent_tail
from assocmem.training.fit import Fit, fit
from assocmem.training.list_fit import ListFit, fit_list
from assocmem.training.losses import CrossEntropy, TailAverage

OUTER_PRODUCTS, CROSS_ENTROPY, SHORT_TAIL, LONG_TAIL, LIST = LOSSES = (
    "outer products",
    "cross-entropy",
    "tail average of the list",
    "tail average of the longer tail",
    "list loss",
)
"""The ways to a memory: written down, for first place, for the average of the top share r, for that of the
longer tail whose mean is where the list of r begins, and for a place on that list."""

PASSES = 4000
"""Passes after which a fit is given up; the longest of the stored ones takes a few hundred."""


def train_for_lists(
    loss: str, pairs: Pairs, r: float, *, ridge: float, beta: float = 1.0, tol: float = 1e-2
) -> Fit | ListFit | None:
    """Memory that minimises one of `LOSSES` with a ridge.

    Parameters
    ----------
    loss : str
        One of `LOSSES`, but not outer products, which need no training.
    pairs : Pairs
    r : float
        List fraction in (0, 1/2].
    ridge, beta, tol
        As in `fit` and `TailAverage`.

    Returns
    -------
    Fit or ListFit

    Raises
    ------
    ValueError
        For another loss.
    ArithmeticError
        If the gap does not reach ``tol``.
    """
    require_choice("loss", loss, LOSSES[1:])
    if loss == LIST:
        found = fit_list(pairs, r, ridge=ridge, tol=tol, max_passes=PASSES)
    else:
        tail = r if loss == SHORT_TAIL else float(equivalent_tail(r))
        aim = CrossEntropy() if loss == CROSS_ENTROPY else TailAverage(r=tail, beta=beta)
        found = fit(pairs, aim, ridge=ridge, tol=tol, max_passes=PASSES)
    if not found.converged:
        at = f"{loss}, n = {pairs.n}, d = {pairs.d}, r = {r:g}"
        raise ArithmeticError(f"{at}: gap {found.gap:.1e} after {found.passes} passes")
    return found


def measure_lists(
    loss: str, pairs: Pairs, r: float, *, ridge: float, beta: float = 1.0, tol: float = 1e-2
) -> dict[str, float | None]:
    """Train a memory, or write it down, and count exactly where its signals stand.

    Parameters
    ----------
    loss, pairs, r, ridge, beta, tol
        As in `train_for_lists`; outer products use neither of the last three.

    Returns
    -------
    dict
        Shares of keys whose signal is ``first`` and ``listed``, that is in the top share r; the ``worst`` and
        the mean (``middle``) share of competitors below a signal; the norm scale ``nu``; the standard
        deviation (``spread``) and least value (``least``) over the keys of ``|W v_i| / (nu sqrt d)``; and of
        the fit its ``value``, the mean loss without the ridge, ``gap`` and ``passes``, or None.
    """
    if loss == OUTER_PRODUCTS:
        W, work = correlation_memory(pairs), {"value": None, "gap": None, "passes": None}
    else:
        found = train_for_lists(loss, pairs, r, ridge=ridge, beta=beta, tol=tol)
        W, work = found.W, {"value": found.loss, "gap": found.gap, "passes": found.passes}
    below = signal_percentiles(pairs, W)
    nu = float(W.norm()) / pairs.d
    lengths = torch.linalg.vector_norm(W @ pairs.V, dim=0) / (nu * math.sqrt(pairs.d))
    return {
        "first": float((below == 1).double().mean()),
        "listed": float((below >= 1 - r).double().mean()),
        "worst": float(below.min()),
        "middle": float(below.mean()),
        "nu": nu,
        "spread": float(lengths.std()),
        "least": float(lengths.min()),
    } | work
