"""Memories trained at a load, to a duality gap, or not at all."""

from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.training.fit import Fit, fit
from assocmem.training.losses import CrossEntropy, TailAverage


def train_at_load(
    load: float, d: int, loss: CrossEntropy | TailAverage, *, ridge: float, tol: float, seed: int
) -> tuple[Pairs, Fit]:
    """Gaussian pairs at a load, and the memory that a loss trains on them.

    Parameters
    ----------
    load : float
        As in `assocmem.pairs.sizes.pairs_at_load`.
    d : int
    loss : CrossEntropy or TailAverage
    ridge, tol : float
        As in `assocmem.training.fit.fit`.
    seed : int
        Of the pairs.

    Returns
    -------
    pairs : Pairs
    found : Fit

    Raises
    ------
    ArithmeticError
        If the gap does not reach ``tol``.
    """
    pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=seed)
    found = fit(pairs, loss, ridge=ridge, tol=tol)
    if not found.converged:
        at = f"load {load:g}, d = {d}, seed = {seed}"
        raise ArithmeticError(f"{at}: gap {found.gap:.1e} after {found.passes} passes")
    return pairs, found
