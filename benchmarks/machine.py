"""Which machine and which versions a table was measured with, and where tables are kept."""

import argparse
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import psutil
import torch

from assocmem.files import write_whole
from assocmem.machine import processor

RESULTS = Path(__file__).parent / "results"
"""Where tables are kept."""
PACKAGES = ("numpy", "scipy", "numba", "torch", "pytorch-minimize")
"""Packages whose versions a table names."""
MEASURED = ("src", "requirements.txt")
"""What makes a commit another one to measure."""


def machine() -> dict:
    """Processor, cores used, memory, versions and the day."""
    return {
        "processor": processor(),
        "cores": torch.get_num_threads(),
        "waiting_threads": os.environ.get("OMP_WAIT_POLICY", "default"),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "date": date.today().isoformat(),
    }


@cache
def commit() -> str | None:
    """The last commit that changed the package, or None where it has changes that are not committed.

    A run that goes on while others commit keeps the one with which it has begun.
    """

    def git(*words):
        command = ["git", "-C", str(Path(__file__).parent.parent), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    paths = [f":/{path}" for path in MEASURED]
    changes = git("status", "--porcelain", "--", *paths)
    return None if changes is None or changes else git("log", "-1", "--format=%h", "--", *paths) or None


def others() -> float:
    """Share of the cores that is at work while this process waits for a second."""
    return psutil.cpu_percent(interval=1.0) / 100


def write_results(name: str, content: dict) -> None:
    """Write a table in one step: it is the old one or the new one, never part of it.

    Parameters
    ----------
    name : str
        Of the table, without an ending.
    content : dict
        The rows, with the machine and what else they belong to.
    """
    RESULTS.mkdir(exist_ok=True)
    write_whole(RESULTS / f"{name}.json", json.dumps(content, indent=1) + "\n")


def read_results(name: str) -> dict:
    """What `write_results` wrote under a name."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


class Rows:
    """The rows of a table that is measured row by row, each written as soon as it is there.

    Stored rows stay until they are measured again, if they are from this machine with these packages.

    Parameters
    ----------
    table : str
        Name of the table.
    here : dict
        The machine, as `machine` tells it.
    plan : list of dict
        All rows there can be, in their order.
    name : callable
        Names a row, planned or measured.
    options : Namespace
        With what `add_options` has added.
    **shared
        What else the table holds besides its rows.
    """

    def __init__(
        self,
        table: str,
        here: dict,
        plan: list[dict],
        name: Callable[[dict], str],
        options: argparse.Namespace,
        **shared: object,
    ):
        self.table, self.here, self.name, self.options, self.shared = table, here, name, options, shared
        self.order = [name(row) for row in plan]
        self.commit = commit()
        self.rows = {}
        if (RESULTS / f"{table}.json").exists():
            stored = read_results(table)
            if {**stored["machine"], "date": None} == {**here, "date": None}:
                day = {"date": stored["machine"]["date"]}
                self.rows = {name(row): day | row for row in stored["rows"]}

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        """Add the options that choose rows to a parser."""
        parser.add_argument(
            "--only", nargs="+", default=[], metavar="WORDS", help="rows named with all these"
        )
        parser.add_argument("--keep", action="store_true", help="only what this commit has not measured yet")
        parser.add_argument(
            "--list", action="store_true", help="print the names of rows, and measure nothing"
        )

    def asked(self, plan: list[dict]) -> Iterator[dict]:
        """Those of some planned rows that the options ask for.

        Parameters
        ----------
        plan : list of dict

        Yields
        ------
        dict
        """
        for row in plan:
            name = self.name(row)
            stored = self.rows.get(name, {}).get("commit")
            if not all(re.search(rf"\b{re.escape(words)}\b", name) for words in self.options.only):
                continue
            if self.options.list:
                print(name)
            elif not (self.options.keep and self.commit and stored == self.commit):
                yield row

    def add(self, row: dict) -> None:
        """Put a measured row in the place of an older one, and write the table.

        Parameters
        ----------
        row : dict
        """
        row = row | {"date": self.here["date"], "commit": self.commit}
        self.rows[self.name(row)] = row
        print(row, flush=True)
        rows = [self.rows[name] for name in self.order if name in self.rows]
        write_results(self.table, {"machine": self.here, **self.shared, "rows": rows})
