"""The built book on the web: previews, addresses, and a page for those that lead nowhere."""

import json
import re
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from conftest import ROOT, soup, toc_pages

pytestmark = pytest.mark.site

PAGES = toc_pages()
FILES = "sitemap.xml", "robots.txt", "404.html"
PREVIEW = "og:title", "og:url", "og:image", "twitter:card"


def head(site, name):
    return soup(site / f"{name}.html").head


def said(page, key):
    tag = page.find("meta", attrs={"name": key}) or page.find("meta", property=key)
    return tag and tag["content"]


@pytest.fixture(scope="module")
def home(site):
    """The address that the book was built for, or nothing."""
    link = head(site, PAGES[0]).find("link", rel="canonical")
    return link["href"].removesuffix(f"{PAGES[0]}.html") if link else ""


def test_every_page_describes_itself(site):
    descriptions = [said(head(site, name), "description") for name in PAGES]
    assert all(descriptions)
    assert len(set(descriptions)) == len(PAGES)
    for text in descriptions:
        assert len(text) <= 190, text
        assert not re.search(r"[\\${}]", text), text
        assert text[-1] in ".?!…", text


def test_previews_and_links_have_whole_addresses_or_none(site, home):
    for name in [*PAGES, "index"]:
        page = head(site, name)
        assert said(page, "description")
        if home:
            assert said(page, "og:title")
            assert said(page, "og:description") == said(page, "description")
            target = PAGES[0] if name == "index" else name
            assert (
                page.find("link", rel="canonical")["href"] == said(page, "og:url") == f"{home}{target}.html"
            )
            assert urlsplit(home).scheme == "https"
            assert (site / said(page, "og:image").removeprefix(home)).is_file()
            assert said(page, "twitter:card") == "summary_large_image"
        else:
            assert not [key for key in PREVIEW if said(page, key)]
            assert not page.find("link", rel="canonical")


def test_search_engines_find_every_page_of_a_published_book(site, home):
    assert [name for name in FILES if (site / name).exists()] == (list(FILES) if home else [])
    assert (site / ".nojekyll").is_file()
    if home:
        pages = [e.text for e in ElementTree.parse(site / "sitemap.xml").iter() if e.tag.endswith("}loc")]
        assert sorted(pages) == sorted(f"{home}{name}.html" for name in PAGES)
        assert f"Sitemap: {home}sitemap.xml" in (site / "robots.txt").read_text(encoding="utf-8")


def test_downloaded_notebooks_speak_without_the_macros_of_the_book(site):
    names = yaml.safe_load((ROOT / "book" / "macros.yml").read_text(encoding="utf-8"))
    macro = re.compile(rf"\\(?:{'|'.join(names)})(?![A-Za-z])")
    notebooks = list((site / "_sources" / "book" / "sections").glob("*.ipynb"))
    assert notebooks
    for path in notebooks:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        assert not macro.findall(text), path.stem


def test_a_lost_reader_finds_back_from_any_depth(browser, site, home):
    if not home:
        pytest.skip("built without an address, so there is no page for lost readers")

    def answer(route):  # as GitHub does
        path = site / urlsplit(route.request.url.removeprefix(home)).path
        if not route.request.url.startswith(home) or not path.is_file():
            route.fulfill(status=404, path=site / "404.html")
        else:
            route.fulfill(path=path)

    page = browser.new_page()
    trouble = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("response", lambda r: r.status == 404 and "nowhere" not in r.url and trouble.append(r.url))
    page.route("**/*", answer)
    page.goto(f"{home}book/sections/nowhere/at/all.html")
    assert page.locator("h1", has_text="There is no such page").is_visible()
    page.get_by_role("link", name="the front page").click()
    page.wait_for_url(f"{home}{PAGES[0]}.html")
    assert not trouble
    page.close()
