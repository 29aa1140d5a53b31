"""The tail average of Definition 1 by linear programs: its value, and the lowest place above it."""

import math

import numpy as np
from scipy.optimize import linprog

from assocmem.pairs.sizes import tail_count
from assocmem.pairs.tail_average import tail_average
from assocmem.theory.tail_average_reference import tail_average_by_linear_program


def fractional_tail_average(x: np.ndarray, r: float) -> float:
    """Mean of the ``r m`` largest entries where ``r m`` is no integer: the last one counts in part.

    This is the conditional value-at-risk at the level r itself; the paper rounds ``r m`` up.

    Parameters
    ----------
    x : ndarray, shape (m,)
    r : float
        Tail fraction in (0, 1].

    Returns
    -------
    float
    """
    falling = np.sort(x)[::-1]
    size = r * len(x)
    parts = np.clip(size - np.arange(len(x)), 0, 1)
    return float(parts @ falling / size)


def definition_evidence(x: np.ndarray, fractions: list[float]) -> dict:
    """What a check of Definition 1 compares: sorted entries with a linear program that does not sort.

    Parameters
    ----------
    x : ndarray, shape (m,)
    fractions : list of float
        Tail fractions.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    m = len(x)
    return {
        "claim": "definition-1",
        "what": f"the linear program at {len(fractions)} tail fractions of {m} normal scores",
        "kind": "identity",
        "measured": [tail_average_by_linear_program(x, tail_count(f, m)) for f in fractions],
        "predicted": [tail_average(x, f) for f in fractions],
        "tolerance": 1e-9,
        "falsehood": (
            "conditional value-at-risk at the fraction itself, the last score counting in part",
            [fractional_tail_average(x, f) for f in fractions],
        ),
        "axis": "tail average of the scores",
        "each": [f"$r = {f:g}$" for f in fractions],
    }


def least_with_ahead(ahead: int, m: int, k: int) -> float:
    """Least tail average of m competitors of which some are ahead of a signal at zero, by one at least.

    Parameters
    ----------
    ahead : int
        How many are ahead.
    m, k : int
        Number of competitors and size of the tail.

    Returns
    -------
    float
        The signal beats the tail average where this is negative. Competitors are at least at ``-m``, so far
        below that a single one can make up for all who are ahead.
    """
    # Unknowns are the scores, the excesses over the threshold, and the threshold.
    cost = np.concatenate([np.zeros(m), np.full(m, 1 / k), [1.0]])
    excess = np.hstack([np.eye(m), -np.eye(m), -np.ones((m, 1))])
    bounds = [(1 if j < ahead else -m, None) for j in range(m)] + [(0, None)] * m + [(None, None)]
    return float(linprog(cost, A_ub=excess, b_ub=np.zeros(m), bounds=bounds).fun)


def most_ahead(m: int, k: int) -> int:
    """The most competitors that can be ahead of a signal that beats its tail average, by linear programs.

    Parameters
    ----------
    m, k : int
        Number of competitors and size of the tail.

    Returns
    -------
    int
    """
    return max(a for a in range(m + 1) if least_with_ahead(a, m, k) < -1e-7)


def place_evidence(cases: list[tuple[int, float]]) -> dict:
    """What a check of Definition 1 compares: the lowest place of a signal that beats its tail average.

    Parameters
    ----------
    cases : list of tuple of int and float
        Numbers of competitors and tail fractions.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    return {
        "claim": "definition-1",
        "what": f"most competitors ahead of a signal above its tail average, in {len(cases)} linear programs",
        "kind": "identity",
        "measured": [most_ahead(m, tail_count(r, m)) for m, r in cases],
        "predicted": [math.ceil(r * m) - 1 for m, r in cases],
        "tolerance": 0.25,
        "falsehood": ("$k$, one more", [math.ceil(r * m) for m, r in cases]),
        "axis": "competitors ahead of the signal",
        "each": [f"$N = {m}$, $k = {tail_count(r, m)}$" for m, r in cases],
    }
