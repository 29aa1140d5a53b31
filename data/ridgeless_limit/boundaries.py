"""Loads at which the loss passes half of log 2 (circles of Figure 2): makes ``boundaries.csv``.

    python data/ridgeless_limit/boundaries.py [--most SECONDS] [--paper]

One row an instance, `assocmem.phase.boundary(r, d, seed=seed)`, r in thousandths. Rows that are there already
are kept. With ``--paper`` the rows of the paper's size are computed, on a GPU where there is one.
"""

from assocmem.model import best_device
from assocmem.phase import boundary
from assocmem.results import fill_command

FRACTIONS = 50, 150, 250, 400  # thousandths
DESIGN = {16: 10, 24: 8, 40: 4, 60: 2, 100: 1}  # instances at each dimension
PAPER = {200: 1, 400: 1}


def crossing(d, r, seed):
    """The load, the numbers of pairs next to it, the predicted one, and how many memories were trained."""
    found = boundary(r / 1000, d, seed=seed, device=best_device())
    return {"load": f"{found.load:.6g}"} | {
        name: getattr(found, name) for name in ("low", "high", "predicted", "fits")
    }


def keys(design):
    return [
        {"d": d, "r": r, "seed": s} for d, count in design.items() for r in FRACTIONS for s in range(count)
    ]


if __name__ == "__main__":
    fill_command("ridgeless_limit", "boundaries", keys(DESIGN), crossing, paper=keys(PAPER))
