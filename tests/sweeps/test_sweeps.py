"""Sweeps compute every point once, lose nothing, and say what went wrong."""

import contextlib
import errno
import json
import multiprocessing
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from assocmem.__main__ import main
from assocmem.checks import UsageError
from assocmem.experiments.points import REGISTERED
from assocmem.sweeps import workers
from assocmem.sweeps.compare import OlderRows, _Tasks, difference, spread
from assocmem.sweeps.export import export, known
from assocmem.sweeps.picture import grid
from assocmem.sweeps.point_functions import point_function
from assocmem.sweeps.store import Result, Store
from assocmem.sweeps.sweep_file import read_sweep
from assocmem.sweeps.tasks import OtherCode, Task, compute
from assocmem.sweeps.workers import EngineLost

ROOT = Path(__file__).resolve().parents[2]

TESTS = Path(__file__).parent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a space, and a log of every call of a point function."""
    here = tmp_path / "my sweeps"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("SWEEP_LOG", str(here / "log"))
    before = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), str(here), *before]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # modules that change within a second look the same
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return here


def sweep_file(folder, text, name="mine.yml"):
    path = folder / name
    path.write_text(text)
    return str(path)


def squares(folder, count=6, function="square", **more):
    extra = "".join(f"\n{key}: {value}" for key, value in more.items())
    return sweep_file(folder, f"point: sweep_points:{function}{extra}\npoints: {{a: {{count: {count}}}}}\n")


def calls(folder):
    log = folder / "log"
    return Counter(log.read_text().splitlines() if log.exists() else [])


def start(*arguments, **options):
    command = [sys.executable, "-m", "assocmem", "sweep", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **(pipes | options))


def cli(*arguments, **options):
    with start(*arguments, **options) as process:
        output, errors = process.communicate(timeout=120)
    return process.returncode, output, errors


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


# --- one process ----------------------------------------------------------------------------------


def test_every_point_is_computed_once_and_exported(folder, capsys):
    file = squares(folder)
    assert main(["sweep", "status", file]) == 1
    assert main(["sweep", "run", file]) == 0
    assert main(["sweep", "run", file]) == 0
    assert calls(folder) == Counter(map(str, range(6)))
    assert main(["sweep", "export", file]) == 0
    assert main(["sweep", "status", file]) == 0
    output = capsys.readouterr().out
    assert "mine: 6 of 6 points to compute\n" in output
    assert "mine: 0 of 6 points to compute\n" in output
    assert "6 done" in output
    assert "mine.csv: 6 rows\n" in output
    lines = (folder / "mine.csv").read_text().splitlines()
    assert lines[0] == "a,b,c,word,seconds,origin"
    assert [line.split(",")[:4] for line in lines[1:4]] == [
        ["0", "0.5", "0.0", "even"],
        ["1", "0.5", "0.5", ""],
        ["2", "0.5", "2.0", "even"],
    ]
    record = json.loads((folder / "mine.json").read_text())
    (origin,) = record["origins"]
    assert {"package", "commit", "python", "versions", "machine", "device", "date", "code"} <= set(origin)
    assert (origin["rows"], record["missing"], origin["code"]) == (6, 0, record["code"])
    assert sorted(p.name for p in folder.iterdir()) == [
        "log",
        "mine.csv",
        "mine.json",
        "mine.sqlite",
        "mine.yml",
    ]


def test_a_table_is_enough_to_go_on_from(folder):
    file = squares(folder)
    assert main(["sweep", "run", file]) == 0
    assert main(["sweep", "export", file]) == 0
    before = (folder / "mine.csv").read_text()
    (folder / "mine.sqlite").unlink()
    sweep_file(folder, Path(file).read_text().replace("count: 6", "count: 7"))
    assert main(["sweep", "run", file]) == 0
    assert calls(folder) == Counter(map(str, range(7)))
    assert main(["sweep", "export", file]) == 0
    assert (folder / "mine.csv").read_text().startswith(before)


def test_failures_are_kept_told_and_tried_again_on_request(folder, capsys):
    file = squares(folder, 9)
    for _ in range(2):
        assert main(["sweep", "run", file]) == 1
        output = capsys.readouterr().out
        assert "8 done, 1 failed" in output
        assert "failed: a = 7, b = 0.5: ArithmeticError: seven is not allowed" in output
    assert calls(folder)["7"] == 1
    assert main(["sweep", "run", "--retry", file]) == 1
    assert calls(folder) == Counter(map(str, range(9))) + Counter(["7"])
    capsys.readouterr()
    assert main(["sweep", "status", "--failures", file]) == 1
    output = capsys.readouterr().out
    assert "Traceback" in output
    assert 'raise ArithmeticError("seven is not allowed")' in output
    assert main(["sweep", "export", file]) == 0
    assert "mine.csv: 8 rows, 1 missing" in capsys.readouterr().out


def test_a_row_of_the_table_outweighs_a_failure_in_the_store(folder):
    """The store may be that of an unlucky machine."""
    file = squares(folder, 3)
    main(["sweep", "run", file])
    main(["sweep", "export", file])
    (folder / "mine.sqlite").unlink()
    sweep = read_sweep(file)
    with Store(sweep.store, sweep.function.name) as store:
        rows = known(sweep).rows.values()
        store.finish(Result(**(vars(next(iter(rows))) | {"row": None, "failure": "MemoryError: \n"})))
    assert len(known(sweep).rows) == 3
    assert known(sweep).failures == {}


def test_time_that_runs_out_is_no_failure(folder, capsys):
    file = squares(folder, 8, "drowsy")
    assert main(["sweep", "run", file, "--most", "2"]) == 3
    assert calls(folder) == Counter(map(str, range(3)))
    assert "missing" in capsys.readouterr().out
    assert main(["sweep", "run", file]) == 0
    assert calls(folder) == Counter(map(str, range(8)))


def test_a_point_that_would_take_longer_than_is_left_is_not_begun(folder):
    text = "point: sweep_points:square\npoints: [{a: 1, minutes: 2}, {a: 2}]"
    assert main(["sweep", "run", sweep_file(folder, text), "--most", "60"]) == 3
    assert calls(folder) == Counter(["2"])
    assert main(["sweep", "run", sweep_file(folder, text), "--most", "600"]) == 0


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("shapeless", "TypeError: a point function must return a mapping of columns, not [0]"),
        ("wordy", "TypeError: column 'c' = [0]: must be a number"),
        (
            "disguised",
            "TypeError: column 'c' = '12': must be a number, or a word that does not look like one",
        ),
        ("names", "TypeError: column 'a': must have a name, and one that no parameter"),
        ("blank", "TypeError: column '': must have a name"),
        ("leaving", "SystemExit: 3"),
        ("wordy_error", "ValueError: first line second line\n"),
    ],
)
def test_what_is_no_row_is_a_failure(folder, function, reason, capsys):
    assert main(["sweep", "run", squares(folder, 1, function)]) == 1
    assert f"failed: a = 0: {reason}" in capsys.readouterr().out


def test_only_the_first_failures_are_listed(folder, capsys):
    assert main(["sweep", "run", squares(folder, 30, "leaving")]) == 1
    output = capsys.readouterr().out
    assert output.count("failed: ") == 20
    assert "and 10 more failed\n" in output


def test_a_function_may_change_the_working_directory(folder, capsys):
    squares(folder, 3, "wanders")
    assert main(["sweep", "run", "mine.yml"]) == 0
    os.chdir(folder)
    assert main(["sweep", "run", "mine.yml", "--into", "far"]) == 0
    os.chdir(folder)
    assert sorted(p.name for p in folder.iterdir() if p.name != "far") == ["mine.sqlite", "mine.yml"]


def test_children_of_a_point_do_no_harm(folder):
    code, output, errors = cli("run", squares(folder, 2, "forks"))
    assert (code, errors) == (0, "")
    assert output.count("2 done") == 1
    assert {r.row["c"] for r in known(read_sweep(folder / "mine.yml")).rows.values()} == {0, 1}


def test_rows_are_numbers_words_and_nothing(folder):
    assert main(["sweep", "run", squares(folder, 2, "tensor")]) == 0
    first, _ = known(read_sweep(folder / "mine.yml")).rows.values()
    assert first.row == {"c": 0.0, "d": None, "e": 3, "f": float("-inf")}
    assert main(["sweep", "run", sweep_file(folder, "point: sweep_points:flags\npoints: {a: [0, 1]}")]) == 2
    (folder / "mine.sqlite").unlink()
    assert main(["sweep", "run", str(folder / "mine.yml")]) == 0
    assert [r.row for r in known(read_sweep(folder / "mine.yml")).rows.values()] == [
        {"c": 0, "word": None},
        {"c": 1, "word": None},
    ]


def test_a_long_point_goes_on_from_its_state(folder):
    file = squares(folder, 1, "patient")
    assert main(["sweep", "run", file]) == 130
    assert len(list(folder.glob("mine.sqlite.state-*"))) == 1
    assert main(["sweep", "run", file]) == 0
    assert calls(folder) == Counter(f"0 {i}" for i in range(1, 5))
    assert not list(folder.glob("mine.sqlite.state-*"))


# --- several processes ----------------------------------------------------------------------------


def test_two_processes_share_the_work(folder):
    file = squares(folder, 40, "slow")
    both = [start("run", file) for _ in range(2)]
    outcomes = [(p.wait(60), p.stdout.read(), p.stderr.read()) for p in both]
    for process in both:
        process.stdout.close()
        process.stderr.close()
    assert [code for code, _, _ in outcomes] == [0, 0], "each waits for what the other has claimed"
    assert [errors for _, _, errors in outcomes] == ["", ""]
    assert calls(folder) == Counter(map(str, range(40)))
    assert all(" points in " in output and "40 done" in output for _, output, _ in outcomes)
    assert "mine: 0 points" not in "".join(output for _, output, _ in outcomes), "both took part"
    assert not list(folder.glob("*.owner-*"))


def test_a_process_that_is_killed_loses_the_point_it_was_at_only(folder):
    file = squares(folder, 30, "slow")
    for kills in (1, 2, 3):
        before = sum(calls(folder).values())
        process = start("run", file)
        wait_for(lambda before=before: sum(calls(folder).values()) >= before + 4)
        process.kill()
        process.communicate()
        lost = sum(calls(folder).values()) - len(known(read_sweep(file)).rows)
        assert 0 <= lost <= kills
    assert cli("run", file)[0] == 0
    repeated = calls(folder) - Counter(map(str, range(30)))
    assert sum(repeated.values()) <= 3
    assert not list(folder.glob("*.owner-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(folder, number):
    file = squares(folder, 200, "slow")
    process = start("run", file)
    wait_for(lambda: sum(calls(folder).values()) >= 3)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "assocmem: interrupted; nothing half-written is left\n"
    assert sorted(p.name for p in folder.iterdir()) == ["log", "mine.sqlite", "mine.yml"]


def test_a_full_disk_ends_a_run_with_a_message(folder):
    file = squares(folder, 900, "shapeless")  # failures: a traceback each
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
    code, _, errors = cli("run", file, preexec_fn=limit)
    assert code == 1
    assert "cannot be written" in errors
    stored = int(errors.split("; ")[-1].split()[0])
    assert stored > 20
    assert len(known(read_sweep(file)).failures) == stored
    assert errors.count("\n") == 1


# --- versions of the code -------------------------------------------------------------------------

OWN = """
from typing import Annotated

