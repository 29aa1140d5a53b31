"""Descent to the minimiser of one regularised loss: L-BFGS in a metric, and its line search.

The objective is ``mean loss + ridge / (2 d^2) |W|_F^2``, strongly convex with modulus ``ridge / d^2``: the
optimum lies at most ``|gradient|^2 d^2 / (2 ridge)`` below. The same number is the duality gap to the dual
point that the derivatives of the losses form. It decides convergence, and nothing else does.

Steps are those of L-BFGS in the metric of `assocmem.training.metric`: the history corrects the inverse of a
model Hessian. In small d the exact Hessian takes the model's place where the ridge is small: for tail
averages, nearly non-smooth there, at once, and for cross-entropy after many steps without convergence, as
they happen near the transition. The first step of a line search minimises the logistic loss of margins that
are linear in W, which costs no pass and spares the many halvings of a Newton step into an exponential.

Passes may begin in a cheap precision. A pass in float64 at the same memory tells now and then how wrong the
cheap gradient is; where that is no small share of what the gradient still is, the rest of the stage takes
float64, and so does whatever decides convergence.

Two other loops of Newton's method stay beside this one, since they share neither the step, nor the line
search, nor the end. Here a trial costs a pass, whose gradient serves the second Wolfe condition and the
duality gap. `assocmem.deciding.search` minimises without a ridge, where a minimum need not exist: it
searches the span of a few directions on stored scores, and ends with a certificate. The surrogates of
`assocmem.experiments.first_place.surrogates` have no targets and keys, so no passes, but a stored direction
for each score.
"""

import contextlib
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import torch

from assocmem.checks import require_flag, require_instance, require_integer, require_number
from assocmem.pairs.data import Facts, Pairs, times_weights
from assocmem.training.losses import Loss, ScoresOverflow, TailAverage, require_loss
from assocmem.training.metric import METRIC_KEYS, Inverse, exact_inverse, model_inverse
from assocmem.training.passes import Pass, loss_pass
from assocmem.training.precision import EXACT

# What a number says about a step or a share was chosen by trial where no other reason is given.

HISTORY = 30
"""Steps that L-BFGS remembers; each takes two matrices of the size of a memory."""

EXACT_DIMENSION = 40
"""Largest d for which the exact Hessian is affordable: its factor has d^4 numbers, 20 MiB there. Memories
that are no squares count by their entries."""

STIFF_RIDGE = 1e-4
"""Largest ridge for which the exact Hessian is needed."""

KEYS_OF_ENTRIES = 2
"""Keys in the metric of facts with weights, over the entries of a memory: all others weigh so little that the
fit takes as many passes, in half the time."""

PATIENCE = 20
"""Steps of a stage after which cross-entropy gets the exact Hessian."""

LEAVE_STAGE = 1e-3
"""Decrease still expected, relative to the objective, at which a stage before the last is left."""

LEAVE_STAGE_BY_NEWTON = 1e-4
"""The same where steps are cheap or few: with the exact Hessian, and in problems that look easy."""

RESOLVED = 1e-17
"""Decrease, relative to the objective, at which the last stage is left: float64 resolves 1e-16."""

CHECK_PERIOD = 8
"""Steps between two looks at how wrong a cheap gradient is."""

TRUSTED_ERROR = 0.1
"""Error of a cheap gradient, as a share of the gradient, up to which it is used."""

LONGEST_STEP = 4.0
"""Longest first step of a line search, in multiples of the step that the metric proposes."""

HALVINGS = 30
"""Trials of a line search, and bisections for its first step: 2^-30 is far below any step that helps."""

SUFFICIENT_DECREASE = 1e-4
"""Share of the decrease that the slope promises which a step has to reach (first Wolfe condition); the usual
value."""

REMAINING_SLOPE = 0.9
"""Share of the slope that a step may leave (second Wolfe condition); the usual value for L-BFGS."""


