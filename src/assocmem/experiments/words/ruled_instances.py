"""Gaussian facts whose answers follow a linear rule, of a strength that is known."""

import math

import numpy as np
import torch

from assocmem.checks import require, require_integer, require_number
from assocmem.pairs.data import Facts


def ruled_facts(n: int, m: int, d: int, strength: float, *, seed: int) -> Facts:
    """Gaussian facts whose answers follow a linear rule: the answer of a key is ``rho v`` up to noise.

    Every key has a target of its own among the first n, and all d canonical correlations are alike.

    Parameters
    ----------
    n, m : int
        Facts and targets, ``1 <= n <= m``.
    d : int
        Dimension of both.
    strength : float
        ``rho sqrt(d)``, from 0 to below ``sqrt(d)``.
    seed : int
        Nonnegative.

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("n", n, 1)
    require_integer("m", m, 2)
    require(n <= m, "n", n, f"at most m = {m}")
    require_integer("d", d, 1)
    require_integer("seed", seed, 0)
    require_number("strength", strength, 0, math.sqrt(d), ends="[)")
    rng = np.random.default_rng(seed)
    rho = strength / math.sqrt(d)
    targets, keys = rng.standard_normal((2, m, d))  # row by row, so that a larger draw begins alike
    return Facts(torch.tensor((rho * keys + math.sqrt(1 - rho**2) * targets).T), torch.tensor(keys[:n].T))
