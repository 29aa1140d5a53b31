"""Loss, norm and laws along the load at r = 0.15 (Figure 3): makes ``slice.csv``.

    python data/ridgeless_limit/slice.py [--most SECONDS] [--paper]

One row a fit, `assocmem.phase.train(load, 0.15, d, seed=seed, beta=30, ridge=1e-7)`, load in thousandths,
with the quantiles of `assocmem.phase.profile`. Rows that are there already are kept. With ``--paper`` the
rows of the paper's size are computed, on a GPU where there is one.
"""

from assocmem.model import best_device
from assocmem.phase import profile, train
from assocmem.results import fill_command

LOADS = 100, 150, 200, 240, 260, 280, 290, 300, 310, 320, 340, 360, 400, 500
DESIGN = [  # dimension, loads, instances
    (30, (200, 280, 400), 16),
    (50, (200, 280, 400), 8),
    (70, (200, 280, 400), 4),
    (100, (200, 280, 400), 3),
    (200, (280,), 1),
    (100, LOADS, 1),
    (200, (200, 400, 310, 260, 340, 300, 320, 240), 1),
]
PAPER = [(600, LOADS, 1)]


def memory(d, load, seed):
    """Norm scale, mean loss, relative gap, passes, and the quantiles."""
    pairs, found = train(
        load / 1000, 0.15, d, seed=seed, beta=30.0, ridge=1e-7, tol=1e-4, device=best_device()
    )
    measured = {"nu": f"{found.nu:.6g}", "loss": f"{found.loss:.5g}", "gap": f"{found.gap:.1e}"}
    quantiles = {
        f"{kind}_{k}": f"{q:.5g}"
        for kind, values in profile(pairs, found).items()
        for k, q in enumerate(values)
    }
    return measured | {"passes": found.passes} | quantiles


def keys(design):
    found = [
        {"d": d, "load": load, "seed": s}
        for d, loads, count in design
        for s in range(count)
        for load in loads
    ]
    return list({tuple(key.values()): key for key in found}.values())


if __name__ == "__main__":
    fill_command("ridgeless_limit", "slice", keys(DESIGN), memory, paper=keys(PAPER))