@dataclass(frozen=True)
class Stage:
    """One problem on the way to the problem of a fit.

    Attributes
    ----------
    loss : CrossEntropy or TailAverage
    ridge : float
    """

    loss: Loss
    ridge: float

    def __post_init__(self) -> None:
        """Check the parts; a ValueError names the one that is wrong."""
        require_loss(self.loss)
        require_number("ridge", self.ridge, 0)


@dataclass(frozen=True)
class Point:
    """A memory with everything that one pass says about it.

    Attributes
    ----------
    W : Tensor, shape (d_out, d_in)
    done : Pass
        With features.
    objective : float
    gradient : Tensor, shape (d_out, d_in)
        Of the objective, so with the ridge.
    duality_gap : float
        Upper bound on the objective less its minimum. (`assocmem.training.fit.Fit.gap` is relative.)
    precision : str
        Of the pass.
    """

    W: torch.Tensor
    done: Pass
    objective: float
    gradient: torch.Tensor
    duality_gap: float
    precision: str

    @property
    def relative_gap(self) -> float:
        """The duality gap as a share of the objective."""
        return self.duality_gap / self.objective if self.objective else math.inf

    def within(self, tol: float) -> bool:
        """Whether the duality gap is at most ``tol`` times the objective."""
        return self.duality_gap <= tol * self.objective


class Evaluator:
    """Takes the passes of a fit, counts them, and chooses their precision.

    Parameters
    ----------
    pairs : Pairs or Facts
        In float64.
    tol : float
        Relative gap at which the fit is done.
    max_passes : int
    precision : str
        In which the passes of a stage begin.
    after_pass : callable
        Called with the point and the stage after every pass.
    after_step : callable
        Called with the memory that a descent starts from, and after every step with the new one.

    Attributes
    ----------
    passes : int
        Taken so far.
    slow : bool
        Whether some stage took many steps without convergence, so that later ones begin with the exact
        Hessian.
    """

    def __init__(
        self,
        pairs: Pairs | Facts,
        tol: float,
        max_passes: int,
        precision: str,
        after_pass: Callable[[Point, Stage], None],
        after_step: Callable[[torch.Tensor], None],
    ):
        self.pairs, self.tol, self.max_passes = pairs, tol, max_passes
        self.first_precision = self.precision = precision
        self.after_pass, self.after_step = after_pass, after_step
        self.passes, self.slow = 0, False

    @property
    def exhausted(self) -> bool:
        """Whether all passes allowed are used up."""
        return self.passes >= self.max_passes

    def enter(self, W: torch.Tensor, stage: Stage) -> Point:
        """Take the first pass of a stage, in the precision in which stages begin.

        Parameters
        ----------
        W : Tensor, shape (d_out, d_in)
        stage : Stage

        Returns
        -------
        Point
        """
        self.precision = self.first_precision
        return self.visit(W, stage)

    def visit(self, W: torch.Tensor, stage: Stage, precision: str | None = None) -> Point:
        """Take a pass at a memory.

        Parameters
        ----------
        W : Tensor, shape (d_out, d_in)
        stage : Stage
        precision : str, optional
            By default the one in which the stage goes on at the moment.

        Returns
        -------
        Point

        Raises
        ------
        ScoresOverflow
            Where the objective or the duality gap is no number any more.
        """
        precision = precision or self.precision
        done = loss_pass(self.pairs, stage.loss, W, features=True, precision=precision)
        self.passes += 1
        scale = stage.ridge / self.pairs.entries
        gradient = done.gradient + scale * W
        objective = done.loss + 0.5 * scale * float((W * W).sum())
        duality_gap = float((gradient * gradient).sum()) / (2 * scale)
        if not math.isfinite(objective + duality_gap):
            raise ScoresOverflow(f"W: an objective of {objective:.0e} with a gap of {duality_gap:.0e}")
        point = Point(W, done, objective, gradient, duality_gap, precision)
        self.after_pass(point, stage)
        return point

    def checked(self, point: Point, stage: Stage) -> Point:
        """Compare a cheap point with the exact one at the same memory.

        Parameters
        ----------
        point : Point
        stage : Stage

        Returns
        -------
        Point
            The cheap one if its gradient is good enough to go on from; else the exact one, and the rest of
            the stage stays in float64.
        """
        exact = self.visit(point.W, stage, EXACT)
        error = float((exact.gradient - point.gradient).norm())
        if not exact.within(self.tol) and error <= TRUSTED_ERROR * float(exact.gradient.norm()):
            return point
        self.precision = EXACT
        return exact

    def exactly(self, point: Point, stage: Stage) -> Point:
        """Go over to float64 for the rest of the stage.

        Parameters
        ----------
        point : Point
        stage : Stage

        Returns
        -------
        Point
            At the same memory, in float64.
        """
        self.precision = EXACT
        return point if point.precision == EXACT else self.visit(point.W, stage)


