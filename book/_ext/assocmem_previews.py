"""Previews of what links lead to: formulas with their numbers, statements, figures, entries, sections.

They are cut out of the finished pages, so that numbers and verdicts are those that stand there. Each page has
one script with the previews that its own links need; ``previews.js`` loads it when a reader first points at a
link. Scripts can be loaded from a disk as well, where browsers refuse to fetch anything else. Pictures are
referred to, not copied.

sphinx-tippy does much of this. It relies on two scripts from another host, cuts by the kind of an element
alone, so that an entry of the ledger would be its first line, and loads all previews with the page.
"""

from __future__ import annotations

import copy
import json
import posixpath
import re
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from assocmem_articles import classes, element_at, finished_articles, is_formula
from bs4.element import Tag
from docutils import nodes
from sphinx.application import Sphinx

from assocmem.files import write_whole

FOLDER = "_static/previews"
"""Where the scripts lie in the book; each has the name of its page."""
NO_PREVIEW = {"headerlink", "image-reference", "sd-stretched-link", "btn", "download", "reference-image"}
"""Classes of links that lead to nothing worth a preview, or cover what they belong to."""
DROPPED = (
    "a.headerlink, .permalink, script, style, button, details, input, select, .sd-summary-title, .no-preview"
)
"""What a preview leaves out."""
LOST = ("id", "tabindex", "role", "name", "aria-labelledby", "aria-label", "width-limit")
"""Attributes that make sense in a page, once, and not in a preview."""
HEADINGS = re.compile("^h[1-6]$")
LEDGER = "book/ledger.html"
"""The page whose own rows already show the checks that they link to."""
ROOT = "@/"
"""What stands for the root of the book in a preview: each page knows its own way there."""


# --- what there is to show ---


def preview(article: Tag, anchor: str) -> Tag | list[Tag]:
    """Find what a reader wants to see of a place without going there.

    Parameters
    ----------
    article : Tag
        From `assocmem_articles.read_article`.
    anchor : str
        Nothing for the page itself.

    Returns
    -------
    list of Tag
        Parts of the article, in order; none, if there is no such place.
    """
    node = place(article, anchor)
    if node is None:
        return []
    entry = node if "ledger-entry" in classes(node) else node.find_parent(class_="ledger-entry")
    if entry is not None:
        return statement_of(entry)
    if node.name == "section":
        return head_of(node)
    if node.name == "dt":
        meaning = node.find_next_sibling("dd")
        told = [] if meaning is None else meaning.find_all(True, recursive=False)
        return [node, *takewhile(lambda part: part.name in ("p", "ul", "ol") or is_formula(part), told[:3])]
    return [node]


def place(article: Tag, anchor: str) -> Tag | None:
    """Return the element that an anchor stands for: that of its name, or what an empty one stands before."""
    if not anchor:
        return article.find("section")
    node = element_at(article, anchor)
    while node is not None and node.name in ("span", "a") and not node.get_text(strip=True):
        after = node.find_next_sibling(True)
        if node.parent.name == "section" and (after is None or HEADINGS.match(after.name) or not after.text):
            return node.parent
        node = after
    if node is not None and HEADINGS.match(node.name) and node.parent.name == "section":
        return node.parent
    return node


def statement_of(entry: Tag) -> list[Tag]:
    """Return the title, the verdict and the statement of an entry of the ledger, without its checks."""
    parts = []
    for child in entry.find_all(True, recursive=False):
        if child.name not in ("p", "ul", "ol") and not is_formula(child) and not HEADINGS.match(child.name):
            if parts:
                break
            continue
        if not child.get_text(strip=True).startswith(("In the proof", "Goes on from")):
            parts.append(child)
    return parts


def head_of(section: Tag) -> list[Tag]:
    """Return the heading of a section and its first paragraph, with the formula that follows, if one does."""
    heading = section.find(HEADINGS)
    first = section.find("p", recursive=False)
    if first is None:  # a section whose text is in parts only
        first = section.find(lambda tag: tag.name == "p" and not tag.find_parent(class_="section-head"))
    parts = [part for part in (heading, first) if part is not None]
    after = first.find_next_sibling(True) if first is not None else None
    return [*parts, after] if after is not None and is_formula(after) else parts


