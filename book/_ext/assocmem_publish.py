"""What a page on the web wants to say about itself: to search engines, and to those who share its address.

Every page has a description. Where the address of the site is known there are also a preview with a picture
(by sphinxext-opengraph), canonical links, a site map, and a page for addresses that do not exist (by
sphinx-notfound-page). That address is ``html_baseurl``; for a repository on github.com it follows from the
repository's.

The notebooks that readers download say their formulas without the book's macros, which only the book knows.

Two things are done here although there are libraries for them. sphinxext-opengraph describes a page by its
first characters, TeX included, and breaks off within a word: it is given whole sentences instead.
sphinx-sitemap lists the pages that a build has written, so that a build of what has changed loses the rest.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from assocmem_book import ADDRESS, read_macros
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from assocmem.book.formula_text import formula_text
from assocmem.book.sections import PAGES

CARD = "card.png"
"""The picture of a preview, among the static files; ``make overview`` draws it."""
CARD_SIZE = (1200, 630)
"""Its width and height in pixels."""
CARD_TEXT = (
    "What fits into a d × d matrix: two thresholds against the number of pairs, and the critical load."
)
"""What the picture shows, for those who do not see it."""
LENGTH = 180
"""Characters of a description; search engines show little more."""
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
"""The space between two sentences."""
FILES = ("sitemap.xml", "robots.txt", "404.html")
"""What a book has only where its address is known."""


# --- words ---


def words(node: nodes.Node) -> str:
    """Return the words of a part of a page, formulas as plain text."""
    copy = node.deepcopy()
    for formula in list(copy.findall(nodes.math)):
        formula.replace_self(nodes.Text(formula_text(expand(formula.astext(), read_macros()))))
    return " ".join(copy.astext().split())


def first_paragraph(doctree: nodes.document) -> str:
    """Return the words of a page's first paragraph that has any."""
    return next(filter(None, map(words, doctree.findall(nodes.paragraph))), "")


def description(text: str, length: int = LENGTH) -> str:
    """Return the first sentences of a text that fit in a length.

    Parameters
    ----------
    text : str
    length : int
        In characters.

    Returns
    -------
    str
        At least one sentence, shortened after a word if it must be.
    """
    first, *others = SENTENCE_END.split(text)
    for sentence in others:
        if len(first) + 1 + len(sentence) > length:
            break
        first += f" {sentence}"
    if len(first) > length:
        first = first[:length].rsplit(" ", 1)[0].rstrip(" ,;:([") + " …"
    return re.sub(r"[,;:]$", ".", first)


# --- tags ---


def site_of(address: str) -> str:
    """Return where GitHub serves the pages of a repository, or nothing for one that lies elsewhere."""
    parts = ADDRESS.fullmatch(address)
    if not parts or parts["host"] != "github.com":
        return ""
    host = f"{parts['owner'].lower()}.github.io"
    return f"https://{host}/" if parts["name"].lower() == host else f"https://{host}/{parts['name']}/"


def front_door(front: str, tags: str, title: str, url: str) -> str:
    """Return the page at the root, which leads on to the front page and describes it to those who stay.

    Parameters
    ----------
    front : str
        The address of the front page from the root.
    tags : str
        The tags that describe it.
    title : str
    url : str
        Its whole address, or nothing where that is not known.

    Returns
    -------
    str
        HTML.
    """
    canonical = f'<link rel="canonical" href="{escape(url)}" />\n' if url else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n'
        f"<title>{escape(title)}</title>\n"
        f'<meta http-equiv="Refresh" content="0; url={front}" />\n{tags}\n{canonical}</head>\n'
        f'<body><p><a href="{front}">{escape(title)}</a></p></body>\n</html>\n'
    )


# --- notebooks ---


def expand(text: str, macros: dict[str, tuple[str, int]]) -> str:
    """Put the text of each macro in the place of its name; arguments stand in braces.

    Parameters
    ----------
    text : str
        Markdown with formulas.
    macros : dict
        The text of each macro and its number of arguments, by name.

    Returns
    -------
    str
    """
    argument = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
    for name, (body, count) in macros.items():
        # As a replacement of `re`, in braces that keep an index or a power on the whole.
        put = re.sub(r"#(\d)", r"\\g<\1>", "{" + body.replace("\\", r"\\") + "}")
        text = re.sub(rf"\\{name}(?![A-Za-z])" + argument * count, put, text)
    return text


