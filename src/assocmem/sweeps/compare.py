"""Results of other machines and of other versions of the code: merged, or confirmed by computing again."""

import glob
import math
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from assocmem.checks import UsageError
from assocmem.files import whole_file
from assocmem.progress import duration
from assocmem.sweeps.export import known, table_results
from assocmem.sweeps.run import failure_line, into, state_file
from assocmem.sweeps.store import Result, Store
from assocmem.sweeps.sweep_file import Sweep
from assocmem.sweeps.tasks import Task
from assocmem.sweeps.workers import Engine, EngineLost, in_process

AGREE = 1e-3
"""Relative difference up to which a number that is computed again counts as the same: the loosest duality gap
to which a point function solves (`tail_memory`), within which another version may end somewhere else."""

EFFORT = "passes", "steps", "fits", "gap", "margin"
"""Columns about the way to a result and not the result, which may differ from one version of the code to the
next."""

SMALLEST = 1e-12
"""Differences of smaller numbers are relative to this: what the tables hold is rounded, or of order one."""


def merge(sweep: Sweep, *sources: str | PathLike[str]) -> "Merged":
    """Take over results from other stores, and the state of points that they have begun.

    Parameters
    ----------
    sweep : Sweep
    *sources : path
        Stores, or folders with stores of the sweep's name somewhere below.

    Returns
    -------
    Merged

    Raises
    ------
    UsageError
        If a folder has no such store, or a store cannot be used.
    """
    paths, name = [], into(sweep, "")
    for source in map(Path, sources):
        below = [source]
        if source.is_dir():
            below = sorted(source.rglob(str(name))) or sorted(source.rglob(name.name))
        if not below:
            raise UsageError(f"{source}: no {name.name} below")
        paths += below
    results = []
    for path in paths:
        with Store(path, sweep.function.name, create=False) as other:
            results += other.results()
    wanted = {point.key for point in sweep.points}
    ours = [result for result in results if result.key in wanted]
    with Store(sweep.store, sweep.function.name) as store:
        store.tidy()
        added, both = store.absorb(ours)
    for path in paths:
        for file in path.parent.glob(f"{glob.escape(path.name)}.state-*"):
            with whole_file(Path(f"{sweep.store}{file.name.removeprefix(path.name)}")) as partial:
                shutil.copyfile(file, partial)
    for result in ours:
        state_file(sweep.store, result.key, result.code).unlink(missing_ok=True)
    rows, _ = table_results(sweep)
    table = {(r.key, r.code): r for r in rows}
    both += [(table[r.key, r.code], r) for r in ours if r.row is not None and (r.key, r.code) in table]
    worst = max((difference(a.row, b.row) for a, b in both), default=0.0)
    return Merged(added, len({b.key for _, b in both}), worst, len(results) - len(ours))


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


@dataclass(frozen=True)
class OlderRows:
    """Rows of one older version of the code of one sweep, and those of them that are compared.

    Attributes
    ----------
    sweep : Sweep
    old, new : str
        The version that made the rows, and the one that is here.
    count : int
        How many rows that version made.
    chosen : list of Result
        Those that are compared.
    found : dict of str to Result
        What the code here gives for them, by key, as far as it is known.
    """

    sweep: Sweep
    old: str
    new: str
    count: int
    chosen: list[Result]
    found: dict[str, Result]

    @property
    def tasks(self) -> list[Task]:
        """What has to be computed before the two versions can be compared."""
        name = self.sweep.function.name
        return [Task(name, self.new, r.key, r.parameters) for r in self.chosen if r.key not in self.found]

    @property
    def difference(self) -> float:
        """Largest relative difference of the compared rows; infinite where one failed."""
        here = {key: result.row for key, result in self.found.items()}
        return max(math.inf if here[r.key] is None else difference(r.row, here[r.key]) for r in self.chosen)

    @property
    def evidence(self) -> dict:
        """What is remembered of the comparison; its seconds are those of the costliest row."""
        costs = [r.seconds or self.found[r.key].seconds or 0.0 for r in self.chosen]
        return {
            "rows": len(self.chosen),
            "of": self.count,
            "difference": self.difference,
            "seconds": max(costs),
            "date": time.strftime("%F"),
        }


def confirm(
    sweeps: Sequence[Sweep],
    engine: Engine = in_process,
    *,
    rows: int = 5,
    say: Callable[[str], object] = print,
) -> bool:
    """Compute a few rows of older versions of the code again; where they come out, let all of them count.

    Where enough points have been computed by both versions, those rows are compared. Otherwise the compared
    rows are evenly spaced by the time they took, from the cheapest to the costliest, both included. What is
    computed again for that is not stored: the older rows stay as they are.

    Parameters
    ----------
    sweeps : sequence of Sweep
    engine : callable
        As for `run`; it has the rows of all sweeps at hand, those of unknown cost and the costliest first.
    rows : int
        How many of each version.
    say : callable
        Takes each line of the report.

    Returns
    -------
    bool
        Whether all versions that were tried count now.
    """
    waiting = []
    for sweep in sweeps:
        older = older_rows(sweep, rows)
        waiting += older
        if not older:
            say(f"{_place(sweep)}: no rows of another version of the code")
    supply = _Tasks(waiting)
    if supply.costs:
        say(supply.in_words())
    good = all([_judge(older, say) for older in waiting if not older.tasks])
    waiting = [older for older in waiting if older.tasks]
    try:
        for result in engine(supply):
            if result is None:
                continue
            for older in waiting:
                if (result.key, result.code) in {(task.key, task.code) for task in older.tasks}:
                    older.found[result.key] = result
                    if not older.tasks:
                        good &= _judge(older, say)
    except EngineLost as error:
        say(f"{error}: confirm again to go on")
        return False
    return good


