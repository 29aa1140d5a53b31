"""What the book puts around a section: at its head, at its end and at its checks.

A person writes the notebook and a few lines in ``notebooks/sections.yml``; all else comes from the parameters
cell, from the record of the run and from the checks. The executed notebook itself stays as it is.
"""

import copy
import re
import shlex

from assocmem.book.claims import check_in
from assocmem.book.ledger import anchors
from assocmem.book.markdown import list_table, plain
from assocmem.book.notes import Notes
from assocmem.book.run_record import run_in_words
from assocmem.book.sections import Section
from assocmem.sweeps.parameters import Choice

TITLE = re.compile(r"^# .+$", re.MULTILINE)
"""The line of a page's title, below which its head goes."""


def page(notebook: dict, section: Section, notes: Notes, record: dict | None) -> dict:
    """The page of a section.

    Parameters
    ----------
    notebook : dict
        The executed notebook, as JSON.
    section : Section
    notes : Notes
    record : dict or None
        Of the run, from `assocmem.book.run_record.read_record`.

    Returns
    -------
    dict
        The notebook with a head below the title, an end, an anchor at each check and a way from each check
        to its entry in the ledger.
    """
    first, *others = _with_anchors(notebook["cells"], section.name)
    text = "".join(first["source"])
    title = TITLE.search(text)
    place = title.end() if title else 0
    first = first | {"source": f"{text[:place]}\n\n{head(section, notes, record)}\n{text[place:]}"}
    cells = [first, *others, _markdown("page-end", end(section, notes))]
    return notebook | {"cells": cells}


def _markdown(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


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


def _parameter_row(parameter):
    allowed = parameter.allowed
    words = parameter.range_text
    if not isinstance(allowed, Choice):
        words = words.replace(allowed.text, f"`{allowed.text}`")
    return f"`{parameter.name}`", f"`{parameter.default!r}`", words, plain(parameter.meaning)


def end(section: Section, notes: Notes) -> str:
    """What stands at the end of a section: the command that runs it with another number.

    Parameters
    ----------
    section, notes
        As for `page`.

    Returns
    -------
    str
        MyST Markdown.
    """
    ((name, value),) = notes.example.items()
    parameter = section.parameters[name]
    command = f"python -m assocmem run {section.name} -p {name} {shlex.quote(str(value))}"
    return f"""\
:::{{admonition}} Run this section with another number
:class: section-end

```sh
{command}
```

The command executes the section with `{name}` ({plain(parameter.meaning)}) at `{value}` instead of \
`{parameter.default!r}`, and leaves the notebook in `runs/`.
All parameters are in the table below the title; {{ref}}`re-run` says what else a run can be told.
For many values, and for more than one process or machine, there are {{doc}}`sweeps <../sweeps>`.
:::
"""


# --- checks ---------------------------------------------------------------------------------------


def _with_anchors(cells, section):
    """The cells, where each check begins a cell of its own with an anchor before it."""
    checks = [c for cell in cells for c in map(check_in, cell.get("outputs", [])) if c]
    names = iter(anchors(section, checks))
    for cell in cells:
        for piece in _pieces(cell):
            if any(map(check_in, piece.get("outputs", []))):
                name = next(names)
                yield _markdown(name, f"({name})=")
            yield piece


def _pieces(cell):
    """A cell up to its first check, and one without source for each further check and what follows it."""
    groups = [[]]
    for output in cell.get("outputs", []):
        c = check_in(output)
        if c:
            if any(map(check_in, groups[-1])):
                groups.append([])
            html = c.html(f"../ledger.html#{c.claim}")
            groups[-1].append(output | {"data": output["data"] | {"text/html": html}})
        else:
            groups[-1].append(output)
    if not groups[0]:
        return [cell]
    pieces = [cell | {"outputs": groups[0]}]
    for number, group in enumerate(groups[1:], 2):
        bare = copy.deepcopy({key: cell[key] for key in cell if key != "outputs"})
        bare["metadata"]["tags"] = ["remove-input"]
        pieces.append(bare | {"id": f"{cell['id']}-{number}", "source": "# as above", "outputs": group})
    return pieces
