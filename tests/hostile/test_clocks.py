"""A clock that was set back, or goes back meanwhile, and files from the future, change nothing."""

import os
import random
import shutil
import time

import pytest
import victims
from victims import HERE, Stage, end, files, kill_after

pytestmark = pytest.mark.faults

YEAR = 365 * 86400.0
"""Seconds by which clocks are set back."""

CLOCKS = {
    "sweep run": (victims.SWEEP_RUN, 3),
    "sweep run with states": (victims.SWEEP_LASTING, 3),
    "sweep export": (victims.SWEEP_EXPORT, 3),
    "sweep merge": (victims.SWEEP_MERGE, 3),
    "sweep confirm": (victims.SWEEP_CONFIRM, 2),
    "run of a section": (victims.SECTION_RUN, 1),
    "build of the book": (victims.BOOK_BUILD, 1),
    "fit with a checkpoint": (victims.FIT_WITH_STATE, 1),
}
"""By name: what works by a moved clock, and how often of each kind."""

SOURCES = {
    "index.md": (victims.BOOK_BUILD, "# Small", "# Large"),
    "book/sweeps.md": (victims.BOOK_BUILD, "# Sweeps", "# Swaps"),
    f"notebooks/{victims.SECTION}.py": (victims.SECTION_RUN, "things", "stuff"),
}
"""Sources that are changed: whose, and what in them."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return Stage(tmp_path_factory.mktemp("other times"))


def from_the_future(after):
    """Killed meanwhile, and all it leaves is younger than the clock says."""

    def disturb(stage, victim, place):
        yield from kill_after(after)(stage, victim, place)
        for path in files(place):
            os.utime(path, (time.time() + YEAR,) * 2)

    return disturb


def by_a_clock_that_goes_back(looks):
    def disturb(stage, victim, place):
        variables = {"MOVED_BACK": str(YEAR), "MOVED_AGAIN": str(looks)}
        code, _, errors = end(stage.start(victim, place, paths=[HERE / "moved_clock"], variables=variables))
        if code or "Traceback" in errors:
            yield f"exit code {code}: {errors[-600:]}"

    return disturb


def restored_with_its_time(name, old, new):
    """Another text, of which there is a result; then the first one comes back, older than that result."""

    def disturb(stage, victim, place):
        source = place / "work" / name
        shutil.copy2(source, place / "tmp" / "kept")
        text = source.read_text(encoding="utf-8")
        assert old in text
        source.write_text(text.replace(old, new), encoding="utf-8")
        code, output, errors = stage.run(victim, place)
        if code:
            yield f"exit code {code} with another text: {output} {errors}"
        if victim.result(place / "work") == stage.peace(victim).result:
            yield "the other text changed nothing"
        shutil.move(place / "tmp" / "kept", source)

    return disturb


@pytest.mark.parametrize("name", CLOCKS)
def test_files_from_the_future_do_no_harm(stage, name, report_trials):
    victim, count = CLOCKS[name]
    seconds, failures = stage.peace(victim).seconds, []
    for share in victims.moments(f"{name}, future", count, low=0.3):
        failures += stage.trial(victim, f"set back at {share:.0%}", from_the_future(share * seconds))
    report_trials(f"clock set back: {name}", count, failures)


@pytest.mark.parametrize("name", CLOCKS)
def test_a_clock_may_go_back_meanwhile(stage, name, report_trials):
    victim, count = CLOCKS[name]
    draw, failures = random.Random(f"{name}, looks"), []
    for looks in [draw.randrange(30) for _ in range(count)]:
        failures += stage.trial(victim, f"back after {looks} looks", by_a_clock_that_goes_back(looks))
    report_trials(f"clock goes back: {name}", count, failures)


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_that_is_older_than_its_result_is_seen_to_have_changed(stage, name, report_trials):
    victim, old, new = SOURCES[name]
    failures = stage.trial(victim, f"{name} restored", restored_with_its_time(name, old, new))
    report_trials(f"source restored with its time: {name}", 1, failures)
