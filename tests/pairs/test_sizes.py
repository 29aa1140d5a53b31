"""Sizes from a ratio or a load."""

import math

import pytest

from assocmem.pairs.sizes import dimension_at_ratio, pairs_at_load, top1_ratio


def test_sizes_from_a_ratio_or_a_load():
    assert dimension_at_ratio(1000, 8) == round(math.sqrt(8000 * math.log(1000)))
    assert top1_ratio(1000, 235) == pytest.approx(8, rel=0.01)
    assert pairs_at_load(0.28, 100) == 2800
    assert pairs_at_load(1e-9, 5) == 2
    with pytest.raises(ValueError, match="ratio = -1"):
        dimension_at_ratio(10, -1)
    with pytest.raises(ValueError, match="load = nan"):
        pairs_at_load(math.nan, 10)
