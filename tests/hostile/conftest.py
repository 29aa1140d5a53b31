"""Counts the trials of the fault suite, and keeps the counts in a table that the book shows."""

import csv
import datetime
import io
import os
from pathlib import Path

import pytest

from assocmem.files import held, write_whole

REPORT = Path(__file__).with_name("report.csv")
COLUMNS = ("what", "trials", "failures", "date")


@pytest.fixture
def report_trials():
    """A function that counts trials of one kind, and fails with the first few of those that failed."""

    def report(what, trials, failures):
        if os.environ.get("ASSOCMEM_FAULT_REPORT"):  # set by make faults
            _keep({"what": what, "trials": trials, "failures": len(failures)})
        assert trials > 0, f"{what}: nothing was tried"
        assert not failures, f"{what}: {len(failures)} of {trials} failed:\n" + "\n".join(failures[:20])

    return report


def _keep(row):
    """Replace or add the row of one kind of trials; several suites may run side by side."""
    with held(REPORT.parent):
        known = []
        if REPORT.exists():
            with open(REPORT, newline="", encoding="utf-8") as file:
                known = [old for old in csv.DictReader(file) if old["what"] != row["what"]]
        row |= {"date": datetime.date.today().isoformat()}
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted([*known, row], key=lambda row: row["what"]))
        write_whole(REPORT, text.getvalue())
