"""Stored verdicts decided again, by passes over the scores alone, and compared.

`verdicts.py --stored` runs it. The rows of the stored tables are those of Newton's method, so that two ways
with nothing in common but the verifier have to agree. What has been decided is kept row by row in a file, and
a run that was interrupted goes on from there.
"""

import csv
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import median

from assocmem.files import write_whole
from assocmem.machine import THREAD_SETTINGS, environment
from assocmem.pairs.sizes import tail_count

DATA = Path(__file__).resolve().parent.parent / "data"
TABLES = (
    "finite_size_scaling/verdicts",
    "finite_size_scaling/verdicts_thousand",
    "ridgeless_limit/verdicts",
)
"""The stored verdicts, below `DATA`."""
KEY = ("table", "n", "d", "r", "seed")
"""What tells rows apart; r is empty for the top-1 criterion."""
COLUMNS = (*KEY, "stored", "found", "proved", "passes", "seconds")
"""Columns of the file of what has been decided. Seconds are those of the processor, in one thread, with the
verification by the search itself."""
AT_ONCE = 200
"""Rows that are handed out at a time, so that an interrupt loses little."""

Row = dict[str, str]


def stored_rows() -> list[Row]:
    """All rows of the stored tables, the smallest instances first: `KEY`, and the verdict that is stored."""
    rows = []
    for table in TABLES:
        with (DATA / f"{table}.csv").open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = {"table": table} | {name: row.get(name, "") for name in KEY[1:]}
                rows.append(key | {"stored": row["feasible"]})
    return sorted(rows, key=lambda row: (int(row["n"]), int(row["d"])))


def begin() -> None:
    """Let a process decide by passes alone, in one thread."""
    import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
    import torch

    from assocmem.deciding import feasibility

    torch.set_num_threads(1)
    feasibility.DENSE_DIMENSION = 0
    feasibility._by_newton = _nothing


def _nothing(*_):
    """In place of Newton's method, which would decide what passes leave open."""
    from assocmem.deciding.feasibility import Verdict

    return Verdict(None, None, float("-inf"), 0, "undecided by passes")


def decide_again(row: Row) -> Row:
    """What passes say of a stored row, after `begin`.

    Parameters
    ----------
    row : dict
        Of `stored_rows`.

    Returns
    -------
    dict
        The columns of the file: 1, 0 or nothing as found, and whether the certificate was verified once more.
    """
    from assocmem.deciding.feasibility import decide, verify
    from assocmem.pairs.data import gaussian_pairs

    n, d, seed = (int(row[name]) for name in ("n", "d", "seed"))
    pairs = gaussian_pairs(n, d, seed=seed)
    start = time.process_time()
    verdict = decide(pairs, tail_count(float(row["r"]), n - 1) if row["r"] else 1)
    seconds = time.process_time() - start
    return row | {
        "found": "" if verdict.feasible is None else str(int(verdict.feasible)),
        "proved": str(int(verify(verdict.certificate, pairs))),
        "passes": str(verdict.passes),
        "seconds": f"{seconds:.3g}",
    }


def decided(file: Path) -> list[Row]:
    """What a file has of rows that were decided; a last line that an interrupt cut short does not count."""
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    return [row for row in rows if set(row) == set(COLUMNS) and all(row[x] is not None for x in COLUMNS)]


def run(file: Path, rows: list[Row], workers: int) -> list[Row]:
    """Decide rows that the file does not have yet, and add them to it one by one.

    Parameters
    ----------
    file : Path
        Its rows are kept.
    rows : list of dict
        Of `stored_rows`; decided in this order.
    workers : int
        Processes, of one thread each.

    Returns
    -------
    list of dict
        All rows of the file.
    """
    done = decided(file)
    known = {tuple(row[name] for name in KEY) for row in done}
    left = [row for row in rows if tuple(row[name] for name in KEY) not in known]
    context = multiprocessing.get_context("spawn")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, "".join(f"{','.join(line)}\n" for line in [COLUMNS, *(row.values() for row in done)]))
    with (
        environment(dict.fromkeys(THREAD_SETTINGS, "1")),  # of the processes to come
        file.open("a", newline="", encoding="utf-8") as opened,
        ProcessPoolExecutor(workers, context, initializer=begin) as pool,
    ):
        table = csv.DictWriter(opened, COLUMNS, lineterminator="\n")
        for place in range(0, len(left), AT_ONCE):
            tasks = [pool.submit(decide_again, row) for row in left[place : place + AT_ONCE]]
            for task in as_completed(tasks):
                row = task.result()
                done.append(row)
                table.writerow(row)
                opened.flush()
                if row["found"] != row["stored"] or row["proved"] != "1":
                    print("not as stored:", row, flush=True)
            print(f"{len(done)} rows decided, the last with n = {left[place]['n']}", flush=True)
    return done


def summary(done: list[Row], rows: list[Row]) -> Iterator[dict]:
    """Counts for the top-1 criterion and for tails, size by size.

    Parameters
    ----------
    done : list of dict
        Rows that were decided.
    rows : list of dict
        All that are stored.

    Yields
    ------
    dict
        ``criterion``, ``n``, ``stored`` (rows), ``rows`` (tried), ``equal``, ``different``, ``undecided``,
        ``proved``, ``passes`` (all), ``median_passes``, ``most_passes``, ``seconds`` (all).
    """
    for criterion in ("top-1", "tail"):
        of_kind = [[row for row in x if bool(row["r"]) == (criterion == "tail")] for x in (done, rows)]
        for n in sorted({int(row["n"]) for row in of_kind[1]}):
            found, stored = ([row for row in x if int(row["n"]) == n] for x in of_kind)
            passes = [int(row["passes"]) for row in found]
            open_ones = sum(not row["found"] for row in found)
            equal = sum(row["found"] == row["stored"] != "" for row in found)
            yield {
                "criterion": criterion,
                "n": n,
                "stored": len(stored),
                "rows": len(found),
                "equal": equal,
                "different": len(found) - equal - open_ones,
                "undecided": open_ones,
                "proved": sum(row["proved"] == "1" for row in found),
                "passes": sum(passes),
                "median_passes": median(passes or [0]),
                "most_passes": max(passes, default=0),
                "seconds": round(sum(float(row["seconds"]) for row in found), 1),
            }
