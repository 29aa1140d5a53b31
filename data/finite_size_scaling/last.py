"""The last retrievable number of pairs of nested instances, certified: makes ``last.csv``.

    python data/finite_size_scaling/last.py [--most SECONDS]

One row an instance of ``peaks.csv``, `assocmem.norm_peak.last_retrievable(d, seed=seed)`.
"""

import argparse
import math

from assocmem.norm_peak import last_retrievable
from assocmem.results import fill_table

DESIGN = {8: 30, 10: 24, 12: 20, 16: 16, 20: 12, 28: 8, 40: 6, 56: 2}  # instances at each dimension


def last(d, seed):
    """Number of pairs, the first of which some memory retrieves while one more is too many."""
    return {"n": last_retrievable(d, seed=seed)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=float, default=math.inf, help="seconds after which to stop")
    keys = [{"d": d, "seed": seed} for d, count in DESIGN.items() for seed in range(count)]
    made_by = "python data/finite_size_scaling/last.py"
    fill_table("finite_size_scaling", "last", keys, last, made_by, most=parser.parse_args().most)


if __name__ == "__main__":
    main()
