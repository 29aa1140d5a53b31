"""Descent to the minimiser of one regularised loss: L-BFGS in a metric, and its line search.

The objective is ``mean loss + ridge / (2 d^2) |W|_F^2``, strongly convex with modulus ``ridge / d^2``: the
optimum lies at most ``|gradient|^2 d^2 / (2 ridge)`` below. The same number is the duality gap to the dual
point that the derivatives of the losses form. It decides convergence, and nothing else does.

Steps are those of L-BFGS in the metric of `assocmem.training.metric`: the history corrects the inverse of a
model Hessian. In small d the exact Hessian takes the model's place where the ridge is small: for tail
averages, nearly non-smooth there, at once, and for cross-entropy after many steps without convergence, as
they happen near the transition. Either has a factor that costs many passes, and is kept, over stages as well,
for as long as it serves. The first step of a line search minimises the logistic loss of margins that
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
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from assocmem.checks import require_flag, require_instance, require_number
from assocmem.pairs.data import Facts, Pairs, times_weights
from assocmem.training.history import History
from assocmem.training.losses import Loss, ScoresOverflow, TailAverage, require_loss
from assocmem.training.metric import KEYS_IN_DOUBLE, METRIC_KEYS, UNCHANGED, Exact, Inverse, Model
from assocmem.training.passes import Pass, loss_pass
from assocmem.training.precision import EXACT

# What a number says about a step or a share was chosen by trial where no other reason is given.

HISTORY = 30
"""Steps that L-BFGS remembers; each takes two matrices of the size of a memory."""

EXACT_DIMENSION = 40
"""Largest d for which the exact Hessian is affordable: its factor has d^4 numbers, 20 MiB there. Memories
that are no squares count by their entries."""

EXACT_AT_ONCE = 24
"""Largest d for which fits of tail averages take it at once. Above, they are faster in the model's metric."""

STEPS_PER_HESSIAN = 5
"""Steps after which an exact Hessian is renewed in any case."""

FACTOR_SHARE = 0.25
"""Share of the passes that factors of models may cost, where they are renewed because they are old."""

FEWEST_STEPS = 3
"""Steps that a model serves before it is renewed for its age."""

EASY_STEPS = 60
"""Steps in which a problem has to look soluble for it to be tried in a metric without rank-one terms."""

LOOK_BACK = 8
"""Steps over which that is judged."""

SHARE_STEP = 0.05
"""Relative change of the share of K at which a model is scaled anew."""

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
"""Trials of a line search: 2^-30 is far below any step that helps."""

GRID = 16
"""Parts into which a first step is divided at a time."""

RESOLVED_STEP = 1e-3
"""Relative width of the part that a first step is known to lie in: a model needs no more."""

SHORTEST_STEP = 4e-9
"""Width of that part at which the search ends in any case."""

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
        Called after every pass with its stage, precision, objective and relative gap, and the seconds since
        it ended.
    after_step : callable
        Called with the memory that a descent starts from, and after every step with the new one.

    Attributes
    ----------
    passes : int
        Taken so far.
    slow : bool
        Whether some stage took many steps without convergence, so that later ones begin with the exact
        Hessian.
    metric : _Metric
        The metric of the steps, which later stages go on with.
    """

    def __init__(
        self,
        pairs: Pairs | Facts,
        tol: float,
        max_passes: int,
        precision: str,
        after_pass: Callable[[Stage, str, float, float, float], None],
        after_step: Callable[[torch.Tensor], None],
    ):
        self.pairs, self.tol, self.max_passes = pairs, tol, max_passes
        self.first_precision = self.precision = precision
        self.after_pass, self.after_step = after_pass, after_step
        self.passes, self.slow, self.metric = 0, False, _Metric(pairs)

    @property
    def exhausted(self) -> bool:
        """Whether all passes allowed are used up."""
        return self.passes >= self.max_passes

    def ends(self, point: Point) -> bool:
        """Whether a point is good enough, or no passes are left to find a better one.

        Parameters
        ----------
        point : Point

        Returns
        -------
        bool
        """
        return point.within(self.tol) or self.exhausted

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
        self.after_pass(stage, precision, objective, point.relative_gap, 0.0)
        return point

    def account(self, stage: Stage) -> Callable[[list[tuple[float, float]], torch.Tensor], None]:
        """What a descent with passes of its own has to call after some of them.

        Parameters
        ----------
        stage : Stage

        Returns
        -------
        callable
            Of their objectives and relative gaps, and the memory reached.
        """
        began = time.monotonic()

        def tell(passes: list[tuple[float, float]], W: torch.Tensor) -> None:
            nonlocal began
            each = (time.monotonic() - began) / max(len(passes), 1)
            self.after_step(W)
            for left, (objective, gap) in zip(range(len(passes) - 1, -1, -1), passes, strict=True):
                self.passes += 1
                self.after_pass(stage, EXACT, objective, gap, left * each)
            began = time.monotonic()

        return tell

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


def descend(evaluator: Evaluator, point: Point, stage: Stage, *, easy: bool, last: bool) -> Point:
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
        Whether to try if the problem is easy: with a metric without rank-one terms, and only as long as the
        fall of the gap, if it goes on, reaches the tolerance in `EASY_STEPS`.
    last : bool
        Whether the stage is the problem of the fit itself.

    Returns
    -------
    Point
        The last one reached, the lowest up to rounding.

    Raises
    ------
    ValueError
        For an argument of another kind.
    """
    require_instance("evaluator", evaluator, Evaluator)
    require_instance("point", point, Point)
    require_instance("stage", stage, Stage)
    require_flag("easy", easy)
    require_flag("last", last)
    pairs, tol, metric = evaluator.pairs, evaluator.tol, evaluator.metric
    stiff = pairs.entries <= EXACT_DIMENSION**2 and stage.ridge <= STIFF_RIDGE and not easy
    at_once = isinstance(stage.loss, TailAverage) and pairs.entries <= EXACT_AT_ONCE**2
    exact = stiff and (evaluator.slow or at_once)
    leave = LEAVE_STAGE_BY_NEWTON if exact or easy else LEAVE_STAGE
    history = History(point.W, HISTORY, guessed=True)
    guessed, stuck, gaps = None, False, []
    evaluator.after_step(point.W)
    for step in range(evaluator.max_passes):
        if evaluator.precision != EXACT and (step % CHECK_PERIOD == 0 or point.within(tol)):
            point = evaluator.checked(point, stage)
        if evaluator.ends(point):
            break
        gaps.append(point.relative_gap)
        if easy and step >= LOOK_BACK and not _arrives(gaps, tol):
            break
        if stiff and not exact and step == PATIENCE:
            exact = evaluator.slow = True
            leave = LEAVE_STAGE_BY_NEWTON
        most = 0 if easy and pairs.weights is None else _metric_keys(pairs)
        if metric.suits(point, stage, None if exact else most, anew=stuck) or guessed is None:
            if exact:
                history.clear()  # the steps before would spoil it
            history.guess_anew(metric.times, point.W.shape)
            guessed = metric.times(point.gradient)
        decrease = 0.5 * float((point.gradient * guessed).sum())
        if not (RESOLVED if last else leave) * point.objective < decrease < math.inf:
            break  # nothing left that a stage is for, or that the objective can resolve
        direction = -history.times(point.gradient, guessed)
        if not -math.inf < float((direction * point.gradient).sum()) < 0:
            history.clear()
            direction = -guessed
        following = _line_search(evaluator, point, direction, stage)
        if following is None:
            if stuck:
                break  # no decrease left that the objective can resolve
            stuck, guessed, point = True, None, evaluator.exactly(point, stage)
            history.clear()
            continue
        stuck, before = False, guessed
        guessed = metric.times(following.gradient)
        history.add(following.W - point.W, following.gradient - point.gradient, guessed - before)
        point = following
        evaluator.after_step(point.W)
    return point


