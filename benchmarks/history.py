"""What was measured before, row by row, and what has become slower since.

    benchmarks/results/history.jsonl       one line for each commit and row

Seconds differ between machines, ratios in one run do so much less: a line has how many times as long
something took as a floor of the same run, with the interval. It is compared with the line before it of the
same row, from the same kind of run on the same kind of machine, that is processor and number of cores.

A line belongs to the last commit that changed the package. Measured again at that commit, it replaces the old
one. What is measured while the package has changes that are not committed belongs to no commit: it is
compared with the history but does not enter it. Neither does what is measured while others compute beside:
programs that use threads in different ways then lose by different factors.
"""

import json
import math
from collections.abc import Iterable, Iterator

from machine import RESULTS, commit, machine, others
from ratios import shown

from assocmem.files import write_whole

SLOWER = 1.1
"""Growth of a ratio from which a row may be marked. It is less than the fifth that a mark is for: what has
grown by a fifth is measured to have grown by more or less, and about as often by less."""
BUSY = 0.3
"""Share of the cores that others may use."""
WORTH_SEEING = 1.2
"""Growth that should show. Where the intervals explain as much, a row says so."""
PLACE = ("kind", "machine", "row", "against")
"""Names that two lines share that are compared."""
HISTORY = "history.jsonl"


def line(kind: str, row: str, against: str, found: dict, here: dict | None = None) -> dict:
    """A line of the history.

    Parameters
    ----------
    kind : str
        Of the run: ``full`` or ``quick``.
    row : str
        What was measured.
    against : str
        The floor.
    found : dict
        Ratio to the floor, as `ratios.interval` returns it.
    here : dict, optional
        The machine and the day; by default those of this call.
    """
    here = here or machine()
    place = dict(zip(PLACE, (kind, f"{here['processor']}, {here['cores']} cores", row, against), strict=True))
    return place | {"date": here["date"], "commit": commit()} | found


def read() -> list[dict]:
    """All lines, the oldest first."""
    path = RESULTS / HISTORY
    if not path.exists():
        return []
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


def add(lines: Iterable[dict]) -> bool:
    """Put lines at the end, in place of those of the same commit.

    A line without an interval does not enter, since nothing can be compared with it.

    Parameters
    ----------
    lines : iterable of dict

    Returns
    -------
    bool
        Whether the history was written; else a line of the terminal says why not.
    """
    lines = list(lines)
    if any(not x["commit"] for x in lines):
        print("the package has changes that are not committed: the history stays as it is", flush=True)
    elif lines and (share := others()) > BUSY:
        print(f"others use {share:.0%} of the cores: the history stays as it is", flush=True)
        return False
    lines = [x for x in lines if x["commit"] and x.get("low") is not None]
    replaced = {(_place(x), x["commit"]) for x in lines}
    kept = [x for x in read() if (_place(x), x["commit"]) not in replaced]
    if lines:
        RESULTS.mkdir(exist_ok=True)
        write_whole(RESULTS / HISTORY, "".join(json.dumps(x) + "\n" for x in kept + lines))
    return bool(lines)


def before(line: dict, lines: Iterable[dict]) -> dict | None:
    """The last of some lines that a line can be compared with: of the same place and another commit."""
    found = [x for x in lines if _place(x) == _place(line) and x["commit"] != line["commit"]]
    return found[-1] if found else None


def growth(old: dict, new: dict) -> tuple[float, float]:
    """How many times as large a ratio has become, and what factor the two intervals explain.

    Both intervals are taken as symmetric in the logarithm, and the errors as independent, so that their
    squares add up.
    """
    explained = math.hypot(*(math.log(x["high"] / x["low"]) / 2 for x in (old, new)))
    return new["ratio"] / old["ratio"], math.exp(explained)


def slower(old: dict, new: dict) -> bool:
    """Whether a row is marked: it has grown by more than both `SLOWER` and what the intervals explain."""
    grown, explained = growth(old, new)
    return grown > max(SLOWER, explained)


def remark(old: dict, new: dict) -> str:
    """What there is to say of a row: that it is slower, or that it scatters too much to tell."""
    if slower(old, new):
        return "slower"
    return "scatters too much to tell" if growth(old, new)[1] > WORTH_SEEING else ""


def compared(lines: list[dict]) -> Iterator[tuple[dict, dict]]:
    """The last two lines of each row that has two, the older first."""
    latest = {_place(x): x for x in lines}
    for new in latest.values():
        old = before(new, lines)
        if old:
            yield old, new


def table(pairs: Iterable[tuple[dict, dict]]) -> Iterator[str]:
    """A table of older and newer lines, what has become slower first."""
    yield "| what, and against what | before | now | grown |"
    yield "|:--|:--|:--|:--|"
    for old, new in sorted(pairs, key=lambda pair: not slower(*pair)):
        grown, explained = growth(old, new)
        cells = [f"{new['row']}, against {new['against']}"]
        cells += [f"{shown(x)}, {x['commit']}" for x in (old, new)]
        words = remark(old, new)
        words = f"**{words}**" if slower(old, new) else words
        cells += [f"{100 * (grown - 1):+.0f} % (± {100 * (explained - 1):.0f})" + (words and f": {words}")]
        yield "| " + " | ".join(cells) + " |"


def page_lines(lines: list[dict]) -> Iterator[str]:
    """What the page says: how many rows have become slower, and a folded table for each kind of run."""
    pairs = list(compared(lines))
    if not pairs:
        yield "There is no earlier run yet that the latest could be compared with."
        return
    marked = [new for old, new in pairs if slower(old, new)]
    unclear = sum(growth(*pair)[1] > WORTH_SEEING and not slower(*pair) for pair in pairs)
    if marked:
        names = "; ".join(f"{x['row']} ({x['kind']} run)" for x in marked)
        yield f"{len(marked)} of {len(pairs)} rows became slower: {names}."
    else:
        yield f"None of {len(pairs)} rows became slower."
    if unclear:
        yield f"In {unclear} rows a slowdown of a fifth would not show, since the times scatter too much."
    for kind, where in dict.fromkeys((new["kind"], new["machine"]) for _, new in pairs):
        some = [(old, new) for old, new in pairs if (new["kind"], new["machine"]) == (kind, where)]
        first, last = min(old["date"] for old, _ in some), max(new["date"] for _, new in some)
        yield ""
        yield f":::{{dropdown}} {kind.capitalize()} runs, {where}: {first} to {last}"
        yield from table(some)
        yield ":::"


def _place(line):
    return tuple(line[name] for name in PLACE)
