"""How far thresholds, scores and averages move on one instance, without any inverse Hessian.

`removal_sizes` has everything that the method bounds; here is what closed forms exist for, up to larger
dimensions: the parts of the average of targets that moves a threshold (`assocmem.theory.removal_response`),
and averages of several functions of the scores (Proposition 5).
"""

import torch

from assocmem.experiments.removals.removal_sizes import taylor_remainder, threshold_path
from assocmem.pairs.data import derived_seed, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.removal.leave_one_out import drop, full_problem, minimise, without
from assocmem.training.losses import TailAverage

AVERAGED = {
    "square": torch.square,
    "softplus": torch.nn.functional.softplus,
    "cosine": lambda s: torch.cos(2 * s),
    "half_square": lambda s: torch.relu(s).square(),
}
"""Test functions of Proposition 5: two of quadratic growth, one Lipschitz, one bounded. None is odd, since an
odd function of the competitors averages out further."""


def measure_motion(
    d: int, seed: int, *, load: float, r: float, beta: float, ridge: float
) -> dict[str, float]:
    """Sizes of what moves when pair 0 of an instance is removed.

    Parameters
    ----------
    d, seed : int
    load, r, beta, ridge : float

    Returns
    -------
    dict of str to float
        ``moved``, the norm of the minimiser's motion; root mean squares over the other keys of ``threshold``,
        of the two terms of its identity (Lemma 12) times the mean slope, ``newcomer`` and ``averaged``, of
        the average of targets in the latter, ``gradient``, and of its parts ``along`` and ``across`` the
        output of the key; the mean ``slope``; root mean squares of ``score``, of Taylor entries off the
        diagonal, ``entry``, and of the coefficients ``a_i r_ji``, ``coefficient``; largest ones as
        ``..._max``; and for each of `AVERAGED` the averages over signals and over competitors.
    """
    pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=derived_seed(seed, d, 7))
    problem = full_problem(pairs, TailAverage(r, beta), ridge)
    full = minimise(problem)
    rest = minimise(without(problem, 0), full.W)
    others, k = rest.problem.pairs, problem.k
    path = threshold_path(full, rest, 0) / k
    change = full.W - rest.W
    g, output = others.U @ path, rest.W @ others.V
    along = torch.linalg.vecdot(g, output / output.norm(dim=0), dim=0)
    lengths = g.norm(dim=0)
    diagonal, other = taylor_remainder(full, rest, 0)
    moved = drop(full.S, 0) - rest.S
    coefficient = k * (drop(full.c, 0) * drop(full.a, 0) - rest.c * rest.a)
    return {
        "weight": float(full.a[0]),
        "moved": float(change.norm()),
        "threshold": _size(drop(full.mu, 0) - rest.mu),
        "newcomer": _size(drop(full.p[0], 0)),
        "averaged": _size(torch.linalg.vecdot(g, change @ others.V, dim=0)),
        "gradient": _size(lengths),
        "along": _size(along),
        "across": _size((lengths.square() - along.square()).clamp(min=0).sqrt()),
        "slope": float(path.sum(dim=0).mean()),
        "score": _size(moved),
        "score_max": float(moved.abs().max()),
        "entry": _size(other),
        "entry_max": float(other.abs().max()),
        "diagonal_max": float(diagonal.abs().max()),
        "coefficient": _size(coefficient),
        "coefficient_max": float(coefficient.abs().max()),
    } | averages(full.S)


def averages(S: torch.Tensor) -> dict[str, float]:
    """Averages of the functions in `AVERAGED` over signals and over competitors.

    Parameters
    ----------
    S : Tensor, shape (n, n)

    Returns
    -------
    dict of str to float
        By ``signal_NAME`` and ``competitor_NAME``.
    """
    n, found = len(S), {}
    for name, function in AVERAGED.items():
        signals = function(S.diagonal()).sum()
        found[f"signal_{name}"] = float(signals / n)
        found[f"competitor_{name}"] = float((function(S).sum() - signals) / (n * (n - 1)))
    return found


def _size(x):
    """Root mean square."""
    return float(x.square().mean().sqrt())
