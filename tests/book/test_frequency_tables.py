"""Numbers for the widget of frequent and rare facts: plain, in order, and those of the theory."""

import itertools
import json

import pandas as pd
import pytest
from scipy import special

from assocmem.book import frequency_tables
from assocmem.sweeps.stored_table import read_table
from assocmem.theory.frequency_scaling import trained_reach
from assocmem.theory.ridgeless import critical_load, tail_mean


def test_they_are_plain_data_in_the_order_of_the_exponent(monkeypatch):
    rows = [
        {"s": s, "gamma": gamma, "beta": beta, "reach": s + gamma}
        for s, gamma, beta in ((2.0, 1.5, 1.0), (1.2, 1.0, 1.0), (1.5, 2.0, 1.0), (1.5, 1.0, 0.1))
    ]
    monkeypatch.setattr(frequency_tables, "read_table", lambda *_: pd.DataFrame(rows))
    made = frequency_tables.frequency_tables()
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["reach"] == [[1.2, 2.2], [3.0, 3.5]]
    assert made["critical"] == pytest.approx(float(critical_load(0.15)))
    assert 1 - special.ndtr(made["kappa"]) == pytest.approx(1 - special.ndtr(tail_mean(0.15)))


def test_stored_reaches_are_those_of_the_theory_and_close_enough_to_be_interpolated():
    made = frequency_tables.frequency_tables()
    exponents = [u for u, _ in made["reach"]]
    assert exponents[0] <= 1.1
    assert exponents[-1] >= 12
    assert max(b / a for a, b in itertools.pairwise(exponents)) < 1.2
    for u, reach in made["reach"][:2]:
        assert trained_reach(u, 0.15, beta=1.0) == pytest.approx(reach, rel=1e-5)


def test_all_numbers_of_the_table_are_positive():
    table = read_table("what_is_kept", "constants")
    assert (table[["trained", "smoothed", "reach", "hebb", "keep", "convex", "lowest"]] > 0).all(axis=None)
