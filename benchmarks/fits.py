"""Fits of ours and of general-purpose minimisers to one accuracy: passes over the scores, and time.

    python benchmarks/fits.py                              all of it, into benchmarks/results/fits.json
    python benchmarks/fits.py --only "d = 40" tail         rows whose names have all these words
    python benchmarks/fits.py --keep                       only rows that this commit has not measured yet
    python benchmarks/fits.py --list                       their names

Every minimiser starts at zero. All but pytorch-minimize, which differentiates by itself, are given our
streamed value, gradient and Hessian product, so that what is compared is the algorithm. A run ends when its
objective is within 1e-6 of the minimum, known to 1e-7 by its duality gap, or when its time is over.

For each row two bare products, our fit and the peer are timed by turns, and the ratios are those of each
round. A peer that does not arrive is run once. The row of our own fit is measured together with the first
peer. A row is written as soon as it is measured. The others stay, if they are from this machine with these
packages.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import history
import numpy as np
import torch
import torchmin
from machine import Rows, machine
from peers import FARTHEST, TAIL, bare_products
from ratios import FAIR, by_turns, clock, interval, ratio, summary, turned
from scipy.optimize import minimize
from torch.nn import functional

from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load, tail_count
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import hessian_pass, loss_pass

ACCURACY = 1e-6
"""Distance from the minimum, relative to it, at which a run has arrived."""
RIDGE = 1e-7
"""Ridge of all problems: small, so that memories are large on the satisfiable side and fits are long."""
HESSIAN_PASSES = 1.5
"""Passes that a Hessian product counts as: it does 6 n^2 d operations where a value with gradient does 4."""

Loss = CrossEntropy | TailAverage


class Enough(Exception):
    """The accuracy is reached, or the time is over."""


class Counted:
    """The objective, counting what it is asked for and ending the run that asks.

    Parameters
    ----------
    pairs : Pairs
    loss : CrossEntropy or TailAverage
    target : float
        Objective at which a run ends.
    seconds : float
        Time after which it ends in any case.
    """

    def __init__(self, pairs: Pairs, loss: Loss, target: float, seconds: float):
        self.pairs, self.loss, self.target, self.limit = pairs, loss, target, seconds
        self.gradients = self.products = 0
        self.best, self.started = math.inf, time.perf_counter()
        self.reached = None

    def _note(self, objective):
        self.best = min(self.best, objective)
        spent = time.perf_counter() - self.started
        if objective <= self.target:
            self.reached = spent
            raise Enough
        if spent > self.limit:
            raise Enough

    def value_and_gradient(self, W: torch.Tensor) -> tuple[float, torch.Tensor]:
        """The objective and its gradient."""
        self.gradients += 1
        scale = RIDGE / self.pairs.d**2
        done = loss_pass(self.pairs, self.loss, W)
        objective = done.loss + 0.5 * scale * float((W * W).sum())
        self._note(objective)
        return objective, done.gradient + scale * W

    def product(self, W: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
        """The Hessian of the objective times a direction."""
        self.products += 1
        if time.perf_counter() - self.started > self.limit:
            raise Enough
        return hessian_pass(self.pairs, self.loss, W, D) + RIDGE / self.pairs.d**2 * D

    def dense(self, W: torch.Tensor) -> torch.Tensor:
        """The objective as a function that autograd differentiates twice."""
        self.gradients += 1
        S = self.pairs.U.T @ (W @ self.pairs.V)
        value = _dense_loss(self.loss, S) + 0.5 * RIDGE / self.pairs.d**2 * (W * W).sum()
        self._note(value.item())
        return value


def _dense_loss(loss, S):
    n = len(S)
    if isinstance(loss, CrossEntropy):
        return functional.cross_entropy(S.T, torch.arange(n))
    k = tail_count(loss.r, n - 1)
    with torch.no_grad():
        T = S.clone().fill_diagonal_(-torch.inf)
        _, mu = loss.aggregate(T)
        slope = (loss.beta * k * T * (1 - k * T)).sum(dim=0)
    x = S.masked_fill(torch.eye(n, dtype=torch.bool), -torch.inf)
    # the threshold is the same number, but with its derivative in the scores
    mu = mu + (torch.sigmoid(loss.beta * (x - mu)).sum(dim=0) - k) / slope
    softplus = functional.softplus(loss.beta * (x - mu), threshold=FARTHEST)
    return -functional.logsigmoid(S.diagonal() - mu - softplus.sum(dim=0) / (loss.beta * k)).mean()


def scipy_run(method: str, **options) -> Callable[[Counted], None]:
    """A run of one of SciPy's minimisers, with its options."""

    def run(counted):
        d = counted.pairs.d
        scale = 1 / counted.target  # else SciPy takes a small objective for a converged one

        def matrix(w):
            return torch.from_numpy(np.ascontiguousarray(w)).reshape(d, d)

        def f(w):
            value, gradient = counted.value_and_gradient(matrix(w))
            return scale * value, (scale * gradient).numpy().ravel()

        arguments = {}
        if method.startswith("trust"):
            arguments["hessp"] = lambda w, p: (scale * counted.product(matrix(w), matrix(p))).numpy().ravel()
        minimize(f, np.zeros(d * d), jac=True, method=method, options=options, **arguments)

    return run


