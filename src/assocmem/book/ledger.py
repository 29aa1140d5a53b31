"""The ledger: an entry for each statement, of the paper and beyond it, as data for machines and as a page."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields

from assocmem.book.claims import KINDS, Check, badge, statements
from assocmem.book.markdown import list_table, section_link
from assocmem.book.sections import SECOND

_WORST_FIRST = ("does not hold", "not yet", "holds with limits", "holds")
"""The verdict of a statement is the first of these that one of its checks has."""
_VERBS = {
    "holds": ("holds", "hold"),
    "holds with limits": ("holds with limits", "hold with limits"),
    "does not hold": ("does not", "do not"),
    "not yet": ("is not decided yet", "are not decided yet"),
}
"""What one statement does, and what several do, in the order in which a sentence lists them."""


def anchors(section: str, checks: Sequence[Check]) -> list[str]:
    """A name for the place of each check of a section, unique in the book.

    It is ``check-ID`` for the first check of a statement, ``check-ID-2`` for the second, and has the name of
    the section in it where that is not the statement's own.

    Parameters
    ----------
    section : str
    checks : sequence of Check
        In the order of the section.

    Returns
    -------
    list of str
    """
    seen, names = Counter(), []
    for c in checks:
        seen[c.claim] += 1
        home = statements()[c.claim].section == section
        place = "" if home else f"-in-{section.replace('_', '-')}"
        number = f"-{seen[c.claim]}" if seen[c.claim] > 1 else ""
        names.append(f"check-{c.claim}{place}{number}")
    return names


def miscounts(checks: Mapping[str, Sequence[Check]], promised: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Lines for the statements that are checked more or less often than the sections should.

    Parameters
    ----------
    checks : mapping
        Lists of `Check` by section, for the sections that are in the book.
    promised : mapping
        Numbers of checks by statement, by section.

    Returns
    -------
    list of str
    """
    lines = []
    for section, own in checks.items():
        found, expected = Counter(c.claim for c in own), Counter(promised[section])
        lines += [
            f"section {section}: {_times(found[claim])} of {claim}, and notebooks/sections.yml expects "
            f"{expected[claim]}"
            for claim in statements()
            if found[claim] != expected[claim]
        ]
    covered = {claim for section in checks for claim in promised[section]}
    lines += [
        f"{statement.id}: no check anywhere, though its section {statement.section} is in the book"
        for statement in statements().values()
        if statement.section in checks and statement.id not in covered
    ]
    return lines


def _times(count):
    return f"{count} check" if count == 1 else f"{count or 'no'} checks"


def ledger(
    checks: Mapping[str, Sequence[Check]], on_first_page: Mapping[str, int] | None = None
) -> list[dict]:
    """One entry for each statement, as plain data for ``claims.json``.

    Parameters
    ----------
    checks : mapping
        Lists of `Check` by section. A statement with several takes the worst verdict and the numbers that go
        with it.
    on_first_page : mapping, optional
        How many of a section's checks are on its first page, where it has two; by default all of them.

    Returns
    -------
    list of dict
    """
    placed = []
    for section, own in checks.items():
        first = (on_first_page or {}).get(section, len(own))
        for number, (c, anchor) in enumerate(zip(own, anchors(section, own), strict=True)):
            place = {"section": section, "page": section + (SECOND if number >= first else "")}
            placed.append((c, asdict(c) | _distances(c) | place | {"anchor": anchor}))
    entries = []
    for statement in statements().values():
        own = [entry for c, entry in placed if c.claim == statement.id]
        worst = min(own, key=lambda e: _WORST_FIRST.index(e["verdict"]), default={"verdict": "not yet"})
        entries.append(
            {
                "id": statement.id,
                "source": statement.source,
                "title": statement.title,
                "section": statement.section,
                "beyond": statement.beyond,
                "uses": list(statement.uses),
                "verdict": worst["verdict"],
                "kinds": [kind for kind in KINDS if kind in {e["kind"] for e in own}],
                "measured": worst.get("measured"),
                "predicted": worst.get("predicted"),
                "tolerance": worst.get("tolerance"),
                "falsehood": worst.get("falsehood"),
                "checks": own,
            }
        )
    return entries


def _distances(c):
    """How far apart things are, in tolerances; None where nothing is tolerated."""
    numbers = {name: getattr(c, name) for name in ("distance", "falsehood_distance", "force")}
    return {name: x if math.isfinite(x) else None for name, x in numbers.items()}


# --- in words -------------------------------------------------------------------------------------


def ledger_line(entries: Sequence[dict]) -> str:
    """How many statements hold and what the checks rest on, in two sentences that lead to them.

    Parameters
    ----------
    entries : sequence of dict
        From `ledger`.

    Returns
    -------
    str
        Markdown, for a page beside that of the ledger.
    """
    counts = Counter(entry["verdict"] for entry in entries)
    parts = [
        f'<a href="ledger.html?verdict={slug(verdict)}">{count} {verbs[count > 1]}</a>'
        for verdict, verbs in _VERBS.items()
        if (count := counts[verdict])
    ]
    first = f"Of {_all(entries)}, {_listed(parts)}."
    kinds = Counter(c["kind"] for entry in entries for c in entry["checks"])
    if not kinds:
        return first + "\n"
    parts = [
        f'<a href="ledger.html?kind={slug(kind)}">{count} by {kind}</a>'
        for kind in KINDS
        if (count := kinds[kind])
    ]
    return f"{first}\nThe verdicts rest on {kinds.total()} checks: {_listed(parts)}.\n"


