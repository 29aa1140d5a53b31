"""Stored tables: results too long for a page, each beside the record of what made it.

A table is a CSV file ``data/SECTION/NAME.csv``, its record ``NAME.json``. Nobody reads the one without the
other.
"""

import argparse
import csv
import json
import math
import platform
import subprocess
import time
from datetime import date
from importlib.metadata import version

import numpy as np

from assocmem import __version__
from assocmem.limits import cores, require
from assocmem.sections import project_root

WRITE_SECONDS = 30


def read_table(section, name):
    """A stored table, by columns.

    Parameters
    ----------
    section, name : str

    Returns
    -------
    dict of str to ndarray
        Numbers; an empty entry is nan.

    Raises
    ------
    ValueError
        If the table or its record is missing, or the record is of other columns or another number of rows.
    """
    head, rows = _described_rows(section, name)
    values = np.array([[float(x) if x else np.nan for x in row] for row in rows])
    return dict(zip(head, values.T, strict=True))


def write_table(section, name, rows, made_by):
    """Write a table and its record, each in one step.

    Parameters
    ----------
    section, name : str
    rows : list of dict
        Entries of one row by column.
    made_by : str
        The command that makes the table. Where it has made the rows that are there, the record keeps the
        commits of those.
    """
    path, columns = _path(section, name), list(rows[0])
    record = {"made_by": made_by, "columns": columns, "rows": len(rows), **provenance()}
    record["earlier_commits"] = _earlier_commits(path.with_suffix(".json"), record)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    with open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)
    partial = path.with_name(f".{path.stem}.json.part")
    partial.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    partial.replace(path.with_suffix(".json"))


def fill_table(section, name, keys, compute, made_by, *, most=math.inf):
    """Compute the rows of a table that it does not hold yet; they are written twice a minute and at the end.

    Parameters
    ----------
    section, name : str
    keys : list of dict
        The first columns of each row, whole numbers, which tell it from all others. Rows under other keys
        stay in the table.
    compute : callable
        Takes a key's entries as keywords and returns the other columns of its row.
    made_by : str
        The command that makes the table.
    most : float
        Seconds after which no further row is begun.

    Returns
    -------
    int
        Rows still missing.
    """
    if not keys:
        return 0
    rows, written, started = _known_rows(section, name, list(keys[0])), time.monotonic(), time.monotonic()
    missing = [key for key in keys if tuple(key.values()) not in rows]
    left, store = len(missing), lambda: write_table(section, name, [rows[k] for k in sorted(rows)], made_by)
    unwritten = 0
    try:
        for key in missing:
            if time.monotonic() - started > most:
                break
            rows[tuple(key.values())] = {**key, **compute(**key)}
            left, unwritten = left - 1, unwritten + 1
            if time.monotonic() - written > WRITE_SECONDS:
                store()
                written, unwritten = time.monotonic(), 0
                print(f"{section}/{name}: {len(rows)} rows, {left} missing", flush=True)
    finally:  # also after an interrupt
        if unwritten:
            store()
    return left


def fill_command(section, name, keys, compute, paper=None):
    """What the script ``data/SECTION/NAME.py`` does: `fill_table`, with ``--most SECONDS`` as an option.

    Parameters
    ----------
    section, name, keys, compute
        As in `fill_table`.
    paper : list of dict, optional
        Keys of the paper's sizes, which the option ``--paper`` computes instead.
    """
    parser = argparse.ArgumentParser(description=f"Computes the rows that data/{section}/{name}.csv lacks.")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds after which to stop")
    if paper:
        parser.add_argument("--paper", action="store_true", help="the paper's sizes instead, for a GPU")
    asked = parser.parse_args()
    made_by = f"python data/{section}/{name}.py"
    chosen = paper if paper and asked.paper else keys
    fill_table(section, name, chosen, compute, made_by, most=asked.most)


def tally(n, d, feasible):
    """Outcomes of many instances, counted.

    Parameters
    ----------
    n, d, feasible : array, shape (rows,)
        ``feasible`` is 1, 0, or nan where nothing was proved.

    Returns
    -------
    dict of int to (ndarray, ndarray, ndarray)
        For each n: dimensions, how many instances were feasible, and how many were decided.
    """
    counts = {}
    for size in np.unique(n):
        dimensions = np.unique(d[n == size]).astype(int)
        found = [feasible[(n == size) & (d == dimension)] for dimension in dimensions]
        yes = np.array([int(np.nansum(f)) for f in found])
        counts[int(size)] = dimensions, yes, np.array([int(np.isfinite(f).sum()) for f in found])
    return counts


def provenance():
    """Version, commit, machine and day of a result."""
    return {
        "package": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "scipy", "torch")},
        "machine": f"{platform.machine()}, {cores()} cores",
        "date": date.today().isoformat(),
    }


def _earlier_commits(path, record):
    """Commits at which the same command has written the same table before."""
    if not path.exists():
        return []
    known = json.loads(path.read_text(encoding="utf-8"))
    if known["made_by"] != record["made_by"]:
        return []
    commits = {*known.get("earlier_commits", []), known["commit"]} - {record["commit"], None}
    return sorted(commits)


def _described_rows(section, name):
    """Heads and rows of a table as they stand there; refuses one that is not what its record says."""
    path = _path(section, name)
    record = path.with_suffix(".json")
    require(path.exists() and record.exists(), "name", name, f"a table with a record in data/{section}")
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    known = json.loads(record.read_text(encoding="utf-8"))
    same = known["columns"] == head and known["rows"] == len(rows)
    require(same, "name", name, "a table that its record describes")
    return head, rows


def _known_rows(section, name, names):
    """The rows that a table holds, as they stand there, by the whole numbers in the columns ``names``."""
    if not _path(section, name).exists():
        return {}
    head, rows = _described_rows(section, name)
    rows = [dict(zip(head, row, strict=True)) for row in rows]
    return {tuple(int(row[column]) for column in names): row for row in rows}


def _commit():
    """The commit of the working tree, marked where tracked files have changed since; None without git."""
    ask = ["git", "describe", "--always", "--abbrev=12", "--dirty"]
    try:
        done = subprocess.run(ask, cwd=project_root(), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def _path(section, name):
    return project_root() / "data" / section / f"{name}.csv"
