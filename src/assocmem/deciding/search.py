"""Newton's method on the loss of an instance: towards a memory that retrieves it, or weights that cancel.

Near the transition the minimiser is very large; the line search therefore looks at all combinations of the
Newton step, the step before and the memory itself, and scores are all it needs. Weights are taken as soon as
those that the Newton step predicts, which cancel up to rounding, are positive: before the method converges.
It has a loop of its own beside that of `assocmem.training.descent`, since there is no ridge: a minimum need
not exist, so that no duality gap can say when to stop.

At k = 1 the loss is cross-entropy. At k > 1 it is the smoothed tail average, of slightly more than k
competitors, so that weights stay off their upper bound; at k = m - 1, the mean, there is nothing to smooth.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from assocmem.deciding.comparisons import cancellation, tail_margins
from assocmem.deciding.hopeless import WIDER
from assocmem.pairs.data import Facts, Pairs
from assocmem.pairs.scores import take_signal
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.metric import solve_with_factor
from assocmem.training.passes import dense_hessian

LONGEST_NEWTON_STEP = 30.0
"""Length that the ridge on the Hessian keeps a Newton step below, in lengths of the memory, or in units of d
where that is more, since the first memory is zero. Chosen by trial."""
LONGEST_COMBINATION = 100.0
"""Length of the longest combination of directions that a line search tries, in the same units. Chosen by
trial, to let a search go further than the Newton step where the loss keeps falling."""
JITTERS = (1e-14, 1e-12, 1e-10)
"""Shares of the mean diagonal that are added to the Hessian, one after the other, until it has a factor. The
first is about a hundred roundings of double precision; the last was chosen by trial."""

SEARCHES_PER_HESSIAN = 9
"""Line searches with one Hessian at most. Its factor takes ``d^6 / 3`` operations and a search much less, but
the Hessian goes out of date. Chosen by trial."""
LEAST_GAIN = 0.05
"""Share of the loss that a search has to take off for the same Hessian to be used again. Chosen by trial."""

MOST_CORRECTIONS = 12
"""Corrections of predicted weights at most. Chosen by trial."""
NOTHING_BUT_ROUNDING = 1e-15
"""Length of the weighted sum over the lengths of its terms at which there is nothing left to correct: some
roundings of double precision."""
WORTH_VERIFYING = 1e-9
"""The same ratio above which weights are not offered to the verification: it would refuse them, since what is
left has to be small against the smallest eigenvalue of a Gram matrix. Chosen by trial."""
LEADING_NOWHERE = 1e-3
"""The same ratio that, after `PATIENCE` corrections, shows that too many weights were negative for these to
help. Chosen by trial."""
PATIENCE = 3
"""Corrections that are made before their success is judged. Chosen by trial."""

MOST_SEARCH_STEPS = 30
"""Newton steps of one line search at most, in its two or three variables. Chosen by trial."""
SMALL_DECREASE = 0.01
"""Share of the loss below which one line search does not go on, since the next Newton step does better.
Chosen by trial."""
RESOLVED = 1e-15
"""Share of the loss that a search has to promise to be begun: less drowns in rounding."""
SHORTEST_STEP = 1e-6
"""Share of a step below which a search gives up halving it. Chosen by trial."""
SUFFICIENT = 1e-4
"""Decrease of the loss, over step times slope, that makes a step acceptable: the customary constant of
sufficient decrease (Nocedal and Wright, Numerical Optimization, Section 3.1)."""
QUADRATIC = 0.7
"""The same ratio from which on a step is doubled. A quadratic function has one half at its minimum; more
means that the function bends less than the Newton step supposes."""
SPAN_RIDGE = 1e-10
"""Ridge on the Hessian of a line search, scaled to a diagonal of ones, so that directions which are parallel
up to rounding do no harm. Chosen by trial."""

Solver = Callable[[torch.Tensor], torch.Tensor]
"""Takes a matrix of shape (d_out, d_in) to the Newton step for it, of the same shape."""


@dataclass(frozen=True)
class _WiderTail(TailAverage):
    """The tail average of a number of competitors that need not be whole."""

    size: float = 1.0

    def tail(self, m: int) -> float:
        return min(self.size, m)


def loss_for(m: int, k: int) -> CrossEntropy | TailAverage:
    """The loss that decides: cross-entropy at k = 1, the mean of all at k = m - 1, else the smoothed average.

    Parameters
    ----------
    m, k : int
        Number of targets, and of competitors in a tail.

    Returns
    -------
    CrossEntropy or TailAverage
    """
    if k == 1:
        return CrossEntropy()
    if k == m - 1:
        return TailAverage(r=1.0, beta=1.0)
    return _WiderTail(r=k / (m - 1), beta=1.0, size=k * (1 + WIDER))


def all_scores(pairs: Pairs | Facts, W: torch.Tensor) -> torch.Tensor:
    """Scores of every target for every key, whatever the numbers in the memory.

    Unlike `assocmem.pairs.scores.scores` it does not refuse a memory with inf or nan, which a search may try.

    Parameters
    ----------
    pairs : Pairs or Facts
    W : Tensor, shape (d_out, d_in)

    Returns
    -------
    Tensor, shape (m, n)
    """
    return pairs.U.T @ (W @ pairs.V)


class LossOfScores:
    """The summed loss at given scores, its derivatives, and how they answer to a change of the memory.

    Parameters
    ----------
    loss : CrossEntropy or TailAverage
    S : Tensor, shape (m, n)
        Scores.
    answers : Tensor, shape (n,)
        The target of each key, by its number.

    Attributes
    ----------
    value : float
        The summed loss.
    T, C : Tensor, shape (m, n)
        Gradient of each key's aggregate in its scores, and the vector of the aggregate's Hessian.
    a : Tensor, shape (n,)
        Derivative of each key's loss in its aggregate.
    weights : Tensor, shape (m, n)
        ``a T``, the derivative of the loss in the scores of competitors.
    """

    def __init__(self, loss: CrossEntropy | TailAverage, S: torch.Tensor, answers: torch.Tensor):
        self.T, self.answers = S.clone(), answers
        self.keys = torch.arange(len(answers), device=S.device)
        signal = take_signal(self.T, answers, -math.inf)
        c, _ = loss.aggregate(self.T)
        self.value = -float(torch.nn.functional.logsigmoid(signal - c).sum())
        self.a = torch.sigmoid(c - signal)
        self.weights = self.a * self.T
        self.C = loss.curvature(self.T)

    def signals(self, t: torch.Tensor) -> torch.Tensor:
        """Of scores ``t``, shape (..., m, n), those of the keys' own targets, shape (..., n)."""
        return t[..., self.answers, self.keys]

    def response(self, t: torch.Tensor) -> torch.Tensor:
        """Derivative of the weights when the scores move along ``t``, shape (m, n) or (b, m, n)."""
        rise = (self.T * t).sum(dim=-2) - self.signals(t)
        total = self.C.sum(dim=-2).clamp_(min=torch.finfo(t.dtype).tiny)
        t = self.C * (t - ((self.C * t).sum(dim=-2) / total).unsqueeze(-2))
        return self.a * t + self.weights * ((1 - self.a) * rise).unsqueeze(-2)


