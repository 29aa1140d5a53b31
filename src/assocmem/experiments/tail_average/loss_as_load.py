"""Losses and norms of memories read as loads, since distances mean little near a jump (Figures 2 and 3)."""

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


def read_load_of_norm(nu: ArrayLike, loads: np.ndarray, nus: np.ndarray, *, below: bool) -> np.ndarray:
    """The load at which the theory has a norm, interpolated in the logarithm of the norm.

    With a small ridge the norm rises with the load up to about the critical one, and falls beyond.

    Parameters
    ----------
    nu : array_like
        Of memories, positive.
    loads, nus : ndarray, shape (m,)
        The theory's loads, ascending, and its norms.
    below : bool
        Whether the load is one below that of the largest norm.

    Returns
    -------
    ndarray
        A norm beyond the theory's largest is read as that one's load.
    """
    peak = int(np.argmax(nus))
    if below:
        return read_load(nu, loads[: peak + 1], nus[: peak + 1])
    return read_load(1 / np.asarray(nu), loads[peak:], 1 / np.asarray(nus)[peak:])


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
