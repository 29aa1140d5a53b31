"""Passes, fits and verdicts on a GPU, as shares of the rate at which that card multiplies matrices.

    python benchmarks/gpu.py              all of it, into benchmarks/results/gpu.csv
    python benchmarks/gpu.py --only PART  one part; rows of the others stay, if they are from this card
    python benchmarks/gpu.py --tiny       sizes for a processor, to see that it runs; nothing is kept

The table grows row by row, so that a run that is cut short leaves what it has. Peers that are not installed,
or fail, are rows too.
"""

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import torch
from machine import RESULTS
from passes import problem
from peers import LOSSES, PEERS, Evaluate, differentiated, labels
from verdicts import NEWTON, OURS, by_ours

from assocmem.deciding.feasibility import verify
from assocmem.machine import processor
from assocmem.pairs.data import Pairs, best_device, gaussian_pairs
from assocmem.training.fit import fit
from assocmem.training.passes import hessian_pass, loss_pass, without_stored_scores
from assocmem.training.precision import EXACT, PRECISIONS, Products

COLUMNS = [
    *("card", "torch", "part", "loss", "what", "precision", "d", "n"),
    *("seconds", "tflops", "share", "gib", "error", "note"),
]
PEER_NAMES = {
    "cross-entropy": ["torch linear_cross_entropy", "autograd, checkpointed blocks, torch.compile"],
    "tail average": ["autograd, checkpointed blocks, torch.compile, thresholds given"],
}
TABLE = RESULTS / "gpu.csv"
"""Where the table is kept."""
PARTS = "pass", "fit", "verdict", "newton"
"""The last are verdicts with the dense Hessian, those before by passes over the scores."""
SQUARE = 8192
"""Rows of the square matrices whose product sets the rate: enough for a card to be busy throughout."""
SECONDS = 2
"""How long each measurement goes on."""
TINY_SQUARE = 64
"""Rows of the square matrices where it is only to be seen that all runs."""
SIZES = [
    *(("pass", d, n) for d, n in ((256, 18_350), (400, 44_800), (600, 100_800))),
    *(("verdict", d, n) for d, n in ((86, 1000), (93, 1000), (166, 3000), (171, 3000), (176, 3000))),
    *(("newton", d, n) for d, n in ((93, 1000), (150, 2000))),
    *(("fit", d, n) for d, n in ((256, 18_350), (600, 100_800))),
    *(("verdict", d, n) for d, n in ((340, 10_000), (345, 10_000), (633, 30_000), (643, 30_000))),
    ("newton", 250, 4800),
]
"""Parts, dimensions and numbers of pairs; the longest come last."""
TINY = [("pass", 8, 18), ("fit", 4, 6), ("verdict", 6, 12), ("newton", 6, 12)]
"""The same where it is only to be seen that all runs."""


def cut_cross_entropy(pairs: Pairs, W: torch.Tensor) -> Evaluate:
    """Cross-entropy of the package cut-cross-entropy, which wants half precision."""
    from cut_cross_entropy import linear_cross_entropy

    targets, keys, classes = pairs.U.T.bfloat16(), pairs.V.T.float(), labels(pairs)
    return differentiated(
        lambda M: linear_cross_entropy((keys @ M.T).bfloat16(), targets, classes), W.float()
    )


def liger_kernel(pairs: Pairs, W: torch.Tensor) -> Evaluate:
    """Cross-entropy of the package liger-kernel, in single precision."""
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    targets, keys, classes = pairs.U.T.float().contiguous(), pairs.V.T.float(), labels(pairs)
    return differentiated(
        lambda M: LigerFusedLinearCrossEntropyLoss()(targets, keys @ M.T, classes), W.float()
    )


