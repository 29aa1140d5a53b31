"""The high-dimensional limit of tail-average learning: two numbers, and the laws that follow from them.

The minimiser at load ``n / d^2`` is described by ``nu``, its norm scale, and ``chi``, its susceptibility.
They are the saddle point of a potential of two variables (Definition 3), and this module finds it to nearly
all digits. Every Gaussian integral is a sum of Gauss-Legendre panels that are cut where the integrand bends:
the softplus within a few ``1/(beta nu)`` of the threshold, and the proximal channel on the scale of its own
variable ``y``, in which ``G = (y - chi sigma(-y) + c) / nu`` needs no equation to be solved.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from assocmem.checks import SCALES, require, require_instance, require_number, require_numbers
from assocmem.theory.laws import Law

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Of the Gauss-Legendre rule on [-1, 1], for one panel."""

GAUSSIAN_RANGE = 13.0
"""Standard deviations beyond which less than 1e-37 of a normal law lies."""

GAUSSIAN_STEP = 0.75
"""Width of a panel in standard deviations; with 16 nodes in each, errors are below 1e-15."""

LOGISTIC_STEP = 2.0
"""Width of a panel in the argument of a logistic function, for the same errors."""

LOGISTIC_RANGE = 40.0
"""Argument beyond which a logistic function is 0 or 1 to all digits."""

STEP_TOLERANCE = 1e-9
"""Size of a step of Newton's method after which there is no further one, which would be the square of it."""

RESIDUAL_TOLERANCE = 1e-9
"""Relative error in the saddle-point equations up to which a solution counts as converged."""

LEAST_FRACTION = 1e-12
"""Least tail fraction for which a susceptibility is searched."""

RANGES = {"load": (1e-6, 1e6), "r": (1e-4, 1 - 1e-4), "beta": (1e-3, 1e6), "ridge": (1e-16, 1e3)}
"""Least and largest value of each parameter that is accepted; a solution says whether it converged."""


@dataclass(frozen=True)
class ScalarSolution:
    """The saddle point and the laws of Theorem 2. Numbers, or arrays of one shape.

    Attributes
    ----------
    load, r, beta, ridge : float
        What was asked for.
    nu : float
        Limit of ``|W|_F / d``.
    chi : float
        Limit of ``tr(H^-1) / d^2``, with H the Hessian of the summed loss and the thresholds held fixed.
    c, mu : float
        Limits of the tail average and the threshold of a column (eq. ``c_r_nu_def``).
    loss : float
        Limit of the mean loss, the ridge not included.
    objective : float
        Limit of the mean loss with the ridge; the value of the potential.
    residual : float
        Largest error in the two saddle-point equations, relative to their terms.
    converged : bool
        Whether the residual is at most 1e-9.
    """

    load: float
    r: float
    beta: float
    ridge: float
    nu: float
    chi: float
    c: float
    mu: float
    loss: float
    objective: float
    residual: float
    converged: bool

    @property
    def signal(self) -> Law:
        """Law of the signal scores, ``c + Prox_chi(nu G - c)`` (eq. ``scalar_channel_nu_chi``)."""
        margin = self.margin
        return Law(
            lambda s: margin.cdf(s - self.c),
            lambda s: margin.pdf(s - self.c),
            lambda p: self.c + margin.quantile(p),
        )

    @property
    def competitor(self) -> Law:
        """Law of the competing scores of a key, normal with standard deviation nu."""
        return Law(
            lambda s: special.ndtr(np.asarray(s) / self.nu),
            lambda s: density(np.asarray(s) / self.nu) / self.nu,
            lambda p: self.nu * special.ndtri(p),
        )

    @property
    def margin(self) -> Law:
        """Law of the margins (eq. ``tam_margin_prediction``)."""

        def gaussian(y):
            y = np.asarray(y, dtype=float)
            return (y - self.chi * special.expit(-y) + self.c) / self.nu

        def pdf(y):
            stretch = 1 + self.chi * special.expit(y) * special.expit(-np.asarray(y))
            return density(gaussian(y)) * stretch / self.nu

        def quantile(p):
            return prox(self.nu * special.ndtri(p) - self.c, self.chi)

        return Law(lambda y: special.ndtr(gaussian(y)), pdf, quantile)

    @property
    def percentile(self) -> Law:
        """Law of the share of competitors below the signal (eq. ``tam_percentile_prediction``)."""
        signal = self.signal

        def pdf(w):
            z = special.ndtri(w)
            return signal.pdf(self.nu * z) * self.nu / density(z)

        return Law(
            lambda w: signal.cdf(self.nu * special.ndtri(np.clip(w, 0, 1))),
            pdf,
            lambda p: special.ndtr(signal.quantile(p) / self.nu),
        )

    def margin_cdf(self, t: ArrayLike) -> np.ndarray | float:
        """Limiting share of keys with a margin of at most t."""
        require_numbers("t", t, -np.inf, np.inf, ends="[]")
        return self.margin.cdf(t)

    def percentile_cdf(self, w: ArrayLike) -> np.ndarray | float:
        """Limiting share of keys whose signal beats at most the share w of its competitors."""
        require_numbers("w", w, -np.inf, np.inf, ends="[]")
        return self.percentile.cdf(np.asarray(w)[()])


