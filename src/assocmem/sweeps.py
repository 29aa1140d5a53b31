"""Many points: run them, see how far they are, merge other machines' results, trust older code or not."""

import contextlib
import math
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from assocmem.engines import EngineLost, Task, compute, in_process
from assocmem.progress import status_line
from assocmem.sections import UsageError
from assocmem.stores import Store, StoreError
from assocmem.sweep_grid import grid
from assocmem.sweep_tables import difference, known, table_results

MOST_HELD = 64  # points claimed at once
AGREE = 1e-3  # relative difference up to which a number that is computed again counts as the same


def run(sweep, engine=in_process, *, store=None, most=math.inf, retry=False, shared_disk=True, say=print):
    """Compute the points of a sweep that have no result yet.

    Parameters
    ----------
    sweep : Sweep
    engine : callable
        Takes a supply of tasks and yields results, as `engines.in_process`.
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
        before = known(sweep, sweep.store, path)
        if retry:
            there.forget_failures(before.code)
        stale = {r.key for r in before.stale} - before.rows.keys()
        if stale:
            say(f"{sweep.path.stem}: {len(stale)} points have rows of another version of the code only, and")
            say("are computed again; interrupt and `sweep confirm` to see whether those rows hold too")
        done = before.rows.keys() | (set() if retry else before.failures.keys())
        supply = _Supply(sweep, there, before.code, done, started + most, shared_disk)
        lost = _drain(engine, supply, there)
    after = known(sweep, sweep.store, path)
    took = duration(time.monotonic() - started)
    say(f"{sweep.path.stem}: {supply.count} points in {took}; {_words(sweep, after)}")
    for result in after.failures.values():
        say(f"failed: {_short(result.parameters)}: {result.failure.strip().splitlines()[-1]}")
    if after.failures:
        say("`sweep status --failures` shows the tracebacks, `sweep run --retry` tries again")
    if lost:
        say(f"{lost}: run again to go on")
    missing = len(sweep.points) - len(after.rows) - len(after.failures)
    return 1 if after.failures or lost else 3 if missing else 0


def _drain(engine, supply, store):
    """Store results as they come; what to say if the engine was lost."""
    with status_line() as show:
        show(supply.progress())
        try:
            for result in engine(supply):
                store.finish(result)
                supply.came(result)
                show(supply.progress())
        except EngineLost as error:
            return str(error)
        except StoreError as error:
            raise StoreError(f"{error}; {supply.count} points of this run are stored") from None
    return ""


class _Supply:
    """Hands out the points that are left, each claimed in the store, and counts what comes back."""

    def __init__(self, sweep, store, code, done, deadline, shared_disk):
        self.sweep, self.store, self.code, self.deadline = sweep, store, code, deadline
        self.left = [point for point in sweep.points if point.key not in done]
        self.left.reverse()
        self.held, self.others, self.final = [], [], False
        self.keeps = shared_disk and "checkpoint" in sweep.function.context
        self.count, self.failed, self.total, self.started = 0, 0, len(self.left), time.monotonic()

    def __call__(self):
        """The next task, or None."""
        while self.held or self.left or (self.others and not self.final):
            if not self.held:
                self._take()
            elif time.monotonic() + 60 * self.held[-1].minutes < self.deadline:
                return self._task(self.held.pop())
            else:
                self.held.pop()
        return None

    def _take(self):
        """Claim the next points, for about a second of work: a claim costs as much as a short point."""
        if not self.left:  # those in other hands, whose owners may be gone by now
            self.left, self.others, self.final = self.others, [], True
        each = (time.monotonic() - self.started) / self.count if self.count else 1.0
        chunk = [self.left.pop() for _ in range(min(len(self.left), MOST_HELD, max(1, int(1 / each))))]
        mine = self.store.claim([point.key for point in chunk], self.code)
        self.held = [point for point in reversed(chunk) if point.key in mine]
        self.others += [point for point in chunk if point.key not in mine]

    def _task(self, point):
        file = None
        if self.keeps:
            file = _state(self.store.path, point.key, self.code)
            earlier = _state(self.sweep.store, point.key, self.code)
            file.parent.mkdir(exist_ok=True)
            if earlier.exists() and not file.exists():
                shutil.copyfile(earlier, file)
        return Task(self.sweep.function.name, self.code, point.key, point.parameters, file and str(file))

    def came(self, result):
        """Count a result; the state of its computation is no longer needed."""
        self.count += 1
        self.failed += result.row is None
        if self.keeps:
            _forget_state(self.store.path, result)

    def progress(self):
        """How far it is, in words."""
        text = f"{self.sweep.path.stem}: {self.count} of {self.total} points"
        if self.count:
            each = (time.monotonic() - self.started) / self.count
            text += f", {60 / each:.3g} a minute, about {duration((self.total - self.count) * each)} left"
        return text + (f", {self.failed} failed" if self.failed else "")


def _state(store, key, code):
    """The file in which a long point keeps its state, in a folder beside the store."""
    return Path(f"{store}.checkpoints", f"{key}-{code}.pt")


def _forget_state(store, result):
    file = _state(store, result.key, result.code)
    file.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # others are at work still, or there is no such folder
        file.parent.rmdir()


def status(sweep, *, failures=False):
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
        f"{_words(sweep, there)}; {duration(spent)} of computation",
        *grid(sweep, set(rows), set(broken)),
    ]
    for result in broken.values() if failures else []:
        lines += ["", _short(result.parameters), result.failure.rstrip()]
    return lines, len(rows) == len(sweep.points)


def merge(sweep, *sources):
    """Take over results from other stores, and the state of points that they have begun.

    Parameters
    ----------
    sweep : Sweep
    *sources : path
        Stores, or folders with stores of the sweep's name somewhere below.

    Returns
    -------
    Merged
    """
    paths = []
    for source in map(Path, sources):
        below = sorted(source.rglob(sweep.store.name)) if source.is_dir() else [source]
        if not below:
            raise UsageError(f"{source}: no {sweep.store.name} below")
        paths += below
    results = []
    for path in paths:
        with Store(path, sweep.function.name, create=False) as other:
            results += other.results()
    wanted = {point.key for point in sweep.points}
    ours = [result for result in results if result.key in wanted]
    with Store(sweep.store, sweep.function.name) as store:
        added, both = store.absorb(ours)
    begun = [file for path in paths for file in Path(f"{path}.checkpoints").glob("*.pt")]
    for file in begun:
        mine = Path(f"{sweep.store}.checkpoints", file.name)
        mine.parent.mkdir(exist_ok=True)
        shutil.copyfile(file, mine)
    for result in ours:
        _forget_state(sweep.store, result)
    rows, _ = table_results(sweep)
    table = {(r.key, r.code): r for r in rows}
    both += [(table[r.key, r.code], r) for r in ours if r.row is not None and (r.key, r.code) in table]
    differences = [difference(a.row, b.row) for a, b in both]
    return Merged(added, len(both), max(differences, default=0.0), len(results) - len(ours))


@dataclass(frozen=True)
class Merged:
    """What a merge found.

    Attributes
    ----------
    added : int
        Results that were taken over.
    shared : int
        Points that had been computed already, by the same version of the code.
    difference : float
        Largest relative difference between the numbers of those.
    foreign : int
        Results that the sweep does not ask for, and that were not taken.
    """

    added: int
    shared: int
    difference: float
    foreign: int


def confirm(sweep, *, rows=3, say=print):
    """Compute a few rows of other versions of the code again; where they come out, let all of them count.

    Where points have been computed by both versions, those rows are compared. Otherwise some are computed
    again, spread evenly over the half that took least time.

    Parameters
    ----------
    sweep : Sweep
    rows : int
        How many of each version.
    say : callable
        Takes each line of the report.

    Returns
    -------
    bool
        Whether all versions that were tried count now.
    """
    there, good = known(sweep), True
    with Store(sweep.store, sweep.function.name) as store:
        for old in sorted({result.code for result in there.stale}):
            mine = [result for result in there.stale if result.code == old]
            both = [difference(r.row, there.results[r.key, there.code].row) for r in mine if _twice(there, r)]
            if len(both) < min(rows, len(mine)):
                both = [_again(sweep, there.code, result) for result in _spread(mine, rows)]
            worst = max(both)
            verdict = "all count" if worst <= AGREE else "they do not count"
            tried = f"{len(both)} of {len(mine)} rows computed again"
            say(f"code {old}: {tried}, differences up to {worst:.1e}: {verdict}")
            if worst <= AGREE:
                evidence = {"rows": len(both), "of": len(mine), "difference": worst}
                store.confirm(old, there.code, evidence | {"date": time.strftime("%F")})
            good &= worst <= AGREE
    return good


def _twice(there, result):
    """Whether the code here has a row for the point of a result as well."""
    ours = there.results.get((result.key, there.code))
    return ours is not None and ours.row is not None


def _spread(results, rows):
    """So many of the results, from those that took least time."""
    order = sorted(results, key=lambda result: (result.seconds or 0.0, result.key))
    half = order[: max(rows, (len(order) + 1) // 2)]
    return [half[i * len(half) // rows] for i in range(rows)] if len(half) > rows else half


def _again(sweep, code, result):
    """Difference between a row and the same computed by the code here."""
    found = compute(Task(sweep.function.name, code, result.key, result.parameters))
    return difference(result.row, found.row) if found.row else math.inf


def _words(sweep, there):
    rows, failures = there.rows, there.failures
    missing = {point.key for point in sweep.points} - rows.keys() - failures.keys()
    stale = {result.key for result in there.stale} & missing
    parts = [f"{len(rows)} done"]
    parts += [f"{len(failures)} failed"] if failures else []
    parts += [f"{len(missing)} missing"] if missing else []
    parts += [f"{len(stale)} of them there by other code"] if stale else []
    if sweep.store.exists():
        with Store(sweep.store, sweep.function.name) as store:
            parts += [f"{count} in hand"] if (count := store.in_hand()) else []
    return ", ".join(parts)


def duration(seconds):
    """A time in words."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _short(parameters):
    return ", ".join(f"{name} = {value}" for name, value in parameters.items())
