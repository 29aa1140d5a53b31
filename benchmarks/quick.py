"""What matters most in five minutes, against the history: what has become slower?

    make bench QUICK=1

Each row is a ratio to a floor of the same run. The table compares it with the run before on this kind of
machine. The lines enter the history, and with it the page, unless the package has changes that are not
committed or others compute beside. The large tables of the page stay as they are.
"""

import time
from collections.abc import Iterator

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import fits
import history
import many
import page
import passes
from fits import ACCURACY, FLOOR, NAMES, OURS, QUICK, RIDGE
from machine import machine
from peers import PEERS, TAIL
from ratios import by_turns, clock, ratio, shown, turned

from assocmem.deciding.feasibility import decide_top1
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy

SECONDS = 8
"""How long rounds of a row are begun."""
LIMIT = 30
"""Seconds after which a peer is stopped."""
PASSES = [(n, d, loss, scale) for n, d in passes.SIZES if 20 < d < 200 for loss, scale in passes.PROBLEMS]
"""Sizes, losses and norms of passes."""
FITS = [
    (20, CrossEntropy(), 0.075, QUICK),
    (20, TAIL, 0.28, QUICK),
    (40, CrossEntropy(), 0.075, QUICK),
    (40, TAIL, 0.28, QUICK),
    (100, CrossEntropy(), 0.075, QUICK),
    (100, TAIL, 0.28, None),
]
"""Dimensions, losses and loads of fits on the satisfiable side, and a peer where it is quick enough."""
MANY = [(40, CrossEntropy(), 0.075), (20, TAIL, 0.28)]
"""Dimensions, losses and loads of fits at once."""
INSTANCES = 20
"""Fits at once."""
VERDICTS = [(300, 45, "feasible"), (300, 42, "infeasible")]
"""Sizes of the verdicts, and what they come to."""

Found = Iterator[tuple[str, str, dict]]
"""What was measured, the floor, and the ratio to it with its interval."""


def pass_rows(n: int, d: int, loss: str, scale: str) -> Found:
    """Our pass against two bare products."""
    pairs, W = passes.problem(n, d, passes.SCALES[scale])
    calls = {who: PEERS[loss][who](pairs, W, None) for who in (FLOOR, OURS)}
    times = by_turns({who: clock(call) for who, call in calls.items()}, SECONDS)
    yield f"a pass, d = {d}, {loss}, {scale}", FLOOR, ratio(times[OURS], times[FLOOR])


def fit_rows(d: int, loss: fits.Loss, load: float, peer: str | None) -> Found:
    """Our fit against two bare products and, where there is one, a peer."""
    pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=0)
    what = f"a fit, d = {d}, {NAMES[repr(loss)]}, satisfiable"
    if peer is None:
        clocks = {
            FLOOR: fits.floor_clock(pairs),
            OURS: clock(lambda: fit(pairs, loss, ridge=RIDGE, tol=ACCURACY)),
        }
        times = by_turns(clocks, SECONDS)
        yield f"{what}, to its proof", FLOOR, ratio(times[OURS], times[FLOOR])
        return
    reference = fit(pairs, loss, ridge=RIDGE, tol=ACCURACY / 10)
    found = fits.measure(pairs, loss, reference.objective * (1 + ACCURACY), peer, LIMIT, SECONDS)
    yield what, FLOOR, found[OURS]["to_floor"]
    if "ratio" in found[peer]:
        yield what, peer, turned(found[peer]["ratio"])


def many_rows(d: int, loss: fits.Loss, load: float) -> Found:
    """Fits at once against the same one by one."""
    row = {"d": d, "n": pairs_at_load(load, d), "loss": repr(loss), "instances": INSTANCES}
    found = many.measure(row, SECONDS)
    yield f"{many.name(row)}, {many.AT_ONCE}", many.ONE_BY_ONE, turned(found["ratio"])


def verdict_rows(n: int, d: int, what: str) -> Found:
    """A verdict with its proof against two bare products."""
    pairs = gaussian_pairs(n, d, seed=0)
    times = by_turns({FLOOR: fits.floor_clock(pairs), OURS: clock(lambda: decide_top1(pairs))}, SECONDS)
    yield f"a verdict, n = {n}, d = {d}, {what}", FLOOR, ratio(times[OURS], times[FLOOR])


def rows() -> Iterator[Found]:
    """All that is measured."""
    for made, cases in ((pass_rows, PASSES), (fit_rows, FITS), (many_rows, MANY), (verdict_rows, VERDICTS)):
        for case in cases:
            yield made(*case)


def told(new: dict, old: dict | None) -> str:
    """A line of the terminal: a row, and how it compares with an older one."""
    text = f"{new['row']:60} {shown(new):24} times {new['against']:18}"
    if old is None:
        return f"{text} nothing to compare with"
    grown, explained = history.growth(old, new)
    words = f"{100 * (grown - 1):+.0f} % (± {100 * (explained - 1):.0f}) since {old['commit']}"
    return f"{text} {words}  {history.remark(old, new).upper()}".rstrip()


def main() -> None:
    """Measure, compare, and keep what belongs to a commit."""
    started, here, lines, marked = time.perf_counter(), machine(), [], []
    fits.warm_up()
    for made in rows():
        try:
            found = list(made)
        except Exception as error:  # one row must not cost the others
            print(f"left out, {type(error).__name__}: {error}", flush=True)
            continue
        for row in found:
            new = history.line("quick", *row, here)
            old = history.before(new, history.read())
            lines.append(new)
            marked += [new] if old and history.slower(old, new) else []
            print(told(new, old), flush=True)
    print(f"\n{len(lines)} rows in {time.perf_counter() - started:.0f} s")
    print("\n".join(["slower:", *(new["row"] for new in marked)]) if marked else "nothing became slower")
    if history.add(lines):
        page.main()


if __name__ == "__main__":
    main()
