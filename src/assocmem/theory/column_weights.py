"""Averages over a normal law of the weights that Lemma 4 bounds: of a tail, and near its threshold.

In the limit of many scores of standard deviation rho a column has ``q = sigma(beta (rho Z - mu))`` with a
standard normal Z and the threshold at which ``E q = r``. The scores that feel the smoothing have the weights
``g = q (1 - q)``, which fall off exponentially on both sides of the threshold, so the trapezoidal rule in the
argument of the logistic function has all digits.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from assocmem.checks import SCALES, require_number
from assocmem.theory.scalar import density, scalar_tail_average

REACH = 45.0
"""Arguments of the logistic function beyond which its slope is below 1e-19."""
DEVIATIONS = 9.5
"""Standard deviations beyond which less than 1e-20 of a normal law lies."""
STEP = 0.3
"""Of the trapezoidal rule, in units of the narrower of slope and normal law: errors are far below 1e-15."""


@dataclass(frozen=True)
class ColumnWeights:
    """What a column of infinitely many normal scores has of each kind of weight.

    Attributes
    ----------
    threshold : float
        At which the average of q is the tail fraction (eq. ``mu_r_characterization``).
    felt : float
        Share of the scores that feel the smoothing, ``E g``.
    spread : float
        Squared length of the weights g over their sum, times the number of scores: ``E g^2 / (E g)^2``.
    payer : float
        Mean of q among scores drawn with the weights g, ``E q g / E g``.
    owner : float
        Mean of q among scores drawn with the weights q, ``E q^2 / E q``.
    """

    threshold: float
    felt: float
    spread: float
    payer: float
    owner: float


def column_weights(rho: float, r: float, beta: float) -> ColumnWeights:
    """Averages of the weights over a normal column of scores.

    Parameters
    ----------
    rho : float
        Standard deviation of the scores.
    r, beta : float
        Tail fraction and inverse smoothing width.

    Returns
    -------
    ColumnWeights

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("rho", rho, 1e-30, 1e30)
    require_number("r", r, 1e-12, 1)
    require_number("beta", beta, 1e-30, 1e30)
    _, mu, _ = scalar_tail_average(rho, r, beta)
    s, m = beta * rho, beta * mu
    low, high = max(-REACH, -DEVIATIONS * s - m), min(REACH, DEVIATIONS * s - m)
    y = np.linspace(low, high, 2 + int((high - low) / (STEP * min(1.0, s))))
    q = special.expit(y)
    g = q * special.expit(-y)
    weight = density((y + m) / s) * (y[1] - y[0]) / s
    felt, square, up = (float(weight @ values) for values in (g, g**2, q * g))
    return ColumnWeights(mu, felt, square / felt**2, up / felt, 1 - felt / r)


def density_alone(rho: float, r: float, beta: float) -> float:
    """The share ``E g`` to leading order in a large spread: the density of scores at the threshold over beta.

    Parameters
    ----------
    rho : float
        Standard deviation of the scores.
    r, beta : float
        Tail fraction and inverse smoothing width.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("rho", rho, *SCALES, ends="[]")
    require_number("r", r, 0, 1)
    require_number("beta", beta, *SCALES, ends="[]")
    return float(density(special.ndtri(r))) / (beta * rho)
