"""The shape of the scalar potential: its single maximum in chi, and how much it bends in nu (Proposition 10).

Nothing here solves the equations of the saddle point. Both expectations are sums over equidistant nodes, of
which the errors are exponentially small; the supremum over chi is searched for; derivatives are differences.
"""

import numpy as np
from scipy import optimize, special

from assocmem.checks import require, require_number
from assocmem.theory.scalar import density, prox, require_point

DEVIATIONS = 9.0
"""Standard deviations beyond which less than 1e-18 of a normal law lies."""
STEP = 0.4
"""Distance of nodes in the argument of a logistic function, of which the nearest pole is pi away."""
WIDEST = 1e4
"""Largest norm scale, alone and times beta, for which there are not too many nodes."""
CHI = (1e-6, 1e30)
"""Least and largest susceptibility that can be given."""
SEARCHED = (2e-6, 5e11)
"""Between which the maximum over the susceptibility is searched for."""
LEVELS = (-300.0, 1e6)
"""Tail averages for which neither the weights of the keys vanish nor their differences."""
BEND = 3e-3
"""Relative step of second differences in 1/chi: its square is balanced against rounding over its square."""


def tail_average_on_nodes(nu: float, r: float, beta: float) -> float:
    """The tail average ``c_r(nu)`` of a normal law (eq. ``c_r_nu_def``) as a sum over nodes.

    Parameters
    ----------
    nu : float
        Standard deviation of the law; at most 1e4, also times beta.
    r, beta : float
        Tail fraction and inverse smoothing width.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    _require_width(nu, beta)
    require_point(r=r, beta=beta)
    Z, weights = _nodes(beta * nu)
    reach = DEVIATIONS * nu + 40 / beta
    mu = optimize.brentq(
        lambda mu: weights @ special.expit(beta * (nu * Z - mu)) - r, -reach, reach, xtol=1e-13 * reach
    )
    return float(mu + weights @ np.logaddexp(0, beta * (nu * Z - mu)) / (r * beta))


def envelope_on_nodes(nu: float, chi: float, c: float) -> float:
    """The Moreau envelope of the loss at a known c (eq. ``scalar_moreau_def``) as a sum over nodes.

    Parameters
    ----------
    nu, chi, c : float
        Norm scale, susceptibility and tail average.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    y, A, weights = _channel(nu, chi, c)
    return float(weights @ (0.5 * chi * A**2 + np.logaddexp(0, -y)))


def channel_averages(nu: float, chi: float, c: float) -> dict[str, float]:
    """Averages over the proximal channel that occur in the equations of the saddle point.

    Parameters
    ----------
    nu, chi, c : float
        Norm scale, susceptibility and tail average.

    Returns
    -------
    dict of str to float
        ``A``, ``AA`` and ``B``, of the weights, their squares and ``B = A (1 - A)``; ``response``, of
        ``B / (1 + chi B)``; ``exponent``, twice the ratio of ``A^2 / (1 + chi B)`` and ``A^2``, which is the
        power of chi with which ``chi^2 E A^2`` grows (eq. ``chi_square_A_monotone``).

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    y, A, weights = _channel(nu, chi, c)
    B = A * special.expit(y)
    square = weights @ A**2
    values = {
        "A": weights @ A,
        "AA": square,
        "B": weights @ B,
        "response": weights @ (B / (1 + chi * B)),
        "exponent": 2 * (weights @ (A**2 / (1 + chi * B))) / square,
    }
    return {name: float(value) for name, value in values.items()}


def exponent_by_differences(nu: float, chi: float, c: float) -> float:
    """The power of chi with which the slope of the envelope in ``t = 1/chi`` grows, by differences.

    That slope is ``chi^2 E A^2 / 2``. The potential is concave in t wherever the power is positive, and then
    its maximum is the only one.

    Parameters
    ----------
    nu, chi, c : float
        Norm scale, susceptibility and tail average.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("chi", chi, 2 * CHI[0], CHI[1] / 2)
    low, middle, high = (envelope_on_nodes(nu, chi / (1 + x), c) for x in (-BEND, 0, BEND))
    return (2 * middle - low - high) / BEND**2 / ((high - low) / (2 * BEND))


def potential_on_nodes(nu: float, chi: float, load: float, r: float, *, beta: float, ridge: float) -> float:
    """The potential ``P(nu, chi)`` (eq. ``scalar_potential_def``) as a sum over nodes.

    Parameters
    ----------
    nu, chi : float
        Norm scale, at most 1e4, also times beta, and susceptibility.
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.solve_scalar`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_point(load=load, ridge=ridge)
    require_number("chi", chi, *CHI, ends="[]")
    c = tail_average_on_nodes(nu, r, beta)
    return ridge * nu**2 / 2 - nu**2 / (2 * load * chi) + envelope_on_nodes(nu, chi, c)


def reduced_by_search(nu: float, load: float, r: float, *, beta: float, ridge: float) -> float:
    """The reduced potential ``V(nu)`` (eq. ``reduced_potential_def``), its supremum over chi by search.

    Parameters
    ----------
    nu : float
        Norm scale; at most 1e4, also times beta.
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.solve_scalar`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_point(load=load, ridge=ridge)
    c = tail_average_on_nodes(nu, r, beta)
    best = optimize.minimize_scalar(
        lambda log: nu**2 / (2 * load * np.exp(log)) - envelope_on_nodes(nu, float(np.exp(log)), c),
        bounds=np.log(SEARCHED),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(ridge * nu**2 / 2 - best.fun)


def curvature(nu: float, load: float, r: float, *, beta: float, ridge: float, step: float = 0.03) -> float:
    """Second difference of the reduced potential in nu, over the square of the step.

    Parameters
    ----------
    nu : float
        Norm scale; at most 1e4, also times beta.
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.solve_scalar`.
    step : float
        Relative to nu. The second difference is an average of the second derivative over two steps, so it is
        at least the ridge wherever the potential is as convex as the ridge, whatever the step.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("step", step, 1e-4, 0.5)
    require_number("nu", nu, 1e-5, WIDEST)
    at = {"load": load, "r": r, "beta": beta, "ridge": ridge}
    low, middle, high = (reduced_by_search(nu * (1 + x), **at) for x in (-step, 0, step))
    return (low + high - 2 * middle) / (step * nu) ** 2


def _require_width(nu, beta=1.0):
    """Check that there are not too many nodes."""
    require_number("nu", nu, 1e-6, WIDEST, ends="[]")
    require_number("beta", beta, 0)
    require(beta * nu <= WIDEST, "nu", nu, f"at most {WIDEST:g} over beta")


def _nodes(width):
    """Equidistant nodes of a standard normal variable, as fine as a logistic function, and their weights."""
    Z = np.linspace(-DEVIATIONS, DEVIATIONS, 1 + int(2 * DEVIATIONS / min(0.05, STEP / width)))
    return Z, density(Z) * (Z[1] - Z[0])


def _channel(nu, chi, c):
    """Nodes of the proximal map, the weights A of the keys there, and the weights of the nodes."""
    _require_width(nu)
    require_number("chi", chi, *CHI, ends="[]")
    require_number("c", c, *LEVELS, ends="[]")
    G, weights = _nodes(nu)
    y = prox(nu * G - c, chi)
    return y, special.expit(-y), weights
