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
from assocmem.pairs.data import Facts, Pairs

LARGEST_PROGRAM = 4_000_000
"""Entries of the largest program that is tried: some seconds. The comparisons that a search could satisfy
least come first. Chosen by trial."""
SECONDS = 20
"""Time after which the program is given up."""
NOTHING = 1e-9
"""Weights over the largest up to which a comparison plays no part: the solver satisfies equations to 1e-7."""


def contradiction(
    pairs: Pairs | Facts, W: torch.Tensor, k: int
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """A memory with the largest smallest margin over the length of a comparison, or weights that cancel.

    Neither is verified.

    Parameters
    ----------
    pairs : Pairs or Facts
        In coordinates in which vectors look alike in all directions.
    W : Tensor, shape (d_out, d_in)
        Where a search for a memory ended; the zero matrix if there is none.
    k : int
        1, or ``m - 1``, where all comparisons of a key count as one, their sum.

    Returns
    -------
    memory : Tensor, shape (d_out, d_in), or None
        None if the program has none.
    weights : Tensor, shape (m, n), or None
        None if there is a memory, or more than `FEW` comparisons would have weights.
    """
    if k > 1:
        return _among_sums(pairs)
    targets, keys = pairs.answers, torch.arange(pairs.n, device=pairs.V.device)
    lengths = torch.cdist(pairs.U.T, pairs.answered().T, compute_mode="donot_use_mm_for_euclid_dist")
    lengths = lengths * pairs.V.norm(dim=0)
    S = all_scores(pairs, W)
    gains = (S[targets, keys] - S) / lengths.clamp(min=torch.finfo(S.dtype).tiny)
    gains[targets, keys] = torch.inf
    most = min(pairs.n * (pairs.m - 1), LARGEST_PROGRAM // pairs.entries)
    chosen = gains.flatten().argsort(stable=True)[:most]
    for count in sorted({min(FEW, most), most}):  # few comparisons often contradict each other already
        j, i = chosen[:count] // pairs.n, chosen[:count] % pairs.n
        memory, x = _program(pairs.answered(i) - pairs.U[:, j], pairs.V[:, i], lengths[j, i])
        if x is not None:
            weights = pairs.U.new_zeros(pairs.m, pairs.n)
            weights[j, i] = x
            return memory, weights
    return memory, None


def _among_sums(pairs):
    """The same for the sums of all comparisons of each key."""
    if pairs.n * pairs.entries > LARGEST_PROGRAM:
        return None, None
    sums = pairs.m * pairs.answered() - pairs.U.sum(dim=1, keepdim=True)
    memory, x = _program(sums, pairs.V, sums.norm(dim=0) * pairs.V.norm(dim=0))
    if x is None:
        return memory, None
    weights = x.expand(pairs.m, pairs.n).clone()
    weights[pairs.answers, torch.arange(pairs.n, device=x.device)] = 0
    return memory, weights


def _program(left, right, lengths):
    """What the linear program of comparisons ``left_c right_c'`` finds: a memory, or their weights."""
    A = (left[:, None] * right[None] / lengths).flatten(0, 1).T.cpu().numpy()
    if not np.isfinite(A).all():  # lengths beyond what squares can be
        return None, None
    found = linprog(
        np.append(np.zeros(A.shape[1]), -1.0),
        A_ub=np.column_stack([-A, np.ones(len(A))]),
        b_ub=np.zeros(len(A)),
        bounds=[(-1, 1)] * A.shape[1] + [(None, 1)],
        method="highs-ds",
        options={"time_limit": SECONDS},
    )
    if found.status != 0:
        return None, None
    if found.x[-1] > NOTHING:
        return torch.from_numpy(found.x[:-1].reshape(len(left), len(right))).to(left), None
    x = torch.from_numpy(-found.ineqlin.marginals).to(left)
    x[x < NOTHING * x.max()] = 0
    return None, x / lengths if 0 < int(x.count_nonzero()) <= FEW else None
