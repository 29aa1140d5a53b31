"""A point function may do what it likes: its point fails and says why, and all others are exported."""

import contextlib
import csv
import functools
import json
import math
import os
import random
import signal
from pathlib import Path

import pytest
from hostile_points import DIE, FAIL, ROWS

from assocmem.__main__ import main
from assocmem.sweeps.export import known
from assocmem.sweeps.point_functions import point_function
from assocmem.sweeps.stored_table import entry
from assocmem.sweeps.sweep_file import read_sweep
from assocmem.sweeps.tasks import Task, _interrupts_noted, compute

SEED = 25
NAME = "hostile_points:hostile"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    here = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, here)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@functools.cache
def code():
    return point_function(NAME).code


def sweep_of(folder, kinds, seed):
    """A sweep file of misbehaviours in a drawn order, each between two good points."""
    draw, blocks = random.Random(seed), []
    for i, kind in enumerate(draw.sample(sorted(kinds), len(kinds))):
        blocks += [f"  - {{kind: '{kind}', a: {i}}}", f"  - {{kind: good, a: {i}}}"]
    file = folder / f"hostile{seed}.yml"
    file.write_text("point: hostile_points:hostile\npoints:\n" + "\n".join(blocks) + "\n")
    return file


def faults_of(file, failing, capsys, *options):
    """What is wrong with a run, its status and its table, in words."""
    wrong = []
    code = main(["sweep", "run", str(file), *options])
    wrong += [] if code == bool(failing) else [f"run: exit code {code}"]
    there = known(read_sweep(file))
    failed = {result.parameters["kind"]: result.failure for result in there.failures.values()}
    wrong += [f"{kind}: not recorded as failed" for kind in failing - failed.keys()]
    wrong += [f"{kind}: failed: {failed[kind][:200]}" for kind in failed.keys() - failing]
    for kind, failure in failed.items():
        first, *_ = failure.splitlines()
        if not first.partition(":")[0] or len(first) > 1100 or len(failure) > 30_000:
            wrong.append(f"{kind}: said in {len(first)} of {len(failure)} characters")
    for verb in ("status", "export"):
        more = ["--failures"] if verb == "status" else []
        code = main(["sweep", verb, str(file), *more])
        wrong += [] if code == (verb == "status" and bool(failing)) else [f"{verb}: exit code {code}"]
    with open(file.with_suffix(".csv"), newline="", encoding="utf-8") as table:
        found = {(row["kind"], row["a"]): entry(row["c"]) for row in csv.DictReader(table)}
    wrong += [f"{at}: a row of the table" for at in found if at[0] in failing]
    for point in read_sweep(file).points:
        kind, a = point.parameters["kind"], point.parameters["a"]
        if kind not in failing:
            expected = a + 0.5 if kind == "good" else ROWS[kind][1]
            if (kind, str(a)) not in found or found[kind, str(a)] != expected:
                wrong.append(f"{kind}, {a}: {str(found.get((kind, str(a)), 'no row'))[:50]}")
    assert main(["sweep", "run", str(file)]) == bool(failing)  # from the table and the store
    captured = capsys.readouterr()
    wrong += [f"standard error: {captured.err[:300]}"] if captured.err else []
    wrong += ["a traceback"] if "Traceback" in captured.out and not failing else []
    return wrong


def test_one_bad_point_ends_nothing(folder, capsys):
    failing = {
        "no_text",
        "base",
        "interrupt",
        "generator_exit",
        "huge_integer",
        "surrogate_word",
        "class_name",
    }
    file = sweep_of(folder, failing | {"number_class", "quotes"}, SEED)
    assert faults_of(file, failing, capsys) == []


@pytest.mark.parametrize("kind", [*FAIL, *ROWS])
def test_what_a_function_does_is_a_row_or_a_failure_that_can_be_stored(kind):
    result = compute(Task(NAME, code(), "k", {"kind": kind, "a": 1}))
    assert (result.row is None) == (kind in FAIL)
    json.dumps([result.row, result.parameters])
    if kind in FAIL:
        first, *trace = result.failure.encode("utf-8").decode().splitlines()
        assert first.partition(":")[0].strip()
        assert len(first) <= 1000
        assert first.isprintable()
        assert any("hostile_points" in line or "tasks" in line for line in trace)
    else:
        (value,) = result.row.values()
        assert value == ROWS[kind][1]
        assert type(value) in (int, float, str, type(None))


def test_an_interrupt_of_the_process_is_none_of_the_function():
    """It ends the run also where the function swallows it; one that the function raises is a failure."""
    calls = {"swallows": swallows, "converts": converts, "raises": FAIL["interrupt"]}
    for name, call in calls.items():
        before = signal.getsignal(signal.SIGINT)
        with _interrupts_noted() as interrupts, contextlib.suppress(KeyboardInterrupt, ValueError):
            call()
        assert bool(interrupts) == (name != "raises")
        assert signal.getsignal(signal.SIGINT) is before


def swallows():
    with contextlib.suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def converts():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise ValueError from None


@pytest.mark.faults
def test_bad_points_in_drawn_orders(folder, capsys, report_trials):
    trials, failures, every = 0, [], sorted(FAIL.keys() | ROWS.keys())
    for seed in range(SEED + 1, SEED + 6):
        kinds = random.Random(seed).sample(every, len(every) // 2)
        file = sweep_of(folder, kinds, seed)
        failures += [f"seed {seed}: {fault}" for fault in faults_of(file, FAIL.keys() & set(kinds), capsys)]
        trials += len(kinds)
    report_trials("points that misbehave", trials, failures)


@pytest.mark.faults
def test_bad_points_on_workers(folder, capsys, report_trials):
    failures, kinds = [], FAIL.keys() | ROWS.keys()
    sweeps = [(SEED, kinds), *((SEED + i, {kind}) for i, kind in enumerate(DIE, 1))]
    for seed, some in sweeps:
        failing = some & (FAIL.keys() | DIE.keys())
        file = sweep_of(folder, some, seed)
        failures += faults_of(file, failing, capsys, "--workers", "2", "--threads", "1")
    report_trials("points that misbehave on workers", len(kinds) + len(DIE), failures)


def test_the_limits_are_those_of_what_reads_the_table():
    from assocmem.sweeps import tasks

    assert csv.field_size_limit() > tasks.MOST_TEXT
    assert math.isfinite(float(tasks.LARGEST))
    assert math.isinf(float(str(2 * tasks.LARGEST)))
