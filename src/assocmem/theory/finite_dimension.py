"""What a finite dimension does to the laws below the critical load, predicted without a fit.

It does three things. The critical load of finitely many competitors is a little higher. The lengths ``|W v|``
differ from key to key by ``d^-1/2`` of themselves, and with a key's length its whole column of competitors;
training evens out margins, not margins over lengths. And the competitors of a key are a sample.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from assocmem.checks import require, require_choice, require_number, require_numbers
from assocmem.pairs.sizes import pairs_at_load, tail_count
from assocmem.theory.ridgeless import critical_load, sat_laws
from assocmem.theory.scalar import prox, require_point, solve_scalar
from assocmem.theory.tail_cone import LARGEST_N, face_moments

KINDS = ("signal", "margin", "percentile")
"""Of which there are laws."""

SCORES = special.ndtri((np.arange(600) + 0.5) / 600)
"""Equally likely values that stand for a standard normal variable, the Gaussian G of Theorem 2. How many are
enough was found by trial."""

LENGTHS = special.ndtri((np.arange(100) + 0.5) / 100)
"""The same for the lengths of the keys, which matter less."""

SHORTEST = 0.05
"""Least length of a key over the mean one. A normal law would have negative lengths in small dimensions."""

SCATTERS = 6
"""Standard deviations on either side within which practically all percentiles are."""

RESOLUTION = 2001
"""Number of places at which the distribution function of a percentile is inverted."""


def effective_load(load: float, r: float, d: int) -> float:
    """The load that the limit theory should be asked for, to speak of pairs at a load in dimension d.

    At finite n the critical load is not ``alpha_c`` but, for independent score directions, the inverse of the
    `kinematics.statistical_dimension` of ``k = ceil(r (n - 1))`` competitors. This is the load relative to
    it, times ``alpha_c``, to about 4e-4.

    Parameters
    ----------
    load, r : float
        As in `pairs_at_load` and `critical_load`.
    d : int
        Dimension.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    n = pairs_at_load(load, d)
    require_number("r", r, 0, 1, ends="(]")
    require(n <= LARGEST_N, "load", load, f"so small that there are at most {LARGEST_N:g} pairs")
    return load * float(critical_load(r)) * face_moments(n, tail_count(r, n - 1), repeats=2)[0]


@dataclass(frozen=True)
class LawsAtSize:
    """Laws over the keys of a memory, as values of equal weight; scores and margins divided by nu.

    Attributes
    ----------
    signal, margin, percentile : ndarray, shape (m,)
        Of one key after the other.
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

    def quantile(self, kind: str, p: ArrayLike) -> np.ndarray:
        """Quantiles of one of the laws.

        Parameters
        ----------
        kind : str
            ``"signal"``, ``"margin"`` or ``"percentile"``.
        p : array_like, shape (q,)
            Shares of keys.

        Returns
        -------
        ndarray, shape (q,)

        Raises
        ------
        ValueError
            For another kind, or a share outside [0, 1].
        """
        require_choice("kind", kind, KINDS)
        require_numbers("p", p, 0, 1, ends="[]")
        values = getattr(self, kind)
        if kind != "percentile":
            return np.quantile(values, p)
        reach = SCATTERS * self.scatter
        low, high = values.min() - reach, min(1.0, values.max() + reach)
        places = np.linspace(low, high, RESOLUTION)
        return np.interp(p, self.cdf(kind, places), places)

    def cdf(self, kind: str, t: ArrayLike) -> np.ndarray:
        """Shares of keys at or below given values.

        Parameters
        ----------
        kind : str
            ``"signal"``, ``"margin"`` or ``"percentile"``.
        t : array_like, shape (q,)
            The values.

        Returns
        -------
        ndarray, shape (q,)

        Raises
        ------
        ValueError
            For another kind, or a value that is nan.
        """
        require_choice("kind", kind, KINDS)
        require_numbers("t", t, -math.inf, math.inf, ends="[]")
        values = np.sort(getattr(self, kind))
        if kind != "percentile":
            return np.searchsorted(values, t, side="right") / len(values)
        knots = values[50::100]  # one of a hundred will do, since each is spread by the scatter
        return special.ndtr((np.asarray(t)[..., None] - knots) / self.scatter).mean(axis=-1)


def laws_at_size(load: float, r: float, d: int, *, beta: float, ridge: float) -> LawsAtSize:
    """Laws in dimension d, below the critical load.

    Those of Theorem 2 at the `effective_load`, for a key whose competitors have ``nu L`` in place of nu:
    margin ``Prox_chi(L (nu G - c))`` and signal ``L c`` more. L is normal with mean one and variance ``1/d``:
    so it is if the singular values of W are spread like those of a Gaussian matrix.

    Parameters
    ----------
    load, r : float
        As in `sat_laws`.
    d : int
        Dimension, at least 8: lengths are taken to be positive.
    beta, ridge : float
        As in `solve_scalar`.

    Returns
    -------
    LawsAtSize

    Raises
    ------
    ValueError
        For a parameter out of range, or a load that is not below the critical one.
    """
    require_number("load", load, 0)
    require_point(beta=beta, ridge=ridge)
    at = effective_load(load, r, d)
    scatter = sat_laws(at, r).percentile_scatter / math.sqrt(pairs_at_load(load, d))
    theory = solve_scalar(at, r, beta=beta, ridge=ridge)
    L = np.maximum(1 + LENGTHS / math.sqrt(d), SHORTEST)[:, None]
    margin = prox(L * (theory.nu * SCORES - theory.c), theory.chi)
    signal = margin + L * theory.c
    percentile = special.ndtr(signal / (theory.nu * L))
    values = (signal / theory.nu, margin / theory.nu, percentile)
    return LawsAtSize(*(x.ravel() for x in values), scatter, theory.c / theory.nu)
