"""Loss and norm over load and tail fraction (Figure 2): makes ``grid.csv``.

    python data/ridgeless_limit/grid.py [--most SECONDS] [--paper]

One row a fit, `assocmem.phase.train(load, r, d, seed=0)`, load and r in thousandths. Rows that are there
already are kept. With ``--paper`` the rows of the paper's size are computed, on a GPU where there is one.
"""

from assocmem.model import best_device
from assocmem.phase import train
from assocmem.results import fill_command

FRACTIONS = 25, 75, 125, 175, 225, 275, 325, 375  # thousandths
LOADS = range(50, 601, 50)


def point(d, r, load):
    """Norm scale, mean loss, relative gap and passes of one fit."""
    _, found = train(load / 1000, r / 1000, d, seed=0, device=best_device())
    measured = {"nu": f"{found.nu:.6g}", "loss": f"{found.loss:.5g}", "gap": f"{found.gap:.1e}"}
    return measured | {"passes": found.passes}


def keys(d, fractions, loads):
    return [{"d": d, "r": r, "load": load} for r in fractions for load in loads]


if __name__ == "__main__":
    paper = keys(400, range(25, 400, 25), range(25, 601, 25))
    fill_command("ridgeless_limit", "grid", keys(100, FRACTIONS, LOADS), point, paper=paper)
