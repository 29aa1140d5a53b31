"""Verdicts of ours and of others: how long they take, and whether they agree.

    python benchmarks/verdicts.py                the times and the agreement with linear programs
    python benchmarks/verdicts.py --keep         the same, but what has not changed is not run again
    python benchmarks/verdicts.py --stored       all verdicts of the stored tables again, by passes alone

They write benchmarks/results/verdicts.json, or agreement.json.

A linear program maximises t subject to ``s_ii - s_ji >= t`` and ``|W_ab| <= 1``, and says feasible if t
exceeds 1e-7, to which HiGHS satisfies its constraints. It stops at an optimum in floating point; ours ends
with a proof that has been verified. Speed is measured in a process of its own, so that its peak memory is its
own.
"""

import argparse
import json
import math
import multiprocessing
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import again
import numpy as np
import torch
from machine import RESULTS, machine, read_results, write_results
from scipy.optimize import linprog, minimize

from assocmem.deciding import feasibility
from assocmem.deciding.certificates import Certificate
from assocmem.deciding.feasibility import Verdict, decide_top1, decision_bytes, verify
from assocmem.deciding.preparation import ROUNDED, prepare
from assocmem.deciding.search import LossOfScores, all_scores
from assocmem.machine import environment
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import scores
from assocmem.training.losses import CrossEntropy
from assocmem.training.passes import loss_pass

DECIDED = Path("_build/verdicts_again.csv")
"""Where it is kept which rows of the stored tables have been decided again."""
OURS = "assocmem"
"""By passes over the scores."""
NEWTON = "assocmem, Newton"
"""With the dense Hessian: the way of small dimensions, and the only one there was."""
QUASI_NEWTON = "L-BFGS-B"
"""SciPy's on the loss without a tilt, and the proof that wants a Hessian of all weights."""
PROGRAMS = ("highs-ds", "highs-ipm")
"""The dual simplex and the interior-point method of HiGHS."""
WAYS = (OURS, NEWTON, QUASI_NEWTON, *PROGRAMS)
SIZES = [
    (30, (9, 10, 11), WAYS),
    (100, (20, 21, 24), WAYS),
    (300, (42, 43, 45), WAYS[:3]),
    (1000, (86, 89, 93), WAYS[:3]),
    (3000, (166, 171, 176), (OURS,)),
    (10_000, (345,), (OURS,)),
]
"""Numbers of pairs whose verdicts are timed, dimensions on either side of the transition and at it, and who
decides. Linear programs ran out of time at 200 pairs."""
AROUND = {20: (6, 7, 8, 9), 30: (8, 9, 10, 11), 40: (10, 11, 12, 13), 60: (14, 15, 16, 17)}
"""Numbers of pairs for which verdicts are compared, and dimensions around the transition."""
SHARES = {20: 0.4, 30: 0.3, 40: 0.2, 60: 0.1}
"""Shares of all instances that have so many pairs; a program of 60 pairs takes seconds."""
POSITIVE = 1e-7
"""Margin above which a program's answer counts as feasible: to this HiGHS satisfies its constraints."""
SECONDS = 120
"""Time of a peer, after which it is stopped."""
START = 60
"""Seconds more for a process to start and to build its program, or to end the proof that it has begun."""
LARGEST_GIB = 3.0
"""Largest matrix of a program that is built; HiGHS takes several times its memory."""
LATE = "out of time"
"""What the table says of a peer that was stopped."""
LEFT = 0.01
"""Length of what weights leave uncancelled, over the lengths of their terms and times the square of n, at
which L-BFGS-B first tries a proof: about where proofs were seen to hold, at 30 to 300 pairs."""
LEFT_AGAIN = 0.3
"""Share of it at which it tries again."""
CROSSING = ((30, 10), (40, 12), (50, 14), (75, 18), (100, 21), (130, 25), (160, 29), (200, 34), (270, 41))
"""Numbers of pairs, and the dimension of their transition, around which one way becomes the faster."""
INSTANCES = 3
"""Instances in each of three dimensions that are decided both ways."""
TIMES = 3
"""Times that short things are measured; the shortest counts."""


