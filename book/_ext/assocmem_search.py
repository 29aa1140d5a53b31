"""The index of the search: what the pages say, in pieces that have a place of their own.

A piece is a section without its parts, a statement, an entry of the ledger, a check, a figure with its
caption, a displayed formula, a term, a function or a reference. It has a title, the names it goes by, and
its words, formulas as plain text. Code and what it prints are not in it. Sphinx's own index has code and no
statement, knows no place but pages and their sections, and reads pages again for excerpts, which browsers
refuse on a disk.

The index is a script, so that it can be loaded from a disk as well; ``search.js`` looks things up in it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml
from assocmem_articles import finished_articles, formula, plain_text
from bs4.element import Tag
from sphinx.application import Sphinx
from sphinx.config import Config

from assocmem.files import write_whole

INDEX = "_static/search-index.js"
"""The script, in the book."""
WORDS = Path(__file__).resolve().parent.parent / "search_words.yml"
"""What readers may call things, and what the book calls them."""
TEMPLATES = "book/_templates"
"""Where the template of the search page is."""
KINDS = (
    "ledger entry",
    "term",
    "statement",
    "function",
    "figure",
    "equation",
    "page",
    "section",
    "check",
    "entry",
    "reference",
)
"""Kinds of pieces; of several with the name that is looked for, the first kind comes first."""
RECORDS = ("book/api/", "book/benchmarks.html", "book/ledger.html", "book/status.html", "book/tables.html")
"""Pages for looking up: their headings repeat what other pages are about."""
PIECES = {
    ".ledger-entry": "ledger entry",
    "dl.glossary > dt[id]": "term",
    ".proof.admonition[id]:has(.caption-number)": "statement",
    "dl.py > dt[id]": "function",
    "figure[id]": "figure",
    "div.math[id]": "equation",
    ".check-card": "check",
    ".citation[id]": "reference",
}
"""What has a place of its own, beside sections."""
NOT_PROSE = ".cell, .section-parameters, .ledger-overview, .ledger-table, dl.py, details"
"""What is left out of the words of a section, but for the pieces in it."""
NAME = re.compile(
    r"\b(Theorem|Proposition|Lemma|Corollary|Conjecture|Definition|Remark|Equation|Figure|Fig\.|Claim) "
    r"([A-Z]?\d[\d.]*\d|[A-Z]?\d)"
)
"""Names of statements."""
LONGEST_TITLE = 140


def name_of_place(node: Tag) -> str:
    """Return the anchor of a piece: its own, that of its first part, or an empty one before it."""
    if node.get("id"):
        return node["id"]
    before = node.find_previous_sibling(True)
    if before is not None and before.name == "span" and before.get("id") and not before.get_text(strip=True):
        return before["id"]
    inside = node.find(id=True)
    return inside["id"] if inside else ""


def shorten(text: str, length: int = LONGEST_TITLE) -> str:
    """Return a text that is not too long, broken off after a word."""
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0].rstrip(" ,;:(") + " …"


def without(text: str, start: str) -> str:
    """Return a text without its start and the signs that follow it."""
    return text.removeprefix(start).lstrip(" :.")


def title_of(node: Tag, kind: str) -> tuple[str, Tag | None]:
    """Return the title of a piece, and the element that says it where that is not to be said twice.

    Parameters
    ----------
    node : Tag
    kind : str
        Of `KINDS`.

    Returns
    -------
    title : str
    element : Tag or None
    """
    return TITLES.get(kind, lambda node: (shorten(plain_text(node)), None))(node)


def _title_of_entry(node):
    name, about = node.find("strong"), node.find("em")
    title = ": ".join(plain_text(part) for part in (name, about) if part is not None)
    return title, name.find_parent("p") if name else None


def _title_of_statement(node):
    head = node.find(class_="admonition-title")
    return plain_text(head) if head else "", head


def _title_of_check(node):
    what = node.find("strong")
    claim = node.find("a", href=re.compile("ledger.html#|^#"))
    return ": ".join(dict.fromkeys(plain_text(part) for part in (claim, what) if part is not None)), None


def _title_of_equation(node):
    number = node.find(class_="eqno")
    return f"Equation {plain_text(number)}" if number else "Equation", number


def _title_of_figure(node):
    caption = node.find("figcaption")
    text = plain_text(caption).replace("Fig. ", "Figure ", 1) if caption else ""
    return shorten(re.split(r"(?<=[.:]) (?=[A-Z(])", text)[0]), None


def _title_of_function(node):
    return plain_text(node).split("(")[0].strip(), None


TITLES = {
    "ledger entry": _title_of_entry,
    "statement": _title_of_statement,
    "check": _title_of_check,
    "equation": _title_of_equation,
    "figure": _title_of_figure,
    "function": _title_of_function,
}
"""How the title of a piece is found, where it is not all of its words."""


def meaning_of(node: Tag, kind: str, head: Tag | None, apart: set[int]) -> str:
    """Return the words of a piece beside its title."""
    if kind in ("term", "function"):
        after = node.find_next_sibling("dd")
        return plain_text(after, apart) if after is not None else ""
    if kind == "equation":
        return formula(node)
    unsaid = {id(head)} if head else set()
    if kind == "check":
        unsaid |= {id(part.find_parent("p")) for part in node.select("p > .verdict, p > strong")}
    return plain_text(node, apart | unsaid)


def names_in(title: str, kind: str) -> list[str]:
    """Return what a piece is called by.

    Parameters
    ----------
    title, kind : str

    Returns
    -------
    list of str
    """
    names = [f"{'Figure' if word == 'Fig.' else word} {number}" for word, number in NAME.findall(title)]
    if kind == "equation":
        return [title.replace("(", "").replace(")", "")]
    if kind == "statement":
        own = re.sub(r" \([^()]*\bpaper\b[^()]*\)$", "", NAME.sub("", title, count=1).strip())
        return [*names, *([own] if own else [])]
    if kind == "ledger entry":
        return [*names, *title.split(": ", 1)]
    if kind in ("page", "section"):
        return [re.sub(r"^([\d.]+ )?(The |A )?", "", title)]
    return [title] if kind == "term" else names


def pieces(article: Tag) -> list[tuple[str, str, str, str]]:
    """Take a page apart.

    Parameters
    ----------
    article : Tag
        From `assocmem_articles.read_article`.

    Returns
    -------
    list of tuple
        Of each piece in the order of the page its kind, its anchor, its title and its words.
    """
    kinds = {id(node): kind for selector, kind in PIECES.items() for node in article.select(selector)}
    parts = [s for s in article.find_all("section", id=True) if not s.find_parent(class_="proof")]
    kinds |= {id(node): "section" if number else "page" for number, node in enumerate(parts)}
    apart = {place for place, kind in kinds.items() if kind != "equation"}
    apart |= {id(node) for node in article.select(NOT_PROSE) if not node.select_one(".ledger-entry")}
    found = []
    for node in article.find_all(True):
        kind = kinds.get(id(node))
        if kind in ("page", "section"):
            heading = node.find(re.compile("^h[1-6]$"))
            if heading is not None:
                anchor = "" if kind == "page" else node["id"]
                found.append((kind, anchor, plain_text(heading), plain_text(node, apart | {id(heading)})))
        elif kind:
            title, head = title_of(node, kind)
            found.append((kind, name_of_place(node), title, meaning_of(node, kind, head, apart)))
    return found


def index(articles: dict[str, tuple[str, Tag]], words: dict[str, list[str]]) -> dict:
    """Return the index of a book as plain data.

    Parameters
    ----------
    articles : dict
        The path of each page, with its name and its article.
    words : dict
        What the book says instead of a word.

    Returns
    -------
    dict
        ``kinds``, ``pages`` (path and title), ``words``, and ``pieces`` (number of the page, number of the
        kind, anchor, title, names, words).
    """
    pages, everything = [], []
    for path, article in articles.items():
        own = pieces(article)
        if not own:
            continue
        pages.append([path, next((title for kind, _, title, _ in own if kind == "page"), path)])
        for found, anchor, title, words_in_it in own:
            kind = "entry" if found == "section" and path.startswith(RECORDS) else found
            text = words_in_it
            if kind in ("figure", "reference"):  # their title is how they begin
                text = text.replace("Fig. ", "Figure ", 1).removeprefix(title.removesuffix(" …")).lstrip()
            if text or kind not in ("section", "entry"):  # a heading with nothing below it leads nowhere
                names = names_in(title, kind)
                if kind == "function":  # what the face offers goes by its own name as well
                    names = [anchor] + ([anchor.partition(".")[2]] if anchor.count(".") == 1 else [])
                names = list(dict.fromkeys(names))
                everything.append([len(pages) - 1, KINDS.index(kind), anchor, title, names, text])
    return {"kinds": KINDS, "pages": pages, "words": words, "pieces": everything}


# --- Sphinx ---


def write_index(app: Sphinx, exception: Exception | None) -> None:
    """Write the index as a script.

    Parameters
    ----------
    app, exception
        As Sphinx gives them with ``build-finished``.
    """
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    words = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
    data = json.dumps(index(finished_articles(app), words), ensure_ascii=False, separators=(",", ":"))
    (out / INDEX).parent.mkdir(parents=True, exist_ok=True)
    write_whole(out / INDEX, f"window.assocmemIndex = {data};\n")


def use_own_page(app: Sphinx, config: Config) -> None:
    """Put this book's template of the search page before that of the theme.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    config.templates_path = [*config.templates_path, TEMPLATES]
    config.html_additional_pages = {**config.html_additional_pages, "search": "search.html"}


def leave_own_index_out(app: Sphinx) -> None:
    """Tell Sphinx to make no index of its own."""
    app.builder.search = False


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.setup_extension("assocmem_book")
    app.connect("config-inited", use_own_page, priority=400)
    app.connect("builder-inited", leave_own_index_out)
    app.connect("build-finished", write_index, priority=900)  # after all that changes pages
    app.add_css_file("search.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
