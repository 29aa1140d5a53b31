"""Ridge-regularised minimisers with a proof of optimality.

The objective is ``mean loss + ridge / (2 d^2) |W|_F^2``, strongly convex with modulus ``ridge / d^2``: the
optimum lies at most ``|gradient|^2 d^2 / (2 ridge)`` below. The same number is the gap to the dual point that
the derivatives of the losses form. It decides convergence.

The solver is L-BFGS in the metric of a model Hessian. Each margin is nearly linear in W with gradient
``g_i v_i'``, ``g_i = u_i - U T_i``, so the Hessian is close to

    c I + sum_i (b_i / n) vec(g_i v_i') vec(g_i v_i')',     b_i = a_i (1 - a_i),

whose inverse costs one n x n Cholesky factor and then ``O(n d^2 + n^2)`` a product, little beside a pass.
The identity part c is the ridge plus the mean curvature of the aggregates, less in the direction of W itself,
since a tail average scales with W. In small d the exact Hessian takes its place where the ridge is small: for
tail averages, nearly non-smooth there, at once, and for cross-entropy after many steps in vain, as they
happen near the transition. The first step of a line search minimises the logistic loss of margins that are
linear in W, which costs no pass and spares the many halvings of a Newton step into an exponential. Ridge and
smoothing start large and go down in stages, each warm-started; unless the ridge turns out to cost next to
nothing, as above the transition.

Passes may begin in a cheap precision. A pass in float64 at the same memory tells now and then how wrong the
cheap gradient is; where that is no small share of what the gradient still is, the rest of the stage takes
float64, and so does whatever decides convergence.
"""

import math
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from assocmem.checks import require, require_integer
from assocmem.machine import memory_shortage
from assocmem.pairs.scores import require_memory_matrix
from assocmem.pairs.sizes import peak_bytes
from assocmem.progress import status_line
from assocmem.training.losses import TailAverage
from assocmem.training.passes import dense_hessian, loss_pass
from assocmem.training.precision import EXACT, PRECISIONS


@dataclass(frozen=True)
class Fit:
    """A minimiser and how far from the optimum it can be.

    Attributes
    ----------
    W : Tensor, shape (d, d), float64
    mu : Tensor, shape (n,)
        Thresholds of the columns.
    margins : Tensor, shape (n,)
    loss, objective : float
        Mean loss of a key, without and with the ridge.
    nu : float
        ``|W|_F / d``.
    gap : float
        Upper bound on ``(objective - optimum) / objective``.
    converged : bool
        Whether the gap is at most the tolerance.
    passes : int
        Streamed passes over the scores.
    trace : list of dict
        For each pass: ridge, beta (or None), precision, objective, gap, seconds.
    """

    W: torch.Tensor
    mu: torch.Tensor
    margins: torch.Tensor
    loss: float
    objective: float
    nu: float
    gap: float
    converged: bool
    passes: int
    trace: list


MEMORY = 30  # L-BFGS pairs kept
METRIC_KEYS = 16_000  # rank-one terms in the metric at most; it is a poor one without them all
ALONG_W = 0.95  # share of the aggregates' mean curvature that is taken off along W
LONGEST_STEP = 4.0  # in multiples of the metric's step
LEAVE_NEWTON, LEAVE = 1e-4, 1e-3  # relative decrease still expected when a stage before the last is left
NEWTON_DIMENSION, STIFF = 40, 1e-4  # up to here the dense Hessian is affordable, and needed
PATIENCE = 20  # steps of a stage after which cross-entropy gets the dense Hessian
EASY = 0.004  # share of the ridge in the objective below which a problem is not stiff
PROBE = 60  # steps in which a problem that looks easy has to be solved
CHECK = 8  # steps between two looks at how wrong a cheap gradient is
TRUST = 0.1  # error of a cheap gradient, as a share of the gradient, up to which it is used
CHECKPOINT_SECONDS = 30


