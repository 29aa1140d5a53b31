"""Does any memory retrieve this instance? A verdict, with a certificate that anyone can verify.

The unregularised loss decides. Where some memory retrieves every pair its infimum is zero, and on the way
there some iterate has all margins positive. Where none does, its minimum is attained at a finite memory (but
for cases like `assocmem.deciding.hopeless.hidden_target`), and there the derivatives of the loss in the
scores are weights that cancel: a dual certificate. In small dimensions Newton's method with the dense Hessian
finds either; its steps are in `assocmem.deciding.search`. Above, a search in passes over the scores does, for
a loss that is tilted so that all weights stay above a floor: `assocmem.deciding.tilted`.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from scipy.special import lambertw

from assocmem.checks import require, require_callable, require_instance, require_integer
from assocmem.deciding import certificates
from assocmem.deciding.certificates import BLOCK, FEW, Certificate, ComputedWeights
from assocmem.deciding.comparisons import as_given_to_verifier, cancellation, tail_margins
from assocmem.deciding.contradiction import contradiction
from assocmem.deciding.hopeless import hidden_target, repeated_key, vanishing_comparison
from assocmem.deciding.preparation import ROUNDED, as_given, has_usual_lengths, prepare
from assocmem.deciding.search import (
    LossOfScores,
    all_scores,
    descend,
    loss_for,
    newton_solver,
    predicted_weights,
)
from assocmem.deciding.tilted import CANCELLED_ALL, STEPS_REMEMBERED, State, first_floor, search
from assocmem.deciding.watch import Watch
from assocmem.files import require_writable
from assocmem.machine import largest_that_fits, memory_shortage
from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.pairs.scores import require_memory_matrix
from assocmem.pairs.sizes import RUNTIME_BYTES, peak_bytes
from assocmem.progress import status_line

USABLE_SHARE = 0.9
"""Share of a card's free memory that a decision may take, so that what else happens there finds some."""


SMALL_PROGRAM = 100_000
"""Entries of a linear program up to which it is tried even where all steps are used up: it takes no time."""
LARGEST_TABLE = 2**25
"""Scores up to which a linear program looks for a contradiction of few comparisons: it sorts all of them."""
DENSE_DIMENSION = 24
"""Dimension up to which Newton's method is tried first: there it is the faster one. Memories that are no
squares count by their entries."""


@dataclass(frozen=True)
class Verdict:
    """Whether some memory retrieves every pair.

    Attributes
    ----------
    feasible : bool or None
        None where neither answer was proved.
    certificate : Certificate or None
        The proof, verified.
    margin : float
        Smallest margin of the last memory tried over its ``nu``, as `assocmem.training.fit.Fit` has it:
        positive if feasible, and how near one came if not; ``-inf`` where the answer needed none.
    steps : int
        Newton steps taken.
    reason : str
        Why there is no verdict; otherwise empty.
    passes : int
        Passes over the scores taken.
    """

    feasible: bool | None
    certificate: Certificate | None
    margin: float
    steps: int
    reason: str = ""
    passes: int = 0


def decide_top1(pairs: Pairs | Facts, **options: object) -> Verdict:
    """Decide whether any memory scores every target above all others (event PR_n, eq. ``PR-exists``).

    Parameters
    ----------
    pairs : Pairs or Facts
        As for `decide`.
    **options
        The keywords of `decide`.

    Returns
    -------
    Verdict
        As for `decide`.

    Raises
    ------
    ValueError
        As for `decide`.
    """
    return decide(pairs, 1, **options)


