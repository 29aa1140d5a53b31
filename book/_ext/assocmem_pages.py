"""What the book generates around its own pages: heads and ends of sections, the filter of the ledger."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from assocmem.book import notes, run_record, section_pages
from assocmem.book.sections import ENTRIES, PAGES, SECOND, load_section, read_entries, section_of
from assocmem.sweeps.fingerprints import reachable_modules

LAST_TO_READ = "book/bibliography"
"""The last page before those on running the book."""


@cache
def sources() -> list[Path]:
    """What the head, the end and the cards of a section are made by: a page is read anew when one changes."""
    return reachable_modules("from assocmem.book import notes, run_record, section_pages")


def add_around_section(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give a section that is read its head, its end and its anchors; the file itself stays as it is.

    Parameters
    ----------
    app, docname, source
        As Sphinx gives them with ``source-read``.
    """
    if not docname.startswith(PAGES):
        return
    root = Path(app.srcdir)
    name = section_of(docname)
    notebook = root / PAGES / f"{name}.ipynb"
    tables = {f"{path.parent.name}/{path.stem}" for path in (root / "data").glob("*/*.csv")}
    chapter = list(read_entries(root)).index(name) + 1
    section = load_section(name, root)
    own_notes = notes.read_notes([name], root)[name]
    record = run_record.read_record(notebook)
    files = [section.path, root / ENTRIES, *sources()]
    files += [run_record.record_path(notebook)] if record else []
    for path in files:
        app.env.note_dependency(path)
    executed, second = json.loads(source[0]), docname.endswith(SECOND)
    about = {"chapter": chapter, "tables": tables, "second": second}
    source[0] = json.dumps(section_pages.page(executed, section, own_notes, record, **about))


def add_filter(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Load the script of the ledger, its filter and its formulas, on that page alone.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    if pagename == "book/ledger":
        app.add_js_file("ledger.js")


def end_reading(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Let the last page for readers lead no further: what follows it is for those who run things.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    if pagename == LAST_TO_READ:
        context["next"] = None


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.connect("source-read", add_around_section)
    app.connect("html-page-context", end_reading)
    app.connect("html-page-context", add_filter)
    app.add_css_file("pages.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
