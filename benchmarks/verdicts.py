"""Verdicts of ours and of a linear program: how long they take, and whether they agree.

    python benchmarks/verdicts.py        both, into benchmarks/results/verdicts.json and agreement.json

A peer maximises t subject to ``s_ii - s_ji >= t`` and ``|W_ab| <= 1``, and says feasible if t exceeds 1e-7,
to which HiGHS satisfies its constraints. It stops at an optimum in floating point; ours ends with a proof
that has been verified. Speed is measured in a process of its own, so that its peak memory is its own.
"""

import argparse
import json
import multiprocessing
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import numpy as np
import torch
from machine import machine, write_results
from scipy.optimize import linprog

from assocmem.deciding.certificates import Certificate
from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import scores

SIZES = [
    (30, (9, 11)),
    (60, (15, 17)),
    (100, (20, 21, 24)),
    (200, (33, 36)),
    (300, (42, 45)),
    (1000, (88, 92)),
]
"""Numbers of pairs whose verdicts are timed, and dimensions on either side of the transition."""
AROUND = {20: (6, 7, 8, 9), 30: (8, 9, 10, 11), 40: (10, 11, 12, 13), 60: (14, 15, 16, 17)}
"""Numbers of pairs for which verdicts are compared, and dimensions around the transition."""
SHARES = {20: 0.4, 30: 0.3, 40: 0.2, 60: 0.1}
"""Shares of all instances that have so many pairs; a program of 60 pairs takes seconds."""
OURS = "assocmem"
PEERS = ("highs-ds", "highs-ipm")
"""The dual simplex and the interior-point method of HiGHS."""
POSITIVE = 1e-7
"""Margin above which a program's answer counts as feasible: to this HiGHS satisfies its constraints."""
SECONDS = 120
"""Time of HiGHS, after which it is stopped."""
START = 60
"""Seconds more for a process to start and to build its program."""
LARGEST_GIB = 3.0
"""Largest matrix of a program that is built; HiGHS takes several times its memory."""
LATE = "out of time"
"""What the table says of a peer that was stopped."""


# --- the two ways to decide ---------------------------------------------------------------------------------


def by_ours(pairs: Pairs) -> tuple[dict, Certificate | None]:
    """Our verdict and its certificate."""
    verdict = decide_top1(pairs)
    return {"feasible": verdict.feasible, "steps": verdict.steps}, verdict.certificate


def program_gib(n: int, d: int) -> float:
    """Size of the matrix of the linear program, which has no zeros to leave out."""
    return 8 * n * (n - 1) * (d * d + 1) / 2**30


def by_program(pairs: Pairs, method: str, seconds: float = SECONDS) -> dict:
    """Verdict of a linear program, or why there is none."""
    n, size = pairs.n, pairs.d**2 + 1
    U, V = pairs.U.numpy(), pairs.V.numpy()
    rows = np.ones((n, n - 1, size))  # t + s_ji - s_ii <= 0
    for i in range(n):
        gaps = np.delete(U, i, axis=1) - U[:, i : i + 1]
        rows[i, :, :-1] = (gaps.T[:, :, None] * V[:, i]).reshape(n - 1, -1)
    found = linprog(
        np.append(np.zeros(size - 1), -1.0),
        A_ub=rows.reshape(-1, size),
        b_ub=np.zeros(n * (n - 1)),
        bounds=[(-1, 1)] * (size - 1) + [(None, 1)],
        method=method,
        options={"time_limit": seconds},
    )
    if found.status != 0:
        return {"failed": LATE if "time limit" in found.message.lower() else found.message[:200]}
    return {"feasible": bool(-found.fun > POSITIVE), "t": -found.fun}


# --- speed --------------------------------------------------------------------------------------------------


