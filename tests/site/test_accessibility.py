"""What readers need who do not see the book, or not all its colours, or use no mouse, or print it."""

import re
from itertools import pairwise

import pytest
from conftest import soup, toc_pages

pytestmark = pytest.mark.site

PAGES = toc_pages()
SECTIONS = [name for name in PAGES if name.startswith("book/sections/")]
FRONT = PAGES[0]
TYPESET = """
    () => {
        const formulas = [...document.querySelectorAll('.bd-article .math')];
        return document.readyState === 'complete' && formulas.every(m => m.querySelector('mjx-container'));
    }
"""
MOST_BYTES = 6_000_000
"""Of one page with all that it loads: 2.3 million are MathJax, 1.5 million the icons of the theme."""


@pytest.mark.parametrize("name", PAGES)
def test_headings_are_in_order_and_the_language_is_named(site, name):
    page = soup(site / f"{name}.html")
    assert page.html["lang"] == "en"
    levels = [int(tag.name[1]) for tag in page.select_one("article").find_all(re.compile("^h[1-6]$"))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(levels)), levels


@pytest.mark.parametrize("name", SECTIONS)
def test_every_figure_has_a_caption_and_says_what_is_seen(site, name):
    images = soup(site / f"{name}.html").select("article .cell_output img, article figure img")
    assert images
    for image in images:
        figure = image.find_parent("figure")
        assert figure, image["src"]
        assert len(figure.figcaption.get_text(strip=True)) > 40, image["src"]
        text = image["alt"].strip()
        assert len(text.split()) >= 6, text
        assert not re.match(r"(?i)(a |the )?(plot|figure|image|picture|graph)s?\b", text), text


@pytest.mark.parametrize("name", PAGES)
def test_tables_have_header_cells(site, name):
    for table in soup(site / f"{name}.html").select("article table"):
        assert table.find("th"), table.get_text(" ", strip=True)[:200]


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_skip_link_leads_to_the_text(page, origin):
    page.goto(f"{origin}/{FRONT}.html")
    page.keyboard.press("Tab")
    link = page.evaluate("document.activeElement.getAttribute('href')")
    assert link == "#main-content"
    page.wait_for_function("() => document.activeElement.getBoundingClientRect().top >= 0")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('#main-content')")


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_paper_is_white_and_shows_all(page, origin):
    page.emulate_media(color_scheme="dark")
    page.goto(f"{origin}/{SECTIONS[0]}.html")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    page.wait_for_function(TYPESET)
    closed = page.locator("details:not([open])").count()
    assert closed
    page.emulate_media(color_scheme="dark", media="print")
    style = """
        node => {
            const {color, backgroundColor, filter} = getComputedStyle(node);
            return [color, backgroundColor, filter];
        }
    """
    assert page.locator("body").evaluate(style)[:2] == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert page.locator("article figure img").first.evaluate(style)[2] == "none"
    assert (
        not page.locator(".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article")
        .locator("visible=true")
        .count()
    )
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("details:not([open])").count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == closed
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("name", PAGES)
def test_page_weighs_little(site, name):
    """All bytes that a page loads, seen from a disk: the page, its scripts, styles and pictures."""
    path = site / f"{name}.html"
    loaded = {
        (path.parent / re.sub(r"[?#].*", "", tag.get("src") or tag.get("href"))).resolve()
        for tag in soup(path).select("script[src], link[rel=stylesheet], img[src]")
    }
    assert path.stat().st_size + sum(file.stat().st_size for file in loaded) < MOST_BYTES
