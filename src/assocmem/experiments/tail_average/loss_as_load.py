"""Losses of memories read as loads, since a distance in loss means little near a jump (Figure 3)."""

import numpy as np
from numpy.typing import ArrayLike

from assocmem.checks import require_numbers
from assocmem.pairs.sizes import tail_count
from assocmem.theory.kinematics import pooled_moments

COMPETITORS = 999
"""Of a key, for `load_scatter`; its result hardly depends on them."""


def read_load(loss: ArrayLike, loads: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """The load at which the theory has a loss, interpolated in the logarithm of the loss.

    Parameters
    ----------
    loss : array_like
        Of memories, positive.
    loads, losses : ndarray, shape (m,)
        The theory's, both ascending.

    Returns
    -------
    ndarray
    """
    return np.interp(np.log(np.asarray(loss)), np.log(losses), loads)


def load_scatter(n: ArrayLike, r: float) -> np.ndarray:
    """Relative standard deviation of critical loads between instances, by the kinematic formula.

    Parameters
    ----------
    n : array_like
        Numbers of pairs.
    r : float
        Tail fraction.

    Returns
    -------
    ndarray
        Proportional to ``n^-1/2``.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_numbers("n", n, 0)
    mean, variance = pooled_moments(COMPETITORS + 1, tail_count(r, COMPETITORS))
    return np.sqrt(variance / np.asarray(n)) / mean