def descend(
    evaluator: Evaluator, point: Point, stage: Stage, *, easy: bool, last: bool, steps: int | None = None
) -> Point:
    """Go down from a point until the relative gap is small enough or the passes are used up.

    A stage before the last is left as soon as the metric promises little further decrease. That is no proof,
    and none is needed there.

    Parameters
    ----------
    evaluator : Evaluator
    point : Point
        Where to start.
    stage : Stage
    easy : bool
        Whether the problem looks easy: then the metric is a multiple of the identity, which costs nothing.
    last : bool
        Whether the stage is the problem of the fit itself.
    steps : int, optional
        After which to give up; by default only passes are limited.

    Returns
    -------
    Point
        The last one reached, the lowest up to rounding.

    Raises
    ------
    ValueError
        For an argument of another kind, or a number of steps below 1.
    """
    require_instance("evaluator", evaluator, Evaluator)
    require_instance("point", point, Point)
    require_instance("stage", stage, Stage)
    require_flag("easy", easy)
    require_flag("last", last)
    require_integer("steps", 1 if steps is None else steps, 1)
    pairs, tol = evaluator.pairs, evaluator.tol
    stiff = pairs.entries <= EXACT_DIMENSION**2 and stage.ridge <= STIFF_RIDGE and not easy
    exact = stiff and (evaluator.slow or isinstance(stage.loss, TailAverage))
    period = 1 if exact else _metric_period(pairs)
    leave = LEAVE_STAGE_BY_NEWTON if exact or easy else LEAVE_STAGE
    history: deque = deque(maxlen=0 if exact else HISTORY)
    metric, stuck = None, False
    evaluator.after_step(point.W)
    for step in range(steps or evaluator.max_passes):
        if evaluator.precision != EXACT and (step % CHECK_PERIOD == 0 or point.within(tol)):
            point = evaluator.checked(point, stage)
        if point.within(tol) or evaluator.exhausted:
            break
        if stiff and not exact and step == PATIENCE:
            exact = evaluator.slow = True
            period, leave, history = 1, LEAVE_STAGE_BY_NEWTON, deque(maxlen=0)
        if step % period == 0 or stuck:
            metric = _inverse(pairs, point, stage, exact, 0 if easy else _metric_keys(pairs))
        metric_step = metric(point.gradient)
        decrease = 0.5 * float((point.gradient * metric_step).sum())
        if not (RESOLVED if last else leave) * point.objective < decrease < math.inf:
            break  # nothing left that a stage is for, or that the objective can resolve
        direction = -_lbfgs_product(point.gradient, history, metric) if history else -metric_step
        if not -math.inf < float((direction * point.gradient).sum()) < 0:
            history.clear()
            direction = -metric_step
        following = _line_search(evaluator, point, direction, stage)
        if following is None:
            if stuck:
                break  # no decrease left that the objective can resolve
            stuck, point = True, evaluator.exactly(point, stage)
            history.clear()
            continue
        stuck = False
        s, y = following.W - point.W, following.gradient - point.gradient
        product = float((s * y).sum())
        if product > 0:
            history.append((s, y, product))
        point = following
        evaluator.after_step(point.W)
    return point


