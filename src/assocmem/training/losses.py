"""What one block of score columns costs: cross-entropy and the smoothed tail average.

Both are a logistic loss of a margin, ``l(m) = log(1 + exp(-m))``, and the margin is the signal less a
convex aggregate ``c`` of its competitors (eq. ``ce-structural``, ``c_i_m_i``). Let ``T >= 0`` be the
gradient of the aggregate, which sums to one. With ``a = sigmoid(-m)`` the derivative of the loss in scores
is ``-a`` at the signal and ``a T`` at the competitors, and the Hessian of the aggregate is
``diag(C) - C C' / sum(C)`` for a vector ``C`` that depends on ``T`` alone. Everything else is common.
"""

import math
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from statistics import NormalDist

import torch

from assocmem.checks import require
from assocmem.pairs.sizes import tail_count
from assocmem.training import columns_cpu

NORMAL = NormalDist()


@dataclass(frozen=True)
class CrossEntropy:
    """Multiclass softmax cross-entropy (eq. ``ce``); the aggregate is the log-sum-exp of the competitors."""

    def aggregate(self, x, moments=None):
        """Value, gradient and threshold of the log-sum-exp of each column.

        Parameters
        ----------
        x : Tensor, shape (n, b)
            Scores with ``-inf`` at the signal; overwritten by the gradient ``T``, the softmax over the
            competitors, 0 at the signal.
        moments : optional
            Not needed; see `TailAverage.aggregate`.

        Returns
        -------
        c : Tensor, shape (b,)
        mu : Tensor, shape (b,)
            The log-sum-exp again: the level that softmax compares scores with.
        """
        compiled = _compiled(x)
        c = compiled.log_sum_exp(x) if compiled else _log_sum_exp(x)
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

    def tail(self, m):
        """Size of the tail among m competitors."""
        return tail_count(self.r, m)

    def aggregate(self, x, moments=None):
        """Value, gradient and threshold of the smoothed tail average of each column (eq. ``sTAM``).

        Parameters
        ----------
        x : Tensor, shape (n, b)
            Scores with ``-inf`` at the signal; overwritten by the gradient ``T = q / k`` with
            ``q = sigmoid(beta (x - mu))``, 0 at the signal.
        moments : pair of Tensor, shape (b,), optional
            Mean and standard deviation of the competitors of each column, where they are known without a
            look at the scores; the search for the thresholds begins with them.

        Returns
        -------
        c : Tensor, shape (b,)
        mu : Tensor, shape (b,)
            ``-inf`` where the tail is everything (r = 1), and the tail average the mean.

        Raises
        ------
        ValueError
            For scores whose squares overflow.
        """
        m = len(x) - 1
        k = self.tail(m)
        if k == m:
            competes = torch.isfinite(x)
            mean = torch.where(competes, x, 0).sum(dim=0) / m
            x.copy_(competes).div_(m)
            return mean, torch.full_like(mean, -torch.inf)
        mean, spread = moments or _moments(x)
        guess, doubt = _gaussian_threshold(mean, spread, k, m, self.beta)
        if not bool(torch.isfinite(guess + doubt).all()):
            raise ValueError(f"W: scores of up to {float(x.max()):.0e}, whose squares overflow")
        compiled = _compiled(x)
        if compiled:
            mu, excess = compiled.tail(x, guess, doubt, spread, k, self.beta)
        else:
            mu, q = tail_threshold(x, guess, doubt, k, m, self.beta)
            excess = _excess(x, q, mu, self.beta)
            torch.div(q, k, out=x)
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
        k = self.tail(len(x) - 1)
        compiled = _compiled(x)
        if compiled:
            excess, total = compiled.tail_at(x, mu, k, self.beta)
            return mu + excess / k, 1 - total
        q = torch.sigmoid(self.beta * (x - mu))
        excess = _excess(x, q, mu, self.beta)
        torch.div(q, k, out=x)
        return mu + excess / k, 1 - x.sum(dim=0)

    def curvature(self, T):
        """The vector ``C = beta q (1 - q) / k`` of the Hessian of the aggregate, shape (n, b)."""
        k = self.tail(len(T) - 1)
        return self.beta * T * (1 - k * T).clamp_(min=0)

    def total_curvature(self, T):
        """``sum(C)`` of each column, shape (b,)."""
        k = self.tail(len(T) - 1)
        return (self.beta * (1 - k * torch.linalg.vector_norm(T, dim=0) ** 2)).clamp_(min=0)


