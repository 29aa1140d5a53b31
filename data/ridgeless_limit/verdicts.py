"""Certified verdicts at fixed tail fractions: makes ``verdicts.csv``.

    python data/ridgeless_limit/verdicts.py [--most SECONDS]

One row an instance, ``gaussian_pairs(n, d, seed=seed)`` and ``k = ceil(r (n - 1))``, r in thousandths:
whether some memory has every signal beat the average of its k best competitors. Rows that are there already
are kept.
"""

from assocmem.feasibility import decide
from assocmem.kinematics import critical_dimension
from assocmem.model import gaussian_pairs, tail_count
from assocmem.results import fill_command

FRACTIONS = 50, 150, 400  # thousandths
DESIGN = {40: 400, 80: 250, 160: 120, 320: 50, 640: 20}  # instances at each of four dimensions


def verdict(r, n, d, seed):
    """Decide one instance; ``feasible`` is 1, 0, or empty where neither was proved."""
    found = decide(gaussian_pairs(n, d, seed=seed), tail_count(r / 1000, n - 1))
    return {"feasible": "" if found.feasible is None else int(found.feasible), "steps": found.steps}


def dimensions(r, n):
    """The four dimensions nearest to the predicted critical one."""
    below = int(critical_dimension(n, tail_count(r / 1000, n - 1)))
    return range(below - 1, below + 3)


if __name__ == "__main__":
    keys = [
        {"r": r, "n": n, "d": d, "seed": s}
        for n, count in DESIGN.items()
        for r in FRACTIONS
        for d in dimensions(r, n)
        for s in range(count)
    ]
    fill_command("ridgeless_limit", "verdicts", keys, verdict)
