"""Many fits of one size at once against the same fits one by one.

    python benchmarks/many.py                  into benchmarks/results/many.json
    python benchmarks/many.py --only tail      rows whose names have all these words

Both ways are timed by turns, and the ratio is that of each round. A row is written as soon as it is measured.
"""

import argparse
from collections.abc import Sequence

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import history
from fits import ACCURACY, NAMES, RIDGE, Loss
from machine import Rows, machine
from peers import TAIL
from ratios import by_turns, clock, ratio, summary, turned

from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.training.fit import Fit, fit
from assocmem.training.losses import CrossEntropy
from assocmem.training.many import fit_many

CASES: list[tuple[Loss, float]] = [(CrossEntropy(), 0.075), (TAIL, 0.28)]
"""Losses, and loads ``n / d^2`` on their satisfiable side."""
DIMENSION = 40
INSTANCES = 200
ONE_BY_ONE, AT_ONCE = "one by one", "at once"


def one_by_one(problems: Sequence[Pairs], loss: Loss) -> list[Fit]:
    """Fits one after the other."""
    return [fit(pairs, loss, ridge=RIDGE, tol=ACCURACY) for pairs in problems]


def at_once(problems: Sequence[Pairs], loss: Loss) -> list[Fit]:
    """The same fits in one call."""
    return fit_many(problems, loss, ridge=RIDGE, tol=ACCURACY)


def plan() -> list[dict]:
    """All rows, not measured yet."""
    return [
        {"d": DIMENSION, "n": pairs_at_load(load, DIMENSION), "loss": repr(loss), "instances": INSTANCES}
        for loss, load in CASES
    ]


def name(row: dict) -> str:
    """What a row is called."""
    return f"{row['instances']} fits, d = {row['d']}, {NAMES[row['loss']]}"


def measure(row: dict, seconds: float) -> dict:
    """Times of both ways, their ratio, and how far the memories differ.

    Parameters
    ----------
    row : dict
        The problem.
    seconds : float
        How long rounds are begun.

    Returns
    -------
    dict
        ``ratio`` is how many times as long the fits take one by one.
    """
    loss = next(loss for loss, _ in CASES if repr(loss) == row["loss"])
    problems = [gaussian_pairs(row["n"], row["d"], seed=seed) for seed in range(row["instances"])]
    ways, found = {ONE_BY_ONE: one_by_one, AT_ONCE: at_once}, {}

    def taken(way):
        def run():
            found[way] = ways[way](problems, loss)

        return run

    at_once(problems[:2], loss)  # whatever is compiled at first use
    times = by_turns({way: clock(taken(way)) for way in ways}, seconds)
    pairs = zip(found[ONE_BY_ONE], found[AT_ONCE], strict=True)
    difference = max(float((x.W - y.W).abs().max() / x.W.abs().max()) for x, y in pairs)
    result = {way: summary(times[way]) for way in ways} | {"difference": difference}
    return result | {"ratio": ratio(times[ONE_BY_ONE], times[AT_ONCE])}


def entered(row: dict, here: dict) -> list[dict]:
    """What a row adds to the history: fits at once in units of the same one by one."""
    return [history.line("full", f"{name(row)}, {AT_ONCE}", ONE_BY_ONE, turned(row["ratio"]), here)]


def main() -> None:
    """Measure what the options ask for, and keep the other rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, default=300, help="how long rounds of a row are begun (default 300)"
    )
    Rows.add_options(parser)
    options = parser.parse_args()
    here = machine()
    rows = Rows("many", here, plan(), name, options, ridge=RIDGE, accuracy=ACCURACY)
    for row in rows.asked(plan()):
        measured = row | measure(row, options.seconds)
        rows.add(measured)
        history.add(entered(measured, here))


if __name__ == "__main__":
    main()
