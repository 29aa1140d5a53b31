"""Aggregates of score columns compiled for GPUs, one program for each column.

What `assocmem.training.columns_cpu` does on processors, for the same callers: the two are tested against each
other. A column is read a few times in a row, from the cache of the GPU where it fits; nothing of its size is
written but the result. Exponentials are taken anew in each sweep: on a GPU they cost less than the memory
traffic of keeping them.

The numbers k and beta come as tensors: a Python float would arrive in single precision, and a constant would
be compiled anew for each value. With ``TRITON_INTERPRET=1`` set before the first import, Triton's interpreter
runs the same programs on processors.
"""

import torch
import triton
import triton.language as tl

from assocmem.homes import place_for_triton

place_for_triton()

TILE = 1024
"""Scores of a column that a program works on at a time; chosen by trial."""

PATIENCE, NARROW_BRACKET = tl.constexpr(60), tl.constexpr(1400.0)
WIDER, MOST_STEPS = tl.constexpr(256.0), tl.constexpr(500)
"""As in `assocmem.training.columns_cpu`."""


def log_sum_exp(x: torch.Tensor) -> torch.Tensor:
    """Log-sum-exp of each column, shape (b,); ``x``, shape (n, b), becomes the softmax."""
    c = x.new_empty(x.shape[1])
    _each_column(_log_sum_exps, (x,), c)
    return c