def measure(way: str, n: int, d: int) -> dict:
    """Verdict on one instance with its time and the peak memory of this process."""
    for size in ((12, 5), (n, d)):  # the first only warms up
        pairs = gaussian_pairs(*size, seed=0)
        start = time.perf_counter()
        result, certificate = by_ours(pairs) if way == OURS else (by_program(pairs, way), None)
        result["seconds"] = time.perf_counter() - start
    if certificate is not None:
        start = time.perf_counter()
        result["verified"] = verify(certificate, pairs)
        result["verify_seconds"] = time.perf_counter() - start
    return result | {"mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10}


def in_a_process(way: str, n: int, d: int, seconds: float | None = None) -> dict:
    """Result of `measure` in a process of its own, killed after ``seconds``."""
    command = [sys.executable, __file__, "--one", way, str(n), str(d)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"failed": LATE}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
    return {"failed": lines[-1][:200]}


def speed_rows(largest: int) -> Iterator[dict]:
    """One row for each instance and way; a peer that ran out of time is not tried on larger instances."""
    late = set()
    for n, dimensions in SIZES:
        if n > largest:
            continue
        for d in dimensions:
            yield {"n": n, "d": d, "way": OURS} | in_a_process(OURS, n, d)
            for way in PEERS:
                row = {"n": n, "d": d, "way": way}
                if program_gib(n, d) > LARGEST_GIB:
                    yield row | {"failed": f"too large ({program_gib(n, d):.0f} GiB)"}
                elif way not in late:
                    row |= in_a_process(way, n, d, SECONDS + START)
                    if row.get("failed") == LATE:
                        late.add(way)
                    yield row


# --- agreement ----------------------------------------------------------------------------------------------


def forgeries(certificate: Certificate, pairs: Pairs, others: Pairs) -> list[tuple[Certificate, Pairs]]:
    """Three false claims next to a true one: altered, about other pairs, and turned round."""
    if certificate.feasible:
        altered = replace(certificate, W=-certificate.W)
        residuals = scores(pairs, torch.from_numpy(certificate.W)).softmax(dim=0).fill_diagonal_(0)
        turned = Certificate(1, weights=residuals.numpy())
    else:
        weights = certificate.weights.copy()
        weights[np.unravel_index(weights.argmax(), weights.shape)] *= -1
        altered = replace(certificate, weights=weights)
        turned = Certificate(1, W=correlation_memory(pairs).numpy())
    return [(altered, pairs), (certificate, others), (turned, pairs)]


def compare(instance: tuple[int, int, int]) -> dict[str, int]:
    """What one instance adds to the counts of its row."""
    n, d, seed = instance
    pairs = gaussian_pairs(n, d, seed=seed)
    result, certificate = by_ours(pairs)
    peer = by_program(pairs, PEERS[0])
    both = result["feasible"] is not None and "failed" not in peer
    tried = forgeries(certificate, pairs, gaussian_pairs(n, d, seed=seed + 1)) if certificate else []
    return {
        "instances": 1,
        "feasible": int(result["feasible"] is True),
        "infeasible": int(result["feasible"] is False),
        "undecided": int(result["feasible"] is None),
        "failures": int("failed" in peer),
        "disagreements": int(both and result["feasible"] != peer["feasible"]),
        "certificates": int(certificate is not None),
        "verified": int(certificate is not None and verify(certificate, pairs)),
        "forgeries": len(tried),
        "rejected": sum(not verify(*forgery) for forgery in tried),
    }


def agreement_rows(count: int) -> list[dict]:
    """Counts for each size and dimension, of about ``count`` instances in all."""
    instances = [
        (n, around[place % len(around)], place // len(around))
        for n, around in AROUND.items()
        for place in range(round(count * SHARES[n]))
    ]
    rows, context = {}, multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, context, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        for (n, d, seed), counts in zip(instances, pool.map(compare, instances), strict=True):
            rows.setdefault((n, d), Counter()).update(counts)
            if counts["disagreements"] or counts["failures"] or counts["undecided"]:
                print(f"n = {n}, d = {d}, seed {seed}: {counts}", flush=True)
    return [{"n": n, "d": d, **counts} for (n, d), counts in sorted(rows.items())]


def wrong(row: dict) -> bool:
    """Whether a row has a disagreement, a certificate that does not hold or a forgery that does."""
    unproved = row["verified"] < row["certificates"] or row["rejected"] < row["forgeries"]
    return bool(row["disagreements"]) or unproved


def main() -> None:
    """Measure what the options ask for; the exit code is not 0 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=3, metavar=("WAY", "N", "D"), help="one measurement of speed")
    parser.add_argument("--largest", type=int, default=300, help="most pairs (default 300; 1000 is next)")
    parser.add_argument("--agreement", type=int, default=100, metavar="COUNT", help="instances (default 100)")
    options = parser.parse_args()
    if options.one:
        way, n, d = options.one
        print(json.dumps(measure(way, int(n), int(d))))
        return
    rows = []
    for row in speed_rows(options.largest):
        rows.append(row)
        print(row, flush=True)
    write_results("verdicts", {"machine": machine(), "seconds": SECONDS, "rows": rows})
    rows = agreement_rows(options.agreement)
    write_results("agreement", {"machine": machine(), "rows": rows})
    for row in rows:
        print(row, flush=True)
    if any(wrong(row) for row in rows):
        sys.exit("a disagreement, a certificate that does not hold, or a forgery that does")


if __name__ == "__main__":
    main()
