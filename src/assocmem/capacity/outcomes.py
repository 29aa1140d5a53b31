"""What memories retrieve that people write down or train, and whether whitening helps them."""

import math
from collections.abc import Iterator

import torch

from assocmem.capacity.report import Outcome
from assocmem.checks import require_integer
from assocmem.memories.clipped import clipped_memory
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Facts
from assocmem.pairs.scores import require_memory_matrix
from assocmem.pairs.sizes import BLOCK_BYTES, column_slices
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage

RIDGES = (1e-6, 1e-4, 1e-2, 1.0)
"""Ridge terms of the closed form, over the mean eigenvalue of the keys' Gram matrix. The best is reported."""
TRAINED_RIDGE = 1e-4
"""Ridge of the trained memory, for vectors of length one on average: small, so that the loss decides."""
TRAINED_PASSES = 400
"""Passes over the scores that training may take: enough to see what it retrieves, and seconds for thousands
of facts."""
SHARPNESS = 10.0
"""The beta of the trained tail average, for such vectors."""
ROUNDS = 4
"""Rounds of the clipped memory."""
ROUNDING = 1e-11
"""Margin, over the largest score of a key, that counts as none: two equal targets may differ by so much."""
NOTHING = 1e-10
"""Squared length along an axis, over the largest, that counts as none when vectors are whitened."""
TEN = 10
"""Places that count as the first ones."""


