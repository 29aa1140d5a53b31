"""Ridge-regularised minimisers of the list loss, with a proof of optimality (not in the paper).

The objective is ``F(W) = mean log(1 + exp(-m_i)) + ridge / (2 d^2) |W|_F^2`` with the margins of
`assocmem.training.list_loss`; of facts, the number of entries of W replaces d^2. SciPy's L-BFGS-B goes down,
with our passes, and a duality gap of ours alone says when it is done.

**The gap.** The margins are minima, ``m_i(W) = min <(u_i - q e_i / sqrt(d)) v_i', W>`` over e_i in the unit
ball, and ``log(1 + exp(-m)) = max_a (h(a) - a m)`` over a in [0, 1], with the entropy ``h(a) = -a log a -
(1 - a) log(1 - a)``. So with ``c = ridge / d^2`` and ``G = mean a_i (u_i - q e_i / sqrt(d)) v_i'``, every
choice of the a_i and e_i has, for every W,

    F(W) >= mean h(a_i) - <G, W> + c |W|^2 / 2 >= mean h(a_i) - |G|^2 / (2 c),

a lower bound on the minimum. With ``a_i = sigma(-m_i)`` and ``e_i`` along ``W v_i``, or any e_i where that is
zero, ``h(a_i) - a_i m_i`` is the loss of key i and ``mean a_i m_i = <G, W>``. Then the bound is
``F(W) - |c W - G|^2 / (2 c)``, and ``c W - G`` is the gradient that a pass returns, with the ridge. The gap
is therefore the squared gradient over 2 c. Strong convexity with the modulus c gives the same for any
subgradient, so the gap is a bound at kinks as well.

Where facts have weights p_i with mean one, all means are those with weights, and ``G = mean p_i a_i (u_i - q
e_i / sqrt(d)) v_i'``; nothing else changes, here or below, where sums are those with weights.

**No memory at all.** At W = 0 all ``a_i = 1/2``, and W = 0 is the minimiser exactly if
``sum (u_i - q e_i / sqrt(d)) v_i' = 0`` for some e_i in the unit ball (proved above: the gap is zero then).
Least squares gives ``e_i = sqrt(d) X v_i / q`` with X the least-squares memory, if none of these is too long.
For random pairs their lengths are near ``1 / (q sqrt(load))``, so that beyond the load ``1 / q^2`` a memory
pays more for its spreads than its signals bring (derived, and seen; at smaller loads the least-squares memory
itself lowers the loss). Where some e_i are too long, they are cut to the ball and projected to the linear
equation in turn. L-BFGS-B would go towards this kink for ever, so that it is looked at first, unless a memory
to start from is given.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import expit

from assocmem.checks import require, require_callable, require_integer, require_number
from assocmem.machine import memory_shortage
from assocmem.pairs.data import Facts, Pairs, require_facts, times_weights
from assocmem.pairs.scores import require_memory_matrix
from assocmem.pairs.sizes import RUNTIME_BYTES
from assocmem.progress import status_line
from assocmem.training.list_loss import BLOCK_ENTRIES, ListPass, list_level, list_pass

SMALLEST_RIDGE = 1e-300
"""Ridge over d^2 that can still be divided by: below 1e-308 numbers lose their digits."""

LARGEST_SCORE = 1e60
"""Product of the lengths of a target and a key up to which squares of scores stay finite; one over it is the
least product of the largest lengths at which they do not vanish."""

CORRECTIONS = 30
"""Steps that L-BFGS-B remembers; near the transition a quarter fewer passes than with ten. By trial."""

PROJECTIONS = 200
"""Rounds in which unit vectors are looked for that make no memory the best one; by trial."""

SCALINGS = 200
"""Bisections for the size of the first memory, over all sizes that a float can have."""


@dataclass(frozen=True)
class ListFit:
    """A minimiser of the list loss with a ridge, and how far from the optimum it can be.

    Attributes
    ----------
    W : Tensor, shape (d_out, d_in), float64
    margins : Tensor, shape (n,)
        Signals less q spreads.
    loss, objective : float
        Mean loss of a key, by the weights of the facts where there are any, without and with the ridge.
    nu : float
        ``|W|_F / d``, or over the square root of the number of entries.
    gap : float
        Upper bound on ``(objective - optimum) / objective``: the duality gap relative to the objective.
    converged : bool
        Whether the gap is at most the tolerance.
    passes : int
        Passes over the vectors.
    """

    W: torch.Tensor
    margins: torch.Tensor
    loss: float
    objective: float
    nu: float
    gap: float
    converged: bool
    passes: int


def fit_list(
    pairs: Pairs | Facts,
    r: float,
    *,
    ridge: float,
    tol: float = 1e-6,
    max_passes: int = 2000,
    W0: torch.Tensor | None = None,
    until: Callable[[torch.Tensor, ListPass], bool] | None = None,
) -> ListFit:
    """Minimise ``mean log(1 + exp(-m_i)) + ridge / (2 d^2) |W|_F^2`` over all memories W.

    Parameters
    ----------
    pairs : Pairs or Facts
        On any device; passes are taken there, and steps on the processor. Where facts have weights, the mean
        is that with weights.
    r : float
        Share of the list, in (0, 1/2].
    ridge : float
        Positive.
    tol : float
        Relative gap to reach, positive.
    max_passes : int
        Passes over the vectors after which to give up.
    W0 : Tensor, shape (d_out, d_in), optional
        A memory near the minimiser. By default the least-squares memory at its best size.
    until : callable, optional
        Called with the memory and the pass after every pass; the fit ends with this memory where it says yes.

    Returns
    -------
    ListFit
        ``converged`` is true only if the gap is at most ``tol``.

    Raises
    ------
    ValueError
        For a parameter out of range, a ``W0`` that does not fit, pairs for which there is not enough memory,
        or pairs so long, or so short, that squares overflow or vanish.
    """
    require_facts(pairs)
    q = list_level(r)
    require_number("ridge", ridge, 0)
    require(ridge / pairs.entries > SMALLEST_RIDGE, "ridge", ridge, f"> {SMALLEST_RIDGE:g} d^2")
    require_number("tol", tol, 0)
    require_integer("max_passes", max_passes, 1)
    if W0 is not None:
        require_memory_matrix(pairs, W0, "W0")
        W0 = W0.detach().double()
    if until is not None:
        require_callable("until", until)
    if pairs.U.device.type == "cpu":
        sizes = {} if isinstance(pairs, Pairs) else {"m": pairs.m, "d_out": pairs.d_out}
        shortage = memory_shortage(lambda n: list_fit_bytes(n, pairs.d_in, **sizes), pairs.n)
        require(not shortage, "pairs", f"{pairs.n} pairs", f"fewer, since {shortage}")
    _require_usual_lengths(pairs)
    pairs = pairs.with_vectors(pairs.U.double(), pairs.V.double())
    with status_line() as show:
        descent = _Descent(pairs, r, ridge, tol, max_passes, until, show)
        try:
            if W0 is None:
                least_squares = _least_squares(pairs)
                descent.start_at_zero(least_squares, q)
                W0 = descent.sized(least_squares)
            descent.go(W0)
        except _Done:
            pass
    done, nu = descent.best, float(descent.W.norm()) / math.sqrt(pairs.entries)
    gap, objective = descent.gap, descent.objective
    return ListFit(descent.W, done.margins, done.loss, objective, nu, gap, gap <= tol, descent.passes)


def list_fit_bytes(n: int, d: int, *, m: int | None = None, d_out: int | None = None) -> int:
    """Bytes that a fit of the list loss takes at its peak.

    Parameters
    ----------
    n, d : int
        Number and dimension of the keys.
    m, d_out : int, optional
        Of the targets, where they are others.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For a size that is no positive integer.
    """
    m, d_out = n if m is None else m, d if d_out is None else d_out
    for name, size in (("n", n), ("d", d), ("m", m), ("d_out", d_out)):
        require_integer(name, size, 1)
    n, d, m, d_out = int(n), int(d), int(m), int(d_out)
    vectors = 2 * (n * d + m * d_out)  # as they are, and in double precision
    steps = (2 * CORRECTIONS + 20) * d * d_out
    return RUNTIME_BYTES + 8 * (vectors + steps + 8 * n + n * d_out + 8 * max(BLOCK_ENTRIES, d + d_out))


def _require_usual_lengths(pairs: Pairs | Facts) -> None:
    """Check that vectors are neither so long nor so short that squares of scores overflow or vanish."""
    lengths = [
        float(torch.linalg.vector_norm(X, dim=0, dtype=torch.float64).max()) for X in (pairs.U, pairs.V)
    ]
    product, longest = math.prod(lengths), " and ".join(f"{length:.2g}" for length in lengths)
    usual = product == 0 or 1 / LARGEST_SCORE <= product <= LARGEST_SCORE
    allowed = f"with products from {1 / LARGEST_SCORE:g} to {LARGEST_SCORE:g}"
    require(usual, "pairs", f"lengths of up to {longest}", allowed)


def _gram_inverse(pairs: Pairs | Facts) -> torch.Tensor:
    """Inverse of ``sum p_i v_i v_i'``, or what replaces it where keys lie in a subspace."""
    return torch.linalg.pinv(times_weights(pairs, pairs.V) @ pairs.V.T, hermitian=True)