def _inverse(pairs: Pairs | Facts, point: Point, stage: Stage, exact: bool, most: int) -> Inverse:
    """The best inverse there is; where entries differ by orders of magnitude, a Hessian has no factor."""
    if exact:
        with contextlib.suppress(torch.linalg.LinAlgError):
            return exact_inverse(pairs, stage.loss, point.W, stage.ridge)
    with contextlib.suppress(torch.linalg.LinAlgError):
        return model_inverse(pairs, point.done, point.W, stage.ridge, most)
    return model_inverse(pairs, point.done, point.W, stage.ridge, 0)


def _metric_keys(pairs: Pairs | Facts) -> int:
    """Keys whose rank-one terms a model keeps."""
    most = METRIC_KEYS if pairs.weights is None else min(METRIC_KEYS, KEYS_OF_ENTRIES * pairs.entries)
    return min(pairs.n, most)


def _metric_period(pairs: Pairs | Facts) -> int:
    """Steps between two models, so that to factorise one takes no longer than the passes in between."""
    keys, d = _metric_keys(pairs), 2 * pairs.d_out * pairs.m / pairs.n
    return max(3, math.ceil((keys / 3 + d) / d))


def _lbfgs_product(gradient: torch.Tensor, history: deque, metric: Inverse) -> torch.Tensor:
    """The L-BFGS inverse Hessian times a gradient, by two loops over the history around the metric."""
    q, factors = gradient.clone(), []
    for s, y, product in reversed(history):
        factors.append(float((s * q).sum()) / product)
        q -= factors[-1] * y
    q = metric(q)
    for (s, y, product), factor in zip(history, reversed(factors), strict=True):
        q += (factor - float((y * q).sum()) / product) * s
    return q


def _line_search(evaluator: Evaluator, point: Point, direction: torch.Tensor, stage: Stage) -> Point | None:
    """A step with the weak Wolfe conditions by bisection, or None if the objective cannot be decreased."""
    slope = float((direction * point.gradient).sum())
    step, low, high = _first_step(evaluator.pairs, point, direction, slope, stage.ridge), 0.0, math.inf
    trial = point
    for _ in range(HALVINGS):
        try:
            trial = evaluator.visit(point.W + step * direction, stage)
        except ScoresOverflow:  # far too long a step
            high = step
            step = 0.5 * (low + high)
            continue
        if trial.objective > point.objective + SUFFICIENT_DECREASE * step * slope:
            high = step
        elif float((direction * trial.gradient).sum()) < REMAINING_SLOPE * slope:
            low = step
        else:
            return trial
        if evaluator.exhausted:
            return trial if trial.objective < point.objective else None
        step = 0.5 * (low + high) if high < math.inf else 2 * step
    return trial if trial.objective < point.objective else None


def _first_step(
    pairs: Pairs | Facts, point: Point, direction: torch.Tensor, slope: float, ridge: float
) -> float:
    """Minimiser along a direction of the objective with margins linear in W, which costs no pass.

    A key whose weight is far below what the step wants has its margin lowered by many units; the quadratic
    model then promises a decrease where the logistic loss grows exponentially.
    """
    change = torch.linalg.vecdot(point.done.features, direction @ pairs.V, dim=0)
    a = torch.sigmoid(-point.done.margins)
    weighted_change = times_weights(pairs, change)
    ridge_curvature = ridge / pairs.entries * float((direction * direction).sum())
    # the model that the direction comes from has the curvature -slope; the rest is not the logistic loss's
    bends = times_weights(pairs, a * (1 - a) * change**2)
    rest = max(ridge_curvature, -slope - float(bends.mean()))
    ridge_slope = ridge / pairs.entries * float((direction * point.W).sum())
    low, high = 0.0, LONGEST_STEP
    for _ in range(HALVINGS):
        step = 0.5 * (low + high)
        a = torch.sigmoid(-(point.done.margins + step * change))
        falling = ridge_slope + step * rest < float((a * weighted_change).mean())
        low, high = (step, high) if falling else (low, step)
    return step
