"""Lists: every signal among the top share r of its competitors. The capacity, the best share, and a loss.

Under any memory the scores of key i are Gaussian with spread ``|W v_i| / sqrt(d)``, so that "in the top share
r" reads ``u_i' W v_i >= q |W v_i| / sqrt(d)`` with ``q = Phi^-1(1 - r)``: a second-order cone for r up to one
half. As the spread is the norm scale ``nu = |W|_F / d`` for all but a vanishing share of the keys, this is
the perceptron with margin q in d^2 dimensions, and

    alpha_list(r) = 1 / E (q + G)_+^2 = 1 / [(1 + q^2) Phi(q) + q phi(q)].

The critical load of the tail average has the same form, with ``kappa_t = tail_mean(t)`` of its tail t in
place of q. So the tail average of the *longer* tail t with ``kappa_t = q`` is convex and reaches the capacity
of lists. The perceptron is a heuristic; that nothing reaches further, and that the longer tail reaches so
far for all but a vanishing share of the keys, is proved in the section ``list_capacity``.

The loss of lists is ``log(1 + exp(-m))`` of the margin ``m = s_ii - q |W v_i| / sqrt(d)``. Its two numbers
are those of tail-average learning with ``c(nu) = q nu``: the longer tail, without any smoothing. As nothing
is smoothed, the loss has a corner at the zero memory, and from the load ``1 / q^2`` on that is its minimum.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from assocmem.checks import require, require_numbers
from assocmem.theory.ridgeless import FRACTIONS, LEAST_EXCESS, LOADS, hinge_moments, sat_edge, tail_mean
from assocmem.theory.scalar import (
    GAUSSIAN_RANGE,
    GAUSSIAN_STEP,
    LOGISTIC_RANGE,
    LOGISTIC_STEP,
    NODES,
    RANGES,
    RESIDUAL_TOLERANCE,
    STEP_TOLERANCE,
    WEIGHTS,
    ScalarSolution,
    broadcast,
    density,
    prox,
)

FAR = 3.0
"""Quantile from which on the mean excess over it is a continued fraction, as a difference loses digits."""

TERMS = 120
"""Of the continued fraction, enough for all digits from `FAR` on."""

NEAR = 1.0
"""Quantile from which on a share is compared with its tail, as small shares keep their digits in that way."""


def list_quantile(r: ArrayLike) -> np.ndarray | float:
    """Spreads that a signal must be above zero to be in the top share r: ``q_r = Phi^-1(1 - r)``.

    Parameters
    ----------
    r : array_like
        Shares of the list in (0, 1/2].

    Returns
    -------
    ndarray or float
        Nonnegative, decreasing in r, to 0 at r = 1/2.

    Raises
    ------
    ValueError
        For a share outside (0, 1/2].
    """
    require_numbers("r", r, 0, 0.5, ends="(]")
    return np.abs(special.ndtri(np.asarray(r, dtype=float)))[()]


def list_capacity(r: ArrayLike) -> np.ndarray | float:
    """Load up to which some memory has every signal in the top share r: ``1 / E (q_r + G)_+^2``.

    Parameters
    ----------
    r : array_like
        Shares of the list in (0, 1/2].

    Returns
    -------
    ndarray or float
        In (0, 2], increasing in r; above ``critical_load(r)``, whose tail has the same share.

    Raises
    ------
    ValueError
        For a share outside (0, 1/2].
    """
    return 1 / hinge_moments(list_quantile(r))[1]


def equivalent_tail(r: ArrayLike) -> np.ndarray | float:
    """The longer tail t whose average is the quantile of a list: ``tail_mean(t) = q_r``.

    A memory that beats the average of its top share t is in the top share r, and its critical load is the
    capacity of lists, ``critical_load(t) = list_capacity(r)``.

    Parameters
    ----------
    r : array_like
        Shares of the list in (0, 1/2].

    Returns
    -------
    ndarray or float
        In (r, 1], increasing in r. For small r it tends to e r, and at r = 1/2 it is 1.

    Raises
    ------
    ValueError
        For a share outside (0, 1/2].
    """
    q = np.asarray(list_quantile(r))
    # The quantile x of the tail: the logarithm of its hazard rate is concave, so that Newton's method climbs.
    level = np.where(q > 0, q, 1.0)
    x = np.where(level > 2, level - 1 / level, -np.sqrt(2 * np.maximum(-np.log(level), 0)) - 0.5)
    for _ in range(100):
        step = np.log(_hazard(x) / level) / _mean_excess(x)
        x = x - step
        if np.all(np.abs(step) <= 1e-15 * np.maximum(1, np.abs(x))):
            break
    far = np.asarray(r, dtype=float) * np.exp(_log_ratio(np.maximum(x, 0), level))
    return np.where(q > NEAR, far, np.where(q > 0, special.ndtr(-x), 1.0))[()]


def listed_fraction(tail: ArrayLike) -> np.ndarray | float:
    """The share r of a list whose quantile is the average of a tail: the inverse of `equivalent_tail`.

    Below the critical load of the tail, every signal of the memory that is trained for it is in this share.

    Parameters
    ----------
    tail : array_like
        Tail fractions in (0, 1].

    Returns
    -------
    ndarray or float
        In (0, 1/2], increasing in the tail.

    Raises
    ------
    ValueError
        For a fraction outside (0, 1].
    """
    require_numbers("tail", tail, 0, 1, ends="(]")
    tail = np.asarray(tail, dtype=float)
    kappa = np.asarray(tail_mean(tail))
    x = np.maximum(-special.ndtri(np.minimum(tail, 0.5)), 0)
    far = tail * np.exp(-_log_ratio(x, x + _mean_excess(x)))
    return np.where(tail < 0.5, far, special.ndtr(-kappa))[()]


def best_share(load: ArrayLike) -> np.ndarray | float:
    """Smallest share in which some memory has every signal: the inverse of `list_capacity`.

    It is ``Phi(-rho_alpha)`` with the edge of `sat_edge`: the memory of the largest margin has every signal
    at or above this one edge, whatever share or tail it was trained for.

    Parameters
    ----------
    load : array_like
        In [1e-6, 2].

    Returns
    -------
    ndarray or float
        In [0, 1/2], increasing in the load; below a load of 1/1500 it is too small for a float, and 0.

    Raises
    ------
    ValueError
        For a load out of range.
    """
    require_numbers("load", load, LOADS[0], 2, ends="[]")
    return np.minimum(special.ndtr(-np.asarray(sat_edge(load))), 0.5)[()]


def vanishing_load(r: ArrayLike) -> np.ndarray | float:
    """Load from which on the loss of lists is least at the zero memory, whatever the ridge: ``1 / q_r^2``.

    A small memory changes the mean loss by ``(q_r - 1 / sqrt(load)) nu / 2``: its signals can be larger than
    zero by as much as so many keys let them, and each of its spreads costs q_r.

    Parameters
    ----------
    r : array_like
        Shares of the list in (0, 1/2].

    Returns
    -------
    ndarray or float
        Increasing in r, above the list capacity; infinite at r = 1/2.

    Raises
    ------
    ValueError
        For a share outside (0, 1/2].
    """
    with np.errstate(divide="ignore"):
        return 1 / np.square(list_quantile(r))


def solve_list(load: ArrayLike, r: ArrayLike, *, ridge: ArrayLike) -> ScalarSolution:
    """The two numbers and the laws of the loss of lists, ``log(1 + exp(-m))`` with a ridge.

    They are the saddle point of the potential of tail-average learning with ``c(nu) = q_r nu``:

        nu^2 = load chi^2 E a^2   and   ridge - 1 / (load chi) + (q_r E a - E a G) / nu = 0,

    where ``a = sigma(-y)`` and ``y = Prox_chi(nu G - q_r nu)``.

    Parameters
    ----------
    load : array_like
        ``alpha = n / d^2``, at least 1e-6, at most 1e6 and below `vanishing_load`.
    r : array_like
        Shares of the list in [1e-12, 1/2].
    ridge : array_like
        In [1e-16, 1e3], or 0 above the list capacity, where there is a saddle point without a ridge.

    Returns
    -------
    ScalarSolution
        With attributes of the broadcast shape of the parameters: ``r`` is the share of the list, ``beta``
        infinite, and both ``c`` and ``mu`` are ``q_r nu``, which a signal in the top share r passes.

    Raises
    ------
    ValueError
        For a parameter out of range, a load at which the best memory is zero, or a ridge of 0 at a load that
        is not above the list capacity.
    """
    load, r, ridge = broadcast(load=load, r=r, ridge=ridge)
    require_numbers("load", load, *RANGES["load"], ends="[]")
    require_numbers("r", r, FRACTIONS[0], 0.5, ends="[]")
    require_numbers("ridge", ridge, 0, RANGES["ridge"][1], ends="[]")
    capacity, most = list_capacity(r), vanishing_load(r) * (1 - LEAST_EXCESS)
    allowed = "below 1 / q_r^2, from where on the best memory is zero"
    require(bool(np.all(load < most)), "load", load.tolist(), allowed)
    ok = (ridge >= RANGES["ridge"][0]) | ((ridge == 0) & (load > capacity * (1 + LEAST_EXCESS)))
    allowed = "in [1e-16, 1000], or 0 where the load is above the list capacity"
    require(bool(np.all(ok)), "ridge", ridge.tolist(), allowed)
    q = np.asarray(list_quantile(r))
    points = [
        _saddle_point(*(float(v) for v in point)) for point in zip(load.flat, q.flat, ridge.flat, strict=True)
    ]
    nu, chi, loss, residual = (np.array(column).reshape(load.shape) for column in zip(*points, strict=True))
    columns = (nu, chi, q * nu, q * nu, loss, loss + 0.5 * ridge * nu**2, residual)
    asked = (load, r, np.full(load.shape, np.inf), ridge)
    return ScalarSolution(*(v[()] for v in (*asked, *columns, residual <= RESIDUAL_TOLERANCE)))


# --- the saddle point --------------------------------------------------------------------------------------


def _saddle_point(load, q, ridge):
    """One point: nu, chi, loss, and the larger error of the two equations relative to their terms."""
    log_width = (
        0.0  # logarithm of chi / nu, which changes little with nu: the last one starts the next search
    )

    def channel(log_nu):
        """The norm scale, the best chi for it, and the averages there."""
        nonlocal log_width
        nu = np.exp(log_nu)
        log_width = _log_susceptibility(nu, q, load, log_nu + log_width) - log_nu
        chi = np.exp(log_nu + log_width)
        return nu, chi, _averages(nu, q, chi)

    def slope(log_nu):
        """Derivative of the potential at the best chi, over nu; increasing where it matters."""
        nu, chi, at = channel(log_nu)
        return ridge - 1 / (load * chi) + (q * at["a"] - at["aG"]) / nu

    # Below the capacity chi grows exponentially with nu: so upward in small steps, from where it is small.
    low = high = min(0.0, 0.5 * np.log(load))
    if slope(low) > 0:
        while slope(low) > 0:
            low, high = low - 2, low
    else:
        while slope(high) < 0:
            low, high = high, high + 0.5
    nu, chi, at = channel(optimize.brentq(slope, low, high, xtol=1e-15, rtol=1e-15))
    terms = ridge, -1 / (load * chi), q * at["a"] / nu, -at["aG"] / nu
    norm, variance = sum(terms) / max(map(abs, terms)), load * chi**2 * at["aa"] / nu**2 - 1
    return float(nu), float(chi), float(at["loss"]), float(max(abs(norm), abs(variance)))


def _log_susceptibility(nu, q, load, start):
    """Logarithm of the chi with ``nu^2 = load chi^2 E a^2``, by Newton's method."""
    log_chi, low, high = start, -np.inf, np.inf
    for _ in range(200):
        at = _averages(nu, q, np.exp(log_chi))
        miss = np.log(load * at["aa"]) + 2 * (log_chi - np.log(nu))
        low, high = (log_chi, high) if miss < 0 else (low, log_chi)
        following = log_chi - miss * at["aa"] / (2 * at["response"])
        if not low <= following <= high:
            following = 0.5 * (low + high)
        moved, log_chi = abs(following - log_chi), following
        if moved <= STEP_TOLERANCE:
            break
    return log_chi


