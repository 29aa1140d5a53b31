"""What one block of score columns costs: cross-entropy and the smoothed tail average.

Both are a logistic loss of a margin, ``l(m) = log(1 + exp(-m))``, and the margin is the signal less a
convex aggregate ``c`` of its competitors (eq. ``ce-structural``, ``c_i_m_i``). Let ``T >= 0`` be the
gradient of the aggregate, which sums to one. With ``a = sigmoid(-m)`` the derivative of the loss in scores
is ``-a`` at the signal and ``a T`` at the competitors, and the Hessian of the aggregate is
``diag(C) - C C' / sum(C)`` for a vector ``C`` that depends on ``T`` alone. Everything else is common.
"""

from dataclasses import dataclass

import torch

from assocmem.limits import require
from assocmem.model import tail_count


@dataclass(frozen=True)
class CrossEntropy:
    """Multiclass softmax cross-entropy (eq. ``ce``); the aggregate is the log-sum-exp of the competitors."""

    def aggregate(self, x, start=None):
        """Value, gradient and threshold of the log-sum-exp of each column.

        Parameters
        ----------
        x : Tensor, shape (n, b)
            Scores with ``-inf`` at the signal; overwritten by the gradient ``T``, the softmax over the
            competitors, 0 at the signal.
        start : ignored

        Returns
        -------
        c : Tensor, shape (b,)
        mu : Tensor, shape (b,)
            The log-sum-exp again: the level that softmax compares scores with.
        """
        top = x.amax(dim=0)
        total = x.sub_(top).exp_().sum(dim=0)
        x.div_(total)
        c = top + total.log()
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

    def aggregate(self, x, start=None):
        """Value, gradient and threshold of the smoothed tail average of each column (eq. ``sTAM``).

        Parameters
        ----------
        x : Tensor, shape (n, b)
            Scores with ``-inf`` at the signal; overwritten by the gradient ``T = q / k`` with
            ``q = sigmoid(beta (x - mu))``, 0 at the signal.
        start : Tensor, shape (b,), optional
            Thresholds of an earlier call, where the search begins.

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
        mu, z, q = tail_threshold(x, k, self.beta, start)
        hinge = z.clamp_(min=0).sum(dim=0)
        rounding = _log_product(torch.maximum(q, 1 - q))  # softplus(z) = max(z, 0) - log max(q, 1 - q)
        torch.div(q, k, out=x)
        return mu + (hinge - rounding) / (self.beta * k), mu

    def curvature(self, T):
        """The vector ``C = beta q (1 - q) / k`` of the Hessian of the aggregate, shape (n, b)."""
        k = tail_count(self.r, len(T) - 1)
        return self.beta * T * (1 - k * T).clamp_(min=0)

    def total_curvature(self, T):
        """``sum(C)`` of each column, shape (b,)."""
        k = tail_count(self.r, len(T) - 1)
        return (self.beta * (1 - k * torch.linalg.vecdot(T, T, dim=0))).clamp_(min=0)


def tail_threshold(x, k, beta, start=None):
    """Solve ``sum_j sigmoid(beta (x_j - mu)) = k`` for each column (the minimiser in eq. ``sTAM``).

    Newton's method on the logarithm of the sum, or of its complement where that is smaller, inside a bracket
    that every step tightens. Where scores are further apart than ``1/beta`` the sum is a staircase; there
    bisection takes over.

    Parameters
    ----------
    x : Tensor, shape (n, b)
        Scores; ``-inf`` counts for nothing.
    k : int
        At least 1 and less than the number of finite scores.
    beta : float
    start : Tensor, shape (b,), optional
        Where to begin; else at the Gaussian quantile of the column.

    Returns
    -------
    mu : Tensor, shape (b,)
    z, q : Tensor, shape (n, b)
        ``beta (x - mu)`` and its sigmoid.
    """
    m = len(x) - 1
    few = 2 * k < m
    mu = _gaussian_threshold(x, k, m) if start is None else start.clone()
    low, high = torch.full_like(mu, -torch.inf), torch.full_like(mu, torch.inf)
    step = torch.full_like(mu, torch.inf if start is None else 64 / beta)
    epsilon = torch.finfo(x.dtype).eps
    scaled, z, q = beta * x, torch.empty_like(x), torch.empty_like(x)
    while True:
        torch.sub(scaled, beta * mu, out=z)
        torch.sigmoid(z, out=q)
        total = q.sum(dim=0)
        done = (total - k).abs() <= 16 * epsilon * k
        done |= high - low <= 4 * epsilon * mu.abs()
        if bool(done.all()):
            return mu, z, q
        too_low = total > k
        low, high = torch.where(too_low, mu, low), torch.where(too_low, high, mu)
        slope = beta * (total - torch.linalg.vecdot(q, q, dim=0))
        part, wanted, sign = (total, k, 1) if few else (m - total, m - k, -1)
        newton = mu + sign * torch.log(part / wanted) * part / slope
        good = (newton > low) & (newton < high) & ((newton - mu).abs() <= 0.5 * step)
        # else halve the bracket, or widen the search on its open side
        closed = torch.isfinite(high - low)
        reach = torch.where(torch.isfinite(step), 2 * step, 0).clamp(min=4 / beta)
        reach = torch.maximum(reach, 16 * epsilon * mu.abs())
        outward = torch.where(too_low, mu + reach, mu - reach)
        following = torch.where(good, newton, torch.where(closed, 0.5 * (low + high), outward))
        step = torch.where(good | ~closed, (following - mu).abs(), 0.5 * (high - low))
        mu = torch.where(done, mu, following)


def _gaussian_threshold(x, k, m):
    """Upper k/m-quantile of a normal law with the mean and variance of each column."""
    finite = torch.where(torch.isfinite(x), x, 0)
    mean = finite.sum(dim=0) / m
    spread = (torch.linalg.vecdot(finite, finite, dim=0) / m - mean**2).clamp_(min=0).sqrt()
    return mean + spread * float(-torch.special.ndtri(torch.tensor(k / m, dtype=torch.float64)))


def _log_product(factors):
    """Sum of logarithms of factors in [1/2, 1], one logarithm for a thousand of them."""
    limit = 1000 if factors.dtype == torch.float64 else 100
    return sum(part.prod(dim=0).log() for part in factors.split(limit))
