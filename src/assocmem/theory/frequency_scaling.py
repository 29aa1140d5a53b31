"""How the error falls with the dimension when facts are asked by a law of Zipf, far more than a memory holds.

Fact i is asked with probability ``i^-s / zeta(s)``, s > 1, and there is no end of facts. With ``x = i / d^2``
no way to store them knows d, and the share of the questions that are answered wrongly is

    error = C d^(-2 (s - 1)) / zeta(s),      C = int_0^inf x^-s Pr(lost | x) dx,

with one exponent for every way and a constant C for each. *Lost* is a fact whose signal is not above the
average of its best competitors, the top r-fraction. The ways:

- *keep*: learn the ``alpha_c d^2`` most frequent facts and leave the rest to chance.
- *outer products*, ``sum q_i u_i v_i'``: a fact has the signal ``t_i = q_i / sigma``, ``sum t_i^2 = d^2``,
  and is lost with probability ``Phi(kappa - t_i)``. Best is ``p_i phi(kappa - t_i) = lambda t_i``. For
  ``kappa <= 2`` such weights fall smoothly with the rank, and none is zero; above, they jump.
- *trained* with the weights ``p^gamma``: the saddle point of `assocmem.theory.weighted`, with averages over x
  in place of those over facts. Their tail converges for ``s gamma > 1`` and for no less: below, the frequent
  facts drown in the number of the others, and what is left depends on how many there are.
- *any convex losses*: a fact is pulled up by at most h where that does not bring it up to its level; that
  costs ``E min((kappa - G)_+, h)^2``, and it is the least that a convex loss costs which keeps as many.
- *lowest*: pull up what is worth its price and nothing else, as Gardner and Derrida count the fewest errors
  of a perceptron, in replica symmetry. That may lie below what is possible, and nothing here proves it.

All constants are limits of a saddle point or of a sum over independent signals; none is proved here.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import optimize, special

from assocmem.checks import require, require_flag, require_integer, require_number
from assocmem.theory.facts_that_fit import facts_that_fit
from assocmem.theory.frequencies import rank_nodes
from assocmem.theory.ridgeless import critical_load, hinge_moments, tail_mean
from assocmem.theory.scalar import RANGES, _density
from assocmem.theory.tail_cone import LARGEST_N
from assocmem.theory.weighted import saddle_of_sums

EXPONENTS = (1.01, 20.0)
"""Least and largest s for which constants are given."""

LEAST_EXPONENT = 0.1
"""Of a law that has an end."""

POWERS = (1.01, 15.0)
"""Least and largest ``s gamma`` of training without an end of facts."""

FRACTIONS = RANGES["r"]
"""Least and largest tail fraction."""

DIMENSIONS = (2, 1e9)
"""Least and largest dimension."""

MOST_LISTED = 10**8
"""Facts for which weights are given one by one."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Of the Gauss-Legendre rule on [-1, 1], for one panel."""

PANEL = 0.5
"""Width of a panel in the logarithm of a price."""

FINER = 3.0
"""By how much bins of ranks are narrower for ways whose losses turn more sharply than weights do."""

PRICES = (-60.0, 300.0)
"""Logarithms of a price below which a loss is linear in it, and above which nothing is lost."""

LOWEST_WEIGHT = -30.0
"""Logarithm of the weight, over that at the edge of the capacity, below which pulls in training are alike."""

REACH = 23.0
"""Logarithm of ``alpha_c`` over the least x that training looks at: next to nothing lies below."""


# --- without an end of facts --------------------------------------------------------------------------------


