"""What the book puts around a section: at its head, at its end, on its folds and at its checks.

A person writes the notebook and a few lines in ``notebooks/sections.yml``; all else comes from the parameters
cell, from the record of the run and from the checks. The executed notebook itself stays as it is. Where one
of its cells has the tag ``second-page``, the cells from there on are a page of their own.
"""

import re
import shlex
from collections.abc import Collection, Sequence

from assocmem.book.check_card import card
from assocmem.book.claims import check_in, checks_of
from assocmem.book.code_labels import labelled, tables_behind
from assocmem.book.ledger import anchors
from assocmem.book.markdown import list_table, plain, table_anchor
from assocmem.book.notes import Notes
from assocmem.book.promises import figure_of
from assocmem.book.run_record import run_in_words
from assocmem.book.second_pages import split
from assocmem.book.sections import SECOND, Section
from assocmem.sweeps.parameters import Choice

TITLE = re.compile(r"^# .+$", re.MULTILINE)
"""The line of a page's title, below which its head goes."""

FORMULAS = {
    "d^2/(n log n)": r"$d^2/(n \log n)$",
    "alpha = n/d^2": r"$\alpha = n/d^2$",
    "n/d^2": "$n/d^2$",
}
"""Formulas in what parameters mean, as a page shows them; longer ones first."""


def page(
    notebook: dict,
    section: Section,
    notes: Notes,
    record: dict | None,
    *,
    chapter: int = 1,
    tables: Collection[str] = (),
    second: bool = False,
) -> dict:
    """The page of a section.

    Parameters
    ----------
    notebook : dict
        The executed notebook, as JSON.
    section : Section
    notes : Notes
    record : dict or None
        Of the run, from `assocmem.book.run_record.read_record`.
    chapter : int
        Number of the section in the book.
    tables : collection of str
        The stored tables that there are, such as ``"ridgeless_limit/slice"``.
    second : bool
        Whether the second page is wanted.

    Returns
    -------
    dict
        The notebook with a head below the title, an end, a card for each check, labels on what is folded
        and, below each figure, where its numbers come from.
    """
    cells = list(_with_sources(_with_cards(notebook["cells"], section.name), tables))
    story, rest = split(cells)
    figures = sum(bool(figure_of(cell["metadata"]).get("name")) for cell in story)
    if second:
        first, *others = labelled(rest, str(chapter), figures + 1)
        above, below = _second_head(section, notes), []
    else:
        first, *others = labelled(map(_without_parameters, story), str(chapter))
        above = head(section, notes, record)
        below = [_markdown("page-end", end(section, notes, rest))]
    text = "".join(first["source"])
    title = TITLE.search(text)
    place = title.end() if title else 0
    first = first | {"source": f"{text[:place]}\n\n{above}\n{text[place:]}"}
    return notebook | {"cells": [first, *others, *below]}


def _markdown(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def _without_parameters(cell):
    """A cell, unless it holds the parameters, which the head of the page has in a table."""
    tags = cell["metadata"].get("tags", [])
    if "parameters" not in tags:
        return cell
    tags = [*tags, "remove-cell"]
    return cell | {"metadata": cell["metadata"] | {"tags": tags}}


# --- head and end ---------------------------------------------------------------------------------


def head(section: Section, notes: Notes, record: dict | None) -> str:
    """What stands below the title of a section.

    Parameters
    ----------
    section, notes, record
        As for `page`.

    Returns
    -------
    str
        MyST Markdown.
    """
    facts = {"What you will see": notes.see, "What to know first": notes.know}
    if record:
        facts["How long it ran"] = run_in_words(record)
    lines = ["::::{div} section-head", ""]
    for name, text in facts.items():
        lines += [name, f": {text}", ""]
    parameters = section.parameters.values()
    if parameters:
        count = f"{len(parameters)} parameters" if len(parameters) > 1 else "1 parameter"
        rows = [("Name", "Default", "Range", "Meaning"), *map(_parameter_row, parameters)]
        lines += [f":::{{dropdown}} Its {count}, with defaults and ranges"]
        lines += [list_table(rows, "section-parameters"), ":::", ""]
    return "\n".join([*lines, "::::", ""])


def _meaning(parameter):
    """What a parameter means; comments of a notebook write formulas without TeX, which a page does not."""
    return re.sub("|".join(map(re.escape, FORMULAS)), lambda m: FORMULAS[m[0]], plain(parameter.meaning))


def _parameter_row(parameter):
    allowed = parameter.allowed
    words = parameter.range_text
    if not isinstance(allowed, Choice):
        words = words.replace(allowed.text, f"`{allowed.text}`")
    return f"`{parameter.name}`", f"`{parameter.default!r}`", words, _meaning(parameter)


def _second_head(section, notes):
    return f"""\
:::{{div}} section-head
This page goes with {{doc}}`{plain(section.title)} <{section.name}>` and comes from the same run.
It has what that page leaves to those who want to check everything.
:::
"""


def end(section: Section, notes: Notes, rest: Sequence[dict] = ()) -> str:
    """What stands at the end of a section: the command that runs it with another number.

    Parameters
    ----------
    section, notes
        As for `page`.
    rest : sequence of dict
        The cells of the second page, none where there is no such page.

    Returns
    -------
    str
        MyST Markdown.
    """
    ((name, value),) = notes.example.items()
    parameter = section.parameters[name]
    command = f"python -m assocmem run {section.name} -p {name} {shlex.quote(str(value))}"
    more = (
        f"The rest of this section is on a page of its own: {{doc}}`{section.name}{SECOND}`.\n\n"
        if rest
        else ""
    )
    return f"""\
{more}:::{{admonition}} Run this section with another number
:class: section-end

```sh
{command}
```

The command executes the section with `{name}` ({_meaning(parameter)}) at `{value}` instead of \
`{parameter.default!r}`, and leaves the notebook in `runs/`.
All parameters are in the table below the title; {{ref}}`re-run` says what else a run can be told.
For many values, and for more than one process or machine, there are {{doc}}`sweeps <../sweeps>`.
:::
"""


# --- checks ---------------------------------------------------------------------------------------


def _with_cards(cells, section):
    """The cells, where each check is a card with an anchor, before the code that it comes from."""
    names = iter(anchors(section, checks_of(cells)))
    for cell in cells:
        found = checks_of([cell])
        for c in found:
            name = next(names)
            yield _markdown(name, card(c, name))
        others = [output for output in cell.get("outputs", []) if not check_in(output)]
        yield cell | {"outputs": others} if found else cell


# --- figures --------------------------------------------------------------------------------------


def _with_sources(cells, tables):
    """The cells, with a line below each figure that leads to its stored tables and to its explorer."""
    cells = list(cells)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    behind = dict(zip(map(id, code), tables_behind("".join(cell["source"]) for cell in code), strict=True))
    for cell in cells:
        yield cell
        name = figure_of(cell["metadata"]).get("name")
        known = [table for table in behind.get(id(cell), []) if name and table in tables]
        links = [f"[{table}](#{table_anchor(table)})" for table in known]
        parts = (
            [f"Numbers from the stored {'tables' if links[1:] else 'table'} {', '.join(links)}."]
            if links
            else []
        )
        explore = cell["metadata"].get("explore")
        if name and explore:
            page, _, settings = explore.partition("?")
            parts.append(f'<a href="../{page}.html?{settings}">Move it in an explorer.</a>')
        if parts:
            yield _markdown(f"{name}-sources", "\n".join([":::{div} figure-sources", *parts, ":::"]))
