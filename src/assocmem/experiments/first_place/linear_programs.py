"""Whether some memory retrieves an instance, by a linear program: a second opinion that knows no Newton step.

Maximise t subject to ``<W, A_ij> >= t`` for all comparisons and entries of W between -1 and 1. The optimum is
positive if some memory retrieves everything, and zero (at W = 0) if none does. The verdict rests on rounded
arithmetic; its memory can be checked exactly.
"""

import numpy as np
from scipy.optimize import linprog

from assocmem.pairs.data import Pairs

CLEARLY_POSITIVE = 1e-7
"""Optimum from which on it counts as positive: a hundred times what the solver tolerates in a constraint, in
the units of scores."""


def best_of_program(pairs: Pairs) -> tuple[bool, np.ndarray]:
    """The program's verdict and its memory.

    Parameters
    ----------
    pairs : Pairs
        Of small size: there are ``n (n - 1)`` constraints on ``d^2`` numbers, held densely.

    Returns
    -------
    retrievable : bool
    W : ndarray, shape (d, d)
        The best memory; zero up to rounding where nothing is retrievable.
    """
    U, V = pairs.U.numpy(), pairs.V.numpy()
    j, i = np.nonzero(~np.eye(pairs.n, dtype=bool))
    comparisons = ((U[:, i] - U[:, j])[:, None] * V[None, :, i]).reshape(pairs.d**2, -1).T
    rows = np.column_stack([-comparisons, np.ones(len(i))])
    cost = np.zeros(rows.shape[1])
    cost[-1] = -1
    options = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
    bounds = [(-1, 1)] * pairs.d**2 + [(0, None)]
    found = linprog(cost, A_ub=rows, b_ub=np.zeros(len(i)), bounds=bounds, method="highs", options=options)
    return bool(-found.fun > CLEARLY_POSITIVE), found.x[:-1].reshape(pairs.d, pairs.d)