def solve_scalar(load: ArrayLike, r: ArrayLike, *, beta: ArrayLike, ridge: ArrayLike) -> ScalarSolution:
    """Saddle point of the scalar potential (Definition 3, Theorem 2).

    Parameters
    ----------
    load : array_like
        ``alpha = n / d^2`` in [1e-6, 1e6].
    r : array_like
        Tail fraction in [1e-4, 1 - 1e-4].
    beta : array_like
        Inverse smoothing width in [1e-3, 1e6].
    ridge : array_like
        In [1e-16, 1e3].

    Returns
    -------
    ScalarSolution
        With attributes of the broadcast shape of the parameters.

    Raises
    ------
    ValueError
        Naming the parameter and its range.
    """
    parameters = broadcast(load=load, r=r, beta=beta, ridge=ridge)
    require_parameters(**dict(zip(RANGES, parameters, strict=True)))
    return saddle_points(*parameters)


def require_parameters(**parameters: ArrayLike) -> None:
    """Check that parameters of the theory are within `RANGES`.

    Parameters
    ----------
    **parameters : array_like
        By their names.

    Raises
    ------
    ValueError
        Naming the parameter and its range.
    """
    for name, values in parameters.items():
        require_numbers(name, values, *RANGES[name], ends="[]")


def require_point(**parameters: float) -> None:
    """Check that parameters of the theory are single numbers within `RANGES`.

    Parameters
    ----------
    **parameters : float
        By their names.

    Raises
    ------
    ValueError
        Naming the parameter and its range.
    """
    for name, value in parameters.items():
        require_number(name, value, *RANGES[name], ends="[]")


def broadcast(**parameters: ArrayLike) -> tuple[np.ndarray, ...]:
    """Parameters as arrays of one shape.

    Parameters
    ----------
    **parameters : array_like
        By their names.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        Naming a parameter that holds something else than numbers, or all of them if their shapes do not fit.
    """
    for name, values in parameters.items():
        require_numbers(name, values, -np.inf, np.inf, ends="[]")
    shapes = [np.shape(values) for values in parameters.values()]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(shape) for shape in shapes)
        raise ValueError(f"{', '.join(parameters)}: shapes {listed}, which do not go together") from None
    return tuple(np.broadcast_arrays(*(np.asarray(values, dtype=float) for values in parameters.values())))


def prox(x: ArrayLike, chi: ArrayLike) -> np.ndarray | float:
    """The y with ``y - chi sigma(-y) = x`` (eq. ``prox_chi_foc``), the proximal map of the logistic loss.

    Parameters
    ----------
    x : array_like
        Where the map is taken.
    chi : array_like
        Its step, positive.

    Returns
    -------
    ndarray or float
        Between ``x`` and ``x + chi``.

    Raises
    ------
    ValueError
        For numbers out of range, or shapes that do not go together.
    """
    x, chi = broadcast(x=x, chi=chi)
    require_numbers("x", x, -SCALES[1], SCALES[1])
    require_numbers("chi", chi, *SCALES, ends="[]")
    x, chi = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(chi, dtype=float))
    low, high = x, x + chi
    # With exp(-y) in place of sigma(-y) the equation is Wright's; its solution is an upper bound.
    y = np.minimum(x + special.wrightomega(np.log(chi) - x), high)
    for _ in range(100):
        A = special.expit(-y)
        miss = y - chi * A - x
        low, high = np.where(miss < 0, y, low), np.where(miss > 0, y, high)
        following = y - miss / (1 + chi * A * special.expit(y))
        following = np.where((following >= low) & (following <= high), following, 0.5 * (low + high))
        moved, y = np.abs(following - y), following
        if np.all(moved <= STEP_TOLERANCE * np.maximum(1, np.abs(y))):
            break
    return y[()]