def torch_lbfgs(counted: Counted) -> None:
    """A run of the L-BFGS of torch."""
    d = counted.pairs.d
    scale = 1 / counted.target
    W = torch.zeros(d, d, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [W],
        max_iter=10**6,
        max_eval=10**6,
        tolerance_grad=0,
        tolerance_change=0,
        history_size=30,
        line_search_fn="strong_wolfe",
    )

    def closure():
        value, gradient = counted.value_and_gradient(W.detach())
        W.grad = scale * gradient
        return torch.tensor(scale * value, dtype=torch.float64)

    optimizer.step(closure)


def pytorch_minimize(counted: Counted) -> None:
    """A run of the trust-region method of pytorch-minimize, which differentiates by itself."""
    d = counted.pairs.d
    zero = torch.zeros(d, d, dtype=torch.float64)
    torchmin.minimize(counted.dense, zero, method="trust-ncg", tol=0, max_iter=10**6)


PEERS = {
    "SciPy L-BFGS-B": scipy_run("L-BFGS-B", maxiter=10**6, maxfun=10**6, ftol=0, gtol=0),
    "torch.optim.LBFGS": torch_lbfgs,
    "SciPy trust-krylov": scipy_run("trust-krylov", maxiter=10**6, gtol=0),
    "pytorch-minimize trust-ncg": pytorch_minimize,
}
CASES: list[tuple[Loss, str, float]] = [
    (CrossEntropy(), "satisfiable", 0.075),
    (CrossEntropy(), "near the transition", 0.165),
    (CrossEntropy(), "unsatisfiable", 0.28),
    (TAIL, "satisfiable", 0.28),
    (TAIL, "unsatisfiable", 0.4),
]
"""Losses, sides of the transition, and loads ``n / d^2`` there."""
NEAR = 40
"""The only dimension in which the load near the transition is near it; the transition moves with d."""
QUICK = "SciPy L-BFGS-B"
"""The peer of all problems: it has one of the shortest times in each."""
OF_DIMENSION = {
    20: list(PEERS),
    40: list(PEERS),
    100: [QUICK, "torch.optim.LBFGS"],
    200: [QUICK],
}
"""Dimensions, and the peers that are run there."""
OURS, FLOOR = "assocmem", "two bare products"
"""How rows name what this package does, and what no pass can do without."""
NAMES = {repr(CrossEntropy()): "cross-entropy", repr(TAIL): "tail average"}
"""What losses are called in the names of rows."""


def plan(largest: int = 200) -> list[dict]:
    """All rows up to a dimension, not measured yet: for each problem ours and then the peers."""
    rows = []
    for d, peers in OF_DIMENSION.items():
        for loss, side, load in CASES:
            left_out = d != NEAR and side == "near the transition"
            left_out |= d == 200 and (loss != TAIL or side != "satisfiable")
            if d > largest or left_out:
                continue
            head = {"d": d, "n": pairs_at_load(load, d), "loss": repr(loss), "side": side}
            rows += [head | {"peer": peer} for peer in (OURS, *peers)]
    return rows


