"""Memories from a few linear systems: equal signals at the least energy, and the worst competitors clipped.

Outer products fail first at keys whose signal happens to be low. The *equalised* memory gives every signal
the value one and, of all memories that do, takes the one with the smallest sum of squared scores,

    min |U' W V|_F^2   subject to   u_i' W v_i = 1   for all i .

(Minimum average correlation energy filters do the same for the peaks of one filter.)
A round of *clipping* finds the competitors above ``1 - gamma`` and pulls them down to it by a penalty:

    min |U' W V|_F^2 / (n/d)^2 + sum_ji (s_ji - (1 - gamma))^2 / softness   subject to the same.

Repeated, that is Newton's method for the penalty of all competitors above ``1 - gamma``. Its line search is
left out: whoever calls sees after each round how many keys fail.

In whitened coordinates, where ``U U'`` and ``V V'`` are multiples of the identity, the energy is the norm of
W, and W is a combination of the outer products that conditions are about. Conjugate gradients find the
coefficients at about ``4 n d^2`` operations a step, little beside the ``2 n^2 d`` of a pass over the scores.
"""

import math
from dataclasses import dataclass

import torch

from assocmem.checks import require, require_integer, require_number
from assocmem.machine import memory_shortage
from assocmem.memories.conjugate_gradients import conjugate_gradients
from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.pairs.scores import require_finite_products, score_blocks, take_signal
from assocmem.pairs.sizes import peak_bytes

RESIDUAL = 1e-4
"""Residual, relative to the right-hand side, at which a linear system counts as solved. Signals are then
equal up to about this share, far less than the margins that clipping asks for."""

STEPS = 300
"""Steps of conjugate gradients at most for one system. Where that is not enough, n is close to d^2."""

GATHERED = 2**22
"""Numbers of the vectors of conditions that are gathered at a time: 32 MiB in float64."""


@dataclass(frozen=True)
class ClippedMemory:
    """A memory and the work it took.

    Attributes
    ----------
    W : Tensor, shape (d_out, d_in)
    failures : tuple of int
        Keys not retrieved, by the equalised memory and after each round.
    clipped : int
        Comparisons held back in the last round.
    passes : int
        Passes over the scores, one for each entry of ``failures``.
    steps : int
        Steps of conjugate gradients in all.
    converged : bool
        Whether each linear system was solved.
    """

    W: torch.Tensor
    failures: tuple[int, ...]
    clipped: int
    passes: int
    steps: int
    converged: bool

    @property
    def retrieves(self) -> bool:
        """Whether every pair is retrieved."""
        return self.failures[-1] == 0


def clipped_memory(
    pairs: Pairs | Facts, *, rounds: int = 2, gamma: float = 0.1, softness: float = 0.1
) -> ClippedMemory:
    """Equalise the signals, then clip in rounds until every pair is retrieved.

    Parameters
    ----------
    pairs : Pairs or Facts
        Fewer keys than entries that a memory can use, ``min(d_out, m) min(d_in, n)``.
    rounds : int
        Rounds of clipping at most; none leaves the equalised memory.
    gamma : float
        Margin asked of a clipped comparison, in (0, 1).
    softness : float
        Excess over ``1 - gamma`` that is left, relative to what is taken off; positive. More is less noise.

    Returns
    -------
    ClippedMemory
        Its rounds end early where every pair is retrieved, and where more comparisons are to be clipped than
        there are entries of W.

    Raises
    ------
    ValueError
        For a parameter out of range, for too many keys, for vectors that span less than they could, and where
        memory is short.
    """
    require_facts(pairs)
    n, m, d_out, d_in = pairs.n, pairs.m, pairs.d_out, pairs.d_in
    entries = min(d_out, m) * min(d_in, n)
    require_integer("rounds", rounds, 0)
    require_number("gamma", gamma, 0, 1)
    require_number("softness", softness, 0)
    require(n < entries, "pairs", f"{n} keys", f"fewer than the {entries} entries that a memory can use")
    if pairs.U.device.type == "cpu":
        shortage = memory_shortage(lambda n: _bytes(n, pairs), n)
        require(not shortage, "n", n, shortage)
    (left, u), (right, v) = _whitened(pairs.U), _whitened(pairs.V)
    keys = torch.arange(n, device=u.device)
    conditions = _Conditions(u, v, pairs.answers, keys, u.new_ones(n), u.new_zeros(n))
    coefficients, failures, steps, converged = u.new_zeros(n), [], 0, True
    while True:
        found = conjugate_gradients(
            conditions, conditions.value, tol=RESIDUAL, most_steps=STEPS, start=coefficients
        )
        coefficients, steps, converged = found.x, steps + found.steps, converged and found.converged
        W = left @ conditions.memory(coefficients) @ right.T
        failing, targets, asking = _above(pairs, W, 1 - gamma, most=entries)
        failures.append(failing)
        if not failing or len(failures) > rounds or len(targets) > entries:
            break
        conditions, coefficients = _clipping(conditions, coefficients, targets, asking, 1 - gamma, softness)
    clipped = len(coefficients) - n
    return ClippedMemory(W, tuple(failures), clipped, len(failures), steps, converged)


