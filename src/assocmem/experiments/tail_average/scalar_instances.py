"""Trained memories beside the scalar theory: norm, susceptibility, scores, the equations at finite size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy import special

from assocmem.experiments.tail_average.memories_at_load import train_at_load
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs
from assocmem.pairs.scores import scores
from assocmem.theory.norm_bounds import LARGEST_MULTIPLE
from assocmem.theory.scalar_reference import least_value
from assocmem.training.fit import Fit
from assocmem.training.losses import TailAverage
from assocmem.training.passes import dense_hessian, loss_pass

GAP = 1e-8
"""Relative duality gap of these memories, far below what finite size does to them."""


@dataclass(frozen=True)
class Instance:
    """A memory trained by the smoothed tail average.

    Attributes
    ----------
    pairs : Pairs
    loss_function : TailAverage
    ridge : float
    fit : Fit
    chi : float
        Trace of the inverse Hessian of the summed loss, thresholds held, over ``d^2``.
    """

    pairs: Pairs
    loss_function: TailAverage
    ridge: float
    fit: Fit
    chi: float

    @property
    def nu(self) -> float:
        """Norm scale ``|W|_F / d``."""
        return self.fit.nu

    @property
    def loss(self) -> float:
        """Mean loss of a key, without the ridge."""
        return self.fit.loss

    @property
    def margin(self) -> np.ndarray:
        """Margins of the keys, shape (n,)."""
        return self.fit.margins.numpy()


@dataclass(frozen=True)
class ScoredInstance(Instance):
    """An `Instance` with what is kept of its scores.

    Attributes
    ----------
    signal : ndarray, shape (n,)
        Signal scores.
    distance, own_distance : float
        Mean distance of a column of competitors from the normal law, the column divided by ``nu`` and by its
        own standard deviation (`column_distances`).
    ratios : dict of str to float
        See `equation_ratios`.
    """

    signal: np.ndarray
    distance: float
    own_distance: float
    ratios: dict[str, float]


def train_instance(d: int, load: float, r: float, beta: float, ridge: float, *, seed: int) -> Instance:
    """Train a memory to a gap of 1e-8, and invert its Hessian as a matrix.

    Parameters
    ----------
    d : int
        The Hessian takes ``8 d^4`` bytes.
    load, r, beta, ridge : float
        As in `assocmem.theory.scalar.solve_scalar`.
    seed : int
        Of the pairs.

    Returns
    -------
    Instance

    Raises
    ------
    ArithmeticError
        If the gap is not reached.
    """
    loss = TailAverage(r=r, beta=beta)
    pairs, found = train_at_load(load, d, loss, ridge=ridge, tol=GAP, seed=seed)
    H = dense_hessian(pairs, loss, found.W, profiled=False)
    H.diagonal().add_(ridge / d**2)
    chi = float(torch.linalg.inv(H).trace()) / (pairs.n * d**2)
    return Instance(pairs, loss, ridge, found, chi)


def with_scores(instance: Instance) -> ScoredInstance:
    """Look at all scores of a memory, and keep what the theory speaks of.

    Parameters
    ----------
    instance : Instance
        Its scores take ``8 n^2`` bytes, for the time being.

    Returns
    -------
    ScoredInstance
    """
    S = scores(instance.pairs, instance.fit.W).numpy()
    return ScoredInstance(
        **vars(instance),
        signal=S.diagonal().copy(),
        distance=column_distances(S, instance.nu).mean(),
        own_distance=column_distances(S).mean(),
        ratios=equation_ratios(instance, S),
    )


def column_distances(S: np.ndarray, scale: float | None = None) -> np.ndarray:
    """Kolmogorov-Smirnov distance of the competitors of each key from the normal law.

    Parameters
    ----------
    S : ndarray, shape (n, n)
        Scores; columns are keys.
    scale : float, optional
        Standard deviation of the normal law; by default that of each column.

    Returns
    -------
    ndarray, shape (n,)
    """
    n = len(S)
    columns = S.T[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    scale = scale or columns.std(axis=1, keepdims=True)
    levels = special.ndtr(np.sort(columns / scale, axis=1))
    steps = np.arange(n) / (n - 1)
    return np.maximum(steps[1:] - levels, levels - steps[:-1]).max(axis=1)


def equation_ratios(instance: Instance, S: np.ndarray) -> dict[str, float]:
    """What the equations of Propositions 8 and 9 say of one memory, as ratios that tend to one.

    Parameters
    ----------
    instance : Instance
    S : ndarray, shape (n, n)
        Its scores; columns are keys.

    Returns
    -------
    dict of str to float
        ``"identity"`` is the inner product of the gradient's two parts with W, over each other; ``"with what
        is left"`` the same with the gradient that the fit has left; ``"variance"`` and ``"response"`` belong
        to the two equations, ``"without omega"`` and ``"without B"`` lack one of their terms.
    """
    loss, ridge, nu, chi = instance.loss_function, instance.ridge, instance.nu, instance.chi
    beta = loss.beta
    q = special.expit(beta * (S - instance.fit.mu.numpy()))
    np.fill_diagonal(q, 0)
    k = q.sum(axis=0).mean()
    a = special.expit(-instance.margin)
    b = a * (1 - a)
    pulled = (a * (S.diagonal() - (q * S).sum(axis=0) / k)).mean()
    omega = (a * beta * (q * (1 - q)).sum(axis=0) / k).mean()
    load = instance.pairs.n / instance.pairs.d**2
    again = loss_pass(instance.pairs, loss, instance.fit.W)
    left = float((again.gradient * instance.fit.W).sum()) + ridge * nu**2
    return {
        "identity": pulled / (ridge * nu**2),
        "with what is left": (pulled + left) / (ridge * nu**2),
        "variance": nu**2 * (ridge + omega) / (a * S.diagonal()).mean(),
        "without omega": nu**2 * ridge / (a * S.diagonal()).mean(),
        "response": load * (chi * (ridge + omega) + (chi * b / (1 + chi * b)).mean()),
        "without B": load * chi * (ridge + omega),
    }


def least_norm_of(pairs: Pairs, loss: TailAverage, ridge: float) -> float:
    """The lower bound of Lemma 19 on ``|W|_F / d``, for one instance.

    What the best multiple of the outer products gains over ``W = 0``, over the slope of the objective there.

    Parameters
    ----------
    pairs : Pairs
    loss : TailAverage
    ridge : float

    Returns
    -------
    float
    """
    d, W = pairs.d, correlation_memory(pairs)
    size = float((W * W).sum()) / d**2
    best = least_value(
        lambda t: loss_pass(pairs, loss, t * W).loss + ridge / 2 * t**2 * size, 0, LARGEST_MULTIPLE
    )
    start = loss_pass(pairs, loss, 0 * W)
    return (start.loss - best) / float(start.gradient.norm()) / d


def distance_power(d: Sequence[int], distances: np.ndarray) -> tuple[float, float]:
    """Power of d of a mean distance, by least squares weighted with the scatter between instances.

    Parameters
    ----------
    d : sequence of int, length m
        Dimensions, at least two.
    distances : ndarray, shape (m, instances)

    Returns
    -------
    exponent, error : float
        The exponent and its standard error.
    """
    mean = distances.mean(axis=1)
    weights = np.sqrt(distances.shape[1]) * mean / distances.std(axis=1, ddof=1)
    slope, covariance = np.polyfit(np.log(d), np.log(mean), 1, w=weights, cov="unscaled")
    return float(slope[0]), float(np.sqrt(covariance[0, 0]))
