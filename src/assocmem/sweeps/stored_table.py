"""Stored tables: results too long for a page, each beside its sweep file and its record.

A table is three files in ``data/SECTION``: ``NAME.yml`` says which point function at which points,
``NAME.csv`` holds one row a point, and ``NAME.json``, the record, says where each row comes from. Nobody
reads one without the others.
"""

import contextlib
import csv
import hashlib
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from assocmem.checks import require
from assocmem.files import held, write_whole
from assocmem.sweeps.fingerprints import DIGITS, fingerprint_of_sweep, recipe
from assocmem.sweeps.project import project_root

if TYPE_CHECKING:
    from pandas import DataFrame

SECONDS = "seconds"
"""The last column but one of every table: the time that a row took."""

ORIGIN = "origin"
"""The last column of every table: the place of a row's origin in the list of the record."""

LOOKS = 3
"""How often a table and its record are looked at: another process may put new ones in place meanwhile, and
does not do so twice in the time that two looks take."""


def read_table(section: str, name: str, *more: str) -> "DataFrame":
    """A stored table, one row a point.

    Parameters
    ----------
    section, name : str
    *more : str
        Tables of the same section that are added to it where they are there, for instance those of the
        paper's sizes, which take a GPU. Columns that not all of them have are left out: a later version of
        the code may tell more about how it came to a result.

    Returns
    -------
    DataFrame
        Columns of numbers, all of them floats, or of words where there are some; an empty entry is nan.

    Raises
    ------
    ValueError
        If a file of the table is missing; if its rows are not those that the record describes; or if they
        are stale: the sweep file or the point function has changed since. The message says what to do.
    """
    import pandas as pd

    folder = project_root() / "data" / section
    there = [other for other in more if (folder / f"{other}.csv").exists()]
    parts = [_frame(folder / f"{other}.csv") for other in (name, *there)]
    return pd.concat(parts, ignore_index=True, join="inner").drop(columns=ORIGIN)


def described(path: Path, *, current: bool = True) -> tuple[list[str], list[list[str]], dict]:
    """A table as it stands there, with its record.

    Parameters
    ----------
    path : Path
        The ``.csv``.
    current : bool
        Refuse stale rows, of another sweep or another point function. Whether what the function rests on has
        changed is for a test to say, so that one can read a table while one works on the code below it.

    Returns
    -------
    head : list of str
        Names of the columns.
    rows : list of list of str
        Entries as they stand there.
    record : dict
        As `write_table` has written it.

    Raises
    ------
    ValueError
        As in `read_table`.
    """
    sweep, record = path.with_suffix(".yml"), path.with_suffix(".json")
    complete = path.exists() and sweep.exists() and record.exists()
    require(complete, "name", path.stem, f"a table with a sweep file and a record in data/{path.parent.name}")
    try:
        text, known = _together(path, record)
        head, *rows = csv.reader(io.StringIO(text)) if text else [[]]
        same = (known["sha256"], known["columns"], known["rows"]) == (_digest(text), head, len(rows))
        used = {int(row[head.index(ORIGIN)]) for row in rows} if same else set()
        explained = used <= set(range(len(known["origins"])))
    except (ValueError, KeyError, TypeError):
        same = explained = False
    require(same, "name", path.stem, "a table that its record describes, and not one changed by hand")
    require(explained, "name", path.stem, "a table whose rows each say where they come from")
    if current:
        again = f"run and export data/{path.parent.name}/{sweep.name} again (python -m assocmem sweep)"
        fresh = known["definition"] == fingerprint_of_sweep(sweep)
        require(fresh, "name", path.stem, f"the table of its sweep file, which has changed since: {again}")
        fresh = known["recipe"] == recipe(known["point"])
        require(fresh, "name", path.stem, f"made by {known['point']} as it is now, not as it was: {again}")
    return head, rows, known


def write_table(path: Path, columns: list[str], rows: list[dict], record: dict) -> None:
    """Write a table and its record, so that a process that is killed leaves the old ones or the new ones.

    The new table waits beside the old one until its record is there. Whoever reads them in between finds by
    the digest which of the two the record means.

    Parameters
    ----------
    path : Path
        The ``.csv``.
    columns : list of str
        In their order.
    rows : list of dict
        Entries by column; None, or a missing one, is left empty, and what is in no column is left out.
    record : dict
        What the record says besides the columns, the number of rows and the digest of the table.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    shape = {"columns": columns, "rows": len(rows), "sha256": _digest(text.getvalue())}
    path.parent.mkdir(parents=True, exist_ok=True)
    with held(path.parent):
        write_whole(_waiting(path), text.getvalue())
        write_whole(path.with_suffix(".json"), json.dumps(record | shape, indent=1) + "\n")
        _waiting(path).replace(path)


def _waiting(path):
    """Where a new table is until its record is there."""
    return path.with_name(f".{path.name}.next")


def _together(path, record):
    """The text of a table and its record as they belong together, or else as they stand there."""
    for _ in range(LOOKS):
        known = json.loads(record.read_text(encoding="utf-8"))
        for place in (path, _waiting(path)):
            with contextlib.suppress(FileNotFoundError):  # it may be put in place at this moment
                text = place.read_text(encoding="utf-8")
                if _digest(text) == known["sha256"]:
                    return text, known
    return path.read_text(encoding="utf-8"), known


def entry(text: str) -> int | float | str | None:
    """What stands in a table: an integer, a number, None where it is empty or nan, or a word."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return None if math.isnan(value) else value
    return text or None


def _frame(path):
    """Rows of a table that is found in order."""
    import pandas as pd

    head, rows, _ = described(path)
    entries = [[text or math.nan for text in row] for row in rows]
    return pd.DataFrame(entries, columns=head, dtype=object).apply(_numbers)


def _numbers(column):
    """A column as floats, to the last bit those that `float` makes of its entries, or as the words it has."""
    try:
        return column.astype(float)
    except ValueError:
        return column


def _digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
