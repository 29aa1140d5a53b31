"""Which shared vectors move the transition: makes ``structures.csv``.

    python data/finite_size_scaling/structures.py [--most SECONDS]

One row an instance: whether score directions of a structure, an entry of `assocmem.surrogates.STRUCTURES` by
its place there, have a solution. Rows that are there already are kept.
"""

import torch

from assocmem.model import derived_seed
from assocmem.results import fill_command
from assocmem.surrogates import STRUCTURES, meets_cone, score_directions

DESIGN = {
    20: ((6, 7, 8), 400),
    30: ((8, 9, 10, 11), 400),
    60: ((14, 15, 16, 17), 60),
}  # dimensions, instances


def possible(n, structure, d, seed):
    """1 if some memory would retrieve every pair, were these the directions of its scores; empty: unknown."""
    A = score_directions(STRUCTURES[structure], n, d, derived_seed(seed, n, d, structure))
    found = meets_cone(A)
    return {"feasible": "" if found is None else int(found)}


def main():
    keys = [
        {"n": n, "structure": structure, "d": d, "seed": seed}
        for n, (dimensions, count) in DESIGN.items()
        for seed in range(count)
        for structure in range(len(STRUCTURES))
        for d in dimensions
    ]
    torch.set_num_threads(1)  # small problems; beside another script
    fill_command("finite_size_scaling", "structures", keys, possible)


if __name__ == "__main__":
    main()
