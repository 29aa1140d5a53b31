"""Dimensions from which each construction retrieves an instance: makes ``dimensions.csv``.

    python data/sparse_repair/dimensions.py [--most SECONDS]

One row an instance and an entry of `assocmem.constructions.CONSTRUCTIONS` by its place there,
`assocmem.constructions.smallest_dimension(construction, n, seed=seed)`. Rows that are there already are kept.
"""

from assocmem.constructions import CONSTRUCTIONS, smallest_dimension
from assocmem.results import fill_command

ALL = range(len(CONSTRUCTIONS))
DESIGN = {300: (16, ALL), 1000: (12, ALL), 3000: (3, ALL[:-1]), 10_000: (2, (0, 2, 3, 6, 7, 8))}
"""Instances of each size, and the constructions that are affordable there."""


def dimension(n, construction, seed):
    """The dimension, and what was spent there."""
    d, built = smallest_dimension(CONSTRUCTIONS[construction], n, seed=seed)
    return {"d": d, "products": built.products, "steps": built.steps}


def main():
    keys = [
        {"n": n, "construction": c, "seed": s}
        for n, (instances, constructions) in DESIGN.items()
        for s in range(instances)
        for c in constructions
    ]
    fill_command("sparse_repair", "dimensions", keys, dimension)


if __name__ == "__main__":
    main()
