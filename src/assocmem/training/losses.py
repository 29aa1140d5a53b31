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
from types import ModuleType

import torch

from assocmem.checks import require, require_instance, require_integer, require_number
from assocmem.pairs.data import require_array
from assocmem.pairs.sizes import tail_count
from assocmem.training import columns_cpu, columns_tensors

Moments = tuple[torch.Tensor, torch.Tensor]
"""Mean and standard deviation of the competitors of each column, shapes (b,)."""

NORMAL = NormalDist()

SHARPNESS = (1e-12, 1e12)
"""Least and largest ``beta``. Beyond, squares overflow, and a fit that doubles it on its way takes long."""

SMOOTHING_ERROR = 1.7
"""Standard deviation, in units of ``1 / beta``, of a normal error that moves a threshold like the smoothing:
the logistic distribution of unit scale is close to a normal one of this width."""


class ScoresOverflow(ValueError):
    """A memory with scores so large that their squares overflow."""


@dataclass(frozen=True)
class CrossEntropy:
    """Multiclass softmax cross-entropy (eq. ``ce``); the aggregate is the log-sum-exp of the competitors."""

    def aggregate(self, x: torch.Tensor, moments: Moments | None = None) -> tuple[torch.Tensor, torch.Tensor]:
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
        c = columns_for(x).log_sum_exp(x)
        return c, c

    def curvature(self, T: torch.Tensor) -> torch.Tensor:
        """The vector ``C`` of the Hessian of the aggregate, shape (n, b)."""
        return T

    def total_curvature(self, T: torch.Tensor) -> torch.Tensor:
        """``sum(C)`` of each column, shape (b,)."""
        return T.new_ones(T.shape[1])


@dataclass(frozen=True)
class TailAverage:
    """The smoothed tail-average margin (eq. ``tam-learning``) with the thresholds profiled out.

    Attributes
    ----------
    r : float
        Tail fraction in (0, 1]; ``k = ceil(r (n - 1))`` competitors form the tail, or
        ``ceil(r (m - 1))`` where there are m targets.
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
        require_number("r", self.r, 0, 1, ends="(]")
        require_number("beta", self.beta, 0)
        low, high = SHARPNESS
        require(low <= self.beta <= high, "beta", self.beta, f"in [{low:g}, {high:g}]")

    def tail(self, m: int) -> int:
        """Size of the tail among m competitors."""
        return tail_count(self.r, m)

    def aggregate(self, x: torch.Tensor, moments: Moments | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Value, gradient and threshold of the smoothed tail average of each column (eq. ``sTAM``).

        Parameters
        ----------
        x : Tensor, shape (n, b)
            Scores with ``-inf`` at the signal; overwritten by the gradient ``T = q / k`` with
            ``q = sigmoid(beta (x - mu))``, 0 at the signal.
        moments : pair of Tensor, shape (b,), optional
            Mean and standard deviation of the competitors of each column, where they are known already; the
            search for the thresholds begins with them.

        Returns
        -------
        c : Tensor, shape (b,)
        mu : Tensor, shape (b,)
            ``-inf`` where the tail is everything (r = 1), and the tail average the mean.

        Raises
        ------
        ScoresOverflow
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
            largest = float(torch.where(torch.isneginf(x), 0, x).abs().max())
            raise ScoresOverflow(f"W: scores of up to {largest:.0e}, whose squares overflow")
        mu, excess = columns_for(x).tail(x, guess, doubt, spread, k, self.beta)
        return mu + excess / k, mu

    def aggregate_at(self, x: torch.Tensor, mu: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
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
        excess, total = columns_for(x).tail_at(x, mu, k, self.beta)
        return mu + excess / k, 1 - total

    def curvature(self, T: torch.Tensor) -> torch.Tensor:
        """The vector ``C = beta q (1 - q) / k`` of the Hessian of the aggregate, shape (n, b)."""
        k = self.tail(len(T) - 1)
        return self.beta * T * (1 - k * T).clamp_(min=0)

    def total_curvature(self, T: torch.Tensor) -> torch.Tensor:
        """``sum(C)`` of each column, shape (b,)."""
        k = self.tail(len(T) - 1)
        return (self.beta * (1 - k * torch.linalg.vector_norm(T, dim=0) ** 2)).clamp_(min=0)


Loss = CrossEntropy | TailAverage


def require_loss(loss: object) -> None:
    """Check that an argument is one of the losses, and not the class of one."""
    require_instance("loss", loss, (CrossEntropy, TailAverage))


def second_order(
    loss: Loss, T: torch.Tensor, dS: torch.Tensor, a: torch.Tensor, own: torch.Tensor
) -> torch.Tensor:
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

    Raises
    ------
    ValueError
        For tensors that do not fit each other.
    """
    require_loss(loss)
    require_array("dS", dS, (None, None))
    require_array("T", T, tuple(dS.shape))
    require_array("a", a, (dS.shape[1],))
    require_array("own", own, (dS.shape[1],))
    columns = columns_for(dS)
    if hasattr(columns, "second_order"):  # on a GPU one program replaces many operations on large tensors
        tail = isinstance(loss, TailAverage)
        constants = (loss.tail(len(T) - 1), loss.beta) if tail else (None, None)
        return columns.second_order(T, dS, a, own, *constants)
    a, own = a.to(dS.dtype), own.to(dS.dtype)
    outer = a * (1 - a) * (own - torch.linalg.vecdot(T, dS, dim=0))
    C = loss.curvature(T)
    total = C.sum(dim=0).clamp_(min=torch.finfo(C.dtype).tiny)
    dS.sub_(torch.linalg.vecdot(C, dS, dim=0) / total).mul_(C).mul_(a).sub_(T * outer)
    return outer