def older_rows(sweep: Sweep, rows: int) -> list[OlderRows]:
    """The older versions of the code whose rows do not count yet, and which of their rows to compare.

    Parameters
    ----------
    sweep : Sweep
    rows : int
        How many of each version.

    Returns
    -------
    list of OlderRows
        Nothing has been computed again.
    """
    there, found = known(sweep), []
    for old in sorted({result.code for result in there.stale}):
        made = [result for result in there.stale if result.code == old]
        ours = {r.key: there.results.get((r.key, there.code)) for r in made}
        ours = {key: result for key, result in ours.items() if result and result.row is not None}
        both = [result for result in made if result.key in ours]
        chosen = both if len(both) >= min(rows, len(made)) else spread(made, rows)
        here = {result.key: ours[result.key] for result in chosen if result.key in ours}
        found.append(OlderRows(sweep, old, there.code, len(made), chosen, here))
    return found


def spread(results: Sequence[Result], rows: int) -> list[Result]:
    """Some of the results, evenly spaced by the time they took.

    Parameters
    ----------
    results : sequence of Result
        Those whose time is unknown count as the cheapest.
    rows : int
        How many; with two or more, the cheapest and the costliest are among them, and with one the costliest.

    Returns
    -------
    list of Result
        From the cheapest to the costliest.
    """
    order = sorted(results, key=lambda result: (result.seconds or 0.0, result.key))
    if len(order) <= rows:
        return order
    last = len(order) - 1
    return [order[i * last // (rows - 1)] for i in range(rows)] if rows > 1 else order[-1:]


class _Tasks:
    """Hands out what has to be computed, each point once: those of unknown cost, then the costliest first."""

    deadline = math.inf
    """An engine may go on until all is computed."""

    def __init__(self, waiting: Sequence[OlderRows]):
        cost = {r.key: r.seconds or math.inf for older in waiting for r in older.chosen}
        tasks = {(task.key, task.code): task for older in waiting for task in older.tasks}
        order = sorted(tasks.values(), key=lambda task: -cost[task.key])
        self.costs = [cost[task.key] for task in order]
        self._left = iter(order)

    def __call__(self) -> Task | None:
        return next(self._left, None)

    def in_words(self) -> str:
        """How many rows there are to compute, and how long that took before."""
        timed = [cost for cost in self.costs if cost < math.inf]
        unknown = len(self.costs) - len(timed)
        text = f"{len(self.costs)} rows to compute again, which took {duration(sum(timed))}"
        return text + (f" besides {unknown} that were not timed" if unknown else "")


def _judge(older: OlderRows, say: Callable[[str], object]) -> bool:
    """Say whether compared rows agree, and remember it where they do."""
    for result in older.found.values():
        if result.failure:
            say(failure_line(result))
    evidence = older.evidence
    good = evidence["difference"] <= AGREE
    tried = f"{evidence['rows']} of {evidence['of']} rows compared"
    cost = f"the costliest took {duration(evidence['seconds'])}"
    verdict = "all count" if good else "they do not count"
    place = f"{_place(older.sweep)}, code {older.old}"
    say(f"{place}: {tried}, {cost}, differences up to {evidence['difference']:.1e}: {verdict}")
    if good:
        with Store(older.sweep.store, older.sweep.function.name) as store:
            store.confirm(older.old, older.new, evidence)
    return good


def difference(old: dict, new: dict) -> float:
    """Largest relative difference between the numbers of two rows, of which `EFFORT` is left out.

    Parameters
    ----------
    old, new : dict
        Numbers, words and None by column.

    Returns
    -------
    float
        Infinite where columns or words disagree.
    """
    names = (old.keys() | new.keys()) - set(EFFORT)
    return max((_apart(old.get(name), new.get(name)) for name in names), default=0.0)


def _apart(a, b):
    if a == b:
        return 0.0
    if not (isinstance(a, int | float) and isinstance(b, int | float) and math.isfinite(a - b)):
        return math.inf
    return abs(a - b) / max(abs(a), abs(b), SMALLEST)


def _place(sweep: Sweep) -> str:
    """The name of a sweep with that of its folder, since others may have the same."""
    return f"{sweep.path.parent.name}/{sweep.path.stem}"
