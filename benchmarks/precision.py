"""What products in less than double precision do to a pass at a minimiser, and how far a fit gets with them.

    python benchmarks/precision.py            all of it, into benchmarks/results/precision.json

At a minimiser the gradient of the loss is that of the ridge with the sign turned. An error of the gradient
that is not small against ``ridge / d^2 |W|`` moves the minimiser. Without a card TF32 is emulated by float32
products of rounded numbers; only the order of summation differs.
"""

import argparse
from collections.abc import Iterable, Iterator

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import torch
from machine import machine, write_results
from peers import TAIL

from assocmem.pairs.data import Pairs, best_device, gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import loss_pass
from assocmem.training.precision import EXACT, PRECISIONS

Case = tuple[CrossEntropy | TailAverage, float, int, float]
"""Loss, load, dimension and ridge."""
CASES: list[Case] = [
    (CrossEntropy(), 0.075, 60, 1e-3),
    (CrossEntropy(), 0.075, 60, 1e-5),
    (CrossEntropy(), 0.075, 60, 1e-7),
    (TAIL, 0.2, 60, 1e-7),
    (TAIL, 0.28, 60, 1e-3),
    (TAIL, 0.28, 60, 1e-5),
    (TAIL, 0.28, 60, 1e-7),
    (TAIL, 0.4, 60, 1e-7),
]
FITS: list[Case] = [(CrossEntropy(), 0.075, 60, 1e-7), (TAIL, 0.28, 60, 1e-3), (TAIL, 0.28, 60, 1e-7)]
"""Those of which whole fits are made: one for each way in which the first passes can be cheap."""
MINIMISED = 1e-10
"""Relative duality gap of the memories at which errors are measured, far below what the errors do."""


def errors(
    pairs: Pairs, loss: CrossEntropy | TailAverage, W: torch.Tensor, ridge: float, precision: str
) -> dict:
    """Errors of value, gradient and margins of one pass against float64."""
    exact = loss_pass(pairs, loss, W)
    rough = loss_pass(pairs, loss, W, precision=precision)
    ridge_gradient = ridge / pairs.d**2 * float(W.norm())
    return {
        "value": abs(rough.loss - exact.loss) / exact.loss,
        "gradient": float((rough.gradient - exact.gradient).norm()) / ridge_gradient,
        "margins": float((rough.margins - exact.margins).norm() / exact.margins.norm()),
    }


def rows(cases: Iterable[Case] = CASES) -> Iterator[dict]:
    """Errors at minimisers, in every precision but the exact one."""
    device = best_device()
    for loss, load, d, ridge in cases:
        pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=0)
        found = fit(pairs, loss, ridge=ridge, tol=MINIMISED)
        there = Pairs(pairs.U.to(device), pairs.V.to(device))
        for precision in PRECISIONS[:-1]:
            row = {"loss": type(loss).__name__, "load": load, "d": d, "n": pairs.n, "ridge": ridge}
            row |= {"nu": found.nu, "gap": found.gap, "precision": precision}
            yield row | errors(there, loss, found.W.to(device), ridge, precision)


def fit_rows(cases: Iterable[Case] = FITS) -> Iterator[dict]:
    """Passes of fits that begin in each precision."""
    for loss, load, d, ridge in cases:
        pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=0, device=best_device())
        for precision in reversed(PRECISIONS):
            found = fit(pairs, loss, ridge=ridge, precision=precision)
            exact = sum(entry["precision"] == EXACT for entry in found.trace)
            row = {"loss": type(loss).__name__, "load": load, "d": d, "n": pairs.n, "ridge": ridge}
            row |= {"precision": precision, "nu": found.nu, "converged": found.converged}
            yield row | {"cheap": found.passes - exact, "exact": exact}


def main() -> None:
    """Measure everything."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    content = {"machine": machine(), "emulated": not torch.cuda.is_available(), "rows": [], "fits": []}
    for name, found in (("rows", rows()), ("fits", fit_rows())):
        for row in found:
            content[name].append(row)
            print(row, flush=True)
    write_results("precision", content)


if __name__ == "__main__":
    main()
