"""What a page on the web wants to say about itself: to search engines, and to those who share its address.

Every page has a description. Where the address of the site is known there are also a preview with a picture,
canonical links, a site map, and a page for addresses that do not exist. That address is ``html_baseurl``;
for a repository on github.com it follows from the repository's.

The notebooks that readers download say their formulas without the book's macros, which only the book knows.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

from assocmem_book import ADDRESS, SECTIONS, read_macros

CARD, CARD_SIZE = "card.png", (1200, 630)  # among the static files; `make overview` draws it
CARD_TEXT = (
    "What fits into a d × d matrix: two thresholds against the number of pairs, and the critical load."
)
LENGTH = 180  # characters of a description; search engines show little more
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
TEX = re.compile(r"\\[A-Za-z]+|\\.|[{}$]|\^2")
SIGNS = {r"\times": "×", r"\alpha": "α", r"\asymp": "≍", "^2": "²"}
FILES = "sitemap.xml", "robots.txt", "404.html"


# --- words ---


def plain(tex: str) -> str:
    """Write a formula of a few signs without TeX; what is not known loses its backslash."""
    return TEX.sub(lambda m: SIGNS.get(m[0], m[0].strip("\\{}$,;")), tex)


def first_paragraph(doctree) -> str:
    """Return the words of a page's first paragraph, formulas included."""
    for node in doctree.findall(lambda node: node.tagname == "paragraph"):
        copy = node.deepcopy()
        for formula in list(copy.findall(lambda child: child.tagname == "math")):
            formula.replace_self(type(formula[0])(plain(formula.astext())))
        text = " ".join(copy.astext().split())
        if text:
            return text
    return ""


def description(text: str, length: int = LENGTH) -> str:
    """Return the first sentences of a text that fit in a length: at least one, shortened if it must be."""
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


def head_tags(title: str, about: str, book: str, site: str, url: str) -> str:
    """Return the tags that describe a page; those with an address only where there is a site."""
    named = {"description": about}
    properties = {"og:title": title, "og:description": about, "og:type": "article", "og:site_name": book}
    if site:
        width, height = map(str, CARD_SIZE)
        properties |= {"og:url": url, "og:image": f"{site}_static/{CARD}", "og:image:alt": CARD_TEXT}
        properties |= {"og:image:width": width, "og:image:height": height}
        named["twitter:card"] = "summary_large_image"
    tags = [f'<meta name="{key}" content="{escape(text)}" />' for key, text in named.items()]
    tags += [f'<meta property="{key}" content="{escape(text)}" />' for key, text in properties.items()]
    return "\n    ".join(["", *tags]) + "\n"


def front_door(front: str, tags: str, title: str, url: str) -> str:
    """Return the page at the root, which leads on to the front page and describes it to those who stay."""
    canonical = f'<link rel="canonical" href="{escape(url)}" />\n' if url else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n'
        f"<title>{escape(title)}</title>\n"
        f'<meta http-equiv="Refresh" content="0; url={front}" />{tags}{canonical}</head>\n'
        f'<body><p><a href="{front}">{escape(title)}</a></p></body>\n</html>\n'
    )


# --- notebooks ---


def expand(text: str, macros: dict[str, tuple[str, int]]) -> str:
    """Put the text of each macro in the place of its name; arguments stand in braces."""
    argument = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
    for name, (body, count) in macros.items():
        # As a replacement of `re`, in braces that keep an index or a power on the whole.
        put = re.sub(r"#(\d)", r"\\g<\1>", "{" + body.replace("\\", r"\\") + "}")
        text = re.sub(rf"\\{name}(?![A-Za-z])" + argument * count, put, text)
    return text


def spell_out_macros(app, exception) -> None:
    """Expand the macros in the notebooks that readers download."""
    if exception or app.builder.format != "html":
        return
    macros = read_macros()
    for path in Path(app.outdir, "_sources", SECTIONS).glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = expand("".join(cell["source"]), macros)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# --- Sphinx ---


def settle_site(app, config) -> None:
    """Derive the site's address from the repository's, unless the configuration names one."""
    site = config.html_baseurl or site_of(config.repository_address)
    config.html_baseurl = site and site.rstrip("/") + "/"


def describe_page(app, pagename, templatename, context, doctree) -> None:
    """Add the tags to a page that has a text, and those of the front page to the page at the root."""
    if doctree is None or app.builder.format != "html":
        return
    site, address = app.config.html_baseurl, app.builder.get_target_uri(pagename)
    title = plain(app.env.titles[pagename].astext())
    about = description(first_paragraph(doctree))
    tags = head_tags(title, about, app.config.html_title, site, site + address)
    context["metatags"] = context.get("metatags", "") + tags
    if pagename == app.config.root_doc != "index":
        door = front_door(address, tags, title, site and site + address)
        Path(app.outdir, "index.html").write_text(door, encoding="utf-8")


def page_not_found(app):
    """Yield the page that GitHub shows for an address that does not exist, at whatever depth."""
    site = app.config.html_baseurl
    if site and app.builder.format == "html":
        front = app.builder.get_target_uri(app.config.root_doc)
        body = (
            "<section><h1>There is no such page</h1>\n<p>It may have moved: see "
            f'<a href="{front}">the front page</a> or <a href="search.html">search the book</a>.</p>'
            "</section>"
        )
        # All addresses on the page are relative, and count from here.
        base = f'<base href="{escape(site)}" /><meta name="robots" content="noindex" />'
        yield "404", {"title": "There is no such page", "body": body, "metatags": base}, "page.html"


def write_files(app, exception) -> None:
    """Write what search engines read, or remove what an earlier build has left of it."""
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


def setup(app) -> dict:
    """Register the extension with Sphinx."""
    app.setup_extension("assocmem_book")  # which settles the repository's address first
    app.connect("config-inited", settle_site, priority=450)
    app.connect("html-page-context", describe_page)
    app.connect("html-collect-pages", page_not_found)
    app.connect("build-finished", write_files)
    app.connect("build-finished", spell_out_macros)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
