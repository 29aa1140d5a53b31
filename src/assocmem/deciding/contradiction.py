"""A contradiction among few comparisons, found by a linear program.

Where two keys are equal, say, their two comparisons contradict each other whatever the other pairs do. The
loss has no minimum then: on the way there the weights of all other comparisons vanish, and none of the bounds
that prove weights on all of them applies. A linear program finds weights on as few comparisons as possible,
and those can be made to cancel in integers.
"""

import torch
from scipy.optimize import linprog

from assocmem.deciding.certificates import FEW
from assocmem.deciding.search import all_scores
from assocmem.pairs.data import Pairs

LARGEST_PROGRAM = 4_000_000
"""Entries of the largest program that is tried: some seconds. The comparisons that a search could satisfy
least come first. Chosen by trial."""
SECONDS = 60
"""Time after which the program is given up."""
NOTHING = 1e-9
"""Weights over the largest up to which a comparison plays no part: the solver satisfies equations to 1e-7."""


def contradiction(pairs: Pairs, W: torch.Tensor) -> torch.Tensor | None:
    """Weights on few comparisons that nearly cancel, for top-1 retrieval.

    Parameters
    ----------
    pairs : Pairs
        In coordinates in which vectors look alike in all directions.
    W : Tensor, shape (d, d)
        Where a search for a memory ended; the zero matrix if there is none.

    Returns
    -------
    Tensor, shape (n, n), or None
        None where there are none among the comparisons that were looked at, or too many of them.
    """
    lengths = (pairs.U[:, :, None] - pairs.U[:, None, :]).norm(dim=0) * pairs.V.norm(dim=0)
    S = all_scores(pairs, W)
    gains = (S.diagonal() - S) / lengths.clamp(min=torch.finfo(S.dtype).tiny)
    gains.fill_diagonal_(torch.inf)
    count = min(pairs.n * (pairs.n - 1), LARGEST_PROGRAM // pairs.d**2)
    chosen = gains.flatten().argsort(stable=True)[:count]
    j, i = chosen // pairs.n, chosen % pairs.n
    A = (pairs.U[:, i] - pairs.U[:, j])[:, None] * pairs.V[:, i][None]
    A = torch.cat([A.flatten(0, 1) / lengths[j, i], A.new_ones(1, count)])
    A, right = A[A.any(dim=1)].cpu().numpy(), [0.0] * (int(A.any(dim=1).sum()) - 1) + [1.0]
    found = linprog([0.0] * count, A_eq=A, b_eq=right, method="highs-ds", options={"time_limit": SECONDS})
    if found.status != 0:
        return None
    x = torch.from_numpy(found.x).to(S)
    x[x < NOTHING * x.max()] = 0
    if int(x.count_nonzero()) > FEW:
        return None
    weights = torch.zeros_like(S)
    weights[j, i] = x / lengths[j, i]
    return weights
