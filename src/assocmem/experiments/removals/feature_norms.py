"""Operator norms of the matrices whose columns are features ``f_ji = vec(u_j v_i')`` (Appendix G).

Lemma 25 takes two of them for granted: all pairs with their own keys, ``O(1)``, and all targets with one key,
``O(sqrt(d))``. Both Gram matrices are known: entrywise ``(U'U) * (V'V)``, and ``|v|^2 U'U``, which makes
the second norm a product.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh

from assocmem.experiments.statistics import through_inverse
from assocmem.pairs.data import Pairs
from assocmem.pairs.sizes import pairs_at_load

TRACY_WIDOM_MEAN = -1.2065336
"""Mean of the law of Tracy and Widom for real matrices."""


def matched_norm(pairs: Pairs) -> float:
    """Operator norm of the ``d^2 x n`` matrix of the features ``f_ii`` of all pairs.

    Parameters
    ----------
    pairs : Pairs

    Returns
    -------
    float
    """
    U, V = pairs.U.double().numpy(), pairs.V.double().numpy()
    d = pairs.d

    def product(x):
        forms = np.einsum("an,an->n", U, x.reshape(d, d) @ V)
        return ((U * forms) @ V.T).reshape(-1)

    frame = LinearOperator((d**2, d**2), matvec=product, dtype=float)
    start = np.outer(U[:, 0], V[:, 0]).reshape(-1)
    return math.sqrt(eigsh(frame, k=1, v0=start, tol=1e-8, return_eigenvectors=False)[0])


def unmatched_norm(pairs: Pairs, i: int) -> float:
    """Operator norm of the ``d^2 x (n - 1)`` matrix of the features ``f_ji`` of key i and all other targets.

    Parameters
    ----------
    pairs : Pairs
    i : int

    Returns
    -------
    float
    """
    kept = pairs.U[:, torch.arange(pairs.n) != i].double()
    return math.sqrt(float(torch.linalg.eigvalsh(kept @ kept.T)[-1])) * float(pairs.V[:, i].double().norm())


def expected_unmatched(d: int, load: float) -> float:
    """Mean of `unmatched_norm`: the edge ``1 + sqrt(n/d)``, shifted as by Tracy and Widom, times ``E |v|``.

    Parameters
    ----------
    d : int
    load : float

    Returns
    -------
    float
    """
    rows, columns = math.sqrt(d - 0.5), math.sqrt(pairs_at_load(load, d) - 1.5)
    edge = rows + columns
    top = edge**2 + TRACY_WIDOM_MEAN * edge * (1 / rows + 1 / columns) ** (1 / 3)
    return math.sqrt(top / d) * (1 - 1 / (4 * d))


def feature_evidence(
    matched: Mapping[int, Sequence[float]], unmatched: Mapping[int, Sequence[float]], load: float
) -> dict:
    """What a check of the bounds compares: norms of random features with the edges of Marchenko and Pastur.

    For features of length one that are as good as independent in ``d^2`` dimensions the norm is
    ``1 + sqrt(alpha)``. Their lengths scatter by ``2 / sqrt(d)``, so it is approached like ``1 / sqrt(d)``,
    and the limit is that of a straight line in it. For one key see `expected_unmatched`.

    Parameters
    ----------
    matched, unmatched : mapping of int to sequence of float
        By dimension, at least three: norms on several instances.
    load : float

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    d = np.array(sorted(matched), dtype=float)
    groups = [np.asarray(matched[int(x)]) for x in d]
    errors = [g.std(ddof=1) / math.sqrt(len(g)) for g in groups]
    line, error = through_inverse(np.sqrt(d), [g.mean() for g in groups], errors)
    others = [np.asarray(unmatched[int(x)]) for x in d]
    scatter = np.array([g.std(ddof=1) / math.sqrt(len(g)) for g in others])
    expected = np.array([expected_unmatched(int(x), load) for x in d])
    return {
        "claim": "claim-feature-spectrum",
        "what": "norm of the matched features as $d$ grows, and of those of one key",
        "axis": "operator norm",
        "each": ["matched, limit", *(f"one key, $d = {x:g}$" for x in d)],
        "kind": "simulation",
        "measured": [line[-1], *(g.mean() for g in others)],
        "predicted": [1 + math.sqrt(load), *expected],
        "tolerance": [4 * error + 0.02, *(4 * scatter + 0.01 * expected)],
        "falsehood": (
            r"features that are orthogonal: $1$, and $\sqrt{n/d}$",
            [max(1, math.sqrt(load)), *np.sqrt(load * d)],
        ),
    }
