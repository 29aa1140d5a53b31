"""Instances that no memory retrieves, as can be told without a search.

Either a comparison is zero whatever the memory, or a key is stored with two targets, or a target is an
average of others and never has the largest product with anything. In all cases the loss need not have a
minimum for a search to find.
"""

import numpy as np
from scipy.optimize import linprog

from assocmem.deciding.certificates import Certificate
from assocmem.deciding.comparisons import as_arrays, tail_margins
from assocmem.pairs.data import Pairs

WIDER = 1e-6
"""Share by which a smoothed tail exceeds k competitors. Weights then stay below their upper bound by this
share of it: room for the corrections that the verification makes. Chosen by trial, large against rounding and
too small to matter to a verdict."""


def vanishing_comparison(pairs: Pairs, k: int) -> Certificate | None:
    """A certificate of a comparison that is zero whatever the memory.

    There is one where a key is zero, and where k competitors have the target of a key.

    Parameters
    ----------
    pairs : Pairs
    k : int
        As in `assocmem.deciding.feasibility.decide`.

    Returns
    -------
    Certificate or None
        Not verified yet.
    """
    U, V = as_arrays(pairs)
    weights = np.zeros((pairs.n, pairs.n))
    empty = np.flatnonzero(~V.any(axis=0))
    if len(empty):
        weights[:, empty[0]] = 1.0
    else:
        _, group, members = np.unique(U, axis=1, return_inverse=True, return_counts=True)
        group = group.reshape(-1)
        alike = np.flatnonzero(group == members.argmax())
        if len(alike) <= k:
            return None
        weights[alike[:k], alike[k]] = 1.0
    np.fill_diagonal(weights, 0)
    return Certificate(k, weights=weights)


def repeated_key(pairs: Pairs, k: int = 1) -> Certificate | None:
    """A certificate that one key would have to lead to two targets.

    The comparisons of either target with the other cancel. Keys that are multiples of each other by a power
    of two count as one.

    Parameters
    ----------
    pairs : Pairs
        Without a `vanishing_comparison`.
    k : int
        As in `assocmem.deciding.feasibility.decide`. For k above one this is no contradiction by itself.

    Returns
    -------
    Certificate or None
        Not verified yet.
    """
    if k > 1:
        return None
    _, V = as_arrays(pairs)
    powers = np.frexp(np.abs(V).max(axis=0))[1]
    scaled = np.ldexp(V, -powers)
    _, group, members = np.unique(scaled, axis=1, return_inverse=True, return_counts=True)
    if members.max() == 1:
        return None
    one, other = np.flatnonzero(group.reshape(-1) == members.argmax())[:2]
    weights = np.zeros((pairs.n, pairs.n))
    lengths = np.ldexp(1.0, powers[[one, other]] - powers[[one, other]].max())
    weights[other, one], weights[one, other] = lengths[::-1]
    return Certificate(1, weights=weights)


def hidden_target(pairs: Pairs, k: int = 1) -> Certificate | None:
    """A certificate that some target is an average of others.

    Such a target never has the largest product with anything, whatever its key. It does not happen in high
    dimension, but one in ten instances of 20 pairs in d = 7 has one. Where the other keys can all be
    satisfied by a memory that sends this one's to zero, the loss has no minimum.
    Most targets are ruled out by one product, that with themselves; a linear program looks at each of the
    others.

    Parameters
    ----------
    pairs : Pairs
    k : int
        As in `assocmem.deciding.feasibility.decide`.

    Returns
    -------
    Certificate or None
        Not verified yet.
    """
    U, _ = as_arrays(pairs)
    seen = tail_margins(pairs.U.T @ (pairs.U - pairs.U.mean(dim=1, keepdim=True)), k) > 0
    most = 1 / k if k in (1, pairs.n - 1) else 1 / (k * (1 + WIDER))
    right = np.append(np.zeros(pairs.d), 1.0)
    for i in np.flatnonzero(~seen.cpu().numpy()):
        gaps = np.delete(U[:, i : i + 1] - U, i, axis=1)
        equal = np.vstack([gaps / np.abs(gaps).max(), np.ones(pairs.n - 1)])
        found = linprog(np.zeros(pairs.n - 1), A_eq=equal, b_eq=right, bounds=(0, most))
        if found.status == 0:
            weights = np.zeros((pairs.n, pairs.n))
            weights[np.arange(pairs.n) != i, i] = found.x
            return Certificate(k, weights=weights)
    return None