def problem_name(row: dict) -> str:
    """What the problem of a row is called."""
    return f"d = {row['d']}, {NAMES[row['loss']]}, {row['side']}"


def name(row: dict) -> str:
    """What a row is called on the command line."""
    return f"{problem_name(row)}, {row['peer']}"


@contextmanager
def passes_timed() -> Iterator[SimpleNamespace]:
    """Count and time the passes of a fit, under every name by which the rooms of training know a pass.

    Yields
    ------
    SimpleNamespace
        With ``count`` and ``seconds`` so far.
    """
    spent = SimpleNamespace(count=0, seconds=0.0)

    def timed(*arguments, **options):
        started = time.perf_counter()
        try:
            return loss_pass(*arguments, **options)
        finally:
            spent.count += 1
            spent.seconds += time.perf_counter() - started

    rooms = [room for key, room in list(sys.modules.items()) if key.startswith("assocmem.training.")]
    rooms = [room for room in rooms if getattr(room, "loss_pass", None) is loss_pass]
    try:
        for room in rooms:
            room.loss_pass = timed
        yield spent
    finally:
        for room in rooms:
            room.loss_pass = loss_pass


def run_ours(pairs: Pairs, loss: Loss, target: float) -> dict:
    """Passes and seconds of a fit until its objective is within reach, and until its gap proves it.

    Parameters
    ----------
    pairs : Pairs
    loss : CrossEntropy or TailAverage
    target : float
        Objective that is within reach of the minimum.

    Returns
    -------
    dict
        ``between`` is the time outside of passes in units of that in passes, or None where the fit has taken
        passes in another way than by `loss_pass`.
    """
    started = time.perf_counter()
    with passes_timed() as spent:
        found = fit(pairs, loss, ridge=RIDGE, tol=ACCURACY)
    seconds = time.perf_counter() - started
    last = {"ridge": RIDGE, "beta": getattr(loss, "beta", None)}
    trace = [(k + 1, e) for k, e in enumerate(found.trace) if all(e[key] == last[key] for key in last)]
    arrived = [(k, e) for k, e in trace if e["objective"] <= target] or trace[-1:]
    passes, entry = arrived[0]
    return {
        "passes": passes,
        "seconds": entry["seconds"],
        "proved_passes": found.passes,
        "proved_seconds": seconds,
        "reached": found.converged,
        "between": (seconds - spent.seconds) / spent.seconds if spent.count == found.passes else None,
    }


def run_peer(name: str, pairs: Pairs, loss: Loss, target: float, seconds: float) -> dict:
    """What a peer was asked for until its objective was within reach, or its time was over."""
    counted = Counted(pairs, loss, target, seconds)
    row = {}
    try:
        PEERS[name](counted)
    except Enough:
        pass
    except Exception as error:
        row["failed"] = f"{type(error).__name__}: {error}"[:200]
    row["gradients"], row["products"] = counted.gradients, counted.products
    row["passes"] = counted.gradients + HESSIAN_PASSES * counted.products
    row["seconds"] = counted.reached or time.perf_counter() - counted.started
    row["late"] = row["seconds"] >= seconds
    row["reached"] = counted.reached is not None
    row["excess"] = counted.best / (target / (1 + ACCURACY)) - 1
    return row


def floor_clock(pairs: Pairs) -> Callable[[], float]:
    """A clock of two bare products, to be read beside something long."""
    return clock(bare_products(pairs, torch.zeros(pairs.d, pairs.d, dtype=torch.float64), None), FAIR)


class Missed(Exception):
    """A peer has not arrived; it is not worth another round."""


