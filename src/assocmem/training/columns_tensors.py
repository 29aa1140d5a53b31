"""Aggregates of score columns by tensor operations: on any device, and in any type of number.

What `assocmem.training.columns_cpu` does on processors and `assocmem.training.columns_gpu` on GPUs, for the
same callers. This third form of the search for a threshold stays for three reasons. Scores in float32 on a
processor, by which the errors of cheap precisions are measured where there is no card, must be worked on in
float32: the compiled loops for processors are in float64 throughout. A card without Triton, as on Windows,
has no other way. And it is the plain form against which the compiled ones are tested. All columns of a block
take a step at once, until the last of them has its threshold, so that it is slower.
"""

import math

import torch

GROUP = {torch.float64: 1000, torch.float32: 100}
"""Factors of at least one half whose product does not vanish in each type of number."""

PATIENCE, NARROW_BRACKET, WIDER, MOST_STEPS = 60, 1400.0, 256, 500
"""As in `assocmem.training.columns_cpu`."""


def log_sum_exp(x: torch.Tensor) -> torch.Tensor:
    """Log-sum-exp of each column, shape (b,); ``x``, shape (n, b), becomes the softmax."""
    top = x.amax(dim=0)
    total = x.sub_(top).exp_().sum(dim=0)
    x.div_(total)
    return top + total.log()


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
        Threshold expected, and its standard error; the spread is of no use here.
    k : float
        Size of the tail, ``0 < k < n - 1``.
    beta : float

    Returns
    -------
    mu, excess : Tensor, shape (b,)
    """
    mu, q = tail_threshold(x, guess, doubt, k, len(x) - 1, beta)
    excess = _excess(x, q, mu, beta)
    torch.div(q, k, out=x)
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
    q = torch.sigmoid(beta * (x - mu))
    excess = _excess(x, q, mu, beta)
    torch.div(q, k, out=x)
    return excess, x.sum(dim=0)


def tail_threshold(
    x: torch.Tensor, mu: torch.Tensor, doubt: torch.Tensor, k: float, m: int, beta: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Solve ``sum_j sigmoid(beta (x_j - mu)) = k`` for each column (the minimiser in eq. ``sTAM``).

    Newton's method on the logarithm of the sum, or of its complement where that is smaller, inside a bracket
    that every step tightens. Where scores are further apart than ``1/beta`` the sum is a staircase; there
    bisection takes over. Exponentials are taken once: later thresholds multiply them by a factor. Where that
    leads nowhere, as with an outlier that spoils the guess, strides grow ever longer, and the bracket is
    divided by orders of magnitude.

    Parameters
    ----------
    x : Tensor, shape (n, b)
        Scores; ``-inf`` counts for nothing.
    mu, doubt : Tensor, shape (b,)
        Where to begin, and how far off that may be.
    k, m : float, int
        The sum wanted, and the number of finite scores, ``0 < k < m``.
    beta : float

    Returns
    -------
    mu : Tensor, shape (b,)
    q : Tensor, shape (n, b)
        Sigmoid of ``beta (x - mu)``.
    """
    few = 2 * k < m
    wanted, sign = (k, 1) if few else (m - k, -1)
    low, high = torch.full_like(mu, -torch.inf), torch.full_like(mu, torch.inf)
    epsilon = torch.finfo(x.dtype).eps
    reach = math.log(torch.finfo(x.dtype).max) / 8 / beta  # a factor in this reach spoils no exponential
    stride = doubt.clamp(min=4 / beta)
    step, halve = 16 * stride, False
    over, under = torch.full_like(mu, m - k), torch.full_like(mu, k)  # misses at the ends of the bracket
    settled = newtonian = torch.zeros_like(mu, dtype=torch.bool)
    q, centre, steps = torch.empty_like(x), mu, 0
    exponentials = torch.sub(beta * mu, x, alpha=beta).exp_()
    while True:
        steps += 1
        if bool(((mu - centre).abs() > reach).any()):
            centre = mu
            torch.sub(beta * mu, x, alpha=beta, out=exponentials).exp_()
        factor = torch.exp(beta * (centre - mu))
        torch.add(exponentials, factor, out=q).reciprocal_()
        if steps > MOST_STEPS or bool(settled.all()):
            return mu, q.mul_(factor)
        total = q.sum(dim=0).mul_(factor)
        settled = (total - k).abs() <= 16 * epsilon * k
        settled |= high - low <= 4 * epsilon * mu.abs().clamp(min=1 / beta)
        too_low = total > k
        low, high = torch.where(too_low, mu, low), torch.where(too_low, high, mu)
        over, under = torch.where(too_low, total - k, over), torch.where(too_low, under, k - total)
        slope = beta * (total - (torch.linalg.vector_norm(q, dim=0) * factor) ** 2)
        part = total if few else m - total
        newton = mu + sign * torch.log(part / wanted) * part / slope
        moved = (newton - mu).abs()
        good = (newton > low) & (newton < high) & (moved <= 0.5 * step)
        wild = torch.zeros_like(good)
        if steps > PATIENCE:
            wild = ~(beta * (high - low) <= NARROW_BRACKET)
            good &= ~wild
        # the error of a Newton step is quadratic, with a factor that two of them in a row tell
        known = newtonian & (beta * step <= 0.1)
        known &= (beta * moved) ** 3 <= 5000 * epsilon * (beta * step) ** 2
        exact = known | (beta * moved <= 0.1 * epsilon**0.5)
        # else divide the bracket, in the middle every other time, or widen the search on its open side
        closed, halve = torch.isfinite(high - low), not halve
        inside = low + (high - low) * (0.5 if halve else (over / (over + under)).clamp(0.05, 0.95))
        if bool(wild.any()):
            inside = torch.where(wild, _middle(low, high, beta), inside)
        stride = torch.maximum(torch.where(good, 4 / beta, stride), 16 * epsilon * mu.abs())
        outward = torch.where(too_low, mu + stride, mu - stride)
        following = torch.where(good, newton, torch.where(closed, inside, outward))
        step = torch.where(closed & ~good, 0.5 * (high - low), (following - mu).abs())
        stride = torch.where(wild, WIDER, 2) * torch.maximum(stride, step)
        mu = torch.where(settled, mu, following)
        settled |= good & exact
        newtonian = good


def _middle(low: torch.Tensor, high: torch.Tensor, beta: float) -> torch.Tensor:
    """Numbers between others that halve the orders of magnitude between them, down to ``1 / beta``."""
    small = torch.minimum(low.abs(), high.abs()).clamp(min=1 / beta)
    large = torch.maximum(low.abs(), high.abs())
    size = torch.copysign(small.sqrt() * large.sqrt(), high + low)
    middle = torch.where(large > 4 * small, size, low + 0.5 * (high - low))
    return torch.where((low < 0) & (high > 0), 0.0, middle)


def _excess(x: torch.Tensor, q: torch.Tensor, mu: torch.Tensor, beta: float) -> torch.Tensor:
    """Sum of ``softplus(beta (x - mu)) / beta`` over each column; spoils ``x``."""
    hinge = torch.maximum(x, mu, out=x).sum(dim=0) - len(x) * mu
    torch.sub(1, q, out=x)
    rounding = _log_product(torch.maximum(x, q, out=x))  # softplus(z) = max(z, 0) - log max(q, 1 - q)
    return hinge - rounding / beta


def _log_product(factors: torch.Tensor) -> torch.Tensor:
    """Sum of logarithms of factors in [1/2, 1], one logarithm for a group of them."""
    return sum(part.prod(dim=0).log() for part in factors.split(GROUP[factors.dtype]))