def spell_out_macros(app: Sphinx, exception: Exception | None) -> None:
    """Expand the macros in the notebooks that readers download.

    Parameters
    ----------
    app, exception
        As Sphinx gives them with ``build-finished``.
    """
    if exception or app.builder.format != "html":
        return
    macros = read_macros()
    for path in Path(app.outdir, "_sources", PAGES).glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = expand("".join(cell["source"]), macros)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# --- Sphinx ---


def settle_site(app: Sphinx, config: Config) -> None:
    """Derive the site's address from the repository's, unless the configuration names one.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    site = config.html_baseurl or site_of(config.repository_address)
    config.html_baseurl = site and site.rstrip("/") + "/"


def pass_site_on(app: Sphinx, config: Config) -> None:
    """Tell those who make the previews and the page for lost readers what they have to know.

    Parameters
    ----------
    app, config
        As Sphinx gives them with ``config-inited``.
    """
    site = config.html_baseurl
    width, height = CARD_SIZE
    config.ogp_site_url = site
    config.ogp_site_name = config.html_title
    config.ogp_type = "article"
    config.ogp_image = f"{site}_static/{CARD}"
    config.ogp_image_alt = CARD_TEXT
    config.ogp_social_cards = {"enable": False}  # none are drawn: there is one picture for all pages
    config.ogp_custom_meta_tags = [
        f'<meta property="og:image:width" content="{width}" />',
        f'<meta property="og:image:height" content="{height}" />',
        '<meta name="twitter:card" content="summary_large_image" />',
    ]
    config.notfound_urls_prefix = urlsplit(site).path or "/"
    config.notfound_context = not_found(config.notfound_urls_prefix, config.root_doc)


def not_found(prefix: str, front: str) -> dict[str, str]:
    """Return what GitHub shows for an address that does not exist, at whatever depth.

    Parameters
    ----------
    prefix : str
        The path of the site on its host, with a slash at both ends.
    front : str
        The name of the front page.

    Returns
    -------
    dict
        For the template of a page.
    """
    body = (
        "<section><h1>There is no such page</h1>\n<p>It may have moved: see "
        f'<a href="{prefix}{front}.html">the front page</a> or '
        f'<a href="{prefix}search.html">search the book</a>.</p></section>'
    )
    hidden = '<meta name="robots" content="noindex" />'
    return {"title": "There is no such page", "body": body, "metatags": hidden}


def describe_page(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Describe a page that has a text, and say the same to those who make its preview, if it has one.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    if doctree is None or app.builder.format != "html":
        return
    about = escape(description(first_paragraph(doctree)))
    title = escape(words(app.env.titles[pagename]))
    context["metatags"] += f'\n    <meta name="description" content="{about}" />\n'
    preview = {"og:title": title, "og:description": about}
    without = {"ogp_disable": True}  # a preview leads to an address
    context["meta"] = {**(context["meta"] or {}), **(preview if app.config.html_baseurl else without)}


def write_front_door(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Write the page at the root, which says of itself what the front page does.

    Parameters
    ----------
    app, pagename, templatename, context, doctree
        As Sphinx gives them with ``html-page-context``.
    """
    if app.builder.format == "html" and pagename == app.config.root_doc != "index":
        site, front = app.config.html_baseurl, app.builder.get_target_uri(pagename)
        title = words(app.env.titles[pagename])
        door = front_door(front, context["metatags"], title, site and site + front)
        Path(app.outdir, "index.html").write_text(door, encoding="utf-8")


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """Write what search engines read, or remove what would be wrong without an address.

    Parameters
    ----------
    app, exception
        As Sphinx gives them with ``build-finished``.
    """
    if exception or app.builder.format != "html":
        return
    out, site = Path(app.outdir), app.config.html_baseurl
    if not site:
        for name in FILES:
            (out / name).unlink(missing_ok=True)
        return
    pages = "".join(
        f"<url><loc>{escape(site + app.builder.get_target_uri(name))}</loc></url>\n"
        for name in sorted(app.env.found_docs)
    )
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{schema}">\n'
    (out / "sitemap.xml").write_text(f"{head}{pages}</urlset>\n", encoding="utf-8")
    (out / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {site}sitemap.xml\n", encoding="utf-8"
    )


def setup(app: Sphinx) -> dict:
    """Register the extension with Sphinx."""
    for name in ("assocmem_book", "sphinxext.opengraph", "notfound.extension"):
        app.setup_extension(name)  # the first settles the repository's address
    app.connect("config-inited", settle_site, priority=450)
    app.connect("config-inited", pass_site_on, priority=460)
    app.connect("html-page-context", describe_page, priority=450)  # before the preview is made at 500
    app.connect("html-page-context", write_front_door, priority=550)  # and after
    app.connect("build-finished", write_files)
    app.connect("build-finished", spell_out_macros)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
