"""Compute the points of a sweep that have no result yet, and say how far it is."""

import contextlib
import math
import shutil
import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from assocmem.files import whole_file
from assocmem.progress import duration, status_line
from assocmem.sweeps.export import Known, known
from assocmem.sweeps.picture import grid
from assocmem.sweeps.store import Result, Store, StoreError
from assocmem.sweeps.sweep_file import Sweep
from assocmem.sweeps.tasks import Task
from assocmem.sweeps.workers import WAIT, Engine, EngineLost, in_process

HINT = "`sweep confirm` says whether those hold as well"
"""Said where points have rows of older code only."""

MOST_CLAIMED = 64
"""Points claimed in one transaction, at most, so that other processes find some left. Chosen by trial."""

CLAIM_SECONDS = 1.0
"""Work that is claimed at once: a claim is a transaction, which costs as much as a short point."""

MOST_LISTED = 20
"""Failures listed at the end, at most, which is what fits on a screen."""

ASK_SECONDS = 2.0
"""Time between two looks at points that other processes have claimed: a look is a transaction as well."""


def run(
    sweep: Sweep,
    engine: Engine = in_process,
    *,
    store: str | PathLike[str] | None = None,
    most: float = math.inf,
    retry: bool = False,
    shared_disk: bool = True,
    say: Callable[[str], object] = print,
) -> int:
    """Compute the points of a sweep that have no result yet.

    Parameters
    ----------
    sweep : Sweep
    engine : callable
        Takes a supply of tasks and yields results, as `workers.in_process`.
    store : path, optional
        Where results go, beside the sweep file by default. What the store and the table there have is not
        computed again in any case.
    most : float
        Seconds after which no further point is begun, nor one that is expected to take longer than is left.
    retry : bool
        Try failed points again.
    shared_disk : bool
        Whether the engine's workers see this disk, so that long points can keep their state there.
    say : callable
        Takes each line of the report.

    Returns
    -------
    int
        0 if every point has a row, 1 if some failed or the engine was lost, 3 if some are still missing.

    Raises
    ------
    UsageError
        For a store that cannot be used.
    StoreError
        For one that cannot be written. All results before are kept.
    """
    started, path = time.monotonic(), Path(store or sweep.store)
    with Store(path, sweep.function.name) as there:
        there.tidy()
        before = known(sweep, sweep.store, path)
        for result in before.rows.values():  # whose process was killed before it could remove their state
            state_file(path, result.key, result.code).unlink(missing_ok=True)
        stale = {r.key for r in before.stale} - before.rows.keys()
        done = before.rows.keys() | (set() if retry else before.failures.keys())
        supply = _Supply(sweep, there, before.code, done, started + most, retry, shared_disk)
        say(f"{sweep.path.stem}: {supply.total} of {len(sweep.points)} points to compute")
        if stale:
            say(f"{sweep.path.stem}: {len(stale)} of them have rows of another version of the code: {HINT}")
        lost = _drain(engine, supply, there)
    after = known(sweep, sweep.store, path)
    took = duration(time.monotonic() - started)
    say(f"{sweep.path.stem}: {supply.count} points in {took}; {_state_in_words(sweep, after)}")
    for result in list(after.failures.values())[:MOST_LISTED]:
        say(failure_line(result))
    if len(after.failures) > MOST_LISTED:
        say(f"and {len(after.failures) - MOST_LISTED} more failed")
    if after.failures:
        say("`sweep status --failures` shows the tracebacks, `sweep run --retry` tries again")
    if lost:
        say(f"{lost}: run again to go on")
    missing = len(sweep.points) - len(after.rows) - len(after.failures)
    return 1 if after.failures or lost else 3 if missing else 0


def _drain(engine, supply, store):
    """Store results as they come. Returns what to say if the engine was lost, else an empty string."""
    with status_line() as show:
        show(supply.progress())
        try:
            for result in engine(supply):
                if result is not None:
                    store.finish(result)
                    supply.came(result)
                show(supply.progress())
        except EngineLost as error:
            return str(error)
        except StoreError as error:
            raise StoreError(f"{error}; {supply.count} points of this run are stored") from None
    return ""


