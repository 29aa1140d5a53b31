"""The correlation memory, against its definition."""

import torch

from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import gaussian_pairs


def test_memory_is_the_sum_of_outer_products():
    pairs = gaussian_pairs(6, 3, seed=1)
    terms = [torch.outer(pairs.U[:, k], pairs.V[:, k]) for k in range(6)]
    torch.testing.assert_close(correlation_memory(pairs), sum(terms))
