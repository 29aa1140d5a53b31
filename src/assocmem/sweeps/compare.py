"""Results of other machines and of other versions of the code: merged, or confirmed by computing again."""

import glob
import math
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from assocmem.checks import UsageError
from assocmem.sweeps.export import difference, known, table_results
from assocmem.sweeps.run import _failed, _state, into
from assocmem.sweeps.store import Store
from assocmem.sweeps.workers import Task, compute

AGREE = 1e-3  # relative difference up to which a number that is computed again counts as the same


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
        added, both = store.absorb(ours)
    for path in paths:
        for file in path.parent.glob(f"{glob.escape(path.name)}.state-*"):
            shutil.copyfile(file, f"{sweep.store}{file.name.removeprefix(path.name)}")
    for result in ours:
        _state(sweep.store, result.key, result.code).unlink(missing_ok=True)
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
    if not there.stale:
        say(f"{sweep.path.stem}: no rows of another version of the code")
    with Store(sweep.store, sweep.function.name) as store:
        for old in sorted({result.code for result in there.stale}):
            mine = [result for result in there.stale if result.code == old]
            both = [difference(r.row, there.results[r.key, there.code].row) for r in mine if _twice(there, r)]
            if len(both) < min(rows, len(mine)):
                both = [_again(sweep, there.code, result, say) for result in _spread(mine, rows)]
            worst = max(both)
            verdict = "all count" if worst <= AGREE else "they do not count"
            tried = f"{len(both)} of {len(mine)} rows compared"
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


def _again(sweep, code, result, say):
    """Difference between a row and the same computed by the code here."""
    found = compute(Task(sweep.function.name, code, result.key, result.parameters))
    if found.failure:
        say(_failed(found))
        return math.inf
    return difference(result.row, found.row)
