"""The ridgeless limit of tail-average learning: the critical load, and the laws on both sides of it.

Below the critical load (Definition 4) the loss vanishes with the ridge while the norm diverges, and scores
over the norm have explicit laws (Proposition ``sat_profiles``). Above, there is a saddle point without a
ridge (Proposition ``unsat_profiles``).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from assocmem.checks import SCALES, require, require_number, require_numbers
from assocmem.theory.laws import Law
from assocmem.theory.scalar import RANGES, ScalarSolution, broadcast, density, saddle_points

LOADS = RANGES["load"]
"""Least and largest load, those of the theory with a ridge."""

FRACTIONS = (1e-12, 1 - 1e-9)
"""Least and largest tail fraction: the formulas here keep their digits further out than `solve_scalar`."""

BETAS = RANGES["beta"]
"""Least and largest inverse width of the smoothing, those of the theory with a ridge."""

SQUARES = (1e-150, 1e150)
"""Least and largest mean square of a hinge for which its edge is searched."""

LEAST_EXCESS = 1e-12
"""Share of the critical load by which a load must be above it, or rounding would decide the result."""


def tail_mean(r: ArrayLike) -> np.ndarray | float:
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
    require_numbers("r", r, 0, 1, ends="(]")
    r = np.asarray(r, dtype=float)
    quantile = np.where(r < 0.5, -special.ndtri(np.minimum(r, 0.5)), special.ndtri(np.minimum(1 - r, 0.5)))
    return density(quantile) / r


def critical_load(r: ArrayLike) -> np.ndarray | float:
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
    _, second = hinge_moments(tail_mean(r))
    return 1 / second


def sat_edge(load: ArrayLike) -> np.ndarray | float:
    """Smallest normalised signal below the critical load, ``rho_alpha`` (eq. ``rho_alpha_equation``).

    Solves ``E (rho - G)_+^2 = 1 / load``, whatever r; at the critical load of r it equals ``tail_mean(r)``.

    Parameters
    ----------
    load : array_like
        In [1e-6, 1e6].

    Returns
    -------
    ndarray or float
        Decreasing in the load; 0 at a load of 2.

    Raises
    ------
    ValueError
        For a load out of range.
    """
    require_numbers("load", load, *LOADS, ends="[]")
    load = np.asarray(load, dtype=float)
    return hinge_edge(1 / load)


def hinge_edge(square: ArrayLike) -> np.ndarray | float:
    """The rho with ``E (rho - G)_+^2 = square`` for a standard Gaussian G.

    Parameters
    ----------
    square : array_like
        Positive.

    Returns
    -------
    ndarray or float
        Increasing in the square.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_numbers("square", square, *SQUARES, ends="[]")
    # Newton's method for log E (rho - G)_+^2, which is concave: monotone from the left
    square = np.asarray(square, dtype=float)
    rho = np.full(square.shape, np.where(square.min() < 1e-6, -30.0, -6.0))
    for _ in range(100):
        first, second = hinge_moments(rho)
        step = -np.log(second / square) * second / (2 * first)
        rho = rho + step
        if np.all(np.abs(step) <= 1e-15 * np.maximum(1, np.abs(rho))):
            break
    return rho[()]


def hinge_moments(rho: float | np.ndarray) -> tuple[float | np.ndarray, float | np.ndarray]:
    """First and second moment of ``(rho - G)_+`` for a standard Gaussian G.

    Parameters
    ----------
    rho : float or ndarray

    Returns
    -------
    first, second : float or ndarray
        Like ``rho``.

    Raises
    ------
    ValueError
        For what is no finite number, nor an array of them.
    """
    require_numbers("rho", rho, -SCALES[1], SCALES[1])
    rho = np.asarray(rho)[()]
    share = special.ndtr(rho)
    first = density(rho) + rho * share
    return first, share + rho * first


