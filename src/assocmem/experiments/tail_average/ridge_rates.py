"""Rates at which the scalar theory reaches its ridgeless limit, beside explicit ones (Propositions 11, 12).

All of it is quadrature: `solve_scalar` at small ridges on one side, closed formulas on the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from assocmem.theory.crossover import edge_shift, ridge_at_norm
from assocmem.theory.ridgeless import critical_load, sat_edge, sat_laws, solve_unsat, tail_mean
from assocmem.theory.scalar import reduced_potential, solve_scalar

STEP = 1e-3
"""Relative step of the second difference of the potential."""

SMALL = np.array([1e-3, 1e-4])
"""Ridges over the curvature of the potential at which the linear approach is tried."""

LEVELS = (0.1, 0.3, 0.5, 0.7)
"""Shares of the keys in the atom at which their signals are followed."""


def smoothing_excess(r: float, beta: float) -> float:
    """The factor of ``1/nu^2`` in the relative excess of ``c_r(nu)/nu`` over its limit, times ``kappa_r``.

    Parameters
    ----------
    r, beta : float
        Tail fraction and inverse width of the smoothing.

    Returns
    -------
    float
        ``kappa_r pi^2 / (6 beta^2)``.
    """
    return float(tail_mean(r)) * math.pi**2 / (6 * beta**2)


@dataclass(frozen=True)
class RatesBelow:
    """How norm and loss diverge and vanish below the critical load, one entry a point and ridge.

    Attributes
    ----------
    log_inverse_ridge, from_norm, log_tolerance, without_shift : ndarray
        Logarithm of 1/ridge; the same from the norm by `ridge_at_norm`; the next terms, of the relative order
        1/nu; and what comes without the shift of the edge.
    loss_ratio, loss_tolerance, from_median : ndarray
        Loss over ridge and norm, times the margin at the edge, which tends to 1; the next terms; and what
        the ratio would be for the median of the tail.
    """

    log_inverse_ridge: np.ndarray
    from_norm: np.ndarray
    log_tolerance: np.ndarray
    without_shift: np.ndarray
    loss_ratio: np.ndarray
    loss_tolerance: np.ndarray
    from_median: np.ndarray


def rates_below(points: Sequence[tuple[float, float]], share: float, ridges: np.ndarray) -> RatesBelow:
    """Norm and loss below the critical load, beside the explicit rates.

    Parameters
    ----------
    points : sequence of (float, float)
        Tail fractions and inverse widths of the smoothing.
    share : float
        The load over the critical one, below 1.
    ridges : ndarray
        Small ridges.

    Returns
    -------
    RatesBelow
    """
    found = []
    for r, beta in points:
        load = share * float(critical_load(r))
        path, margin = solve_scalar(load, r, beta=beta, ridge=ridges), sat_laws(load, r)
        step = margin.rho - margin.kappa
        smooth = smoothing_excess(r, beta)
        median = step + margin.kappa + float(special.ndtri(r / 2))
        from_norm = -np.log(ridge_at_norm(load, r, path.nu))
        found.append(
            [
                -np.log(ridges),
                from_norm,
                (1 + smooth) / path.nu,
                from_norm - edge_shift(load),
                path.loss / (ridges * path.nu) * step,
                1 / path.nu + 2 * smooth / (step * path.nu**2),
                np.full(len(ridges), step / median),
            ]
        )
    return RatesBelow(*np.concatenate(found, axis=1))


def approach_above(points: Sequence[tuple[float, float]], share: float) -> tuple[np.ndarray, np.ndarray]:
    """Distance of the norm from its limit above the critical load, over that of the linear law.

    Parameters
    ----------
    points : sequence of (float, float)
        As for `rates_below`.
    share : float
        The load over the critical one, above 1.

    Returns
    -------
    ratio, tolerance : ndarray
        One entry a point and ridge; the ridges are `SMALL` parts of the curvature of the potential, and the
        tolerance is five times that part.
    """
    found = []
    for r, beta in points:
        load = share * float(critical_load(r))
        free = solve_unsat(load, r, beta)
        V = [reduced_potential(free.nu * (1 + y), load, r, beta=beta, ridge=0.0) for y in (-STEP, 0, STEP)]
        curvature = (V[0] - 2 * V[1] + V[2]) / (STEP * free.nu) ** 2
        held = solve_scalar(load, r, beta=beta, ridge=SMALL * curvature)
        ratio = (free.nu - held.nu) / held.ridge * curvature / free.nu
        found.append([ratio, 5 * held.ridge / curvature])
    ratio, tolerance = np.concatenate(found, axis=1)
    return ratio, tolerance


@dataclass(frozen=True)
class EdgeQuantiles:
    """Distances of signals from the edge, over the norm and times it: one entry a point and level.

    Attributes
    ----------
    measured, predicted, tolerance, without_shift : ndarray
        Of the solver; by the explicit formula; the next terms, of the relative order 1/nu; and what comes
        without the shift of the edge.
    """

    measured: np.ndarray
    predicted: np.ndarray
    tolerance: np.ndarray
    without_shift: np.ndarray


def edge_quantiles(points: Sequence[tuple[float, float]], share: float, ridge: float) -> EdgeQuantiles:
    """Quantiles of the signal below the edge at a small ridge, beside the explicit approach.

    Parameters
    ----------
    points, share
        As for `rates_below`.
    ridge : float

    Returns
    -------
    EdgeQuantiles
    """
    found = []
    for r, beta in points:
        load = share * float(critical_load(r))
        end, point = float(sat_edge(load)), solve_scalar(load, r, beta=beta, ridge=ridge)
        levels = np.array(LEVELS) * special.ndtr(end)
        h = end - special.ndtri(levels)
        moved = edge_shift(load) - np.log(h)
        signals = point.signal.quantile(levels) - end * point.nu
        tolerance = (1 + abs(moved) / h + smoothing_excess(r, beta)) / point.nu
        found.append([signals, moved, tolerance, -np.log(h)])
    return EdgeQuantiles(*np.concatenate(found, axis=1))
