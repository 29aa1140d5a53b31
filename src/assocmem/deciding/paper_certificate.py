"""The paper's proof that below 2 no memory retrieves everything, as a computation (Section 2.3).

The proof needs no optimiser. It writes down weights on the comparisons of the keys i > r with the targets
j <= r that nearly cancel (Lemma ``array``), and shows that arrays of bounded weights reach every matrix of a
certain length (Lemma ``certificate``), so that a small change makes the first ones cancel. How small and how
long are statements about large n, and here are the numbers at any n.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy import special

from assocmem.checks import require, require_integer
from assocmem.pairs.data import Pairs

INVERSION_STEPS = 60
"""Newton steps for an inverse Mills ratio. From ``1e-12`` to ``1e6`` five are enough for all digits; the
others are cheap and change nothing."""
MOST_DESCENT_STEPS = 200
"""Eigenvectors that one descent takes at most. Chosen by trial."""
DESCENT_GAIN = 1e-4
"""Share by which an eigenvector has to lower a sum for the descent to go on. Chosen by trial."""
SMALLEST_TERM = 1e-9
"""Size, over that of the average term, below which all terms of a sum of absolute values count as equal, so
that none gets an infinite weight. Chosen by trial."""


@dataclass(frozen=True)
class DualArray:
    """The weights of Lemma ``array``.

    Attributes
    ----------
    weights : Tensor, shape (r, n - r)
        ``weights[j, i]`` is the weight of target j for key ``r + i``; at least ``1 / (r log n)``.
    sum : Tensor, shape (d, d)
        ``A(lambda)``, the weighted sum of comparisons.
    size : float
        Its Frobenius norm over ``n / (d log n)``, which the lemma says tends to zero.
    """

    weights: torch.Tensor
    sum: torch.Tensor
    size: float


def cutoff(n: int) -> int:
    """How many targets the proof compares with, ``r = floor(n / (log n)^2)``."""
    return math.floor(n / math.log(n) ** 2)


def dual_array(pairs: Pairs, r: int | None = None) -> DualArray:
    """Weights that nearly cancel, exactly as the proof of Lemma ``array`` builds them.

    Parameters
    ----------
    pairs : Pairs
    r : int, optional
        Number of targets compared with, between 1 and ``n - d - 1``; by default `cutoff`.

    Returns
    -------
    DualArray

    Raises
    ------
    ValueError
        For an r out of range, as the default is where d is close to n.
    """
    n, d = pairs.n, pairs.d
    r = cutoff(n) if r is None else r
    require_integer("r", r, 1)
    require(r < n - d, "r", r, f"less than n - d = {n - d}")
    compared, U, V = pairs.U[:, :r], pairs.U[:, r:], pairs.V[:, r:]
    X = U @ V.T @ torch.linalg.solve(V @ V.T, V)
    length, b = X.norm(dim=0), 1 - 1 / math.log(n)
    z = torch.from_numpy(inverse_mills(math.sqrt(d) * length.cpu().numpy() / b)).to(X)
    chance = torch.special.ndtr(-z)
    beyond = math.sqrt(d) * (compared.T @ (X / length)) >= z
    weights = (1 / math.log(n) + beyond * (b / chance)) / r
    total = (U * weights.sum(dim=0) - compared @ weights) @ V.T
    return DualArray(weights, total, float(total.norm()) * d * math.log(n) / n)


def inverse_mills(value: ArrayLike) -> np.ndarray:
    """Solve ``phi(z) / (1 - Phi(z)) = value`` for z.

    Parameters
    ----------
    value : float or array
        Positive.

    Returns
    -------
    array
    """
    value = np.asarray(value, dtype=float)
    z = np.where(value > 1, value - 1 / np.maximum(value, 1), np.sqrt(2) * special.erfcinv(2 - value))
    # The ratio is increasing and convex, so that Newton's method settles from the right.
    for _ in range(INVERSION_STEPS):
        ratio = math.sqrt(2 / math.pi) / special.erfcx(z / math.sqrt(2))
        z = z - (ratio - value) / (ratio * (ratio - z))
    return z


def predicted_size(log_n: ArrayLike, c: float) -> np.ndarray | float:
    """What ``DualArray.size`` should be, in root mean square, to leading order.

    With all lengths at their typical values the second moment in the proof is ``(n/r) (2 + 2 b^2 (1/p - 1) +
    d)``: the variance of the weights, once for either vector of a comparison, and ``d`` for keys that
    overlap and therefore have weights that rise together.

    Parameters
    ----------
    log_n : float or array
        Natural logarithm of the number of pairs, above 1.
    c : float
        ``d^2 / (n log n)``.

    Returns
    -------
    float or array
    """
    log_n = np.asarray(log_n, dtype=float)
    b, log_d = 1 - 1 / log_n, 0.5 * (math.log(c) + log_n + np.log(log_n))
    z = inverse_mills(np.exp(log_d - log_n / 2) / b)
    variance = np.logaddexp(math.log(2) + 2 * np.log(b) - special.log_ndtr(-z), log_d)
    return np.exp(0.5 * (np.log(c) + 5 * np.log(log_n) - log_n + variance))


def reach(pairs: Pairs, r: int | None = None, *, starts: int = 4, seed: int = 0) -> tuple[float, float]:
    """The constant of Lemma ``certificate`` on one instance, from both sides.

    ``inf over |X|_F = 1 of d / (r (n - r)) sum |(u_i - u_j)' X v_i|`` over i > r and j <= r.

    Parameters
    ----------
    pairs : Pairs
        Of small dimension: work grows as ``r n d^4``.
    r : int, optional
        By default `cutoff`.
    starts : int
        Random matrices that a descent begins with.
    seed : int

    Returns
    -------
    lower, upper : float
        The least singular value of the comparisons over the longest of them, a bound; and the smallest sum
        that the descents found.
    """
    n, d = pairs.n, pairs.d
    r = cutoff(n) if r is None else r
    gaps = pairs.U[:, r:, None] - pairs.U[:, None, :r]
    A = (gaps[:, None] * pairs.V[None, :, r:, None]).reshape(d * d, -1)
    generator = torch.Generator().manual_seed(seed)
    begin = (torch.randn(d * d, generator=generator, dtype=A.dtype) for _ in range(starts))
    upper = min(_descend(A, X / X.norm()) for X in begin)
    lower = max(0.0, float(torch.linalg.eigvalsh(A @ A.T)[0])) / float(A.norm(dim=0).max())
    scale = d / (r * (n - r))
    return scale * lower, scale * upper


def _descend(A, X):
    """Smallest sum of ``|A' X|`` near X on the sphere, by eigenvectors of reweighted squares."""
    value = float((A.T @ X).abs().sum())
    for _ in range(MOST_DESCENT_STEPS):
        weights = 1 / (A.T @ X).abs().clamp_(min=SMALLEST_TERM * value / A.shape[1])
        X = torch.linalg.eigh((A * weights) @ A.T).eigenvectors[:, 0]
        before, value = value, min(value, float((A.T @ X).abs().sum()))
        if value > before * (1 - DESCENT_GAIN):
            break
    return value
