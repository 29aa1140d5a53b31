"""The page that says what this copy of the book was made with: sections, checks, packages, stored tables."""

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from assocmem.book.claims import VERDICTS, Check, badge
from assocmem.book.markdown import list_table, section_link
from assocmem.book.run_record import machine_in_words, time_in_words
from assocmem.book.tables_page import stored
from assocmem.progress import duration
from assocmem.sweeps.stored_table import SECONDS

FAULTS = "tests/hostile/report.csv"
"""The table that ``make faults`` writes."""

TRIED = """\
Each line stands for so many seeded trials of `make faults`.
They are arguments and files that make no sense, and commands that are killed, find no room to write, work
by a clock that was set back, or work two at a time.
A trial fails where something is lost, half-written, or not told in one line, or where the next run leaves
anything else than an undisturbed one.
"""
"""Said above that table."""

HEAD = """\
# Status

What was this copy of the book made with, and what has been tried on it?
The page is made at each build, from the records beside the executed sections and the stored tables.
"""
"""What the page begins with."""

TAIL = """\
The verdicts themselves are in the {doc}`ledger <ledger>`.
For programs they are in <a href="../claims.json">claims.json</a>.
Whoever compares two copies finds all records below, folded.
"""
"""What stands between the summary and the records."""


def status_page(
    root: Path,
    titles: Mapping[str, str],
    checks: Mapping[str, Sequence[Check]],
    records: Mapping[str, dict | None],
) -> str:
    """The page, from what the build has found.

    Parameters
    ----------
    root : Path
        Of the project.
    titles : mapping
        Titles of the sections by name.
    checks : mapping
        Lists of `Check` by section.
    records : mapping
        Of the runs by section; None where there is no record.

    Returns
    -------
    str
        MyST Markdown.
    """
    tables = [(link, path) for link, paths in stored(root, titles).items() for path in paths]
    parts = [HEAD, _summary(checks, records, tables, _tried(root)), TAIL]
    parts += ["## Sections\n", _sections(titles, checks, records)]
    versions = _versions(records)
    if versions:
        parts += ["## Packages\n", "The sections ran with these versions.\n", _folded("Packages", versions)]
    if tables:
        text = "They are computed beforehand, by {doc}`sweeps <sweeps>`; {doc}`tables` has the details.\n"
        parts += ["## Stored tables\n", text, _folded(f"All {len(tables)} tables", _tables(tables))]
    parts += ["## Bad input and interruptions\n", faults(root)]
    return "\n".join(parts)


def _folded(title, text):
    return f"::::{{dropdown}} {title}\n{text}::::\n"


def _summary(checks, records, tables, tried):
    """A few lines with the numbers that most want to know."""
    everything = [c for own in checks.values() for c in own]
    known = [record["seconds"] for record in records.values() if record]
    rows = [
        ("What there is", "How much"),
        ("Sections", len(checks)),
        ("Checks", _verdicts(everything)),
    ]
    if known and len(known) == len(records):
        machines = dict.fromkeys(machine_in_words(record) for record in records.values())
        rows.append(("Time to execute all sections", f"{duration(sum(known))}, in {', '.join(machines)}"))
    if tables:
        count, seconds = 0, 0.0
        for _, path in tables:
            own, cost = _size(path)
            count, seconds = count + own, seconds + cost
        rows.append(
            ("Stored tables", f"{len(tables)}, with {count} rows that took {duration(round(seconds))}")
        )
    if tried:
        failures = sum(row[2] for row in tried)
        words = (
            f"{sum(row[1] for row in tried)} trials, {failures or 'no'} failure{'' if failures == 1 else 's'}"
        )
        rows.append(("Bad input and interruptions", words))
    return list_table(rows, "status-table")


def _size(path):
    """Rows of a stored table, and the seconds that they took as far as that is known."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return len(rows), sum(float(row[SECONDS]) for row in rows if row[SECONDS])


def faults(root: Path) -> str:
    """What was tried to break this copy, from the table that the trials have written, and nothing else.

    Parameters
    ----------
    root : Path
        Of the project.

    Returns
    -------
    str
        MyST Markdown.
    """
    tried = _tried(root)
    if tried is None:
        return f"Nothing is noted in `{FAULTS}` yet: `make faults` does that.\n"
    total = "All", sum(row[1] for row in tried), sum(row[2] for row in tried), ""
    head = "Tried", "Trials", "Failures", "Day"
    table = list_table([head, *tried, total], "status-table")
    return f"{TRIED}\n{_folded(f'All {len(tried)} kinds of trials', table)}"


def _tried(root):
    """What was tried, how often, with how many failures and when; None where nothing is noted."""
    path = root / FAULTS
    if not path.exists():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        return [
            (row["what"], int(row["trials"]), int(row["failures"]), row["date"])
            for row in csv.DictReader(file)
        ]


def _sections(titles, checks, records):
    rows = [("Section", "Time", "In", "Day", "Checks")]
    for name in titles:
        record = records[name]
        rows.append((section_link(name, titles), *_run(record), _verdicts(checks[name])))
    known = [record["seconds"] for record in records.values() if record]
    everything = [c for own in checks.values() for c in own]
    total = duration(sum(known)) if len(known) == len(records) else ""
    return list_table([*rows, ("All", total, "", "", _verdicts(everything))], "status-table")


def _run(record):
    if not record:
        return "", "no record of its run", ""
    return time_in_words(record), machine_in_words(record), record["date"]


def _verdicts(checks):
    counts = Counter(c.verdict for c in checks)
    listed = ", ".join(f"{counts[verdict]} {badge(verdict)}" for verdict in VERDICTS if counts[verdict])
    return f"{len(checks)}: {listed}" if listed else "none"


def _versions(records):
    """One row for each package, with all versions that occur."""
    found = {}
    for record in filter(None, records.values()):
        own = {"Python": record["python"], "assocmem": record["package"]} | record["versions"]
        for package, version in own.items():
            found.setdefault(package, []).append(version)
        found.setdefault("commit", []).append(record["commit"] or "unknown")
    if not found:
        return ""
    rows = [(package, ", ".join(dict.fromkeys(versions))) for package, versions in found.items()]
    return list_table([("Package", "Version"), *rows], "status-table")


def _tables(tables):
    rows = [("Read by", "Table", "Rows", "Time", "Days", "On")]
    for link, path in tables:
        record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        days = sorted({origin["date"] for origin in record["origins"]})
        machines = dict.fromkeys(
            origin["device"] if origin["device"] != "cpu" else origin["machine"]
            for origin in record["origins"]
        )
        _, seconds = _size(path)
        rows.append(
            (
                link,
                f"`{path.stem}`",
                record["rows"],
                duration(round(seconds)) if seconds else "",
                " to ".join(dict.fromkeys((days[0], days[-1]))),
                ", ".join(machines),
            )
        )
    return list_table(rows, "status-table")
