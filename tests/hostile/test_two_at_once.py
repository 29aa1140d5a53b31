"""Two of everything at once, begun at random moments: both end well, and nothing is done or written twice."""

import contextlib
import subprocess

import pytest
import victims
from victims import Stage, end, moments

pytestmark = pytest.mark.faults

TWINS = {
    "sweep run": (victims.SWEEP_RUN, 6),
    "sweep run with states": (victims.SWEEP_LASTING, 5),
    "sweep export": (victims.SWEEP_EXPORT, 12),
    "sweep merge": (victims.SWEEP_MERGE, 6),
    "sweep confirm": (victims.SWEEP_CONFIRM, 5),
    "run of a section": (victims.SECTION_RUN, 2),
    "build of the book": (victims.BOOK_BUILD, 2),
    "fit with a checkpoint": (victims.FIT_WITH_STATE, 4),
}
"""By name: what is started twice, and how often."""

OTHERS = {
    "sweep merge and run": (victims.SWEEP_MERGE, ("sweep", "run", "mine.yml"), 4),
    "sweep merge and status": (victims.SWEEP_MERGE, ("sweep", "status", "mine.yml"), 4),
    "sweep export and status": (victims.SWEEP_EXPORT, ("sweep", "status", "mine.yml"), 6),
    "build and run of a section": (
        victims.BOOK_BUILD,
        ("run", victims.SECTION, "--out", "book/sections", "--force"),
        2,
    ),
}
"""By name: a victim, what works beside it, and how often."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return Stage(tmp_path_factory.mktemp("two of them"))


def beside(seconds, arguments=None, codes=(0,)):
    """Another process, begun some time after the first."""

    def disturb(stage, victim, place):
        first = stage.start(victim, place)
        with contextlib.suppress(subprocess.TimeoutExpired):
            first.wait(seconds)
        other = stage.start(victim, place, arguments=arguments)
        for process, allowed in ((first, (0,)), (other, codes)):
            code, output, errors = end(process)
            if code not in allowed or "Traceback" in errors:
                yield f"exit code {code}: {output[-300:]} {errors[-900:]}"

    return disturb


@pytest.mark.parametrize("name", TWINS)
def test_two_of_one_kind(stage, name, report_trials):
    victim, count = TWINS[name]
    seconds, failures = stage.peace(victim).seconds, []
    for share in moments(f"{name}, twins", count, low=0.0, high=0.6):
        failures += stage.trial(victim, f"two, {share:.0%} apart", beside(share * seconds))
    report_trials(f"two at once: {name}", count, failures)


@pytest.mark.parametrize("name", OTHERS)
def test_one_beside_another(stage, name, report_trials):
    victim, words, count = OTHERS[name]
    seconds, failures = stage.peace(victim).seconds, []
    codes = (0, 1) if "status" in words else (0,)  # not complete yet
    for share in moments(f"{name}, others", count, low=0.0, high=0.9):
        other = beside(share * seconds, victims.command(*words), codes)
        failures += stage.trial(victim, f"with another after {share:.0%}", other)
    report_trials(f"two at once: {name}", count, failures)
