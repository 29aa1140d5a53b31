"""The ridgeless limit of tail-average learning: the closed-form critical load (Definition 4)."""

import numpy as np
from scipy import special

from assocmem.limits import require


def tail_mean(r):
    """Mean of the top r-fraction of a standard Gaussian, ``kappa_r = phi(Phi^-1(1 - r)) / r``.

    Parameters
    ----------
    r : array_like
        Tail fractions in (0, 1]; 1 is the mean of all.

    Returns
    -------
    ndarray or float
        Decreasing in r, to 0 at r = 1.

    Raises
    ------
    ValueError
        For a fraction outside (0, 1].
    """
    r = np.asarray(r, dtype=float)
    require(bool(np.all((r > 0) & (r <= 1))), "r", r.tolist(), "in (0, 1]")
    quantile = np.where(r < 0.5, -special.ndtri(np.minimum(r, 0.5)), special.ndtri(np.minimum(1 - r, 0.5)))
    return np.exp(-(quantile**2) / 2) / (np.sqrt(2 * np.pi) * r)


def critical_load(r):
    """Load above which the loss stays positive as the ridge vanishes (eq. ``fix_tail_threshold``).

    ``alpha_c(r) = 1 / [(1 + kappa^2) Phi(kappa) + kappa phi(kappa)]`` with ``kappa = tail_mean(r)``.

    Parameters
    ----------
    r : array_like
        Tail fractions in (0, 1]; 1 is the mean of all.

    Returns
    -------
    ndarray or float
        In (0, 2], increasing in r.

    Raises
    ------
    ValueError
        For a fraction outside (0, 1].
    """
    kappa = tail_mean(r)
    density = np.exp(-(kappa**2) / 2) / np.sqrt(2 * np.pi)
    return 1 / ((1 + kappa**2) * special.ndtr(kappa) + kappa * density)