def newton_solver(
    pairs: Pairs | Facts, loss: CrossEntropy | TailAverage, W: torch.Tensor, slope: float
) -> Solver | None:
    """Solver with the Hessian of the summed loss and just enough ridge to keep steps from leaping.

    Where scores are far apart most weights are next to nothing, and the Hessian is all but singular. With a
    ridge of ``slope`` over a length no step is longer than that length; as the gradient vanishes so does the
    ridge.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    W : Tensor, shape (d_out, d_in)
    slope : float
        Norm of the gradient of the summed loss at W.

    Returns
    -------
    Solver or None
        None if there is no factor all the same.
    """
    H = dense_hessian(pairs, loss, W).mul_(pairs.n)
    diagonal = H.diagonal()
    size = float(diagonal.mean())
    diagonal.add_(slope / (LONGEST_NEWTON_STEP * max(float(W.norm()), math.sqrt(pairs.entries))))
    for jitter in JITTERS:
        diagonal.add_(jitter * size)
        L, failed = torch.linalg.cholesky_ex(H)
        if not int(failed) and bool(torch.isfinite(L.diagonal()).all()):
            return lambda X: solve_with_factor(L, X.reshape(-1)).reshape(X.shape)
    return None


def predicted_weights(
    pairs: Pairs | Facts, state: LossOfScores, solve: Solver, k: int
) -> torch.Tensor | None:
    """Weights that cancel up to rounding, if those the Newton step predicts are positive.

    Negative ones are set to zero, which does no harm where they are tiny, and what that leaves is solved for
    again.

    Parameters
    ----------
    pairs : Pairs or Facts
    state : LossOfScores
        At the memory in question.
    solve : Solver
        With the Hessian there.
    k : int

    Returns
    -------
    Tensor, shape (m, n), or None
        Not verified yet.
    """
    Y = pairs.U.new_zeros(pairs.d_out, pairs.d_in)
    lengths = pairs.U.norm(dim=0).max() * pairs.V.norm(dim=0).max()
    own = state.answers, state.keys
    for count in range(MOST_CORRECTIONS):
        weights = (state.weights - state.response(all_scores(pairs, Y))).clamp_(min=0)
        weights[own] = 0
        rest = cancellation(pairs, weights)
        left = float(rest.norm() / (weights.sum() * lengths))
        if not left > NOTHING_BUT_ROUNDING or (count >= PATIENCE and left > LEADING_NOWHERE):
            break
        Y = Y + solve(rest)
    if not left <= WORTH_VERIFYING:
        return None
    if k == len(weights) - 1:
        weights = (weights.sum(dim=0) / k).expand_as(weights).clone()
        weights[own] = 0
    return weights