# --- the ways to decide -------------------------------------------------------------------------------------


def by_ours(pairs: Pairs, way: str | None = None) -> tuple[dict, Certificate | None]:
    """Our verdict and its certificate, by one way alone, or as `decide_top1` chooses."""
    there = feasibility.DENSE_DIMENSION, feasibility._by_newton, feasibility._by_passes
    try:
        if way == OURS:
            feasibility.DENSE_DIMENSION, feasibility._by_newton = 0, _nothing
        elif way == NEWTON:
            feasibility.DENSE_DIMENSION, feasibility._by_passes = pairs.d, _nothing
        verdict = decide_top1(pairs)
    finally:
        feasibility.DENSE_DIMENSION, feasibility._by_newton, feasibility._by_passes = there
    found = {name: getattr(verdict, name) for name in ("feasible", "steps", "passes")}
    return found, verdict.certificate


def _nothing(*_):
    return Verdict(None, None, -math.inf, 0, "left out")


class _Stop(Exception):
    """Ends a minimiser that has been told enough."""


def by_quasi_newton(pairs: Pairs, seconds: float = SECONDS) -> tuple[dict, Certificate | None]:
    """Verdict of SciPy's L-BFGS-B on the cross-entropy of whitened pairs, with a certificate.

    Every memory with all margins positive ends it. Its weights, which are stored, are offered as a proof of
    the opposite when they cancel well enough for that to be worth its time.
    """
    started, prepared = time.perf_counter(), prepare(pairs, ROUNDED)
    inner, d = prepared.pairs, pairs.d
    longest = float(inner.U.norm(dim=0).max() * inner.V.norm(dim=0).max())
    state = {"passes": 0, "left": LEFT / pairs.n**2, "found": None}

    def value(x):
        if time.perf_counter() - started > seconds:
            raise _Stop
        W = torch.from_numpy(x.reshape(d, d).copy())
        done = loss_pass(inner, CrossEntropy(), W)
        state["passes"] += 1
        left = float(done.gradient.norm() / torch.sigmoid(-done.margins).mean()) / longest
        certificate = None
        if float(done.margins.min()) > 0:
            certificate = Certificate(1, W=prepared.memory(W).numpy())
        elif left <= state["left"]:
            state["left"] = left * LEFT_AGAIN
            S = all_scores(inner, W)
            weights = LossOfScores(CrossEntropy(), S, inner.answers).weights.fill_diagonal_(0)
            certificate = Certificate(1, weights=prepared.weights(weights).numpy())
        if verify(certificate, pairs):
            state.update(found=certificate, at=left)
            raise _Stop
        return done.loss * pairs.n, done.gradient.numpy().ravel() * pairs.n

    try:
        options = {"maxiter": 10**6, "maxfun": 10**6, "ftol": 0, "gtol": 0}
        minimize(value, np.zeros(d * d), jac=True, method="L-BFGS-B", options=options)
        why = "gave up"
    except _Stop:
        why = LATE
    found = state["found"]
    result = {"passes": state["passes"]}
    result |= {"feasible": found.feasible, "left": state["at"]} if found else {"failed": why}
    return result, found


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
    """Verdict on one instance with its time and the peak memory of this process; a pass for comparison."""
    decide: dict[str, Callable] = {name: partial(by_ours, way=name) for name in (OURS, NEWTON)}
    decide[QUASI_NEWTON] = by_quasi_newton
    for size in ((30, 9), (n, d)):  # the first only warms up
        pairs = gaussian_pairs(*size, seed=0)
        start = time.perf_counter()
        result, certificate = decide[way](pairs) if way in decide else (by_program(pairs, way), None)
        result["seconds"] = time.perf_counter() - start
    result["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    if certificate is not None:
        result["verified"] = verify(certificate, pairs)
        result["verify_seconds"] = _shortest(lambda: verify(certificate, pairs))
    if way == OURS:
        result["pass_seconds"] = _shortest(
            lambda: loss_pass(pairs, CrossEntropy(), correlation_memory(pairs))
        )
    return result


def _shortest(call):
    """Shortest of a few times, or the only one where one takes seconds."""
    times = []
    while len(times) < TIMES and sum(times) < TIMES:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def in_a_process(way: str, n: int, d: int, seconds: float | None = None) -> dict:
    """Result of `measure` in a process of its own, killed after ``seconds``."""
    return _told_by(["--one", way, str(n), str(d)], seconds)


def _told_by(arguments, seconds=None):
    """What this script prints last with some arguments, or how it failed."""
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"failed": LATE}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
    return {"failed": lines[-1][:200]}


