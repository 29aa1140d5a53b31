"""What a memory keeps of facts of several frequencies: instances, to stand beside the theory of weights."""

from dataclasses import dataclass

import numpy as np
import torch

from assocmem.checks import require_choice
from assocmem.pairs.data import Facts, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.training.fit import Fit, fit
from assocmem.training.losses import TailAverage

GAP = 1e-5
"""Relative duality gap, far below what finite size does to these memories."""

TWO = ((4.0, 0.2), (0.25, 0.8))
"""Weights of a law of two classes, with the share of the facts that has each; the mean weight is one."""
THREE = ((5.0, 0.1), (1.0, 0.4), (0.2, 0.5))
"""The same of three classes."""
ZIPF = 1.0
"""Exponent of the law of Zipf, whose weights go down to the last of the facts."""
PARTS = (0.01, 0.1, 1.0)
"""Under that law shares are told of the first hundredth of the facts, of what is left of the first tenth, and
of the rest."""

LAWS = ("equal", "two", "three", "zipf")
"""Laws of weights by their names."""


@dataclass(frozen=True)
class Classes:
    """Weights of facts and the classes that they form.

    Attributes
    ----------
    weights : ndarray, shape (n,)
        From the largest to the smallest, with mean one.
    ends : tuple of int
        Where each class ends, the most frequent facts first.
    """

    weights: np.ndarray
    ends: tuple[int, ...]


def classes_of(law: str, n: int) -> Classes:
    """The weights of n facts under a law.

    Parameters
    ----------
    law : str
        One of `LAWS`.
    n : int
        Number of facts, at least 2.

    Returns
    -------
    Classes
        Where shares do not divide n, classes are rounded to whole facts and weights divided by their mean.

    Raises
    ------
    ValueError
        For another law.
    """
    require_choice("law", law, LAWS)
    if law == "zipf":
        weights, ends = np.arange(1, n + 1) ** -ZIPF, [round(x * n) for x in PARTS]
    else:
        listed = {"equal": ((1.0, 1.0),), "two": TWO, "three": THREE}[law]
        values, shares = np.array(listed).T
        ends = np.rint(np.cumsum(shares) * n).astype(int).tolist()
        weights = np.repeat(values, np.diff([0, *ends]))
    return Classes(weights / weights.mean(), tuple(ends))


def train_weighted(
    load: float, d: int, law: str, r: float, beta: float, ridge: float, *, seed: int, tol: float = GAP
) -> tuple[Classes, Facts, Fit]:
    """Gaussian facts with the weights of a law, and their tail-average memory.

    Parameters
    ----------
    load : float
        As in `pairs_at_load`.
    d : int
    law : str
        One of `LAWS`.
    r, beta, ridge : float
        As in `assocmem.theory.weighted.solve_weighted`.
    seed : int
        Of keys and targets.
    tol : float
        Relative gap.

    Returns
    -------
    Classes, Facts, Fit

    Raises
    ------
    ArithmeticError
        If the gap is not reached.
    """
    n = pairs_at_load(load, d)
    classes, pairs = classes_of(law, n), gaussian_pairs(n, d, seed=seed)
    facts = Facts(pairs.U, pairs.V, weights=torch.from_numpy(classes.weights))
    found = fit(facts, TailAverage(r=r, beta=beta), ridge=ridge, tol=tol)
    if not found.converged:
        at = f"load {load:g}, d = {d}, law {law}, seed = {seed}"
        raise ArithmeticError(f"{at}: gap {found.gap:.1e} after {found.passes} passes")
    return classes, facts, found


def measure_kept(
    load: float, d: int, law: str, r: float, beta: float, ridge: float, seed: int
) -> dict[str, float | int | None]:
    """What a memory keeps of each class.

    Parameters
    ----------
    load, d, law, r, beta, ridge, seed
        As in `train_weighted`.

    Returns
    -------
    dict
        ``n``; ``nu``, mean ``loss`` (with weights) and ``objective``; ``answered``, the share of the
        questions whose signal beats the tail average of its competitors; for up to three classes from the
        most frequent down their size (``size_1``, ...), the mean weight (``weight_1``, ...) and the share of
        their facts that is kept (``kept_1``, ...), None where a law has fewer; the relative gap, and passes.
    """
    classes, facts, found = train_weighted(load, d, law, r, beta, ridge, seed=seed)
    kept = (found.margins > 0).numpy().astype(float)
    row = {"n": facts.n, "nu": found.nu, "loss": found.loss, "objective": found.objective}
    row["answered"] = float(classes.weights @ kept) / facts.n
    starts = (0, *classes.ends)
    for k in range(3):
        some = k < len(classes.ends) and starts[k + 1] > starts[k]
        part = slice(starts[k], starts[k + 1]) if some else slice(0, 0)
        row[f"size_{k + 1}"] = len(kept[part])
        row[f"weight_{k + 1}"] = float(classes.weights[part].mean()) if some else None
        row[f"kept_{k + 1}"] = float(kept[part].mean()) if some else None
    return row | {"gap": found.gap, "passes": found.passes}