def _least_squares(pairs: Pairs | Facts) -> torch.Tensor:
    """The memory of least squares, ``sum p_i u_i v_i' (sum p_i v_i v_i')^-1``."""
    return (times_weights(pairs, pairs.answered()) @ pairs.V.T) @ _gram_inverse(pairs)


class _Done(Exception):
    """The gap is small enough, or no passes are left."""


class _Descent:
    """The passes of a fit, the best memory so far, and the way down."""

    def __init__(self, pairs, r, ridge, tol, max_passes, until, show):
        self.pairs, self.r, self.tol, self.max_passes = pairs, r, tol, max_passes
        self.until, self.show = until, show
        self.c = ridge / pairs.entries
        self.passes = 0
        self.gap = self.objective = math.inf

    def visit(self, W: torch.Tensor) -> tuple[float, torch.Tensor]:
        """Objective and gradient at a memory; ends the search if this one will do."""
        done = list_pass(self.pairs, self.r, W, features=False)
        self.passes += 1
        gradient = done.gradient + self.c * W
        objective = done.loss + 0.5 * self.c * float((W * W).sum())
        gap = float((gradient * gradient).sum()) / (2 * self.c) / objective if objective else math.inf
        finite = math.isfinite(objective) and not math.isnan(gap)
        require(finite, "pairs", f"an objective of {objective:.0e}", "of lengths at which none overflows")
        if self.until is not None and self.until(W, done):
            self.W, self.best, self.objective, self.gap = W, done, objective, gap
            raise _Done
        self.keep(W, done, objective, gap)
        return objective, gradient

    def keep(self, W: torch.Tensor, done: ListPass, objective: float, gap: float) -> None:
        """Remember the memory of the smallest gap; ends the search if this one will do."""
        if gap < self.gap or self.passes == 1:
            self.W, self.best, self.objective, self.gap = W, done, objective, gap
        self.show(f"fit_list: gap {self.gap:.1e}, pass {self.passes}")
        if self.gap <= self.tol or self.passes >= self.max_passes:
            raise _Done

    def start_at_zero(self, least_squares: torch.Tensor, q: float) -> None:
        """Look at no memory at all: in general, and with better unit vectors where it may be the best."""
        zero = torch.zeros_like(least_squares)
        self.visit(zero)
        first = list_pass(self.pairs, self.r, least_squares, features=False)
        self.passes += 1
        if q == 0 or float(times_weights(self.pairs, first.margins).mean()) > 0:
            return  # a memory this way lowers the loss
        targets, V, size = self.pairs.answered(), self.pairs.V, math.sqrt(self.pairs.d_out) / q
        inverse, E = _gram_inverse(self.pairs), size * (least_squares @ V)
        for _ in range(PROJECTIONS):
            E = E / torch.linalg.vector_norm(E, dim=0).clamp(min=1)
            left = times_weights(self.pairs, targets - E / size) @ V.T
            G = 0.5 * left / self.pairs.n
            self.passes += 1
            gap = float((G * G).sum()) / (2 * self.c) / math.log(2)
            self.keep(zero, self.best, self.objective, gap)
            E = E + size * (left @ inverse) @ V

    def sized(self, W: torch.Tensor) -> torch.Tensor:
        """A memory made as large as is best for the objective; margins grow in proportion."""
        length = float(W.norm())
        if length == 0:
            return W
        W = W / length
        margins = list_pass(self.pairs, self.r, W, features=False).margins
        self.passes += 1
        m, low, high = margins.cpu().numpy(), -150.0, 150.0
        pulls = times_weights(self.pairs, margins).cpu().numpy()
        for _ in range(SCALINGS):
            power = 0.5 * (low + high)
            size = 10.0**power
            falling = self.c * size < float((pulls * expit(-size * m)).mean())
            low, high = (power, high) if falling else (low, power)
        if low == -150.0:  # no size is better than none, though another direction may be
            size = 0.01 / max(float(np.abs(m).mean()), 1 / LARGEST_SCORE)
        return W * size

    def go(self, W: torch.Tensor) -> None:
        """Go down from a memory, anew where L-BFGS-B ends by itself and something was gained."""
        shape, device = W.shape, W.device
        while True:
            before, unit = self.objective, float(W.norm()) / math.sqrt(W.numel()) or 1.0
            scale, _ = self.visit(W)

            def value(x, unit=unit, scale=scale):
                at = torch.from_numpy(x.reshape(shape)).to(device) * unit
                objective, gradient = self.visit(at)
                return objective / scale, (gradient * (unit / scale)).cpu().numpy().reshape(-1)

            limits = {"maxiter": 10**9, "maxfun": 10**9, "ftol": 0, "gtol": 0, "maxcor": CORRECTIONS}
            x = (W / unit).cpu().numpy().reshape(-1)
            minimize(value, x, jac=True, method="L-BFGS-B", options=limits)
            if not self.objective < before:
                return
            W = self.W
