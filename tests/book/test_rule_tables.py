"""Numbers for the widget of write rules: plain, complete for what is stored, and the means of it."""

import json
import math

import pandas as pd
import pytest

from assocmem.book import rule_tables
from assocmem.book.rule_figures import RUNGS
from assocmem.experiments.ladder.rules import RULES
from assocmem.theory.noisy_recall import noisy_constant, rounding_noise


def stored(section, name, *more):
    assert section == "write_rules"
    if name == "dimensions":
        assert more == ("dimensions_large",)
        rows = [
            {"n": float(n), "rule": "muon", "seed": seed, "ratio": 9.0 + seed}
            for n, seeds in ((300, 2), (1000, 1))
            for seed in range(seeds)
        ]
    elif name == "shares":
        rows = [
            {"n": 300.0, "d": float(d), "rule": "muon", "seed": seed, "retrieved": 0.5 + seed / 10}
            | {"oldest": 0.25, "newest": 0.75}
            for d in (59, 83)
            for seed in (0, 1)
        ]
        rows.append(rows[0] | {"rule": "delta"})  # not at all dimensions
    else:
        rows = [
            {"n": n, "d": d, "rule": rule, "harm": harm, "size": size, "seed": 0}
            | {"retrieved": 1 - size / 10, "predicted": 0.9}
            for n, d in ((300, 83), (300, 165), (1000, 166))
            for rule in ("muon", "largest_margin")
            for harm in ("query", "bits", "rank")
            for size in (2.0, 1.0)
        ]
    return pd.DataFrame(rows)


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.setattr(rule_tables, "read_table", stored)
    return rule_tables.rule_tables()


def test_they_are_plain_finite_data_about_every_rung(tables):
    assert json.loads(json.dumps(tables, allow_nan=False)) == tables
    assert [rule["name"] for rule in tables["rules"]] == list(RUNGS)
    for rule in tables["rules"]:
        constant, known = rule["constant"], RULES[rule["name"]].constant
        assert constant is None if known is None else constant == pytest.approx(known, rel=1e-3)


def test_smallest_ratios_are_means_with_errors_where_there_are_several(tables):
    needs = {rule["name"]: rule["needs"] for rule in tables["rules"]}
    assert needs["muon"] == [[300, 9.5, 0.5], [1000, 9.0, None]]
    assert needs["delta"] == []


def test_shares_are_those_of_rules_with_all_dimensions(tables):
    (row,) = tables["shares"]
    assert row["n"] == 300
    assert row["ratio"] == [pytest.approx(d**2 / (300 * math.log(300)), rel=1e-3) for d in (59, 83)]
    assert row["rules"] == {"muon": [[0.55, 0.55], [0.25, 0.25], [0.75, 0.75]]}


def test_survival_is_that_of_rungs_at_the_smaller_number_of_pairs(tables):
    assert [round(row["ratio"]) for row in tables["survival"]] == [4, 16]
    for row in tables["survival"]:
        assert row["query"] == row["bits"] == {"muon": [[1.0, 0.9, 0.9], [2.0, 0.8, 0.9]]}


def test_a_memory_without_noise_has_the_constant_of_its_rules(tables):
    for rule in tables["rules"]:
        if rule["memory"] is not None:
            own = noisy_constant(0.0, memory=tables["memories"][rule["memory"]])
            assert own == pytest.approx(rule["constant"], rel=1e-3)
    assert tables["noise"] == [pytest.approx(rounding_noise(b), rel=1e-3) for b in range(1, 9)]