def keep_constant(s: float, r: float) -> float:
    """The constant of learning the most frequent facts and leaving the rest to chance.

    Parameters
    ----------
    s : float
        Exponent of the law of Zipf, in [1.01, 20].
    r : float
        Tail fraction in [1e-4, 1 - 1e-4].

    Returns
    -------
    float
        ``alpha_c^(1 - s) Phi(kappa) / (s - 1)``.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    _require_law(s, r)
    return float(critical_load(r) ** (1 - s) / (s - 1) * special.ndtr(tail_mean(r)))


def hebb_constant(s: float, r: float) -> float:
    """The constant of outer products with the best weights.

    Parameters
    ----------
    s, r : float
        As in `keep_constant`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    _require_law(s, r)
    return _outer_products(float(r)).constant(s)


def lowest_constant(s: float, r: float) -> float:
    """The constant below which no memory comes in replica symmetry, which is not proved.

    Parameters
    ----------
    s, r : float
        As in `keep_constant`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    _require_law(s, r)
    return _Fewest(float(tail_mean(r))).constant(s)


def convex_constant(s: float, r: float) -> float:
    """The constant of the best convex losses, one for each rank.

    Parameters
    ----------
    s, r : float
        As in `keep_constant`.

    Returns
    -------
    float
        A little below that of keeping the most frequent: those that are learnt in full are as good as that,
        and the others are pulled up a little.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    _require_law(s, r)
    return _Convex(float(tail_mean(r))).constant(s)


def trained_constant(s: float, r: float, *, beta: float, gamma: float = 1.0, smoothed: bool = False) -> float:
    """The constant of training with the weights ``p^gamma`` as the ridge goes to zero.

    Parameters
    ----------
    s, r : float
        As in `keep_constant`.
    beta : float
        Inverse smoothing width in [1e-3, 1e6]; with no end of facts the norm is of order one, and it matters.
    gamma : float
        Power to which frequencies are raised, such that ``s gamma`` is in [1.01, 15].
    smoothed : bool
        Whether a signal has to be above the smoothed average, that in the loss, which is larger than the
        average of the best competitors itself.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    _require_law(s, r)
    require_number("beta", beta, *RANGES["beta"], ends="[]")
    require_number("gamma", gamma, 0)
    least, most = POWERS
    require(least <= s * gamma <= most, "gamma", gamma, f"such that s gamma is in [{least:g}, {most:g}]")
    require_flag("smoothed", smoothed)
    exponent = float(s) * float(gamma)
    nu, chi, c = _trained(exponent, float(r), float(beta))
    places, counts, weights = _places(exponent, float(r))
    lost = _lost(nu, chi, c, weights, float(r), bool(smoothed))
    last = _last_place(exponent, r)
    beyond = special.ndtr(c / nu) if smoothed else special.ndtr(tail_mean(r))
    return float((places**-s * lost) @ counts + beyond * last ** (1 - s) / (s - 1))


def trained_reach(exponent: float, r: float, *, beta: float) -> float:
    """How far the pull of a fact reaches in training with no end of facts: the one number of who is kept.

    Parameters
    ----------
    exponent : float
        ``s gamma``, the exponent of the weights, in [1.01, 15].
    r : float
        As in `keep_constant`.
    beta : float
        As in `trained_constant`.

    Returns
    -------
    float
        The g such that the fact of rank ``x d^2`` is above the average of its best competitors with the
        probability ``Phi(g x^-exponent - kappa)``.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("exponent", exponent, *POWERS, ends="[]")
    require_number("r", r, *FRACTIONS, ends="[]")
    require_number("beta", beta, *RANGES["beta"], ends="[]")
    nu, chi, c = _trained(float(exponent), float(r), float(beta))
    pull = special.expit(c - float(tail_mean(r)) * nu)
    return float(chi * pull / nu * critical_load(r) ** float(exponent))


@lru_cache(maxsize=64)
def _trained(exponent, r, beta):
    """The two numbers and the tail average of training with no end of facts."""
    _, counts, weights = _places(exponent, r)
    # beyond the last place all pulls are the same, and one weight stands for the rest, with its two sums
    low, last = LOWEST_WEIGHT, _last_place(exponent, r)
    first = last * math.exp(low) / (exponent - 1)
    second = last * math.exp(2 * low) / (2 * exponent - 1)
    weights = np.append(weights, second / first)
    counts = np.append(counts, first**2 / second)
    return saddle_of_sums(weights, counts, r, beta=beta, ridge=0.0)[:3]


