"""The search: what is asked for comes first, with its place and an excerpt, from a disk as well."""

import json
from importlib.resources import files
from urllib.parse import quote

import pytest
from conftest import soup

pytestmark = pytest.mark.site

MOST_BYTES = 1_500_000
"""Of the index. A disk gives as much in some milliseconds, and a server packs it to a third."""
AXE = """
    async () => (await axe.run('.bd-search-container', {preload: false})).violations
        .filter(rule => ['serious', 'critical'].includes(rule.impact))
        .flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 150)}`))
"""


@pytest.fixture(scope="session")
def index(site):
    text = (site / "_static" / "search-index.js").read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    return json.loads(text.removeprefix("window.assocmemIndex = ").removesuffix(";\n"))


@pytest.fixture
def find(page, origin):
    page.goto(f"{origin}/search.html")
    page.wait_for_function("() => !!window.assocmemSearch")
    return lambda question: page.evaluate("question => assocmemSearch(question)", question)


def links(page):
    return page.locator("#search-results .search-list a")


# --- the index ---


def test_every_piece_has_a_place(site, index):
    known = {}
    for page, _, anchor, title, _, text in index["pieces"]:
        path = index["pages"][page][0]
        if path not in known:
            known[path] = {tag["id"] for tag in soup(site / path).find_all(id=True)}
        assert not anchor or anchor in known[path], f"{path}#{anchor}"
        assert title or text, f"{path}#{anchor}"


def test_formulas_are_not_tex_and_code_is_absent(index):
    words = " ".join(
        f"{title} {text}"
        for page, _, _, title, _, text in index["pieces"]
        if not index["pages"][page][0].startswith("book/api/")  # whose docstrings speak of code
    )
    for sign in (r"\frac", r"\(", r"\[", "alpha=0.35", "plt.", "np.", "import numpy"):
        assert sign not in words, sign
    assert "d²/(n log n)" in words


def test_the_book_says_what_it_is_said_to_say(index):
    words = " ".join(f"{title} {text}" for _, _, _, title, _, text in index["pieces"]).lower()
    words = words.replace("-", " ").replace("’", "'")
    lost = {other for others in index["words"].values() for other in others} - {"leave-one-out"}
    assert not [other for other in lost if other.lower().replace("-", " ") not in words]


def test_sphinx_keeps_no_index_of_its_own(site):
    assert not (site / "searchindex.js").exists()


# --- what is found ---


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_statements_come_first_by_their_name(find, index):
    for number in (14, 3):
        results = find(f"lemma {number}")
        assert results[0]["address"] == f"book/ledger.html#lemma-{number}"
        assert all(f"Lemma {number}:" in r["title"] or r["score"] < results[0]["score"] for r in results)
    assert find("Proposition 11")[0]["address"] == "book/ledger.html#proposition-11"
    assert find("PROP 11")[0]["address"] == "book/ledger.html#proposition-11"
    statement = index["kinds"].index("statement")
    boxes = [
        (f"{index['pages'][page][0]}#{anchor}", names)
        for page, kind, anchor, _, names, _ in index["pieces"]
        if kind == statement
    ]
    assert boxes
    for address, names in boxes:
        assert address in [result["address"] for result in find(names[0])[:5]], names


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
@pytest.mark.parametrize(
    ("question", "address"),
    [
        ("critical load", "book/sections/ridgeless_limit.html"),
        ("equation 3.1", "book/sections/top1_threshold.html#equation-"),
        ("fig 1.2", "book/sections/correlation_memory.html#fig-"),
        ("embeddings", ""),
        ("fast weights", ""),
        ("capacity", ""),
        ("Hopfield", ""),
        ("weight decay", ""),
    ],
)
def test_a_question_leads_to_its_place(find, question, address):
    results = find(question)
    assert results
    assert any(result["address"].startswith(address) for result in results[:3])


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_endings_accents_and_case_do_not_matter(find):
    addresses = [{r["address"] for r in find(q)} for q in ("retrieved", "RETRIEVE", "rétrieval")]
    assert addresses[0] == addresses[1]
    assert len(addresses[0] & addresses[2]) > 10
    assert {r["address"] for r in find("α")} <= {r["address"] for r in find("alpha")}
    assert len(find("thresh")) >= len(find("threshold"))  # the beginning of a word


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_all_words_are_needed(find):
    both = {r["address"] for r in find("ridge certificate")}
    assert both < {r["address"] for r in find("ridge")}
    assert both < {r["address"] for r in find("certificate")}


# --- the page ---


def test_a_result_has_an_excerpt_and_leads_to_its_place(page, origin):
    page.goto(f"{origin}/search.html?q={quote('Lemma 14')}")
    links(page).first.wait_for()
    first = page.locator("#search-results li").first
    assert "ledger entry" in first.locator(".search-where").inner_text()
    assert len(first.locator(".search-excerpt").inner_text()) > 40
    assert first.locator("mark").count() >= 2
    links(page).first.click()
    page.wait_for_url("**/book/ledger.html#lemma-14")
    page.wait_for_function("() => document.querySelector('#lemma-14').getBoundingClientRect().top < 700")
    assert page.trouble == []


def test_the_dialog_of_each_page_leads_to_it(page, origin):
    page.goto(f"{origin}/book/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("critical load")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=critical+load")
    links(page).first.wait_for()
    assert page.locator(".bd-search-container input").input_value() == "critical load"
    assert page.trouble == []


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_it_works_by_keyboard_and_says_what_it_did(page, origin):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.goto(f"{origin}/search.html")
    page.wait_for_function("() => !!window.assocmemSearch")
    page.locator(".bd-search-container input").focus()
    page.keyboard.type("ridge")
    links(page).first.wait_for()
    assert "“ridge”" in page.locator("#search-results [role=status]").inner_text()
    assert page.url.endswith("?q=ridge")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.getAttribute('href')")
    assert focused == links(page).nth(1).get_attribute("href")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.name") == "q"
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    assert page.evaluate(AXE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.trouble == []


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_what_is_not_there_is_said_and_helped(page, origin):
    page.goto(f"{origin}/search.html?q=retreival")
    page.locator(".search-instead").click()
    links(page).first.wait_for()
    assert page.locator(".bd-search-container input").input_value() == "retrieval"
    page.goto(f"{origin}/search.html?q={quote('ridge xyzzyx')}")
    links(page).first.wait_for()
    assert "No place has all" in page.locator("[role=status]").inner_text()
    page.goto(f"{origin}/search.html?q={quote('<img src=x onerror=alert(1)> qqq')}")
    page.locator(".search-count").wait_for()
    assert not page.locator("#search-results img").count()
    assert page.trouble == []
