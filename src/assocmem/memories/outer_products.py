"""The correlation matrix memory: the sum of outer products."""

import torch

from assocmem.pairs.data import Pairs, require_pairs
from assocmem.pairs.scores import require_finite_products


def correlation_memory(pairs: Pairs) -> torch.Tensor:
    """The sum of outer products ``W = sum_k u_k v_k'`` (eq. ``cmm``).

    Parameters
    ----------
    pairs : assocmem.pairs.data.Pairs

    Returns
    -------
    Tensor, shape (d, d)

    Raises
    ------
    ValueError
        For what are no pairs, or vectors so long that their product overflows.
    """
    require_pairs(pairs)
    W = pairs.U @ pairs.V.T
    require_finite_products(W)
    return W
