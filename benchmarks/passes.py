"""Time and peak memory of one value and gradient: ours against its peers and against two bare products.

    python benchmarks/passes.py                     all of it, into benchmarks/results/passes.json
    python benchmarks/passes.py --only "d = 40" tail       rows whose names have all these words
    python benchmarks/passes.py --keep              only rows that this commit has not measured yet
    python benchmarks/passes.py --list              their names

Every row is a process of its own, so that its peak memory is its own. After one evaluation that warms up, two
bare products, our pass and the peer are timed by turns, and the ratios are those of each round. A row is
written as soon as it is measured. The others stay, if they are from this machine with these packages.
"""

import argparse
import json
import resource
import subprocess
import sys

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import history
import psutil
import torch
from machine import Rows, machine
from peers import LOSSES, PEERS
from ratios import by_turns, clock, ratio, summary

from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.training.passes import loss_pass

SIZES = [(112, 20), (448, 40), (2800, 100), (11_200, 200)]
"""Numbers of pairs and dimensions, at ``n = 0.28 d^2`` as on the satisfiable side of tail averages."""
SLOW = {"autograd, full scores, thresholds by bisection": 100}
"""Largest dimension of peers that take minutes beyond it."""
SCALES = {"small norm": 1.0, "large norm": 100.0}
"""Norms of the memory over d, as on the unsatisfiable and on the satisfiable side of the transition."""
PROBLEMS = [("cross-entropy", "small norm"), *(("tail average", scale) for scale in SCALES)]
FLOOR, OURS = "two bare products", "assocmem"
"""Peers that are timed in every row."""
SECONDS = 30
"""How long rounds are begun, in seconds."""


def problem(n: int, d: int, nu: float) -> tuple[Pairs, torch.Tensor]:
    """Pairs and the outer-product memory scaled to a norm ``nu d``, as on either side of the transition."""
    pairs = gaussian_pairs(n, d, seed=0)
    W = correlation_memory(pairs)
    return pairs, W * (nu * d / W.norm())


def name(row: dict) -> str:
    """What a row is called on the command line."""
    return f"d = {row['d']}, {row['loss']}, {row['scale']}, {row['peer']}"


def measure(loss: str, peer: str, n: int, d: int, nu: float, seconds: float = SECONDS) -> dict:
    """Times of a peer and their ratios, memory beyond one of our passes, distance of the gradient from ours.

    Parameters
    ----------
    loss, peer : str
        Names of `peers`.
    n, d : int
    nu : float
        Norm of the memory over d.
    seconds : float
        How long rounds are begun.

    Returns
    -------
    dict
        ``ratio`` is that to two bare products, ``to_ours`` that to our pass.
    """
    pairs, W = problem(n, d, nu)
    reference = loss_pass(pairs, LOSSES[loss], W)
    evaluate = PEERS[loss][peer](pairs, W, reference.mu)
    resident, highest = psutil.Process().memory_info().rss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = max(resident, highest * 1024)
    value, gradient = evaluate()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    known = {x: PEERS[loss][x](pairs, W, reference.mu) for x in (FLOOR, OURS)} | {peer: evaluate}
    times = by_turns({x: clock(call) for x, call in known.items()}, seconds)
    result = summary(times[peer]) | {"mib": max(0, peak - before) / 2**20}
    if peer != FLOOR:
        result["ratio"] = ratio(times[peer], times[FLOOR])
    if peer not in (FLOOR, OURS):
        result["to_ours"] = ratio(times[peer], times[OURS])
    if gradient is not None:
        scale = reference.gradient.abs().max()
        result["error"] = float((gradient - reference.gradient).abs().max() / scale)
        result["value"] = value
    return result


def plan(largest: int = SIZES[-1][1]) -> list[dict]:
    """All rows up to a dimension, not measured yet."""
    return [
        {"n": n, "d": d, "loss": loss, "scale": scale, "peer": peer}
        for n, d in SIZES
        if d <= largest
        for loss, scale in PROBLEMS
        for peer in PEERS[loss]
        if d <= SLOW.get(peer, d)
    ]


def entered(row: dict, here: dict) -> list[dict]:
    """What a row adds to the history: our passes in units of two bare products."""
    if row["peer"] != OURS or "ratio" not in row:
        return []
    what = f"a pass, d = {row['d']}, {row['loss']}, {row['scale']}"
    return [history.line("full", what, FLOOR, row["ratio"], here)]


def main() -> None:
    """Measure what the options ask for, and keep the other rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--one", nargs=6, metavar=("LOSS", "PEER", "N", "D", "NU", "SECONDS"), help="one measurement"
    )
    parser.add_argument("--largest", type=int, default=SIZES[-1][1], help="largest dimension (default 200)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the rounds of a row (default 30)")
    Rows.add_options(parser)
    options = parser.parse_args()
    if options.one:
        loss, peer, n, d, nu, seconds = options.one
        print(json.dumps(measure(loss, peer, int(n), int(d), float(nu), float(seconds))))
        return
    here = machine()
    rows = Rows("passes", here, plan(), name, options)
    for row in rows.asked([row for row in plan() if row["d"] <= options.largest]):
        found = _in_a_process(row, options.seconds)
        rows.add(row | found)
        history.add(entered(row | found, here))


def _in_a_process(row, seconds):
    words = [row["loss"], row["peer"], row["n"], row["d"], SCALES[row["scale"]], seconds]
    command = [sys.executable, __file__, "--one", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
    return {"failed": lines[-1][:200]}


if __name__ == "__main__":
    torch.manual_seed(0)
    main()