def fit(
    pairs,
    loss,
    *,
    ridge,
    tol=1e-6,
    max_passes=5000,
    precision="float64",
    W0=None,
    checkpoint=None,
    report=None,
):
    """Minimise ``mean loss + ridge / (2 d^2) |W|_F^2`` over all memories W.

    Parameters
    ----------
    pairs : Pairs
    loss : CrossEntropy or TailAverage
    ridge : float
        Positive. (Figure 1 of the paper states ``ridge * n / d^2``.)
    tol : float
        Relative gap to reach, positive.
    max_passes : int
        Passes over the scores after which to give up.
    precision : str
        In which passes begin, one of `assocmem.training.precision.PRECISIONS`; they end in float64.
    W0 : Tensor, shape (d, d), optional
        A memory near the minimiser; the stages are then skipped. By default zero.
    checkpoint : path, optional
        File that holds the state every half minute and on an interrupt; a call with the same pairs, loss and
        ridge goes on from it.
    report : callable, optional
        Called after every pass with the last entry of the trace and an estimate of the seconds left, or None
        where there is none yet. A line on the terminal tells the same.

    Returns
    -------
    Fit
        ``converged`` is true only if the gap is at most ``tol``.

    Raises
    ------
    ValueError
        For a parameter out of range, a ``W0`` that does not fit, a checkpoint of another problem, or pairs
        for which there is not enough memory.
    """
    require(0 < ridge < math.inf, "ridge", ridge, "a finite number > 0")
    require(0 < tol < math.inf, "tol", tol, "a finite number > 0")
    require_integer("max_passes", max_passes, 1)
    require(precision in PRECISIONS, "precision", precision, f"one of {', '.join(PRECISIONS)}")
    if W0 is not None:
        require_memory_matrix(pairs, W0, "W0")
    if pairs.U.device.type == "cpu":
        shortage = memory_shortage(lambda n: fit_bytes(n, pairs.d), pairs.n)
        require(not shortage, "pairs", f"{pairs.n} pairs", f"fewer, since {shortage}")
    pairs = replace(pairs, U=pairs.U.double(), V=pairs.V.double())
    with status_line() as show:
        run = _Run(pairs, loss, ridge, tol, max_passes, precision, checkpoint, report, show)
        return _through_stages(run, loss, ridge, tol, W0)


def fit_bytes(n, d):
    """Bytes that a fit takes at its peak: a pass, the features, and the metric or the Hessian."""
    metric = 3 * min(n, METRIC_KEYS) ** 2 + 2 * MEMORY * d**2
    hessian = 5 * n * d**2 + 3 * d**4
    return peak_bytes(n, d) + 8 * (2 * n * d + (hessian if d <= NEWTON_DIMENSION else metric))


def _through_stages(run, loss, ridge, tol, W0):
    pairs = run.pairs
    stages = _stages(loss, ridge) if W0 is None else [(loss, ridge)]
    W = pairs.U.new_zeros(pairs.d, pairs.d) if W0 is None else W0.double()
    W, stages = run.resume(W, stages)
    easy, probed = W0 is None and run.passes == 0, False
    try:
        while True:
            run.stages_left, stage, last = stages, stages[0], len(stages) == 1
            point = _descend(run, run.enter(W, *stage), *stage, tol, easy=easy, last=last)
            W, easy = point.W, not last and not probed and _is_easy(point, stage[1])
            if easy:
                probed, stage, easy = True, stages[-1], False
                point = _descend(run, run.enter(W, *stage), *stage, tol, easy=True, last=True, steps=PROBE)
                last = point.gap <= tol * point.objective
            if last or run.exhausted:
                W = point.W
                break
            stages = stages[1:]
        if stage != (loss, ridge) or point.precision != EXACT:
            point = run.visit(W, loss, ridge, EXACT)
    finally:
        run.save(force=True)
    done, gap, nu = point.done, point.gap / point.objective, float(W.norm()) / pairs.d
    return Fit(
        W, done.mu, done.margins, done.loss, point.objective, nu, gap, gap <= tol, run.passes, run.trace
    )


def _is_easy(point, ridge):
    """Whether the ridge costs next to nothing: the loss cannot vanish then, and no stiffness lies ahead."""
    d = len(point.W)
    return ridge / (2 * d**2) * float((point.W * point.W).sum()) < EASY * point.objective