def scalar_tail_average(nu: float, r: float, beta: float) -> tuple[float, float, float]:
    """The tail average of a normal law of standard deviation nu (eq. ``c_r_nu_def``).

    Parameters
    ----------
    nu : float
        Standard deviation of the law, positive.
    r : float
        Tail fraction, above 0 and below 1.
    beta : float
        Inverse width of the smoothing, positive.

    Returns
    -------
    c, mu, slope : float
        Value, threshold (eq. ``mu_r_characterization``), and derivative of the value in nu.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("nu", nu, *SCALES, ends="[]")
    require_number("r", r, 0, 1)
    require_number("beta", beta, *SCALES, ends="[]")
    s = beta * nu
    m = -special.ndtri(r) * np.hypot(s, 1.7)
    low, high = -np.inf, np.inf
    for _ in range(200):
        y, w = _threshold_nodes(s, m)
        q, rest = special.expit(y), special.expit(-y)
        curvature = np.dot(w, q * rest)
        # the smaller of the two shares keeps all its digits
        miss = np.dot(w, q) - r if r < 0.5 else (1 - r) - np.dot(w, rest)
        low, high = (m, high) if miss > 0 else (low, m)
        following = m + miss / curvature
        if not low <= following <= high:
            closed = np.isfinite(high - low)
            m = 0.5 * (low + high) if closed else m + np.sign(miss) * (1 + s)
            continue
        moved, m = abs(following - m), following
        if moved <= STEP_TOLERANCE * max(1.0, abs(m)):
            break
    y, w = _threshold_nodes(s, m)
    if r < 0.5:
        c = (m + np.dot(w, np.logaddexp(0, y)) / r) / beta
    else:  # the same number; the form above would be a difference of large ones for r near 1
        c = (np.dot(w, np.logaddexp(0, -y)) - m * (1 - r)) / (r * beta)
    bend = np.dot(w, special.expit(y) * special.expit(-y))
    return c, m / beta, s * bend / r


def saddle_potential(nu: float, chi: float, load: float, r: float, *, beta: float, ridge: float) -> float:
    """The potential ``P(nu, chi)`` whose saddle point is looked for (eq. ``scalar_potential_def``).

    Parameters
    ----------
    nu : float
        Norm scale, positive.
    chi : float
        Susceptibility, positive.
    load, r, beta, ridge : float
        As in `solve_scalar`, but in no narrower range than numbers have; the ridge may be zero.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("chi", chi, *SCALES, ends="[]")
    require_number("load", load, *SCALES, ends="[]")
    require_number("ridge", ridge, 0, SCALES[1], ends="[]")
    c, _, _ = scalar_tail_average(nu, r, beta)
    averages = _Channel(nu, c, chi)
    envelope = averages.mean(0.5 * chi * averages.A**2 + np.logaddexp(0, -averages.y))
    return 0.5 * ridge * nu**2 - nu**2 / (2 * load * chi) + envelope


