"""Certified verdicts on random instances around the transition: makes ``verdicts.csv``.

    python data/finite_size_scaling/verdicts.py [--most SECONDS]

One row an instance, ``gaussian_pairs(n, d, seed=seed)``: whether some memory retrieves every pair, the Newton
steps that took, and the margin of the last memory tried. Rows that are there already are kept.
"""

from assocmem.feasibility import decide_top1
from assocmem.model import gaussian_pairs
from assocmem.results import fill_command

DESIGN = [  # pairs, dimensions, instances at each
    (20, range(6, 10), 1500),
    (30, range(8, 13), 800),
    (50, range(12, 17), 500),
    (100, range(19, 25), 300),
    (200, range(32, 37), 80),
    (300, range(41, 46), 100),
    (300, range(40, 48), 60),
    (500, range(58, 61), 40),
    (1000, range(88, 91), 9),
    (1000, range(87, 93), 3),
]


def verdict(n, d, seed):
    """Decide one instance; ``feasible`` is 1, 0, or empty where neither was proved."""
    found = decide_top1(gaussian_pairs(n, d, seed=seed))
    feasible = "" if found.feasible is None else int(found.feasible)
    return {"feasible": feasible, "steps": found.steps, "margin": f"{found.margin:.4g}"}


def main():
    keys = [
        {"n": n, "d": d, "seed": seed}
        for n, dimensions, count in DESIGN
        for seed in range(count)
        for d in dimensions
    ]
    fill_command("finite_size_scaling", "verdicts", keys, verdict)


if __name__ == "__main__":
    main()
