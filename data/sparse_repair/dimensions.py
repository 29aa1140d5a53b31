"""Dimensions from which each construction retrieves an instance: makes ``dimensions.csv``.

    python data/sparse_repair/dimensions.py [--most SECONDS]

One row an instance and an entry of `assocmem.constructions.CONSTRUCTIONS` by its place there,
`assocmem.constructions.smallest_dimension(construction, n, seed=seed)`. Rows that are there already are kept.
"""

from assocmem.constructions import CONSTRUCTIONS, smallest_dimension
from assocmem.results import fill_command

DESIGN = {300: 16, 1000: 12, 3000: 3}  # instances of each size
LARGE, LARGE_INSTANCES, LARGE_ONLY = 10_000, 2, (0, 2, 3, 6, 7, 8)


def dimension(n, construction, seed):
    """The dimension, and what was spent there."""
    d, built = smallest_dimension(CONSTRUCTIONS[construction], n, seed=seed)
    return {"d": d, "products": built.products, "steps": built.steps}


def main():
    rows = [(n, c, s) for n, count in DESIGN.items() for s in range(count) for c in range(len(CONSTRUCTIONS))]
    rows += [(LARGE, c, s) for s in range(LARGE_INSTANCES) for c in LARGE_ONLY]
    keys = [{"n": n, "construction": c, "seed": s} for n, c, s in rows]
    fill_command("sparse_repair", "dimensions", keys, dimension)


if __name__ == "__main__":
    main()
