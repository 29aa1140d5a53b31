"""Does any memory retrieve this instance? A verdict, with a certificate that anyone can verify.

The unregularised loss decides. Where some memory retrieves every pair its infimum is zero, and on the way
there some iterate has all margins positive. Where none does, its minimum is attained at a finite memory (but
for cases like `hidden_target`), and there the derivatives of the loss in the scores are weights that cancel:
a dual certificate. Newton's method with the dense Hessian finds either. Near the transition the minimiser is
very large; the line search therefore looks at all combinations of the Newton step, the step before and W
itself, and scores are all it needs. Weights are taken as soon as those that the Newton step predicts, which
cancel up to rounding, are positive: before it converges.

At k = 1 the loss is cross-entropy. At k > 1 it is the smoothed tail average, of slightly more than k
competitors, so that weights stay off their upper bound; at k = n - 1, the mean, there is nothing to smooth.
"""

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.optimize import linprog
from scipy.special import lambertw

from assocmem.checks import require, require_integer
from assocmem.deciding import certificates
from assocmem.deciding.certificates import Certificate
from assocmem.machine import largest_that_fits, memory_shortage
from assocmem.pairs.scores import take_signal
from assocmem.pairs.sizes import RUNTIME_BYTES
from assocmem.progress import status_line
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import dense_hessian

WIDER = 1e-6  # share by which the tail exceeds k competitors
LEAP, LONGEST = 30.0, 100.0  # lengths of a Newton step, and of a memory after it, over that before
REUSES, GAIN = 9, 0.05  # searches with one Hessian at most, and how much each has to take off the loss
POLISHES, ROUNDED, CANCELLED = 12, 1e-15, 1e-9  # corrections, and what they may leave, in lengths of terms
SEARCH_STEPS, ENOUGH, RESOLVED, SHORTEST = 30, 0.01, 1e-15, 1e-6


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


def decide_top1(pairs, *, max_steps=200):
    """Decide whether any memory scores every target above all others (event PR_n, eq. ``PR-exists``).

    See `decide`.
    """
    return decide(pairs, 1, max_steps=max_steps)


def decide(pairs, k=1, *, max_steps=200):
    """Decide whether any memory has every signal beat the average of its k best competitors, and prove it.

    Memory and time grow as d^4 and d^6: dimension 90 takes 3 GiB and about a minute on two cores. Pairs on a
    GPU are decided there; the certificate is verified on the processor all the same, in its memory.

    Parameters
    ----------
    pairs : Pairs
        In general position, as random vectors are: where all targets, or all keys, lie in a subspace, the
        answer may be None.
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
    require_integer("k", k, 1)
    require(k < pairs.n, "k", k, f"at most n - 1 = {pairs.n - 1}")
    require_integer("max_steps", max_steps, 1)
    shortage = _shortage(pairs)
    require(not shortage, "pairs", f"dimension {pairs.d}", f"smaller, since {shortage}")
    pairs = replace(pairs, U=pairs.U.double(), V=pairs.V.double())
    certificate = _vanishing_comparison(pairs, k) or hidden_target(pairs, k)
    if certificate is not None and verify(certificate, pairs):
        return Verdict(False, certificate, -math.inf, 0)
    with status_line() as show:
        return _newton(pairs, k, max_steps, show)


def decision_bytes(n, d):
    """Bytes that a decision takes at its peak: a factor, and the matrices of the verification."""
    return RUNTIME_BYTES + 8 * (9 * d**4 // 2 + 2 * n * d**2 + 12 * n**2)


def card_bytes(n, d):
    """Bytes of a GPU that a decision takes at its peak: the Hessian beside its factor, and the scores."""
    return RUNTIME_BYTES + 8 * (21 * d**4 // 10 + 2 * n * d**2 + 16 * n**2)


def verification_bytes(n, d):
    """Bytes that the verification takes on the processor: its matrix, a copy, and the factor."""
    return RUNTIME_BYTES + 8 * (7 * d**4 // 2 + 2 * n * d**2 + 4 * n**2)


def largest_dimension(budget, bytes_at=card_bytes):
    """Largest dimension in which instances at the transition, ``d^2 = 2 n log n``, take no more memory.

    Parameters
    ----------
    budget : int
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
    return short(verification_bytes) or short(card_bytes, 0.9 * torch.cuda.mem_get_info(pairs.U.device)[0])


