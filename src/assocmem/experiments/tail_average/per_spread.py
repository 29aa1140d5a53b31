"""How the tail average of a normal law, over the spread of the law, falls to that without smoothing."""

import math

import numpy as np
from scipy import special

from assocmem.theory.ridgeless import tail_mean
from assocmem.theory.scalar import scalar_tail_average
from assocmem.theory.scalar_reference import least_value, normal_average

LOG_STEP = 1e-3
"""Step of differences in the logarithm of the spread: its square is below the tolerance of the slopes."""


def next_excess(r: float) -> float:
    """Coefficient of ``1 / (beta nu)^4`` in ``c_r(nu) / (kappa_r nu) - 1``.

    A softplus exceeds its hinge by ``pi^2 / 6 beta^2`` in area and ``7 pi^4 / 360 beta^4`` in half its second
    moment, which meet the normal density and its second derivative at the threshold; and the threshold moves.

    Parameters
    ----------
    r : float
        Tail fraction.

    Returns
    -------
    float
    """
    square = float(special.ndtri(r)) ** 2
    return math.pi**4 * (7 / 360 * (square - 1) - square / 72)


def rate_evidence(widths: list[float], rs: list[float], betas: list[float]) -> dict:
    """What a check compares: the excess of ``c_r(nu) / nu`` over ``kappa_r``, times ``(beta nu)^2``.

    Parameters
    ----------
    widths : list of float
        Values of ``beta nu``, large.
    rs, betas : list of float
        Tail fractions and inverse smoothing widths.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    measured, tolerance = [], []
    for r in rs:
        for beta in betas:
            for s in widths:
                c, _, _ = scalar_tail_average(s / beta, r, beta)
                measured.append((c * beta / (float(tail_mean(r)) * s) - 1) * s**2)
                tolerance.append(1.5 * abs(next_excess(r)) / s**2 + 1e-13 * s**2)
    return {
        "claim": "claim-tail-average-per-spread",
        "what": rf"$(\beta\nu)^2\, (c_r(\nu) / \kappa_r \nu - 1)$ at {len(measured)} points, $\beta\nu$ from "
        f"{min(widths):g} to {max(widths):g}",
        "kind": "quadrature",
        "measured": measured,
        "predicted": math.pi**2 / 6,
        "tolerance": tolerance,
        "falsehood": (r"only scores above the threshold feel the smoothing, $\pi^2/12$", math.pi**2 / 12),
        "axis": r"relative excess of $c_r(\nu)/\nu$ over $\kappa_r$, times $(\beta\nu)^2$",
        "each": [
            rf"$r = {r:g}$, $\beta = {b:g}$, $\beta\nu = {s:g}$" for r in rs for b in betas for s in widths
        ],
    }


def fall_evidence(widths: list[float], rs: list[float], beta: float) -> dict:
    """What a check compares: logarithmic slopes of ``c_r(nu) / nu``, by brute force and by Stein's identity.

    Parameters
    ----------
    widths : list of float
        Values of ``beta nu``, small and large.
    rs : list of float
        Tail fractions.
    beta : float
        Inverse smoothing width; brute force works at one, in units of the smoothing.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`. All slopes are negative where the check holds.
    """
    measured, predicted = [], []
    for r in rs:
        for s in widths:
            high, low = (_by_search(s * math.exp(x), r) for x in (LOG_STEP, -LOG_STEP))
            measured.append(math.log(high / low) / (2 * LOG_STEP) - 1)
            c, _, slope = scalar_tail_average(s / beta, r, beta)
            predicted.append(s / beta * slope / c - 1)
    excess = math.pi**2 / (6 * np.tile(widths, len(rs)) ** 2)
    return {
        "claim": "claim-tail-average-per-spread",
        "what": rf"slopes of $\log(c_r(\nu)/\nu)$ in $\log\nu$, the nearest to zero {max(measured):.2g}, "
        rf"$\beta\nu$ from {min(widths):g} to {max(widths):g}",
        "kind": "quadrature",
        "measured": measured,
        "predicted": predicted,
        "tolerance": 1e-5,
        "falsehood": ("the leading excess at every spread", -2 * excess / (1 + excess)),
        "axis": r"slope of $\log(c_r(\nu)/\nu)$ in $\log\nu$",
        "each": [rf"$r = {r:g}$, $\beta\nu = {s:g}$" for r in rs for s in widths],
    }


def _by_search(s, r):
    """The tail average of a normal law of spread s at beta = 1, by search and adaptive quadrature."""
    return least_value(
        lambda mu: mu + normal_average(lambda Z: np.logaddexp(0, s * Z - mu)) / r, -9 * s - 9, 9 * s + 9
    )
