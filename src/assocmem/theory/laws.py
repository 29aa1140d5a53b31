"""A law on the line as an object: distribution function, density, quantiles, samples, atoms."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assocmem.checks import require, require_integer
from assocmem.machine import memory_shortage

Function = Callable[[ArrayLike], np.ndarray | float]
"""A function of a number or, entry by entry, of an array."""


@dataclass(frozen=True)
class Law:
    """A law on the line.

    Attributes
    ----------
    cdf : callable
        Probability of values at most t.
    pdf : callable
        Density of the part that has one.
    quantile : callable
        Inverse of ``cdf`` on (0, 1).
    atoms : tuple of (float, float)
        Places and masses of single values that have positive probability.
    """

    cdf: Function
    pdf: Function
    quantile: Function
    atoms: tuple[tuple[float, float], ...] = ()

    def sample(self, size: int | tuple[int, ...], *, seed: int) -> np.ndarray:
        """Independent values.

        Parameters
        ----------
        size : int or tuple of int
            How many, or the shape of the array.
        seed : int
            Nonnegative.

        Returns
        -------
        ndarray
            Of the given size.

        Raises
        ------
        ValueError
            For a size or a seed that is no nonnegative integer, or where memory is short.
        """
        sizes = size if isinstance(size, tuple) else (size,)
        for part in sizes:
            require_integer("size", part, 0)
        require_integer("seed", seed, 0)
        shortage = memory_shortage(lambda m: 4 * 8 * m, math.prod(int(part) for part in sizes), name="size")
        require(not shortage, "size", size, shortage)
        uniform = np.random.default_rng(seed).random(size)
        return self.quantile(np.maximum(uniform, np.finfo(float).tiny))