def second_order(loss, T, dS, a, own):
    """Derivative of the weights in the scores when the scores move, thresholds profiled out.

    Parameters
    ----------
    loss : CrossEntropy or TailAverage
    T, dS : Tensor, shape (n, b)
        Gradient of the aggregate, and change of the scores; the latter is overwritten by the change of the
        competitors' weights ``a T``.
    a, own : Tensor, shape (b,)
        Weights of the margins, and changes of the signals.

    Returns
    -------
    Tensor, shape (b,)
        ``a (1 - a)`` times the change of the margin, less which the signal's weight ``-a`` changes.
    """
    compiled = _compiled(dS)
    if hasattr(compiled, "second_order"):
        tail = isinstance(loss, TailAverage)
        constants = (loss.tail(len(T) - 1), loss.beta) if tail else (None, None)
        return compiled.second_order(T, dS, a, own, *constants)
    a, own = a.to(dS.dtype), own.to(dS.dtype)
    outer = a * (1 - a) * (own - torch.linalg.vecdot(T, dS, dim=0))
    C = loss.curvature(T)
    total = C.sum(dim=0).clamp_(min=torch.finfo(C.dtype).tiny)
    dS.sub_(torch.linalg.vecdot(C, dS, dim=0) / total).mul_(C).mul_(a).sub_(T * outer)
    return outer


def _compiled(x):
    """The module with compiled loops for these scores, or None: then tensors do it, slower and anywhere."""
    if columns_cpu.suits(x):
        return columns_cpu
    if x.device.type == "cuda" and triton_is_there():
        from assocmem.training import columns_gpu

        return columns_gpu
    return None


@cache
def triton_is_there():
    """Whether programs for GPUs can be compiled; without Triton tensors do their work."""
    return find_spec("triton") is not None


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
    k, m : int
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
    q, centre = torch.empty_like(x), mu
    exponentials = torch.sub(beta * mu, x, alpha=beta).exp_()
    while True:
        if bool(((mu - centre).abs() > reach).any()):
            centre = mu
            torch.sub(beta * mu, x, alpha=beta, out=exponentials).exp_()
        factor = torch.exp(beta * (centre - mu))
        torch.add(exponentials, factor, out=q).reciprocal_()
        if bool(settled.all()):
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


def _excess(x, q, mu, beta):
    """Sum of ``softplus(beta (x - mu)) / beta`` over each column; spoils ``x``."""
    hinge = torch.maximum(x, mu, out=x).sum(dim=0) - len(x) * mu
    torch.sub(1, q, out=x)
    rounding = _log_product(torch.maximum(x, q, out=x))  # softplus(z) = max(z, 0) - log max(q, 1 - q)
    return hinge - rounding / beta


def _log_sum_exp(x):
    """Log-sum-exp of each column; ``x`` becomes the softmax."""
    top = x.amax(dim=0)
    total = x.sub_(top).exp_().sum(dim=0)
    x.div_(total)
    return top + total.log()


def _moments(x):
    """Mean and standard deviation of the competitors of each column."""
    finite = torch.where(torch.isfinite(x), x, 0)
    return mean_and_spread(finite.sum(dim=0), torch.linalg.vector_norm(finite, dim=0) ** 2, len(x) - 1)


def mean_and_spread(total, square, m):
    """Mean and standard deviation of m numbers from their sum and their sum of squares."""
    mean = total / m
    return mean, (square / m - mean**2).clamp_(min=0).sqrt()


def _gaussian_threshold(mean, spread, k, m, beta):
    """Threshold and its standard error if each column were a normal sample."""
    kappa = NORMAL.inv_cdf(1 - k / m)
    # variance of a sample quantile less what the sample's mean and spread tell of it
    variance = k * (m - k) / (m * NORMAL.pdf(kappa)) ** 2 - 1 - kappa**2 / 2
    # smoothing acts like a further normal error of standard deviation 1.7 / beta
    guess = mean + kappa * torch.sqrt(spread**2 + (1.7 / beta) ** 2)
    return guess, spread * math.sqrt(max(variance, 0) / m)


def _log_product(factors):
    """Sum of logarithms of factors in [1/2, 1], one logarithm for a thousand of them."""
    limit = 1000 if factors.dtype == torch.float64 else 100
    return sum(part.prod(dim=0).log() for part in factors.split(limit))
