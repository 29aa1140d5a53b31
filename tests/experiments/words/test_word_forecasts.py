"""Forecasts of a second half from a first one."""

from dataclasses import replace

import numpy as np
import pytest

from assocmem.experiments.points import last_retrievable_fact, word_costs
from assocmem.experiments.words.nested_facts import halves
from assocmem.experiments.words.word_forecasts import STRENGTHS, word_forecast


@pytest.fixture(scope="module")
def capitals():
    return word_forecast("capital", 8, 0)


def test_a_relation_that_follows_a_rule_costs_less_with_it(capitals):
    assert capitals.alone.shape == capitals.led.shape == (78,)
    assert capitals.rule.strength > 1
    assert capitals.strength in STRENGTHS and capitals.strength > 0
    assert capitals.led.mean() < 0.9 * capitals.alone.mean()
    assert (capitals.alone >= 0).all() and capitals.alone.max() < 8 * 8


def test_costs_do_not_feel_linear_maps(capitals, monkeypatch):
    """Whitening takes out whatever a linear map has done to the vectors, but for a rotation of the draws."""
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((2, 8, 8))
    cut = halves("capital", 8, 0)
    moved = replace(cut, targets=A @ cut.targets + 3, keys=B @ cut.keys)
    monkeypatch.setattr("assocmem.experiments.words.word_forecasts.halves", lambda *_: moved)
    again = word_forecast("capital", 8, 0)
    assert again.rule.strength == pytest.approx(capitals.rule.strength)
    assert again.alone.mean() == pytest.approx(capitals.alone.mean(), rel=0.15)


def test_the_rows_of_tables_are_these(capitals):
    row = word_costs(4, 8, 0)
    assert row["q"] == pytest.approx(capitals.rule.strength, rel=1e-4)
    assert row["led"] == pytest.approx(capitals.led.mean(), rel=1e-4)
    assert row["strength"] == capitals.strength
    assert last_retrievable_fact(4, 2, 12, 0)["facts"] == len(capitals.led)  # in eight some are hidden