@dataclass(frozen=True)
class SatLaws:
    """Laws below the critical load as the ridge vanishes, scores and margins divided by the norm scale.

    Attributes
    ----------
    load, r : float
        What was asked for.
    rho : float
        The edge; a share ``Phi(rho)`` of keys sits exactly there.
    kappa : float
        Tail average of the competitors, over the norm scale.
    """

    load: float
    r: float
    rho: float
    kappa: float

    @property
    def signal(self) -> Law:
        """Law of ``max(G, rho)`` (eq. ``sat_score_profile_statement``)."""
        return self._shifted(0.0)

    @property
    def margin(self) -> Law:
        """Law of ``max(G, rho) - kappa`` (eq. ``sat_margin_profile``)."""
        return self._shifted(self.kappa)

    @property
    def percentile(self) -> Law:
        """Law of the share of competitors below the signal (eq. ``sat_percentile_cdf``)."""
        edge = special.ndtr(self.rho)
        return Law(
            lambda w: np.where(np.asarray(w) < edge, 0.0, np.minimum(w, 1.0)),
            lambda w: np.where((np.asarray(w) > edge) & (np.asarray(w) < 1), 1.0, 0.0),
            lambda p: np.maximum(p, edge),
            ((float(edge), float(edge)),),
        )

    @property
    def percentile_scatter(self) -> float:
        """Standard deviation, times sqrt(n), of the percentile of a key at the edge with n competitors.

        Its distance from their tail average is fixed, and both that and the share below are those of a
        sample: ``Var[1{G <= rho} + phi(rho) (G - q)_+ / r]`` with q the upper r-quantile.
        """
        q, rho = -special.ndtri(self.r), self.rho
        above, slope = special.ndtr(-rho), density(rho) / self.r
        excess = self.r * (self.kappa - q)
        beyond = density(rho) - q * above  # of the excess, where the signal is passed
        square = (1 + q**2) * self.r - q * density(q)
        variance = above * (1 - above) + 2 * slope * (above * excess - beyond)
        return float(np.sqrt(variance + slope**2 * (square - excess**2)))

    def _shifted(self, by):
        """Law of ``max(G, rho) - by``."""
        edge = self.rho - by

        def pdf(t):
            t = np.asarray(t, dtype=float)
            return np.where(t > edge, density(t + by), 0.0)

        return Law(
            lambda t: np.where(np.asarray(t) < edge, 0.0, special.ndtr(np.asarray(t) + by)),
            pdf,
            lambda p: np.maximum(special.ndtri(p), self.rho) - by,
            ((float(edge), float(special.ndtr(self.rho))),),
        )


def sat_laws(load: float, r: float) -> SatLaws:
    """Laws of a memory below the critical load, ridge to zero (Proposition ``sat_profiles``).

    Parameters
    ----------
    load : float
        In [1e-6, ``critical_load(r)``).
    r : float
        Tail fraction in [1e-12, 1 - 1e-9].

    Returns
    -------
    SatLaws

    Raises
    ------
    ValueError
        For a parameter out of range, or a load that is not below the critical one.
    """
    require_number("load", load)
    require_number("r", r)
    critical = float(_critical(r))
    allowed = f"at least 1e-06 and below the critical load {critical:.6g} of r = {r:g}"
    require(LOADS[0] <= load < critical, "load", load, allowed)
    return SatLaws(float(load), float(r), float(sat_edge(load)), float(tail_mean(r)))


def solve_unsat(load: ArrayLike, r: ArrayLike, beta: ArrayLike) -> ScalarSolution:
    """The saddle point at ridge zero, above the critical load (Proposition ``unsat_profiles``).

    Near the critical load nu is only known to about ``1e-15`` over the relative excess.

    Parameters
    ----------
    load : array_like
        Above ``critical_load(r)`` by at least 1e-12 of it, at most 1e6.
    r : array_like
        Tail fraction in [1e-12, 1 - 1e-9].
    beta : array_like
        In [1e-3, 1e6].

    Returns
    -------
    ScalarSolution
        With ``ridge`` 0 and attributes of the broadcast shape; its laws are those of the proposition.

    Raises
    ------
    ValueError
        For a parameter out of range, or a load that is not above the critical one.
    """
    load, r, beta = broadcast(load=load, r=r, beta=beta)
    critical = _critical(r)
    require_numbers("beta", beta, *BETAS, ends="[]")
    allowed = f"above the critical load {_listed(critical)} of r = {_listed(r)} and at most 1e+06"
    above = (load > critical * (1 + LEAST_EXCESS)) & (load <= LOADS[1])
    require(bool(np.all(above)), "load", load.tolist(), allowed)
    return saddle_points(load, r, beta, np.zeros(load.shape))


def _critical(r):
    """Critical load of a tail fraction that is checked."""
    within = (np.asarray(r) >= FRACTIONS[0]) & (np.asarray(r) <= FRACTIONS[1])
    require(bool(np.all(within)), "r", np.asarray(r).tolist(), "in [1e-12, 1 - 1e-9]")
    return critical_load(r)


def _listed(values):
    """The different numbers among some, in six digits."""
    return ", ".join(f"{x:.6g}" for x in np.unique(values))
