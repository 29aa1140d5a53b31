"""What a finite dimension does to the laws below the critical load, predicted without a fit.

Three things. The critical load of finitely many competitors is a little higher. The lengths ``|W v|`` differ
from key to key by ``d^-1/2`` of themselves, and with a key's length its whole column of competitors; training
evens out margins, not margins over lengths. And the competitors of a key are a sample.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from assocmem.pairs.sizes import pairs_at_load, tail_count
from assocmem.theory.ridgeless import critical_load, sat_laws
from assocmem.theory.scalar import prox, solve_scalar
from assocmem.theory.tail_cone import face_moments

SCORES, LENGTHS = (special.ndtri((np.arange(m) + 0.5) / m) for m in (600, 100))


def effective_load(load, r, d):
    """The load that the limit theory should be asked for, to speak of pairs at a load in dimension d.

    At finite n the critical load is not ``alpha_c`` but, for independent score directions, the inverse of the
    `kinematics.statistical_dimension` of ``k = ceil(r (n - 1))`` competitors. This is the load relative to
    it, times ``alpha_c``, to about 4e-4.

    Parameters
    ----------
    load, r : float
        As in `pairs_at_load` and `critical_load`.
    d : int
    """
    n = pairs_at_load(load, d)
    return load * float(critical_load(r)) * face_moments(n, tail_count(r, n - 1), repeats=2)[0]


@dataclass(frozen=True)
class LawsAtSize:
    """Laws over the keys of a memory, as values of equal weight; scores and margins over nu.

    Attributes
    ----------
    signal, margin, percentile : ndarray, shape (m,)
    scatter : float
        Standard deviation of a percentile with n competitors about its value here.
    tail : float
        Tail average of the competitors of a key of mean length.
    """

    signal: np.ndarray
    margin: np.ndarray
    percentile: np.ndarray
    scatter: float
    tail: float

    def quantile(self, kind, p):
        """Quantiles of ``"signal"``, ``"margin"`` or ``"percentile"`` at the shares p (1-d array)."""
        values = getattr(self, kind)
        if kind != "percentile":
            return np.quantile(values, p)
        low, high = values.min() - 6 * self.scatter, min(1.0, values.max() + 6 * self.scatter)
        places = np.linspace(low, high, 2001)
        return np.interp(p, self.cdf(kind, places), places)

    def cdf(self, kind, t):
        """Shares of keys at or below t (1-d array)."""
        values = np.sort(getattr(self, kind))
        if kind != "percentile":
            return np.searchsorted(values, t, side="right") / len(values)
        knots = values[50::100]
        return special.ndtr((np.asarray(t)[:, None] - knots) / self.scatter).mean(axis=1)


def laws_at_size(load, r, d, *, beta, ridge):
    """Laws in dimension d, below the critical load.

    Those of Theorem 2 at the `effective_load`, for a key whose competitors have ``nu L`` in place of nu:
    margin ``Prox_chi(L (nu G - c))`` and signal ``L c`` more. L is normal with mean one and variance ``1/d``:
    so it is if the singular values of W are spread like those of a Gaussian matrix.

    Parameters
    ----------
    load, r, beta, ridge : float
        As in `sat_laws` and `solve_scalar`.
    d : int
        At least 8: lengths are taken to be positive.

    Returns
    -------
    LawsAtSize

    Raises
    ------
    ValueError
        For a parameter out of range, or a load that is not below the critical one.
    """
    at = effective_load(load, r, d)
    scatter = sat_laws(at, r).percentile_scatter / math.sqrt(pairs_at_load(load, d))
    theory = solve_scalar(at, r, beta=beta, ridge=ridge)
    L = np.maximum(1 + LENGTHS / math.sqrt(d), 0.05)[:, None]
    margin = prox(L * (theory.nu * SCORES - theory.c), theory.chi)
    signal = margin + L * theory.c
    percentile = special.ndtr(signal / (theory.nu * L))
    values = (signal / theory.nu, margin / theory.nu, percentile)
    return LawsAtSize(*(x.ravel() for x in values), scatter, theory.c / theory.nu)