def _all(entries):
    """How many entries there are of the paper, and how many beyond it."""
    beyond = sum(entry["beyond"] for entry in entries)
    words = f"{len(entries) - beyond} statements, figures and claims"
    if not beyond:
        return words
    return f"{words} of the paper and {beyond} {'statement' if beyond == 1 else 'statements'} beyond it"


def _listed(parts):
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]


def slug(words: str) -> str:
    """A verdict or a kind of check as it stands in an address."""
    return words.replace(" ", "-")


def ledger_page(entries: Sequence[dict], titles: Mapping[str, str]) -> str:
    """The ledger as a page of the book.

    Parameters
    ----------
    entries : sequence of dict
        From `ledger`.
    titles : mapping
        Titles of the sections that the book has, by name and in its order.

    Returns
    -------
    str
        MyST Markdown.
    """
    parts = [_HEAD.format(line=ledger_line(entries)), _overview(entries, titles)]
    places = dict.fromkeys([*titles, *(e["section"] for e in entries)])
    for name in places:
        own = [_entry(e) for e in entries if e["section"] == name]
        if own:
            title = section_link(name, titles) if name in titles else _to_come(name)
            parts += [f"## {title}\n", *own]
    return "\n".join(parts)


def _to_come(name):
    """What stands for the title of a section that the book does not have yet."""
    return f"{name.replace('_', ' ').capitalize()} (to come)"


_HEAD = """\
# The ledger

Every numbered statement and figure of the paper, with what was measured.
What the book adds is marked *Beyond the paper*, and met its numbers in the same way.
A verdict is earned by numbers.
Every number must agree with the prediction.
All numbers of a check together must contradict a named falsehood.
How far they are from either is told in tolerances: one is the most that a number may be off.
The page is made from the outputs of the executed sections.
The same entries for machines are in <a href="../claims.json">claims.json</a>.
Where the paper itself says something else than its proofs give is a page of its own, the {{doc}}`errata`.

{line}"""


def _overview(entries, titles):
    """All entries in one table, with the worst check of each."""
    rows = [("Statement", "What it is about", "Verdict", "Numbers", "Checked in")]
    for entry in entries:
        place = titles.get(entry["section"], _to_come(entry["section"]))
        worst = next((c for c in entry["checks"] if c["verdict"] == entry["verdict"]), None)
        rows.append(
            (
                f"[{statements()[entry['id']].name}](#{entry['id']})",
                entry["title"],
                f'{badge(entry["verdict"])} <span class="ledger-kinds">{", ".join(entry["kinds"])}</span>',
                _strip(_check(worst)) if worst else "",
                f"[{titles[worst['section']]}](#{worst['anchor']})" if worst else place,
            )
        )
    on_paper = r"\Y{.14}\Y{.28}\Y{.15}\Y{.23}\Y{.20}"  # a long table does not find its widths itself
    return f"```{{tabularcolumns}} {on_paper}\n```\n\n" + list_table(rows, "ledger-overview")


def _entry(entry):
    statement = statements()[entry["id"]]
    label = f", `{statement.label}`" if statement.label else ""
    place = "not in the paper" if statement.beyond else f"in the paper {statement.place}{label}"
    lines = [
        "::::{div} ledger-entry",
        f"({entry['id']})=",
        f"**{statement.name}** {badge(entry['verdict'])}  ",
        f"*{statement.title}*; {place}",
        "",
        statement.says.strip(),
        "",
        *_neighbours(statement),
    ]
    if entry["checks"]:
        rows = [("Verdict", "Measured", "Falsehood"), *map(_check_row, entry["checks"])]
        lines.append(list_table(rows, "ledger-table"))
    return "\n".join([*lines, "::::", ""])


def _neighbours(statement):
    """A line on what a statement rests on and what rests on it, or from what one beyond the paper goes on."""
    if statement.beyond:
        names = ", ".join(f"[{statements()[name].called}](#{name})" for name in statement.uses)
        return [f"*Goes on from*: {names}.", ""] if names else []
    users = [other.id for other in statements().values() if statement.id in other.uses and not other.beyond]
    words = [
        f"{verb} {', '.join(f'[{statements()[name].called}](#{name})' for name in names)}"
        for verb, names in (("uses", statement.uses), ("is used by", users))
        if names
    ]
    return [f"*In the proof*: {'; '.join(words)}.", ""] if words else []


def _check(entry):
    return Check(**{field.name: entry[field.name] for field in fields(Check)})


def _strip(c):
    """The numbers as a small strip, and in words how far they are from the prediction."""
    return f"{c.drawing(small=True)} {c.agreement}"


def _check_row(entry):
    c = _check(entry)
    return (
        f"{badge(c.verdict)} {c.kind}" + (f"; {c.limits}" if c.limits else ""),
        f"[{c.what}](#{entry['anchor']}) {_strip(c)}",
        f"{c.falsehood}: {c.rejection}",
    )
