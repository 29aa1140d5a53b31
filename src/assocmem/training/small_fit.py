"""Descent for small problems, as compiled loops: L-BFGS whose steps cost next to nothing beside their passes.

The minimiser of `assocmem.training.descent` spends a millisecond between two passes, on its metric, on a line
search over grids, on operations of a few microseconds each. That pays where a pass takes ten milliseconds,
and not where it takes a tenth of one. Here the metric has two equal parts, the mean of ``v v'`` over keys and
the identity. With the identity alone, problems above the transition take half as many passes again; with the
keys alone, so do some that are far below. There are no stages.

The compiled function is called for some passes at a time, so that a fit can tell how it stands, be
interrupted, and go on from a checkpoint.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from assocmem.checks import require_integer
from assocmem.pairs.data import Facts, Pairs
from assocmem.training import columns_cpu, descent, losses, small_pass
from assocmem.training.columns_cpu import compiled_loops
from assocmem.training.descent import (
    HALVINGS,
    LONGEST_STEP,
    REMAINING_SLOPE,
    RESOLVED,
    SUFFICIENT_DECREASE,
    Point,
    Stage,
)
from assocmem.training.passes import Pass
from assocmem.training.precision import EXACT
from assocmem.training.small_pass import aggregate_of, one_thread, problem_of, space_for, value

CALLED = [columns_cpu, descent, losses, small_pass]
"""Modules whose code or numbers become part of the compiled descent."""

HISTORY = 10
"""Steps that L-BFGS remembers: with 20 as many passes, and each step takes longer; by trial."""

DAMPING = 1.0
"""Share of the mean curvature of the metric that is the same in all directions of keys; by trial."""

MOST_PASSES = 2500
"""Passes after which the descent is given up: the other one then takes as long as some thousand of them."""

PAUSE = 16
"""Passes between two returns from compiled code."""

BISECTIONS = 12
"""Halvings of the range in which a first step is looked for."""

GOES_ON, CONVERGED, STUCK = 0, 1, 2
"""What the compiled descent says when it returns."""


def descend(
    pairs: Pairs | Facts,
    W: torch.Tensor,
    stage: Stage,
    *,
    tol: float,
    most: int,
    tell: Callable[[list[tuple[float, float]], torch.Tensor], None],
) -> Point | None:
    """Go down from a memory until the relative gap is small enough or the passes are used up.

    Parameters
    ----------
    pairs : Pairs or Facts
        Ones that `assocmem.training.small_pass.suits`.
    W : Tensor, shape (d_out, d_in)
        Where to start.
    stage : Stage
        The problem.
    tol : float
        Relative gap to reach.
    most : int
        Passes to take at most, positive.
    tell : callable
        Called every few passes with their objectives and relative gaps, and with the memory reached.

    Returns
    -------
    Point or None
        The last one reached, without features; None where the start has scores that overflow.

    Raises
    ------
    ValueError
        For a number of passes below 1.
    """
    require_integer("most", most, 1)
    with one_thread():
        return _go(pairs, W, stage, tol, most, tell)


class _State(NamedTuple):
    """Arrays that a descent goes on with.

    Attributes
    ----------
    now : array, shape (5, d_out, d_in)
        The memory and its gradient, those of a trial, and the direction.
    steps : array, shape (2, HISTORY, d_out d_in)
        Steps that are remembered, and what the gradient did over them.
    kept : array, shape (2, HISTORY)
        One over the products of each pair of these, and what the first loop leaves for the second.
    counts : array of int, shape (3,)
        Steps remembered, all steps, passes.
    numbers : array, shape (3,)
        Objective, gap and loss.
    trace : array, shape (PAUSE + HALVINGS + 1, 2)
        Objective and gap of the passes of a call.
    """

    now: np.ndarray
    steps: np.ndarray
    kept: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    trace: np.ndarray


def _go(pairs, W, stage, tol, most, tell):
    """The descent; see `descend`."""
    problem, scale = problem_of(pairs), stage.ridge / pairs.entries
    aggregate, space = aggregate_of(stage.loss, pairs.m), space_for(problem)
    state = _State(
        np.empty((5, *W.shape)),
        np.empty((2, HISTORY, pairs.entries)),
        np.empty((2, HISTORY)),
        np.zeros(3, dtype=np.int64),
        np.zeros(3),
        np.empty((PAUSE + HALVINGS + 1, 2)),
    )
    state.now[0] = W.numpy()
    says, metric = GOES_ON, _metric(problem)
    while says == GOES_ON and state.counts[2] < most:
        before = int(state.counts[2])
        says = _descend(problem, aggregate, space, metric, state, scale, tol, most)
        if not np.isfinite(state.numbers).all():
            return None
        passes = state.trace[: state.counts[2] - before].tolist()
        tell([(f, gap / f if f else math.inf) for f, gap in passes], torch.from_numpy(state.now[0].copy()))
    objective, gap, loss = state.numbers.tolist()
    W, gradient, margins, mu = (torch.from_numpy(x.copy()) for x in (*state.now[:2], space.margins, space.mu))
    return Point(W, Pass(loss, gradient - scale * W, margins, mu), objective, gradient, gap, EXACT)


def _metric(problem):
    """Inverse of the mean of ``v v'`` over keys and as much of the identity."""
    K = (problem.V * problem.weights) @ problem.V.T / len(problem.weights)
    mean = float(np.trace(K)) / len(K)
    K[np.diag_indices(len(K))] += DAMPING * mean
    return np.linalg.inv(K) if 0 < mean < math.inf else np.eye(len(K))


