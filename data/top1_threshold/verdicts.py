"""Certified verdicts on random instances around the transition: makes ``verdicts.csv``.

    python data/top1_threshold/verdicts.py [--most SECONDS]

One row an instance, ``gaussian_pairs(n, d, seed=seed)``: whether some memory retrieves every pair, the Newton
steps that took, and the margin of the last memory tried. Rows that are there already are kept.
"""

import argparse
import csv
import time
from pathlib import Path

from assocmem.feasibility import decide_top1
from assocmem.model import gaussian_pairs
from assocmem.results import write_table

TABLE = Path(__file__).with_suffix(".csv")
DESIGN = {300: (range(40, 48), 60), 1000: (range(87, 93), 8)}  # dimensions, instances at each


def known_rows():
    """What the table holds: the row of each (n, d, seed)."""
    if not TABLE.exists():
        return {}
    with open(TABLE, newline="", encoding="utf-8") as file:
        return {(int(row["n"]), int(row["d"]), int(row["seed"])): row for row in csv.DictReader(file)}


def verdict_row(n, d, seed):
    """Decide one instance; ``feasible`` is 1, 0, or empty where neither was proved."""
    verdict = decide_top1(gaussian_pairs(n, d, seed=seed))
    feasible = "" if verdict.feasible is None else int(verdict.feasible)
    result = {"feasible": feasible, "steps": verdict.steps, "margin": f"{verdict.margin:.4g}"}
    return {"n": n, "d": d, "seed": seed, **result}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=float, default=float("inf"), help="seconds after which to stop")
    options = parser.parse_args()
    rows, started = known_rows(), time.monotonic()
    for key in [(n, d, seed) for n, (dims, count) in DESIGN.items() for seed in range(count) for d in dims]:
        if key not in rows and time.monotonic() - started < options.most:
            rows[key] = verdict_row(*key)
            print(rows[key], flush=True)
            store(rows)
    store(rows)


def store(rows):
    """Write the table, sorted by n, d and seed."""
    ordered = [rows[key] for key in sorted(rows)]
    write_table("top1_threshold", "verdicts", ordered, "python data/top1_threshold/verdicts.py")


if __name__ == "__main__":
    main()