def _stages(loss, ridge):
    """Problems of growing stiffness: ridge down to its value by tens, then beta up to its value by twos.

    The first has the final beta already: where it turns out to be easy, all others but the last are skipped.
    """
    count = max(0, math.ceil(math.log10(0.1 / ridge) - 1e-9))
    ridges = [ridge * 10.0**k for k in range(count, -1, -1)]
    smooth = min(getattr(loss, "beta", 1.0), 1.0)
    if not isinstance(loss, TailAverage) or smooth == loss.beta or count == 0:
        return [(loss, r) for r in ridges]
    betas = [smooth * 2.0**k for k in range(1, math.ceil(math.log(loss.beta / smooth, 2) - 1e-9))]
    stages = [(loss, ridges[0]), *((replace(loss, beta=smooth), r) for r in ridges[1:])]
    return [*stages, *((replace(loss, beta=beta), ridge) for beta in betas), (loss, ridge)]


@dataclass(frozen=True)
class _Point:
    """A memory with everything one pass says about it."""

    W: torch.Tensor
    done: object  # assocmem.training.passes.Pass
    objective: float
    gradient: torch.Tensor
    gap: float
    precision: str


class _Run:
    """Counts passes, keeps the trace, writes checkpoints."""

    def __init__(self, pairs, loss, ridge, tol, max_passes, precision, checkpoint, report, show):
        self.pairs, self.tol, self.max_passes, self.report, self.show = pairs, tol, max_passes, report, show
        self.first_precision = self.precision = precision
        self.checkpoint = Path(checkpoint) if checkpoint else None
        self.problem = {
            "loss": repr(loss),
            "ridge": ridge,
            "n": pairs.n,
            "d": pairs.d,
            "data": _digest(pairs),
        }
        self.passes, self.trace, self.stages_left, self.latest = 0, [], [], None
        self.hard = False  # whether a stage has taken many steps in vain
        self.started = self.saved = time.monotonic()

    @property
    def exhausted(self):
        return self.passes >= self.max_passes

    def enter(self, W, loss, ridge):
        """The first pass of a stage."""
        self.precision = self.first_precision
        return self.visit(W, loss, ridge)

    def checked(self, point, loss, ridge):
        """A cheap point if it is good enough to go on from, else the exact one."""
        exact = self.visit(point.W, loss, ridge, EXACT)
        error = float((exact.gradient - point.gradient).norm())
        done = exact.gap <= self.tol * exact.objective
        if not done and error <= TRUST * float(exact.gradient.norm()):
            return point
        self.precision = EXACT
        return exact

    def exactly(self, point, loss, ridge):
        """The same memory in float64, like all from now on in this stage."""
        self.precision = EXACT
        return point if point.precision == EXACT else self.visit(point.W, loss, ridge)

    def visit(self, W, loss, ridge, precision=None):
        precision = precision or self.precision
        done = loss_pass(self.pairs, loss, W, features=True, precision=precision)
        self.passes += 1
        scale = ridge / self.pairs.d**2
        gradient = done.gradient + scale * W
        objective = done.loss + 0.5 * scale * float((W * W).sum())
        gap = float((gradient * gradient).sum()) / (2 * scale)
        point = _Point(W, done, objective, gradient, gap, precision)
        entry = {"ridge": ridge, "beta": getattr(loss, "beta", None), "precision": precision}
        entry |= {
            "objective": objective,
            "gap": point.gap / objective,
            "seconds": time.monotonic() - self.started,
        }
        self.trace.append(entry)
        left = _seconds_left(self.trace, self.tol)
        self.show(
            f"fit: gap {entry['gap']:.1e}, pass {self.passes}, ridge {ridge:.0e}, "
            + (f"about {left:.0f} s left" if left is not None else "time left not known yet")
        )
        if self.report:
            self.report(entry, left)
        return point

    def save(self, *, force=False):
        """Write the state in one step, not more often than every half minute unless forced."""
        due = force or time.monotonic() - self.saved > CHECKPOINT_SECONDS
        if not (self.checkpoint and self.latest is not None and due):
            return
        self.saved = time.monotonic()
        state = {"problem": self.problem, "W": self.latest, "stages": len(self.stages_left)}
        state |= {"passes": self.passes, "trace": self.trace, "hard": self.hard}
        partial = self.checkpoint.with_name(f".{self.checkpoint.name}.part")
        torch.save(state, partial)
        partial.replace(self.checkpoint)

    def resume(self, W, stages):
        """State to start from: that of the checkpoint where there is one."""
        if not self.checkpoint or not self.checkpoint.exists():
            return W, stages
        try:
            state = torch.load(self.checkpoint, weights_only=True)
            same = state["problem"] == self.problem
        except Exception as error:
            raise ValueError(f"checkpoint = {self.checkpoint}: not a checkpoint of a fit ({error})") from None
        require(same, "checkpoint", str(self.checkpoint), "of the same pairs, loss and ridge")
        self.passes, self.trace, self.hard = state["passes"], state["trace"], state.get("hard", False)
        return state["W"], stages[-max(1, min(state["stages"], len(stages))) :]


