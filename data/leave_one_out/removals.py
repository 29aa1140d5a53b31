"""Sizes of everything that moves when a pair is removed: makes ``removals.csv``.

    python data/leave_one_out/removals.py [--most SECONDS]

One row an instance at one of `assocmem.removal_sizes.SETTINGS`, by its place there: what
`assocmem.removal_sizes.measure_instance` returns. Rows that are there already are kept.
"""

from assocmem.removal_sizes import SETTINGS, measure_instance
from assocmem.results import fill_command

INSTANCES = {16: 100, 24: 100, 32: 100, 48: 60, 64: 30, 96: 30}
"""Instances of each dimension at the first setting."""
FEWER = {16: 24, 24: 24, 32: 24, 48: 12}
"""And at the others."""


def removal(setting, d, seed):
    """The sizes on one instance, to five digits."""
    return {name: float(f"{x:.5g}") for name, x in measure_instance(d, seed, **SETTINGS[setting]).items()}


def main():
    counts = [INSTANCES] + [FEWER] * (len(SETTINGS) - 1)
    keys = [
        {"setting": setting, "d": d, "seed": seed}
        for d in INSTANCES
        for setting, instances in enumerate(counts)
        for seed in range(instances.get(d, 0))
    ]
    fill_command("leave_one_out", "removals", keys, removal)


if __name__ == "__main__":
    main()
