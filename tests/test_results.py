"""Stored tables are read with their records only, and their rows can be computed again."""

import importlib.util
import json

import numpy as np
import pytest
from conftest import ROOT

from assocmem.results import fill_command, fill_table, read_table, tally, write_table


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


def square(a):
    return {"b": a * a}


def test_a_table_is_filled_once(project):
    keys, seen = [{"a": a} for a in (3, 1, 2)], []

    def compute(a):
        seen.append(a)
        return square(a)

    write_table("tiny", "numbers", [{"a": 7, "b": "0.10"}], "by hand")
    assert fill_table("tiny", "numbers", keys[:2], compute, "python make.py") == 0
    assert fill_table("tiny", "numbers", keys, compute, "python make.py") == 0
    assert fill_table("tiny", "numbers", keys, compute, "python make.py") == 0
    assert seen == [3, 1, 2]
    text = (project / "data" / "tiny" / "numbers.csv").read_text()
    assert text.split() == ["a,b", "1,1", "2,4", "3,9", "7,0.10"]


def test_the_record_keeps_the_commits_of_all_rows(project, monkeypatch):
    for commit in ("aaa", "bbb", "bbb", "ccc"):
        monkeypatch.setattr("assocmem.results._commit", lambda commit=commit: commit)
        write_table("tiny", "numbers", [{"a": 1}], "python make.py")
    record = json.loads((project / "data" / "tiny" / "numbers.json").read_text())
    assert (record["commit"], record["earlier_commits"]) == ("ccc", ["aaa", "bbb"])
    write_table("tiny", "numbers", [{"a": 1}], "python other.py")
    record = json.loads((project / "data" / "tiny" / "numbers.json").read_text())
    assert record["earlier_commits"] == []
    assert fill_table("tiny", "numbers", [], square, "python make.py") == 0


def test_a_table_is_filled_as_far_as_the_time_goes(project):
    keys = [{"a": a} for a in range(4)]
    assert fill_table("tiny", "numbers", keys, square, "python make.py", most=-1) == 4
    assert not (project / "data" / "tiny").exists()
    ticks = iter(range(100))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assocmem.results.time.monotonic", lambda: next(ticks))
        assert fill_table("tiny", "numbers", keys, square, "python make.py", most=2) > 0
    assert 0 < len(read_table("tiny", "numbers")["a"]) < 4


def test_what_was_computed_before_a_failure_is_kept(project):
    def compute(a):
        if a == 2:
            raise ArithmeticError("no verdict")
        return square(a)

    with pytest.raises(ArithmeticError, match="no verdict"):
        fill_table("tiny", "numbers", [{"a": a} for a in range(4)], compute, "python make.py")
    np.testing.assert_array_equal(read_table("tiny", "numbers")["b"], [0, 1])


def test_a_foreign_table_is_not_added_to(project):
    fill_table("tiny", "numbers", [{"a": 1}], square, "python make.py")
    table = project / "data" / "tiny" / "numbers.csv"
    table.write_text(table.read_text() + "5,5\n")
    before = table.read_bytes()
    with pytest.raises(ValueError, match="name = 'numbers': must be a table that its record describes"):
        fill_table("tiny", "numbers", [{"a": 2}], square, "python make.py")
    assert table.read_bytes() == before


def test_a_script_fills_its_table_for_as_long_as_it_is_told(project, monkeypatch):
    monkeypatch.setattr("sys.argv", ["numbers.py", "--most", "-1"])
    fill_command("tiny", "numbers", [{"a": 2}], square)
    assert not (project / "data" / "tiny").exists()
    monkeypatch.setattr("sys.argv", ["numbers.py"])
    fill_command("tiny", "numbers", [{"a": 2}], square)
    np.testing.assert_array_equal(read_table("tiny", "numbers")["b"], [4])
    record = json.loads((project / "data" / "tiny" / "numbers.json").read_text())
    assert record["made_by"] == "python data/tiny/numbers.py"


def test_outcomes_are_counted_by_size_and_dimension():
    n, d = np.array([5, 5, 5, 5, 9.0]), np.array([3, 2, 3, 3, 4.0])
    counts = tally(n, d, np.array([1, 0, np.nan, 0, 1.0]))
    found = {size: [list(map(int, part)) for part in parts] for size, parts in counts.items()}
    assert found == {5: [[2, 3], [0, 1], [1, 2]], 9: [[4], [1], [1]]}


def script(section, name):
    """The module that makes a stored table."""
    path = ROOT / "data" / section / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LAW = "finite_size_scaling"
COMPARED = "feasible", "n", "nu", "loss", "load", "signal_9", "percentile_0", "d", "ratio"
COMPARED += "rank_one", "newton_error", "threshold", "taylor_other_rms", "chi", "diagonal_form_rms"


@pytest.mark.parametrize(
    ("section", "name", "function", "keys", "most", "rows"),
    [
        (LAW, "verdicts", "verdict", ("n", "d", "seed"), ("n", 300), 4),
        (LAW, "peaks", "norm", ("d", "seed", "n"), ("d", 16), 3),
        (LAW, "last", "last", ("d", "seed"), ("d", 10), 2),
        (LAW, "structures", "possible", ("n", "structure", "d", "seed"), ("n", 30), 12),
        ("ridgeless_limit", "boundaries", "crossing", ("d", "r", "seed"), ("d", 16), 1),
        ("ridgeless_limit", "verdicts", "verdict", ("r", "n", "d", "seed"), ("n", 80), 4),
        ("ridgeless_limit", "slice", "memory", ("d", "load", "seed"), ("d", 30), 2),
        ("ridgeless_limit", "grid", "point", ("d", "r", "load"), ("load", 100), 1),
        ("leave_one_out", "removals", "removal", ("setting", "d", "seed"), ("d", 24), 3),
        ("sparse_repair", "dimensions", "dimension", ("n", "construction", "seed"), ("n", 300), 3),
        ("sparse_repair", "predictions", "prediction", ("digits", "kind"), ("digits", 30), 1),
    ],
)
def test_stored_rows_come_out_again(section, name, function, keys, most, rows):
    table, compute = read_table(section, name), getattr(script(section, name), function)
    small = np.flatnonzero(table[most[0]] <= most[1])
    for row in np.random.default_rng(0).choice(small, rows, replace=False):
        key = {column: int(table[column][row]) for column in keys}
        for column, value in compute(**key).items():
            stored = table[column][row]
            if column in COMPARED:
                found = float(value) if value != "" else np.nan
                assert found == pytest.approx(stored, rel=1e-3, nan_ok=True), (key, column)


def test_the_keys_of_the_paper_are_computed_on_demand(project, monkeypatch):
    monkeypatch.setattr("sys.argv", ["numbers.py", "--paper"])
    fill_command("tiny", "numbers", [{"a": 2}], square, paper=[{"a": 5}])
    np.testing.assert_array_equal(read_table("tiny", "numbers")["a"], [5])
