"""Previews of what links lead to, by pointer, by keyboard and by touch."""

import json
import re
from importlib.resources import files

import pytest
from bs4 import BeautifulSoup
from conftest import WITHOUT_STROKES, toc_pages

pytestmark = pytest.mark.site

PAGES = toc_pages()
MOST_BYTES = 150_000
"""Of the previews of one page."""
TYPESET = """
    () => [...document.querySelectorAll('.bd-article .math')].every(m => m.querySelector('mjx-container'))
"""
PROOFS = "book/proofs"
EQUATION = 'article p a[href^="#equation-"]:not(.headerlink)'
OPEN = "() => document.querySelector('.am-preview:not([hidden], .am-preview-waits)')"
CLOSED = "() => !document.querySelector('.am-preview:not([hidden])')"
CUT = """
    () => [...document.querySelectorAll('.am-preview mjx-container')]
        .filter(node => node.scrollWidth > node.clientWidth + 1).map(node => node.textContent)
"""
BOX = """
    () => {
        const {left, right, top, bottom} = document.querySelector('.am-preview').getBoundingClientRect();
        return {left, right, top, bottom, text: document.querySelector('.am-preview').textContent};
    }
"""
# A tall preview scrolls under a pointer; by keyboard its link leads to the whole.
AXE = """
    async () => (await axe.run('.am-preview', {
        resultTypes: ['violations'], preload: false, rules: {'scrollable-region-focusable': {enabled: false}}
    })).violations
        .filter(rule => ['serious', 'critical'].includes(rule.impact)).map(rule => rule.id)
"""


def visit(page, address):
    page.goto(address)
    page.wait_for_function(TYPESET)


def first(page, selector):
    link = page.locator(selector).first
    link.scroll_into_view_if_needed()
    return link


def point_at(page, selector):
    link = first(page, selector)
    link.hover()
    page.wait_for_function(OPEN)
    return link


def test_a_formula_is_typeset_with_its_number(page, origin):
    visit(page, f"{origin}/{PROOFS}.html")
    link = point_at(page, EQUATION)
    number = link.inner_text().strip()
    assert re.fullmatch(r"\(\d[\d.]*\)", number)
    box = page.locator(".am-preview")
    assert number in box.inner_text()
    assert box.locator(".math mjx-container").count() == 1
    assert box.get_attribute("role") == "tooltip"
    assert link.get_attribute("aria-describedby") == box.get_attribute("id")
    assert page.trouble == []


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_it_can_be_pointed_at_and_dismissed(page, origin):
    visit(page, f"{origin}/{PROOFS}.html")
    link = point_at(page, EQUATION)
    page.locator(".am-preview").hover()
    page.wait_for_timeout(600)
    assert page.evaluate(OPEN)
    page.mouse.move(2, 2)
    page.wait_for_function(CLOSED)
    assert link.get_attribute("aria-describedby") is None

    point_at(page, EQUATION)
    page.keyboard.press("Escape")
    page.wait_for_function(CLOSED)
    page.wait_for_timeout(500)
    assert page.evaluate(CLOSED)  # until the reader has left
    page.mouse.move(2, 2)
    point_at(page, EQUATION)


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_it_comes_with_the_keyboard_and_goes(page, origin):
    visit(page, f"{origin}/{PROOFS}.html")
    link = page.locator(EQUATION).first
    page.keyboard.press("Tab")  # from here on, focus is that of a keyboard
    link.focus()
    page.wait_for_function(OPEN)
    assert link.get_attribute("aria-describedby") == "am-preview"
    page.keyboard.press("Escape")
    page.wait_for_function(CLOSED)
    assert link.evaluate("node => node === document.activeElement")
    page.keyboard.press("Tab")
    link.focus()
    page.wait_for_function(OPEN)
    page.keyboard.press("Tab")
    assert link.get_attribute("aria-describedby") is None


def test_touch_follows_the_link(browser, served):
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 844})
    page = context.new_page()
    visit(page, f"{served}/{PROOFS}.html")
    link = first(page, EQUATION)
    target = link.get_attribute("href")
    link.tap()
    page.wait_for_url(f"**{target}")
    page.wait_for_timeout(600)
    assert page.evaluate(CLOSED)
    context.close()


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
@pytest.mark.parametrize(
    ("name", "selector", "said"),
    [
        (
            "book/sections/top1_threshold",
            "article p a[href*='ledger.html#theorem-1']",
            "Sharp top-1 threshold",
        ),
        (PROOFS, "article p a[href*='#fig-']", "Fig. "),
        ("book/index", "article p a[href*='bibliography.html#']", "20"),
        ("book/sections/ridgeless_limit", "article p a[href*='#thm-scalar']", "Theorem 7.1"),
        ("book/sections/scalar_theory", "article p a[href*='glossary.html#term-margin']", "margin"),
        ("book/how_to", "article a[href$='#assocmem.fit']", "fit("),
    ],
)
def test_each_kind_of_target_is_shown_legibly(page, origin, name, selector, said):
    """On a narrow screen and in the dark; pictures are there, and nothing runs off the screen."""
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, f"{origin}/{name}.html")
    point_at(page, selector)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.am-preview img')].every(i => i.naturalWidth)"
    )
    box = page.evaluate(BOX)
    assert said in box["text"]
    assert 0 <= box["left"] < box["right"] <= 390
    assert 0 <= box["top"] < box["bottom"] <= 844
    assert page.evaluate(CUT) == []
    page.evaluate(WITHOUT_STROKES, ".am-preview")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    assert page.evaluate(AXE) == []
    page.emulate_media(media="print")
    assert not page.locator(".am-preview").is_visible()
    assert page.trouble == []


@pytest.mark.parametrize("name", PAGES)
def test_previews_of_a_page_are_few_and_lead_somewhere(site, name):
    script = site / "_static" / "previews" / f"{name}.js"
    assert script.stat().st_size < MOST_BYTES
    texts = json.loads(
        script.read_text(encoding="utf-8").removeprefix("assocmemPreviews(").removesuffix(");\n")
    )
    for address, text in texts.items():
        assert (site / address.partition("#")[0]).is_file(), address
        seen = BeautifulSoup(text, "html.parser")
        assert seen.get_text(strip=True) or seen.find("img"), address
        assert not seen.select("a, button, script, details"), address
        for picture in seen.find_all("img"):
            assert (site / picture["src"].removeprefix("@/")).is_file(), picture["src"]
