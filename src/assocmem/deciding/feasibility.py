"""Does any memory retrieve this instance? A verdict, with a certificate that anyone can verify.

The unregularised loss decides. Where some memory retrieves every pair its infimum is zero, and on the way
there some iterate has all margins positive. Where none does, its minimum is attained at a finite memory (but
for cases like `assocmem.deciding.hopeless.hidden_target`), and there the derivatives of the loss in the
scores are weights that cancel: a dual certificate. Newton's method with the dense Hessian finds either; its
steps are in `assocmem.deciding.search`.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from scipy.special import lambertw

from assocmem.checks import require, require_instance, require_integer
from assocmem.deciding import certificates
from assocmem.deciding.certificates import FEW, Certificate
from assocmem.deciding.comparisons import as_arrays, cancellation, tail_margins
from assocmem.deciding.contradiction import contradiction
from assocmem.deciding.hopeless import hidden_target, vanishing_comparison
from assocmem.deciding.preparation import ROUNDED, as_given, has_usual_lengths, prepare
from assocmem.deciding.search import (
    LossOfScores,
    all_scores,
    descend,
    loss_for,
    newton_solver,
    predicted_weights,
)
from assocmem.machine import largest_that_fits, memory_shortage
from assocmem.pairs.data import Pairs, require_pairs
from assocmem.pairs.sizes import RUNTIME_BYTES
from assocmem.progress import status_line

USABLE_SHARE = 0.9
"""Share of a card's free memory that a decision may take, so that what else happens there finds some."""


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
        Smallest margin of the last memory tried over its ``nu = |W|_F / d``: positive if feasible, and how
        near one came if not; ``-inf`` where the answer needed none.
    steps : int
        Newton steps taken.
    reason : str
        Why there is no verdict; otherwise empty.
    """

    feasible: bool | None
    certificate: Certificate | None
    margin: float
    steps: int
    reason: str = ""


def decide_top1(pairs: Pairs, *, max_steps: int = 200) -> Verdict:
    """Decide whether any memory scores every target above all others (event PR_n, eq. ``PR-exists``).

    Parameters
    ----------
    pairs : Pairs
        As for `decide`.
    max_steps : int
        As for `decide`.

    Returns
    -------
    Verdict
        As for `decide`.

    Raises
    ------
    ValueError
        For a number of steps out of range, or an instance too large for the memory there is.
    """
    return decide(pairs, 1, max_steps=max_steps)


def decide(pairs: Pairs, k: int = 1, *, max_steps: int = 200) -> Verdict:
    """Decide whether any memory has every signal beat the average of its k best competitors, and prove it.

    Memory and time grow as d^4 and d^6: dimension 90 takes 3 GiB and about a minute on two cores. Pairs on a
    GPU are decided there; the certificate is verified on the processor all the same, in its memory.

    Parameters
    ----------
    pairs : Pairs
        Any vectors: lengths, units, correlations and subspaces do not matter, but for what rounding makes of
        them. Their numbers are taken as exact.
    k : int
        Between 1, the top-1 criterion, and ``n - 1``, where the signal has to beat the mean.
    max_steps : int
        Newton steps after which to give up.

    Returns
    -------
    Verdict
        Its certificate has been verified; no answer rests on rounding.

    Raises
    ------
    ValueError
        For a k or number of steps out of range, or an instance too large for the memory there is.
    """
    require_pairs(pairs)
    require_integer("k", k, 1)
    require(k < pairs.n, "k", k, f"at most n - 1 = {pairs.n - 1}")
    require_integer("max_steps", max_steps, 1)
    shortage = _shortage(pairs)
    require(not shortage, "pairs", f"dimension {pairs.d}", f"smaller, since {shortage}")
    pairs = replace(pairs, U=pairs.U.double(), V=pairs.V.double())
    certificate = vanishing_comparison(pairs, k) or hidden_target(pairs, k)
    if certificate is not None and verify(certificate, pairs):
        return Verdict(False, certificate, -math.inf, 0)
    with status_line() as show:
        return _search(pairs, k, max_steps, show)


def _search(pairs, k, max_steps, show):
    """The verdict of a search in the coordinates given, then in better ones, then to the last digit."""
    if has_usual_lengths(pairs):
        verdict, _ = _newton(pairs, as_given(pairs), k, max_steps, show)
        if verdict.feasible is not None or verdict.steps == max_steps:
            return verdict
    undecided = None
    for floor in (ROUNDED, 0.0):
        prepared = prepare(pairs, floor)
        verdict, W = _newton(pairs, prepared, k, max_steps, show)
        if verdict.feasible is None and k == 1:
            verdict = _by_linear_program(pairs, prepared, W, verdict)
        if verdict.feasible is not None:
            return verdict
        undecided = undecided or replace(verdict, reason=verdict.reason + prepared.left_out)
        if not prepared.left_out:
            break
    return undecided


def _by_linear_program(given, prepared, W, undecided):
    """The verdict of a linear program that begins where a search has ended, or the one there was."""
    memory, weights = contradiction(prepared.pairs, W)
    certificate = _proof(given, prepared, weights, 1)
    if certificate:
        return Verdict(False, certificate, undecided.margin, undecided.steps)
    if memory is None:
        return undecided
    certificate = Certificate(1, W=prepared.memory(memory).cpu().numpy())
    margin = float(tail_margins(all_scores(prepared.pairs, memory), 1).min()) / (
        float(memory.norm()) / given.d
    )
    return Verdict(True, certificate, margin, undecided.steps) if verify(certificate, given) else undecided


def _newton(given, prepared, k, max_steps, show):
    """The verdict of Newton's method, and the last memory.

    At each memory first the margins and then the weights may prove one; weights on a few comparisons are left
    to a linear program, which finds the fewest.
    """
    pairs, few = prepared.pairs, min(FEW, prepared.pairs.d**2) if k == 1 else 0
    started, loss = time.monotonic(), loss_for(pairs.n, k)
    W, last, margin = pairs.U.new_zeros(pairs.d, pairs.d), None, -math.inf
    reason = f"undecided after {max_steps} Newton steps"
    for step in range(max_steps + 1):
        S = all_scores(pairs, W)
        worst = float(tail_margins(S, k).min())
        margin = worst / (float(W.norm()) / pairs.d) if step else margin
        show(f"decide: step {step}, worst margin {margin:.1e}, {time.monotonic() - started:.0f} s")
        if worst > 0:
            certificate = Certificate(k, W=prepared.memory(W).cpu().numpy())
            if verify(certificate, given):
                return Verdict(True, certificate, margin, step), W
        if step == max_steps:
            break
        state = LossOfScores(loss, S)
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


def verify(certificate: Certificate | None, pairs: Pairs) -> bool:
    """Whether a certificate proves its claim about these pairs; rounding cannot make it say yes wrongly.

    Independent of how the certificate was found; see `assocmem.deciding.certificates`.

    Parameters
    ----------
    certificate : Certificate or None
        None, as an undecided verdict has it, proves nothing.
    pairs : Pairs

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        For what is neither a certificate nor None, or no pairs.
    """
    require_pairs(pairs)
    if certificate is not None:
        require_instance("certificate", certificate, Certificate)
    return certificates.holds(certificate, *as_arrays(pairs))


# --- the memory of the machine ------------------------------------------------------------------------------


def decision_bytes(n: int, d: int) -> int:
    """Bytes that a decision takes at its peak: a factor, and the matrices of the verification.

    Parameters
    ----------
    n, d : int

    Returns
    -------
    int
    """
    return RUNTIME_BYTES + 8 * (9 * d**4 // 2 + 2 * n * d**2 + 12 * n**2)


def card_bytes(n: int, d: int) -> int:
    """Bytes of a GPU that a decision takes at its peak: the Hessian beside its factor, and the scores.

    Parameters
    ----------
    n, d : int

    Returns
    -------
    int
    """
    return RUNTIME_BYTES + 8 * (21 * d**4 // 10 + 2 * n * d**2 + 16 * n**2)


def verification_bytes(n: int, d: int) -> int:
    """Bytes that the verification takes on the processor: its matrix, a copy, and the factor.

    Parameters
    ----------
    n, d : int

    Returns
    -------
    int
    """
    return RUNTIME_BYTES + 8 * (7 * d**4 // 2 + 2 * n * d**2 + 4 * n**2)


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


def _shortage(pairs):
    """One line that says which memory is too small, or an empty string."""

    def short(bytes_at, budget=None):
        return memory_shortage(lambda d: bytes_at(pairs.n, d), pairs.d, name="d", budget=budget)

    if pairs.U.device.type == "cpu":
        return short(decision_bytes)
    free, _ = torch.cuda.mem_get_info(pairs.U.device)
    return short(verification_bytes) or short(card_bytes, USABLE_SHARE * free)