def reduced_potential(nu: float, load: float, r: float, *, beta: float, ridge: float) -> float:
    """The reduced potential ``V(nu) = sup_chi P(nu, chi)`` (eq. ``reduced_potential_def``).

    Parameters
    ----------
    nu : float
        Norm scale, positive.
    load, r, beta, ridge : float
        As in `saddle_potential`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("r", r, LEAST_FRACTION, 1, ends="[)")
    require_number("load", load, *SCALES, ends="[]")
    require_number("ridge", ridge, 0, SCALES[1], ends="[]")
    c, _, _ = scalar_tail_average(nu, r, beta)
    chi = _susceptibility(nu, c, load, nu)
    return saddle_potential(nu, chi, load, r, beta=beta, ridge=ridge)


def dual_potential(nu: float, solution: ScalarSolution) -> float:
    """Value at ``nu`` of the function under the supremum of eq. ``reduced_potential_dual``.

    The weights ``a(G)`` are those of a solution. Whatever they are, the value is at most ``V(nu)``; here it
    touches at ``solution.nu``.

    Parameters
    ----------
    nu : float
        Norm scale, positive.
    solution : ScalarSolution
        Of a single point.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a nu out of range, or a solution of several points.
    """
    require_instance("solution", solution, ScalarSolution)
    require(np.ndim(solution.nu) == 0, "solution", f"{np.size(solution.nu)} points", "of a single point")
    require_number("nu", nu, *SCALES, ends="[]")
    channel = _Channel(solution.nu, solution.c, solution.chi)
    c, _, _ = scalar_tail_average(nu, solution.r, solution.beta)
    A, y = channel.A, channel.y
    entropy = A * np.logaddexp(0, y) + (1 - A) * np.logaddexp(0, -y)
    gain = channel.mean(A * (c - nu * channel.G) + entropy)
    cost = nu / np.sqrt(solution.load) * np.sqrt(channel.mean(A**2))
    return 0.5 * solution.ridge * nu**2 + gain - cost


# --- the saddle point --------------------------------------------------------------------------------------


def saddle_points(load: ArrayLike, r: ArrayLike, beta: ArrayLike, ridge: ArrayLike) -> ScalarSolution:
    """Saddle points for parameters of one shape, in a wider range than that of `solve_scalar`.

    Parameters
    ----------
    load, r, beta : array_like
        As in `solve_scalar`, of one shape.
    ridge : array_like
        Likewise, but it may be zero above the critical load, where there is a saddle point without it.

    Returns
    -------
    ScalarSolution
        With attributes of that shape.

    Raises
    ------
    ValueError
        For a parameter out of range, or parameters of different shapes.
    """
    load, r, beta, ridge = broadcast(load=load, r=r, beta=beta, ridge=ridge)
    require_numbers("load", load, *RANGES["load"], ends="[]")
    require_numbers("r", r, LEAST_FRACTION, 1, ends="[)")
    require_numbers("beta", beta, *RANGES["beta"], ends="[]")
    require_numbers("ridge", ridge, 0, RANGES["ridge"][1], ends="[]")
    parameters = [np.asarray(values, dtype=float) for values in (load, r, beta, ridge)]
    points = [
        _saddle_point(*(float(v) for v in point))
        for point in zip(*(values.flat for values in parameters), strict=True)
    ]
    columns = (np.array(column).reshape(parameters[0].shape)[()] for column in zip(*points, strict=True))
    return ScalarSolution(*(values[()] for values in parameters), *columns)


def _saddle_point(load, r, beta, ridge):
    """One point: nu, chi, c, mu, loss, objective, residual, converged."""
    width = 1.0  # chi / nu, which changes little with nu: the last one starts the next search

    def slope(log_nu):
        """``V'(nu) / nu`` at the best chi; increasing where it matters."""
        nonlocal width
        nu = np.exp(log_nu)
        c, _, c_slope = scalar_tail_average(nu, r, beta)
        chi = _susceptibility(nu, c, load, width * nu)
        width = chi / nu
        channel = _Channel(nu, c, chi)
        forces = channel.mean(channel.A) * c_slope - channel.mean(channel.A * channel.G)
        return ridge - 1 / (load * chi) + forces / nu

    low = high = 0.0
    if slope(0.0) > 0:
        while slope(low) > 0:
            low, high = low - 2, low
    else:
        while slope(high) < 0:
            low, high = high, high + 2
    nu = float(np.exp(optimize.brentq(slope, low, high, xtol=1e-15, rtol=1e-15)))
    c, mu, c_slope = scalar_tail_average(nu, r, beta)
    chi = _susceptibility(nu, c, load, width * nu)
    channel = _Channel(nu, c, chi)
    loss = channel.mean(np.logaddexp(0, -channel.y))
    # the errors in the two equations, as Propositions 8 and 9 state them, relative to their terms
    A = channel.A
    B = A * special.expit(channel.y)
    omega = channel.mean(A) * c_slope / nu
    score = channel.mean(A * (c + channel.y))
    variance = (nu**2 * (ridge + omega) - score) / channel.mean(A * np.abs(c + channel.y))
    response = load * (chi * (ridge + omega) + channel.mean(chi * B / (1 + chi * B))) - 1
    residual = float(max(abs(variance), abs(response)))
    return nu, chi, c, mu, loss, loss + 0.5 * ridge * nu**2, residual, residual <= RESIDUAL_TOLERANCE