def decide(
    pairs: Pairs | Facts,
    k: int = 1,
    *,
    max_steps: int = 200,
    max_passes: int = 3000,
    W0: torch.Tensor | None = None,
    checkpoint: str | Path | None = None,
    report: Callable[[dict, float | None], None] | None = None,
) -> Verdict:
    """Decide whether any memory has every signal beat the average of its k best competitors, and prove it.

    In small dimensions, and for the mean of all competitors, Newton's method decides, whose memory and time
    grow as d^4 and d^6. Above, a search does that takes passes over the scores, with memory of the size of
    the pairs: some 50 passes away from the transition, and one to three hundred next to it, at any size:
    seconds for a thousand pairs on two cores, minutes and 2 GiB for ten thousand. Where the one way finds
    nothing the other is tried. Pairs on a GPU are decided there; the certificate is verified on the processor
    all the same, in its memory.

    Parameters
    ----------
    pairs : Pairs or Facts
        Any vectors: lengths, units, correlations and subspaces do not matter, but for what rounding makes of
        them. Their numbers are taken as exact.
    k : int
        Between 1, the top-1 criterion, and ``m - 1``, which is ``n - 1`` for pairs, where the signal has to
        beat the mean.
    max_steps : int
        Newton steps after which to give up.
    max_passes : int
        Passes over the scores after which to give up.
    W0 : Tensor, shape (d_out, d_in), optional
        A memory that may be near one which retrieves, such as that of an instance with fewer pairs. Only the
        search in passes begins with it.
    checkpoint : path, optional
        File that holds the state of the search in passes every half minute and on an interrupt; a call with
        the same pairs and k goes on from it. An empty file or a part of a state counts for nothing; any other
        file is refused, and left as it is.
    report : callable, optional
        Called after every step of the search in passes with a dict of ``passes``, ``margin``, ``excess`` (the
        change of the floor that is expected over the largest allowed: a proof that no memory retrieves comes
        when it is about one), ``floor`` and ``seconds``, and with an estimate of the seconds left, or None. A
        line on the terminal tells the same.

    Returns
    -------
    Verdict
        Its certificate has been verified; no answer rests on rounding.

    Raises
    ------
    ValueError
        For a k or number of steps out of range, a ``W0`` that does not fit, a checkpoint of another problem
        or that cannot be written, or an instance too large for the memory there is.
    """
    require_facts(pairs)
    require_integer("k", k, 1)
    require(k < pairs.m, "k", k, f"at most {'n' if isinstance(pairs, Pairs) else 'm'} - 1 = {pairs.m - 1}")
    require_integer("max_steps", max_steps, 1)
    require_integer("max_passes", max_passes, 1)
    if W0 is not None:
        require_memory_matrix(pairs, W0, "W0")
    file = None if checkpoint is None else require_writable("checkpoint", checkpoint)
    if report is not None:
        require_callable("report", report)
    mean = 1 < k == pairs.m - 1
    dense_first = pairs.entries <= DENSE_DIMENSION**2 or mean
    too_large = dense_shortage(pairs)
    shortage = too_large if dense_first else passes_shortage(pairs)
    require(not shortage, "pairs", f"n = {pairs.n} in dimension {pairs.d_in}", f"smaller, since {shortage}")
    pairs = pairs.unweighted().with_vectors(pairs.U.double(), pairs.V.double())
    certificate = vanishing_comparison(pairs, k) or repeated_key(pairs, k) or hidden_target(pairs, k)
    if certificate is not None and verify(certificate, pairs):
        return Verdict(False, certificate, -math.inf, 0)
    with status_line() as show:
        watch = Watch(pairs, k, file, report, show)
        ways = [
            (not too_large, partial(_by_newton, pairs, k, max_steps, show, dense_first and (k == 1 or mean))),
            (not mean, partial(_by_passes, pairs, k, max_passes, W0, watch)),
        ]
        verdicts = []
        for possible, way in ways if dense_first else ways[::-1]:
            if possible:
                verdicts.append(way())
                if verdicts[-1].feasible is not None:
                    break
    last = verdicts[-1] if verdicts[-1].feasible is not None else verdicts[0]
    counts = {name: max(getattr(v, name) for v in verdicts) for name in ("steps", "passes")}
    return replace(last, **counts)


# --- passes over the scores ---------------------------------------------------------------------------------


def _by_passes(pairs, k, max_passes, W0, watch):
    """The verdict of a search in passes, with what may be rounding left out, then to the last digit."""
    undecided, passes = None, 0
    for extent in (ROUNDED, 0.0):
        prepared = prepare(pairs, extent)
        begin = watch.resume(extent)
        if begin is None and W0 is not None:
            begin = State(prepared.start(W0.detach().double()), first_floor(pairs))
        try:
            end = search(
                prepared.pairs,
                k,
                begin,
                max_passes=max_passes,
                retrieves=partial(_memory_found, pairs, prepared, k),
                impossible=partial(_floor_found, pairs, prepared, k),
                watch=watch.after_step,
            )
        finally:
            watch.save(force=True)
        passes += end.state.passes
        margin = end.state.margin
        if end.certificate:
            return Verdict(end.certificate.feasible, end.certificate, margin, 0, passes=passes)
        verdict = Verdict(None, None, margin, 0, end.reason + prepared.left_out)
        likely = k == 1 and end.state.passes < max_passes and end.reason != CANCELLED_ALL
        if likely and pairs.m * pairs.n <= LARGEST_TABLE:
            verdict = _by_linear_program(pairs, prepared, k, end.state.W, verdict)
        if verdict.feasible is not None:
            return replace(verdict, passes=passes)
        undecided = undecided or verdict
        if not prepared.left_out:
            break
    return replace(undecided, passes=passes)


def _memory_found(given, prepared, k, W):
    """The certificate of a memory that a search found, or None if it proves nothing."""
    certificate = Certificate(k, W=prepared.memory(W).cpu().numpy())
    return certificate if verify(certificate, given) else None


