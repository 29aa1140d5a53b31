"""Retrieval as a linear program: the independent answer that verdicts are compared with."""

import numpy as np
from scipy.optimize import linprog


def best_margin(pairs, k=1, method="highs"):
    """Largest worst margin of a memory with entries in [-1, 1]: positive iff some memory retrieves all.

    Maximise t with ``s_ii - mu_i - sum_j xi_ij / k >= t`` and ``xi_ij >= s_ji - mu_i, 0``, which at k = 1 is
    ``s_ii - s_ji >= t`` for all j. For facts, the score of the own target takes the place of s_ii.
    """
    U, V, own = pairs.U.numpy(), pairs.V.numpy(), pairs.answers.tolist()
    (m, n), entries = (pairs.m, pairs.n), pairs.entries
    scores = (U.T[:, None, :, None] * V.T[None, :, None, :]).reshape(m, n, entries)  # [j, i] -> row of s_ji
    rivals = [(j, i) for i in range(n) for j in range(m) if j != own[i]]
    rows = []
    if k == 1:
        size = entries + 1
        for j, i in rivals:
            rows.append(np.append(scores[j, i] - scores[own[i], i], 1))
        bounds = [(-1, 1)] * entries + [(None, None)]
    else:
        size = entries + n + len(rivals) + 1
        for i in range(n):
            row = np.zeros(size)
            row[:entries], row[entries + i], row[-1] = -scores[own[i], i], 1, 1
            row[[entries + n + c for c, pair in enumerate(rivals) if pair[1] == i]] = 1 / k
            rows.append(row)
        for c, (j, i) in enumerate(rivals):
            row = np.zeros(size)
            row[:entries], row[entries + i], row[entries + n + c] = scores[j, i], -1, -1
            rows.append(row)
        bounds = [(-1, 1)] * entries + [(None, None)] * n + [(0, None)] * len(rivals) + [(None, None)]
    cost = np.zeros(size)
    cost[-1] = -1
    found = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=bounds, method=method)
    assert found.status == 0, found.message
    return -found.fun
