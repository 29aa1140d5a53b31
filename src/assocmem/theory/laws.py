"""A law on the line as an object: distribution function, density, quantiles, samples, atoms."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


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

    cdf: Callable
    pdf: Callable
    quantile: Callable
    atoms: tuple = ()

    def sample(self, size, *, seed):
        """Independent values, an array of the given size."""
        uniform = np.random.default_rng(seed).random(size)
        return self.quantile(np.maximum(uniform, np.finfo(float).tiny))