def _arrives(gaps: list[float], tol: float) -> bool:
    """Whether the gap, if it goes on to fall as it has done lately, will be small enough in time."""
    before, now = gaps[-1 - LOOK_BACK], gaps[-1]
    if not now < before < math.inf:
        return False
    return len(gaps) + LOOK_BACK * math.log(now / tol) / math.log(before / now) <= EASY_STEPS


class _Metric:
    """The first guess of the inverse Hessian, which is renewed only when another one is worth its cost."""

    times: Inverse

    def __init__(self, pairs: Pairs | Facts):
        self.pairs, self.made, self.of, self.age, self.share = pairs, None, (), 0, 1.0

    def suits(self, point: Point, stage: Stage, most: int | None, *, anew: bool) -> bool:
        """Make it one that suits a point, and tell whether it is another one now.

        With ``most`` rank-one terms, or that of the exact Hessian where it is None; ``anew`` in any case.
        """
        done, ridge = point.done, stage.ridge
        kind = (most, stage.loss, ridge) if most is None else (most,)  # a model may serve another stage
        old = self.age >= (STEPS_PER_HESSIAN if most is None else _metric_period(self.pairs, most))
        change = UNCHANGED if anew or self.of != kind else self.made.change(done, ridge)
        renew = anew or self.of != kind or not self.made.serves(done, change, closely=old)
        if renew:
            self.made, self.of, self.age, change = self._best(point, stage, most), kind, 0, UNCHANGED
        self.age += 1
        renew |= abs(change[1] / self.share - 1) > SHARE_STEP
        if renew:
            self.share, self.times = change[1], self.made.inverse(done, point.W, change)
        return renew

    def _best(self, point: Point, stage: Stage, most: int | None) -> Model | Exact:
        """The best metric there is; where entries differ by orders of magnitude, a Hessian has no factor."""
        if most is None:
            with contextlib.suppress(torch.linalg.LinAlgError):
                return Exact(self.pairs, stage.loss, point.done, point.W, stage.ridge)
            most = _metric_keys(self.pairs)
        with contextlib.suppress(torch.linalg.LinAlgError):
            return Model(self.pairs, point.done, stage.ridge, most)
        return Model(self.pairs, point.done, stage.ridge, 0)


def _metric_keys(pairs: Pairs | Facts) -> int:
    """Keys whose rank-one terms a model keeps."""
    most = METRIC_KEYS if pairs.weights is None else min(METRIC_KEYS, KEYS_OF_ENTRIES * pairs.entries)
    return min(pairs.n, most)


def _metric_period(pairs: Pairs | Facts, keys: int) -> int:
    """Steps between two models, so that factors cost no more than their share of the passes in between."""
    operations = keys**2 * (keys / 3 + pairs.d_out + pairs.d_in) * (1 if keys <= KEYS_IN_DOUBLE else 0.5)
    return max(FEWEST_STEPS, math.ceil(operations / (4 * pairs.n * pairs.m * pairs.d_out * FACTOR_SHARE)))


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
    # the slope along the direction rises with the step, and is looked at on finer and finer grids
    low, width = 0.0, LONGEST_STEP
    grid = torch.arange(1, GRID, dtype=change.dtype, device=change.device) / GRID
    while width > RESOLVED_STEP * (low + width) and width > SHORTEST_STEP:
        steps = low + width * grid
        a = torch.sigmoid(-(point.done.margins + steps[:, None] * change))
        falls = a @ weighted_change / len(change) > ridge_slope + steps * rest
        low, width = low + width / GRID * int(falls.sum()), width / GRID
    return low + width / 2
