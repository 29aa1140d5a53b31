"""Aggregates of score columns compiled for processors, one column after the other.

A column of scores fits into the cache where a block of them does not, and each key needs its own number of
steps to its threshold. Numba compiles the loops for the processor at hand, at first use, and keeps them in a
folder. Scores are float64; other types and devices go to `assocmem.training.columns_tensors`.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import ModuleType

import numpy as np
import torch

from assocmem.pairs.sizes import column_slices
from assocmem.training.kept_code import compiled

EPSILON = float(np.finfo(np.float64).eps)
"""Distance from 1 to the next number in double precision."""

FAR = -math.log(EPSILON)
"""Distance from a threshold, in units of ``1 / beta``, at which a sigmoid is 0 or 1 to the last digit."""

LARGEST_POWER = 700.0
"""Exponents are cut off here: ``exp(709)`` is the largest number, and our sums cannot tell it from more."""

REACH = 88.0
"""Change of the exponents, by a change of the threshold, from which exponentials are taken anew. Up to there
a factor ``exp(88)`` makes up for it, and overflows with no exponential that counts."""

NARROW = 0.6
"""Share of a column's spread within which only the scores near the threshold are searched; by trial."""

WORTH_A_THREAD = 2**19
"""Scores of a block from which several threads are worth their start; by trial."""

PATIENCE = 60
"""Steps of a search after which Newton's method is trusted in a narrow bracket only. Scores like those of a
memory take half as many. Far outside the scores, where all exponentials are cut off, it walks at one pace."""

NARROW_BRACKET = 2 * LARGEST_POWER
"""Width of such a bracket in units of ``1 / beta``: no exponential is cut off on both sides of it."""

WIDER = 256
"""Factor by which strides grow after that, so that the largest numbers are reached in a hundred of them."""

MOST_STEPS = 500
"""Steps after which a search is given up. It ends long before, unless there is a nan."""

GROUP = 512
"""Factors of at least one half whose product does not vanish."""

LOG2_E = 1 / math.log(2)
"""Base-two logarithm of e."""

SHIFT = 1.5 * 2.0**52
"""Added to a number and taken off again, it rounds to an integer."""

LOG_2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
"""Two numbers whose sum is log 2 to twice the digits; the first ends with zeros, so that its products with
small integers are exact."""

# coefficients of the Taylor series of the exponential
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12 = [1 / math.factorial(i) for i in range(2, 13)]


def compiled_loops(*freedoms: str, uses: Sequence[ModuleType] = ()) -> Callable[[Callable], Callable]:
    """Compile a function; sums may be reordered where ``reassoc`` is among the freedoms.

    A function with freedoms becomes part of each that calls it. Otherwise its sums would have one order in
    the process that compiles it, and another where the caller is read from the folder.

    Parameters
    ----------
    *freedoms : str
        Of floating-point arithmetic, as Numba calls them.
    uses : sequence of modules
        As in `assocmem.training.kept_code.compiled`.

    Returns
    -------
    callable
        A decorator.
    """
    return partial(
        compiled,
        uses=uses,
        nogil=True,
        error_model="numpy",
        fastmath={"contract", "nsz", *freedoms},
        forceinline=bool(freedoms),
    )


def suits(x: torch.Tensor) -> bool:
    """Whether the compiled loops can work on these scores."""
    return x.dtype == torch.float64 and x.device.type == "cpu"


