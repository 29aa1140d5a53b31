"""Stored tables are read with their sweeps and records only, and their rows can be computed again."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

from assocmem.__main__ import main
from assocmem.sweeps.export import export, table_results
from assocmem.sweeps.fingerprints import recipe
from assocmem.sweeps.origin import origin
from assocmem.sweeps.point_functions import point_function
from assocmem.sweeps.run import run
from assocmem.sweeps.stored_table import ORIGIN, described, entry, read_table
from assocmem.sweeps.sweep_file import read_sweep

ROOT = Path(__file__).resolve().parents[2]

TABLES = sorted((ROOT / "data").glob("*/*.csv"))


@pytest.fixture
def table(project):
    """A small table in a small project; made again where a test asks for another sweep."""

    def make(points="{n: 12, d: [3, 8], seed: {count: 2}}", name="verdicts", point="top1_verdict"):
        path = project / "data" / "tiny" / f"{name}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"point: {point}\npoints: {points}\n")
        sweep = read_sweep(path)
        assert run(sweep, say=lambda line: None) == 0
        export(sweep)
        return sweep.table

    make()
    return make


def test_a_table_comes_back_by_columns(table):
    found = read_table("tiny", "verdicts")
    np.testing.assert_array_equal(found["d"], [3, 3, 8, 8])
    np.testing.assert_array_equal(found["feasible"], [0, 0, 1, 1])
    assert list(found) == ["n", "d", "seed", "feasible", "steps", "passes", "margin", "seconds"]
    assert set(found.dtypes) == {np.dtype(float)}


@pytest.mark.parametrize("steps", range(4))
def test_a_table_and_its_record_belong_together_whenever_an_export_is_killed(project, monkeypatch, steps):
    path = project / "data" / "tiny" / "squares.yml"
    path.parent.mkdir(parents=True)
    for count in (2, 4):
        path.write_text(f"point: sweep_points:slow\npoints: {{a: {{count: {count}}}}}\n")
        assert run(read_sweep(path), say=lambda line: None) == 0
        if count == 2:
            export(read_sweep(path))
    replace, done = Path.replace, []

    def killed(self, target):
        if len(done) == steps:
            raise KeyboardInterrupt
        done.append(target)
        return replace(self, target)

    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(Path, "replace", killed)
        export(read_sweep(path))
    assert len(done) == min(steps, 3)
    _, rows, record = described(path.with_suffix(".csv"), current=False)
    assert len(rows) == record["rows"] == (2 if steps < 2 else 4)
    export(read_sweep(path))
    assert len(described(path.with_suffix(".csv"))[1]) == 4
    kept = [file.name for file in path.parent.iterdir() if file.suffix != ".sqlite"]
    assert sorted(kept) == ["squares.csv", "squares.json", "squares.yml"]


def test_entries_are_numbers_nothing_or_words(project):
    path = project / "data" / "tiny" / "mixed.yml"
    path.parent.mkdir(parents=True)
    path.write_text("point: sweep_points:square\npoints: {a: [1, 2]}\n")
    run(read_sweep(path), say=lambda line: None)
    export(read_sweep(path))
    found = read_table("tiny", "mixed")
    np.testing.assert_array_equal(found["c"], [0.5, 2.0])
    assert found["word"].isna().tolist() == [True, False]
    assert found["word"].iloc[1] == "even"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-2.5e-3", -0.0025),
        ("", None),
        ("nan", None),
        ("-inf", -np.inf),
        ("even", "even"),
        ("1.0", 1.0),
    ],
)
def test_what_stands_in_a_table_is_read_as_it_was_meant(text, value):
    assert entry(text) == value
    assert type(entry(text)) is type(value)


def test_further_tables_are_added_where_they_are_there(table):
    alone = read_table("tiny", "verdicts", "verdicts_paper")
    table("{n: 12, d: 7, seed: 0}", name="verdicts_paper")
    both = read_table("tiny", "verdicts", "verdicts_paper")
    assert len(alone["d"]) == 4
    np.testing.assert_array_equal(both["d"], [3, 3, 8, 8, 7])
    assert both.index.is_unique


def test_what_only_some_tables_tell_is_left_out(table):
    table("{d: 3, seed: 0}", name="last", point="last_retrievable")
    both = read_table("tiny", "verdicts", "last")
    assert set(both) == {"n", "d", "seed", "seconds"}
    assert len(both) == 5


def changed_by_hand(path):
    path.write_text(path.read_text().replace(",1,", ",0,", 1))


def another_record(path):
    record = path.with_suffix(".json")
    known = json.loads(record.read_text())
    record.write_text(json.dumps(known | {"rows": 3}))


def no_origin(path):
    record = path.with_suffix(".json")
    known = json.loads(record.read_text())
    record.write_text(json.dumps(known | {"origins": []}))


def another_sweep(path):
    sweep = path.with_suffix(".yml")
    sweep.write_text(sweep.read_text().replace("d: [3, 8]", "d: [3, 6]"))


SPOILT = {
    "no table": (lambda path: path.unlink(), "a table with a sweep file and a record in data/tiny"),
    "no record": (lambda path: path.with_suffix(".json").unlink(), "a table with a sweep file and a record"),
    "no sweep": (lambda path: path.with_suffix(".yml").unlink(), "a table with a sweep file and a record"),
    "a row more": (lambda path: path.write_text(path.read_text() + "1,1,1,1,1,1,1,0\n"), "changed by hand"),
    "cut off": (lambda path: path.write_text(path.read_text()[:-9]), "changed by hand"),
    "empty": (lambda path: path.write_text(""), "changed by hand"),
    "an entry changed": (changed_by_hand, "changed by hand"),
    "no JSON": (lambda path: path.with_suffix(".json").write_text("{"), "changed by hand"),
    "another record": (another_record, "changed by hand"),
    "unexplained rows": (no_origin, "a table whose rows each say where they come from"),
    "another sweep": (another_sweep, "the table of its sweep file, which has changed since: run and export"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_rows_that_nothing_explains_are_refused(table, project, how):
    path = project / "data" / "tiny" / "verdicts.csv"
    spoil, message = SPOILT[how]
    spoil(path)
    with pytest.raises(ValueError, match="name = 'verdicts': must be") as caught:
        read_table("tiny", "verdicts")
    assert message in str(caught.value)


def test_rows_of_a_point_function_that_has_changed_are_stale(table, monkeypatch):
    monkeypatch.setattr("assocmem.sweeps.stored_table.recipe", lambda name: "another")
    with pytest.raises(ValueError, match="must be made by top1_verdict as it is now, not as it was: run and"):
        read_table("tiny", "verdicts")


def test_comments_and_titles_do_not_make_a_table_stale(table, project):
    sweep = project / "data" / "tiny" / "verdicts.yml"
    sweep.write_text("# a word\ntitle: T\n" + sweep.read_text())
    assert len(read_table("tiny", "verdicts")["d"]) == 4


def test_a_table_that_is_spoilt_is_not_gone_on_from(table, project, capsys):
    path = project / "data" / "tiny" / "verdicts.csv"
    changed_by_hand(path)
    before = path.read_bytes()
    sweep = str(path.with_suffix(".yml"))
    for verb in ("run", "export", "status", "confirm"):
        assert main(["sweep", verb, sweep]) == 2
        assert "changed by hand" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_machine_without_git_has_results_too(project, monkeypatch):
    monkeypatch.setenv("PATH", str(project))
    assert origin()["commit"] is None


def test_the_place_of_a_result_is_complete():
    found = origin()
    assert set(found) == {"package", "commit", "python", "versions", "machine", "device", "date"}
    assert set(found["versions"]) == {"numpy", "scipy", "torch", "numba"}


# --- the tables of the book -----------------------------------------------------------------------


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_stored_table_is_whole_current_and_explained(path):
    head, rows, record = described(path)
    sweep = read_sweep(path.with_suffix(".yml"))
    assert path.stat().st_size < 1_000_000
    assert record["point"] == sweep.function.name
    assert record["recipe"] == recipe(sweep.function.name) != ""
    results, _ = table_results(sweep)
    asked = {point.key for point in sweep.points}
    keys = [result.key for result in results]
    assert len(set(keys)) == len(keys) == len(rows)
    assert set(keys) <= asked
    assert len(asked) - len(rows) == record["missing"]
    counts = [int(row[head.index(ORIGIN)]) for row in rows]
    assert [counts.count(i) for i in range(len(record["origins"]))] == [o["rows"] for o in record["origins"]]
    for known in record["origins"]:
        assert all(known[name] for name in ("commit", "date", "device", "machine", "package", "python"))
        assert known["code"] in {record["code"], *record["confirmed"]}


RENEW = "run `make confirm`: it computes some rows again, and renews the record if they come out the same"


def assert_of_this_code(path):
    """The record names the point function as it is here, and everything that it rests on."""
    record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    here = {"recipe": recipe(record["point"]), "code": point_function(record["point"]).code}
    there = {name: record[name] for name in here}
    assert there == here, f"{path.parent.name}/{path.name} holds rows of older code: {RENEW}"


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_stored_table_holds_for_the_code_that_is_here(path):
    """A reader looks at the recipe alone, so that one can go on between a change and its confirmation."""
    assert_of_this_code(path)


@pytest.mark.parametrize("name", ["recipe", "code"])
def test_a_table_of_older_code_is_told_from_one_of_this_code(table, project, name):
    path = project / "data" / "tiny" / "verdicts.csv"
    assert_of_this_code(path)
    record = path.with_suffix(".json")
    record.write_text(json.dumps(json.loads(record.read_text()) | {name: "older"}))
    with pytest.raises(AssertionError, match="holds rows of older code: run `make confirm`"):
        assert_of_this_code(path)


LAW = "finite_size_scaling"
COMPARED = {"feasible", "n", "nu", "loss", "load", "signal_9", "percentile_0", "d", "ratio"}
COMPARED |= {"error", "error_16", "questions", "trained", "reach"}
COMPARED |= {"rank_one", "newton_error", "threshold", "taylor_other_rms", "chi", "diagonal_form_rms", "led"}


@pytest.mark.parametrize(
    ("section", "name", "most", "rows"),
    [
        (LAW, "verdicts", ("n", 300), 4),
        (LAW, "peaks", ("d", 16), 3),
        (LAW, "peaks_paper", ("seconds", 1.0), 1),
        (LAW, "last", ("d", 10), 2),
        (LAW, "structures", ("n", 30), 12),
        ("ridgeless_limit", "boundaries", ("d", 16), 1),
        ("ridgeless_limit", "verdicts", ("n", 80), 4),
        ("ridgeless_limit", "verdicts_large", ("n", 640), 1),
        ("ridgeless_limit", "slice", ("d", 30), 2),
        ("ridgeless_limit", "above", ("d", 30), 1),
        ("ridgeless_limit", "half", ("d", 30), 1),
        ("ridgeless_limit", "grid", ("load", 0.1), 1),
        ("leave_one_out", "removals", ("d", 24), 3),
        ("leave_one_out", "further_removals", ("d", 16), 2),
        ("leave_one_out", "motions", ("d", 16), 2),
        ("scalar_theory", "instances", ("d", 24), 2),
        ("sparse_repair", "dimensions", ("n", 300), 3),
        ("sparse_repair", "predictions", ("digits", 30), 1),
        ("perceptron_to_memory", "verdicts", ("n", 60), 6),
        ("crossover", "verdicts", ("n", 100), 4),
        ("real_words", "last", ("d", 12), 2),
        ("real_words", "costs", ("d", 12), 1),
        ("real_words", "ruled", ("strength", 0), 1),
        ("list_capacity", "memories", ("load", 0.25), 2),
        ("list_capacity", "list_memories", ("d", 40), 3),
        ("list_capacity", "verdicts", ("d", 12), 4),
        ("what_is_kept", "kept", ("d", 24), 2),
        ("what_is_kept", "zipf", ("d", 16), 2),
        ("what_is_kept", "streams", ("chunks", 4), 1),
        ("what_is_kept", "passes", ("d", 16), 1),
        ("what_is_kept", "constants", ("gamma", 1), 1),
        ("what_is_kept", "predictions", ("d", 16), 1),
    ],
)
def test_stored_rows_come_out_again(section, name, most, rows):
    sweep = read_sweep(ROOT / "data" / section / f"{name}.yml")
    results, _ = table_results(sweep)
    entries = [result.parameters | result.row | {"seconds": result.seconds} for result in results]
    small = [r for r, known in zip(results, entries, strict=True) if (known[most[0]] or 0) <= most[1]]
    context = {"device": "cpu", "checkpoint": None}
    context = {name: value for name, value in context.items() if name in sweep.function.context}
    compared = 0
    for i in np.random.default_rng(0).choice(len(small), rows, replace=False):
        again = point_function(sweep.function.name).call(**small[i].parameters, **context)
        for column in COMPARED & again.keys():
            stored = np.nan if small[i].row[column] is None else small[i].row[column]
            found = np.nan if again[column] is None else again[column]
            assert found == pytest.approx(stored, rel=1e-3, nan_ok=True), (small[i].parameters, column)
            compared += 1
    assert compared >= rows
