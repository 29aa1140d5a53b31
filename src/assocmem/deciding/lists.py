"""Can any memory have every signal q spreads above zero? A verdict with a certificate (not in the paper).

With ``q = Phi^-1(1 - r)`` this is what a place in the top share r of the list comes to where the scores of a
key are Gaussian: ``u_i' W v_i > q |W v_i| / sqrt(d)``, a second-order cone a key. Minimisers of the list loss
decide, at levels q' a little beside q:

- below, at ``q' = q (1 - eta)``: where no memory reaches q', the derivatives a_i of the loss at its minimum
  and the directions ``e_i = (q' / q) W v_i / |W v_i|`` cancel up to what the ridge leaves, and the e_i have
  the room eta in the unit ball to make up for that. What is left over is moved into the e_i, and those that
  become too long are cut, in turn;
- above, at ``q' = q (1 + eta)``: a minimiser gives up some keys there, and at q itself it has them all.

The smaller eta, the nearer a decision comes to the transition and the longer it takes. Keys are first mapped
to vectors that look alike in all directions, which changes neither question nor answer.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import linprog
from scipy.special import ndtr

from assocmem.checks import require, require_instance, require_integer
from assocmem.deciding.comparisons import as_given_to_verifier
from assocmem.deciding.list_certificates import ListCertificate, level_bounds, list_holds
from assocmem.machine import memory_shortage
from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.training.list_fit import fit_list, list_fit_bytes
from assocmem.training.list_loss import ListPass, list_level, list_pass

BESIDE = (0.1, 0.03, 0.01, 0.003, 0.001)
"""Shares by which levels lie beside that of the question."""

RIDGES = (1e-2, 1e-4, 1e-6, 1e-8)
"""Of the fits at each level, for targets of length one."""

RIDGES_OF_HALF = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""The same where there is no spread, and so no room for what a ridge leaves over."""

HALF = 1e-3
"""Level, for targets of length one, below which proofs are looked for that leave the spreads out: there is
hardly any room in these."""

ROUGHLY = 1e-3
"""Relative gap of these fits: it is not the minimum that is asked for."""

PASSES_OF_A_FIT = 500
"""After which one is left: those beside the question need some tens to a few hundred."""

ROUNDS = 60
"""In which vectors are made to cancel and cut to the ball in turn."""

CUT, ALLOWED = 1 - 1e-7, 1 - 1e-9
"""Lengths to which vectors are cut, and that they may have after the last correction: rounding needs room."""

NO_EXTENT = 1e-12
"""Share of the largest extent of the keys below which a direction counts as none."""

SMALL_PROGRAM = 1_000_000
"""Entries of a linear program up to which it is tried: seconds."""

LARGEST_HALF = 2500
"""Entries of a memory up to which a proof for half of the list is looked for: it takes their fourth power."""


@dataclass(frozen=True)
class ListVerdict:
    """Whether some memory has every signal q spreads above zero.

    Attributes
    ----------
    feasible : bool or None
        None where neither answer was proved.
    certificate : ListCertificate or None
        The proof, verified.
    margin : float
        Of the memories tried, the largest that the smallest of ``u_i' W v_i - q |W v_i| / sqrt(d)`` has been
        over ``|W|_F / d``, with keys mapped to length one that look alike in all directions: positive if
        feasible, and how near one came if not; ``-inf`` where the answer needed none.
    passes : int
        Passes over the vectors taken.
    reason : str
        Why there is no verdict; otherwise empty.
    """

    feasible: bool | None
    certificate: ListCertificate | None
    margin: float
    passes: int
    reason: str = ""


