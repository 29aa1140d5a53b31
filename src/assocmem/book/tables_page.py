"""The page that lists all stored tables with their provenance."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from assocmem.book.markdown import list_table, section_link, table_anchor, table_of_facts
from assocmem.progress import duration
from assocmem.sweeps.stored_table import SECONDS, described

HEAD = """\
# Stored tables

What would take too long for a page is computed beforehand, by {doc}`sweeps <sweeps>`, and stored.
Here is all of it, with the time that its rows took.
"""
"""What the page begins with."""

TAIL = """\
Each table is a `.csv` in `data/SECTION`.
Beside it are the sweep file that asks for its rows and the record of where each of them comes from.
A section reads a table only if the three agree, and a test computes some rows of each again.
Below, each table has its record, folded.
It names the function that computed the rows, the machine, the versions and the days.
"""
"""What stands between the list of all tables and their records."""

EXPLORERS = ("explorer", "{doc}`Explorers <explore_capacity>`")
"""The folder of tables that belongs to no section, and the pages that read it."""


def tables_page(root: Path, titles: Mapping[str, str]) -> str:
    """The page, from the records below ``data``.

    Parameters
    ----------
    root : Path
        Of the project.
    titles : mapping
        Titles of the sections by name.

    Returns
    -------
    str
        MyST Markdown.

    Raises
    ------
    ValueError
        If a table is not what its record describes, or stale.
    """
    groups = stored(root, titles)
    parts = [HEAD]
    if groups:
        parts.append(_overview(groups))
    parts.append(TAIL)
    for heading, tables in groups.items():
        parts += [f"## {heading}\n", *map(_entry, tables)]
    waiting = sorted(p for p in (root / "data").glob("*/*.yml") if not p.with_suffix(".csv").exists())
    if waiting:
        parts.append("## Not computed yet\n")
        parts += [f"- `{path.parent.name}/{path.stem}`: {_title(path)}." for path in waiting]
    return "\n".join(parts) + "\n"


def stored(root: Path, titles: Mapping[str, str]) -> dict[str, list[Path]]:
    """Stored tables by the pages that read them.

    Parameters
    ----------
    root, titles
        As for `tables_page`.

    Returns
    -------
    dict
        Lists of tables (their ``.csv``) by a link in MyST Markdown.
    """
    pages = dict([*((name, section_link(name, titles)) for name in titles), EXPLORERS])
    found = {link: sorted((root / "data" / name).glob("*.csv")) for name, link in pages.items()}
    return {link: tables for link, tables in found.items() if tables}


def _overview(groups):
    """One line for each table: what it holds, for which page, how large it is and what it took."""
    rows = [("Table", "What it holds", "Rows", "Time")]
    for tables in groups.values():
        for path in tables:
            head, own, _ = described(path)
            seconds = _seconds(head, own)
            time = duration(round(sum(seconds))) if seconds else ""
            link = f"[`{path.stem}`](#{table_anchor(_name(path))})"
            rows.append((link, f"{_title(path)}.", len(own), time))
    return list_table(rows, "tables-overview")


def _name(path):
    return f"{path.parent.name}/{path.stem}"


def _seconds(head, rows):
    """Times of the rows that have one."""
    return [float(row[head.index(SECONDS)]) for row in rows if row[head.index(SECONDS)]]


def _entry(path):
    head, rows, record = described(path)
    seconds = _seconds(head, rows)
    timed = "" if len(seconds) == len(rows) else f" for {len(seconds)} of them"
    time = f"; {duration(sum(seconds))} of computation{timed}" if seconds else ""
    missing = f"; {record['missing']} more are asked for" if record["missing"] else ""
    facts = {
        "Rows": f"{len(rows)}{time}{missing}",
        "Point function": f"`{record['point']}`" + _settings(record["fixed"]),
        "Machine": _all(
            record, lambda o: o["machine"] + ("" if o["device"] == "cpu" else f", {o['device']}")
        ),
        "Commits": _all(record, lambda o: o["commit"] or "unknown"),
        "Days": _all(record, lambda o: o["date"]),
        "Versions": _all(record, lambda o: ", ".join(f"{n} {v}" for n, v in o["versions"].items())),
    }
    if record["confirmed"]:
        facts["Confirmed"] = _confirmed(record)
    short = f"{len(rows)} rows" + (f", {duration(round(sum(seconds)))}" if seconds else "")
    record_of = f"::::{{dropdown}} Its record: {short}\n{table_of_facts(facts)}::::\n"
    return f"({table_anchor(_name(path))})=\n### `{path.stem}`\n\n{_title(path)}.\n\n{record_of}"


def _title(path):
    content = yaml.safe_load(path.with_suffix(".yml").read_text(encoding="utf-8"))
    return content.get("title", path.stem)


def _settings(fixed):
    words = [f"{n} = {x:g}" if isinstance(x, float) else f"{n} = {x}" for n, x in fixed.items()]
    return f" with {', '.join(words)}" if words else ""


def _all(record, reading):
    """A fact of all origins, each value once, with the number of its rows where there are several."""
    counts = {}
    for origin in record["origins"]:
        counts[reading(origin)] = counts.get(reading(origin), 0) + origin["rows"]
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{value} ({rows} rows)" for value, rows in counts.items())


def _confirmed(record):
    found = record["confirmed"].values()
    rows, most = sum(e["rows"] for e in found), max(e["difference"] for e in found)
    apart = f"differences up to {most:.1e}" if most else "no difference"
    costs = [evidence["seconds"] for evidence in found if "seconds" in evidence]  # not in older records
    costliest = f"; the costliest took {duration(max(costs))}" if costs else ""
    return f"{rows} rows of older code against the same computed later: {apart}{costliest}"