def counts(facts: Facts, W: torch.Tensor, k: int = 1) -> tuple[int, int, int | None]:
    """How many facts a memory retrieves, in three senses.

    Parameters
    ----------
    facts : Facts
    W : Tensor, shape (d_out, d_in)
    k : int
        Between 1 and ``m - 1``.

    Returns
    -------
    first : int
        Facts whose answer has the highest score, alone.
    top : int
        Facts whose answer beats the average of its k best competitors.
    ten : int or None
        Facts whose answer is beaten or equalled by fewer than ten; None with at most ten targets.
    """
    require_memory_matrix(facts, W)
    require_integer("k", k, 1)
    first = top = ten = 0
    for columns in column_slices(facts.n, max(1, BLOCK_BYTES // (8 * facts.m))):
        S = facts.U.T @ (W @ facts.V[:, columns])
        answers, places = facts.answers[columns], torch.arange(S.shape[1], device=S.device)
        doubt = ROUNDING * S.abs().amax(dim=0)
        signal = S[answers, places] - doubt
        S[answers, places] = -math.inf
        first += int((signal > S.amax(dim=0)).sum())
        top += int((signal > S.topk(min(k, facts.m - 1), dim=0).values.mean(dim=0)).sum())
        ten += int(((signal <= S).sum(dim=0) < TEN).sum())
    return first, top, ten if facts.m > TEN else None


def explicit_outcomes(facts: Facts, k: int) -> Iterator[Outcome]:
    """What memories retrieve that are written down, one after another.

    Parameters
    ----------
    facts : Facts
        As `evened` makes them.
    k : int
        As in `counts`.

    Yields
    ------
    Outcome
    """
    plain = correlation_memory(facts)
    yield _outcome("outer products", facts, plain, k)
    left, right = inverse_gram(facts.U, centred=True), inverse_gram(facts.V)
    whitened = left @ (plain - torch.outer(facts.U.mean(dim=1), facts.V.sum(dim=1)))
    yield _outcome("outer products, keys whitened", facts, plain @ right, k)
    yield _outcome("outer products, targets whitened", facts, whitened, k)
    yield _outcome("outer products, keys and targets whitened", facts, whitened @ right, k)
    yield _best_ridge(facts, plain, k)
    spanned, B, C = in_their_spans(facts)
    entries = min(spanned.d_out, spanned.m) * min(spanned.d_in, spanned.n)
    for name, rounds in (("equal signals", 0), ("clipped", ROUNDS)):
        note = ""
        if facts.n >= entries:
            note = f"not made: it wants fewer facts than the {entries:,} entries that can be of use"
        elif not bool((facts.U[:, facts.answers].any(dim=0) & facts.V.any(dim=0)).all()):
            note = "not made: a key or an answer is zero, and so is its signal"
        if note:
            yield Outcome(name, None, None, None, note)
            continue
        try:
            found = clipped_memory(spanned, rounds=rounds)
        except (ValueError, ArithmeticError) as error:
            yield Outcome(name, None, None, None, f"not made: {' '.join(str(error).split())}")
            continue
        note = "" if found.converged else "its linear systems were not solved to the end"
        yield _outcome(name, facts, B @ found.W @ C.T, k, note)


def trained_outcome(facts: Facts, k: int) -> Outcome:
    """What a trained memory retrieves: cross-entropy for k = 1, the tail average of k competitors above.

    Parameters
    ----------
    facts : Facts
        As `evened` makes them.
    k : int
        As in `counts`.

    Returns
    -------
    Outcome
    """
    loss = CrossEntropy() if k == 1 else TailAverage(r=k / (facts.m - 1), beta=SHARPNESS)
    name = "trained, cross-entropy" if k == 1 else f"trained, tail average of {k}"
    try:
        found = fit(facts, loss, ridge=TRAINED_RIDGE, max_passes=TRAINED_PASSES)
    except ValueError as error:
        return Outcome(name, None, None, None, f"not made: {' '.join(str(error).split())}")
    end = "" if found.converged else ", not to the end"
    return _outcome(name, facts, found.W, k, f"ridge {TRAINED_RIDGE:g}, {found.passes} passes{end}")


def evened(facts: Facts) -> Facts:
    """The same facts in double precision, with targets and keys of length one on average.

    What a memory of another scale retrieves does not change, and no product overflows.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    Facts
    """

    def scaled(X: torch.Tensor) -> torch.Tensor:
        _, power = math.frexp(float(X.abs().max()))
        X = torch.ldexp(X.double(), torch.tensor(-power))
        length = float(X.square().sum(dim=0).mean().sqrt())
        return X / length if length > 0 else X

    return Facts(scaled(facts.U), scaled(facts.V), facts.answers, facts.weights)


def in_their_spans(facts: Facts, *, least: float = NOTHING) -> tuple[Facts, torch.Tensor, torch.Tensor]:
    """The same facts in coordinates of the directions that vectors have.

    Equal vectors remain equal to the last digit.

    Parameters
    ----------
    facts : Facts
    least : float
        Squared length along a main axis, over the largest, up to which a direction counts as none.

    Returns
    -------
    Facts
        With targets ``B' u`` and keys ``C' v``.
    B, C : Tensor, shapes (d_out, p) and (d_in, q)
        Orthonormal columns; a memory W of these facts is ``B W C'`` of those.
    """
    bases, vectors = [], []
    for X in (facts.U, facts.V):
        size, basis = _axes(X, centred=False)
        bases.append(basis[:, size > least * size[-1]] if bool(size[-1] > 0) else basis)
        different, which = X.unique(dim=1, return_inverse=True)
        vectors.append((bases[-1].T @ different)[:, which])
    U, V = vectors
    return Facts(U, V, facts.answers, facts.weights), *bases


def inverse_gram(X: torch.Tensor, *, centred: bool = False) -> torch.Tensor:
    """The inverse of the mean of ``x x'``, on the directions that vectors have.

    Parameters
    ----------
    X : Tensor, shape (d, n)
    centred : bool
        Whether their mean is taken off first.

    Returns
    -------
    Tensor, shape (d, d)
    """
    size, basis = _axes(X, centred)
    there = size > NOTHING * size[-1]
    return basis[:, there] / size[there] @ basis[:, there].T if bool(there.any()) else torch.zeros_like(basis)


def extents(X: torch.Tensor, *, centred: bool = False) -> list[float]:
    """Lengths of vectors along their main axes, over the largest, in falling order; a hundred at most.

    Parameters
    ----------
    X : Tensor, shape (d, n)
    centred : bool
        Whether their mean is taken off first.

    Returns
    -------
    list of float
        Four digits of each. Zeros where all vectors are alike.
    """
    if centred:
        X = X - X.mean(dim=1, keepdim=True)
    size = torch.linalg.svdvals(X)
    if len(size) > 100:
        size = size[torch.linspace(0, len(size) - 1, 100).round().long()]
    largest = float(size[0]) or 1.0
    return [float(f"{float(x) / largest:.4g}") for x in size]


def rank(X: torch.Tensor, *, centred: bool = False, unit: float = 2.0**-52) -> int:
    """Directions that vectors have, up to rounding.

    Parameters
    ----------
    X : Tensor, shape (d, n)
    centred : bool
        Whether their mean is taken off first.
    unit : float
        Relative rounding of the numbers.

    Returns
    -------
    int
    """
    largest = float(X.norm(dim=0).max())
    if centred:
        X = X - X.mean(dim=1, keepdim=True)
    size = torch.linalg.svdvals(X)
    return int((size > max(X.shape) * unit * max(float(size[0]), largest)).sum())


def _axes(X, centred):
    """Mean squared lengths along main axes, rising, and the axes."""
    if centred:
        X = X - X.mean(dim=1, keepdim=True)
    return torch.linalg.eigh(X @ X.T / X.shape[1])


def _best_ridge(facts, plain, k):
    """The closed form ``W = U_a V' (V V' + lambda)^-1`` with the best of a few ridge terms."""
    size, basis = _axes(facts.V, centred=False)
    best = None
    for ridge in RIDGES:
        W = plain @ (basis / (size + ridge * size.mean()) @ basis.T)
        note = f"W = U V'(V V' + c I)^-1, c = {ridge:g} of the mean eigenvalue of V V'"
        found = _outcome("ridge regression", facts, W, k, note)
        if best is None or found.top > best.top:
            best = found
    return best


def _outcome(name, facts, W, k, note=""):
    return Outcome(name, *counts(facts, W, k), note)
