"""Finished pages, read again for what is made from all of them: previews and the index of the search.

Only what a page says is read, its article. Code is left out before anything else looks, which makes the
reading several times faster; nobody searches it and no preview shows it.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from assocmem_book import read_macros
from assocmem_publish import expand
from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag
from sphinx.application import Sphinx

from assocmem.book.formula_text import formula_text

ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)
"""What a page says, in its file."""
CODE = re.compile(r"<(pre|script|style)\b.*?</\1>", re.DOTALL)
"""Code, in an article."""
TEX = re.compile(r"\\([(\[])(.*?)\\[)\]]", re.DOTALL)
"""A formula as it stands in a page for MathJax."""
UNSEEN = {"headerlink", "cell_input", "sd-summary-state-marker", "visually-hidden"}
"""Classes of what belongs to no text."""
UNSAID = {"svg", "button", "script", "style", "img", "input", "select", "template"}
"""Tags of what belongs to no text."""
RUNNING = {"a", "abbr", "b", "code", "em", "i", "span", "strong", "sub", "sup", "u", "mark", "small", "cite"}
"""Tags within words: all others part what stands before from what comes after."""


def finished_articles(app: Sphinx) -> dict[str, Tag]:
    """Return the article of each page that the build has, by the page's path from the root of the book."""
    paths = [Path(app.builder.get_outfilename(name)) for name in sorted(app.env.found_docs)]
    articles = {path: read_article(path) for path in paths if path.is_file()}
    out = Path(app.outdir)
    return {path.relative_to(out).as_posix(): own for path, own in articles.items() if own is not None}


def read_article(path: Path) -> Tag | None:
    """Return the article of a finished page, without code; it is shared, so do not change it.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Tag or None
        Nothing, where a page has no article.
    """
    return _article(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=200)
def _article(path, _when):
    found = ARTICLE.search(path.read_text(encoding="utf-8"))
    return BeautifulSoup(CODE.sub("", found[0]), "html.parser").article if found else None


def element_at(article: Tag, anchor: str) -> Tag | None:
    """Return the element with an anchor; the second question about an article is answered at once."""
    asked, places = _PLACES.get(id(article), (None, {}))
    if asked is not article:
        places = {}
        for node in article.find_all(id=True):
            places.setdefault(node["id"], node)
        _PLACES[id(article)] = article, places
    return places.get(anchor)


_PLACES: dict[int, tuple[Tag, dict[str, Tag]]] = {}
"""Elements by anchor, for each article; an article that is kept here keeps its ``id``."""


def classes(node: Tag) -> set[str]:
    """Return the classes of an element."""
    return set(node.get("class") or ())


def is_formula(node: Tag) -> bool:
    """Tell whether an element is a formula, in a line or displayed."""
    return "math" in classes(node) and node.name in ("span", "div")


def plain_text(node: Tag, leave_out: set[int] = frozenset()) -> str:
    """Return the words of an element, formulas as plain text.

    Parameters
    ----------
    node : Tag
    leave_out : set of int
        ``id`` of elements inside whose words belong to something else.

    Returns
    -------
    str
        One line.
    """
    return " ".join("".join(_words(node, leave_out)).split())


def _words(node, leave_out):
    for child in node.children:
        if isinstance(child, NavigableString):
            if not isinstance(child, PreformattedString):  # comments and the like
                yield str(child)
        elif id(child) in leave_out or child.name in UNSAID or classes(child) & UNSEEN:
            yield " "
        elif is_formula(child):
            yield formula(child) if child.name == "span" else f" {formula(child)} "
        elif child.name in RUNNING:
            yield from _words(child, leave_out)
        else:
            yield " "
            yield from _words(child, leave_out)
            yield " "


def formula(node: Tag) -> str:
    """Return a formula of a page as plain text, without its number."""
    return "; ".join(_formula(tex) for _, tex in TEX.findall(node.get_text()))


@cache
def _formula(tex):
    return formula_text(expand(tex, _macros()))


@cache
def _macros():
    return read_macros()
