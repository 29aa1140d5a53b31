"""Margins of rules beside the largest, and the law for it."""

import math

import pytest

from assocmem.experiments.ladder.margins import COMPARED, measure_margins
from assocmem.theory.margin_law import largest_margin_law


def test_no_rule_has_a_larger_margin_and_the_law_is_near():
    found = measure_margins(100, 37, 0)
    assert found["margin"] <= found["bound"] <= (1 + 1e-3) * found["margin"]
    shares = {name: found[name] for name in (*COMPARED, "cross_entropy")}
    assert max(shares.values()) < 1
    assert shares["outer_products"] < 0 < shares["even_clip_ten"] < shares["cross_entropy"]
    law = largest_margin_law(100, 37**2 / (100 * math.log(100)))
    assert 0.75 < found["margin"] / law < 1.05


def test_where_there_is_no_margin_the_row_fails():
    with pytest.raises(ArithmeticError, match="n = 60, d = 8, seed = 1: margin -"):
        measure_margins(60, 8, 1)