def _last_place(exponent, r):
    """The place up to which training looks at facts one by one."""
    return float(critical_load(r)) * math.exp(-LOWEST_WEIGHT / exponent)


@lru_cache(maxsize=16)
def _places(exponent, r):
    """Places x, how much of the line each stands for, and their weights, ``(x / alpha_c)^-exponent``."""
    top = REACH * exponent
    edges = [LOWEST_WEIGHT]
    while edges[-1] < top:  # where weights are large, margins change with their logarithm alone, and slowly
        edges.append(edges[-1] + 4 * PANEL * max(1.0, min(edges[-1] / 8, exponent)))
    edges = np.array(edges)
    half = 0.5 * np.diff(edges)[:, None]
    logs = (edges[:-1, None] + half * (1 + NODES)).ravel()
    places = float(critical_load(r)) * np.exp(-logs / exponent)
    return places, places / exponent * (half * WEIGHTS).ravel(), np.exp(logs)


def _lost(nu, chi, c, weights, r, smoothed):
    """Share of the facts of given weights that are lost in training."""
    level = 0.0 if smoothed else float(tail_mean(r)) * nu - c
    return special.ndtr((level + c - chi * weights * special.expit(-level)) / nu)


# --- some facts ---------------------------------------------------------------------------------------------


def keep_error(n: float, d: float, s: float, r: float) -> float:
    """Share of wrong answers when the most frequent facts are learnt and the rest is left to chance.

    Parameters
    ----------
    n : float
        Number of facts, a whole number in [1, 1e15].
    d : float
        Dimension in [2, 1e9].
    s : float
        Exponent of the law of Zipf, in [0.1, 20].
    r : float
        As in `keep_constant`.

    Returns
    -------
    float
        0 where ``alpha_c d^2`` is n or more; part of a fact counts as such.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    law = _law(n, d, s, r)
    held = float(critical_load(r)) * float(d) ** 2
    return law.beyond(held) * float(special.ndtr(tail_mean(r)))


def hebb_error(n: float, d: float, s: float, r: float) -> float:
    """Share of wrong answers of outer products with the best weights.

    Parameters
    ----------
    n, d, s, r : float
        As in `keep_error`.

    Returns
    -------
    float
        With corrections of order 1/d, by which signals scatter.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    law = _law(n, d, s, r)
    return _outer_products(float(r)).error(law, float(d))


def hebb_weights(n: int, d: float, s: float, r: float) -> np.ndarray:
    """The best weights of outer products, fact by fact, with mean square one.

    Parameters
    ----------
    n : int
        Number of facts, in [1, 1e8].
    d, s, r : float
        As in `keep_error`.

    Returns
    -------
    ndarray, shape (n,)
        Decreasing.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_integer("n", n, 1)
    require(n <= MOST_LISTED, "n", n, f"at most {MOST_LISTED:g}")
    law = _law(n, d, s, r)
    way = _outer_products(float(r))
    t = way.strength(law.log_first - s * np.log(np.arange(1, n + 1)) - way.log_price(law, float(d)))
    return t / math.sqrt(np.mean(t**2))


def lowest_error(n: float, d: float, s: float, r: float) -> float:
    """Share of wrong answers below which no memory comes in replica symmetry, which is not proved.

    Parameters
    ----------
    n, d, s, r : float
        As in `keep_error`.

    Returns
    -------
    float
        0 where ``alpha_c d^2`` is n or more.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    law = _law(n, d, s, r)
    return _Fewest(float(tail_mean(r))).error(law, float(d))


