"""Write the benchmark page of the book from the stored tables.

python benchmarks/page.py            benchmarks/results/* into book/benchmarks.md
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import history
from machine import RESULTS, read_results
from ratios import shown

from assocmem.deciding.feasibility import DENSE_DIMENSION

PAGE = Path(__file__).resolve().parent.parent / "book" / "benchmarks.md"
"""The page that is written."""
FLOOR = "two bare products"
"""The peer that others are compared with: no pass can take less."""
OURS = "assocmem"
"""How the tables name what this package does."""
VERDICTS = {True: "feasible", False: "infeasible", None: "undecided"}
PROGRAMS = ("highs-ds", "highs-ipm")
NEWTON, QUASI_NEWTON = "assocmem, Newton", "L-BFGS-B"
"""The other ways to decide that are timed."""
SILENT = "pytorch-minimize trust-ncg"
"""A minimiser that does not tell how many Hessian products it takes."""
NAMES = ("passes", "fits", "verdicts", "agreement", "precision", "pages")
"""Stored tables that the page shows, in the order in which `page` takes them."""
UNMEASURED = (
    "Neither rates nor times have been measured yet: no card was at hand. `benchmarks/gpu.py` does it."
)
NOT_YET = "It has not been measured yet."
EMULATED = "in float32 arithmetic on a processor, which adds in another order than a card"


def page(
    passes: dict,
    fits: dict,
    verdicts: dict,
    agreement: dict,
    precision: dict,
    pages: dict,
    gpu: Sequence[dict] = (),
    many: dict | None = None,
    runs: Sequence[dict] = (),
) -> str:
    """Text of the page: the prose of ``page.md`` with the tables filled in.

    Parameters
    ----------
    passes, fits, verdicts, agreement, precision, pages : dict
        Stored tables.
    gpu : sequence of dict
        Rows that `gpu.py` has left; none where no card has been measured.
    many : dict, optional
        Table that `many.py` has left, if any.
    runs : sequence of dict
        Lines of the history.

    Returns
    -------
    str
    """
    keys = dict.fromkeys((row["loss"], row["scale"]) for row in passes["rows"])
    problems = dict.fromkeys((row["d"], row["n"], row["loss"], row["side"]) for row in fits["rows"])
    text = (Path(__file__).parent / "page.md").read_text(encoding="utf-8")
    for name, lines in {
        "short": _short_table(passes["rows"], fits["rows"], verdicts["rows"]),
        "slower": history.page_lines(list(runs)),
        "machines": _machines(
            {
                "the passes": passes,
                "the fits": fits,
                "the fits at once": many,
                "the verdicts": verdicts,
                "their agreement": agreement,
                "the stored verdicts": agreement["stored"],
                "the precisions": precision,
                "the pages": pages,
            }
        ),
        "gpu": _gpu_tables(gpu) if gpu else [UNMEASURED],
        "emulated": [EMULATED if precision["emulated"] else "by the card"],
        "dimensions": [
            ", ".join(dict.fromkeys(str(row["d"]) for row in precision["rows"] + precision["fits"]))
        ],
        "precision": _precision_table(precision["rows"]),
        "cheap": _cheap_table(precision["fits"]),
        "passes": [line for key in keys for line in _pass_table(key, passes["rows"])],
        "error": [_power(max(row.get("error", 0) for row in passes["rows"]))],
        "ridge": [_power(fits["ridge"])],
        "accuracy": [_power(fits["accuracy"])],
        "fits": [line for key in problems for line in _fit_table(key, fits["rows"])],
        "between": _between_table(fits["rows"]),
        "many": _many_table(many["rows"]) if many else [NOT_YET],
        "limit": [_seconds(verdicts["seconds"])],
        "day": [_programs_day(verdicts)],
        "verdicts": _verdict_table(verdicts["rows"]),
        "others": _others_table(verdicts["rows"]),
        "dense": [str(DENSE_DIMENSION)],
        "crossover": _crossover_table(verdicts["crossover"]),
        "instances": [str(sum(row["instances"] for row in agreement["rows"]))],
        "ways": ["passes alone and by Newton's method alone" if "ways" in agreement else "Newton's method"],
        "agreement": _agreement_table(agreement["rows"]),
        "decided": [_thousands(sum(row["rows"] for row in agreement["stored"]["rows"]))],
        "kept": [_thousands(sum(row["stored"] for row in agreement["stored"]["rows"]))],
        "differences": [_differences(agreement["stored"]["rows"])],
        "stored": _stored_table(agreement["stored"]["rows"]),
        "visits": [str(pages["visits"])],
        "pages": _pages_table(pages["rows"]),
    }.items():
        text = text.replace(f"<<{name}>>", "\n".join(lines).strip())
    return text


def _short_table(passes, fits, verdicts):
    """The largest of each kind that somebody else has done as well, with the fastest of them."""
    yield "| What | assocmem | fastest other | in times | which |"
    yield "|:--|--:|--:|--:|:--|"
    for loss, scale in dict.fromkeys((row["loss"], row["scale"]) for row in passes):
        what = f"value and gradient, {loss}" + (f", {scale}" if loss == "tail average" else "")
        rows = [row for row in passes if (row["loss"], row["scale"]) == (loss, scale) and "failed" not in row]
        rows = [row for row in rows if row["n"] == max(row["n"] for row in rows) and row["peer"] != FLOOR]
        others = [row for row in rows if not row["peer"].startswith(OURS)]
        yield _short_row(what, next(row for row in rows if row["peer"] == OURS), others)
    for loss, side in dict.fromkeys((row["loss"].split("(")[0], row["side"]) for row in fits):
        rows = [row for row in fits if row["loss"].startswith(loss) and row["side"] == side]
        rows = [row for row in rows if row["n"] == max(row["n"] for row in rows)]
        name = _loss(rows[0])
        others = [row for row in rows if row["peer"] != OURS and row["reached"]]
        yield _short_row(f"a fit, {name}, {side}", next(row for row in rows if row["peer"] == OURS), others)
    for others in (PROGRAMS, (QUASI_NEWTON,)):
        for feasible in (True, False):
            rows = [row | {"peer": row["way"]} for row in verdicts if row.get("feasible") == feasible]
            n, d = max((row["n"], row["d"]) for row in rows if row["way"] in others)
            ours, *rows = [row for row in rows if (row["n"], row["d"]) == (n, d)]
            found = [row for row in rows if row["way"] in others]
            yield _short_row(f"a verdict, {VERDICTS[feasible]}", ours, found)


def _short_row(what, ours, others):
    best = min(others, key=lambda row: row["seconds"])
    times = _times(best, ours, best.get("to_ours" if "scale" in best else "ratio"))
    what += f", $d = {ours['d']}$"
    cells = [what, _seconds(ours["seconds"]), _seconds(best["seconds"]), times, best["peer"]]
    return f"| {' | '.join(cells)} |"


def _times(row, other, found=None):
    """How many times as long a row took as another: with an interval where rounds were measured."""
    if found is not None:
        return shown(found)
    ratio = row["seconds"] / other["seconds"]
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _machines(tables):
    """One line for each machine, with what was measured on it."""
    found = {}
    for what, table in tables.items():
        if table is not None:
            found.setdefault(_machine(table), []).append(what)
    for machine, parts in found.items():
        *others, last = parts
        words = f"{', '.join(others)} and {last}" if others else last
        yield f"{words[0].upper()}{words[1:]}: {machine}."


def _programs_day(verdicts):
    """When the linear programs were timed, which are not run again each time."""
    return _days([row for row in verdicts["rows"] if row["way"] in PROGRAMS], verdicts["machine"]["date"])


def _days(rows, day):
    """The first and the last day of some rows; those that name none are of a given day."""
    days = [row.get("date", day) for row in rows] or [day]
    first, last = min(days), max(days)
    return first if first == last else f"{first} to {last}"


def _machine(table):
    m = table["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
    days = _days([row for row in table["rows"] if row.get("way") not in PROGRAMS], m["date"])
    return (
        f"{m['processor']}, {m['cores']} cores, {m['memory_gib']} GiB, Python {m['python']}, "
        f"{versions}, OMP_WAIT_POLICY {m['waiting_threads']}, {days}"
    )


def _pass_table(key, rows):
    loss, scale = key
    rows = [row for row in rows if (row["loss"], row["scale"]) == key]
    floors = {row["n"]: row for row in rows if row["peer"] == FLOOR}
    title = f"{loss.capitalize()}, {scale}" if loss == "tail average" else loss.capitalize()
    yield f":::{{dropdown}} {title}"
    yield "| $d$ | $n$ | value and gradient | time | in floors | rounds | MiB |"
    yield "|--:|--:|:--|--:|--:|--:|--:|"
    for row in sorted(rows, key=lambda row: row["n"]):
        cells = [row["d"], row["n"], f"**{OURS}**" if row["peer"] == OURS else row["peer"]]
        if "failed" in row:
            cells += ["failed", "", "", ""]
        else:
            floor = "" if row["peer"] == FLOOR else _times(row, floors[row["n"]], row.get("ratio"))
            cells += [_seconds(row["seconds"]), floor, row.get("rounds", ""), f"{row['mib']:.0f}"]
        yield f"| {' | '.join(map(str, cells))} |"
    yield ":::"
    yield ""


def _gpu_tables(rows):
    """What ``gpu.py`` measured, part by part."""
    yield f"Measured on one {rows[0]['card']} with torch {rows[0]['torch']}."
    yield "The rate counts the operations a pass cannot do without."
    yield "Its share is that of the rate at which the same card multiplies square matrices in that precision."
    for part in dict.fromkeys(row["part"] for row in rows):
        yield ""
        yield "| loss | what | precision | $d$ | $n$ | time | TFLOP/s | share | GiB | error | |"
        yield "|:--|:--|:--|" + "--:|" * 7 + ":--|"
        for row in (row for row in rows if row["part"] == part):
            cells = [row[name] for name in ("loss", "what", "precision", "d", "n")]
            cells += [_seconds(float(row["seconds"])) if row["seconds"] else ""]
            cells += [f"{float(row[name]):.3g}" if row[name] else "" for name in ("tflops", "share", "gib")]
            cells += [_power(float(row["error"])) if row["error"] else "", row["note"]]
            yield "| " + " | ".join(cells) + " |"


def _problem(row):
    return [_loss(row), f"{row['load']:g}", _power(row["ridge"])]


def _precision_table(rows):
    yield "| loss | load | ridge | precision | value | gradient | margins |"
    yield "|:--|--:|--:|:--|--:|--:|--:|"
    for row in rows:
        cells = [*_problem(row), row["precision"]]
        cells += [_power(row[name]) for name in ("value", "gradient", "margins")]
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def _cheap_table(rows):
    yield "| loss | load | ridge | begins in | cheap passes | passes in float64 |"
    yield "|:--|--:|--:|:--|--:|--:|"
    for row in rows:
        cells = [*_problem(row), row["precision"], row["cheap"] or "", row["exact"]]
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def _fit_table(key, rows):
    d, n, _, side = key
    rows = [row for row in rows if (row["d"], row["n"], row["loss"], row["side"]) == key]
    yield f":::{{dropdown}} {_loss(rows[0]).capitalize()}, {side}: $d = {d}$, $n = {n}$"
    yield f"$\\nu = {rows[0]['nu']:.4g}$ at the minimum."
    yield ""
    # Where no peer takes Hessian products, gradients are passes.
    whole = any(row["peer"] == SILENT or row.get("products") for row in rows)
    counted = "gradients | Hessian products | passes" if whole else "passes"
    yield f"| minimiser | {counted} | time | rounds | outcome |"
    yield "|:--" + "|--:" * (5 if whole else 3) + "|:--|"
    ours = next(row for row in rows if row["peer"] == OURS)
    for row in rows:
        counts = [row.get("gradients", row["passes"]), row.get("products") or "", f"{row['passes']:.0f}"]
        if row["peer"] == SILENT:
            counts[1:] = ["unknown", ""]
        counts = counts if whole else counts[2:]
        cells = [*counts, _seconds(row["seconds"]), row.get("rounds", 1), _outcome(row, ours)]
        name = f"**{OURS}**" if row is ours else row["peer"]
        yield f"| {name} | " + " | ".join(str(cell) for cell in cells) + " |"
    yield ":::"
    yield ""


def _outcome(row, ours):
    if row is ours:
        return f"proved after {row['proved_passes']} passes, {_seconds(row['proved_seconds'])}"
    passes, times = row["passes"] / ours["passes"], _times(row, ours, row.get("ratio"))
    if row["reached"] and row["peer"] == SILENT:
        return f"{times} × the time"
    if row["reached"]:
        return f"{passes:.1f} × the passes, {times} × the time"
    why = f"failed ({row['failed']})" if "failed" in row else "out of time" if row["late"] else "gave up"
    return f"{why}, {_power(row['excess'])} above the minimum"


def _loss(row):
    return "cross-entropy" if row["loss"].startswith("Cross") else "tail average"


def _between_table(rows):
    """What our fits do between passes, where that was measured."""
    rows = [row for row in rows if row.get("between")]
    if not rows:
        yield NOT_YET
        return
    yield "| $d$ | loss | side | passes to the proof | time | between passes, in passes | rounds |"
    yield "|--:|:--|:--|--:|--:|--:|--:|"
    for row in rows:
        cells = [row["d"], _loss(row), row["side"], row["proved_passes"], _seconds(row["proved_seconds"])]
        yield f"| {' | '.join(map(str, [*cells, shown(row['between']), row['rounds']]))} |"


def _many_table(rows):
    yield "| loss | $d$ | $n$ | fits | one by one | at once | in times | rounds | memories differ by |"
    yield "|:--|" + "--:|" * 8
    for row in rows:
        cells = [_loss(row), *(row[name] for name in ("d", "n", "instances"))]
        cells += [_seconds(row[way]["seconds"]) for way in ("one by one", "at once")]
        cells += [shown(row["ratio"]), row["ratio"]["rounds"]]
        cells += [_power(row["difference"]) if row["difference"] else "nothing"]
        yield f"| {' | '.join(map(str, cells))} |"


def _verdict_table(rows):
    """Our verdicts by passes alone."""
    yield "| $n$ | $d$ | verdict | passes | time | MiB | verification alone | in passes |"
    yield "|--:|--:|:--|" + "--:|" * 5
    for row in (row for row in rows if row["way"] == OURS):
        cells = [row["n"], row["d"], VERDICTS[row["feasible"]], row["passes"], _seconds(row["seconds"])]
        cells += [f"{row['mib']:.0f}", "", ""]
        if row.get("verified"):
            passes = row["verify_seconds"] / row["pass_seconds"]
            cells[-2:] = [_seconds(row["verify_seconds"]), f"{passes:.1f}"]
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def _others_table(rows):
    """Other ways to the same verdicts, as multiples of our time."""
    yield "| $n$ | $d$ | **passes** | Newton | MiB | L-BFGS-B | MiB |" + "".join(
        f" {name} | MiB |" for name in PROGRAMS
    )
    yield "|--:|--:|" + "--:|" * (5 + 2 * len(PROGRAMS))
    for n, d in dict.fromkeys((row["n"], row["d"]) for row in rows if row["way"] != OURS):
        by_way = {row["way"]: row for row in rows if (row["n"], row["d"]) == (n, d)}
        cells = [n, d, _seconds(by_way[OURS]["seconds"])]
        for name in (NEWTON, QUASI_NEWTON, *PROGRAMS):
            cells += _other_cells(by_way.get(name), by_way[OURS])
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def _other_cells(row, ours):
    if row is None:
        return ["", ""]
    if "failed" in row:
        return [row["failed"], f"{row['mib']:.0f}" if "mib" in row else ""]
    ratio = row["seconds"] / ours["seconds"]
    ratio = f" ({ratio:.1f}×)" if ratio < 10 else f" ({ratio:.0f}×)"
    wrong = "" if row["feasible"] == ours["feasible"] else f", {VERDICTS[row['feasible']]}"
    return [_seconds(row["seconds"]) + ratio + wrong, f"{row['mib']:.0f}"]


def _crossover_table(rows):
    """Both our ways around the transition, in small dimensions."""
    counts = dict.fromkeys(row["threads"] for row in rows)
    words = {1: "one thread", 2: "two threads"}
    yield "| $n$ | $d$ |" + "".join(f" passes, {words[x]} | Newton, {words[x]} |" for x in counts)
    yield "|--:|--:|" + "--:|--:|" * len(counts)
    for n, d in dict.fromkeys((row["n"], row["d"]) for row in rows):
        found = [row for row in rows if (row["n"], row["d"]) == (n, d)]
        cells = [n, d, *(_seconds(row[name]) for row in found for name in ("passes", "newton"))]
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def _differences(rows):
    """What a comparison of stored verdicts came to, in a few words."""
    different, undecided = (sum(row[name] for row in rows) for name in ("different", "undecided"))
    unproved = sum(row["rows"] - row["proved"] for row in rows) - undecided
    words = f"{different or 'No'} verdict{'s' if different > 1 else ''} differ{'' if different > 1 else 's'}"
    words += f", and {unproved or 'none'} of those decided is without a proof that holds"
    if undecided:
        words += f"; {undecided} that passes leave open, `decide` would leave to Newton's method"
    return words + "."


def _stored_table(rows):
    heads = ["criterion", "$n$", "instances", "equal", "different", "undecided", "proved"]
    yield "| " + " | ".join([*heads, "passes, median", "most", "time"]) + " |"
    yield "|:--|" + "--:|" * 9
    for row in (row for row in rows if row["rows"]):
        decided = row["rows"] if row["rows"] == row["stored"] else f"{row['rows']} of {row['stored']}"
        cells = [row["criterion"], row["n"], decided, row["equal"], row["different"], row["undecided"]]
        cells += [row["proved"], f"{row['median_passes']:g}", row["most_passes"], _seconds(row["seconds"])]
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def _agreement_table(rows):
    heads = ["$n$", "$d$", "instances", "feasible", "infeasible", "undecided", "failures of HiGHS"]
    heads += ["disagreements", "certificates that verify", "forgeries rejected"]
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "--:|" * len(heads)
    for row in rows:
        cells = [row[name] for name in ("n", "d", *heads[2:6], "failures", "disagreements")]
        cells += [f"{row['verified']} of {row['certificates']}", f"{row['rejected']} of {row['forgeries']}"]
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def _pages_table(rows):
    yield "| page | first words | widgets ready | kB | of widgets |"
    yield "|:--|--:|--:|--:|--:|"
    for row in rows:
        widgets = f"{row['widgets']} ms" if row["widgets"] else ""
        kilobytes = [f"{row[name] / 1000:.0f}" if row[name] else "" for name in ("bytes", "widget_bytes")]
        yield "| " + " | ".join([row["page"], f"{row['paint']} ms", widgets, *kilobytes]) + " |"


def _seconds(value):
    if value < 1:
        return f"{1e3 * value:.2g} ms" if value < 0.1 else f"{1e3 * value:.0f} ms"
    return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"


def _thousands(count):
    return f"${count:,}$".replace(",", "\\,")


def _power(value):
    mantissa, exponent = f"{value:.0e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if mantissa == "1" else f"${mantissa} \\times {power}$"


def read_gpu(path: Path = RESULTS / "gpu.csv") -> list[dict]:
    """Rows that `gpu.py` has left, if any."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def stored_page() -> str:
    """The page that the stored tables make."""
    many = read_results("many") if (RESULTS / "many.json").exists() else None
    return page(*map(read_results, NAMES), read_gpu(), many, history.read())


def main() -> None:
    """Write the page from the stored tables."""
    PAGE.write_text(stored_page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE}")


if __name__ == "__main__":
    main()
