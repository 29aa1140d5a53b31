"""What products in less than double precision do to a pass, at minimisers of small ridge.

    python benchmarks/precision.py            all of it, into benchmarks/results/precision.json

At a minimiser the gradient of the loss is that of the ridge with the sign turned. An error of the gradient
that is not small against ``ridge / d^2 |W|`` moves the minimiser. Without a card TF32 is emulated by float32
products of rounded numbers; only the order of summation differs.
"""

import argparse

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import torch
from machine import machine, write_results

from assocmem.fit import fit
from assocmem.kernels import loss_pass
from assocmem.losses import CrossEntropy, TailAverage
from assocmem.model import Pairs, best_device, gaussian_pairs, pairs_at_load
from assocmem.precision import PRECISIONS

TAIL = TailAverage(r=0.15, beta=30.0)
CASES = [  # loss, load, dimension, ridge
    (CrossEntropy(), 0.075, 60, 1e-3),
    (CrossEntropy(), 0.075, 60, 1e-5),
    (CrossEntropy(), 0.075, 60, 1e-7),
    (TAIL, 0.2, 60, 1e-7),
    (TAIL, 0.28, 60, 1e-3),
    (TAIL, 0.28, 60, 1e-5),
    (TAIL, 0.28, 60, 1e-7),
    (TAIL, 0.4, 60, 1e-7),
]


def errors(pairs, loss, W, ridge, precision):
    """Errors of value, gradient and margins of one pass against float64."""
    exact = loss_pass(pairs, loss, W)
    rough = loss_pass(pairs, loss, W, precision=precision)
    ridge_gradient = ridge / pairs.d**2 * float(W.norm())
    return {
        "value": abs(rough.loss - exact.loss) / exact.loss,
        "gradient": float((rough.gradient - exact.gradient).norm()) / ridge_gradient,
        "margins": float((rough.margins - exact.margins).norm() / exact.margins.norm()),
    }


def rows(cases=CASES):
    device = best_device()
    for loss, load, d, ridge in cases:
        pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=0)
        found = fit(pairs, loss, ridge=ridge, tol=1e-10)
        there = Pairs(pairs.U.to(device), pairs.V.to(device))
        for precision in PRECISIONS[:-1]:
            row = {"loss": type(loss).__name__, "load": load, "d": d, "n": pairs.n, "ridge": ridge}
            row |= {"nu": found.nu, "gap": found.gap, "precision": precision}
            yield row | errors(there, loss, found.W.to(device), ridge, precision)


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    table = []
    for row in rows():
        table.append(row)
        print(row, flush=True)
    emulated = not torch.cuda.is_available()
    write_results("precision", {"machine": machine(), "emulated": emulated, "rows": table})


if __name__ == "__main__":
    main()
