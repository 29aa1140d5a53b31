"""What readers need who do not see the book, or not all its colours, or use no mouse, or print it."""

import re
from importlib.resources import files
from itertools import pairwise

import pytest
from conftest import WITHOUT_STROKES, soup, toc_pages

pytestmark = pytest.mark.site

PAGES = toc_pages()
OTHERS = ["search", "genindex", "prf-prf"]
SECTIONS = [name for name in PAGES if name.startswith("book/sections/")]
FRONT = PAGES[0]
# Contrast takes axe most of a minute on a page with many formulas: there it looks at what is around the text,
# and test_site at the text itself.
LONG = {*SECTIONS, *(f"book/{name}" for name in ("ledger", "benchmarks", "proofs", "notation", "errata"))}
LONG |= {name for name in PAGES if name.startswith("book/api/")}
AXE = """
    async contrast => {
        const options = {resultTypes: ['violations']};
        if (contrast) options.runOnly = ['color-contrast'];
        else options.rules = {'color-contrast': {enabled: false}};
        const found = await axe.run({exclude: [['mjx-container svg']]}, options);
        return found.violations
            .filter(rule => ['serious', 'critical'].includes(rule.impact))
            .flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`));
    }
"""
TYPESET = """
    () => {
        const formulas = [...document.querySelectorAll('.bd-article .math')];
        return document.readyState === 'complete' && formulas.every(m => m.querySelector('mjx-container'));
    }
"""
# Where only its surroundings are looked at, the article goes as well, and leaves them where they are.
WITHOUT_ARTICLE = """
    () => document.querySelectorAll('article').forEach(article => {
        article.style.boxSizing = 'border-box';
        article.style.height = `${article.getBoundingClientRect().height}px`;
        article.replaceChildren();
    })
"""
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
MOST_BYTES = 6_000_000
"""Of one page with all that it loads: 2.3 million are MathJax, 1.5 million the icons of the theme."""


@pytest.mark.parametrize("origin", ["loopback"], indirect=True)
@pytest.mark.parametrize("name", [*PAGES, *OTHERS])
def test_no_serious_violation(page, origin, name):
    """One load: the structure on a narrow screen, where most things scroll; contrast in both modes."""
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{origin}/{name}.html")
    page.wait_for_function(TYPESET)
    page.evaluate(SETTLED)
    page.evaluate(WITHOUT_STROKES)
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    assert page.evaluate(AXE, False) == []
    page.set_viewport_size({"width": 1280, "height": 800})
    if name in LONG:
        page.evaluate(WITHOUT_ARTICLE)
    for scheme in ("light", "dark"):
        page.emulate_media(reduced_motion="reduce", color_scheme=scheme)
        page.wait_for_function(f"() => document.documentElement.dataset.theme === '{scheme}'")
        assert page.evaluate(AXE, True) == []


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