def decide_list(pairs: Pairs | Facts, r: float, *, max_passes: int = 10_000) -> ListVerdict:
    """Decide whether any memory has every signal at least q spreads above zero, and prove it.

    Parameters
    ----------
    pairs : Pairs or Facts
        Their numbers are taken as exact.
    r : float
        Share of the list, in (0, 1/2].
    max_passes : int
        Passes over the vectors after which to give up.

    Returns
    -------
    ListVerdict
        Its certificate has been verified; no answer rests on rounding.

    Raises
    ------
    ValueError
        For a share or number of passes out of range, an instance too large for the memory there is, or
        vectors so long or so short that squares overflow or vanish.

    Notes
    -----
    Left open are instances whose transition lies within a thousandth of q, those of targets in one dimension
    whose minimisers lie on kinks, keys so nearly dependent that rounding hides it, and, where no memory does
    it, half of the list in more than fifty dimensions.
    """
    require_facts(pairs)
    list_level(r)
    require_integer("max_passes", max_passes, 1)
    sizes = {} if isinstance(pairs, Pairs) else {"m": pairs.m, "d_out": pairs.d_out}
    shortage = memory_shortage(lambda n: 2 * list_fit_bytes(n, pairs.d_in, **sizes), pairs.n)
    require(not shortage, "pairs", f"{pairs.n} pairs", f"fewer, since {shortage}")
    pairs, r = pairs.with_vectors(pairs.U.double(), pairs.V.double()), float(r)
    certificate = _single_key(pairs, r)
    if certificate is not None and verify_list(certificate, pairs, r):
        return ListVerdict(False, certificate, -math.inf, 0)
    search = _Search(pairs, r, max_passes)
    try:
        search.go()
    except _Proved as proof:
        return ListVerdict(proof.certificate.feasible, proof.certificate, search.margin, search.passes)
    return ListVerdict(None, None, search.margin, search.passes, search.reason)


def verify_list(certificate: ListCertificate | None, pairs: Pairs | Facts, r: float) -> bool:
    """Whether a certificate proves its claim about these pairs and this share; rounding cannot fool it.

    Independent of how the certificate was found; see `assocmem.deciding.list_certificates`.

    Parameters
    ----------
    certificate : ListCertificate or None
        None, as an undecided verdict has it, proves nothing.
    pairs : Pairs or Facts
    r : float
        Share of the list, in (0, 1/2].

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        For what is neither a certificate nor None, no pairs, or a share out of range.
    """
    require_facts(pairs)
    list_level(r)
    if certificate is None:
        return False
    require_instance("certificate", certificate, ListCertificate)
    U, V, answers = as_given_to_verifier(pairs)
    return list_holds(certificate, U, V, float(r), answers)


class _Proved(Exception):
    """A certificate that has been verified ends the search."""

    def __init__(self, certificate: ListCertificate):
        super().__init__()
        self.certificate = certificate


def _single_key(pairs: Pairs | Facts, r: float) -> ListCertificate | None:
    """The certificate of one key that no memory can place: it is zero, or its target is too short."""
    size = level_bounds(r)[0] / math.sqrt(pairs.d_out)
    lengths = torch.linalg.vector_norm(pairs.answered(), dim=0)
    zero = ~pairs.V.any(dim=0)
    key = int(zero.double().argmax()) if bool(zero.any()) else int(lengths.argmin())
    if not (bool(zero.any()) or float(lengths[key]) <= size):
        return None
    weights, vectors = np.zeros(pairs.n), np.zeros((pairs.d_out, pairs.n))
    weights[key] = 1.0
    if not bool(zero.any()) and size > 0:
        vectors[:, key] = (pairs.answered()[:, key] / size).cpu().numpy()
    return ListCertificate(r, weights=weights, vectors=vectors)


