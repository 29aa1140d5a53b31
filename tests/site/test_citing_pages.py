"""The foot of each page and the buttons that copy: citations and links, by mouse and keyboard."""

import re

import pytest
from conftest import soup, toc_pages

from assocmem import __version__

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["loopback"], indirect=True)]


def test_every_page_says_what_it_was_built_from_and_how_to_cite_it(site, origin):
    for name in toc_pages():
        page = soup(site / f"{name}.html")
        assert f"Version {__version__}" in page.select_one(".edition").text, name
        cited = page.select_one("details.cite-page .cite-words").text
        assert page.h1.text.strip("#").split()[-1] in cited or "$" in cited or page.h1.select(".math"), name
        assert "@incollection{" in page.select_one(".cite-bibtex").text
        printed = page.select_one(".edition a")
        assert printed is None or (site / name).parent.joinpath(printed["href"]).resolve().is_file()


@pytest.fixture
def pasting(browser, origin):
    """A page of a browser that lets us read what was copied."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    yield page
    context.close()


def test_an_entry_of_the_ledger_gives_its_link_and_its_citation(pasting, origin):
    page = pasting
    page.goto(f"{origin}/book/ledger.html")
    page.wait_for_selector(".ledger-entry .copy-tools")
    assert page.locator(".ledger-entry").count() == page.locator(".ledger-entry .copy-tools").count()
    entry = page.locator(".ledger-entry", has=page.locator("#theorem-1"))
    entry.get_by_role("button", name=re.compile("Copy link .*Theorem 1")).press("Enter")
    page.wait_for_function("() => [...document.querySelectorAll('.copied')].some(x => x.textContent)")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{origin}/book/ledger.html#theorem-1"
    page.goto(link)
    assert page.locator("#theorem-1").is_visible()
    entry.get_by_role("button", name=re.compile("Copy citation .*Theorem 1")).click()
    page.wait_for_function("() => [...document.querySelectorAll('.copied')].some(x => x.textContent)")
    words = page.evaluate("navigator.clipboard.readText()")
    assert re.match(r"The assocmem project, “Theorem 1, .+: holds.*”, in: Linear associative memory", words)
    assert words.endswith(f"{link}.")


def test_the_citation_of_a_page_can_be_copied(pasting, origin):
    page = pasting
    page.goto(f"{origin}/book/notation.html")
    page.locator(".cite-page summary").click()
    page.get_by_role("button", name="Copy BibTeX").click()
    page.wait_for_function("() => document.querySelector('.copied').textContent === 'Copied.'")
    assert page.evaluate("navigator.clipboard.readText()").startswith("@incollection{assocmem-notation,")


def test_the_reference_and_the_text_lead_to_each_other(pasting, origin):
    page = pasting
    page.goto(f"{origin}/book/how_to.html")
    page.locator("a.api-link").first.click()
    page.wait_for_url("**/api/face.html#assocmem.*")
    used = page.locator("dl.py:has(dt[id='assocmem.decide_top1']) p.api-uses a").first
    used.click()
    page.wait_for_url("**/sections/*.html")
    page.goto(f"{origin}/genindex.html")
    assert page.locator("a[href$='api/face.html#assocmem.fit']").count() == 1