@compiled_loops("reassoc")
def _inner(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@compiled_loops(uses=CALLED)
def _visit(problem, aggregate, space, scale, W, gradient):
    """Objective, squared norm of its gradient over twice the ridge, and loss; writes the gradient."""
    loss = value(problem, aggregate, space, W, gradient)
    w, g = W.reshape(-1), gradient.reshape(-1)
    for i in range(len(w)):
        g[i] += scale * w[i]
    objective = loss + 0.5 * scale * _inner(w, w)
    return objective if loss >= 0 else np.nan, _inner(g, g) / (2 * scale), loss


@compiled_loops(uses=CALLED)
def _descend(problem, aggregate, space, metric, state, scale, tol, most):
    """Some passes of L-BFGS; returns `GOES_ON`, `CONVERGED` or `STUCK`."""
    now, steps, kept, counts, numbers, trace = state
    g, d = now[1].reshape(-1), now[4].reshape(-1)
    taken = 0
    if counts[2] == 0:
        numbers[0], numbers[1], numbers[2] = _visit(problem, aggregate, space, scale, now[0], now[1])
        trace[0, 0], trace[0, 1] = numbers[0], numbers[1]
        counts[2], taken = 1, 1
        if not np.isfinite(numbers[0] + numbers[1]):
            return STUCK
    while taken < PAUSE and counts[2] < most:
        f = numbers[0]
        if numbers[1] <= tol * f:
            return CONVERGED
        _direction(metric, now, steps, kept, counts)
        slope = _inner(d, g)
        if not -np.inf < slope < -RESOLVED * f:
            if counts[0] == 0:
                return STUCK  # no decrease left that the objective can resolve
            counts[0] = 0
            continue
        step = 1.0
        if counts[0] == 0:
            step = _first_step(problem, space, scale, now, slope)
        taken, f1, gap1, loss1 = _search(problem, aggregate, space, state, scale, most, slope, step, taken)
        if not f1 < f:
            numbers[2] = _visit(problem, aggregate, space, scale, now[0], now[1])[2]  # for its margins
            trace[taken, 0], trace[taken, 1] = numbers[0], numbers[1]
            counts[2] += 1
            taken += 1
            if counts[0] == 0 or counts[2] >= most:
                return STUCK
            counts[0] = 0
            continue
        _remember(now, steps, kept, counts)
        now[0], now[1] = now[2], now[3]
        numbers[0], numbers[1], numbers[2] = f1, gap1, loss1
    return CONVERGED if numbers[1] <= tol * numbers[0] else GOES_ON


@compiled_loops(uses=CALLED)
def _search(problem, aggregate, space, state, scale, most, slope, step, taken):
    """A trial with the weak Wolfe conditions, by bisection: passes so far, its objective, gap and loss."""
    now, counts, trace = state.now, state.counts, state.trace
    w, w1, g1, d = now[0].reshape(-1), now[2].reshape(-1), now[3].reshape(-1), now[4].reshape(-1)
    low, high, f, gap, loss = 0.0, np.inf, np.inf, np.inf, np.inf
    for _ in range(HALVINGS):
        for i in range(len(w)):
            w1[i] = w[i] + step * d[i]
        f, gap, loss = _visit(problem, aggregate, space, scale, now[2], now[3])
        trace[taken, 0], trace[taken, 1] = f, gap
        counts[2] += 1
        taken += 1
        if not f + gap < np.inf or f > state.numbers[0] + SUFFICIENT_DECREASE * step * slope:
            high = step
        elif _inner(d, g1) < REMAINING_SLOPE * slope:
            low = step
        else:
            break
        if counts[2] >= most:
            break
        step = 0.5 * (low + high) if high < np.inf else 2 * step
    return taken, f, gap, loss


@compiled_loops(uses=CALLED)
def _remember(now, steps, kept, counts):
    """Add the step to the trial to those of L-BFGS, unless the gradient did not rise along it."""
    slot = counts[1] % HISTORY
    step, change = steps[0, slot], steps[1, slot]
    step[:] = (now[2] - now[0]).reshape(-1)
    change[:] = (now[3] - now[1]).reshape(-1)
    rise = _inner(step, change)
    if rise > 0:
        kept[0, slot] = 1 / rise
        counts[0], counts[1] = min(counts[0] + 1, HISTORY), counts[1] + 1


@compiled_loops(uses=CALLED)
def _direction(metric, now, steps, kept, counts):
    """The direction of L-BFGS by its two loops; the metric is scaled by the last step."""
    direction, spare = now[4], now[3]
    d, count, last = direction.reshape(-1), counts[0], counts[1] - 1
    d[:] = now[1].reshape(-1)
    for age in range(count):
        slot = (last - age) % HISTORY
        along = kept[0, slot] * _inner(steps[0, slot], d)
        kept[1, slot] = along
        change = steps[1, slot]
        for i in range(len(d)):
            d[i] -= along * change[i]
    np.dot(direction, metric, spare)
    direction[:] = spare
    if count:
        slot = last % HISTORY
        np.dot(steps[1, slot].reshape(now[0].shape), metric, spare)
        direction *= 1 / (kept[0, slot] * _inner(steps[1, slot], spare.reshape(-1)))
    for age in range(count - 1, -1, -1):
        slot = (last - age) % HISTORY
        along = kept[1, slot] - kept[0, slot] * _inner(steps[1, slot], d)
        step = steps[0, slot]
        for i in range(len(d)):
            d[i] += along * step[i]
    for i in range(len(d)):
        d[i] = -d[i]


@compiled_loops(uses=CALLED)
def _first_step(problem, space, scale, now, slope):
    """Minimiser along the direction of the objective with margins linear in W, as in the other descent."""
    np.dot(now[4], problem.V, space.pulled)
    change, margins, weights = space.columns[0], space.margins, problem.weights
    d, n, bends = now[4].reshape(-1), len(margins), 0.0
    change[:] = 0
    for a in range(len(space.features)):
        for i in range(n):
            change[i] += space.features[a, i] * space.pulled[a, i]
    for i in range(n):
        a = 1 / (1 + math.exp(margins[i]))
        bends += weights[i] * a * (1 - a) * change[i] ** 2
    rest = max(scale * _inner(d, d), -slope - bends / n)
    start = scale * _inner(d, now[0].reshape(-1))
    low, high = 0.0, LONGEST_STEP
    for _ in range(BISECTIONS):
        step, falls = 0.5 * (low + high), 0.0
        for i in range(n):
            falls += weights[i] * change[i] / (1 + math.exp(margins[i] + step * change[i]))
        if falls / n > start + step * rest:
            low = step
        else:
            high = step
    return high
