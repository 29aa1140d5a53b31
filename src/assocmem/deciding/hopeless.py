"""Instances that no memory retrieves, as can be told without a search.

Either a comparison is zero whatever the memory, or a key is stored with two targets, or a target is an
average of others and never has the largest product with anything. In all cases the loss need not have a
minimum for a search to find.
"""

import numpy as np
import torch
from scipy.optimize import linprog

from assocmem.deciding.certificates import Certificate
from assocmem.deciding.comparisons import as_arrays, tail_margins
from assocmem.pairs.data import Facts, Pairs
from assocmem.pairs.scores import block_columns
from assocmem.pairs.sizes import column_slices

WIDER = 1e-6
"""Share by which a smoothed tail exceeds k competitors. Weights then stay below their upper bound by this
share of it: room for the corrections that the verification makes. Chosen by trial, large against rounding and
too small to matter to a verdict."""
MOST_LESSONS = 100
"""Corrections after which a vector that some target has the largest product with is left to a linear program
to find. Most targets need none, and nearly all others a few."""


def vanishing_comparison(pairs: Pairs | Facts, k: int) -> Certificate | None:
    """A certificate of a comparison that is zero whatever the memory.

    There is one where a key is zero, and where k competitors equal the target of a key.

    Parameters
    ----------
    pairs : Pairs or Facts
    k : int
        As in `assocmem.deciding.feasibility.decide`.

    Returns
    -------
    Certificate or None
        Not verified yet.
    """
    U, V = as_arrays(pairs)
    own, weights = pairs.answers.cpu().numpy(), None
    empty = np.flatnonzero(~V.any(axis=0))
    if len(empty):
        key, alike = empty[0], np.arange(pairs.m)
    else:
        _, group, members = np.unique(U, axis=1, return_inverse=True, return_counts=True)
        group = group.reshape(-1)
        key = members[group[own]].argmax()
        alike = np.flatnonzero(group == group[own[key]])
        if len(alike) <= k:
            return None
        alike = alike[alike != own[key]][:k]
    weights = np.zeros((pairs.m, pairs.n))
    weights[alike, key] = 1.0
    weights[own[key], key] = 0
    return Certificate(k, weights=weights)


def repeated_key(pairs: Pairs | Facts, k: int = 1) -> Certificate | None:
    """A certificate that one key would have to lead to two targets.

    The comparisons of either target with the other cancel. Keys that are multiples of each other by a power
    of two count as one.

    Parameters
    ----------
    pairs : Pairs or Facts
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
    _, group = np.unique(np.ldexp(V, -powers), axis=1, return_inverse=True)
    own, group = pairs.answers.cpu().numpy(), group.reshape(-1)
    order = np.lexsort((own, group))  # in each group of equal keys, answers one after the other
    differ = (np.diff(group[order]) == 0) & (np.diff(own[order]) != 0)
    if not differ.any():
        return None
    one, other = order[differ.argmax() : differ.argmax() + 2]
    weights = np.zeros((pairs.m, pairs.n))
    lengths = np.ldexp(1.0, powers[[one, other]] - powers[[one, other]].max())
    weights[own[other], one], weights[own[one], other] = lengths[::-1]
    return Certificate(1, weights=weights)


def hidden_target(pairs: Pairs | Facts, k: int = 1) -> Certificate | None:
    """A certificate that some target is an average of others.

    Such a target never has the largest product with anything, whatever its key. It does not happen in high
    dimension, but one in ten instances of 20 pairs in d = 7 has one. Where the other keys can all be
    satisfied by a memory that sends this one's to zero, the loss has no minimum.
    Most targets are ruled out by a vector that they have the largest product with, such as themselves; a
    linear program looks at each of the others.

    Parameters
    ----------
    pairs : Pairs or Facts
    k : int
        As in `assocmem.deciding.feasibility.decide`.

    Returns
    -------
    Certificate or None
        Not verified yet.
    """
    (U, _), m, own = as_arrays(pairs), pairs.m, pairs.answers.cpu().numpy()
    most = 1 / k if k in (1, m - 1) else 1 / (k * (1 + WIDER))
    right = np.append(np.zeros(pairs.d_out), 1.0)
    for j in unseen_targets(pairs, k):
        gaps = np.delete(U[:, j : j + 1] - U, j, axis=1)
        equal = np.vstack([gaps / np.abs(gaps).max(), np.ones(m - 1)])
        found = linprog(np.zeros(m - 1), A_eq=equal, b_eq=right, bounds=(0, most))
        if found.status == 0:
            weights = np.zeros((m, pairs.n))
            weights[np.arange(m) != j, np.flatnonzero(own == j)[0]] = found.x
            return Certificate(k, weights=weights)
    return None


def unseen_targets(pairs: Pairs | Facts, k: int) -> list[int]:
    """Targets of keys for which no vector was found that would retrieve them: no other is hidden.

    Parameters
    ----------
    pairs : Pairs or Facts
    k : int
        As in `assocmem.deciding.feasibility.decide`.

    Returns
    -------
    list of int
        Their numbers, in rising order.
    """
    U, hidden = pairs.U.double(), []
    U = U - U.mean(dim=1, keepdim=True)
    targets = torch.unique(pairs.answers)
    step = block_columns(pairs.m, U.element_size(), U.device, keys=len(targets))
    for part in column_slices(len(targets), step):
        left = targets[part]
        Y = U[:, left]
        for lesson in range(MOST_LESSONS + 1):
            S = U.T @ Y
            failing = tail_margins(S, k, left) <= 0
            left, Y = left[failing], Y[:, failing]
            if lesson == MOST_LESSONS or not len(left):
                break
            S = S[:, failing]
            S[left, torch.arange(len(left), device=S.device)] = -torch.inf
            best = S.topk(k, dim=0).indices
            Y = Y + U[:, left] - U[:, best].mean(dim=1)
        hidden.append(left)
    return torch.cat(hidden).tolist()
