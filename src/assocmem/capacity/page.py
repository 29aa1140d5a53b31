"""One page of HTML that shows a report: no network, light and dark, wide and narrow."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from assocmem.capacity.drawing import counts_on_a_line, falling_extents

if TYPE_CHECKING:
    from assocmem.capacity.report import CapacityReport, Involved

LONGEST_NAME = 60
"""Characters of a name that are shown."""
MOST_ROWS = 40
"""Facts that a table lists."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6474; --rule: #d5d9e0; --back: #ffffff;
  --plate: #f4f6f9; --one: #1f6fb2; --two: #b4540a; --three: #2c7a4b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #a3adbd; --rule: #3a4250;
  --back: #14181f; --plate: #1d232d; --one: #6db3ee; --two: #f0a35e; --three: #6fcb94; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 1.2rem 1rem 3rem; background: var(--back);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.1rem; color: var(--soft); font-weight: 600; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .4rem; }
.answer { font-size: 1.5rem; line-height: 1.25; margin: .3rem 0 .6rem; font-weight: 650; }
.soft, figcaption, caption { color: var(--soft); font-size: .92rem; }
.warn { border-left: .25rem solid var(--two); padding: .3rem .8rem; background: var(--plate); }
figure { margin: .8rem 0; background: var(--plate); padding: .6rem; border-radius: .4rem; }
svg { display: block; width: 100%; max-width: 36rem; margin: 0 auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg text.small { fill: var(--soft); font-size: 12px; }
.axis { stroke: var(--soft); } .grid { stroke: var(--rule); } .bar { stroke-width: 4; opacity: .45; }
.given { stroke: var(--soft); fill: var(--soft); } .proved { stroke: var(--one); fill: var(--one); }
.theory { stroke: var(--two); fill: var(--two); } .curve { fill: none; stroke-width: 2.2; }
.series0 { stroke: var(--one); } .series1 { stroke: var(--two); stroke-dasharray: 7 4; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { overflow-wrap: normal; text-align: left; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid var(--rule);
  vertical-align: top; } th { color: var(--soft); font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap; }
.share { height: .45rem; background: var(--rule); border-radius: .2rem; min-width: 5rem; margin-top: .25rem; }
.share i { display: block; height: 100%; background: var(--three); border-radius: .2rem; }
bdi { overflow-wrap: anywhere; display: inline-block; min-width: 4.5rem; }
summary { cursor: pointer; color: var(--soft); }
code { font-size: .92em; background: var(--plate); padding: .05rem .3rem; border-radius: .2rem; }
pre { background: var(--plate); padding: .6rem; overflow-x: auto; border-radius: .4rem; }
"""


def page(report: "CapacityReport") -> str:
    """The page of a report.

    Parameters
    ----------
    report : CapacityReport

    Returns
    -------
    str
        HTML.
    """
    parts = [*_head(report), *_ruler(report), *_memories(report), *_conflict(report), *_extents(report)]
    body = "\n".join([*parts, *_about(report)])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>What a matrix can do for these facts</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


# --- parts of the page --------------------------------------------------------------------------------------


def _head(report: "CapacityReport") -> Iterable[str]:
    s, verdict = report.sizes, report.verdict
    shape = f"{s.d_out} × {s.d_in}"
    what = f"all {s.facts:,} facts" if s.facts > 1 else "the fact"
    answer = {
        "none": "Not decided yet",
        True: f"Yes: some {shape} matrix retrieves {what}",
        False: f"No {shape} matrix retrieves {what}",
        None: f"Undecided whether a {shape} matrix retrieves {what}",
    }[verdict.retrievable if verdict else "none"]
    yield f'<h1>What a matrix can do for these facts</h1>\n<p class="answer">{answer}</p>'
    if not report.finished:
        yield _paragraph(f"This report is partial: it stopped at “{report.stage}”.", "warn")
    if verdict and verdict.reason:
        yield _paragraph(f"Why: {verdict.reason}.")
    best = "every other target" if s.top == 1 else f"the average of the {s.top} best other targets"
    yield _paragraph(
        f"There are {s.facts:,} keys in {s.d_in} dimensions and {s.targets:,} targets in {s.d_out}. "
        "A matrix W gives target u the score u′Wv for the key v, and a fact is retrieved if the score of "
        f"its answer is above {'that of ' if s.top == 1 else ''}{best}.",
        "soft",
    )
    if verdict and verdict.verified:
        yield _paragraph(f"The answer is proved, and the proof in {verdict.certificate} has been checked.")


def _ruler(report: "CapacityReport") -> Iterable[str]:
    marks = [("facts given", float(report.sizes.facts), "given")]
    if report.forecast:
        marks.append(("forecast for Gaussian vectors", report.forecast.facts, "theory"))
    first = report.first_facts
    if first:
        marks.append(("retrievable, of the first ones", float(first.retrievable), "proved"))
        if first.impossible and first.impossible > first.retrievable + 1:
            marks.append(("known to be too many", float(first.impossible), "proved"))
    if len(marks) == 1:
        return
    told = "; ".join(f"{words}: {number:.0f}" for words, number, _ in marks)
    yield "<h2>How many facts fit</h2>"
    yield f"<figure>\n{counts_on_a_line(marks, told)}\n</figure>"
    if report.forecast:
        yield _paragraph(_about_forecast(report))
    if first:
        known = "" if first.impossible is None else f", and the first {first.impossible:,} are not"
        without = (
            f" (but for {first.left_out:,} that cannot be: impossible alone, or against an earlier one)"
            if first.left_out
            else ""
        )
        yield _paragraph(
            f"In the order in which the facts are given{without}, the first {first.retrievable:,} are "
            f"retrievable{known}. That is proved."
        )


def _about_forecast(report: "CapacityReport") -> str:
    forecast = report.forecast
    text = (
        f"Were all vectors independent and Gaussian, about {forecast.facts:,.0f} facts would fit: "
        "up to there half of all instances are retrievable, by a calculation without a fitted constant. "
    )
    low, high = forecast.excess_from, forecast.excess_to
    if low is None:
        return text
    if high is None:
        return text + (f"Here at least {low:.0%} more do." if low > 0 else "Here all that are given do.")
    more = "more" if high > 0 else "fewer"
    size = sorted({round(100 * abs(low)), round(100 * abs(high))})
    return text + f"Here {' to '.join(f'{x} %' for x in size)} {more} do, in the order given."


def _conflict(report: "CapacityReport") -> Iterable[str]:
    if report.contradictions:
        yield "<h2>Facts that contradict earlier ones</h2>"
        yield _paragraph(
            "Their key is that of an earlier fact with another answer. "
            + ("No matrix can give both the highest score." if report.sizes.top == 1 else "")
        )
        yield _facts(report.contradictions, ("key", "answer", "earlier answer"), shares=False)
    if report.alone:
        yield "<h2>Facts that are impossible by themselves</h2>"
        yield _paragraph(
            "Their answer is hidden: some average of other targets is the same vector, so that one of these "
            "has a score at least as high, whatever the key and the matrix."
            if report.sizes.top == 1
            else "Other targets hide their answer, whatever the key and the matrix."
        )
        yield _facts(report.alone, ("key", "answer", "hidden by"), shares=False)
    conflict = report.conflict
    if not conflict:
        return
    yield "<h2>Which facts are in each other's way</h2>"
    if conflict.smallest:
        size = len(conflict.smallest)
        end = (
            "Without any one of them the others are retrievable."
            if conflict.minimal
            else "The search ended early: there may be a smaller set."
        )
        yield _paragraph(
            f"These {size:,} facts are impossible together, whatever becomes of the rest"
            f"{f' (proof: {conflict.certificate})' if conflict.certificate else ''}. {end}"
        )
        yield _facts(conflict.smallest, ("key", "answer", "mostly against"), shares=True)
    if len(conflict.involved) > len(conflict.smallest) or not conflict.smallest:
        yield "<details><summary>The facts with the largest weights in the proof</summary>"
        yield _facts(conflict.involved, ("key", "answer", "mostly against"), shares=True) + "</details>"


def _facts(found: Sequence["Involved"], heads: tuple[str, str, str], shares: bool) -> str:
    """A table of facts."""
    head = "".join(f"<th>{escape(x)}</th>" for x in heads)
    rows = []
    for one in found[:MOST_ROWS]:
        cells = "".join(f"<td><bdi>{_name(x)}</bdi></td>" for x in (one.key, one.answer, one.against))
        share = f'<td class="number">{100 * one.share:.1f} %</td>' if shares else ""
        rows.append(f'<tr><td class="number">{one.fact}</td>{cells}{share}</tr>')
    more = len(found) - MOST_ROWS
    note = f"<caption>{more:,} more are in report.json.</caption>" if more > 0 else ""
    share = '<th class="number">weight</th>' if shares else ""
    body = "\n".join(rows)
    return (
        f'<div class="scroll"><table>{note}<thead><tr><th class="number">fact</th>{head}{share}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _memories(report: "CapacityReport") -> Iterable[str]:
    if not report.memories:
        return
    s = report.sizes
    columns = [("in first place", "first")]
    columns += [(f"above its {s.top} best", "top")] if s.top > 1 else []
    columns += [("in the first ten", "ten")] if s.targets > 10 else []
    head = "".join(f'<th class="number">{escape(title)}</th>' for title, _ in columns)
    rows = []
    for outcome in report.memories:
        cells = "".join(_share(getattr(outcome, name), s.facts) for _, name in columns)
        note = f'<br><span class="soft">{escape(outcome.note)}</span>' if outcome.note else ""
        rows.append(f"<tr><td>{escape(outcome.memory)}{note}</td>{cells}</tr>")
    body = "\n".join(rows)
    yield "<h2>What memories retrieve that one can write down or train</h2>"
    yield (
        f'<div class="scroll"><table><thead><tr><th>memory</th>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>'
        "</table></div>"
    )
    yield from map(_paragraph, _advice(report))


def _advice(report: "CapacityReport") -> Iterable[str]:
    """Whether whitening helps, in words."""
    found = {outcome.memory: outcome.first for outcome in report.memories}
    plain = found.get("outer products")
    whitened = {
        name: count
        for name, count in found.items()
        if name.startswith("outer products, ") and count is not None
    }
    if plain is None or not whitened:
        return
    name, most = max(whitened.items(), key=lambda item: item[1])
    n = report.sizes.facts
    if most > plain:
        yield (
            f"Whitening helps outer products: {name.removeprefix('outer products, ')}, they retrieve "
            f"{most / n:.1%} of the facts instead of {plain / n:.1%}."
        )
    else:
        yield "Whitening does not help outer products here."
    yield (
        "The best memory is not touched by it: what some matrix retrieves stays the same under any "
        "invertible map of keys or targets."
    )


def _share(count: int | None, total: int) -> str:
    if count is None:
        return '<td class="number">–</td>'
    share = count / total
    bar = f'<div class="share"><i style="width:{100 * share:.1f}%"></i></div>'
    return f'<td class="number">{100 * share:.1f} %{bar}</td>'


def _extents(report: "CapacityReport") -> Iterable[str]:
    if not report.extents:
        return
    curves = {name: curve for name, curve in report.extents.items() if curve}
    told = "lengths of keys and targets along their main axes, over the longest, on a logarithmic scale"
    yield "<h2>How round the vectors are</h2>"
    yield f"<figure>\n{falling_extents(curves, told)}\n<figcaption>"
    yield (
        "Lengths along the main axes, over the longest; of targets, less their mean. A level line is a round "
        "cloud; a steep one makes outer products confuse facts.</figcaption></figure>"
    )


def _about(report: "CapacityReport") -> Iterable[str]:
    yield "<h2>About the data and this report</h2>"
    s = report.sizes
    notes = [f"{name}: {source}" for name, source in report.sources.items()]
    notes.append(f"different keys: {s.keys:,}; different answers: {s.answers:,}; top: {s.top}")
    notes.append(f"directions of the keys: {s.rank_in}; of the targets less their mean: {s.rank_out}")
    notes += report.notes
    yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"
    yield _paragraph(
        "report.json beside this page has all of its numbers. The proofs are checked by the package, or by "
        "one file of it that needs NumPy alone:"
    )
    proofs = " ".join(report.proofs) or "FILE.npz"
    yield f"<pre>python certificates.py {escape(proofs)}</pre>"


def _paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _name(text: str) -> str:
    """A name as it is shown: one line, not too long, nothing of it markup."""
    text = " ".join(text.split()) or "(blank)"
    return escape(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…")