def convex_error(n: float, d: float, s: float, r: float) -> float:
    """Share of wrong answers of the best convex losses, one for each rank.

    Parameters
    ----------
    n, d, s, r : float
        As in `keep_error`.

    Returns
    -------
    float
        0 where ``alpha_c d^2`` is n or more.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    law = _law(n, d, s, r)
    return _Convex(float(tail_mean(r))).error(law, float(d))


def trained_error(
    n: float,
    d: float,
    s: float,
    r: float,
    *,
    beta: float,
    gamma: float = 1.0,
    ridge: float = 0.0,
    smoothed: bool = False,
) -> float:
    """Share of wrong answers after training with the weights ``p^gamma``.

    Parameters
    ----------
    n, d, s, r : float
        As in `keep_error`.
    beta : float
        Inverse smoothing width in [1e-3, 1e6].
    gamma : float
        Power to which frequencies are raised, such that ``s gamma`` is in [0, 50].
    ridge : float
        Of the mean loss, whose weights have mean one; in [1e-16, 1e3], or 0 above the critical load.
    smoothed : bool
        As in `trained_constant`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    _law(n, d, s, r)
    require_number("beta", beta, *RANGES["beta"], ends="[]")
    require_number("gamma", gamma, 0, ends="[)")
    require(s * gamma <= 50, "gamma", gamma, "such that s gamma is at most 50")
    require_number("ridge", ridge, 0, RANGES["ridge"][1], ends="[]")
    require_flag("smoothed", smoothed)
    load, least, critical = n / d**2, RANGES["ridge"][0], float(critical_load(r))
    allowed = f"at least {least:g}, or 0 above the critical load {critical:.6g}, where n / d^2 is {load:.6g}"
    require(ridge >= least or (ridge == 0 and load > critical * (1 + 1e-12)), "ridge", ridge, allowed)
    exponent = float(s) * float(gamma)
    ranks, counts = rank_nodes(n, max(exponent, float(s)))
    weights = np.maximum(ranks**-exponent, 1e-300)
    weights = weights * (counts.sum() / (counts @ weights))
    shares = ranks ** -float(s)
    shares = shares / (counts @ shares)
    nu, chi, c = saddle_of_sums(weights, counts / d**2, r, beta=beta, ridge=load * ridge)[:3]
    return float((counts * shares) @ _lost(nu, chi, c, weights, float(r), bool(smoothed)))


def _law(n, d, s, r):
    """The law of Zipf of some facts, where all parameters are in their ranges."""
    require_number("d", d, *DIMENSIONS, ends="[]")
    require_number("s", s, LEAST_EXPONENT, EXPONENTS[1], ends="[]")
    require_number("r", r, *FRACTIONS, ends="[]")
    rank_nodes(n, s)
    return _Zipf(float(n), float(s))


class _Zipf:
    """The law of Zipf of n facts: sums over ranks, cut where something jumps."""

    def __init__(self, n, s):
        self.n, self.s, self.bend = n, s, min(FINER * s, 50.0)
        ranks, counts = rank_nodes(n, self.bend)
        self.log_first = -math.log(counts @ ranks**-s)  # of how often the first fact is asked

    def parts(self, cut):
        """Ranks up to a number that need not be whole and beyond, each with their counts."""
        whole = float(min(max(math.floor(cut), 0), self.n))
        part = min(max(cut - whole, 0.0), 1.0) if whole < self.n else 0.0
        none = np.empty(0), np.empty(0)
        below = rank_nodes(whole, self.bend) if whole else none
        above = rank_nodes(self.n, self.bend, first=whole + 1) if whole < self.n else none
        if part:  # of one fact, which is counted on both sides
            below = np.append(below[0], whole + 1), np.append(below[1], part)
            above = np.append(above[0], whole + 1), np.append(above[1], -part)
        return below, above

    def beyond(self, cut):
        """Share of the questions for facts of a rank above a number."""
        ranks, counts = self.parts(cut)[1]
        return float(counts @ np.exp(self.log_first - self.s * np.log(ranks)))


