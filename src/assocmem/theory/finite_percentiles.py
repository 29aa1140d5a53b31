"""The percentile of a signal under outer products, with the variances that a finite memory has.

The limit law (`assocmem.theory.outer_products.percentile_cdf`) gives signal and competitors the variance
``load``. Theirs are known at any size, and larger by about ``4/d`` and ``2/d``.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from assocmem.checks import require_number, require_numbers
from assocmem.theory.outer_products import competitor_variance, signal_variance


def percentile_cdf_at_size(omega: ArrayLike, n: int, d: int) -> np.ndarray:
    """Law of a signal's percentile for normal scores of exact variance, among many competitors.

    ``Phi((Phi^-1(w) sd(competitor) - 1) / sd(signal))``; for large n and d that is the limit law.

    Parameters
    ----------
    omega : array_like
        Percentiles in [0, 1].
    n, d : int
        Number of pairs and dimension.

    Returns
    -------
    ndarray
        Like ``omega``, in [0, 1].

    Raises
    ------
    ValueError
        For a percentile outside [0, 1], or sizes that are not positive.
    """
    require_numbers("omega", omega, 0, 1, ends="[]")
    omega = np.asarray(omega)[()]
    require_number("n", n, 0)
    require_number("d", d, 0)
    own, rival = signal_variance(n, d), competitor_variance(n, d)
    return special.ndtr((special.ndtri(omega) * math.sqrt(rival) - 1) / math.sqrt(own))
