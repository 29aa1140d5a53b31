"""How far the answers of facts follow a linear rule of their keys: two numbers, estimated without bias.

With white targets and white keys, let C be the mean of ``u v'`` over the facts: its singular values are the
canonical correlations of answers and keys. The rule ``C / |C|_F`` scores wrong answers with mean 0 and
variance 1, and right ones with mean ``|C|_F``, its strength. What a finite number of facts adds to ``|C|_F``
though no rule is there is ``d_in d_out / n`` in the square, and products of different facts are free of it.
"""

import math
from dataclasses import dataclass

import numpy as np

from assocmem.checks import require, require_numbers
from assocmem.theory.ruled_facts import ruled_cost


@dataclass(frozen=True)
class Rule:
    """How strong a linear rule is.

    Attributes
    ----------
    strength : float
        Mean of its score of right answers, in deviations of its scores of wrong ones; 0 where the estimate of
        the square is negative.
    spread : float
        Variance of its score of right answers beyond that of wrong ones, were the vectors Gaussian: the mean
        square of the canonical correlations, each weighted by its square.
    """

    strength: float
    spread: float


def whitened(vectors: np.ndarray, *, centred: bool) -> np.ndarray:
    """Vectors mapped so that their second moments are those of the identity.

    Parameters
    ----------
    vectors : ndarray, shape (d, n)
        Spanning all d dimensions.
    centred : bool
        Whether their mean is taken off first. A memory does not feel a shift of all targets, but keys have
        to be taken as they are: their mean is a direction that a rule can use.

    Returns
    -------
    ndarray, shape (d, n)

    Raises
    ------
    ValueError
        For vectors that do not span all dimensions.
    """
    _require_matrix("vectors", vectors)
    moved = vectors - vectors.mean(axis=1, keepdims=True) if centred else vectors
    values, axes = np.linalg.eigh(moved @ moved.T / moved.shape[1])
    spans = values[0] > 1e-12 * values[-1]
    require(spans, "vectors", f"an array of shape {vectors.shape}", "vectors that span all dimensions")
    return (axes / np.sqrt(values)).T @ moved


def measure_rule(targets: np.ndarray, keys: np.ndarray, answers: np.ndarray) -> Rule:
    """The rule of some facts, from products of different facts alone.

    Parameters
    ----------
    targets : ndarray, shape (d_out, m)
        White.
    keys : ndarray, shape (d_in, n)
        White, of at least four facts.
    answers : ndarray of int, shape (n,)
        Places among the targets.

    Returns
    -------
    Rule

    Raises
    ------
    ValueError
        For arrays that do not belong together.
    """
    _require_matrix("targets", targets)
    _require_matrix("keys", keys)
    n = keys.shape[1]
    require(n >= 4, "keys", f"an array of shape {keys.shape}", "the keys of at least four facts")
    answers = np.asarray(answers)
    fits = answers.shape == (n,) and answers.dtype.kind in "iu"
    fits = fits and answers.min() >= 0 and answers.max() < targets.shape[1]
    require(bool(fits), "answers", f"an array of shape {answers.shape}", f"{n} places among the targets")
    own = targets[:, answers]
    total = own @ keys.T
    same = ((own**2).sum(axis=0) * (keys**2).sum(axis=0)).sum()
    square = ((total**2).sum() - same) / (n * (n - 1))
    if square <= 0:
        return Rule(0.0, 0.0)
    # Two halves, since a square of the noise of one would pass for a correlation.
    one, other = (own[:, part::2] @ keys[:, part::2].T / len(answers[part::2]) for part in (0, 1))
    product = one @ other.T
    return Rule(math.sqrt(square), float(np.clip((product * product.T).sum() / square, 0, 1)))


def forecast(m: int, d_in: int, d_out: int, rule: Rule) -> float:
    """Facts that a memory can hold if their answers follow a rule: those that its numbers pay for.

    Parameters
    ----------
    m : int
        Number of targets, from 2 to a million.
    d_in, d_out : int
        Dimensions of keys and targets.
    rule : Rule
        That of `measure_rule`, or ``Rule(0, 0)`` for facts without one.

    Returns
    -------
    float
    """
    cost = ruled_cost(m, rule.strength, rule.spread).dimensions
    return d_in * min(d_out, m - 1) / cost


def _require_matrix(name, array):
    """Check that an argument is a matrix of finite numbers."""
    require_numbers(name, array)
    require(
        np.ndim(array) == 2, name, f"an array of shape {np.shape(array)}", "a matrix, one vector a column"
    )