def first_place_hebb_error(n: float, d: float, s: float) -> float:
    """Share of wrong answers at the first place among n targets, outer products with the best weights.

    Parameters
    ----------
    n : float
        Number of facts, each with its target: a whole number in [2, 1e12].
    d, s : float
        As in `keep_error`.

    Returns
    -------
    float
        For signals and competitors that are normal and independent, which leaves out corrections of order
        1/d. Facts that the best weights leave out are answered by chance.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("n", n, 2, LARGEST_N, ends="[]")
    law = _law(n, d, s, 0.5)
    return _first_place(float(n)).error(law, float(d))


def first_place_keep_error(n: float, d: float, s: float) -> float:
    """Share of wrong answers at the first place of a memory of the most frequent facts, as many as fit.

    Parameters
    ----------
    n, d, s : float
        As in `first_place_hebb_error`.

    Returns
    -------
    float
        0 where all fit; the others are right by chance, once in n times.

    Raises
    ------
    ValueError
        For a parameter out of range.
    """
    require_number("n", n, 2, LARGEST_N, ends="[]")
    law = _law(n, d, s, 0.5)
    return law.beyond(facts_that_fit(float(d), float(d), float(n))) * (1 - 1 / float(n))


@lru_cache(maxsize=16)
def _first_place(n):
    """Outer products against the largest of the other targets' scores."""
    log_e = np.arange(-24.0, 4.0, 0.4)  # the largest of m has Phi^m = e^-E with an exponential E
    weights = np.exp(log_e - np.exp(log_e))
    share = np.exp(log_e) / (n - 1)
    levels = np.where(
        share < 0.5, -special.ndtri(-np.expm1(-np.minimum(share, 0.5))), special.ndtri(np.exp(-share))
    )
    return _Hebb(levels, weights / weights.sum())


# --- ways to spend on facts ---------------------------------------------------------------------------------


class _Way:
    """How much a fact gets and how often it is lost, by the logarithm of its price.

    The price of a fact is how often it is asked over a multiplier, which is such that costs add up to
    ``d^2``. A way says `cost` and `lost` at prices, and at which price they jump, if at any.
    """

    jump: float | None = None

    def cost(self, logs):
        """What is spent on a fact."""
        raise NotImplementedError

    def lost(self, logs):
        """How often it is lost all the same."""
        raise NotImplementedError

    def constant(self, s):
        """The constant with no end of facts: ``N^(s - 1) I``, with ``x = price^(-1/s)`` up to a unit."""
        low, high = PRICES
        edges = np.arange(low, high + PANEL, PANEL)
        if self.jump is not None:
            edges = np.unique([*edges, self.jump])
        half = 0.5 * np.diff(edges)[:, None]
        logs = (edges[:-1, None] + half * (1 + NODES)).ravel()
        length = np.exp(-logs / s) / s * (half * WEIGHTS).ravel()
        spent = self.cost(logs) @ length
        # log of the sum, since a price may be e^300; beyond the lowest price the loss is that of chance
        missed = np.exp(logs + np.log(np.maximum(self.lost(logs), 1e-300))) @ length
        missed += self.lost(np.array([low]))[0] * math.exp(low * (1 - 1 / s)) / (s - 1)
        spent += self.cost(np.array([high]))[0] * math.exp(-high / s)
        return float(spent ** (s - 1) * missed)

    def sums(self, law, log_price):
        """Total cost over facts, and share of wrong answers, cut at the rank of the jump."""
        jump, cut = self.jump, 0.0
        if jump is not None:
            cut = math.exp(min((law.log_first - log_price - jump) / law.s, 700.0))
        below, above = law.parts(cut)
        spent = missed = 0.0
        for (ranks, counts), upper in ((below, True), (above, False)):
            if len(ranks):
                logs = law.log_first - law.s * np.log(ranks)
                prices = logs - log_price
                if jump is not None:  # rounding, and a part of a fact, must not end up on the other side
                    prices = (
                        np.maximum(prices, jump) if upper else np.minimum(prices, np.nextafter(jump, -1e9))
                    )
                spent += counts @ self.cost(prices)
                missed += (counts * np.exp(logs)) @ self.lost(prices)
        return float(spent), float(missed)

    def log_price(self, law, d):
        """Logarithm of the multiplier at which costs add up to ``d^2``."""

        def surplus(log_price):
            return math.log(max(self.sums(law, log_price)[0], 1e-300)) - 2 * math.log(d)

        low = high = law.log_first
        while surplus(high) > 0:
            high += 5.0
        while surplus(low) < 0:
            low -= 5.0
            if low < law.log_first - law.s * math.log(law.n) - PRICES[1]:  # there is enough for everything
                return low
        return float(optimize.brentq(surplus, low, high, xtol=1e-11, rtol=1e-12))

    def error(self, law, d):
        """Share of wrong answers of some facts."""
        return self.sums(law, self.log_price(law, d))[1]