def verify(certificate, pairs):
    """Whether a certificate proves its claim about these pairs; rounding cannot make it say yes wrongly.

    Independent of how the certificate was found; see `assocmem.deciding.certificates`.

    Parameters
    ----------
    certificate : Certificate
    pairs : Pairs

    Returns
    -------
    bool
    """
    return certificates.holds(certificate, *_arrays(pairs))


def hidden_target(pairs, k=1):
    """A certificate that some target is an average of others, or None.

    Such a target never has the largest product with anything, whatever its key. It does not happen in high
    dimension, but one in ten instances of 20 pairs in d = 7 has one. Where the other keys can all be
    satisfied by a memory that sends this one's to zero, the loss has no minimum.
    Most targets are seen not to be by one product, that with themselves.

    Parameters
    ----------
    pairs : Pairs
    k : int
        As in `decide`.

    Returns
    -------
    Certificate or None
        Not verified yet.
    """
    U, _ = _arrays(pairs)
    seen = tail_margins(pairs.U.T @ (pairs.U - pairs.U.mean(dim=1, keepdim=True)), k) > 0
    most = 1 / k if k in (1, pairs.n - 1) else 1 / (k * (1 + WIDER))
    right = np.append(np.zeros(pairs.d), 1.0)
    for i in np.flatnonzero(~seen.cpu().numpy()):
        gaps = np.delete(U[:, i : i + 1] - U, i, axis=1)
        equal = np.vstack([gaps / np.abs(gaps).max(), np.ones(pairs.n - 1)])
        found = linprog(np.zeros(pairs.n - 1), A_eq=equal, b_eq=right, bounds=(0, most))
        if found.status == 0:
            weights = np.zeros((pairs.n, pairs.n))
            weights[np.arange(pairs.n) != i, i] = found.x
            return Certificate(k, weights=weights)
    return None


# --- the search ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _WiderTail(TailAverage):
    """The tail average of a number of competitors that need not be whole."""

    size: float = 1.0

    def tail(self, m):
        return min(self.size, m)


def _loss(n, k):
    if k == 1:
        return CrossEntropy()
    if k == n - 1:
        return TailAverage(r=1.0, beta=1.0)
    return _WiderTail(r=k / (n - 1), beta=1.0, size=k * (1 + WIDER))


def _newton(pairs, k, max_steps, show):
    """Newton's method on the loss without a ridge, until a certificate of either answer is verified.

    A loop of its own beside that of `assocmem.training.descent`: there may be no minimum to converge to, so
    that no duality gap tells when to stop, and scores are stored, so that a line search can look at the whole
    span of a few directions without a pass.
    """
    started, loss = time.monotonic(), _loss(pairs.n, k)
    W, last, margin = pairs.U.new_zeros(pairs.d, pairs.d), None, -math.inf
    reason = f"undecided after {max_steps} Newton steps"
    for step in range(max_steps + 1):
        S = _scores(pairs, W)
        worst = float(tail_margins(S, k).min())
        margin = worst / (float(W.norm()) / pairs.d) if step else margin
        show(f"decide: step {step}, worst margin {margin:.1e}, {time.monotonic() - started:.0f} s")
        if worst > 0:
            certificate = Certificate(k, W=W.cpu().numpy())
            if verify(certificate, pairs):
                return Verdict(True, certificate, margin, step)
        if step == max_steps:
            break
        state = _State(loss, S)
        solve = _factor(pairs, loss, W, float(cancellation(pairs, state.weights).norm()))
        if solve is None:
            reason = "the Hessian is singular: targets or keys lie in a subspace, or scores are too far apart"
            break
        certificate = _weights(pairs, state, solve, k)
        if certificate is not None and verify(certificate, pairs):
            return Verdict(False, certificate, margin, step)
        moved, last = _descend(pairs, loss, k, W, solve, last)
        if moved is None:
            reason = "no decrease left that double precision resolves, and neither certificate holds"
            break
        W = moved
    return Verdict(None, None, margin, step, reason)


