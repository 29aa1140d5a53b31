"""Linear maps of facts that make no rounding error, so that proofs can be taken through them as they are."""

import numpy as np
import torch

from assocmem.checks import require, require_instance, require_integer, require_numbers
from assocmem.pairs.data import Facts

LARGEST_ENTRY = 3
"""Of the entries below the diagonal, in size."""
LARGEST_POWER = 8
"""The entries of the diagonal are powers of two up to this one."""
LARGEST_SHIFT = 9
"""Of the entries of the shift, in size."""


def exact_map(d: int, *, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two invertible matrices of small integers that stretch some directions far more than others; a shift.

    Applied to numbers of eleven binary digits they give numbers that double precision holds exactly.

    Parameters
    ----------
    d : int
        Dimension, at least 1.
    seed : int
        Nonnegative.

    Returns
    -------
    A : ndarray, shape (d, d)
        For targets; triangular.
    a : ndarray, shape (d, 1)
        The shift of targets.
    B : ndarray, shape (d, d)
        For keys; triangular.

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_integer("d", d, 1)
    require_integer("seed", seed, 0)
    rng = np.random.default_rng(seed)

    def matrix():
        below = np.tril(rng.integers(-LARGEST_ENTRY, LARGEST_ENTRY + 1, (d, d)), -1)
        return below + np.diag(2.0 ** rng.integers(0, LARGEST_POWER + 1, d))

    A, B = matrix(), matrix()
    return A, rng.integers(-LARGEST_SHIFT, LARGEST_SHIFT + 1, (d, 1)).astype(float), B


def mapped(facts: Facts, A: np.ndarray, a: np.ndarray, B: np.ndarray) -> Facts:
    """The same facts of the targets ``A u + a`` and the keys ``B v``.

    Parameters
    ----------
    facts : Facts
        Of float64, on the CPU.
    A : ndarray, shape (d_out, d_out)
    a : ndarray, shape (d_out, 1)
    B : ndarray, shape (d_in, d_in)

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        For arrays that do not fit.
    """
    require_instance("facts", facts, Facts)
    for name, X, shape in (
        ("A", A, (facts.d_out, facts.d_out)),
        ("a", a, (facts.d_out, 1)),
        ("B", B, (facts.d_in, facts.d_in)),
    ):
        require_numbers(name, X)
        require(np.shape(X) == shape, name, f"shape {np.shape(X)}", f"shape {shape}")
    targets = A @ facts.targets.numpy() + a
    return facts.with_vectors(torch.tensor(targets), torch.tensor(B @ facts.keys.numpy()))