def descend(
    pairs: Pairs | Facts,
    loss: CrossEntropy | TailAverage,
    k: int,
    W: torch.Tensor,
    solve: Solver,
    last: torch.Tensor | None,
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """Newton steps with one Hessian for as long as they gain.

    Each searches the span of the step, of the memory itself and of the step before.

    Parameters
    ----------
    pairs : Pairs or Facts
    loss : CrossEntropy or TailAverage
    k : int
    W : Tensor, shape (d_out, d_in)
        The memory to begin with.
    solve : Solver
        With the Hessian there.
    last : Tensor, shape (d_out, d_in), or None
        The step that led there.

    Returns
    -------
    moved : Tensor, shape (d_out, d_in), or None
        The memory after the steps; None where nothing was gained.
    last : Tensor, shape (d_out, d_in), or None
        The last step.
    """
    moved, answers = None, pairs.answers
    for _ in range(SEARCHES_PER_HESSIAN):
        S = all_scores(pairs, W)
        if moved is not None and float(tail_margins(S, k, answers).min()) > 0:
            break
        state = LossOfScores(loss, S, answers)
        directions = [-solve(cancellation(pairs, state.weights))]
        directions += [D for D in (W, last) if D is not None and bool(D.any())]
        step, value = _best_in_span(pairs, loss, state, S, directions, float(W.norm()))
        if step is None:
            break
        last, W = (step if bool(W.any()) else None), W + step
        moved = W
        if value > (1 - LEAST_GAIN) * state.value:
            break
    return moved, last


def _best_in_span(pairs, loss, state, S, directions, size):
    """The combination of directions that minimises the loss, by Newton's method in two or three variables.

    Scores move along with the memory, so that no pass is needed. Returns the step and the loss after it, or
    None and the loss as it was.
    """
    T = torch.stack([all_scores(pairs, D) for D in directions])
    lengths = torch.stack([D.norm() for D in directions])
    place, longest = S.new_zeros(len(T)), LONGEST_COMBINATION * max(size, math.sqrt(pairs.entries))
    for count in range(MOST_SEARCH_STEPS):
        before = state.value
        move, decrease = _span_step(state, T)
        if not decrease > (SMALL_DECREASE if count else RESOLVED) * before:
            break
        step, found = 1.0, None
        while step > SHORTEST_STEP:
            trial = place + step * move
            short = float(trial.abs() @ lengths) <= longest
            moved = S + torch.tensordot(trial, T, 1) if short else None
            following = LossOfScores(loss, moved, state.answers) if short else None
            drop = (found[1] if found else state).value - following.value if following else -math.inf
            if drop > SUFFICIENT * step * decrease:
                found = trial, following
                if drop < QUADRATIC * step * decrease:  # no more than a quadratic function would
                    break
                step *= 2
            elif found:
                break
            else:
                step /= 2
        if not found:
            break
        place, state = found
        if before - state.value <= SMALL_DECREASE * before:
            break
    step = torch.tensordot(place, torch.stack(directions), 1) if bool(place.any()) else None
    return step, state.value


def _span_step(state, T):
    """Newton step along the scores ``T`` of a few directions, and the decrease it promises twice over."""
    flat, signals = T.flatten(1), state.signals(T)
    change = state.response(T)
    slope = flat @ state.weights.flatten() - signals @ state.weights.sum(dim=0)
    bend = change.flatten(1) @ flat.T - change.sum(dim=1) @ signals.T
    scale = bend.diagonal().clamp(min=torch.finfo(T.dtype).tiny).sqrt()
    bend = bend / scale / scale[:, None] + SPAN_RIDGE * torch.eye(len(T), dtype=T.dtype, device=T.device)
    move = -torch.linalg.solve(bend, slope / scale) / scale
    return move, -float(slope @ move)
