"""The correlation matrix memory: the sum of outer products."""

import torch

from assocmem.pairs.data import Facts, Pairs, require_facts
from assocmem.pairs.scores import require_finite_products


def correlation_memory(pairs: Pairs | Facts) -> torch.Tensor:
    """The sum of outer products ``W = sum_k u_k v_k'`` (eq. ``cmm``).

    Parameters
    ----------
    pairs : Pairs or Facts
        Of facts, each adds the product of its own target and key.

    Returns
    -------
    Tensor, shape (d_out, d_in)

    Raises
    ------
    ValueError
        For what are no pairs, or vectors so long that their product overflows.
    """
    require_facts(pairs)
    W = pairs.answered() @ pairs.V.T
    require_finite_products(W)
    return W