class _Search:
    """Fits at levels beside the question, with what they prove looked at after each, and at every pass."""

    def __init__(self, pairs: Pairs | Facts, r: float, max_passes: int):
        self.given, self.r, self.left = pairs, r, max_passes
        self.q, self.kappa = list_level(r), list_level(r) / math.sqrt(pairs.d_out)
        self.max_passes, self.margin = max_passes, -math.inf
        self.map, self.factors, keys = _evened(pairs.V)
        self.pairs = Facts(pairs.U, keys, pairs.answers)
        self.targets = pairs.answered()
        self.scale = float((self.targets**2).sum(dim=0).mean())  # a memory is as large as one over its root
        self.reason = "no proof at any level tried: the question is too near to the transition"
        self.W = None
        self.afresh = False  # whether what is stuck on a kink is left there, and the next fit begins at zero

    @property
    def passes(self) -> int:
        """Taken so far."""
        return self.max_passes - self.left

    def go(self) -> None:
        """Fit at level after level; ends by `_Proved`, or when there is nothing left to try.

        Each fit goes on from the one before it, though one that is stuck on a kink can hold all others there.
        So what has not been decided that way is tried once more.
        """
        if self.q < HALF * math.sqrt(self.scale):
            self.at_level(0.0, RIDGES_OF_HALF)
            self.by_linear_program()
        if self.q == 0:
            return
        for self.afresh in (False, True):
            for share in BESIDE:
                for level in (self.q * (1 - share), self.q * (1 + share)):
                    self.at_level(level, RIDGES)
                    if self.left <= 0:
                        self.reason = f"undecided after {self.max_passes} passes"
                        return

    def at_level(self, level: float, ridges: tuple[float, ...]) -> None:
        """Fit with smaller and smaller ridges until it is clear whether a memory reaches this level."""
        r = float(ndtr(-level)) if level else 0.5
        for ridge in ridges:
            if self.left <= 0:
                return
            most = min(self.left, PASSES_OF_A_FIT)
            start = None if self.W is None or not bool(self.W.any()) else self.W
            fit = fit_list(
                self.pairs,
                r,
                ridge=ridge * self.scale,
                tol=ROUGHLY,
                max_passes=most,
                W0=start,
                until=lambda W, done: self.seen(W, done, level),
            )
            self.left -= fit.passes
            self.W = None if self.afresh and not fit.converged else fit.W
            if float(fit.margins.min()) > 0 or self.cancels(fit.W, r, level):
                return

    def seen(self, W: torch.Tensor, done: ListPass, level: float) -> bool:
        """Look at every memory on the way: it may have all signals high enough. Never ends a fit itself."""
        size = float(W.norm()) / math.sqrt(W.numel())
        margins = done.margins - (self.q - level) * done.spreads
        worst = float(margins.min())
        if size > 0:
            self.margin = max(self.margin, worst / size)
        if worst > 0:
            certificate = ListCertificate(self.r, W=(W @ self.map).cpu().numpy())
            if verify_list(certificate, self.given, self.r):
                self.left -= 1
                raise _Proved(certificate)
        return False

    def cancels(self, W: torch.Tensor, r: float, level: float) -> bool:
        """Whether weights and vectors at a minimiser cancel, so that no memory reaches this level or q.

        Where they do it within the unit ball of q, that is proved; within that of the level, if it lies above
        q, there is nothing to be had at this level.
        """
        done = list_pass(self.pairs, r, W)
        self.left -= 1
        a, V = torch.sigmoid(-done.margins), self.pairs.V
        if level == 0:
            if self.pairs.entries <= LARGEST_HALF:
                self.prove(a, torch.zeros_like(self.targets))
            else:
                self.reason = (
                    "for half of the list the proof that no memory does it is found in small dimensions"
                )
            return False
        kappa = max(level / math.sqrt(self.pairs.d_out), self.kappa)
        gram = torch.linalg.pinv((V * a) @ V.T, hermitian=True)
        F = self.targets - done.features  # q' / sqrt(d) times the directions
        for _ in range(ROUNDS):
            left = ((self.targets - F) * a) @ V.T
            F = F + (left @ gram) @ V
            self.left -= 1
            lengths = torch.linalg.vector_norm(F, dim=0)
            if float(lengths.max()) <= ALLOWED * kappa:
                if kappa == self.kappa:
                    self.prove(a, F / kappa)
                return True
            F = F * (CUT * kappa / lengths).clamp(max=1)
        return False

    def by_linear_program(self) -> None:
        """Look for weights on few keys that cancel with no spread; the minimum of a loss hides such keys."""
        entries, n = self.pairs.entries, self.pairs.n
        if entries * n > SMALL_PROGRAM:
            return
        terms = self.targets[:, None] * self.pairs.V[None]
        table = torch.cat([terms.reshape(entries, n), torch.ones_like(terms[:1, 0])]).cpu().numpy()
        solved = linprog(np.zeros(n), A_eq=table, b_eq=np.append(np.zeros(entries), 1.0), bounds=(0, None))
        if solved.status == 0:
            weights = torch.from_numpy(solved.x).to(self.pairs.V)
            self.prove(weights, torch.zeros_like(self.targets))

    def prove(self, weights: torch.Tensor, vectors: torch.Tensor) -> None:
        """End the search if weights of the mapped keys, and vectors, are a proof that no memory does it."""
        weights = (weights * self.factors).cpu().numpy()
        certificate = ListCertificate(self.r, weights=weights, vectors=vectors.cpu().numpy())
        if verify_list(certificate, self.given, self.r):
            raise _Proved(certificate)


def _evened(V: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A map A of the keys, factors c, and the keys ``c_i A v_i`` of length one that look alike all around."""
    lengths = torch.linalg.vector_norm(V, dim=0)
    unit = V / lengths
    values, axes = torch.linalg.eigh(unit @ unit.T / V.shape[1])
    inverse = torch.where(values > NO_EXTENT * values[-1], values.clamp(min=NO_EXTENT * values[-1]), math.inf)
    A = (axes * inverse.rsqrt()) @ axes.T
    mapped = A @ unit
    again = torch.linalg.vector_norm(mapped, dim=0)
    return A, 1 / (lengths * again), mapped / again