def _averages(nu, q, chi):
    """Averages over G of what the equations need, with panels over y that are cut where the loss bends."""
    grid = np.arange(-GAUSSIAN_RANGE, GAUSSIAN_RANGE + GAUSSIAN_STEP, GAUSSIAN_STEP)
    edges = prox(nu * (grid - q), chi)
    bends = np.arange(-LOGISTIC_RANGE, np.log1p(chi) + LOGISTIC_RANGE, LOGISTIC_STEP)
    edges = np.sort(np.concatenate([edges, bends[(bends > edges[0]) & (bends < edges[-1])]]))
    half = 0.5 * np.diff(edges)[:, None]
    y = (edges[:-1, None] + half * (1 + NODES)).ravel()
    a, rest = special.expit(-y), special.expit(y)
    G = (y - chi * a) / nu + q
    weights = (half * WEIGHTS).ravel() * density(G) * (1 + chi * a * rest) / nu
    values = {
        "a": a,
        "aG": a * G,
        "aa": a**2,
        "response": a**2 / (1 + chi * a * rest),
        "loss": np.logaddexp(0, -y),
    }
    return {name: weights @ value for name, value in values.items()}


# --- the shares beyond a level -----------------------------------------------------------------------------


def _hazard(x):
    """Density at x over the share beyond, which is the mean of a standard normal G that is above x."""
    return np.sqrt(2 / np.pi) / special.erfcx(x / np.sqrt(2))


def _mean_excess(x):
    """Mean of ``G - x`` for a standard normal G that is above x."""
    far = np.maximum(x, FAR)
    fraction = far
    for i in range(TERMS, 1, -1):
        fraction = far + i / fraction
    return np.where(x > FAR, 1 / fraction, _hazard(np.minimum(x, FAR)) - x)


def _log_ratio(x, q):
    """Logarithm of the share beyond x over that beyond q, where q is the mean of the former."""
    w = _mean_excess(x)
    return w * (q - w / 2) - np.log(q / _hazard(q))
