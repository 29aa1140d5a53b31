"""Columns of normal scores under two smoothed aggregates: their values, and who carries the gradient."""

import numpy as np
from scipy import special

from assocmem.pairs.tail_average import smoothed_gradient, smoothed_tail_average


def compare_aggregates(
    columns: np.ndarray, spreads: np.ndarray, r: float, beta: float
) -> tuple[dict[str, list], dict[str, list]]:
    """Log-sum-exp and smoothed tail average of the same columns, stretched to several spreads.

    Parameters
    ----------
    columns : ndarray, shape (draws, n)
        Of standard normal scores.
    spreads : ndarray
        By which they are multiplied, in turn.
    r, beta : float
        Tail fraction and inverse smoothing width.

    Returns
    -------
    values : dict of str to list of float
        Mean of ``"log-sum-exp"`` and of ``"tail average"`` at each spread.
    carriers : dict of str to list of float
        Mean number of scores that carry the gradient, one over the sum of squared weights.
    """
    carriers = {"log-sum-exp": [], "tail average": []}
    values = {name: [] for name in carriers}
    for spread in spreads:
        x = spread * columns
        weights = {"log-sum-exp": special.softmax(x, axis=1), "tail average": smoothed_gradient(x, r, beta)}
        values["log-sum-exp"].append(special.logsumexp(x, axis=1).mean())
        values["tail average"].append(smoothed_tail_average(x, r, beta).mean())
        for name, T in weights.items():
            carriers[name].append((1 / (T**2).sum(axis=1)).mean())
    return values, carriers
