"""The correlation matrix memory: the sum of outer products."""

import torch

from assocmem.pairs.data import Pairs, require_pairs


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
        For what are no pairs.
    """
    require_pairs(pairs)
    return pairs.U @ pairs.V.T
