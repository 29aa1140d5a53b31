"""Time and peak memory of one value and gradient: ours against its peers and against two bare products.

    python benchmarks/passes.py            all of it, into benchmarks/results/passes.json

Every measurement is a process of its own, so that its peak memory is its own, and takes the best of the
evaluations begun within six seconds after one that warms up.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import psutil
import torch
from machine import machine, write_results
from peers import LOSSES, PEERS

from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.training.passes import loss_pass

SIZES = [(2800, 100), (11_200, 200)]
"""Numbers of pairs and dimensions, at ``n = 0.28 d^2`` as on the satisfiable side of tail averages."""
SLOW = {"autograd, full scores, thresholds by bisection": 100}
"""Largest dimension of peers that take minutes beyond it."""
SCALES = {"small norm": 1.0, "large norm": 100.0}
"""Norms of the memory over d, as on the unsatisfiable and on the satisfiable side of the transition."""
SECONDS = 6
"""How long evaluations are repeated, in seconds: enough for several of the slowest."""


def problem(n: int, d: int, nu: float) -> tuple[Pairs, torch.Tensor]:
    """Pairs and the outer-product memory scaled to a norm ``nu d``, as on either side of the transition."""
    pairs = gaussian_pairs(n, d, seed=0)
    W = correlation_memory(pairs)
    return pairs, W * (nu * d / W.norm())


def measure(loss: str, peer: str, n: int, d: int, nu: float) -> dict:
    """Best time of one evaluation, memory beyond one of our passes, distance of the gradient from ours."""
    pairs, W = problem(n, d, nu)
    reference = loss_pass(pairs, LOSSES[loss], W)
    evaluate = PEERS[loss][peer](pairs, W, reference.mu)
    resident, highest = psutil.Process().memory_info().rss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = max(resident, highest * 1024)
    value, gradient = evaluate()
    times, started = [], time.perf_counter()
    while time.perf_counter() - started < SECONDS:
        start = time.perf_counter()
        evaluate()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    result = {"seconds": min(times), "mib": max(0, peak - before) / 2**20}
    if gradient is not None:
        scale = reference.gradient.abs().max()
        result["error"] = float((gradient - reference.gradient).abs().max() / scale)
        result["value"] = value
    return result


def main() -> None:
    """Measure all that the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=5, metavar=("LOSS", "PEER", "N", "D", "NU"), help="one measurement")
    parser.add_argument("--largest", type=int, default=SIZES[-1][1], help="largest dimension (default 200)")
    options = parser.parse_args()
    if options.one:
        loss, peer, n, d, nu = options.one
        print(json.dumps(measure(loss, peer, int(n), int(d), float(nu))))
        return
    rows = []
    for n, d in SIZES:
        if d > options.largest:
            continue
        for loss, scale in (("cross-entropy", "small norm"), *(("tail average", s) for s in SCALES)):
            for peer in PEERS[loss]:
                if d > SLOW.get(peer, d):
                    continue
                row = {"n": n, "d": d, "loss": loss, "scale": scale, "peer": peer}
                rows.append(row | _in_a_process(loss, peer, n, d, SCALES[scale]))
                print(rows[-1], flush=True)
    write_results("passes", {"machine": machine(), "rows": rows})


def _in_a_process(loss, peer, n, d, nu):
    command = [sys.executable, __file__, "--one", loss, peer, str(n), str(d), str(nu)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
    return {"failed": lines[-1][:200]}


if __name__ == "__main__":
    torch.manual_seed(0)
    main()