def _digest(pairs):
    """A few numbers that tell one data set from another."""
    return [float(x) for X in (pairs.U, pairs.V) for x in (X.sum(), (X * X).sum(), X[0, 0], X[-1, -1])]


def _seconds_left(trace, tol):
    """Extrapolation of the logarithm of the gap over the last ten passes of the stage, or None."""
    recent = [entry for entry in trace[-10:] if entry["ridge"] == trace[-1]["ridge"]]
    if len(recent) < 3 or recent[-1]["gap"] >= recent[0]["gap"]:
        return None
    rate = math.log(recent[0]["gap"] / recent[-1]["gap"]) / (recent[-1]["seconds"] - recent[0]["seconds"])
    return max(0.0, math.log(recent[-1]["gap"] / tol) / rate)


# --- descent -----------------------------------------------------------------------------------------------


def _descend(run, point, loss, ridge, tol, *, easy, last, steps=None):
    """L-BFGS from a point until the relative gap is at most ``tol`` or the passes are used up.

    A stage before the last is left as soon as the metric promises little further decrease; that is no proof,
    and none is needed there. With the exact Hessian as the metric it is Newton's method.
    """
    pairs = run.pairs
    stiff = pairs.d <= NEWTON_DIMENSION and ridge <= STIFF and not easy
    exact = stiff and (run.hard or isinstance(loss, TailAverage))
    period = 1 if exact else max(3, math.ceil((min(pairs.n, METRIC_KEYS) / 3 + 2 * pairs.d) / (2 * pairs.d)))
    leave = LEAVE_NEWTON if exact or easy else LEAVE
    history, metric, stuck = deque(maxlen=0 if exact else MEMORY), None, False
    run.latest = point.W
    for step in range(steps or run.max_passes):
        if run.precision != EXACT and (step % CHECK == 0 or point.gap <= tol * point.objective):
            point = run.checked(point, loss, ridge)
        if point.gap <= tol * point.objective or run.exhausted:
            break
        if stiff and not exact and step == PATIENCE:
            exact = run.hard = True
            period, leave, history = 1, LEAVE_NEWTON, deque(maxlen=0)
        if step % period == 0 or stuck:
            if exact:
                metric = _newton(pairs, point, loss, ridge)
            else:
                metric = _metric(pairs, point, ridge, 0 if easy else METRIC_KEYS)
        plain = metric(point.gradient)
        decrease = 0.5 * float((point.gradient * plain).sum())
        if decrease <= (1e-17 if last else leave) * point.objective:
            break  # nothing left that a stage is for, or that the objective can resolve
        direction = -_two_loops(point.gradient, history, metric) if history else -plain
        if float((direction * point.gradient).sum()) >= 0:
            history.clear()
            direction = -plain
        following = _line_search(run, point, direction, loss, ridge)
        if following is None:
            if stuck:
                break  # no decrease left that the objective can resolve
            stuck, point = True, run.exactly(point, loss, ridge)
            history.clear()
            continue
        stuck = False
        s, y = following.W - point.W, following.gradient - point.gradient
        product = float((s * y).sum())
        if product > 0:
            history.append((s, y, product))
        point, run.latest = following, following.W
        run.save()
    return point


def _two_loops(gradient, history, metric):
    """The L-BFGS inverse Hessian times a gradient, from the metric's inverse as a start."""
    q, factors = gradient.clone(), []
    for s, y, product in reversed(history):
        factors.append(float((s * q).sum()) / product)
        q -= factors[-1] * y
    q = metric(q)
    for (s, y, product), factor in zip(history, reversed(factors), strict=True):
        q += (factor - float((y * q).sum()) / product) * s
    return q


