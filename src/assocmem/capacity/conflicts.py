"""Which facts are in each other's way, and how many of the first ones are retrievable.

Of facts that no matrix retrieves any larger set is not retrievable either, since all targets compete for each
key in any case. So the first facts that fit are found by bisection, and a set that is impossible by itself by
leaving out facts one after another; every step is a verdict with a proof.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from assocmem.checks import require_integer
from assocmem.deciding import certificates
from assocmem.deciding.certificates import Certificate
from assocmem.deciding.comparisons import as_given_to_verifier
from assocmem.deciding.feasibility import Verdict, decide
from assocmem.experiments.bisection import last_that_holds
from assocmem.pairs.data import Facts

MOST_WEIGHTS = 2**26
"""Weights of a proof, half a gibibyte, up to which they are summed by fact."""


def chosen(facts: Facts, which: Sequence[int] | torch.Tensor) -> Facts:
    """Some of the facts; all targets go on to compete.

    Parameters
    ----------
    facts : Facts
    which : sequence of int
        Their positions.

    Returns
    -------
    Facts
    """
    which = torch.as_tensor(which, dtype=torch.int64)
    weights = None if facts.weights is None else facts.weights[which]
    return Facts(targets=facts.U, keys=facts.V[:, which], answers=facts.answers[which], weights=weights)


def repeated_keys(facts: Facts) -> list[tuple[int, int]]:
    """Facts whose key is that of an earlier one with another answer.

    Keys that are multiples of each other by a power of two count as one: only directions matter.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    list of (int, int)
        Each such fact, and the first with its key.
    """
    group = key_groups(facts)
    answers, first, found = facts.answers.tolist(), {}, []
    for i, g in enumerate(group.tolist()):
        j = first.setdefault(g, i)
        if answers[i] != answers[j]:
            found.append((i, j))
    return found


def hidden_alone(facts: Facts, k: int, answer: int) -> tuple[list[int], int]:
    """Facts with an answer that are impossible by themselves, since other targets hide it from any key.

    Parameters
    ----------
    facts : Facts
    k : int
        As in `assocmem.deciding.feasibility.decide`.
    answer : int
        Position of the target.

    Returns
    -------
    facts : list of int
        All with this answer and a key that is not zero, or none.
    against : int
        A target that hides the answer.
    """
    with_it = (facts.V.any(dim=0) & (facts.answers == answer)).nonzero().flatten().tolist()
    if not with_it:
        return [], 0
    alone = chosen(facts, with_it[:1])
    verdict = decide(alone, k)
    if verdict.feasible is not False:
        return [], 0
    weights = weights_by_fact(verdict.certificate, alone)
    return with_it, int(answer == 0) if weights is None else int(weights[1][0])


def key_groups(facts: Facts) -> np.ndarray:
    """A number for each key, the same for keys of one direction, as far as powers of two tell.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    array of int, shape (n,)
    """
    _, group = np.unique(directions(facts.V.detach().cpu().numpy().T), return_inverse=True)
    return group.reshape(-1)


def directions(rows: np.ndarray) -> np.ndarray:
    """Something for each vector that is the same for those of one direction, as far as powers of two tell.

    Parameters
    ----------
    rows : array, shape (n, d)

    Returns
    -------
    array of bytes, shape (n,)
    """
    rows = rows.astype(np.float64)
    powers = np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1]
    scaled = np.ascontiguousarray(np.ldexp(rows, -powers)) + 0.0  # a zero has no sign
    return scaled.view(np.dtype((np.void, scaled.itemsize * scaled.shape[1]))).reshape(-1)


def weights_by_fact(certificate: Certificate, facts: Facts) -> tuple[np.ndarray, np.ndarray] | None:
    """The weight of each fact in a proof of impossibility, and the target that it is mostly against.

    Parameters
    ----------
    certificate : Certificate
    facts : Facts

    Returns
    -------
    shares : array, shape (n,)
        Weights over the length of keys do not depend on units; their sum is one.
    against : array of int, shape (n,)
        None where there are too many weights to be held, or none.
    """
    if facts.m * facts.n > MOST_WEIGHTS:
        return None
    U, V, answers = as_given_to_verifier(facts)
    weights = certificates.weights_of(certificate, U, V, answers)
    if weights is None or not np.isfinite(weights).all():
        return None
    size = np.abs(V).max()
    shares = weights.sum(axis=0) * np.linalg.norm(V / size, axis=0)
    total = shares.sum()
    return (shares / total, weights.argmax(axis=0)) if total > 0 else None


def first_retrievable(
    facts: Facts, k: int, start: int, tell: Callable[[int, Verdict], None], *, whole: bool | None = False
) -> tuple[int, int | None]:
    """How many of the first facts are retrievable, of facts that are not known to be all so.

    Parameters
    ----------
    facts : Facts
    k : int
        As in `assocmem.deciding.feasibility.decide`.
    start : int
        A guess.
    tell : callable
        Called with each number of facts that was decided, and the verdict.
    whole : bool or None
        The answer for all of them: False, or None where that is not known.

    Returns
    -------
    low, high : int
        So many are retrievable, and so many are not; their difference is one unless something in between
        remained undecided. ``high`` is None where no number is known to be too large.
    """
    require_integer("start", start, 1)
    verdicts: dict[int, bool | None] = {0: True, facts.n: whole}

    def verdict(count: int) -> bool | None:
        if count not in verdicts:
            found = decide(chosen(facts, range(count)), k)
            verdicts[count] = found.feasible
            tell(count, found)
        return verdicts[count]

    def stride(n: int, strides: int) -> int:
        return max(1, n // 16) * 2**strides

    end = facts.n if whole is False else None
    if facts.n == 1:
        return 0, end
    ceiling, begin = facts.n - 1, min(max(1, start), facts.n - 1)
    low, _ = last_that_holds(lambda n: verdict(n) is True, begin, stride, ceiling=ceiling)
    begin = min(max(1, low), ceiling)
    _, high = last_that_holds(lambda n: verdict(n) is not False, begin, stride, ceiling=ceiling)
    return low, high if high < facts.n else end


def impossible_sets(
    facts: Facts, k: int, order: Sequence[int], most: int
) -> Iterator[tuple[list[int], Certificate | None, bool, int]]:
    """Smaller and smaller sets of facts that are impossible by themselves.

    First the fewest in an order are found that are impossible, by bisection. Then one after another is left
    out, from the last one on, wherever the others remain impossible.

    Parameters
    ----------
    facts : Facts
        That are not all retrievable.
    k : int
        As in `assocmem.deciding.feasibility.decide`.
    order : sequence of int
        Positions of facts that are impossible together, those first that are likely to be in the way.
    most : int
        Sets to decide at most.

    Yields
    ------
    which : list of int
        Positions, in rising order.
    certificate : Certificate or None
        The proof about `chosen` facts; None before there is one.
    minimal : bool
        Whether each smaller set is retrievable.
    decisions : int
        Sets that have been decided.
    """
    require_integer("most", most, 0)
    left, certificate, decisions = list(order), None, 0
    low, high = 0, len(left)
    while high - low > 1 and decisions < most:
        middle = (low + high) // 2
        found, decisions = decide(chosen(facts, sorted(left[:middle])), k), decisions + 1
        if found.feasible is False:
            high, certificate = middle, found.certificate
            yield sorted(left[:high]), certificate, False, decisions
        else:
            low = middle
    left = left[:high]
    needed, unsure = [], False
    while left and decisions < most:
        trial = left.pop()
        rest = sorted([*needed, *left])
        if not rest:
            needed.append(trial)
            break
        found, decisions = decide(chosen(facts, rest), k), decisions + 1
        if found.feasible is False:
            certificate = found.certificate
            yield rest, certificate, False, decisions
        else:
            needed.append(trial)
            unsure |= found.feasible is None
    yield sorted([*needed, *left]), certificate, not left and not unsure, decisions