def tail(
    x: torch.Tensor,
    guess: torch.Tensor,
    doubt: torch.Tensor,
    spread: torch.Tensor,
    k: float,
    beta: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Threshold and sum of ``softplus(beta (x - mu)) / beta`` of each column; ``x`` becomes ``T``.

    Parameters
    ----------
    x : Tensor, shape (n, b)
        Scores with ``-inf`` at the signal.
    guess, doubt, spread : Tensor, shape (b,)
        Threshold expected, its standard error; the spread is of no use here.
    k, beta : float

    Returns
    -------
    mu, excess : Tensor, shape (b,)
    """
    guess, doubt = guess.to(x.dtype), doubt.to(x.dtype)
    mu, excess = torch.empty_like(guess), torch.empty_like(guess)
    _each_column(_tails, (x,), mu, excess, guess, doubt, *_constants(x, k, beta), EPSILON=_epsilon(x))
    return mu, excess


def tail_at(x: torch.Tensor, mu: torch.Tensor, k: float, beta: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Sums of ``softplus(beta (x - mu)) / beta`` and of ``T`` at given thresholds; ``x`` becomes ``T``.

    Parameters
    ----------
    x : Tensor, shape (n, b)
        Scores with ``-inf`` at the signal.
    mu : Tensor, shape (b,)
    k, beta : float

    Returns
    -------
    excess, total : Tensor, shape (b,)
    """
    excess, total = torch.empty_like(mu), torch.empty_like(mu)
    _each_column(_tails_at, (x,), excess, total, mu, *_constants(x, k, beta))
    return excess, total


def second_order(
    T: torch.Tensor,
    dS: torch.Tensor,
    a: torch.Tensor,
    own: torch.Tensor,
    k: float | None,
    beta: float | None,
) -> torch.Tensor:
    """Change of the weights of each column when the scores change; see `losses.second_order`.

    Parameters
    ----------
    T, dS : Tensor, shape (n, b)
        Gradient of the aggregate and change of the scores; the latter is overwritten by that of the
        competitors' weights.
    a, own : Tensor, shape (b,)
        Weights, and changes of the signals.
    k, beta : float or None
        Of the tail average; None for cross-entropy.

    Returns
    -------
    Tensor, shape (b,)
        Less which the signals' weights change.
    """
    a, own = a.to(dS.dtype), own.to(dS.dtype)
    outer = torch.empty_like(own)
    smooth = k is not None
    constants = _constants(dS, k, beta) if smooth else (own, own)
    _each_column(_answers, (dS, T), outer, a, own, *constants, SMOOTH=smooth)
    return outer


def _constants(x: torch.Tensor, *numbers: float) -> list[torch.Tensor]:
    return [x.new_full((1,), float(number)) for number in numbers]


def _epsilon(x: torch.Tensor) -> float:
    return torch.finfo(x.dtype).eps


def _each_column(program: triton.JITFunction, matrices: tuple, *vectors: torch.Tensor, **constants) -> None:
    """Run a program for each column; the first matrix is the one that changes."""
    rows = [x.T if x.stride(0) == 1 else x.T.contiguous() for x in matrices]
    count, n = rows[0].shape
    tile = min(TILE, triton.next_power_of_2(n))
    strides = [row.stride(0) for row in rows]
    vectors = [vector.contiguous() for vector in vectors]
    program[(count,)](*rows, *vectors, *strides, n, **constants, TILE=tile)
    if rows[0].data_ptr() != matrices[0].data_ptr():
        matrices[0].copy_(rows[0].T)


# --- programs, one column each; capitals are places in memory ----------------------------------------------


@triton.jit
def _log_sum_exps(X, C, stride, n, TILE: tl.constexpr):
    i = tl.program_id(0)
    x = X + i.to(tl.int64) * stride
    places = tl.arange(0, TILE)
    # a tile has two scores at least, so one that is finite
    first = tl.load(x + places, mask=places < n, other=-float("inf"))
    top = tl.max(first, 0)
    total = tl.sum(tl.exp(first - top), 0)
    for start in range(TILE, n, TILE):
        z = tl.load(x + start + places, mask=start + places < n, other=-float("inf"))
        higher = tl.maximum(top, tl.max(z, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(z - higher), 0)
        top = higher
    for start in range(0, n, TILE):
        z = tl.load(x + start + places, mask=start + places < n, other=-float("inf"))
        tl.store(x + start + places, tl.exp(z - top) / total, mask=start + places < n)
    tl.store(C + i, top + tl.log(total))


@triton.jit
def _tails(X, MU, EXCESS, GUESS, DOUBT, K, BETA, stride, n, EPSILON: tl.constexpr, TILE: tl.constexpr):
    i = tl.program_id(0)
    x = X + i.to(tl.int64) * stride
    k, beta = tl.load(K), tl.load(BETA)
    mu = _search(x, tl.load(GUESS + i), tl.load(DOUBT + i), k, beta, n, EPSILON, TILE)
    excess, _ = _finish(x, mu, k, beta, n, TILE)
    tl.store(MU + i, mu)
    tl.store(EXCESS + i, excess)


@triton.jit
def _tails_at(X, EXCESS, TOTAL, MU, K, BETA, stride, n, TILE: tl.constexpr):
    i = tl.program_id(0)
    x = X + i.to(tl.int64) * stride
    excess, total = _finish(x, tl.load(MU + i), tl.load(K), tl.load(BETA), n, TILE)
    tl.store(EXCESS + i, excess)
    tl.store(TOTAL + i, total)


@triton.jit
def _search(x, mu, doubt, k, beta, n, EPSILON: tl.constexpr, TILE: tl.constexpr):
    """The search of `columns_cpu._search`; all its cases are computed, since branches are slow on a GPU."""
    m = mu * 0 + (n - 1)
    few = 2 * k < m
    wanted = tl.where(few, k, m - k)
    low, high = mu - float("inf"), mu + float("inf")
    over, under = m - k, k + mu * 0  # misses at the ends of the bracket
    stride = tl.maximum(doubt, 4 / beta)
    step = 16 * stride
    halve, newtonian, sweeps = n < 0, n < 0, 0
    searching = n > 0
    while searching:
        total, squares = _sums(x, mu, beta, n, TILE)
        resolved = 4 * EPSILON * tl.maximum(tl.abs(mu), 1 / beta)
        close = (tl.abs(total - k) <= 16 * EPSILON * k) | (high - low <= resolved)
        too_low = total > k
        low, high = tl.where(too_low, mu, low), tl.where(too_low, high, mu)
        over, under = tl.where(too_low, total - k, over), tl.where(too_low, under, k - total)
        part = tl.where(few, total, m - total)
        length = tl.log(part / wanted) * part / (beta * (total - squares))
        newton = mu + tl.where(few, length, -length)
        moved = tl.abs(newton - mu)
        # after long in vain: ever longer strides, and a bracket divided by orders of magnitude
        wild = (sweeps >= PATIENCE) & ((beta * (high - low) <= NARROW_BRACKET) == 0)
        good = (newton > low) & (newton < high) & (moved <= 0.5 * step) & (wild == 0)
        # the error of a Newton step is quadratic, with a factor that two of them in a row tell
        near = beta * moved
        known = newtonian & (beta * step <= 0.1)
        known = known & (near * near * near <= 5000 * EPSILON * (beta * step) * (beta * step))
        settled = good & (known | (near * near <= 0.01 * EPSILON))
        # else divide the bracket, in the middle every other time, or widen the search on its open side
        closed = high - low < float("inf")
        halve = halve ^ (closed & (good == 0))
        share = tl.minimum(tl.maximum(over / (over + under), 0.05), 0.95)
        inside = low + (high - low) * tl.where(halve, 0.5, share)
        inside = tl.where(wild, _middle(low, high, beta), inside)
        leap = tl.maximum(stride, 16 * EPSILON * tl.abs(mu))
        outward = mu + tl.where(too_low, leap, -leap)
        step = tl.where(good, moved, tl.where(closed, 0.5 * (high - low), leap))
        stride = tl.where(
            good, tl.maximum(8 / beta, 2 * moved), tl.where(wild, WIDER, 2.0) * tl.maximum(stride, step)
        )
        following = tl.where(good, newton, tl.where(closed, inside, outward))
        mu = tl.where(close, mu, following)
        newtonian = good
        sweeps += 1
        searching = ((close | settled) == 0) & (sweeps < MOST_STEPS)
    return mu


@triton.jit
def _middle(low, high, beta):
    """A number between two others that halves the orders of magnitude between them, down to ``1 / beta``."""
    small = tl.maximum(tl.minimum(tl.abs(low), tl.abs(high)), 1 / beta)
    large = tl.maximum(tl.abs(low), tl.abs(high))
    size = tl.sqrt(small) * tl.sqrt(large)
    middle = tl.where(large > 4 * small, tl.where(high > 0, size, -size), low + 0.5 * (high - low))
    return tl.where((low < 0) & (high > 0), 0.0, middle)


@triton.jit
def _sums(x, mu, beta, n, TILE: tl.constexpr):
    """Sum of the sigmoids and of their squares."""
    places = tl.arange(0, TILE)
    total = tl.zeros((TILE,), x.dtype.element_ty)
    squares = tl.zeros((TILE,), x.dtype.element_ty)
    for start in range(0, n, TILE):
        z = tl.load(x + start + places, mask=start + places < n, other=-float("inf"))
        q = 1 / (1 + tl.exp(beta * (mu - z)))
        total += q
        squares += q * q
    return tl.sum(total, 0), tl.sum(squares, 0)


@triton.jit
def _finish(x, mu, k, beta, n, TILE: tl.constexpr):
    """Sums of ``softplus(beta (x - mu)) / beta`` and of ``T``, which replaces the scores."""
    places = tl.arange(0, TILE)
    excess = tl.zeros((TILE,), x.dtype.element_ty)
    total = tl.zeros((TILE,), x.dtype.element_ty)
    for start in range(0, n, TILE):
        z = tl.load(x + start + places, mask=start + places < n, other=-float("inf"))
        q = 1 / (1 + tl.exp(beta * (mu - z)))
        # softplus(z) = max(z, 0) - log max(q, 1 - q)
        excess += tl.maximum(z - mu, 0.0) - tl.log(tl.maximum(q, 1 - q)) / beta
        total += q
        tl.store(x + start + places, q / k, mask=start + places < n)
    return tl.sum(excess, 0), tl.sum(total, 0) / k


@triton.jit
def _answers(S, T, OUTER, A, OWN, K, BETA, stride, stride_T, n, SMOOTH: tl.constexpr, TILE: tl.constexpr):
    i = tl.program_id(0)
    s = S + i.to(tl.int64) * stride
    t = T + i.to(tl.int64) * stride_T
    k, beta, a = tl.load(K), tl.load(BETA), tl.load(A + i)
    places = tl.arange(0, TILE)
    rise = tl.zeros((TILE,), s.dtype.element_ty)
    total = tl.zeros((TILE,), s.dtype.element_ty)
    moved = tl.zeros((TILE,), s.dtype.element_ty)
    for start in range(0, n, TILE):
        p = tl.load(t + start + places, mask=start + places < n, other=0.0)
        z = tl.load(s + start + places, mask=start + places < n, other=0.0)
        c = tl.maximum(beta * p * (1 - k * p), 0.0) if SMOOTH else p
        rise += p * z
        total += c
        moved += c * z
    outer = a * (1 - a) * (tl.load(OWN + i) - tl.sum(rise, 0))
    whole = tl.sum(total, 0)
    mean = tl.sum(moved, 0) / tl.where(whole > 0, whole, 1.0)
    for start in range(0, n, TILE):
        p = tl.load(t + start + places, mask=start + places < n, other=0.0)
        z = tl.load(s + start + places, mask=start + places < n, other=0.0)
        c = tl.maximum(beta * p * (1 - k * p), 0.0) if SMOOTH else p
        tl.store(s + start + places, a * c * (z - mean) - p * outer, mask=start + places < n)
    tl.store(OUTER + i, outer)