class _Hebb(_Way):
    """Outer products against levels, each with its share: ``p sum w phi(level - t) = lambda t``."""

    def __init__(self, levels, weights):
        self.levels, self.weights = levels, weights
        # where the price that a strength is best for has its extremes, if it has any
        t = np.linspace(1e-3, float(levels.max()) + 10, 2000)
        slope = self._log_price_slope(t)
        turns = [
            optimize.brentq(lambda t: float(self._log_price_slope(np.array([t]))[0]), *t[k : k + 2])
            for k in np.flatnonzero(slope[1:] * slope[:-1] < 0)
        ]
        self.turns = turns if len(turns) == 2 else None
        if self.turns:
            top, bottom = (float(self._log_price(np.array([t]))[0]) for t in turns)

            def gain(log_price):
                least, most = (self._branch(np.array([log_price]), k) for k in (0, 1))
                value = [math.exp(log_price) * self._missed(t)[0] + 0.5 * t[0] ** 2 for t in (least, most)]
                return value[0] - value[1]

            self.jump = optimize.brentq(gain, bottom + 1e-12, top - 1e-12, xtol=1e-14)

    def _missed(self, t):
        return special.ndtr(self.levels - t[:, None]) @ self.weights

    def _log_price(self, t):
        z = self.levels - t[:, None]
        logs = special.logsumexp(-0.5 * z**2, b=self.weights, axis=1)
        return np.log(t) + 0.5 * math.log(2 * math.pi) - logs

    def _log_price_slope(self, t):
        z = self.levels - t[:, None]
        logs = -0.5 * z**2
        rates = np.exp(logs - logs.max(axis=1, keepdims=True)) * self.weights
        return 1 / t - (rates * z).sum(axis=1) / rates.sum(axis=1)

    def _branch(self, logs, k):
        """The strength that a price leads to, on one side of the turns."""
        low, high = -120.0, math.log(float(self.levels.max()) + 60)
        if self.turns:
            low, high = (low, math.log(self.turns[0])) if k == 0 else (math.log(self.turns[1]), high)
        low, high = np.full(logs.shape, low), np.full(logs.shape, high)
        top = float(self.levels @ self.weights)
        # where the price is low, and where it is high
        small = logs - float(self._log_price(np.array([1e-9]))[0] - math.log(1e-9))
        large = np.log(top + np.sqrt(2 * np.maximum(logs, 0.5)))
        v = np.clip(np.minimum(small, large), low, high)

        def equation(t):
            slope = t * self._log_price_slope(t)
            return self._log_price(t) - logs, np.where(slope > 1e-3, slope, np.nan)

        return _root(equation, v, low, high)

    def strength(self, logs):
        """The best signal of a fact, over the spread of crosstalk."""
        if not self.turns:
            return self._branch(logs, 0)
        return np.where(logs < self.jump, self._branch(logs, 0), self._branch(logs, 1))

    def cost(self, logs):
        return self.strength(logs) ** 2

    def lost(self, logs):
        return self._missed(self.strength(logs))