def _susceptibility(nu, c, load, start):
    """The chi with ``nu^2 = load chi^2 E A^2`` (eq. ``app_chi_saddle_first``), by Newton in its logarithm."""
    log_chi, low, high = np.log(start), -np.inf, np.inf
    for _ in range(200):
        chi = np.exp(log_chi)
        channel = _Channel(nu, c, chi)
        square = channel.mean(channel.A**2)
        miss = np.log(load * square) + 2 * log_chi - 2 * np.log(nu)
        low, high = (log_chi, high) if miss < 0 else (low, log_chi)
        response = channel.mean(channel.A**2 / (1 + chi * channel.A * special.expit(channel.y)))
        following = log_chi - miss * square / (2 * response)
        if not low <= following <= high:
            log_chi = 0.5 * (low + high)
            continue
        moved, log_chi = abs(following - log_chi), following
        if moved <= STEP_TOLERANCE:
            break
    return float(np.exp(log_chi))


def _near_prox(x, chi):
    """The `prox` to a few digits, in less time, for the edges of panels, which need not be exact."""
    y = np.minimum(x + special.wrightomega(np.log(chi) - x), x + chi)
    A = special.expit(-y)
    return np.clip(y - (y - chi * A - x) / (1 + chi * A * (1 - A)), x, x + chi)


class _Channel:
    """Nodes of ``y = Prox_chi(nu G - c)`` over a standard normal G, and averages over them."""

    def __init__(self, nu, c, chi):
        grid = np.arange(-GAUSSIAN_RANGE, GAUSSIAN_RANGE + GAUSSIAN_STEP, GAUSSIAN_STEP)
        edges = _near_prox(nu * grid - c, chi)
        bends = np.arange(-LOGISTIC_RANGE, np.log1p(chi) + LOGISTIC_RANGE, LOGISTIC_STEP)
        edges = np.concatenate([edges, bends[(bends > edges[0]) & (bends < edges[-1])]])
        self.y, weights = _panels(np.sort(edges))
        self.A = special.expit(-self.y)
        self.G = (self.y - chi * self.A + c) / nu
        self.weights = weights * _density(self.G) * (1 + chi * self.A * special.expit(self.y)) / nu

    def mean(self, values):
        """Expectation of values at the nodes."""
        return float(np.dot(self.weights, values))


def _threshold_nodes(s, m):
    """Values ``s Z - m`` and weights of a standard normal Z, fine where the values are small.

    For large s the panels are laid over the values and not over Z, whose digits do not tell them apart.
    """
    grid = np.arange(-GAUSSIAN_RANGE, GAUSSIAN_RANGE + GAUSSIAN_STEP, GAUSSIAN_STEP)
    bends = np.arange(-LOGISTIC_RANGE, LOGISTIC_RANGE + 1, LOGISTIC_STEP)
    kept = np.abs(bends + m) < s * grid[-1]
    if s > 1:
        y, weights = _panels(np.sort(np.concatenate([s * grid - m, bends[kept]])))
        return y, weights * _density((y + m) / s) / s
    Z, weights = _panels(np.sort(np.concatenate([grid, (bends[kept] + m) / s])))
    return s * Z - m, weights * _density(Z)


def _panels(edges):
    """Gauss-Legendre nodes and weights on all intervals between neighbouring edges."""
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1 + NODES)).ravel(), (half * WEIGHTS).ravel()


def density(z: ArrayLike) -> np.ndarray | float:
    """Density of a standard normal variable, several times faster than that of ``scipy.stats``."""
    require_numbers("z", z, -np.inf, np.inf, ends="[]")
    return _density(z)


def _density(z):
    """Result of `density`, unchecked."""
    return np.exp(-0.5 * np.asarray(z) ** 2) / np.sqrt(2 * np.pi)