def _descend(pairs, loss, k, W, solve, last):
    """Newton steps with one Hessian for as long as they gain.

    Each searches the span of the step, of the memory itself and of the step before. Returns the memory and
    its last step, or None and the step where nothing was gained.
    """
    moved = None
    for _ in range(REUSES):
        S = _scores(pairs, W)
        if moved is not None and float(tail_margins(S, k).min()) > 0:
            break
        state = _State(loss, S)
        directions = [-solve(cancellation(pairs, state.weights))]
        directions += [D for D in (W, last) if D is not None and bool(D.any())]
        step, value = _best_in_span(pairs, loss, state, S, directions, float(W.norm()))
        if step is None:
            break
        last, W = (step if bool(W.any()) else None), W + step
        moved = W
        if value > (1 - GAIN) * state.value:
            break
    return moved, last


def tail_margins(S, k):
    """Signal of each key less the average of its k best competitors, from scores S of shape (n, n)."""
    rivals = S.clone()
    signal = take_signal(rivals, slice(0, len(S)), -math.inf)
    best = rivals.amax(dim=0) if k == 1 else rivals.topk(k, dim=0).values.mean(dim=0)
    return signal - best


class _State:
    """Loss of the scores, its derivatives, and how they answer to a change of the memory."""

    def __init__(self, loss, S):
        self.T = S.clone()
        signal = take_signal(self.T, slice(0, len(S)), -math.inf)
        c, _ = loss.aggregate(self.T)
        self.value = -float(torch.nn.functional.logsigmoid(signal - c).sum())
        self.a = torch.sigmoid(c - signal)
        self.weights = self.a * self.T
        self.C = loss.curvature(self.T)

    def response(self, t):
        """Derivative of the weights when the scores move along ``t``, shape (n, n) or (b, n, n)."""
        rise = (self.T * t).sum(dim=-2) - t.diagonal(dim1=-2, dim2=-1)
        total = self.C.sum(dim=-2).clamp_(min=torch.finfo(t.dtype).tiny)
        t = self.C * (t - ((self.C * t).sum(dim=-2) / total).unsqueeze(-2))
        return self.a * t + self.weights * ((1 - self.a) * rise).unsqueeze(-2)


def cancellation(pairs, weights):
    """Minus ``sum lam_ij A_ij``, the gradient of the loss that has these weights; zero for a certificate.

    Parameters
    ----------
    pairs : Pairs
    weights : Tensor, shape (n, n)
        ``weights[j, i]`` of competitor j of key i, zero on the diagonal.

    Returns
    -------
    Tensor, shape (d, d)
    """
    return (pairs.U @ weights - pairs.U * weights.sum(dim=0)) @ pairs.V.T


def _factor(pairs, loss, W, slope):
    """Solver with the Hessian of the summed loss and just enough ridge to keep steps from leaping.

    Where scores are far apart most weights are next to nothing, and the Hessian is all but singular. With a
    ridge of ``slope``, the norm of the gradient, over a length no step is longer than that; as the gradient
    vanishes so does the ridge. None if there is no factor all the same.
    """
    H = dense_hessian(pairs, loss, W).mul_(pairs.n)
    diagonal = H.diagonal()
    size = float(diagonal.mean())
    diagonal.add_(slope / (LEAP * max(float(W.norm()), pairs.d)))
    for jitter in (1e-14, 1e-12, 1e-10):
        diagonal.add_(jitter * size)
        L, failed = torch.linalg.cholesky_ex(H)
        if not int(failed) and bool(torch.isfinite(L.diagonal()).all()):
            return lambda X: _twice_triangular(L, X.reshape(-1, 1)).reshape(X.shape)
    return None


def _twice_triangular(L, b):
    """Solution of ``L L' x = b``; eight times as fast as `torch.cholesky_solve`, which copies L first."""
    return torch.linalg.solve_triangular(L.mT, torch.linalg.solve_triangular(L, b, upper=False), upper=True)


