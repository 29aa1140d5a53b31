"""The ladder of write rules that the package carries, from the stored tables: run this module to write it."""

import csv
import io
from importlib.resources import files
from pathlib import Path

from assocmem.capacity.scoring import ANY_MEMORY
from assocmem.files import write_whole
from assocmem.sweeps.stored_table import read_table

LARGEST = 3000
"""Pairs up to which the ladder goes: larger instances take minutes, and few rules are stored there."""


def ladder_text() -> str:
    """Smallest dimensions of the rules and of any memory, by number of pairs and seed, as lines of a CSV."""
    rules = read_table("write_rules", "dimensions", "dimensions_large")[["n", "rule", "seed", "d"]]
    fewest = read_table("write_rules", "fewest").assign(rule=ANY_MEMORY)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["n", "rule", "seed", "d"])
    for table in (fewest, rules):
        for row in table[table["n"] <= LARGEST].sort_values(["n", "rule", "seed"]).itertuples():
            lines.writerow([int(row.n), row.rule, int(row.seed), int(row.d)])
    return text.getvalue()


if __name__ == "__main__":
    write_whole(Path(str(files("assocmem.capacity").joinpath("ladder.csv"))), ladder_text())