def columns_for(x: torch.Tensor) -> ModuleType:
    """The fastest of the three modules that work on columns of these scores.

    Compiled loops where there are any for this device and type of number, else tensor operations.
    """
    if columns_cpu.suits(x):
        return columns_cpu
    if x.device.type == "cuda" and triton_is_there():
        from assocmem.training import columns_gpu

        return columns_gpu
    return columns_tensors


@cache
def triton_is_there() -> bool:
    """Whether programs for GPUs can be compiled; without Triton tensors do their work."""
    return find_spec("triton") is not None


def _moments(x: torch.Tensor) -> Moments:
    """Mean and standard deviation of the competitors of each column."""
    finite = torch.where(torch.isfinite(x), x, 0)
    return mean_and_spread(finite.sum(dim=0), torch.linalg.vector_norm(finite, dim=0) ** 2, len(x) - 1)


def mean_and_spread(total: torch.Tensor, square: torch.Tensor, m: int) -> Moments:
    """Mean and standard deviation of m numbers from their sum and their sum of squares.

    Parameters
    ----------
    total, square : Tensor, shape (b,)
    m : int

    Returns
    -------
    mean, spread : Tensor, shape (b,)

    Raises
    ------
    ValueError
        For an m below 1, or tensors of different shapes.
    """
    require_array("total", total, (None,))
    require_array("square", square, tuple(total.shape), total)
    require_integer("m", m, 1)
    require(m < 2**63, "m", m, "below 2^63")
    mean = total / m
    return mean, (square / m - mean**2).clamp_(min=0).sqrt()


def normal_quantile(k: float, m: int) -> tuple[float, float]:
    """Level that k of m normal numbers exceed, and its standard error, in units of their spread.

    Parameters
    ----------
    k : float
        Between 0 and m.
    m : int

    Returns
    -------
    level, doubt : float

    Raises
    ------
    ValueError
        For a k that is not between 0 and m.
    """
    require_integer("m", m, 1)
    require_number("k", k, 0, m)
    level = NORMAL.inv_cdf(1 - k / m)
    # variance of a sample quantile less what the sample's mean and spread tell of it
    variance = k * (m - k) / (m * NORMAL.pdf(level)) ** 2 - 1 - level**2 / 2
    return level, math.sqrt(max(variance, 0) / m)


def _gaussian_threshold(
    mean: torch.Tensor, spread: torch.Tensor, k: float, m: int, beta: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Threshold and its standard error if each column were a normal sample."""
    level, doubt = normal_quantile(k, m)
    return mean + level * torch.sqrt(spread**2 + (SMOOTHING_ERROR / beta) ** 2), spread * doubt