def measure(pairs: Pairs, loss: Loss, target: float, peer: str, limit: float, seconds: float) -> dict:
    """The rows of our fit and of a peer, timed by turns with two bare products.

    Parameters
    ----------
    pairs : Pairs
    loss : CrossEntropy or TailAverage
    target : float
        Objective at which a run ends.
    peer : str
        One of `PEERS`.
    limit : float
        Seconds after which the peer is stopped.
    seconds : float
        How long rounds are begun.

    Returns
    -------
    dict
        Under ``assocmem`` and the name of the peer what the rows hold. ``ratio`` is that of the peer's time
        to ours, ``to_floor`` that of our time to two bare products, ``between`` the interval of what
        `run_ours` tells.
    """
    runs, others = [], []

    def ours():
        runs.append(run_ours(pairs, loss, target))
        return runs[-1]["seconds"]

    def theirs():
        others.append(run_peer(peer, pairs, loss, target, limit))
        if not others[-1]["reached"]:
            raise Missed
        return others[-1]["seconds"]

    floor = floor_clock(pairs)
    try:
        times = by_turns({FLOOR: floor, OURS: ours, peer: theirs}, seconds)
    except Missed:
        times = by_turns({FLOOR: floor, OURS: ours}, seconds)
        row = others[-1] | {"rounds": 1}
    else:
        row = others[-1] | summary(times[peer]) | {"ratio": ratio(times[peer], times[OURS])}
    runs = runs[-len(times[OURS]) :]
    own = runs[-1] | summary(times[OURS]) | {"to_floor": ratio(times[OURS], times[FLOOR])}
    own["proved_seconds"] = summary([run["proved_seconds"] for run in runs])["seconds"]
    own["between"] = None
    if all(run["between"] for run in runs):
        own["between"] = interval([run["between"] for run in runs])
    return {OURS: own, peer: row}


def entered(row: dict, own: dict, here: dict) -> Iterator[dict]:
    """What a measured row of a peer and of ours, taken with it, add to the history."""
    what = f"a fit, {problem_name(row)}"
    if row["peer"] == OURS:
        yield history.line("full", what, FLOOR, own["to_floor"], here)
        if own["between"]:
            whole = {key: x if key == "rounds" or x is None else 1 + x for key, x in own["between"].items()}
            yield history.line("full", what, "its own passes", whole, here)
    elif "ratio" in row:
        yield history.line("full", what, row["peer"], turned(row["ratio"]), here)


def warm_up() -> None:
    """Load and compile whatever is loaded or compiled at first use."""
    pairs = gaussian_pairs(30, 8, seed=0)
    for loss in (CrossEntropy(), TAIL):
        found = fit(pairs, loss, ridge=RIDGE, tol=ACCURACY)
        for peer in PEERS:
            run_peer(peer, pairs, loss, found.objective * (1 + ACCURACY), 5)


def main() -> None:
    """Measure what the options ask for, and keep the other rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--largest", type=int, default=100, help="largest dimension (default 100; 200 takes long)"
    )
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds of a peer at d = 40 (default 60); grows as d^2"
    )
    parser.add_argument(
        "--seconds", type=float, default=60, help="how long rounds of a row are begun (default 60)"
    )
    Rows.add_options(parser)
    options = parser.parse_args()
    here = machine()
    rows = Rows("fits", here, plan(), name, options, ridge=RIDGE, accuracy=ACCURACY)
    asked = list(rows.asked(plan(options.largest)))
    losses = {repr(loss): loss for loss, _, _ in CASES}
    if asked:
        warm_up()
    for problem in dict.fromkeys(problem_name(row) for row in asked):
        of_problem = [row for row in asked if problem_name(row) == problem]
        head = {key: x for key, x in of_problem[0].items() if key != "peer"}
        d, loss = head["d"], losses[head["loss"]]
        pairs = gaussian_pairs(head["n"], d, seed=0)
        reference = fit(pairs, loss, ridge=RIDGE, tol=ACCURACY / 10)
        head |= {"nu": reference.nu, "gap": reference.gap}
        target, own = reference.objective * (1 + ACCURACY), False
        peers = [row["peer"] for row in of_problem if row["peer"] != OURS]
        for peer in peers or [QUICK]:
            found = measure(pairs, loss, target, peer, options.limit * (d / 40) ** 2, options.seconds)
            wanted = {row["peer"] for row in of_problem} - ({OURS} if own else set())
            own = True
            for who in (who for who in found if who in wanted):
                row = head | {"peer": who} | found[who]
                rows.add(row)
                history.add(entered(row, found[OURS], here))


if __name__ == "__main__":
    main()
