"""The potential with weights by brute force: nested searches and adaptive quadrature, class by class.

`assocmem.theory.weighted` solves two equations. Here the potential whose saddle point they give is computed
from its definition, and its value at a saddle point is found by searches alone.
"""

import math

from scipy import optimize

from assocmem.checks import require, require_instance, require_number
from assocmem.theory.frequencies import Frequencies
from assocmem.theory.scalar import require_point
from assocmem.theory.scalar_reference import TRIED, potential_by_definition

MOST_CLASSES = 20
"""Weights with which nested searches can do."""


def weighted_potential_by_definition(
    nu: float, chi: float, load: float, r: float, *, beta: float, ridge: float, frequencies: Frequencies
) -> float:
    """The potential of facts with weights, all its minimisations and expectations done by force.

    ``ridge nu^2 / 2 - nu^2 / (2 load chi)``, and for each key the least of ``(s - nu G)^2 / (2 chi)`` and p
    times its loss.

    Parameters
    ----------
    nu, chi : float
        Where it is wanted.
    load, r, beta, ridge : float
        As in `assocmem.theory.weighted.solve_weighted`, with a ridge.
    frequencies : Frequencies
        A law of at most 20 weights.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("nu", nu, *TRIED, ends="[]")
    require_point(load=load, r=r, beta=beta, ridge=ridge)
    require_instance("frequencies", frequencies, Frequencies)
    count = len(frequencies.values)
    require(count <= MOST_CLASSES, "frequencies", count, f"of at most {MOST_CLASSES} weights")
    least, most = (float(x) for x in (frequencies.values.min(), frequencies.values.max()))
    require_number("chi", chi, TRIED[0] / least, TRIED[1] / most, ends="[]")

    def envelope(p):
        whole = potential_by_definition(nu, chi * p, load, r, beta=beta, ridge=ridge)[0]
        return whole - ridge / 2 * nu**2 + nu**2 / (2 * load * chi * p)

    classes = zip(frequencies.values, frequencies.masses, strict=True)
    envelopes = math.fsum(float(m * p) * envelope(float(p)) for p, m in classes)
    return ridge / 2 * nu**2 - nu**2 / (2 * load * chi) + envelopes


def highest_in_chi(
    nu: float, near: float, load: float, r: float, *, beta: float, ridge: float, frequencies: Frequencies
) -> tuple[float, float]:
    """Greatest value of that potential over chi, and the chi that has it.

    Parameters
    ----------
    nu : float
        Norm scale.
    near : float
        A chi that is right within a factor of two.
    load, r, beta, ridge, frequencies
        As in `weighted_potential_by_definition`.

    Returns
    -------
    value, chi : float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("near", near, *TRIED, ends="[]")

    def negative(log_chi):
        at = {"beta": beta, "ridge": ridge, "frequencies": frequencies}
        return -weighted_potential_by_definition(nu, math.exp(log_chi), load, r, **at)

    middle = math.log(near)
    bounds = (middle - math.log(2), middle + math.log(2))
    options = {"xatol": 1e-6}
    found = optimize.minimize_scalar(negative, bounds=bounds, method="bounded", options=options)
    return -float(found.fun), math.exp(float(found.x))
