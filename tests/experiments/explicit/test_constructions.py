"""Each construction has a dimension from which on it works, and its cost is counted."""

import math

import numpy as np
import pytest
import torch

from assocmem.experiments.explicit.constructions import (
    CONSTRUCTIONS,
    Built,
    Construction,
    median_ratio,
    nested_pairs,
    smallest_dimension,
)
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.scores import retrieval_margins

NAMES = {construction.name: construction for construction in CONSTRUCTIONS}


def test_instances_are_nested_and_keep_their_scale():
    at = nested_pairs(50, 1)
    small, large = at(10), at(40)
    torch.testing.assert_close(small.U, large.U[:10] * 2)
    torch.testing.assert_close(small.V, large.V[:10] * 2)
    assert float((large.U**2).sum(dim=0).mean()) == pytest.approx(1, abs=0.1)
    with pytest.raises(ValueError, match="d = 10000: must be at most"):
        at(10_000)


@pytest.mark.parametrize("name", ["outer products", "repair in place, 4 rounds", "equal signals, 2 clips"])
def test_a_construction_works_at_its_dimension_and_not_below(name):
    d, built = smallest_dimension(NAMES[name], 60, seed=2)
    at = nested_pairs(60, 2)
    assert float(retrieval_margins(at(d), built.W).min()) > 0
    assert float(retrieval_margins(at(d - 1), NAMES[name].build(at(d - 1)).W).min()) <= 0


def test_better_constructions_need_fewer_dimensions():
    needed = [smallest_dimension(construction, 80, seed=3)[0] for construction in CONSTRUCTIONS]
    names = [c.name for c in CONSTRUCTIONS]
    order = ["sparse repair, the proof's reserve", "outer products", "repair in place, 1 round"]
    order += ["equal signals, 1 clip", "cross-entropy, ridge 0.001"]
    found = [needed[names.index(name)] for name in order]
    assert found == sorted(found, reverse=True)


def test_costs_are_counted():
    pairs = nested_pairs(60, 2)(30)
    costs = {name: c.build(pairs) for name, c in NAMES.items()}
    assert costs["outer products"].products == 0
    assert costs["sparse repair, best reserve"].products == 1
    assert 0 < costs["repair in place, 4 rounds"].products <= 4
    assert costs["equal signals"].products == 0 < costs["equal signals"].steps
    assert costs["cross-entropy, ridge 0.01"].products % 2 == 0


def test_a_construction_that_never_works_is_an_error():
    never = Construction("negated", lambda pairs: Built(-correlation_memory(pairs), 0), 2.0)
    with pytest.raises(ArithmeticError, match="negated: fails in dimension"):
        smallest_dimension(never, 20, seed=1)


def test_the_half_ratio_is_that_of_the_median_dimension():
    ratio, error = median_ratio(100, [20, 22, 24, 40])
    assert ratio == pytest.approx(23**2 / (100 * math.log(100)))
    spread = np.std([20, 22, 24, 40], ddof=1)
    assert error == pytest.approx(2 * 23 * 1.2533 * spread / 2 / (100 * math.log(100)), rel=1e-3)
    assert math.isnan(median_ratio(100, [20])[1])