def _bytes(n: int, pairs: Pairs | Facts) -> int:
    """Bytes for so many keys, as long as these and with these targets; of pairs, each brings its own."""
    m = n if isinstance(pairs, Pairs) else pairs.m
    vectors = 16 * (n * pairs.d_in + m * pairs.d_out)
    return peak_bytes(n, pairs.d_in, m=m, d_out=pairs.d_out) + vectors


def equalised_memory(pairs: Pairs | Facts) -> torch.Tensor:
    """The memory with all signals one and the least sum of squared scores.

    Parameters
    ----------
    pairs : Pairs or Facts
        As for `clipped_memory`.

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        As for `clipped_memory`.
    ArithmeticError
        If conjugate gradients do not converge, as happens when n is close to the number of entries.
    """
    found = clipped_memory(pairs, rounds=0)
    if not found.converged:
        size = f"n = {pairs.n}, d = {pairs.d_in}"
        raise ArithmeticError(f"no equal signals within {STEPS} steps for {size}")
    return found.W


@dataclass(frozen=True)
class _Conditions:
    """``u_j' W v_i + slack_ji a_ji = value_ji`` for a list of (j, i), with ``W = sum a_ji u_j v_i'``.

    ``u`` and ``v`` hold vectors as rows.
    """

    u: torch.Tensor
    v: torch.Tensor
    j: torch.Tensor
    i: torch.Tensor
    value: torch.Tensor
    slack: torch.Tensor

    def memory(self, a: torch.Tensor) -> torch.Tensor:
        """W in whitened coordinates."""
        sums = self.u.new_zeros(len(self.v), self.u.shape[1])
        for part in self._parts():
            sums.index_add_(0, self.i[part], self.u[self.j[part]] * a[part, None])
        return sums.T @ self.v

    def __call__(self, a: torch.Tensor) -> torch.Tensor:
        """Left-hand sides."""
        answers, found = self.v @ self.memory(a).T, torch.empty_like(a)
        for part in self._parts():
            found[part] = (self.u[self.j[part]] * answers[self.i[part]]).sum(dim=1)
        return found + self.slack * a

    def _parts(self) -> list[slice]:
        step = max(1, GATHERED // self.u.shape[1])
        return [slice(k, k + step) for k in range(0, len(self.j), step)]


def _whitened(X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A square root R of ``(X X' d/n)^-1`` and the rows of ``R X``; on the span of the vectors if n < d."""
    d, n = X.shape
    gram = X @ X.T * (d / n)
    require_finite_products(gram)
    size, basis = torch.linalg.eigh(gram)
    size, basis = size[-n:], basis[:, -n:]
    require(
        bool(size[0] > d * torch.finfo(X.dtype).eps * size[-1]), "pairs", "targets or keys", "of full rank"
    )
    root = basis / size.sqrt() @ basis.T
    return root, (root @ X).T.contiguous()


def _above(
    pairs: Pairs | Facts, W: torch.Tensor, level: float, most: int
) -> tuple[int, torch.Tensor, torch.Tensor]:
    """How many keys fail, and the comparisons (j, i) above a level, in the order of ``i m + j``.

    Of more than ``most`` comparisons not all are listed, since there may be m n of them.
    """
    failing, listed, targets, keys, answers = 0, 0, [], [], pairs.answers
    for columns, block in score_blocks(pairs, W):
        signal = take_signal(block, answers[columns], -math.inf)
        failing += int((block.amax(dim=0) >= signal).sum())
        if listed > most:
            continue
        i, j = (block > level).T.nonzero(as_tuple=True)
        listed += len(j)
        targets.append(j)
        keys.append(i + columns.start)
    return failing, torch.cat(targets), torch.cat(keys)


def _clipping(
    conditions: _Conditions, a: torch.Tensor, j: torch.Tensor, i: torch.Tensor, level: float, softness: float
) -> tuple[_Conditions, torch.Tensor]:
    """Conditions that signals are equal and these comparisons at a level, and coefficients to start from."""
    m, n = len(conditions.u), len(conditions.v)
    known, wanted = conditions.i[n:] * m + conditions.j[n:], i * m + j
    start = a.new_zeros(len(j))
    if len(known):
        place = torch.searchsorted(known, wanted).clamp(max=len(known) - 1)
        start = torch.where(known[place] == wanted, a[n:][place], start)
    keys = torch.arange(n, device=a.device)
    value = torch.cat([a.new_ones(n), a.new_full((len(j),), level)])
    slack = torch.cat([a.new_zeros(n), a.new_full((len(j),), softness)])
    targets, keys = torch.cat([conditions.j[:n], j]), torch.cat([keys, i])
    conditions = _Conditions(conditions.u, conditions.v, targets, keys, value, slack)
    return conditions, torch.cat([a[:n], start])