def _weights(pairs, state, solve, k):
    """Weights that cancel up to rounding, if those the Newton step predicts are positive; else None.

    Negative ones are set to zero, which does no harm where they are tiny, and what that leaves is solved for
    again.
    """
    Y, lengths = torch.zeros_like(pairs.U @ pairs.V.T), pairs.U.norm(dim=0).max() * pairs.V.norm(dim=0).max()
    for count in range(POLISHES):
        weights = (state.weights - state.response(_scores(pairs, Y))).clamp_(min=0).fill_diagonal_(0)
        rest = cancellation(pairs, weights)
        left = float(rest.norm() / (weights.sum() * lengths))
        if not left > ROUNDED or (count > 2 and left > 1e-3):
            break
        Y = Y + solve(rest)
    if not left <= CANCELLED:
        return None
    if k == len(weights) - 1:
        weights = (weights.sum(dim=0) / k).expand_as(weights).clone().fill_diagonal_(0)
    return Certificate(k, weights=weights.cpu().numpy())


def _best_in_span(pairs, loss, state, S, directions, size):
    """The combination of directions that minimises the loss, by Newton's method in two or three variables.

    Scores move along with the memory, so that no pass is needed. Returns the step and the loss after it, or
    None and the loss as it was.
    """
    T = torch.stack([_scores(pairs, D) for D in directions])
    lengths = torch.stack([D.norm() for D in directions])
    place, longest = S.new_zeros(len(T)), LONGEST * max(size, pairs.d)
    for count in range(SEARCH_STEPS):
        before = state.value
        move, decrease = _span_step(state, T)
        if not decrease > (ENOUGH if count else RESOLVED) * before:
            break
        step, found = 1.0, None
        while step > SHORTEST:
            trial = place + step * move
            short = float(trial.abs() @ lengths) <= longest
            following = _State(loss, S + torch.tensordot(trial, T, 1)) if short else None
            drop = (found[1] if found else state).value - following.value if following else -math.inf
            if drop > 1e-4 * step * decrease:
                found = trial, following
                if drop < 0.7 * step * decrease:  # no more than a quadratic function would
                    break
                step *= 2
            elif found:
                break
            else:
                step /= 2
        if not found:
            break
        place, state = found
        if before - state.value <= ENOUGH * before:
            break
    step = torch.tensordot(place, torch.stack(directions), 1) if bool(place.any()) else None
    return step, state.value


def _span_step(state, T):
    """Newton step along the scores ``T`` of a few directions, and the decrease it promises twice over."""
    flat, signals = T.flatten(1), T.diagonal(dim1=1, dim2=2)
    change = state.response(T)
    slope = flat @ state.weights.flatten() - signals @ state.weights.sum(dim=0)
    bend = change.flatten(1) @ flat.T - change.sum(dim=1) @ signals.T
    scale = bend.diagonal().clamp(min=torch.finfo(T.dtype).tiny).sqrt()
    bend = bend / scale / scale[:, None] + 1e-10 * torch.eye(len(T), dtype=T.dtype, device=T.device)
    move = -torch.linalg.solve(bend, slope / scale) / scale
    return move, -float(slope @ move)


def _scores(pairs, W):
    return pairs.U.T @ (W @ pairs.V)


def _vanishing_comparison(pairs, k):
    """A certificate of a comparison that is zero whatever the memory, or None."""
    U, V = _arrays(pairs)
    weights = np.zeros((pairs.n, pairs.n))
    empty = np.flatnonzero(~V.any(axis=0))
    if len(empty):
        weights[:, empty[0]] = 1.0
    elif k == 1:
        _, first, group = np.unique(U, axis=1, return_index=True, return_inverse=True)
        twin = first[group.reshape(-1)]
        if not (doubled := np.flatnonzero(twin != np.arange(pairs.n))).size:
            return None
        weights[twin[doubled[0]], doubled[0]] = 1.0
    else:
        return None
    np.fill_diagonal(weights, 0)
    return Certificate(k, weights=weights)


def _arrays(pairs):
    return tuple(X.detach().cpu().numpy().astype(np.float64) for X in (pairs.U, pairs.V))
