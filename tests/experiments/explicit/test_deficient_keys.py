"""Deficient keys of a repair, counted over instances."""

import pytest

from assocmem.experiments.explicit.deficient_keys import deficient_share
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins


def test_the_share_is_that_of_margins_under_the_base():
    n, d, kept = 60, 40, 30
    counts = []
    for seed in (1, 2):
        pairs = gaussian_pairs(n, d, seed=seed)
        base = Pairs(pairs.U[:kept], pairs.V[:kept])
        margins = retrieval_margins(base, correlation_memory(base)) * (d / kept) ** 2
        counts.append(int((margins <= 0.1).sum()))
    mean, error = deficient_share(n, d, (1, 2), share=0.25, gamma=0.1)
    assert mean == pytest.approx(sum(counts) / 2 / n)
    assert error == pytest.approx(abs(counts[0] - counts[1]) / 2 / n)
