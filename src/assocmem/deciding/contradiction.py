"""What a linear program finds: a contradiction among few comparisons, or a memory that meets all of them.

Where two keys are equal, say, their two comparisons contradict each other whatever the other pairs do. The
loss has no minimum then: on the way there the weights of all other comparisons vanish, and none of the bounds
that prove weights on all of them applies. A linear program finds weights on as few comparisons as possible,
and those can be made to cancel in integers. It also gives each comparison the length one, which helps where
lengths of targets differ so much that a loss sees the longest alone.
"""

import numpy as np
import torch
from scipy.optimize import linprog

from assocmem.deciding.certificates import FEW
from assocmem.deciding.search import all_scores
from assocmem.pairs.data import Pairs

LARGEST_PROGRAM = 4_000_000
"""Entries of the largest program that is tried: some seconds. The comparisons that a search could satisfy
least come first. Chosen by trial."""
SECONDS = 20
"""Time after which the program is given up."""
NOTHING = 1e-9
"""Weights over the largest up to which a comparison plays no part: the solver satisfies equations to 1e-7."""


def contradiction(pairs: Pairs, W: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """A memory with the largest smallest margin over the length of a comparison, or weights that cancel.

    For top-1 retrieval. Neither is verified.

    Parameters
    ----------
    pairs : Pairs
        In coordinates in which vectors look alike in all directions.
    W : Tensor, shape (d, d)
        Where a search for a memory ended; the zero matrix if there is none.

    Returns
    -------
    memory : Tensor, shape (d, d), or None
        None if the program has none.
    weights : Tensor, shape (n, n), or None
        None if there is a memory, or more than `FEW` comparisons would have weights.
    """
    lengths = torch.cdist(pairs.U.T, pairs.U.T, compute_mode="donot_use_mm_for_euclid_dist")
    lengths = lengths * pairs.V.norm(dim=0)
    S = all_scores(pairs, W)
    gains = (S.diagonal() - S) / lengths.clamp(min=torch.finfo(S.dtype).tiny)
    gains.fill_diagonal_(torch.inf)
    most = min(pairs.n * (pairs.n - 1), LARGEST_PROGRAM // pairs.d**2)
    chosen = gains.flatten().argsort(stable=True)[:most]
    for count in sorted({min(FEW, most), most}):  # few comparisons often contradict each other already
        memory, weights = _program(pairs, lengths, chosen[:count])
        if weights is not None:
            break
    return memory, weights


def _program(pairs, lengths, chosen):
    """What the linear program of some comparisons finds: a memory, or weights."""
    n, d = pairs.n, pairs.d
    j, i = chosen // n, chosen % n
    A = (pairs.U[:, i] - pairs.U[:, j])[:, None] * pairs.V[:, i][None] / lengths[j, i]
    A = A.flatten(0, 1).T.cpu().numpy()
    if not np.isfinite(A).all():  # lengths beyond what squares can be
        return None, None
    found = linprog(
        np.append(np.zeros(d * d), -1.0),
        A_ub=np.column_stack([-A, np.ones(len(A))]),
        b_ub=np.zeros(len(A)),
        bounds=[(-1, 1)] * (d * d) + [(None, 1)],
        method="highs-ds",
        options={"time_limit": SECONDS},
    )
    if found.status != 0:
        return None, None
    if found.x[-1] > NOTHING:
        return torch.from_numpy(found.x[:-1].reshape(d, d)).to(pairs.U), None
    x = torch.from_numpy(-found.ineqlin.marginals).to(pairs.U)
    x[x < NOTHING * x.max()] = 0
    if not 0 < int(x.count_nonzero()) <= FEW:
        return None, None
    weights = pairs.U.new_zeros(n, n)
    weights[j, i] = x / lengths[j, i]
    return None, weights