def _floor_found(given, prepared, k, W, done, floor, change):
    """The certificate of weights that a memory and a floor give, or None if it proves nothing."""
    p, q = prepared.ranks
    _, power = math.frexp(float(given.U.abs().max()))
    rule = ComputedWeights(
        *(X.cpu().numpy() for X in (torch.ldexp(prepared.left[:p], torch.tensor(power)), prepared.right[:q])),
        *(X[:p, :q].cpu().numpy() for X in (W, change)),
        *(x.double().cpu().numpy() for x in (done.mu, torch.sigmoid(-done.margins))),
        floor,
    )
    certificate = Certificate(k, computed=rule)
    return certificate if verify(certificate, given) else None


# --- Newton's method ----------------------------------------------------------------------------------------


def _by_newton(pairs, k, max_steps, show, few):
    """The verdict of a search in the coordinates given, then in better ones, then to the last digit.

    Where few comparisons may contradict each other, a linear program looks for those in the end.
    """
    if has_usual_lengths(pairs):
        given = as_given(pairs)
        verdict, W = _newton(pairs, given, k, max_steps, show)
        small = pairs.n * (pairs.m - 1 if k == 1 else 1) * pairs.entries <= SMALL_PROGRAM
        if verdict.feasible is None and verdict.steps == max_steps and few and small:
            return _by_linear_program(pairs, given, k, W, verdict)
        if verdict.feasible is not None or verdict.steps == max_steps:
            return verdict
    undecided = None
    for floor in (ROUNDED, 0.0):
        prepared = prepare(pairs, floor)
        verdict, W = _newton(pairs, prepared, k, max_steps, show)
        if verdict.feasible is None and few:
            verdict = _by_linear_program(pairs, prepared, k, W, verdict)
        if verdict.feasible is not None:
            return verdict
        undecided = undecided or replace(verdict, reason=verdict.reason + prepared.left_out)
        if not prepared.left_out:
            break
    return undecided


def _by_linear_program(given, prepared, k, W, undecided):
    """The verdict of a linear program that begins where a search has ended, or the one there was."""
    memory, weights = contradiction(prepared.pairs, W, k)
    certificate = _proof(given, prepared, weights, k)
    if certificate:
        return Verdict(False, certificate, undecided.margin, undecided.steps)
    if memory is None:
        return undecided
    certificate = Certificate(k, W=prepared.memory(memory).cpu().numpy())
    worst = float(tail_margins(all_scores(prepared.pairs, memory), k, given.answers).min())
    margin = worst / (float(memory.norm()) / math.sqrt(given.entries))
    return Verdict(True, certificate, margin, undecided.steps) if verify(certificate, given) else undecided


def _newton(given, prepared, k, max_steps, show):
    """The verdict of Newton's method, and the last memory.

    At each memory first the margins and then the weights may prove one; weights on a few comparisons are left
    to a linear program, which finds the fewest.
    """
    pairs, few = prepared.pairs, min(FEW, prepared.pairs.entries) if k == 1 else 0
    started, loss, answers = time.monotonic(), loss_for(pairs.m, k), pairs.answers
    W, last, margin = pairs.U.new_zeros(pairs.d_out, pairs.d_in), None, -math.inf
    reason = f"undecided after {max_steps} Newton steps"
    for step in range(max_steps + 1):
        S = all_scores(pairs, W)
        worst = float(tail_margins(S, k, answers).min())
        margin = worst / (float(W.norm()) / math.sqrt(pairs.entries)) if step else margin
        show(f"decide: step {step}, worst margin {margin:.1e}, {time.monotonic() - started:.0f} s")
        if worst > 0:
            certificate = _memory_found(given, prepared, k, W)
            if certificate:
                return Verdict(True, certificate, margin, step), W
        if step == max_steps:
            break
        state = LossOfScores(loss, S, answers)
        solve = newton_solver(pairs, loss, W, float(cancellation(pairs, state.weights).norm()))
        if solve is None:
            reason = "the Hessian is singular: targets or keys lie in a subspace, or scores are too far apart"
            break
        weights = predicted_weights(pairs, state, solve, k)
        if weights is not None and int(weights.count_nonzero()) > few:
            certificate = _proof(given, prepared, weights, k)
            if certificate:
                return Verdict(False, certificate, margin, step), W
        moved, last = descend(pairs, loss, k, W, solve, last)
        if moved is None:
            reason = "no decrease left that double precision resolves, and neither certificate holds"
            break
        W = moved
    return Verdict(None, None, margin, step, reason), W