def speed_rows(largest: int, kept: list[dict] = ()) -> Iterator[dict]:
    """One row for each instance and way; a program that ran out of time is not tried on larger instances.

    Rows that are kept are not measured again.
    """
    known = {(row["n"], row["d"], row["way"]): row for row in kept}
    late = {row["way"]: row["n"] for row in kept if row.get("failed") == LATE}
    for n, dimensions, ways in SIZES:
        for d in dimensions if n <= largest else ():
            for way in ways:
                row = {"n": n, "d": d, "way": way}
                gib = program_gib(n, d) if way in PROGRAMS else decision_bytes(n, d) / 2**30
                if way in PROGRAMS and gib > LARGEST_GIB:
                    yield row | {"failed": f"too large ({gib:.0f} GiB)"}
                    continue
                if n > late.get(way, n) or (late.get(way) == n and (n, d, way) not in known):
                    continue
                row = known.get((n, d, way)) or row | in_a_process(
                    way, n, d, None if way in (OURS, NEWTON) else SECONDS + START
                )
                if row.get("failed") == LATE and way in PROGRAMS:
                    late.setdefault(way, n)
                yield row


def kept_rows() -> list[dict]:
    """Stored rows of linear programs that this kind of machine has measured, each with the day."""
    if not (RESULTS / "verdicts.json").exists():
        return []
    stored, here = read_results("verdicts"), machine()
    if any(stored["machine"][name] != here[name] for name in ("processor", "cores")):
        return []
    day = {"date": stored["machine"]["date"]}
    return [day | row for row in stored["rows"] if row["way"] in PROGRAMS and "seconds" in row]


# --- where one way becomes the faster -----------------------------------------------------------------------


def crossover(threads: int) -> list[dict]:
    """Seconds of a verdict by passes and by Newton's method, of the same instances one after the other.

    Parameters
    ----------
    threads : int
        That a process of its own uses.

    Returns
    -------
    list of dict
    """
    torch.set_num_threads(threads)
    rows = []
    for n, middle in ((12, 5), *CROSSING):  # the first only warms up
        spent = dict.fromkeys((OURS, NEWTON), 0.0)
        counts = dict.fromkeys((OURS, NEWTON), 0)
        for d in (middle - 1, middle, middle + 1):
            for seed in range(INSTANCES):
                pairs = gaussian_pairs(n, d, seed=seed)
                for way in spent:
                    start = time.perf_counter()
                    found, _ = by_ours(pairs, way)
                    spent[way] += time.perf_counter() - start
                    counts[way] += found["feasible"] is None
        number = 3 * INSTANCES
        rows.append(
            {"n": n, "d": middle, "threads": threads, "instances": number}
            | {"passes": spent[OURS] / number, "newton": spent[NEWTON] / number}
            | {"undecided": counts[OURS], "undecided_newton": counts[NEWTON]}
        )
    return rows[1:]


def crossover_rows() -> list[dict]:
    """The rows of `crossover` with one thread and with two."""
    rows = []
    for threads in (1, 2):
        with environment(dict.fromkeys(again.THREADS, str(threads))):
            rows += _told_by(["--crossing", str(threads)])
    return rows


# --- agreement ----------------------------------------------------------------------------------------------


