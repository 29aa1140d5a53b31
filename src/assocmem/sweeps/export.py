"""What is known of the points of a sweep, from its store and the table beside it; and writing that table."""

import json
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from assocmem.checks import UsageError
from assocmem.sweeps.fingerprints import fingerprint_of_sweep, recipe
from assocmem.sweeps.store import Result, Store
from assocmem.sweeps.stored_table import ORIGIN, SECONDS, described, entry, write_table
from assocmem.sweeps.sweep_file import Sweep, point_key


@dataclass(frozen=True)
class Known:
    """Everything that is known of the points of a sweep.

    Attributes
    ----------
    code : str
        The version of the code that is here.
    results : dict of (str, str) to Result
        By key and version, in the order of the sweep and only of points that it asks for.
    confirmed : dict of str to dict
        Other versions whose rows count, with the evidence.
    """

    code: str
    results: dict[tuple[str, str], Result]
    confirmed: dict[str, dict]

    @cached_property
    def rows(self) -> dict[str, Result]:
        """Rows that count, by key: where there are several, that of the code here."""
        counting = [r for r in self.results.values() if r.row is not None and self._counts(r)]
        found = {r.key: r for r in counting}
        return found | {r.key: r for r in counting if self._ours(r)}

    @cached_property
    def failures(self) -> dict[str, Result]:
        """Failures of the code here at points without a row, by key."""
        rows = self.rows
        return {r.key: r for r in self.results.values() if r.failure and self._ours(r) and r.key not in rows}

    @cached_property
    def stale(self) -> list[Result]:
        """Rows of other versions of the code that do not count."""
        return [r for r in self.results.values() if r.row is not None and not self._counts(r)]

    def _counts(self, result):
        return self._ours(result) or result.code in self.confirmed

    def _ours(self, result):
        return result.code == self.code


def known(sweep: Sweep, *stores: str | PathLike[str]) -> Known:
    """What the stores and the table beside the sweep file hold of its points.

    Parameters
    ----------
    sweep : Sweep
    *stores : path
        By default the one beside the sweep file. Those that do not exist count as empty.

    Returns
    -------
    Known
    """
    code, place = sweep.function.code, {point.key: i for i, point in enumerate(sweep.points)}
    found, confirmed = table_results(sweep)
    confirmed = confirmed.get(code, {})
    for path in map(Path, stores or (sweep.store,)):
        if path.exists():
            with Store(path, sweep.function.name, create=False) as store:
                found += store.results()
                confirmed = confirmed | store.confirmed(code)
    found = sorted((r for r in found if r.key in place), key=lambda r: (place[r.key], r.row is not None))
    return Known(code, {(r.key, r.code): r for r in found}, confirmed)


def table_results(sweep: Sweep) -> tuple[list[Result], dict[str, dict]]:
    """The rows of the table beside a sweep file, with the version of the code that made each.

    Returns
    -------
    results : list of Result
        Empty where there is no table.
    confirmed : dict
        By version of the code: the other versions whose rows counted there, with the evidence.

    Raises
    ------
    UsageError
        If the table is not what its record describes.
    """
    if not sweep.table.exists():
        return [], {}
    try:
        head, rows, record = described(sweep.table, current=False)
    except ValueError as error:
        raise UsageError(f"{sweep.table}: {error}") from None
    names = sweep.function.parameters
    origins = [{name: x for name, x in origin.items() if name != "rows"} for origin in record["origins"]]
    results = []
    for texts in rows:
        values = dict(zip(head, texts, strict=True))
        seconds, origin = entry(values.pop(SECONDS)), origins[int(values.pop(ORIGIN))]
        given = {name: text for name, text in values.items() if name in names and text}
        try:
            parameters = sweep.function.convert(record["fixed"] | given)
        except UsageError:  # a parameter has gone, or its range has changed
            continue
        row = {name: entry(text) for name, text in values.items() if name not in names}
        key = point_key(sweep.function.name, parameters)
        results.append(Result(key, origin["code"], parameters, row, None, seconds, origin))
    return results, {record["code"]: record["confirmed"]}


def export(sweep: Sweep, path: str | PathLike[str] | None = None) -> tuple[Path, int, int]:
    """Write the rows that count as a table, with its record.

    Parameters
    ----------
    sweep : Sweep
    path : path, optional
        The ``.csv``, beside the sweep file by default.

    Returns
    -------
    path : Path
        The ``.csv``.
    rows, missing : int
        How many rows it has, and how many points have none.

    Raises
    ------
    UsageError
        If there is nothing to write, or if the table that is there has rows that would be lost.
    """
    path, there = Path(path or sweep.table).absolute(), known(sweep)
    rows = there.rows
    if not rows:
        raise UsageError(f"{sweep.path}: no rows to export, run it first")
    _require_no_loss(sweep, path, there)
    results = [rows[point.key] for point in sweep.points if point.key in rows]
    parameters = [name for name in sweep.function.parameters if name not in sweep.fixed]
    parameters = [name for name in parameters if any(name in r.parameters for r in results)]
    outputs = list(dict.fromkeys(name for r in results for name in r.row))
    results.sort(key=lambda r: [_order(r.parameters.get(name)) for name in parameters])
    origins = list({str(r.origin): r.origin for r in results}.values())
    place = {str(origin): i for i, origin in enumerate(origins)}
    lines = [r.parameters | r.row | {SECONDS: r.seconds, ORIGIN: place[str(r.origin)]} for r in results]
    columns = [*parameters, *outputs, SECONDS, ORIGIN]
    used = {r.code for r in results}
    record = {
        "sweep": sweep.path.name,
        "definition": fingerprint_of_sweep(sweep.path),
        "point": sweep.function.name,
        "recipe": recipe(sweep.function.name),
        "code": there.code,
        "fixed": sweep.fixed,
        "missing": len(sweep.points) - len(results),
        "confirmed": {old: evidence for old, evidence in there.confirmed.items() if old in used},
        "origins": [o | {"rows": sum(line[ORIGIN] == i for line in lines)} for i, o in enumerate(origins)],
    }
    try:
        write_table(path, columns, lines, record)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    return path, len(results), record["missing"]


def _require_no_loss(sweep, path, there):
    """Refuse to write over a table that has more than would be written, or is that of another sweep."""
    for file in (path, path.with_suffix(".json")):
        if file.is_dir():
            raise UsageError(f"{file}: cannot be written (it is a folder)")
    if not path.exists():
        return
    if path.resolve() != sweep.table.resolve():
        record = path.with_suffix(".json")
        made_by = json.loads(record.read_text(encoding="utf-8")).get("sweep") if record.exists() else None
        if made_by != sweep.path.name:
            raise UsageError(f"{path}: there already, and not made by {sweep.path.name}")
        return
    stale = {result.key for result in there.stale} - there.rows.keys()
    before = {result.key for result in table_results(sweep)[0]}
    if stale & before:
        some = f"{len(stale & before)} rows of another version of the code would be lost"
        raise UsageError(f"{path}: {some}: run the sweep, or `sweep confirm` it")
    if before - {point.key for point in sweep.points}:
        more = f"has rows that {sweep.path.name} no longer asks for"
        raise UsageError(f"{path}: {more}: remove it to make it anew without them")


def _order(value):
    """Numbers by size, before words."""
    number = isinstance(value, int | float)
    return (0, value, "") if number else (1, 0, str(value))
