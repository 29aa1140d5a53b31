"""A memory that retrieves, or weights above a floor that cancel, in passes over the scores alone.

The loss is tilted: from the summed loss of the keys, ``floor`` times the sum of all comparisons
``<A_ij, W>`` is taken off. Its gradient is minus ``sum lam_ij A_ij`` for the weights

    lam_ij = derivative of the loss in the score of competitor j of key i, plus ``floor``.

Where no memory retrieves, and the floor is low enough, there is a minimum, and there the weights cancel. What
a search leaves uncancelled is taken out of the floor, which varies linearly for that,

    floor (1 + <A_ij, Z>),

by an equation for Z that needs no scores. `assocmem.deciding.certificates.ComputedWeights` are these. Where
some memory retrieves, the tilt drives the search towards it. A floor is too high if the tilt weighs as much
as the loss: cross-entropy less the tilt cannot be negative where weights of this floor cancel, since at such
weights it is at least their entropy.

The search is one of L-BFGS in coordinates in which neither targets nor keys prefer a direction. Everything
that costs anything is a pass, so that time grows as ``m n d`` and memory as the vectors.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from assocmem.deciding.certificates import UNIT, Certificate
from assocmem.memories.conjugate_gradients import conjugate_gradients
from assocmem.pairs.data import Facts, Pairs
from assocmem.training.history import History
from assocmem.training.losses import CrossEntropy, ScoresOverflow, TailAverage
from assocmem.training.passes import Pass, loss_pass

# What a number says about a step or a share was chosen by trial where no other reason is given.

STEPS_REMEMBERED = 80
"""Steps that L-BFGS remembers. Next to the transition 30 take up to four times as many passes."""

FIRST_FLOOR = 0.01
"""Floor to begin with, times the number of competitors: a hundredth of the largest weight a key can have."""
HEAVY = 0.2
"""Share of the loss from which the tilt is too heavy, and the floor is lowered."""
LIGHT = 0.01
"""Share that it has then."""

FIRST_LENGTH = 0.3
"""Length of the first memory over d, or the square root of its entries, along the outer products."""
SHORTEST_STEP = 1e-6
"""Step at which a line search gives up."""
SUFFICIENT = 1e-4
"""Share of the decrease that the slope promises which a step has to reach: the usual value."""
REMAINING = 0.9
"""Share of the slope that may be left where the loss does not resolve the decrease: the usual value."""
ROUNDING = 1e-14
"""Share of the loss that rounding may take or add."""

DEVIATIONS = 4.5
"""Largest change of the floor over the spread that changes have if Z has no preferred direction."""
HOPEFUL = 0.7
"""Share of the room for changes of the floor below which a proof is tried; after each failure half of it."""
HOPELESS = 1e-8
"""The same share below which failures have no other reason than rounding, and the search ends: the change
expected is an average, and the largest may be some powers of ten above it."""
PATIENCE = 100
"""Passes in which the worst margin has to come half way to zero once the floor is too low for a proof."""
EVERYTHING = 1e-30
"""Loss at which margins have long been as large as they get, over the size of the memory."""
CANCELLED = 1e-13
"""Share of the gradient that the equation for Z may leave."""
EQUATION_STEPS = 200
"""Steps of conjugate gradients for that equation at most; whitened vectors need some twenty."""

CANCELLED_ALL = "weights cancel up to what double precision resolves, and neither certificate holds"
"""Why a search gives up that has found weights above a floor, but in numbers that are not exact enough."""


@dataclass(frozen=True)
class State:
    """Where a search stands.

    Attributes
    ----------
    W : Tensor, shape (d_out, d_in)
        The memory.
    floor : float
        Least weight of a comparison.
    passes : int
        Taken so far.
    margin : float
        Smallest margin of a key over ``nu``, as `assocmem.training.fit.Fit` has it; positive where all are
        retrieved.
    excess : float
        Expected change of the floor over the largest allowed; below one a proof is in reach.
    """

    W: torch.Tensor
    floor: float
    passes: int = 0
    margin: float = -math.inf
    excess: float = math.inf


@dataclass(frozen=True)
class End:
    """How a search ended.

    Attributes
    ----------
    certificate : Certificate or None
        Verified by what the search was given for that.
    state : State
    reason : str
        Why there is none.
    """

    certificate: Certificate | None
    state: State
    reason: str = ""


Offer = Callable[..., Certificate | None]
"""Makes a certificate of what a search found, and returns it if it holds."""


class _Tilt:
    """The tilted loss of an instance, with all that does not depend on the memory."""

    def __init__(self, pairs: Pairs | Facts, k: int):
        self.pairs = pairs
        m = pairs.m
        self.loss = CrossEntropy() if k == 1 else TailAverage(r=k / (m - 1), beta=1.0)
        centred = pairs.U - pairs.U.mean(dim=1, keepdim=True)
        self.own, self.grams = centred[:, pairs.answers], (centred @ centred.T, pairs.V @ pairs.V.T)
        self.pull = m * self.own @ pairs.V.T  # sum of all comparisons
        squares = float(centred.square().sum() * pairs.V.square().sum())
        typical = math.sqrt(2 * squares) / math.sqrt(m * pairs.n)
        room = 1.0 if k == 1 else (m - 1 - k) / (m - 1 + k)
        ranks = [max(1, int(X.any(dim=1).sum())) for X in (pairs.U, pairs.V)]
        extent = float(self.grams[0].trace() * self.grams[1].trace()) / math.prod(ranks)
        self.expected = DEVIATIONS * typical / math.sqrt(math.prod(ranks)) / extent / room
        self.rounding = UNIT * typical * self.expected  # of a sum of weights, as a lowest floor

    def at(self, W: torch.Tensor) -> tuple[Pass, torch.Tensor, float]:
        """A pass: what it says, the gradient of the summed loss, and its value."""
        done = loss_pass(self.pairs, self.loss, W)
        return done, done.gradient * self.pairs.n, done.loss * self.pairs.n

    def change_of_floor(self, gradient: torch.Tensor, floor: float) -> torch.Tensor:
        """Z, for which the changes ``floor <A_ij, Z>`` of all weights cancel what a gradient leaves."""
        C, B = self.grams
        U, V, m = self.own, self.pairs.V, self.pairs.m
        # coordinates in which there are no vectors keep Z zero, as the gradient is zero there

        def product(Z):
            return C @ Z @ B + m * (U * torch.linalg.vecdot(U, Z @ V, dim=0)) @ V.T

        solved = conjugate_gradients(product, gradient / floor, tol=CANCELLED, most_steps=EQUATION_STEPS)
        return solved.x


def search(
    pairs: Pairs | Facts,
    k: int,
    begin: State | None,
    *,
    max_passes: int,
    retrieves: Offer,
    impossible: Offer,
    watch: Callable[[State], None],
) -> End:
    """Search for a memory that retrieves, or for weights above a floor that cancel.

    Parameters
    ----------
    pairs : Pairs or Facts
        In double precision and in coordinates in which vectors look alike in all directions.
    k : int
        Each signal has to beat the average of its k best competitors; for k > 1 less than ``m - 1``.
    begin : State or None
        Where to begin; by default with no memory.
    max_passes : int
        After which to give up.
    retrieves : callable
        Takes a memory.
    impossible : callable
        Takes a memory, its pass, a floor and its change Z.
    watch : callable
        Is told the state after every step.

    Returns
    -------
    End
    """
    tilt, size = _Tilt(pairs, k), math.sqrt(pairs.entries)
    state = begin or State(pairs.U.new_zeros(pairs.d_out, pairs.d_in), first_floor(pairs))
    history, hope, clean = History(state.W, STEPS_REMEMBERED), HOPEFUL, True
    patience = _Patience()
    W, floor, passes = state.W, state.floor, state.passes + 1
    done, pulled, loss = tilt.at(W)
    while passes < max_passes:
        gradient, value = pulled - floor * tilt.pull, loss - floor * float((tilt.pull * W).sum())
        direction = -history.times(gradient)
        slope = float((direction * gradient).sum())
        if not -math.inf < slope < 0:
            history.clear()
            direction, slope = -gradient, -float((gradient * gradient).sum())
        if not history.count:
            length = max(float(W.norm()), size) * FIRST_LENGTH / float(gradient.norm())
            direction, slope = direction * length, slope * length
        found, taken = _line_search(tilt, W, direction, value, slope, floor, max_passes - passes)
        passes += taken
        if found is None:
            if clean:
                return End(None, state, "no decrease left that double precision resolves")
            history.clear()
            clean = True
            continue
        clean, before = False, pulled
        W_before, W, (done, pulled, loss) = W, *found
        history.add(W - W_before, pulled - before)
        weight = floor * float((tilt.pull * W).sum())
        gradient = pulled - floor * tilt.pull
        state = State(
            W,
            floor,
            passes,
            float(done.margins.min()) / (float(W.norm()) / size),
            float(gradient.norm()) / floor * tilt.expected,
        )
        watch(state)
        if state.margin > 0:
            certificate = retrieves(W)
            if certificate:
                return End(certificate, state)
        if state.excess <= hope:
            certificate = impossible(W, done, floor, tilt.change_of_floor(gradient, floor))
            if certificate:
                return End(certificate, state)
            hope /= 2
        reason = patience.ends(tilt, state, done, loss, hope)
        if reason:
            return End(None, state, reason)
        if weight > HEAVY * loss:
            floor, hope = LIGHT * loss / weight * floor, HOPEFUL
    return End(None, replace(state, passes=passes), f"undecided after {passes} passes")


def first_floor(pairs: Pairs | Facts) -> float:
    """The floor that a search begins with.

    Parameters
    ----------
    pairs : Pairs or Facts

    Returns
    -------
    float
    """
    return FIRST_FLOOR / (pairs.m - 1)


class _Patience:
    """Tells when a search leads nowhere, since only rounding stands between it and a proof."""

    def __init__(self):
        self.look, self.goal = 0, -math.inf

    def ends(self, tilt, state, done, loss, hope):
        """Why to give up after a step, or nothing."""
        if hope < HOPELESS:
            return CANCELLED_ALL
        if state.margin > 0 and loss < EVERYTHING:
            return "all pairs are retrieved, but too narrowly for double precision"
        comparisons = tilt.pairs.n * (tilt.pairs.m - 1)
        total = float(torch.sigmoid(-done.margins).sum()) + state.floor * comparisons
        if state.floor < total * tilt.rounding and state.passes >= self.look:
            if state.margin < self.goal:
                return "no floor left that double precision resolves, and no margin that rises"
            self.look, self.goal = state.passes + PATIENCE, state.margin / 2
        return ""


def _line_search(tilt, W, direction, value, slope, floor, most):
    """A memory that is lower by enough with its pass, or None, and the passes taken."""
    step, passes = 1.0, 0
    while step > SHORTEST_STEP and passes < most:
        trial = W + step * direction
        passes += 1
        try:
            found = tilt.at(trial)
        except ScoresOverflow:
            step *= 0.1
            continue
        fall = value - (found[2] - floor * float((tilt.pull * trial).sum()))
        if fall >= -SUFFICIENT * step * slope:
            return (trial, found), passes
        if abs(fall) <= ROUNDING * abs(value):  # the slope tells more than the loss now
            left = float((direction * (found[1] - floor * tilt.pull)).sum())
            if abs(left) <= REMAINING * abs(slope):
                return (trial, found), passes
        bend = 2 * (-fall - step * slope)
        step *= min(0.5, max(0.1, -step * slope / bend)) if bend > 0 else 0.5
    return None, passes
