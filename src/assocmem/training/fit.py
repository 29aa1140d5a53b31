"""Ridge-regularised minimisers with a proof of optimality.

The objective is ``mean loss + ridge / (2 d^2) |W|_F^2``; of facts, the number of entries of W replaces d^2.
`assocmem.training.descent` minimises it, and bounds by a duality gap how far from the optimum it can be.
Where it does not end soon, ridge and smoothing start large and go down in stages, each of which starts from
the memory of the one before. Small problems are left to `assocmem.training.small_fit`, which takes more
passes in less time; where that gets nowhere, they come back.
A checkpoint holds the state between two steps.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from assocmem.checks import require, require_callable, require_choice, require_integer, require_number
from assocmem.files import require_writable
from assocmem.machine import memory_shortage
from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.pairs.scores import require_memory_matrix
from assocmem.pairs.sizes import peak_bytes
from assocmem.processes import warn_if_forked
from assocmem.progress import note, status_line
from assocmem.training.checkpoints import identity, read_state, write_state
from assocmem.training.descent import EXACT_DIMENSION, HISTORY, Evaluator, Point, Stage, descend
from assocmem.training.losses import Loss, ScoresOverflow, TailAverage, require_loss
from assocmem.training.metric import METRIC_KEYS
from assocmem.training.precision import EXACT, PRECISIONS
from assocmem.training.small_fit import MOST_PASSES
from assocmem.training.small_fit import descend as small_descent
from assocmem.training.small_pass import suits

SMALLEST_RIDGE = 1e-300
"""Ridge over d^2 that can still be divided by: below 1e-308 numbers lose their digits."""

LARGEST_SCORE = 1e60
"""Product of the lengths of a target and a key up to which squares and quotients of scores stay finite."""

CHECKPOINT_SECONDS = 30
"""Time between two checkpoints: what an interruption can cost at most."""

RECENT_PASSES = 10
"""Passes from which the time left is extrapolated."""


@dataclass(frozen=True)
class Fit:
    """A minimiser and how far from the optimum it can be.

    Attributes
    ----------
    W : Tensor, shape (d_out, d_in), float64
    mu : Tensor, shape (n,)
        Thresholds of the columns.
    margins : Tensor, shape (n,)
    loss, objective : float
        Mean loss of a key, by the weights of the facts where there are any, without and with the ridge.
    nu : float
        ``|W|_F / d``, or over the square root of the number of entries.
    gap : float
        Upper bound on ``(objective - optimum) / objective``: the duality gap relative to the objective.
    converged : bool
        Whether the gap is at most the tolerance.
    passes : int
        Streamed passes over the scores.
    trace : list of dict
        For each pass: ridge, beta (or None), precision, objective, gap (relative), seconds.
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
    trace: list[dict]


def fit(
    pairs: Pairs | Facts,
    loss: Loss,
    *,
    ridge: float,
    tol: float = 1e-6,
    max_passes: int = 5000,
    precision: str = "float64",
    W0: torch.Tensor | None = None,
    checkpoint: str | Path | None = None,
    report: Callable[[dict, float | None], None] | None = None,
) -> Fit:
    """Minimise ``mean loss + ridge / (2 d^2) |W|_F^2`` over all memories W.

    Parameters
    ----------
    pairs : Pairs or Facts
        Where facts have weights, the mean is that with weights.
    loss : CrossEntropy or TailAverage
    ridge : float
        Positive. (Figure 1 of the paper states ``ridge * n / d^2``.)
    tol : float
        Relative gap to reach, positive.
    max_passes : int
        Passes over the scores after which to give up.
    precision : str
        In which passes begin, one of `assocmem.training.precision.PRECISIONS`; they end in float64.
    W0 : Tensor, shape (d_out, d_in), optional
        A memory near the minimiser; the stages are then skipped. By default zero.
    checkpoint : path, optional
        File that holds the state every half minute and on an interrupt; a call with the same pairs, loss and
        ridge goes on from it, on any device and any number of threads. An empty file or a part of a state
        counts for nothing; any other file is refused, and left as it is.
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
        For a parameter out of range, a ``W0`` that does not fit, a checkpoint of another problem
        (`assocmem.checks.UnusableState`) or that cannot be written, pairs for which there is not enough
        memory, or pairs so long that squares overflow.

    Notes
    -----
    After a fit with several threads a fork of the process hangs in its own: OpenMP waits there for threads
    that a fork does not have. Start processes afresh (``spawn`` or ``forkserver`` of `multiprocessing`, as
    the sweeps do) or set ``OMP_NUM_THREADS=1``; a fit in such a fork warns before it begins.
    """
    require_facts(pairs)
    _require_finite_squares(pairs)
    require_loss(loss)
    require_number("ridge", ridge, 0)
    require(ridge / pairs.entries > SMALLEST_RIDGE, "ridge", ridge, f"> {SMALLEST_RIDGE:g} d^2")
    require_number("tol", tol, 0)
    require_integer("max_passes", max_passes, 1)
    require_choice("precision", precision, PRECISIONS)
    if W0 is not None:
        require_memory_matrix(pairs, W0, "W0")
        W0 = W0.detach()
    file = None if checkpoint is None else require_writable("checkpoint", checkpoint)
    if report is not None:
        require_callable("report", report)
    if pairs.U.device.type == "cpu":
        sizes = {} if isinstance(pairs, Pairs) else {"m": pairs.m, "d_out": pairs.d_out}
        shortage = memory_shortage(lambda n: fit_bytes(n, pairs.d_in, **sizes), pairs.n)
        require(not shortage, "pairs", f"{pairs.n} pairs", f"fewer, since {shortage}")
    pairs = pairs.with_vectors(pairs.U.double(), pairs.V.double())
    warn_if_forked(torch.get_num_threads())
    with status_line() as show:
        record = _Record(pairs, Stage(loss, ridge), tol, file, report, show)
        evaluator = Evaluator(pairs, tol, max_passes, precision, record.after_pass, record.after_step)
        record.evaluator = evaluator
        W = pairs.U.new_zeros(pairs.d_out, pairs.d_in) if W0 is None else W0.double()
        stages = _stages(loss, ridge) if W0 is None else [Stage(loss, ridge)]
        W, stages = record.resume(W, stages)
        try:
            point = _minimum(evaluator, record, W, stages, new=W0 is None and evaluator.passes == 0)
        except ScoresOverflow as error:
            allowed = f"of lengths at which squares do not overflow ({error})"
            raise ValueError(f"pairs = {pairs.n} pairs, ridge = {ridge:g}: must be {allowed}") from None
        finally:
            record.save(force=True)
    done, gap = point.done, point.relative_gap
    nu = float(point.W.norm()) / math.sqrt(pairs.entries)
    return Fit(
        point.W,
        done.mu,
        done.margins,
        done.loss,
        point.objective,
        nu,
        gap,
        gap <= tol,
        evaluator.passes,
        record.trace,
    )


