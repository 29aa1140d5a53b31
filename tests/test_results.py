"""Stored tables are read with their records only, and their rows can be computed again."""

import importlib.util
import json

import numpy as np
import pytest
from conftest import ROOT

from assocmem.results import read_table, write_table


def test_a_table_comes_back_by_columns(project):
    write_table("tiny", "numbers", [{"a": 1, "b": ""}, {"a": 2, "b": "0.5"}], "python make.py")
    table = read_table("tiny", "numbers")
    np.testing.assert_array_equal(table["a"], [1, 2])
    np.testing.assert_array_equal(table["b"], [np.nan, 0.5])
    record = json.loads((project / "data" / "tiny" / "numbers.json").read_text())
    assert record["made_by"] == "python make.py"
    assert {"package", "commit", "python", "versions", "machine", "date"} <= set(record)
    assert sorted(p.name for p in (project / "data" / "tiny").iterdir()) == ["numbers.csv", "numbers.json"]


def test_a_machine_without_git_stores_tables_too(project, monkeypatch):
    monkeypatch.setenv("PATH", str(project))
    write_table("tiny", "numbers", [{"a": 1}], "python make.py")
    assert json.loads((project / "data" / "tiny" / "numbers.json").read_text())["commit"] is None
    np.testing.assert_array_equal(read_table("tiny", "numbers")["a"], [1])


@pytest.mark.parametrize("spoil", ["no table", "no record", "a row more", "another column"])
def test_a_table_without_its_record_is_refused(project, spoil):
    write_table("tiny", "numbers", [{"a": 1}], "python make.py")
    table = project / "data" / "tiny" / "numbers.csv"
    if spoil == "no table":
        table.unlink()
    elif spoil == "no record":
        table.with_suffix(".json").unlink()
    elif spoil == "a row more":
        table.write_text(table.read_text() + "2\n")
    else:
        table.write_text("b\n1\n")
    with pytest.raises(ValueError, match="name = 'numbers': must be a table"):
        read_table("tiny", "numbers")


def test_stored_verdicts_come_out_again():
    path = ROOT / "data" / "finite_size_scaling" / "verdicts.py"
    spec = importlib.util.spec_from_file_location("verdicts", path)
    verdicts = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(verdicts)
    table = read_table("finite_size_scaling", "verdicts")
    small = np.flatnonzero(table["n"] == 300)
    for row in np.random.default_rng(0).choice(small, 4, replace=False):
        n, d, seed = (int(table[name][row]) for name in ("n", "d", "seed"))
        assert verdicts.verdict(n, d, seed)["feasible"] == table["feasible"][row], (n, d, seed)
