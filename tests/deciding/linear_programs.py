"""Retrieval as a linear program: the independent answer that verdicts are compared with."""

import numpy as np
from scipy.optimize import linprog


def best_margin(pairs, k=1, method="highs"):
    """Largest worst margin of a memory with entries in [-1, 1]: positive iff some memory retrieves all.

    Maximise t with ``s_ii - mu_i - sum_j xi_ij / k >= t`` and ``xi_ij >= s_ji - mu_i, 0``, which at k = 1 is
    ``s_ii - s_ji >= t`` for all j.
    """
    U, V = pairs.U.numpy(), pairs.V.numpy()
    d, n = U.shape
    scores = (U.T[:, None, :, None] * V.T[None, :, None, :]).reshape(n, n, d * d)  # [j, i] -> row of s_ji
    rivals = [(j, i) for i in range(n) for j in range(n) if j != i]
    rows = []
    if k == 1:
        size = d * d + 1
        for j, i in rivals:
            rows.append(np.append(scores[j, i] - scores[i, i], 1))
        bounds = [(-1, 1)] * (d * d) + [(None, None)]
    else:
        size = d * d + n + len(rivals) + 1
        for i in range(n):
            row = np.zeros(size)
            row[: d * d], row[d * d + i], row[-1] = -scores[i, i], 1, 1
            row[[d * d + n + c for c, pair in enumerate(rivals) if pair[1] == i]] = 1 / k
            rows.append(row)
        for c, (j, i) in enumerate(rivals):
            row = np.zeros(size)
            row[: d * d], row[d * d + i], row[d * d + n + c] = scores[j, i], -1, -1
            rows.append(row)
        bounds = [(-1, 1)] * (d * d) + [(None, None)] * n + [(0, None)] * len(rivals) + [(None, None)]
    cost = np.zeros(size)
    cost[-1] = -1
    found = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=bounds, method=method)
    assert found.status == 0, found.message
    return -found.fun