def _proof(given, prepared, weights, k):
    """The certificate of weights that a search found, or None if it proves nothing."""
    if weights is None:
        return None
    certificate = Certificate(k, weights=prepared.weights(weights).cpu().numpy())
    return certificate if verify(certificate, given) else None


def verify(certificate: Certificate | None, pairs: Pairs | Facts) -> bool:
    """Whether a certificate proves its claim about these pairs; rounding cannot make it say yes wrongly.

    Independent of how the certificate was found; see `assocmem.deciding.certificates`.

    Parameters
    ----------
    certificate : Certificate or None
        None, as an undecided verdict has it, proves nothing.
    pairs : Pairs or Facts

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        For what is neither a certificate nor None, or no pairs.
    """
    require_facts(pairs)
    if certificate is not None:
        require_instance("certificate", certificate, Certificate)
    return certificates.holds(certificate, *as_given_to_verifier(pairs))


# --- the memory of the machine ------------------------------------------------------------------------------


def decision_bytes(n: int, d: int, m: int | None = None) -> int:
    """Bytes that a decision takes at its peak: a factor, and the matrices of the verification.

    Parameters
    ----------
    n, d : int
        Number of keys, and the dimension; of a memory that is no square, the root of its entries.
    m : int, optional
        Number of targets, by default n.

    Returns
    -------
    int
    """
    return RUNTIME_BYTES + 8 * (9 * d**4 // 2 + 2 * n * d**2 + 12 * n * (n if m is None else m))


def card_bytes(n: int, d: int, m: int | None = None) -> int:
    """Bytes of a GPU that a decision takes at its peak: the Hessian beside its factor, and the scores.

    Parameters
    ----------
    n, d, m : int
        As for `decision_bytes`.

    Returns
    -------
    int
    """
    return RUNTIME_BYTES + 8 * (21 * d**4 // 10 + 2 * n * d**2 + 16 * n * (n if m is None else m))


def verification_bytes(n: int, d: int, m: int | None = None) -> int:
    """Bytes that the verification takes on the processor: its matrix, a copy, and the factor.

    Parameters
    ----------
    n, d, m : int
        As for `decision_bytes`.

    Returns
    -------
    int
    """
    return RUNTIME_BYTES + 8 * (7 * d**4 // 2 + 2 * n * d**2 + 4 * n * (n if m is None else m))


def largest_dimension(budget: float, bytes_at: Callable[[int, int], int] = card_bytes) -> int:
    """Largest dimension in which instances at the transition, ``d^2 = 2 n log n``, take no more memory.

    Parameters
    ----------
    budget : float
        Bytes.
    bytes_at : callable
        Of n and d: `card_bytes`, `verification_bytes`, or `decision_bytes` where all is done in one memory.

    Returns
    -------
    int
    """
    return largest_that_fits(lambda d: bytes_at(math.ceil(d**2 / 2 / lambertw(d**2 / 2).real), d), budget)


def dense_shortage(pairs: Pairs | Facts) -> str:
    """One line that says which memory is too small for Newton's method, or an empty string.

    Parameters
    ----------
    pairs : Pairs or Facts

    Returns
    -------
    str
    """
    size = math.isqrt(pairs.entries - 1) + 1

    def short(bytes_at, budget=None):
        return memory_shortage(lambda d: bytes_at(pairs.n, d, pairs.m), size, name="d", budget=budget)

    if pairs.U.device.type == "cpu":
        return short(decision_bytes)
    free, _ = torch.cuda.mem_get_info(pairs.U.device)
    return short(verification_bytes) or short(card_bytes, USABLE_SHARE * free)


def passes_bytes(n: int, d: int, *, m: int | None = None, d_out: int | None = None) -> int:
    """Bytes that a decision by passes takes at its peak.

    A pass, the steps remembered, the copies of the vectors that whitening makes, and the verification.

    Parameters
    ----------
    n, d : int
        Number and dimension of the keys.
    m, d_out : int, optional
        Of the targets, where they are others.

    Returns
    -------
    int
    """
    m, d_out = n if m is None else m, d if d_out is None else d_out
    vectors, steps = 12 * (n * d + m * d_out), 2 * (STEPS_REMEMBERED + 20) * d * d_out
    return peak_bytes(n, d, m=m, d_out=d_out) + 8 * (vectors + steps + 5 * max(BLOCK, m))


def passes_shortage(pairs: Pairs | Facts) -> str:
    """One line that says that the memory is too small for a search in passes, or an empty string.

    Parameters
    ----------
    pairs : Pairs or Facts

    Returns
    -------
    str
    """
    sizes = {} if isinstance(pairs, Pairs) else {"m": pairs.m, "d_out": pairs.d_out}
    return memory_shortage(lambda n: passes_bytes(n, pairs.d_in, **sizes), pairs.n)
