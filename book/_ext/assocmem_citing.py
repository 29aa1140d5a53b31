"""The foot of every page: how to cite it, version, commit and day, and the PDF where there is one.

The day is that of the commit, or of ``SOURCE_DATE_EPOCH``; without git there is neither commit nor day. A
print that ``make pdf`` has left is copied beside the pages, which lead to it. Entries of the ledger get
buttons that copy a link and a citation (``citing.js``).
"""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

from assocmem_publish import words
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from assocmem.book import citing
from assocmem.book.pdf import pdf_path


def settle_edition(app: Sphinx, config: Config) -> None:
    """Note what the book is built from; where that changes all pages are written again.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    own = citing.edition(Path(app.confdir))
    printed = pdf_path(Path(app.confdir))
    config.book_edition = [own.version, own.commit, own.day.isoformat() if own.day else ""]
    config.book_pdf = printed.name if printed.is_file() else ""


def copy_pdf(app: Sphinx) -> None:
    """Put the print beside the pages, or take away one that is no more.

    Parameters
    ----------
    app : Sphinx
    """
    if app.builder.format != "html":
        return
    source = pdf_path(Path(app.confdir))
    target = Path(app.outdir, source.name)
    if app.config.book_pdf:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    else:
        target.unlink(missing_ok=True)


def add_footer(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Put the foot below what the settings say of the licence.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    if app.builder.format != "html":
        return
    version, commit, day = app.config.book_edition
    own = citing.Edition(version, commit, date.fromisoformat(day) if day else None)
    title = words(app.env.titles[pagename]) if doctree is not None else ""
    site = app.config.html_baseurl
    address = site + app.builder.get_target_uri(pagename) if site and title else ""
    lost = pagename == "404"  # it is shown at any depth, where no relative link is right
    pdf = context["pathto"](app.config.book_pdf, 1) if app.config.book_pdf and not lost else ""
    licence = context.get("theme_extra_footer") or ""
    context["theme_extra_footer"] = licence + citing.footer(title, pagename, own, address=address, pdf=pdf)


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.setup_extension("assocmem_publish")  # it settles where the site is
    app.add_config_value("book_edition", [], "html", types=[list])
    app.add_config_value("book_pdf", "", "html", types=[str])
    app.connect("config-inited", settle_edition, priority=470)
    app.connect("builder-inited", copy_pdf)
    app.connect("html-page-context", add_footer, priority=600)
    app.add_js_file("citing.js")
    app.add_css_file("citing.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
