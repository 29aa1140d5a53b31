"""Best reserve and margin of a repair in the Gaussian picture: makes ``predictions.csv``.

    python data/sparse_repair/predictions.py [--most SECONDS]

One row for n = 10^(digits/10) and a kind of repair: 0 with the best reserve, 1 with the reserve of the proof,
2 in place. Rows that are there already are kept.
"""

import math

from assocmem.repair_theory import best_margin, best_split, paper_share
from assocmem.results import fill_command

DIGITS = 25, 30, 35, 40, 45, 50, 60, 80, 100, 150, 200, 300, 500, 700, 1000, 2000, 4000, 10_000, 40_000


def prediction(digits, kind):
    """Half-success ratio, share of the coordinates, and margin."""
    log_n = digits / 10 * math.log(10)
    reserve = paper_share(log_n) if kind == 1 else None
    found = best_split(log_n) if kind == 0 else best_margin(log_n, reserve)
    share = "" if found.share is None else f"{found.share:.5g}"
    return {"ratio": f"{found.ratio:.6g}", "share": share, "gamma": f"{found.gamma:.5g}"}


if __name__ == "__main__":
    keys = [{"digits": digits, "kind": kind} for digits in DIGITS for kind in range(3)]
    fill_command("sparse_repair", "predictions", keys, prediction)
