"""Norm of the trained memory along the load (Figure 1): makes ``peaks.csv``.

    python data/finite_size_scaling/peaks.py [--most SECONDS]

One row a fit, `assocmem.norm_peak.train(n, d, seed=seed)`. Rows that are there already are kept.
"""

from assocmem.norm_peak import load_grid, train
from assocmem.results import fill_command

DESIGN = {8: 30, 10: 24, 12: 20, 16: 16, 20: 12, 28: 8, 40: 6, 56: 2}  # instances at each dimension
STEP = {56: 0.02}  # spacing of the grid of loads where it is not 0.01


def norm(n, d, seed):
    """Norm scale, mean loss and relative gap of one fit."""
    found = train(n, d, seed=seed)
    return {"nu": f"{found.nu:.7g}", "loss": f"{found.loss:.5g}", "gap": f"{found.gap:.1e}"}


def main():
    keys = [
        {"d": d, "seed": seed, "n": n}
        for d, count in DESIGN.items()
        for seed in range(count)
        for n in load_grid(d, step=STEP.get(d, 0.01))
    ]
    fill_command("finite_size_scaling", "peaks", keys, norm)


if __name__ == "__main__":
    main()