def forgeries(certificate: Certificate, pairs: Pairs, others: Pairs) -> list[tuple[Certificate, Pairs]]:
    """Three false claims next to a true one: altered, about other pairs, and turned round."""
    if certificate.feasible:
        altered = replace(certificate, W=-certificate.W)
        residuals = scores(pairs, torch.from_numpy(certificate.W)).softmax(dim=0).fill_diagonal_(0)
        turned = Certificate(1, weights=residuals.numpy())
    else:
        if certificate.computed:
            altered = replace(certificate, computed=replace(certificate.computed, W=-certificate.computed.W))
        else:
            weights = certificate.weights.copy()
            weights[np.unravel_index(weights.argmax(), weights.shape)] *= -1
            altered = replace(certificate, weights=weights)
        turned = Certificate(1, W=correlation_memory(pairs).numpy())
    return [(altered, pairs), (certificate, others), (turned, pairs)]


def compare(instance: tuple[int, int, int]) -> dict[str, int]:
    """What one instance, decided by both our ways and by a program, adds to the counts of its row."""
    n, d, seed = instance
    pairs, others = (gaussian_pairs(n, d, seed=s) for s in (seed, seed + 1))
    found = [by_ours(pairs, way) for way in (OURS, NEWTON)]
    peer = by_program(pairs, PROGRAMS[0])
    answers = {result["feasible"] for result, _ in found}
    known = answers - {None}
    certificates = [certificate for _, certificate in found if certificate is not None]
    tried = [forgery for certificate in certificates for forgery in forgeries(certificate, pairs, others)]
    return {
        "instances": 1,
        "feasible": int(known == {True}),
        "infeasible": int(known == {False}),
        "undecided": int(None in answers),
        "failures": int("failed" in peer),
        "disagreements": int(len(known | {peer["feasible"]} if "failed" not in peer else known) > 1),
        "certificates": len(certificates),
        "verified": sum(verify(certificate, pairs) for certificate in certificates),
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


def _parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=3, metavar=("WAY", "N", "D"), help="one measurement of speed")
    parser.add_argument("--crossing", type=int, metavar="THREADS", help="both our ways in small dimensions")
    parser.add_argument("--largest", type=int, default=3000, help="most pairs (default 3000; 10000 is next)")
    parser.add_argument("--agreement", type=int, default=100, metavar="COUNT", help="instances (default 100)")
    parser.add_argument(
        "--keep", action="store_true", help="times of linear programs, and agreement, as stored"
    )
    parser.add_argument("--stored", action="store_true", help="decide the stored tables again, and no more")
    parser.add_argument("--file", type=Path, default=DECIDED, help=f"what of them is decided ({DECIDED})")
    parser.add_argument("--workers", type=int, default=2, help="processes that decide them (default 2)")
    return parser.parse_args()


def _write_agreement(**parts):
    """Write some parts of the table of agreement; the others stay."""
    there = read_results("agreement") if (RESULTS / "agreement.json").exists() else {}
    write_results("agreement", there | parts)


def main() -> None:
    """Measure what the options ask for; the exit code is not 0 if anything is wrong."""
    options = _parsed()
    if options.one:
        way, n, d = options.one
        print(json.dumps(measure(way, int(n), int(d))))
        return
    if options.crossing:
        print(json.dumps(crossover(options.crossing)))
        return
    if options.stored:
        stored = again.stored_rows()
        rows = list(again.summary(again.run(options.file, stored, options.workers), stored))
        _write_agreement(stored={"machine": machine(), "rows": rows})
        if any(row["different"] or row["proved"] + row["undecided"] < row["rows"] for row in rows):
            sys.exit("a verdict that is not as stored, or that has no proof")
        return
    rows = []
    for row in speed_rows(options.largest, kept_rows() if options.keep else []):
        rows.append(row)
        print(row, flush=True)
    crossing = crossover_rows()
    write_results("verdicts", {"machine": machine(), "seconds": SECONDS, "rows": rows, "crossover": crossing})
    if options.keep:
        return
    rows = agreement_rows(options.agreement)
    _write_agreement(machine=machine(), ways=[OURS, NEWTON], rows=rows)
    for row in rows:
        print(row, flush=True)
    if any(wrong(row) for row in rows):
        sys.exit("a disagreement, a certificate that does not hold, or a forgery that does")


if __name__ == "__main__":
    main()
