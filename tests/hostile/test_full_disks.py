"""Where nothing can be written, a command says so in a line; with room again, it ends as it should."""

import json
import os
import random
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import victims
from victims import Stage, bearable, end, names, obey_permissions

pytestmark = pytest.mark.faults

WRITERS = {
    "sweep run": (victims.SWEEP_PLAIN, 10),
    "sweep export": (victims.SWEEP_EXPORT, 10),
    "sweep merge": (victims.SWEEP_MERGE, 10),
    "sweep confirm": (victims.SWEEP_CONFIRM, 6),
    "run of a section": (victims.SECTION_RUN, 3),
    "build of the book": (victims.BOOK_BUILD, 2),
    "fit with a checkpoint": (victims.FIT_WITH_STATE, 2),
}
"""By name: what finds no room, and how often of each kind."""

QUICK = {
    "list": ("list",),
    "params": ("params", "scalar_theory"),
    "sweep points": ("sweep", "points"),
    "sweep status": ("sweep", "status", "mine.yml"),
}
"""Commands that only print."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return Stage(tmp_path_factory.mktemp("without room"))


def limited(size):
    """No file may be larger: an error at each write beyond."""

    def disturb(stage, victim, place):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
        code, _, errors = stage.run(victim, place, preexec_fn=limit)
        yield from bearable(code, errors)

    return disturb


def on_small_disk(spare):
    """A disk with so many bytes to spare."""

    def disturb(stage, victim, place):
        code, output, errors = end(
            stage.start(
                victim,
                place,
                before=["unshare", "-rm", sys.executable, victims.HERE / "small_disk.py", place, str(spare)],
            )
        )
        assert code == 0, errors
        done = json.loads(output.splitlines()[-1])
        yield from bearable(done["code"], done["errors"])

    return disturb


def read_only(chosen):
    """Some files and folders cannot be written."""

    def disturb(stage, victim, place):
        paths = [place / name for name in chosen]
        modes = {path: path.stat().st_mode for path in paths}
        for path in paths:
            path.chmod(stat.S_IMODE(modes[path]) & ~0o222)
        before = names(place)
        code, _, errors = stage.run(victim, place, preexec_fn=obey_permissions)
        for path in paths:
            if path.exists():
                path.chmod(stat.S_IMODE(modes[path]))
        yield from bearable(code, errors)
        if code == 2 and names(place) != before:
            yield f"refused, and yet changed: {sorted(names(place) ^ before)[:5]}"

    return disturb


def into_full_output(stage, victim, place):
    with open("/dev/full", "w") as full:
        process = stage.start(victim, place, stdout=full)
    code, _, errors = end(process)
    yield from bearable(code, errors, codes=(1,))


@pytest.mark.parametrize("name", WRITERS)
def test_no_file_may_grow(stage, name, report_trials):
    victim, count = WRITERS[name]
    draw, failures = random.Random(f"{name}, limits"), []
    largest = stage.peace(victim).sizes[-1]
    for size in [0, *(int(largest * draw.random() ** 2) for _ in range(count - 1))]:
        failures += stage.trial(victim, f"no file over {size} bytes", limited(size))
    report_trials(f"no file may grow: {name}", count, failures)


@pytest.mark.parametrize("name", WRITERS)
def test_the_disk_is_full(stage, name, report_trials):
    probe = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    if subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    victim, count = WRITERS[name]
    draw, failures = random.Random(f"{name}, disks"), []
    more = sum(stage.peace(victim).sizes)
    for spare in [0, *(int(more * draw.random() ** 2) for _ in range(count - 1))]:
        failures += stage.trial(victim, f"{spare} bytes of disk to spare", on_small_disk(spare))
    report_trials(f"disk full: {name}", count, failures)


@pytest.mark.parametrize("name", WRITERS)
def test_places_that_cannot_be_written(stage, name, report_trials):
    victim, count = WRITERS[name]
    draw, failures = random.Random(f"{name}, read-only"), []
    template = stage.prepare(victim)
    own = [Path("work"), *(p.relative_to(template) for p in (template / "work").rglob("*"))]
    own = sorted(str(path) for path in own if not (template / path).is_symlink())
    for number in range(count):
        chosen = own if number == 0 else ["work", "tmp"] if number == 1 else draw.sample(own, len(own) // 2)
        failures += stage.trial(victim, f"read-only {', '.join(chosen)}", read_only(chosen))
    report_trials(f"read-only: {name}", count, failures)


@pytest.mark.parametrize("name", [name for name in WRITERS if "fit" not in name])
def test_an_output_that_takes_nothing(stage, name, report_trials):
    victim, _ = WRITERS[name]
    report_trials(f"output full: {name}", 1, stage.trial(victim, "output full", into_full_output))


def test_lists_into_an_output_that_takes_nothing(tmp_path, report_trials):
    victims.with_rows(tmp_path)
    failures = []
    for name, words in QUICK.items():
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, *victims.command(*words)],
                cwd=tmp_path,
                env=os.environ | {"PYTHONPATH": victims.python_path()},
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        failures += [f"{name}: {line}" for line in bearable(done.returncode, done.stderr, codes=(1,))]
    report_trials("output full: commands that print", len(QUICK), failures)
