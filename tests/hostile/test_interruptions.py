"""Long commands are killed at random moments: what was done stays, and the next run ends as it should."""

import signal

import pytest
import victims
from victims import Stage, kill_after, moments

pytestmark = pytest.mark.faults

KILLS = {
    "sweep run": (victims.SWEEP_RUN, 40),
    "sweep run with states": (victims.SWEEP_LASTING, 30),
    "sweep run of two workers": (victims.SWEEP_WORKERS, 6),
    "sweep export": (victims.SWEEP_EXPORT, 40),
    "sweep merge": (victims.SWEEP_MERGE, 40),
    "sweep confirm": (victims.SWEEP_CONFIRM, 25),
    "run of a section": (victims.SECTION_RUN, 12),
    "build of the book": (victims.BOOK_BUILD, 10),
    "fit with a checkpoint": (victims.FIT_WITH_STATE, 10),
}
"""By name: what is killed, and how often."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return Stage(tmp_path_factory.mktemp("killed ones"))


@pytest.mark.parametrize("name", KILLS)
def test_a_command_that_is_killed_loses_nothing(stage, name, report_trials):
    victim, count = KILLS[name]
    seconds, failures = stage.peace(victim).seconds, []
    for share in moments(name, count):
        failures += stage.trial(victim, f"killed at {share:.0%}", kill_after(share * seconds))
    report_trials(f"killed: {name}", count, failures)


@pytest.mark.parametrize("name", KILLS)
def test_a_command_that_is_told_to_end_does_so_in_one_line(stage, name, report_trials):
    victim, count = KILLS[name][0], max(2, KILLS[name][1] // 6)
    seconds, failures = stage.peace(victim).seconds, []
    for share in moments(f"{name}, told", count):
        told = kill_after(share * seconds, signal.SIGTERM)
        failures += stage.trial(victim, f"told to end at {share:.0%}", told)
    report_trials(f"told to end: {name}", count, failures)