def log_sum_exp(x: torch.Tensor) -> torch.Tensor:
    """Log-sum-exp of each column, shape (b,); ``x``, shape (n, b), becomes the softmax."""
    c = x.new_empty(x.shape[1])
    _each_column(log_sum_exps, x, c)
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
        Threshold expected, its standard error, standard deviation of the scores.
    k : float
        Size of the tail, ``0 < k < n - 1``.
    beta : float

    Returns
    -------
    mu, excess : Tensor, shape (b,)
    """
    mu, excess = torch.empty_like(guess), torch.empty_like(guess)
    _each_column(tails, x, mu, excess, guess, doubt, spread, constants=(k, beta))
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
    _each_column(_tails_at, x, excess, total, mu, constants=(k, beta))
    return excess, total


def _each_column(function: Callable, x: torch.Tensor, *vectors: torch.Tensor, constants: tuple = ()) -> None:
    """Run a compiled function over the columns, on as many threads as tensors use."""
    rows = x.T if x.T.is_contiguous() else x.T.contiguous()
    arrays = [rows.numpy(), *(vector.numpy() for vector in vectors)]
    workers = min(torch.get_num_threads(), len(rows))
    if workers == 1 or rows.numel() < WORTH_A_THREAD:
        function(*arrays, *constants)
    else:
        parts = column_slices(len(rows), math.ceil(len(rows) / (4 * workers)))
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda part: function(*(array[part] for array in arrays), *constants), parts))
    if rows.data_ptr() != x.data_ptr():
        x.copy_(rows.T)


@compiled_loops()
def log_sum_exps(rows: np.ndarray, c: np.ndarray) -> None:
    """`log_sum_exp` with the scores of a key side by side.

    Parameters
    ----------
    rows : array, shape (b, n)
        Overwritten by the softmax.
    c : array, shape (b,)
        Written.
    """
    E, T = np.empty(rows.shape[1]), np.empty(rows.shape[1])
    for i in range(len(rows)):
        x = rows[i]
        top = _largest(x)
        _exponentials(x, top, -1.0, E, T)
        total = _weights(x, E)
        x *= 1 / total
        c[i] = top + math.log(total)


@compiled_loops()
def tails(
    rows: np.ndarray,
    mu: np.ndarray,
    excess: np.ndarray,
    guess: np.ndarray,
    doubt: np.ndarray,
    spread: np.ndarray,
    k: float,
    beta: float,
) -> None:
    """`tail` with the scores of a key side by side.

    Parameters
    ----------
    rows : array, shape (b, n)
        Overwritten by ``T``.
    mu, excess : array, shape (b,)
        Written.
    guess, doubt, spread : array, shape (b,)
    k, beta : float
        All as in `tail`.
    """
    n = rows.shape[1]
    E, T, near, places = np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.int64)
    for i in range(len(rows)):
        x = rows[i]
        found = False
        width = 6 * doubt[i] + FAR / beta
        if width < NARROW * spread[i]:
            found, mu[i], excess[i] = _tail_of_few(x, guess[i], doubt[i], width, k, beta, E, T, near, places)
        if not found:
            mu[i], factor = _search(x, guess[i], doubt[i], k, n - 1, beta, E, T)
            excess[i] = _finish(x, mu[i], factor, k, beta, E)


@compiled_loops()
def _tails_at(rows, excess, total, mu, k, beta):
    E, T = np.empty(rows.shape[1]), np.empty(rows.shape[1])
    for i in range(len(rows)):
        _exponentials(rows[i], mu[i], beta, E, T)
        total[i] = _sums(E, 1.0)[0] / k
        excess[i] = _finish(rows[i], mu[i], 1.0, k, beta, E)


@compiled_loops()
def _tail_of_few(x, guess, doubt, width, k, beta, E, T, near, places):
    """The tail where few scores are near the threshold, and only they are searched.

    Scores further than ``width`` from the guess are in the tail or out of it to the last digit. False, and
    ``x`` as it was, if the threshold is not where it was thought to be.
    """
    high = guess + width
    above, count, beyond = _pick_between(x, guess - width, high, near, places)
    inner = k - above
    if not 0 < inner < count:
        return False, guess, beyond
    few = near[:count]
    mu, factor = _search(few, guess, doubt, inner, count, beta, E[:count], T[:count])
    if not abs(mu - guess) + FAR / beta <= width:
        return False, guess, beyond
    excess = _finish(few, mu, factor, k, beta, E[:count])
    for j in range(len(x)):
        x[j] = 1 / k if x[j] > high else 0.0
    for i in range(count):
        x[places[i]] = few[i]
    return True, mu, excess + beyond + above * (high - mu)


@compiled_loops()
def _pick_between(x, low, high, near, places):
    """Copy the scores between two levels; count those above and those between, sum what exceeds the upper."""
    above, count, beyond = 0, 0, 0.0
    for j in range(len(x)):
        if x[j] > high:
            above += 1
            beyond += x[j] - high
        elif x[j] >= low:
            near[count] = x[j]
            places[count] = j
            count += 1
    return above, count, beyond


@compiled_loops()
def _search(x, mu, doubt, k, m, beta, E, T):
    """Threshold at which the sigmoids of m scores sum to k, and what the exponentials ``E`` lack to be there.

    Newton's method on the logarithm of the sum, or of its complement where that is smaller, inside a bracket
    that every step tightens. Where scores are further apart than ``1/beta`` the sum is a staircase; there
    bisection takes over. Exponentials are taken once: later thresholds multiply them by a factor. Where that
    leads nowhere, as with an outlier that spoils the guess, strides grow ever longer, and the bracket is
    divided by orders of magnitude.
    """
    few = 2 * k < m
    wanted = k if few else m - k
    low, high = -np.inf, np.inf
    over, under = float(m - k), float(k)  # misses at the ends of the bracket
    stride = max(doubt, 4 / beta)
    step, halve, newtonian, settled = 16 * stride, False, False, False
    centre, steps = mu, 0
    _exponentials(x, centre, beta, E, T)
    while True:
        steps += 1
        if beta * abs(mu - centre) > REACH:
            centre = mu
            _exponentials(x, centre, beta, E, T)
        factor = math.exp(beta * (centre - mu))
        if settled or steps > MOST_STEPS:
            return mu, factor
        total, squares = _sums(E, factor)
        if abs(total - k) <= 16 * EPSILON * k or high - low <= 4 * EPSILON * max(abs(mu), 1 / beta):
            return mu, factor
        too_low = total > k
        if too_low:
            low, over = mu, total - k
        else:
            high, under = mu, k - total
        part = total if few else m - total
        newton = mu + (1 if few else -1) * math.log(part / wanted) * part / (beta * (total - squares))
        moved = abs(newton - mu)
        newtonian &= beta * step <= 0.1
        wild = steps > PATIENCE and not beta * (high - low) <= NARROW_BRACKET
        if low < newton < high and moved <= 0.5 * step and not wild:
            # the error of a Newton step is quadratic, with a factor that two of them in a row tell
            settled = newtonian and (beta * moved) ** 3 <= 5000 * EPSILON * (beta * step) ** 2
            settled |= beta * moved <= 0.1 * EPSILON**0.5
            mu, step, newtonian = newton, moved, True
            stride = max(8 / beta, 2 * moved)
            continue
        newtonian = False
        if np.isfinite(high - low) and wild:
            mu = _middle(low, high, beta)
            step = 0.5 * (high - low)
        elif np.isfinite(high - low):  # divide the bracket, in the middle every other time
            halve = not halve
            mu = low + (high - low) * (0.5 if halve else min(max(over / (over + under), 0.05), 0.95))
            step = 0.5 * (high - low)
        else:
            step = max(stride, 16 * EPSILON * abs(mu))
            mu += step if too_low else -step
        stride = (WIDER if wild else 2) * max(stride, step)


@compiled_loops()
def _middle(low, high, beta):
    """A number between two others that halves the orders of magnitude between them, down to ``1 / beta``."""
    if low < 0 < high:
        return 0.0
    small, large = max(min(abs(low), abs(high)), 1 / beta), max(abs(low), abs(high))
    if not large > 4 * small:
        return low + 0.5 * (high - low)
    size = math.sqrt(small) * math.sqrt(large)
    return size if high > 0 else -size


@compiled_loops()
def _finish(x, mu, factor, k, beta, E):
    """Sum of ``softplus(beta (x - mu)) / beta``; ``x`` becomes ``T``, ``E`` the sigmoids."""
    hinge = _sigmoids(x, mu, factor, E)
    rounding = 0.0  # softplus(z) = max(z, 0) - log max(q, 1 - q)
    for start in range(0, len(E), GROUP):
        rounding += math.log(_product(E[start : start + GROUP]))
    for j in range(len(x)):
        x[j] = E[j] * (1 / k)
    return hinge - rounding / beta


@compiled_loops()
def _exponentials(x, mu, beta, E, T):
    """Write ``exp(beta (mu - x))`` into ``E``; ``T`` is working memory.

    A Taylor polynomial after the power of two has been split off. Adding a large number rounds to an integer
    and leaves that integer in the lowest bits, which are shifted into the exponent.
    """
    for j in range(len(x)):
        a = beta * (mu - x[j])
        a = a if a < LARGEST_POWER else LARGEST_POWER
        a = a if a > -LARGEST_POWER else -LARGEST_POWER
        shifted = a * LOG2_E + SHIFT
        power = shifted - SHIFT
        r = (a - power * LOG_2[0]) - power * LOG_2[1]
        r2 = r * r
        r4 = r2 * r2
        tail = (C8 + r * C9) + r2 * (C10 + r * C11) + r4 * C12
        E[j] = (1 + r) + r2 * (C2 + r * C3) + r4 * ((C4 + r * C5) + r2 * (C6 + r * C7)) + r4 * r4 * tail
        T[j] = shifted
    exponents, powers = E.view(np.int64), T.view(np.int64)
    for j in range(len(x)):
        exponents[j] += powers[j] << 52


@compiled_loops("reassoc", "arcp")
def _sums(E, factor):
    """Sum of the sigmoids and of their squares."""
    total, squares = 0.0, 0.0
    for j in range(len(E)):
        q = 1 / (E[j] + factor)
        total += q
        squares += q * q
    return total * factor, squares * factor * factor


@compiled_loops("reassoc", "arcp")
def _sigmoids(x, mu, factor, E):
    """Turn exponentials into sigmoids, 0 at the signal; return the sum of ``max(x - mu, 0)``."""
    hinge = 0.0
    for j in range(len(x)):
        z = x[j] - mu
        hinge += z if z > 0.0 else 0.0
        q = factor / (E[j] + factor)
        E[j] = q if x[j] > -np.inf else 0.0
    return hinge


@compiled_loops("reassoc")
def _product(q):
    product = 1.0
    for j in range(len(q)):
        p = 1 - q[j]
        product *= q[j] if q[j] > p else p
    return product


@compiled_loops("reassoc")
def _largest(x):
    top = -np.inf
    for j in range(len(x)):
        top = x[j] if x[j] > top else top
    return top


@compiled_loops("reassoc")
def _weights(x, E):
    """Replace scores by their exponentials, 0 at the signal, and sum them."""
    total = 0.0
    for j in range(len(x)):
        x[j] = E[j] if x[j] > -np.inf else 0.0
        total += x[j]
    return total
