"""The scalar potential by brute force: nested searches, adaptive quadrature, and differences for derivatives.

`assocmem.theory.scalar` has quadratures of its own and solves two equations. Here the potential is computed
as Definition 3 writes it, so that one can be held against the other.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import integrate, optimize

from assocmem.checks import SCALES, require, require_callable, require_number
from assocmem.theory.scalar import require_point, saddle_potential

TRIED = (1e-9, 1e9)
"""Least and largest norm scale and susceptibility that nested searches can do with."""


def normal_average(function: Callable[[float], float]) -> float:
    """Expectation over a standard normal variable by adaptive quadrature.

    Parameters
    ----------
    function : callable
        Of one number; it may grow like a polynomial.

    Returns
    -------
    float
        To an absolute error of about 1e-11, from the range of nine standard deviations.

    Raises
    ------
    ValueError
        For what is no function.
    """
    require_callable("function", function)
    density = 1 / math.sqrt(2 * math.pi)
    return integrate.quad(
        lambda G: density * math.exp(-G * G / 2) * function(G), -9, 9, epsabs=1e-11, limit=200
    )[0]


def least_value(function: Callable[[float], float], low: float, high: float) -> float:
    """Least value of a function with a single minimum on an interval.

    Parameters
    ----------
    function : callable
        Of one number.
    low, high : float
        Ends of the interval.

    Returns
    -------
    float
        Its place is found to 1e-7, so the value is right to about the square of that.

    Raises
    ------
    ValueError
        For what is no function, or ends that are no interval.
    """
    require_callable("function", function)
    require_number("low", low)
    require_number("high", high)
    require(low < high, "high", high, f"above low = {low:g}")
    search = {"bounds": (low, high), "method": "bounded", "options": {"xatol": 1e-7}}
    return optimize.minimize_scalar(function, **search).fun


def potential_by_definition(
    nu: float, chi: float, load: float, r: float, *, beta: float, ridge: float
) -> tuple[float, float]:
    """``P(nu, chi)`` of Definition 3 with both its minimisations and both its expectations done by force.

    Parameters
    ----------
    nu, chi : float
        Where it is wanted.
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.saddle_potential`.

    Returns
    -------
    potential : float
    stiff : float
        What it would be if signals stayed at their leave-one-out scores.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("nu", nu, *TRIED, ends="[]")
    require_number("chi", chi, *TRIED, ends="[]")
    require_point(load=load, r=r, beta=beta, ridge=ridge)
    reach = 9 * nu + 9 / beta
    c = least_value(
        lambda mu: mu + normal_average(lambda Z: np.logaddexp(0, beta * (nu * Z - mu))) / (r * beta),
        -reach,
        reach,
    )
    envelope = normal_average(
        lambda G: least_value(
            lambda s: (s - nu * G) ** 2 / (2 * chi) + np.logaddexp(0, c - s), nu * G, nu * G + chi
        )
    )
    rest = ridge / 2 * nu**2 - nu**2 / (2 * load * chi)
    return rest + envelope, rest + normal_average(lambda G: np.logaddexp(0, c - nu * G))


def logarithmic_slopes(
    nu: float, chi: float, load: float, r: float, *, beta: float, ridge: float, step: float = 1e-5
) -> list[float]:
    """Derivatives of the potential in ``log nu`` and ``log chi``, by central differences.

    Parameters
    ----------
    nu, chi : float
        Where they are wanted.
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.saddle_potential`.
    step : float
        Relative step; 1e-5 balances its square against rounding over it.

    Returns
    -------
    list of float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("nu", nu, 2 * SCALES[0], SCALES[1] / 2)
    require_number("chi", chi, 2 * SCALES[0], SCALES[1] / 2)
    require_number("step", step, 1e-15, 0.5)
    at = {"load": load, "r": r, "beta": beta, "ridge": ridge}
    return [
        (
            saddle_potential(nu * (1 + a), chi * (1 + b), **at)
            - saddle_potential(nu * (1 - a), chi * (1 - b), **at)
        )
        / (2 * step)
        for a, b in ((step, 0), (0, step))
    ]