@lru_cache(maxsize=16)
def _outer_products(r):
    """Outer products against the average of the best competitors."""
    return _Hebb(np.array([float(tail_mean(r))]), np.ones(1))


def _root(equation, v, low, high):
    """Where increasing functions of ``t = e^v`` are zero, by Newton's method in v between two bounds.

    `equation` gives the values at t and the slopes in v, which are nan where a half is the better step.
    """
    for _ in range(200):
        miss, slope = equation(np.exp(v))
        low, high = np.where(miss < 0, v, low), np.where(miss < 0, high, v)
        following = v - miss / slope
        inside = (following >= low) & (following <= high)  # not where it is nan
        following = np.where(inside, following, 0.5 * (low + high))
        moved, v = np.abs(following - v), following
        if np.all(moved <= 1e-12 * np.maximum(1, np.abs(v))):
            break
    return np.exp(v)


def _pulled(kappa, h):
    """Mean square of ``min((kappa - G)_+, h)`` over the keys that are not further away than h."""
    top = np.minimum(h, kappa + 14.0)
    panels = 8
    x = (np.arange(panels)[:, None] + 0.5 * (1 + NODES)).ravel() / panels
    z = top[:, None] * x
    return (z**2 * _density(kappa - z)) @ np.tile(WEIGHTS / (2 * panels), panels) * top


class _Fewest(_Way):
    """A fact is pulled up to its level if that takes no more than the root of its price."""

    def __init__(self, kappa):
        self.kappa = kappa

    def cost(self, logs):
        return _pulled(self.kappa, np.exp(0.5 * logs))

    def lost(self, logs):
        return special.ndtr(self.kappa - np.exp(0.5 * logs))


class _Convex(_Way):
    """A fact is pulled up to its level, or by at most an h.

    Its price is ``2 h Phi(kappa - h) / phi(kappa - h)``.
    """

    def __init__(self, kappa):
        self.kappa, self.full = kappa, float(hinge_moments(kappa)[1])
        peak = optimize.minimize_scalar(
            lambda h: -self._price(h), bounds=(1e-9, kappa + 10), method="bounded", options={"xatol": 1e-12}
        ).x

        def gain(h):
            h = np.array([h])
            spent = _pulled(kappa, h) + h**2 * special.ndtr(kappa - h)
            return float((self._price(h) * special.ndtr(kappa - h) + spent)[0] - self.full)

        self.last = optimize.brentq(gain, 1e-12, peak)
        self.jump = math.log(self._price(self.last))

    def _price(self, h):
        z = self.kappa - h
        return 2 * h * np.exp(special.log_ndtr(z) + 0.5 * z**2) * math.sqrt(2 * math.pi)

    def _way(self, logs):
        """The most that a fact of a price below the jump is pulled up."""
        soft = np.minimum(logs, self.jump)
        low, high = np.full(soft.shape, -200.0), np.full(soft.shape, math.log(self.last) + 1e-12)
        v = np.minimum(soft - math.log(self._price(1e-9) / 1e-9), high)

        def equation(h):
            z = self.kappa - h
            ratio = np.exp(special.log_ndtr(z) + 0.5 * z**2) * math.sqrt(2 * math.pi)
            return np.log(self._price(h)) - soft, 1 - h * (z + 1 / ratio)

        return _root(equation, v, low, high)

    def cost(self, logs):
        h = self._way(logs)
        soft = _pulled(self.kappa, h) + h**2 * special.ndtr(self.kappa - h)
        return np.where(logs < self.jump, soft, self.full)

    def lost(self, logs):
        return np.where(logs < self.jump, special.ndtr(self.kappa - self._way(logs)), 0.0)


def _require_law(s, r):
    """Check the exponent of a law without an end, and a tail fraction."""
    require_number("s", s, *EXPONENTS, ends="[]")
    require_number("r", r, *FRACTIONS, ends="[]")
