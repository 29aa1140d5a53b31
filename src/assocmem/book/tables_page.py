"""The page that lists all stored tables with their provenance."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from assocmem.book.markdown import section_link, table_anchor, table_of_facts
from assocmem.progress import duration
from assocmem.sweeps.stored_table import SECONDS, described

HEAD = """\
# Stored tables

What would take too long for a page is computed beforehand, by {doc}`sweeps <sweeps>`, and stored.
Each table in `data/SECTION` is a `.csv` beside the sweep file that asks for its rows and the record of where
each of them comes from.
A section reads a table only if the three agree, and a test computes some rows of each again.
This page is made from the records.
"""
"""What the page begins with."""

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
    parts = [HEAD]
    for heading, tables in stored(root, titles).items():
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


def _entry(path):
    head, rows, record = described(path)
    seconds = [float(row[head.index(SECONDS)]) for row in rows if row[head.index(SECONDS)]]
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
    anchor = table_anchor(f"{path.parent.name}/{path.stem}")
    return f"({anchor})=\n### `{path.stem}`\n\n{_title(path)}.\n\n{table_of_facts(facts)}"


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
