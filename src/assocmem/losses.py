"""What one block of score columns costs: cross-entropy and the smoothed tail average.

Both are a logistic loss of a margin, ``l(m) = log(1 + exp(-m))``, and the margin is the signal less a
convex aggregate ``c`` of its competitors (eq. ``ce-structural``, ``c_i_m_i``). Let ``T >= 0`` be the
gradient of the aggregate, which sums to one. With ``a = sigmoid(-m)`` the derivative of the loss in scores
is ``-a`` at the signal and ``a T`` at the competitors, and the Hessian of the aggregate is
``diag(C) - C C' / sum(C)`` for a vector ``C`` that depends on ``T`` alone. Everything else is common.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import torch

from assocmem.limits import require
from assocmem.model import column_slices, tail_count

NORMAL = NormalDist()
CACHE_BYTES = 2**22
NARROW = 0.6  # share of its spread within which a column's threshold is worth singling out


@dataclass(frozen=True)
class CrossEntropy:
    """Multiclass softmax cross-entropy (eq. ``ce``); the aggregate is the log-sum-exp of the competitors."""

    def aggregate(self, x):
        """Value, gradient and threshold of the log-sum-exp of each column.

        Parameters
        ----------
        x : Tensor, shape (n, b)
            Scores with ``-inf`` at the signal; overwritten by the gradient ``T``, the softmax over the
            competitors, 0 at the signal.

        Returns
        -------
        c : Tensor, shape (b,)
        mu : Tensor, shape (b,)
            The log-sum-exp again: the level that softmax compares scores with.
        """
        (c,) = _by_parts(_log_sum_exp, x)
        return c, c

    def curvature(self, T):
        """The vector ``C`` of the Hessian of the aggregate, shape (n, b)."""
        return T

    def total_curvature(self, T):
        """``sum(C)`` of each column, shape (b,)."""
        return T.new_ones(T.shape[1])


@dataclass(frozen=True)
class TailAverage:
    """The smoothed tail-average margin (eq. ``tam-learning``) with the thresholds profiled out.

    Attributes
    ----------
    r : float
        Tail fraction in (0, 1]; ``k = ceil(r (n - 1))`` competitors form the tail.
    beta : float
        Inverse width of the smoothing, positive.

    Raises
    ------
    ValueError
        Naming the parameter and its range.
    """

    r: float
    beta: float

    def __post_init__(self):
        require(0 < self.r <= 1, "r", self.r, "in (0, 1]")
        require(0 < self.beta < float("inf"), "beta", self.beta, "a finite number > 0")

    def aggregate(self, x):
        """Value, gradient and threshold of the smoothed tail average of each column (eq. ``sTAM``).

        Parameters
        ----------
        x : Tensor, shape (n, b)
            Scores with ``-inf`` at the signal; overwritten by the gradient ``T = q / k`` with
            ``q = sigmoid(beta (x - mu))``, 0 at the signal.

        Returns
        -------
        c : Tensor, shape (b,)
        mu : Tensor, shape (b,)
            ``-inf`` where the tail is everything (r = 1), and the tail average the mean.
        """
        m = len(x) - 1
        k = tail_count(self.r, m)
        if k == m:
            competes = torch.isfinite(x)
            mean = torch.where(competes, x, 0).sum(dim=0) / m
            x.copy_(competes).div_(m)
            return mean, torch.full_like(mean, -torch.inf)
        guess, doubt, spread = _by_parts(lambda part: _gaussian_threshold(part, k, self.beta), x)
        width = 6 * doubt + _far(x) / self.beta
        few = bool((width < NARROW * spread).all()) and _tail_of_few(x, k, self.beta, guess, doubt, width)
        mu, excess = few or _by_parts(lambda *part: _tail(*part, k, m, self.beta), x, guess, doubt)
        return mu + excess / k, mu

    def aggregate_at(self, x, mu):
        """Value and gradient of the smoothed tail average at given thresholds, before the minimum over them.

        Parameters
        ----------
        x : Tensor, shape (n, b)
            Scores with ``-inf`` at the signal; overwritten by the gradient ``T``.
        mu : Tensor, shape (b,)

        Returns
        -------
        c : Tensor, shape (b,)
            ``mu + sum_j softplus(beta (x_j - mu)) / (beta k)``, at least the profiled value.
        slope : Tensor, shape (b,)
            Its derivative in ``mu``, which is ``1 - sum(T)``.
        """
        k = tail_count(self.r, len(x) - 1)
        q = torch.sigmoid(self.beta * (x - mu))
        excess = _excess(x, q, mu, self.beta)
        torch.div(q, k, out=x)
        return mu + excess / k, 1 - x.sum(dim=0)

    def curvature(self, T):
        """The vector ``C = beta q (1 - q) / k`` of the Hessian of the aggregate, shape (n, b)."""
        k = tail_count(self.r, len(T) - 1)
        return self.beta * T * (1 - k * T).clamp_(min=0)

    def total_curvature(self, T):
        """``sum(C)`` of each column, shape (b,)."""
        k = tail_count(self.r, len(T) - 1)
        return (self.beta * (1 - k * torch.linalg.vector_norm(T, dim=0) ** 2)).clamp_(min=0)


def tail_threshold(x, mu, doubt, k, m, beta):
    """Solve ``sum_j sigmoid(beta (x_j - mu)) = k`` for each column (the minimiser in eq. ``sTAM``).

    Newton's method on the logarithm of the sum, or of its complement where that is smaller, inside a bracket
    that every step tightens. Where scores are further apart than ``1/beta`` the sum is a staircase; there
    bisection takes over. Exponentials are taken once: later thresholds multiply them by a factor.

    Parameters
    ----------
    x : Tensor, shape (n, b)
        Scores; ``-inf`` counts for nothing.
    mu, doubt : Tensor, shape (b,)
        Where to begin, and how far off that may be.
    k, m : int, or Tensor of shape (b,)
        The sum wanted, and the number of finite scores, ``0 < k < m``.
    beta : float

    Returns
    -------
    mu : Tensor, shape (b,)
    q : Tensor, shape (n, b)
        Sigmoid of ``beta (x - mu)``.
    """
    k, m = (torch.as_tensor(value, dtype=x.dtype, device=x.device).expand_as(mu) for value in (k, m))
    few = 2 * k < m
    wanted, sign = torch.where(few, k, m - k), torch.where(few, 1, -1)
    low, high = torch.full_like(mu, -torch.inf), torch.full_like(mu, torch.inf)
    epsilon = torch.finfo(x.dtype).eps
    reach = math.log(torch.finfo(x.dtype).max) / 8 / beta  # a factor in this reach spoils no exponential
    stride = doubt.clamp(min=4 / beta)
    step, halve = 16 * stride, False
    over, under = m - k, k  # misses at the ends of the bracket
    settled = newtonian = torch.zeros_like(few)
    q, centre = torch.empty_like(x), mu
    exponentials = torch.sub(mu, x).mul_(beta).exp_()
    while True:
        if bool(((mu - centre).abs() > reach).any()):
            centre = mu
            torch.sub(mu, x, out=exponentials).mul_(beta).exp_()
        factor = torch.exp(beta * (centre - mu))
        torch.add(exponentials, factor, out=q).reciprocal_()
        if bool(settled.all()):
            return mu, q.mul_(factor)
        total = q.sum(dim=0).mul_(factor)
        settled = (total - k).abs() <= 16 * epsilon * k
        settled |= high - low <= 4 * epsilon * mu.abs()
        too_low = total > k
        low, high = torch.where(too_low, mu, low), torch.where(too_low, high, mu)
        over, under = torch.where(too_low, total - k, over), torch.where(too_low, under, k - total)
        slope = beta * (total - (torch.linalg.vector_norm(q, dim=0) * factor) ** 2)
        part = torch.where(few, total, m - total)
        newton = mu + sign * torch.log(part / wanted) * part / slope
        moved = (newton - mu).abs()
        good = (newton > low) & (newton < high) & (moved <= 0.5 * step)
        # the error of a Newton step is quadratic, with a factor that two of them in a row tell
        known = newtonian & (beta * step <= 0.1)
        known &= (beta * moved) ** 3 <= 5000 * epsilon * (beta * step) ** 2
        exact = known | (beta * moved <= 0.1 * epsilon**0.5)
        # else divide the bracket, in the middle every other time, or widen the search on its open side
        closed, halve = torch.isfinite(high - low), not halve
        inside = low + (high - low) * (0.5 if halve else (over / (over + under)).clamp(0.05, 0.95))
        stride = torch.maximum(torch.where(good, 4 / beta, stride), 16 * epsilon * mu.abs())
        outward = torch.where(too_low, mu + stride, mu - stride)
        following = torch.where(good, newton, torch.where(closed, inside, outward))
        step = torch.where(closed & ~good, 0.5 * (high - low), (following - mu).abs())
        stride = 2 * torch.maximum(stride, step)
        mu = torch.where(settled, mu, following)
        settled |= good & exact
        newtonian = good


def _tail(x, guess, doubt, k, m, beta):
    """Threshold and sum of ``softplus(beta (x - mu)) / beta`` of each column; ``x`` becomes ``T``."""
    mu, q = tail_threshold(x, guess, doubt, k, m, beta)
    excess = _excess(x, q, mu, beta)
    torch.div(q, k, out=x)
    return mu, excess


def _excess(x, q, mu, beta):
    """Sum of ``softplus(beta (x - mu)) / beta`` over each column; spoils ``x``."""
    hinge = x.sub_(mu).clamp_(min=0).sum(dim=0)
    torch.sub(1, q, out=x)
    rounding = _log_product(torch.maximum(x, q, out=x))  # softplus(z) = max(z, 0) - log max(q, 1 - q)
    return hinge - rounding / beta


def _tail_of_few(x, k, beta, guess, doubt, width):
    """The same where few scores are near the threshold, and only they are searched.

    Scores further than ``width`` from the guess are in the tail or out of it to the last digit. If a
    threshold is not where it was thought to be, the answer is None, and ``x`` stays as it was.
    """
    low, high = guess - width, guess + width
    above, count, beyond, places = _by_parts(_near, x, low, high)
    inner = (k - above).to(x.dtype)
    if not bool(((inner > 0) & (inner < count)).all()):
        return None
    column = torch.repeat_interleave(count)
    row = places
    place = torch.arange(len(places), device=x.device) - (count.cumsum(0) - count)[column]
    few = x.new_full((len(count), int(count.max())), -torch.inf).T
    few[place, column] = x[row, column]
    mu, excess = _tail(few, guess, doubt, inner, count, beta)
    if not bool(((mu - guess).abs() + _far(x) / beta <= width).all()):
        return None
    _by_parts(lambda part, level: (part.gt_(level).div_(k)[0],), x, mu)
    x[row, column] = few[place, column] * (inner[column] / k)
    return mu, excess + beyond + above * (high - mu)


def _near(x, low, high):
    """Scores above and between two levels: the counts, the sum by which they exceed, the rows between."""
    above, near = x > high, x >= low
    near ^= above
    count = near.sum(dim=0)
    return above.sum(dim=0), count, (x - high).clamp_(min=0).sum(dim=0), near.T.nonzero()[:, 1]


def _log_sum_exp(x):
    """Log-sum-exp of each column; ``x`` becomes the softmax."""
    top = x.amax(dim=0)
    total = x.sub_(top).exp_().sum(dim=0)
    x.div_(total)
    return (top + total.log(),)


def _by_parts(function, x, *vectors):
    """Apply a function to so many columns at a time as fit into a processor's cache, and join the results."""
    step = max(8, CACHE_BYTES // (len(x) * x.element_size())) if x.device.type == "cpu" else x.shape[1]
    parts = column_slices(x.shape[1], step)
    results = [function(x[:, part], *(vector[part] for vector in vectors)) for part in parts]
    return tuple(torch.cat(pieces) for pieces in zip(*results, strict=True))


def _far(x):
    """Distance in units of ``1/beta`` from which a sigmoid is 0 or 1 to the last digit."""
    return -math.log(torch.finfo(x.dtype).eps)


def _gaussian_threshold(x, k, beta):
    """Threshold, its standard error and the spread if each column were a normal sample."""
    m = len(x) - 1
    finite = x.nan_to_num(neginf=0)
    mean = finite.sum(dim=0) / m
    spread = (torch.linalg.vector_norm(finite, dim=0) ** 2 / m - mean**2).clamp_(min=0).sqrt()
    kappa = NORMAL.inv_cdf(1 - k / m)
    # variance of a sample quantile less what the sample's mean and spread tell of it
    variance = k * (m - k) / (m * NORMAL.pdf(kappa)) ** 2 - 1 - kappa**2 / 2
    # smoothing acts like a further normal error of standard deviation 1.7 / beta
    guess = mean + kappa * torch.sqrt(spread**2 + (1.7 / beta) ** 2)
    return guess, spread * math.sqrt(max(variance, 0) / m), spread


def _log_product(factors):
    """Sum of logarithms of factors in [1/2, 1], one logarithm for a thousand of them."""
    limit = 1000 if factors.dtype == torch.float64 else 100
    return sum(part.prod(dim=0).log() for part in factors.split(limit))