def _line_search(run, point, direction, loss, ridge):
    """A step with the weak Wolfe conditions by bisection, or None if the objective cannot be decreased."""
    slope = float((direction * point.gradient).sum())
    step, low, high = _first_step(run.pairs, point, direction, slope, ridge), 0.0, math.inf
    for _ in range(30):
        trial = run.visit(point.W + step * direction, loss, ridge)
        if trial.objective > point.objective + 1e-4 * step * slope:
            high = step
        elif float((direction * trial.gradient).sum()) < 0.9 * slope:
            low = step
        else:
            return trial
        if run.exhausted:
            return trial if trial.objective < point.objective else None
        step = 0.5 * (low + high) if high < math.inf else 2 * step
    return trial if trial.objective < point.objective else None


def _first_step(pairs, point, direction, slope, ridge):
    """Minimiser along a direction of the objective with margins linear in W, which costs no pass.

    A key whose weight is far below what the step wants has its margin lowered by many units; the quadratic
    model then promises a decrease where the logistic loss grows exponentially.
    """
    change = torch.linalg.vecdot(point.done.features, direction @ pairs.V, dim=0)
    a = torch.sigmoid(-point.done.margins)
    flat = ridge / pairs.d**2 * float((direction * direction).sum())
    # the model that the direction comes from has the curvature -slope; the rest is not the logistic loss's
    rest = max(flat, -slope - float((a * (1 - a) * change**2).mean()))
    tilt = ridge / pairs.d**2 * float((direction * point.W).sum())
    low, high = 0.0, LONGEST_STEP
    for _ in range(30):
        step = 0.5 * (low + high)
        weights = torch.sigmoid(-(point.done.margins + step * change))
        falling = tilt + step * rest < float((weights * change).mean())
        low, high = (step, high) if falling else (low, step)
    return step


def _metric(pairs, point, ridge, most):
    """Inverse of the model Hessian at a point, as a function of a matrix (Woodbury's identity).

    The ``most`` largest rank-one terms are kept; the others are spread over all directions.
    """
    d, n = pairs.d, pairs.n
    a = torch.sigmoid(-point.done.margins)
    b = (a * (1 - a)).clamp(min=1e-200)
    shared = (ridge + float((a * point.done.curvature).mean())) / d**2
    keys = torch.topk(b, min(n, most)).indices
    g, V = point.done.features, pairs.V
    traces = b * torch.linalg.vector_norm(g, dim=0) ** 2 * torch.linalg.vector_norm(V, dim=0) ** 2
    c = shared + float(traces.sum() - traces[keys].sum()) / (n * d**2)
    if not len(keys):
        return lambda X: X / c
    g, V = g[:, keys], V[:, keys]
    kernel = (g.T @ g).mul_(V.T @ V)
    kernel.diagonal().add_(c * n / b[keys])
    factor = torch.linalg.cholesky(kernel)

    def inverse(X):
        response = torch.linalg.vecdot(g, X @ V, dim=0)
        weights = torch.cholesky_solve(response[:, None], factor)[:, 0]
        return (X - (g * weights) @ V.T) / c

    return _softer_along(point.W, ALONG_W * (shared - ridge / d**2), inverse)


def _softer_along(W, excess, inverse):
    """Inverse of a model Hessian less ``excess`` in the direction of W.

    Scaling a memory scales its tail averages, so the aggregates curve along W almost not at all.
    """
    length = float(W.norm())
    if length == 0:
        return inverse
    w = W / length
    response = inverse(w)
    share = excess / (1 - excess * float((w * response).sum()))

    def softened(X):
        Y = inverse(X)
        return Y + share * float((w * Y).sum()) * response

    return softened


def _newton(pairs, point, loss, ridge):
    """Inverse of the exact Hessian at a point, as a function of a matrix (dense Cholesky, for small d)."""
    d = pairs.d
    H = dense_hessian(pairs, loss, point.W)
    H.diagonal().add_(ridge / d**2)
    factor = torch.linalg.cholesky(H)
    return lambda X: torch.cholesky_solve(X.reshape(-1, 1), factor).reshape(d, d)