def best_seconds(evaluate: Callable[[], object], least: float) -> tuple[float, float, object]:
    """Shortest of some evaluations after one that warms up, peak of GPU memory in GiB, and what it says."""
    on_card = torch.cuda.is_available()
    wait = torch.cuda.synchronize if on_card else (lambda: None)
    if on_card:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    result, times, started = evaluate(), [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - started < least:
        wait()
        start = time.perf_counter()
        result = evaluate()
        wait()
        times.append(time.perf_counter() - start)
    return min(times), torch.cuda.max_memory_allocated() / 2**30 if on_card else float("nan"), result


def product_rows(size: int, least: float, rates: dict[str, float]) -> Iterator[dict]:
    """Rate of square matrix products in each precision; ``rates`` gets them in TFLOP/s."""
    A, B = torch.randn(2, size, size, dtype=torch.float64, device=best_device())
    for precision in ("float64", "float32", "tf32"):
        products = Products(A, precision)
        multiply = partial(products._product, products.targets, products._parts(B), products.space(size))
        seconds, gib, _ = best_seconds(multiply, least)
        rates[precision] = 2 * size**3 / seconds / 1e12
        row = {"part": "product", "what": "square matrices", "precision": precision, "n": size}
        yield row | {"seconds": seconds, "tflops": rates[precision], "share": 1, "gib": gib}
    rates["tf32x3"] = rates["tf32"] / 3


def pass_rows(d: int, n: int, rates: dict[str, float], least: float) -> Iterator[dict]:
    """Ours in all precisions, Hessian products, and the peers."""
    for name, nu in (("cross-entropy", 1.0), ("tail average", 1.0), ("tail average", 100.0)):
        loss, (pairs, W) = LOSSES[name], problem(n, d, nu)
        pairs, W = Pairs(pairs.U.to(best_device()), pairs.V.to(best_device())), W.to(best_device())
        exact = loss_pass(pairs, loss, W)
        size = exact.gradient.norm()
        calls = {("two bare products", EXACT): (4, PEERS[name]["two bare products"](pairs, W, exact.mu))}
        for precision in PRECISIONS:
            form = (
                "no scores stored"
                if name == "cross-entropy" and without_stored_scores(pairs, precision)
                else "assocmem"
            )
            calls[form, precision] = 4, partial(_ours, pairs, loss, W, precision)
        calls["Hessian product", EXACT] = 6, partial(_product, pairs, loss, W)
        for peer in PEER_NAMES[name]:
            calls[peer, EXACT] = 4, partial(_prepared, PEERS[name][peer], pairs, W, exact.mu)
        if name == "cross-entropy":
            calls["cut-cross-entropy", "bfloat16"] = 4, partial(_prepared, cut_cross_entropy, pairs, W)
            calls["liger-kernel", "float32"] = 4, partial(_prepared, liger_kernel, pairs, W)
        for (what, precision), (count, call) in calls.items():
            row = {"part": "pass", "loss": name, "what": what, "precision": precision, "d": d, "n": n}
            row["note"] = f"nu = {nu:g}"
            try:
                evaluate = call() if isinstance(call, partial) and call.func is _prepared else call
                seconds, gib, (_, gradient) = best_seconds(evaluate, least)
            except Exception as error:
                row["note"] += f"; failed: {type(error).__name__} {error}".splitlines()[0][:150]
                yield row
                continue
            tflops = count * n**2 * d / seconds / 1e12
            row |= {"seconds": seconds, "gib": gib, "tflops": tflops}
            row["share"] = tflops / rates.get(precision, float("nan"))
            if gradient is not None and what != "Hessian product":
                row["error"] = float((gradient.to(exact.gradient) - exact.gradient).norm() / size)
            yield row


def _ours(pairs, loss, W, precision):
    done = loss_pass(pairs, loss, W, precision=precision)
    return done.loss, done.gradient


def _product(pairs, loss, W):
    return None, hessian_pass(pairs, loss, W, W)


def _prepared(peer, *arguments):
    return peer(*arguments)


def fit_rows(d: int, n: int) -> Iterator[dict]:
    """A fit on the satisfiable side that begins in each precision worth it."""
    for precision in (EXACT, "float32", "tf32"):
        pairs = gaussian_pairs(n, d, seed=0, device=best_device())
        start = time.perf_counter()
        found = fit(pairs, LOSSES["tail average"], ridge=1e-4, tol=1e-6, max_passes=1000, precision=precision)
        seconds = time.perf_counter() - start
        exact = sum(entry["precision"] == EXACT for entry in found.trace)
        note = f"{found.passes} passes, {exact} of them in float64, gap {found.gap:.0e}, nu {found.nu:.5g}"
        row = {
            "part": "fit",
            "loss": "tail average",
            "what": "ridge 1e-4",
            "precision": precision,
            "d": d,
            "n": n,
        }
        yield row | {"seconds": seconds, "note": note}


def verdict_rows(d: int, n: int, way: str = OURS) -> Iterator[dict]:
    """Whether any memory retrieves an instance, the certificate verified on the processor."""
    pairs = gaussian_pairs(n, d, seed=0, device=best_device())
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    row = {
        "part": "verdict" if way == OURS else "newton",
        "what": "top-1",
        "precision": EXACT,
        "d": d,
        "n": n,
    }
    start = time.perf_counter()
    try:
        found, certificate = by_ours(pairs, way)
    except (ValueError, RuntimeError) as error:
        yield row | {"note": f"failed: {error}"[:150]}
        return
    middle = time.perf_counter()
    proved = verify(certificate, pairs)
    seconds, alone = middle - start, time.perf_counter() - middle
    work = f"{found['passes']} passes" if way == OURS else f"{found['steps']} Newton steps"
    note = f"feasible {found['feasible']}, {work}, certificate verified: {proved}, in {alone:.2g} s"
    gib = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else float("nan")
    yield row | {"seconds": seconds, "gib": gib, "note": note}


def rows(sizes: list[tuple[str, int, int]], square: int, least: float) -> Iterator[dict]:
    """All rows of the table, one after the other."""
    rates, by_newton = {}, partial(verdict_rows, way=NEWTON)
    yield from product_rows(square, least, rates)
    for part, d, n in sizes:
        if part == "pass":
            yield from pass_rows(d, n, rates, least)
        else:
            yield from {"fit": fit_rows, "verdict": verdict_rows, "newton": by_newton}[part](d, n)


def card() -> str:
    """Name of the card, or of the processor where there is none."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"no GPU: {processor()}"


def main(arguments: list[str] | None = None) -> None:
    """Measure what the arguments ask for and keep the other rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, help="one part of the table")
    parser.add_argument("--tiny", action="store_true", help="sizes for a processor; nothing is kept")
    options = parser.parse_args(arguments)
    if not (options.tiny or torch.cuda.is_available()):
        parser.error("no CUDA GPU is available here: --tiny runs it on the processor")
    sizes = [size for size in (TINY if options.tiny else SIZES) if options.only in (None, size[0])]
    same = {"card": card(), "torch": version("torch")}
    kept = [] if options.tiny or not options.only else _kept(same, {"product", options.only})
    with open(os.devnull if options.tiny else TABLE, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(kept)
        for found in rows(sizes, *((TINY_SQUARE, 0) if options.tiny else (SQUARE, SECONDS))):
            row = same | {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in found.items()}
            table.writerow(row)
            file.flush()
            print(*(row.get(name, "") for name in COLUMNS[2:]), sep="  ", flush=True)


def _kept(same, again):
    """Rows of the stored table that are from this card and torch and are not measured again."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="", encoding="utf-8") as file:
        old = list(csv.DictReader(file))
    return [row for row in old if row["part"] not in again and all(row[k] == same[k] for k in same)]


if __name__ == "__main__":
    main()