class _Supply:
    """Hands out the points that are left, each claimed in the store, and counts what comes back.

    Points that another process has claimed are asked for again and again, until they are done or that process
    has ended.
    """

    def __init__(self, sweep, store, code, done, deadline, retry, shared_disk):
        self.sweep, self.store, self.code, self.deadline, self.retry = sweep, store, code, deadline, retry
        self.left = [point for point in sweep.points if point.key not in done]
        self.left.reverse()
        self.claimed, self.others, self.asked = [], [], -math.inf
        self.keeps_state = shared_disk and "checkpoint" in sweep.function.context
        self.count, self.failed, self.total, self.started = 0, 0, len(self.left), time.monotonic()

    def __call__(self):
        """The next task, or `WAIT`, or None."""
        while time.monotonic() < self.deadline and (self.claimed or self.left or self.others):
            if self.claimed:
                point = self.claimed.pop()
                if time.monotonic() + 60 * point.minutes < self.deadline:
                    return self._task(point)
            elif self.left or time.monotonic() > self.asked + ASK_SECONDS:
                self._take()
            else:
                return WAIT
        return None

    def _take(self):
        """Claim the next points, as many as take about `CLAIM_SECONDS`."""
        if not self.left:  # those of other processes, which may be free by now
            self.left, self.others, self.asked = self.others, [], time.monotonic()
        size = int(CLAIM_SECONDS / self._each()) if self.count else 1
        chunk = [self.left.pop() for _ in range(min(len(self.left), MOST_CLAIMED, max(1, size)))]
        mine, theirs = self.store.claim([point.key for point in chunk], self.code, again=self.retry)
        self.claimed = [point for point in reversed(chunk) if point.key in mine]
        self.others += [point for point in chunk if point.key in theirs]

    def _task(self, point):
        file = None
        if self.keeps_state:
            file = state_file(self.store.path, point.key, self.code)
            earlier = state_file(self.sweep.store, point.key, self.code)
            if earlier.exists() and not file.exists():
                with contextlib.suppress(OSError), whole_file(file) as partial:  # else it begins anew
                    shutil.copyfile(earlier, partial)
        return Task(self.sweep.function.name, self.code, point.key, point.parameters, file and str(file))

    def came(self, result):
        """Count a result; where it is a row, the state of its computation is no longer needed."""
        self.count += 1
        self.failed += result.row is None
        if self.keeps_state and result.row is not None:
            state_file(self.store.path, result.key, result.code).unlink(missing_ok=True)

    def _each(self):
        """Seconds that a point has taken so far."""
        return (time.monotonic() - self.started) / self.count

    def progress(self):
        """How far it is, in words."""
        text = f"{self.sweep.path.stem}: {self.count} of {self.total} points"
        if self.count:
            each = self._each()
            text += f", {60 / each:.3g} a minute, about {duration((self.total - self.count) * each)} left"
        text += f", {self.failed} failed" if self.failed else ""
        return text + (f", {len(self.others)} claimed by other processes" if self.others else "")


def state_file(store: str | PathLike[str], key: str, code: str) -> Path:
    """The file in which a long point keeps its state, beside the store.

    Parameters
    ----------
    store : path
    key, code : str
        Of the point, and of the version of the code.

    Returns
    -------
    Path
    """
    return Path(f"{store}.state-{key}-{code}")


def status(sweep: Sweep, *, failures: bool = False) -> tuple[list[str], bool]:
    """Lines that say how far a sweep is, with a picture.

    Parameters
    ----------
    sweep : Sweep
    failures : bool
        Show the tracebacks of failed points.

    Returns
    -------
    lines : list of str
    complete : bool
    """
    there = known(sweep)
    rows, broken = there.rows, there.failures
    spent = sum(result.seconds or 0 for result in rows.values())
    lines = [f"{sweep.title} ({sweep.function.name}, {len(sweep.points)} points)"]
    lines += [
        f"{_state_in_words(sweep, there)}; {duration(spent)} of computation",
        *grid(sweep, set(rows), set(broken)),
    ]
    for result in broken.values() if failures else []:
        reason, *trace = result.failure.rstrip().splitlines()
        lines += ["", _short(result.parameters), *(trace or [reason])]
    return lines, len(rows) == len(sweep.points)


def into(sweep: Sweep, folder: str | PathLike[str]) -> Path:
    """The store of a sweep in another folder, below its own folder's name, since others may have its name.

    Parameters
    ----------
    sweep : Sweep
    folder : path

    Returns
    -------
    Path
    """
    return Path(folder, sweep.path.parent.name, sweep.store.name)


def _state_in_words(sweep: Sweep, there: Known) -> str:
    """How many points are done, failed, missing and being computed."""
    rows, failures = there.rows, there.failures
    missing = {point.key for point in sweep.points} - rows.keys() - failures.keys()
    stale = {result.key for result in there.stale} & missing
    parts = [f"{len(rows)} done"]
    parts += [f"{len(failures)} failed"] if failures else []
    parts += [f"{len(missing)} missing"] if missing else []
    parts += [f"{len(stale)} of them computed by other code"] if stale else []
    if sweep.store.exists():
        with Store(sweep.store, sweep.function.name) as store:
            parts += [f"{count} being computed"] if (count := store.being_computed()) else []
    return ", ".join(parts)


def failure_line(result: Result) -> str:
    """What failed, and why, in one line."""
    return f"failed: {_short(result.parameters)}: {result.failure.splitlines()[0]}"


def _short(parameters):
    return ", ".join(f"{name} = {value}" for name, value in parameters.items())