# --- as a text of its own ---


def cut_out(parts: list[Tag], page: str) -> str:
    """Write parts of a page so that they can stand in any page.

    Parameters
    ----------
    parts : list of Tag
        They stay as they are.
    page : str
        The path of their page from the root of the book.

    Returns
    -------
    str
        HTML, without links and anchors; addresses of pictures start with `ROOT`.
    """
    return "".join(_cut_out(copy.copy(part), page) for part in parts)


def _cut_out(part, page):
    for node in part.select(DROPPED):
        node.decompose()
    for picture in part.find_all(["img", "source"]):
        for name in ("src", "srcset"):
            if picture.get(name) and not urlsplit(picture[name]).scheme:
                picture[name] = ROOT + posixpath.normpath(
                    posixpath.join(posixpath.dirname(page), picture[name])
                )
        picture["loading"] = "eager"
    for link in part.find_all("a"):
        link.unwrap()
    for node in [part, *part.find_all(True)]:
        if node.name != "svg" and not node.find_parent("svg"):
            for name in LOST:
                del node[name]
        elif node.get("id"):
            node["id"] = f"preview-{node['id']}"
        if HEADINGS.match(node.name) or node.name == "dt":
            node.name, node["class"] = "p", "preview-title"
        elif node.name in ("section", "dd", "figure"):
            node["class"] = " ".join([*(node.get("class") or ()), f"preview-{node.name}"])
            node.name = "figure" if node.name == "figure" else "div"
    text = re.sub(r"(url\(|href=\")#(?!preview-)", r"\1#preview-", str(part))
    return re.sub(r"\s*\n\s*", "\n", text) if "\\[" not in text else text


def links_of(article: Tag, page: str) -> list[str]:
    """Return where the links of a page lead within the book, each once.

    Parameters
    ----------
    article : Tag
    page : str
        The path of the page from the root of the book.

    Returns
    -------
    list of str
        Paths from the root, with anchors.
    """
    found = {}
    for link in article.find_all("a", href=True):
        parts = urlsplit(link["href"])
        if (
            parts.scheme
            or parts.netloc
            or parts.query
            or classes(link) & NO_PREVIEW
            or not link.get_text(strip=True)
        ):
            continue
        path = (
            posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
            if parts.path
            else page
        )
        if path != page or parts.fragment:
            found[f"{path}#{unquote(parts.fragment)}".rstrip("#")] = None
    return list(found)


def previews_of(page: str, articles: dict[str, Tag]) -> dict[str, str]:
    """Return the previews that the links of a page need.

    Parameters
    ----------
    page : str
        Its path from the root of the book.
    articles : dict
        All articles, by path.

    Returns
    -------
    dict of str to str
        HTML, by where the links lead.
    """
    texts = {}
    for address in links_of(articles[page], page):
        path, _, anchor = address.partition("#")
        if page == LEDGER and anchor.startswith("check-"):
            continue
        parts = preview(articles[path], anchor) if path in articles else []
        text = cut_out(parts, path) if parts else ""
        if text:
            texts[address] = text
    return texts


# --- Sphinx ---


def write_previews(app: Sphinx, exception: Exception | None) -> None:
    """Write the script of each page.

    Parameters
    ----------
    app, exception
        As Sphinx gives them with ``build-finished``.
    """
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    articles = finished_articles(app)
    for path in articles:
        texts = json.dumps(previews_of(path, articles), ensure_ascii=False, separators=(",", ":"))
        script = (out / FOLDER / path).with_suffix(".js")
        script.parent.mkdir(parents=True, exist_ok=True)
        write_whole(script, f"assocmemPreviews({texts});\n")


def load_script(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Load what shows previews on the pages that have a text.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    if doctree is not None:
        app.add_js_file("previews.js", loading_method="defer")


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    app.setup_extension("assocmem_book")
    app.connect("html-page-context", load_script)
    app.connect("build-finished", write_previews, priority=900)  # after all that changes pages
    app.add_css_file("previews.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