def fit_bytes(n: int, d: int, *, m: int | None = None, d_out: int | None = None) -> int:
    """Bytes that a fit takes at its peak: a pass, the features, and the metric or the Hessian.

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
    entries = d * d_out
    metric = 3 * min(n, METRIC_KEYS) ** 2 + 2 * HISTORY * entries
    hessian = n * (3 * d_out**2 + 2 * d**2) + 3 * entries**2
    most = hessian if entries <= EXACT_DIMENSION**2 else metric
    return peak_bytes(n, d, m=m, d_out=d_out) + 8 * (n * (d + d_out) + most)


def _require_finite_squares(pairs: Pairs | Facts) -> None:
    """Check that vectors are short enough for squares of scores."""
    norms = (torch.linalg.vector_norm(X, dim=0, dtype=torch.float64) for X in (pairs.U, pairs.V))
    lengths = [float(norm.max()) for norm in norms]
    longest = " and ".join(f"{length:.2g}" for length in lengths)
    short = math.prod(lengths) <= LARGEST_SCORE
    require(short, "pairs", f"lengths of up to {longest}", f"shorter, with products up to {LARGEST_SCORE:g}")


def _minimum(
    evaluator: Evaluator, record: "_Record", W: torch.Tensor, stages: list[Stage], *, new: bool
) -> Point:
    """The end of a fit: that of the descent of small problems, or of the other one.

    The latter tries first whether the problem is easy, as above the transition, which takes few passes to
    see; then a new fit goes through all stages, and one that has a memory to start from through the last.
    """
    final = stages[-1]
    if suits(evaluator.pairs, final.loss, evaluator.first_precision):
        record.stages_left = 1
        point = _by_compiled_loops(evaluator, W, final)
        if point is not None and not evaluator.ends(point):
            evaluator.slow = True
            point = descend(evaluator, evaluator.visit(point.W, final), final, easy=False, last=True)
        if point is not None and evaluator.ends(point):
            return point
    elif new:
        record.stages_left = len(stages)
        point = descend(evaluator, evaluator.enter(W, final), final, easy=True, last=True)
        if evaluator.ends(point):
            stages = []
        elif len(stages) == 1:
            W = point.W
    for left, stage in zip(range(len(stages), 0, -1), stages, strict=True):
        record.stages_left = left
        point = descend(evaluator, evaluator.enter(W, stage), stage, easy=False, last=left == 1)
        W = point.W
        if evaluator.exhausted:
            break
    if (stages and stage != final) or point.precision != EXACT:
        point = evaluator.visit(point.W, final, EXACT)
    return point


def _by_compiled_loops(evaluator: Evaluator, W: torch.Tensor, problem: Stage) -> Point | None:
    """The end of the descent of small problems, which leaves half of the passes to the other one."""
    most = min(MOST_PASSES, (evaluator.max_passes + 1) // 2) - evaluator.passes
    if most <= 0:
        return None
    tell = evaluator.account(problem)
    return small_descent(evaluator.pairs, W, problem, tol=evaluator.tol, most=most, tell=tell)


def _stages(loss: Loss, ridge: float) -> list[Stage]:
    """Problems of growing stiffness: ridge down to its value by tens, then beta up to its value by twos."""
    count = max(0, math.ceil(math.log10(0.1 / ridge) - 1e-9))
    ridges = [ridge * 10.0**k for k in range(count, -1, -1)]
    smooth = min(getattr(loss, "beta", 1.0), 1.0)
    if not isinstance(loss, TailAverage) or smooth == loss.beta or count == 0:
        return [Stage(loss, r) for r in ridges]
    betas = [smooth * 2.0**k for k in range(1, math.ceil(math.log(loss.beta / smooth, 2) - 1e-9))]
    stages = [Stage(replace(loss, beta=smooth), r) for r in ridges[1:]]
    return [*stages, *(Stage(replace(loss, beta=beta), ridge) for beta in betas), Stage(loss, ridge)]


class _Record:
    """Tells of a fit while it goes on: the trace, the reports, and the checkpoint."""

    evaluator: Evaluator  # set as soon as there is one; it reports to this object

    def __init__(
        self,
        pairs: Pairs | Facts,
        problem: Stage,
        tol: float,
        checkpoint: Path | None,
        report: Callable[[dict, float | None], None] | None,
        show: Callable[[str], None],
    ):
        self.tol, self.report, self.show = tol, report, show
        self.checkpoint = checkpoint
        self.problem = identity(pairs, problem.loss, problem.ridge) if checkpoint else {}
        self.device = pairs.U.device
        self.trace: list[dict] = []
        self.stages_left = 0
        self.latest: torch.Tensor | None = None
        self.failed = False
        self.started = self.saved = time.monotonic()

    def after_pass(self, stage: Stage, precision: str, objective: float, gap: float, ago: float) -> None:
        """Add a pass that ended some seconds ago to the trace, and tell of it."""
        entry = {
            "ridge": stage.ridge,
            "beta": getattr(stage.loss, "beta", None),
            "precision": precision,
            "objective": objective,
            "gap": gap,
            "seconds": time.monotonic() - self.started - ago,
        }
        self.trace.append(entry)
        left = _seconds_left(self.trace, self.tol)
        self.show(
            f"fit: gap {entry['gap']:.1e}, pass {self.evaluator.passes}, ridge {stage.ridge:.0e}, "
            + (f"about {left:.0f} s left" if left is not None else "time left not known yet")
        )
        if self.report:
            self.report(entry, left)

    def after_step(self, W: torch.Tensor) -> None:
        """Remember the memory of a step, from which a later call can go on."""
        self.latest = W
        self.save()

    def save(self, *, force: bool = False) -> None:
        """Write the state in one step, not more often than every half minute unless forced."""
        due = force or time.monotonic() - self.saved > CHECKPOINT_SECONDS
        if not (self.checkpoint and self.latest is not None and due):
            return
        self.saved = time.monotonic()
        state = {"stages": self.stages_left, "trace": self.trace}
        state |= {"passes": self.evaluator.passes, "hard": self.evaluator.slow}
        try:
            write_state(self.checkpoint, self.problem, self.latest, state)
        except OSError as error:  # a disk that is full now must not cost the result
            if not self.failed:
                note(f"checkpoint = {self.checkpoint}: not written, the fit goes on ({error.strerror})")
            self.failed = True

    def resume(self, W: torch.Tensor, stages: list[Stage]) -> tuple[torch.Tensor, list[Stage]]:
        """Memory and stages to start from: those of the checkpoint where there is one."""
        state = read_state(self.checkpoint, self.problem) if self.checkpoint else None
        if state is None:
            return W, stages
        self.trace, self.evaluator.passes = state["trace"], state["passes"]
        self.evaluator.slow = state.get("hard", False)
        self.started -= self.trace[-1]["seconds"] if self.trace else 0.0
        return state["W"].to(self.device), stages[-max(1, min(state["stages"], len(stages))) :]


def _seconds_left(trace: list[dict], tol: float) -> float | None:
    """Extrapolation of the logarithm of the gap over the latest passes of the stage, or None."""
    recent = [entry for entry in trace[-RECENT_PASSES:] if entry["ridge"] == trace[-1]["ridge"]]
    if len(recent) < 3 or recent[-1]["gap"] >= recent[0]["gap"]:
        return None
    elapsed = recent[-1]["seconds"] - recent[0]["seconds"]
    if not (elapsed > 0 and recent[-1]["gap"] > 0 and recent[0]["gap"] < math.inf):
        return None
    rate = math.log(recent[0]["gap"] / recent[-1]["gap"]) / elapsed
    return max(0.0, math.log(recent[-1]["gap"] / tol) / rate)