def thrice(a: Annotated[int, "a number; [0, 9]"]):
    '''A docstring.'''
    return {"c": 3.0 * a}  # a comment
"""


@pytest.fixture
def own(folder):
    def write(old="", new=""):
        (folder / "own.py").write_text(OWN.replace(old, new) if old else OWN)

    write()
    return sweep_file(folder, "point: own:thrice\npoints: {a: {from: 1, to: 4}}", "own.yml"), write


def test_modules_beside_a_point_function_belong_to_it(own):
    file, write = own
    helper = Path(file).parent / "helper.py"
    helper.write_text("FACTOR = 3.0\n")
    write("3.0 * a", "__import__('helper').FACTOR * a")
    text = (helper.parent / "own.py").read_text()
    (helper.parent / "own.py").write_text("import helper\n" + text)
    assert cli("run", file)[0] == 0
    helper.write_text("FACTOR = 4.0\n")
    assert "own: 4 points in" in cli("run", file)[1]


def test_points_belong_to_the_version_of_the_code(own):
    file, write = own
    assert cli("run", file)[0] == 0
    write("docstring", "word")
    assert "own: 0 points" in cli("run", file)[1]
    write("3.0 * a", "3.0 * a + 1")
    code, output, _ = cli("run", file)
    assert "4 of them have rows of another version" in output
    assert "own: 4 points" in output
    assert (code, cli("export", file)[0]) == (0, 0)
    assert Path(file).with_suffix(".csv").read_text().splitlines()[1].startswith("1,4.0,")


def test_older_rows_count_once_a_few_of_them_have_come_out_again(own):
    file, write = own
    cli("run", file)
    cli("export", file)
    write("3.0 * a", "a * 3.0001")
    code, output, errors = cli("export", file)
    assert (code, output) == (2, "")
    assert "no rows to export" in errors
    code, output, _ = cli("confirm", file, "--rows", "2")
    assert code == 0
    assert "2 rows to compute again, which took " in output
    assert re.search(r"2 of 4 rows compared, .* differences up to 3\.3e-05: all count", output)
    assert "own: 0 points" in cli("run", file)[1]
    assert cli("export", file)[0] == 0
    record = json.loads(Path(file).with_suffix(".json").read_text())
    assert [(e["rows"], e["of"]) for e in record["confirmed"].values()] == [(2, 4)]
    Path(file).with_suffix(".sqlite").unlink()
    assert "own: 0 points" in cli("run", file)[1], "the table remembers"


def test_points_of_both_versions_are_compared_as_they_stand(own):
    file, write = own
    cli("run", file)
    write("3.0 * a", "a * 3.0001")
    sweep_file(Path(file).parent, Path(file).read_text().replace("to: 4", "to: 3"), "own.yml")
    cli("run", file)
    sweep_file(Path(file).parent, Path(file).read_text().replace("to: 3", "to: 4"), "own.yml")
    output = cli("confirm", file, "--rows", "3")[1]
    assert "to compute again" not in output
    assert re.search(r"3 of 4 rows compared, .* differences up to 3\.3e-05: all count", output)
    assert "own: 0 points" in cli("run", file)[1]
    cli("export", file)
    lines = Path(file).with_suffix(".csv").read_text().splitlines()[1:]
    assert [float(line.split(",")[1]) for line in lines] == pytest.approx([3.0001, 6.0002, 9.0003, 12.0])


def test_older_rows_that_do_not_come_out_do_not_count(own):
    file, write = own
    cli("run", file)
    write("3.0 * a", "3.1 * a")
    code, output, _ = cli("confirm", file)
    assert code == 1
    assert "they do not count" in output
    write("3.0 * a", "1 / (a - a)")
    code, output, _ = cli("confirm", file)
    assert code == 1
    assert re.search(r"failed: a = \d: ZeroDivisionError: division by zero", output)  # any of the quickest
    assert "differences up to inf: they do not count" in output
    write('"c": 3.0 * a', '"d": 3.0 * a')
    assert "differences up to inf: they do not count" in cli("confirm", file)[1], "columns count"
    write()
    assert cli("confirm", file)[1] == "my sweeps/own: no rows of another version of the code\n"
    write("3.0 * a", "3.1 * a")
    code, _, errors = cli("export", file)
    assert code == 2
    assert "no rows to export" in errors


def results(*seconds):
    return [Result(str(i), "old", {"a": i}, {"c": i}, None, s, {}) for i, s in enumerate(seconds)]


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [(1, [8.0]), (2, [0.0, 8.0]), (3, [0.0, 4.0, 8.0]), (5, [0.0, 2.0, 4.0, 6.0, 8.0]), (20, list(range(9)))],
)
def test_rows_of_all_costs_are_compared(rows, chosen):
    some = results(5.0, 0.0, 3.0, 8.0, 1.0, 7.0, 2.0, 6.0, 4.0)
    assert [result.seconds for result in spread(some, rows)] == chosen


def test_rows_whose_cost_is_unknown_count_as_the_cheapest():
    assert [r.seconds for r in spread(results(3.0, None, 2.0, None), 3)] == [None, None, 3.0]


def test_rows_whose_cost_is_unknown_are_computed_first_and_counted_apart():
    some = results(3.0, None, 8.0)
    supply = _Tasks(
        [OlderRows(SimpleNamespace(function=SimpleNamespace(name="f")), "old", "new", 3, some, {})]
    )
    assert supply.in_words() == "3 rows to compute again, which took 11 s besides 1 that were not timed"
    assert [supply().key for _ in range(3)] == ["1", "2", "0"]
    assert supply() is None


def test_the_costliest_row_tells_versions_apart_that_agree_on_the_others(own):
    """The older version is wrong at the one point that takes time, which the cheapest half would not show."""
    file, write = own
    write("return", "__import__('time').sleep(0.3 * (a == 3))\n    return")
    cli("run", file)
    write("3.0 * a", "3.0 * a + (a == 3)")
    code, output, _ = cli("confirm", file, "--rows", "2")
    assert (code, "they do not count" in output) == (1, True)


def test_a_table_without_its_store_is_confirmed_and_exported_with_the_code_that_is_here(own):
    """As after a fresh checkout, where tables are there and stores are not."""
    file, write = own
    cli("run", file)
    cli("export", file)
    table, store = Path(file).with_suffix(".csv"), Path(file).with_suffix(".sqlite")
    before, old = table.read_bytes(), json.loads(table.with_suffix(".json").read_text())["code"]
    store.unlink()
    write("3.0 * a", "a * 3.0001")
    assert cli("confirm", file)[0] == 0
    assert cli("export", file)[0] == 0
    record = json.loads(table.with_suffix(".json").read_text())
    assert table.read_bytes() == before
    assert record["code"] == code_elsewhere(file) != old
    assert record["origins"][0]["code"] == old
    (evidence,) = record["confirmed"].values()
    assert list(record["confirmed"]) == [old]
    assert (evidence["rows"], evidence["of"]) == (4, 4)
    assert evidence["seconds"] >= 0
    store.unlink()
    write("3.0 * a", "3.0002 * a")
    assert "4 of 4 rows compared" in cli("confirm", file)[1]
    assert cli("export", file)[0] == 0
    assert table.read_bytes() == before


def code_elsewhere(file):
    """The version of the code in another process, since this one keeps modules that it has imported."""
    script = "import sys, assocmem.sweeps.sweep_file as f; print(f.read_sweep(sys.argv[1]).function.code)"
    done = subprocess.run([sys.executable, "-c", script, file], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_several_tables_are_confirmed_by_several_processes(own):
    """The rows of both sweeps are computed side by side; each point once, though both ask for one of them."""
    first, write = own
    second = sweep_file(Path(first).parent, "point: own:thrice\npoints: {a: {from: 4, to: 8}}", "other.yml")
    cli("run", first, second)
    write("3.0 * a", "a * 3.0001")
    code, output, errors = cli("confirm", first, second, "--workers", "2")
    assert (code, errors) == (0, "")
    assert "my sweeps/own, code " in output
    assert "4 of 4 rows compared" in output
    assert "my sweeps/other, code " in output
    assert "5 of 5 rows compared" in output
    assert output.startswith("8 rows to compute again")
    assert "0 points" in cli("run", first, second)[1]


# --- merging --------------------------------------------------------------------------------------


def test_results_of_other_machines_are_merged(folder, capsys):
    file = squares(folder, 6)
    assert main(["sweep", "run", file, "--into", "far", "--most", "60"]) == 0
    assert not (folder / "mine.sqlite").exists()
    sweep_file(folder, Path(file).read_text().replace("count: 6", "count: 5"))
    capsys.readouterr()
    assert main(["sweep", "merge", file, "far"]) == 0
    assert capsys.readouterr().out == "mine: 5 results taken over, 1 not asked for by mine.yml\n"
    assert main(["sweep", "merge", file, "far/my sweeps/mine.sqlite"]) == 0
    assert "0 results taken over, 5 were known, differences up to 0.0e+00" in capsys.readouterr().out
    assert main(["sweep", "run", file, "--into", "farther"]) == 0
    assert sum(calls(folder).values()) == 6
    assert main(["sweep", "merge", file, "nowhere"]) == 2
    (folder / "empty").mkdir()
    assert main(["sweep", "merge", file, "empty"]) == 2
    assert "no mine.sqlite below" in capsys.readouterr().err


def test_machines_that_disagree_are_told(folder, capsys):
    file = squares(folder, 3)
    main(["sweep", "run", file])
    main(["sweep", "run", file, "--into", "far"])
    code = point_function("sweep_points:square").code
    with Store("far/my sweeps/mine.sqlite", "sweep_points:square") as store:
        for result in known(read_sweep(file)).rows.values():
            row = result.row | {"c": result.row["c"] + 1}
            store.finish(type(result)(**(vars(result) | {"row": row, "code": code})))
    capsys.readouterr()
    assert main(["sweep", "merge", file, "far"]) == 1
    assert "the two disagree; what was here is kept" in capsys.readouterr().err
    assert {r.row["c"] for r in known(read_sweep(file)).rows.values()} == {0.0, 0.5, 2.0}


def test_sweeps_of_one_name_do_not_meet_in_a_folder(folder, capsys):
    files = []
    for name, function in (("one", "square"), ("two", "slow")):
        (folder / name).mkdir()
        files.append(squares(folder / name, 2, function))
    assert main(["sweep", "run", *files, "--into", "far"]) == 0
    for file in files:
        assert main(["sweep", "merge", file, "far"]) == 0
    assert main(["sweep", "status", *files]) == 0


def test_no_table_is_written_over_that_has_more(folder, capsys):
    file = squares(folder, 4)
    assert main(["sweep", "run", file]) == 0
    assert main(["sweep", "export", file]) == 0
    before = (folder / "mine.csv").read_bytes()
    squares(folder, 3)
    assert main(["sweep", "export", file]) == 2
    assert main(["sweep", "export", file, "--out", str(folder / ".." / "my sweeps" / "mine.csv")]) == 2
    assert capsys.readouterr().err.count("has rows that mine.yml no longer asks for: remove it") == 2
    other = squares(folder, 2, "slow")
    Path(other).rename(folder / "other.yml")
    assert main(["sweep", "run", "other.yml"]) == 0
    assert main(["sweep", "export", "other.yml", "--out", "mine.csv"]) == 2
    assert "mine.csv: there already, and not made by other.yml" in capsys.readouterr().err
    assert main(["sweep", "export", "other.yml", "--out", "/dev/null/x.csv"]) == 2
    (folder / "other.json").mkdir()
    assert main(["sweep", "export", "other.yml"]) == 2
    assert "other.json: cannot be written (it is a folder)" in capsys.readouterr().err
    assert (folder / "mine.csv").read_bytes() == before
    assert not (folder / "other.csv").exists()


def test_differences_are_relative_and_leave_out_the_effort():
    assert difference({"x": 1.0, "passes": 3}, {"x": 1.001, "passes": 9}) == pytest.approx(0.001, rel=1e-2)
    assert difference({"x": 1, "y": 2}, {"x": 1}) == float("inf")
    assert difference({"x": 1, "steps": 2}, {"x": 1}) == 0
    assert difference({"x": 1, "y": None}, {"x": 1}) == 0
    assert difference({"x": 0.0}, {"x": 1e-17}) < 1e-4
    assert difference({"x": None}, {"x": 1.0}) == float("inf")
    assert difference({"x": "a"}, {"x": "b"}) == float("inf")
    assert difference({"x": float("-inf")}, {"x": float("-inf")}) == 0
    assert difference({"x": float("inf")}, {"x": 1.0}) == float("inf")


def test_the_queue_fills_a_folder_that_merges(folder):
    file = squares(folder, 3, "patient")
    queue = [sys.executable, str(ROOT / "data" / "paper_queue.py")]
    done = subprocess.run([*queue, "40", "out", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(list(folder.glob("out/*/mine.sqlite.state-*"))) == 1
    for _ in range(3):
        assert cli("merge", file, "out")[0] == 0
        subprocess.run([*queue, "40", "out", file], capture_output=True, check=True)
    assert cli("merge", file, "out")[0] == 0
    assert cli("status", file)[0] == 0
    assert calls(folder) == Counter(f"{a} {i}" for a in range(3) for i in range(1, 5))
    assert not list(folder.glob("mine.sqlite.state-*"))


def test_the_queue_ends_in_time(folder):
    file = squares(folder, 1000, "slow")
    started = time.monotonic()
    subprocess.run([sys.executable, str(ROOT / "data" / "paper_queue.py"), "16.5", "out", file], check=True)
    assert time.monotonic() - started < 15
    assert 0 < len(known(read_sweep(file), "out/my sweeps/mine.sqlite").rows) < 1000


# --- clusters -------------------------------------------------------------------------------------


def test_local_workers_may_die(folder):
    code, output, errors = cli("run", squares(folder, 8, "mortal"), "--workers", "2")
    assert errors == ""
    assert "7 done, 1 failed" in output, output
    assert "failed: a = 3: KilledWorker: every process that was given this point died" in output
    assert code == 1
    assert calls(folder)["5"] >= 2


def test_local_workers_share_the_cores_out(folder):
    """The threads are those that were asked for, not those of the environment (1 here)."""
    file = squares(folder, 2, "threads")
    assert cli("run", file, "--workers", "1", "--threads", "3")[0] == 0
    assert [r.row for r in known(read_sweep(file)).rows.values()] == [{"openmp": 3, "numba": 3}] * 2


@contextlib.contextmanager
def cluster(folder, workers=2):
    """A Dask scheduler and its workers, each a process of its own on loopback."""
    file, processes = folder / "scheduler.json", []
    file.unlink(missing_ok=True)

    def launch(name, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.{name}", "--no-dashboard", *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes.append(subprocess.Popen(command, **quiet))

    launch("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    try:
        wait_for(file.exists)
        for _ in range(workers):
            launch("dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny")
        yield file, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


FITS = """
point: top1_memory
fixed: {effective_ridge: 1.0e-2, tol: 1.0e-4}
points: {d: 20, n: {from: 14, to: 33}, seed: {count: 2}}
"""


def test_a_cluster_gives_the_table_of_one_process_though_a_worker_dies(folder):
    """40 fits at d = 20; the survivor does the rest."""
    here, there = sweep_file(folder, FITS, "here.yml"), sweep_file(folder, FITS, "there.yml")
    alone = start("run", here)
    with cluster(folder) as (file, (_, _, victim)):
        process = start("run", there, "--scheduler-file", file)
        wait_for(lambda: (folder / "there.sqlite").exists() and len(known(read_sweep(there)).rows) > 8)
        victim.kill()
        output, errors = process.communicate(timeout=120)
    assert alone.communicate(timeout=120)[1] == ""
    assert (process.returncode, errors) == (0, "")
    assert "there: 40 points" in output
    tables = []
    for path in (here, there):
        export(read_sweep(path))
        lines = Path(path).with_suffix(".csv").read_text().splitlines()
        tables.append([line.rsplit(",", 2)[0] for line in lines])
    assert len(tables[0]) == 41
    assert tables[0] == tables[1]


def test_a_sweep_survives_its_scheduler(folder):
    file = squares(folder, 60, "slow")
    with cluster(folder) as (address, (scheduler, *_)):
        process = start("run", file, "--scheduler-file", address)
        wait_for(lambda: sum(calls(folder).values()) > 10)
        scheduler.kill()
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (1, "")
        assert "lost the connection to the Dask scheduler: run again to go on" in output
    done = len(known(read_sweep(file)).rows)
    assert 0 < done < 60
    with cluster(folder) as (address, _):
        where = json.loads(address.read_text())["address"]
        code, output, errors = cli("run", file, "--scheduler", where)
    assert (code, errors) == (0, "")
    assert f"mine: {60 - done} points" in output
    assert sum(calls(folder).values()) <= 60 + 2


def test_no_scheduler_is_told(folder, monkeypatch, capsys):
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.5)
    file = squares(folder)
    assert main(["sweep", "run", file, "--scheduler", "tcp://127.0.0.1:1"]) == 2
    assert main(["sweep", "run", file, "--scheduler-file", "none.json"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "no Dask scheduler at tcp://127.0.0.1:1: " in first
    assert "no Dask scheduler at none.json: no such file" in second
    assert main(["sweep", "run", file, "--scheduler-file", file]) == 2
    assert "no Dask scheduler at" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["says nothing", "says something else", "hangs up", "echoes", "speaks HTTP"])
def test_a_server_that_is_no_scheduler_is_told(folder, monkeypatch, capsys, way):
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.5)
    file, started = squares(folder), time.monotonic()
    with server(way) as address:
        assert main(["sweep", "run", file, "--scheduler", address]) == 2
        (folder / "s.json").write_text(json.dumps({"address": address}))
        assert main(["sweep", "run", file, "--scheduler-file", "s.json"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"assocmem: no Dask scheduler at {address}: ")
    assert second.startswith("assocmem: no Dask scheduler at s.json: ")
    assert time.monotonic() - started < 10
    assert not (folder / "mine.sqlite").exists()


@contextlib.contextmanager
def server(way):
    """An address at which something answers in this way."""
    ends = threading.Event()

    def answer(connection):
        with connection, contextlib.suppress(OSError):
            if way == "says something else":
                connection.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n")
            while way != "hangs up" and not ends.is_set() and (words := connection.recv(65536)):
                if way == "echoes":
                    connection.sendall(words)
                elif way == "speaks HTTP":
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    def listen():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(there.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as there:
        threading.Thread(target=listen, daemon=True).start()
        yield f"tcp://127.0.0.1:{there.getsockname()[1]}"
        ends.set()
        there.shutdown(socket.SHUT_RDWR)


def test_without_semaphores_one_line_says_so(folder, monkeypatch, capsys):
    def refuse(self):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(type(multiprocessing.get_context("spawn")), "Lock", refuse)
    for verb in ("run", "confirm"):
        assert main(["sweep", verb, squares(folder), "--workers", "2"]) == 2
        errors = capsys.readouterr().err
        assert errors.startswith(
            "assocmem: --workers: this machine gives no semaphores (Read-only file system"
        )
        assert errors.count("\n") == 1
    assert not (folder / "mine.sqlite").exists()


def test_without_workers_the_time_runs_out_too(folder):
    file = squares(folder)
    with cluster(folder, workers=0) as (address, _):
        code, output, errors = cli("run", file, "--scheduler-file", address, "--most", "1")
    assert (code, errors) == (3, "")
    assert "0 done, 6 missing" in output


def test_two_runs_on_one_cluster_do_not_meet(folder):
    """The one that is stopped takes nothing from the other, though both have the same points."""
    file = squares(folder, 30, "slow")
    with cluster(folder) as (address, _):
        stays, goes = (start("run", file, "--scheduler-file", address, "--into", x) for x in ("a", "b"))
        wait_for(lambda: sum(calls(folder).values()) > 10)
        goes.terminate()
        output, errors = stays.communicate(timeout=60)
        goes.communicate(timeout=60)
    assert (stays.returncode, errors) == (0, "")
    assert "30 done" in output


def test_a_result_counts_only_where_it_is_at_hand():
    """A worker that dies takes along what it had finished, whatever its future says."""
    from distributed import KilledWorker

    def future(error):
        def result(timeout):
            raise error

        return SimpleNamespace(status="finished", result=result)

    task = Task("sweep_points:square", "c", "k", {"a": 1})
    dead = KilledWorker("k", SimpleNamespace(address="x"), 2)
    with pytest.raises(TimeoutError):
        workers._outcome(future(TimeoutError()), task, alone=False)
    assert workers._outcome(future(dead), task, alone=False) is None
    assert workers._outcome(future(dead), task, alone=True).failure.startswith("KilledWorker: ")
    with pytest.raises(UsageError, match="a worker cannot compute points: ImportError: no such"):
        workers._outcome(future(ImportError("no such")), task, alone=False)


def test_processes_that_do_not_come_back_are_given_up(monkeypatch):
    monkeypatch.setattr(workers, "RESTART_SECONDS", 0)
    monkeypatch.setattr(workers, "LOOK_SECONDS", 0.01)
    client = SimpleNamespace(status="running", nthreads=dict, cluster="here", cancel=lambda *a, **k: None)
    supply = SimpleNamespace(deadline=float("inf"))
    with pytest.raises(EngineLost, match="the processes have died and none has come back"):
        list(workers.on_cluster(client, supply))


def test_a_worker_with_other_code_is_refused():
    with pytest.raises(OtherCode, match="a worker has other code"):
        compute(Task("sweep_points:square", "other", "k", {"a": 1}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "-1"], "--workers -1: must be an integer >= 0"),
        (["--workers", "2", "--threads", "0"], "--threads 0: must be an integer >= 1"),
        (["--threads", "2"], "--threads goes with --workers"),
        (["--workers", "2", "--scheduler", "tcp://x:1"], "one of --workers, --scheduler"),
        (["--scheduler", ""], "--scheduler: must not be empty"),
        (["--scheduler-file", ""], "--scheduler-file: must not be empty"),
        (["--workers", "1_0"], "invalid integer value: '1_0'"),
        (["--workers", "２"], "invalid integer value: '２'"),
        (["--most", "1_0"], "invalid number value: '1_0'"),
        (["--most", "-1e-3"], "--most -0.001: must be a number >= 0"),
        (["--workers", "two"], "invalid integer value"),
        (["--most", "nan"], "--most nan: must be a number >= 0"),
        (["--most", "-3"], "--most -3.0: must be a number >= 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(folder, options, message, capsys):
    assert main(["sweep", "run", squares(folder), *options]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "mine.sqlite").exists()


# --- what there is --------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_python_may_leave_out_asserts_and_docstrings(folder, option):
    """Point functions are described from their source, and their annotations checked all the same."""
    files = [
        sweep_file(folder, f"point: sweep_points:{name}\npoints: {{a: 1}}", f"{name}.yml")
        for name in ("unannotated", "listed")
    ]
    words = [["points"], *(["run", file] for file in files)]
    script = f"from assocmem.__main__ import main; print([main(['sweep', *more]) for more in {words}])"
    done = subprocess.run([sys.executable, option, "-c", script], capture_output=True, text=True)
    assert done.stdout.endswith("[0, 2, 2]\n")
    assert "\ntop1_memory: " in done.stdout
    assert "removal: \n" not in done.stdout
    assert done.stderr.count("must be annotated as") == done.stderr.count("\n") == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_output_goes_to_any_terminal(folder, encoding):
    name = "mine.yml" if encoding == "ascii" else "é.yml"
    file = sweep_file(folder, "title: Été λ\npoint: sweep_points:square\npoints: {a: [1, 7]}", name)
    given = os.environ | {"PYTHONIOENCODING": encoding}
    main(["sweep", "run", file])
    done = subprocess.run(
        [sys.executable, "-m", "assocmem", "sweep", "status", file], env=given, capture_output=True
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"1 done, 1 failed" in done.stdout
    assert ("|" + {"ascii": "#", "latin-1": "#", "cp437": "█"}[encoding] + "!|") in done.stdout.decode(
        encoding
    )


@pytest.mark.parametrize("words", [["points"], ["status", "mine.yml"], ["run", "mine.yml"]])
def test_whoever_reads_the_output_may_go(folder, words):
    squares(folder, 2)
    read, write = os.pipe()
    os.close(read)
    with start(*words, stdout=write) as process:
        os.close(write)
        assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 141


def test_point_functions_are_listed_with_their_parameters(capsys):
    assert main(["sweep", "points"]) == 0
    output = capsys.readouterr().out
    for function in REGISTERED:
        assert f"\n{function.__name__}: " in "\n" + output
        for name in point_function(function.__name__).parameters:
            assert f"    {name} " in output
    assert "ridge, a number in [1e-20, 1e6], default 1e-06" in output


def test_a_section_is_a_point_function(folder, project, monkeypatch, capsys):
    text = "point: section:tiny\nfixed: {profile: smoke}\npoints: {scale: [0.25, 0.5], flag: [false, true]}"
    file = sweep_file(folder, text)
    assert main(["sweep", "run", file]) == 1
    output = capsys.readouterr().out
    assert "2 done, 2 failed" in output
    assert (
        "failed: profile = smoke, scale = 0.25, flag = True: SectionFailed: section tiny failed, cell "
        in output
    )
    assert "AssertionError: flag is True" in output
    assert main(["sweep", "export", file]) == 0
    lines = (folder / "mine.csv").read_text().splitlines()
    assert lines[0].startswith("scale,flag,checks,surprises,seconds")
    assert lines[1].startswith("0.25,False,0,0,")


def test_the_sweeps_of_the_paper_are_cut_into_short_points():
    files = sorted((ROOT / "data").glob("*/*_paper.yml"))
    assert [file.stem for file in files] == ["peaks_paper", "boundaries_paper", "grid_paper", "slice_paper"]
    for file in files:
        assert all(0 < point.minutes < 10 for point in read_sweep(file).points)


def test_a_picture_shows_what_is_done_and_what_failed(folder):
    text = "point: sweep_points:square\npoints: [{a: [0, 1, 2], b: [0.5, 1]}, {a: 3, b: 1}]"
    sweep = read_sweep(sweep_file(folder, text))
    done = {p.key for p in sweep.points if p.parameters["a"] == 0 or p.parameters["b"] == 1}
    failed = {p.key for p in sweep.points if p.parameters == {"a": 2, "b": 0.5}}
    assert grid(sweep, done, failed) == ["b down, a across, 0 to 3", "0.5 |█ !·|", "  1 |████|"]
    text = "point: top1_verdict\npoints: {n: 20, d: [6, 10], seed: {count: 4}}"
    sweep = read_sweep(sweep_file(folder, text))
    assert grid(sweep, {p.key for p in sweep.points[:3]}, set()) == ["d across, 6 to 10", " |▓ |"]
    sweep = read_sweep(sweep_file(folder, "point: top1_verdict\npoints: {n: 20, d: 6, seed: 0}"))
    assert grid(sweep, set(), set()) == ["n across, 20 to 20", " | |"]
    sweep = read_sweep(sweep_file(folder, "point: sweep_points:constant\npoints: {}"))
    assert grid(sweep, {sweep.points[0].key}, set())[1] == " |█|"
    sweep = read_sweep(sweep_file(folder, "point: top1_verdict\npoints: {n: 20, d: 6, seed: {count: 400}}"))
    (head, line) = grid(sweep, {p.key for p in sweep.points[:200]}, set())
    assert head == "seed across, 0 to 399"
    assert line == f" |{'█' * 30}{' ' * 30}|"


def test_user_errors_are_usage_errors():
    with pytest.raises(UsageError, match="unknown point function"):
        point_function("nothing")


def test_a_terminal_shows_how_far_it_is_and_a_log_does_not(folder, monkeypatch):
    monkeypatch.delenv("ASSOCMEM_TERMINAL", raising=False)
    file = squares(folder, 100, "slow")
    ours, theirs = os.openpty()
    termios.tcsetwinsize(ours, (24, 120))
    process = start("run", file, stderr=theirs)
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # the other end closes
        while part := os.read(ours, 4096):
            seen += part
    os.close(ours)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert output.count("\n") == 2
    shown = seen.decode()
    assert "of 100 points" in shown
    assert "a minute, about" in shown
    assert " s left" in shown
