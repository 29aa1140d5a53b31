"""Fits of ours and of general-purpose minimisers to one accuracy: passes over the scores, and time.

    python benchmarks/fits.py                  all of it, into benchmarks/results/fits.json
    python benchmarks/fits.py --only SIDE      one kind of problem

Every minimiser starts at zero. All but pytorch-minimize, which differentiates by itself, are given our
streamed value, gradient and Hessian product, so that what is compared is the algorithm. A run ends when its
objective is within 1e-6 of the minimum, known to 1e-7 by its duality gap, or when its time is over.
Problems that are not run again keep their rows, if those are from this machine with these packages.
"""

import argparse
import math
import time
from collections.abc import Callable

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import numpy as np
import torch
import torchmin
from machine import machine, read_results, write_results
from peers import FARTHEST, TAIL
from scipy.optimize import minimize
from torch.nn import functional

from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load, tail_count
from assocmem.training.fit import Fit, fit
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


def run_ours(found: Fit, loss: Loss, target: float) -> dict:
    """Passes and seconds of a fit until its objective is within reach, and until its gap proves it."""
    last = {"ridge": RIDGE, "beta": getattr(loss, "beta", None)}
    trace = [(k + 1, e) for k, e in enumerate(found.trace) if all(e[key] == last[key] for key in last)]
    passes, entry = next((k, e) for k, e in trace if e["objective"] <= target)
    proved, proof = next((k, e) for k, e in trace if e["gap"] <= ACCURACY)
    return {
        "passes": passes,
        "seconds": entry["seconds"],
        "proved_passes": proved,
        "proved_seconds": proof["seconds"],
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


def main() -> None:
    """Measure what the options ask for and keep the other rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--largest", type=int, default=100, help="largest dimension (default 100; 200 takes long)"
    )
    parser.add_argument(
        "--seconds", type=float, default=30, help="time of a peer at d = 40 (default 30); grows as d^2"
    )
    parser.add_argument("--only", choices=sorted({side for _, side, _ in CASES}), help="one side only")
    options = parser.parse_args()
    tails = [case for case in CASES if case[0] == TAIL]
    plan = [(40, case, list(PEERS)) for case in CASES]
    plan += [(100, case, ["SciPy L-BFGS-B", "torch.optim.LBFGS"]) for case in tails]
    plan += [(200, tails[0], ["SciPy L-BFGS-B"])]
    plan = [(d, case, peers) for d, case, peers in plan if options.only in (None, case[1])]
    rows = []
    for loss in (CrossEntropy(), TAIL):  # whatever is loaded or compiled at first use
        fit(gaussian_pairs(30, 8, seed=0), loss, ridge=0.1)
    for d, (loss, side, load), peers in plan:
        if d > options.largest:
            continue
        n = pairs_at_load(load, d)
        pairs = gaussian_pairs(n, d, seed=0)
        found = fit(pairs, loss, ridge=RIDGE, tol=ACCURACY / 10)
        head = {"d": d, "n": n, "loss": repr(loss), "side": side, "nu": found.nu, "gap": found.gap}
        target = found.objective * (1 + ACCURACY)
        rows.append(head | {"peer": "assocmem", "reached": found.converged} | run_ours(found, loss, target))
        print(rows[-1], flush=True)
        for name in peers:
            limit = options.seconds * (d / 40) ** 2
            rows.append(head | {"peer": name} | run_peer(name, pairs, loss, target, limit))
            print(rows[-1], flush=True)
    here = machine()
    rows = _with_others(rows, here)
    write_results("fits", {"machine": here, "ridge": RIDGE, "accuracy": ACCURACY, "rows": rows})


def _with_others(rows, here):
    """Rows together with the stored ones of other problems, in the order of the plan."""
    known, place = read_results("fits"), lambda row: (row["d"], row["loss"], row["side"])
    measured = {place(row) for row in rows}
    undated = lambda record: {**record, "date": None}  # noqa: E731
    if undated(known["machine"]) == undated(here):
        rows = rows + [row for row in known["rows"] if place(row) not in measured]
    order = [(repr(loss), side) for loss, side, _ in CASES]
    return sorted(rows, key=lambda row: (row["d"], order.index((row["loss"], row["side"]))))


if __name__ == "__main__":
    main()
