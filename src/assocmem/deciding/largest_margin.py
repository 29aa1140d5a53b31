"""The memory with the largest worst margin for its norm, and a bound that shows how near it is.

Whatever is done to a memory or to a query later (noise, rounding, a few entries lost) moves its scores, and a
key is lost when its margin is used up. The memory that has the most to lose solves

    max  min_ij <A_ij, W>   subject to   |W|_F = 1,      A_ij = (u_a_i - u_j) v_i',   j != a_i,

in the coordinates given. Where it is positive this is ``min |W|_F^2 / 2`` subject to ``<A_ij, W> >= 1``, the
support vector machine of Vapnik without offsets, with one comparison a pair of key and competitor. The dual
weights ``lam_ij >= 0`` that go with it, ``W = sum lam A``, bound the margin of every memory by
``|sum lam A|_F / sum lam`` (`assocmem.deciding.margin_bounds`).

An augmented Lagrangian solves it: squares of what is missing, with weights that learn from what was missing
before. Each of its problems is piecewise quadratic and is solved by Newton's method, whose matrix ``1 + sigma
sum A A'`` goes over the comparisons that are missing something. They are some d^2 of the m n, so a step of
conjugate gradients costs about ``4 n d^2`` operations, and only the passes that find them look at all scores.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch

from assocmem.checks import require, require_integer, require_number
from assocmem.deciding.comparisons import as_given_to_verifier
from assocmem.deciding.margin_bounds import margin_from_below, verify_margin_bound
from assocmem.machine import memory_shortage
from assocmem.memories.conjugate_gradients import conjugate_gradients
from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.pairs.scores import require_memory_matrix, score_blocks, take_signal
from assocmem.pairs.sizes import peak_bytes

FIRST_STIFFNESS, LAST_STIFFNESS, GROWTH = 4.0, 1e4, 2.0
"""Weight of the squares at first and at most, and its factor after each problem. Chosen by trial."""

START = 3.0
"""Signal of the outer products to begin with, in units of the level asked for. Chosen by trial: of a larger
multiple fewer comparisons are missing something."""

INNER = 0.1
"""Accuracy of a problem relative to the gap that is left. Chosen by trial."""

FORCING = 0.1
"""Accuracy of a Newton step at most. It is tightened as the gradient falls."""

CG_STEPS = 300
"""Steps of conjugate gradients at most for one Newton step."""

NEWTON_STEPS = 30
"""Newton steps at most for one problem: they are few, and what is left is for the next."""

HOPELESS = 1e-6
"""A bound so small, relative to the margin that one comparison alone could have over the root of the number
of entries, that no memory is expected to have a margin."""

SHORTEST_STEP = 1e-3
"""Share of a Newton step below which a problem is left as it is."""

GATHERED = 2**22
"""Numbers of the vectors of comparisons that are gathered at a time: 32 MiB in float64."""


@dataclass(frozen=True)
class LargestMargin:
    """A memory, its worst margin, and a bound on the worst margin of any memory.

    Attributes
    ----------
    W : Tensor, shape (d_out, d_in)
        Of Frobenius norm one, up to rounding, and of the pairs' dtype.
    margin : float
        Worst margin of ``W`` over ``|W|_F``, from below, rounding counted. Where it is not positive, W does
        not retrieve everything.
    bound : float
        No memory has a larger one: from above, rounding counted.
    weights : ndarray, shape (c,)
        On comparisons, which give the bound: positive.
    targets, keys : ndarray of integers, shape (c,)
        The competitor and the key of each comparison.
    passes : int
        Passes over the scores.
    steps : int
        Steps of conjugate gradients in all.
    converged : bool
        Whether the margin is positive and the gap at most what was asked for.
    """

    W: torch.Tensor
    margin: float
    bound: float
    weights: np.ndarray
    targets: np.ndarray
    keys: np.ndarray
    passes: int
    steps: int
    converged: bool

    @property
    def gap(self) -> float:
        """How far the margin can be from the largest, ``bound / margin - 1``; infinite if not positive."""
        return self.bound / self.margin - 1 if self.margin > 0 else math.inf

    @property
    def separates(self) -> bool:
        """Whether W retrieves every key, for certain."""
        return self.margin > 0


def largest_margin(
    pairs: Pairs | Facts, *, gap: float = 1e-3, max_passes: int = 500, W0: torch.Tensor | None = None
) -> LargestMargin:
    """The memory of the largest worst margin over its norm, with a bound on that of any memory.

    Parameters
    ----------
    pairs : Pairs or Facts
        In the coordinates in which the norm of a memory counts.
    gap : float
        Share by which the margin may fall short of the bound, in (0, 1).
    max_passes : int
        Passes over the scores after which to give up.
    W0 : Tensor, shape (d_out, d_in), optional
        A memory to begin with, at any scale; by default the outer products.

    Returns
    -------
    LargestMargin
        Where no memory retrieves everything, its ``margin`` is not positive and its ``bound`` near zero:
        `assocmem.deciding.feasibility.decide` proves that there is none. ``converged`` is false then.

    Raises
    ------
    ValueError
        For a parameter out of range, a ``W0`` that does not fit, or where memory is short.
    """
    require_facts(pairs)
    require_number("gap", gap, 0, 1)
    require_integer("max_passes", max_passes, 1)
    if W0 is not None:
        require_memory_matrix(pairs, W0, "W0")
    if pairs.U.device.type == "cpu":
        shortage = memory_shortage(lambda n: _bytes(n, pairs), pairs.n)
        require(not shortage, "n", pairs.n, shortage)
    exact = pairs.with_vectors(pairs.U.double(), pairs.V.double())
    known = _vanishing(exact)
    U, V, answers = as_given_to_verifier(exact)
    if known is None:
        search = _Search(exact, gap, max_passes)
        W, (j, i, weights) = search.run(W0)
        passes, steps = search.passes, search.steps
    else:  # a comparison that is zero for every memory
        W, (j, i, weights) = _unit(exact.answered() @ exact.V.T), known
        passes, steps = 0, 0
    W = W.to(pairs.U.dtype)
    j, i, weights = (x.cpu().numpy() for x in (j, i, weights))
    found = LargestMargin(
        W,
        margin_from_below(W.cpu().numpy(), U, V, answers),
        verify_margin_bound(weights, j, i, U, V, answers),
        weights,
        j,
        i,
        passes,
        steps,
        False,
    )
    return replace(found, converged=found.gap <= gap)


def _bytes(n: int, pairs: Pairs | Facts) -> int:
    """Bytes for so many keys: the vectors twice more, as rows, and lists of some comparisons an entry."""
    m = n if isinstance(pairs, Pairs) else pairs.m
    vectors = 24 * (n * pairs.d_in + m * pairs.d_out)
    return peak_bytes(n, pairs.d_in, m=m, d_out=pairs.d_out) + vectors + 300 * pairs.entries


def _vanishing(pairs: Pairs | Facts) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None:
    """A comparison that is zero for every memory, with weight one: of a zero key, or with an equal target."""
    number = {"dtype": torch.int64, "device": pairs.U.device}
    one = pairs.U.new_ones(1)
    empty = (~pairs.V.any(dim=0)).nonzero()
    if len(empty):
        key = int(empty[0])
        other = int(int(pairs.answers[key]) == 0)
        return torch.tensor([other], **number), torch.tensor([key], **number), one
    _, group, sizes = np.unique(pairs.U.cpu().numpy(), axis=1, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    own = pairs.answers.cpu().numpy()
    doubled = (sizes[group[own]] > 1).nonzero()[0]
    if not len(doubled):
        return None
    key = int(doubled[0])
    same = (group == group[own[key]]).nonzero()[0]
    other = int(same[same != own[key]][0])
    return torch.tensor([other], **number), torch.tensor([key], **number), one


def _unit(W: torch.Tensor) -> torch.Tensor:
    """A matrix of Frobenius norm one; zero stays zero."""
    top = float(W.abs().max())
    if not top:
        return W
    W = W / top
    return W / float(W.norm())


class _Search:
    """The search, in units in which targets and keys have lengths of about one."""

    def __init__(self, pairs, gap, max_passes):
        u, v = (_typical_length(X) for X in (pairs.U, pairs.V))
        self.pairs = pairs.with_vectors(pairs.U / u, pairs.V / v)
        self.gap, self.max_passes = 0.98 * gap, max_passes
        self.targets, self.keys = (X.T.contiguous() for X in (self.pairs.U, self.pairs.V))
        self.passes = self.steps = 0
        self.margin, self.bound, self.W, self.certificate = -math.inf, math.inf, None, None
        self.least = HOPELESS / math.sqrt(pairs.entries)

    @property
    def done(self):
        """Whether the gap is closed, or there is no hope, or no pass left."""
        closed = self.margin > 0 and self.bound <= (1 + self.gap) * self.margin
        return closed or self.bound < self.least or self.passes >= self.max_passes

    def run(self, W0):
        """The best memory and the comparisons with the weights of the best bound."""
        pairs, sigma, before = self.pairs, FIRST_STIFFNESS, None
        W = pairs.answered() @ pairs.V.T if W0 is None else W0.double()
        W = self._at_level(W)
        while not self.done:
            listed, pull, value = self._look(W, before, sigma)
            for _ in range(NEWTON_STEPS):
                if self.done:
                    break
                gradient = W - pull
                short = self.bound / self.margin - 1 if self.margin > 0 else 1.0
                rest = float(gradient.norm()) / max(float(W.norm()), 1e-300)
                if rest < INNER * min(1.0, max(short, self.gap)):
                    break
                change = self._newton(gradient, listed, sigma, min(FORCING, rest))
                W, (listed, pull, value), moved = self._along(W, change, gradient, before, sigma, value)
                if not moved:
                    break
            before, sigma = listed, min(GROWTH * sigma, LAST_STIFFNESS)
            if not len(before[2]):  # nothing is missing any more: a shorter memory will do
                W, before = W / 2, None
        if self.certificate is None:  # no comparison was ever missing anything: any one gives a bound
            own = int(pairs.answers[0])
            number = {"dtype": torch.int64, "device": W.device}
            one = torch.tensor([int(own == 0)], **number), torch.tensor([0], **number)
            self.certificate = (*one, W.new_ones(1))
        return (_unit(W) if self.W is None else self.W), self.certificate

    def _at_level(self, W):
        """A memory at the scale at which signals are a few levels on average."""
        top = float(W.abs().max())
        if not top:
            return W
        W = W / top
        signal = float((self.pairs.answered() * (W @ self.pairs.V)).sum()) / self.pairs.n
        return W * (START / signal) if signal > 1e-12 * float(W.norm()) else W / float(W.norm())

    def _look(self, W, before, sigma):
        """Comparisons that are missing something, with weights; their sum; the value of the problem.

        Keeps the memory and the weights where they are the best so far.
        """
        self.passes += 1
        worst, targets, keys, weights, answers = math.inf, [], [], [], self.pairs.answers
        for columns, block in score_blocks(self.pairs, W):
            signal = take_signal(block, answers[columns], -math.inf)
            worst = min(worst, float((signal - block.amax(dim=0)).min()))
            block.sub_(signal).add_(1).mul_(sigma)
            if before is not None:
                first, last = torch.searchsorted(
                    before[1], torch.tensor([columns.start, columns.stop], device=W.device)
                )
                here = slice(int(first), int(last))
                block[before[0][here], before[1][here] - columns.start] += before[2][here]
            i, j = (block > 0).T.nonzero(as_tuple=True)
            targets.append(j)
            keys.append(i + columns.start)
            weights.append(block[j, i])
        listed = torch.cat(targets), torch.cat(keys), torch.cat(weights)
        size = float(W.norm())
        if size > 0 and worst / size > self.margin:
            self.margin, self.W = worst / size, W / size
        pull = self._sum(*listed)
        if len(listed[2]):
            bound = float(pull.norm()) / float(listed[2].sum())
            if bound < self.bound:
                self.bound, self.certificate = bound, listed
        return listed, pull, size**2 / 2 + float(listed[2] @ listed[2]) / (2 * sigma)

    def _parts(self, count):
        step = max(1, GATHERED // self.targets.shape[1])
        return [slice(k, k + step) for k in range(0, count, step)]

    def _gaps(self, j, i):
        """Rows ``u_a_i - u_j``."""
        return self.targets[self.pairs.answers[i]] - self.targets[j]

    def _sum(self, j, i, weights):
        """``sum weights A``."""
        sums = self.keys.new_zeros(len(self.keys), self.targets.shape[1])
        for part in self._parts(len(j)):
            sums.index_add_(0, i[part], self._gaps(j[part], i[part]) * weights[part, None])
        return sums.T @ self.keys

    def _newton(self, gradient, listed, sigma, tol):
        """The step of Newton's method for a problem, by conjugate gradients."""
        j, i, _ = listed
        parts = self._parts(len(j))
        kept = [self._gaps(j[part], i[part]) for part in parts] if len(parts) < 8 else None

        def product(D):
            answers, sums = self.keys @ D.T, self.keys.new_zeros(self.keys.shape[0], D.shape[0])
            for k, part in enumerate(parts):
                gaps = self._gaps(j[part], i[part]) if kept is None else kept[k]
                change = torch.einsum("ca,ca->c", gaps, answers[i[part]])
                sums.index_add_(0, i[part], gaps * change[:, None])
            return D + sigma * (sums.T @ self.keys)

        found = conjugate_gradients(product, -gradient, tol=tol, most_steps=CG_STEPS)
        self.steps += found.steps
        return found.x

    def _along(self, W, change, gradient, before, sigma, value):
        """The first of shares 1, 1/2, ... of a step that lowers the value by enough."""
        slope, share = float((gradient * change).sum()), 1.0
        while True:
            moved = W + share * change
            found = self._look(moved, before, sigma)
            if found[2] <= value + 1e-4 * share * slope + 1e-12 * abs(value):
                return moved, found, True
            share /= 2
            if share < SHORTEST_STEP or self.done:
                return moved, found, False


def _typical_length(X: torch.Tensor) -> float:
    """Root of the mean square of the lengths of columns; nothing under- or overflows."""
    top = float(X.abs().max())
    return top * float((X / top).norm()) / math.sqrt(X.shape[1]) if top else 1.0
