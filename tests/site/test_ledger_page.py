"""The ledger in a browser: its table, its filter, and the way to each check and back."""

import json
from collections import Counter

import pytest
from conftest import soup

from assocmem.book.sections import SECOND

pytestmark = pytest.mark.site

VERDICTS = ("holds", "holds with limits", "does not hold", "not yet")
SHOWN = """
    () => ({
        rows: [...document.querySelectorAll('.ledger-overview tbody tr')].filter(r => r.offsetParent)
            .map(r => r.querySelector('a').hash.slice(1)),
        entries: [...document.querySelectorAll('.ledger-entry')].filter(e => e.offsetParent).length,
        chapters: [...document.querySelectorAll('h2')].filter(h => h.offsetParent).length,
        said: document.querySelector('.ledger-count').textContent,
    })
"""


@pytest.fixture(scope="session")
def claims(site):
    return json.loads((site / "claims.json").read_text(encoding="utf-8"))


def wanted(claims, **what):
    return sorted(c["id"] for c in claims if all(c[key] == value for key, value in what.items()))


def shown(page, claims, expected):
    """Table, entries, headings and the spoken count agree on what is shown."""
    seen = page.evaluate(SHOWN)
    assert sorted(seen["rows"]) == expected
    assert seen["entries"] == len(expected)
    assert seen["chapters"] == len({c["section"] for c in claims if c["id"] in expected})
    some = f"{len(expected)} of {len(claims)} entries shown"
    assert seen["said"] == (some if expected else f"none of {len(claims)} entries matches")


def button(page, verdict):
    return page.locator(f"button.ledger-verdict[value='{verdict.replace(' ', '-')}']")


# --- the files ---


def test_the_table_has_a_row_for_every_entry(site, claims):
    page = soup(site / "book" / "ledger.html")
    rows = page.select("table.ledger-overview tbody tr")
    assert [row.a["href"].lstrip("#") for row in rows] == [c["id"] for c in claims]
    assert [row.select_one(".verdict").text for row in rows] == [c["verdict"] for c in claims]
    assert not page.select("form.ledger-filter")  # made by the script, which alone can use it


def test_every_check_can_be_reached_from_the_ledger_and_leads_back(site, claims):
    page = soup(site / "book" / "ledger.html")
    links = Counter(a["href"] for a in page.select(".ledger-entry table a"))
    for claim in claims:
        for c in claim["checks"]:
            assert links[f"sections/{c['page']}.html#{c['anchor']}"] == 1
            card = soup(site / "book" / "sections" / f"{c['page']}.html").find(id=c["anchor"])
            assert "check-card" in card["class"]
            assert card.select_one(".verdict").text == c["verdict"]
            assert card.a["href"] == f"../ledger.html#{claim['id']}"
            assert len(card.select("svg.strip .strip-band, svg.strip .strip-crosses")) == 2


def test_the_front_page_counts_the_verdicts(site, claims):
    front = soup(site / "book" / "index.html")
    found = {a["href"].split("=")[1]: int(a.text.split()[0]) for a in front.select("a[href*='?verdict=']")}
    assert found == {
        verdict.replace(" ", "-"): n for verdict, n in Counter(c["verdict"] for c in claims).items()
    }


def test_sections_have_a_head_and_an_end(site):
    for path in sorted((site / "book" / "sections").glob("*.html")):
        page = soup(path)
        title = page.select_one("article h1")
        assert title.find_next_sibling()["class"][0] == "section-head", path.name
        if path.stem.endswith(SECOND):
            continue  # parameters and the command are on the first page
        assert page.select_one(".section-head details table.section-parameters")
        assert f"assocmem run {path.stem} -p " in page.select_one(".section-end pre").text
        assert page.select_one(".prev-next-footer a.left-prev")
        assert page.select_one(".prev-next-footer a.right-next")


def test_the_filter_is_loaded_where_it_is_used(site):
    pages = [path for path in (site / "book").rglob("*.html") if "ledger.js" in path.read_text("utf-8")]
    assert [path.name for path in pages] == ["ledger.html"]


# --- the filter ---


def test_a_reader_narrows_the_ledger_and_widens_it_again(page, origin, claims):
    page.goto(f"{origin}/book/ledger.html")
    everything = wanted(claims)
    shown(page, claims, everything)
    for verdict in VERDICTS:
        assert button(page, verdict).inner_text() == f"{verdict} ({len(wanted(claims, verdict=verdict))})"

    button(page, "does not hold").focus()
    page.keyboard.press("Space")
    assert button(page, "does not hold").get_attribute("aria-pressed") == "true"
    fails = wanted(claims, verdict="does not hold")
    shown(page, claims, fails)
    button(page, "holds with limits").click()
    shown(page, claims, sorted(fails + wanted(claims, verdict="holds with limits")))
    page.keyboard.press("Enter")
    shown(page, claims, fails)

    button(page, "does not hold").click()
    page.get_by_label("Section").select_option("scalar_theory")
    shown(page, claims, wanted(claims, section="scalar_theory"))
    page.get_by_role("searchbox", name="Words").fill("  Theorem 2 ")
    found = page.evaluate(SHOWN)["rows"]
    assert "theorem-2" in found
    assert set(found) <= set(wanted(claims, section="scalar_theory"))
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("searchbox", name="Words").fill("Lemma 1")
    found = page.evaluate(SHOWN)["rows"]
    assert "lemma-1" in found
    assert len(found) < 6  # and not all lemmas from 10 on
    page.get_by_role("searchbox", name="Words").fill("no such words")
    shown(page, claims, [])
    page.get_by_role("button", name="Show all").click()
    shown(page, claims, everything)
    assert page.url == f"{origin}/book/ledger.html"
    assert page.trouble == []


def test_what_is_chosen_stands_in_the_address(page, origin, claims):
    page.goto(f"{origin}/book/index.html")
    page.click("a[href*='verdict=does-not-hold'], a[href*='verdict=holds-with-limits']")
    page.wait_for_url("**/ledger.html?verdict=*")
    verdict = page.url.split("=")[1].replace("-", " ")
    shown(page, claims, wanted(claims, verdict=verdict))
    page.get_by_label("Section").select_option("leave_one_out")
    expected = wanted(claims, verdict=verdict, section="leave_one_out")
    shown(page, claims, expected)
    page.get_by_role("searchbox", name="Words").fill("the")
    page.reload()
    assert page.get_by_role("searchbox", name="Words").input_value() == "the"
    assert set(page.evaluate(SHOWN)["rows"]) <= set(expected)
    assert page.trouble == []


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_a_link_to_an_entry_wins_over_the_filter(page, origin, claims):
    page.goto(f"{origin}/book/ledger.html?verdict=not-yet&section=nowhere#lemma-20")
    shown(page, claims, wanted(claims))
    assert page.locator("#lemma-20").is_visible()
    assert "?" not in page.url


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_paper_shows_all_entries_and_no_filter(page, origin, claims):
    page.goto(f"{origin}/book/ledger.html?verdict=does-not-hold")
    page.emulate_media(media="print")
    seen = page.evaluate(SHOWN)
    assert len(seen["rows"]) == seen["entries"] == len(claims)
    assert not page.locator("form.ledger-filter").is_visible()


LEFT = """
    () => [...document.querySelectorAll('.bd-article .math')]
        .filter(formula => !formula.querySelector('mjx-container')).length
"""


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_a_link_leads_to_its_entry_while_formulas_are_typeset(page, origin):
    top = "node => node.getBoundingClientRect().top"
    page.goto(f"{origin}/book/ledger.html#lemma-20")
    page.wait_for_function(f"({LEFT})() === 0")
    assert 0 <= page.locator("#lemma-20").evaluate(top) < 400
    page.evaluate("scrollTo(0, 0)")
    page.locator(".ledger-overview a[href='#proposition-1']").click()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert 0 <= page.locator("#proposition-1").evaluate(top) < 400
    assert page.trouble == []


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_paper_does_not_wait_for_formulas(page, origin):
    page.goto(f"{origin}/book/ledger.html", wait_until="domcontentloaded")
    page.wait_for_function("() => document.querySelector('.ledger-entry mjx-container')")
    assert page.evaluate(f"dispatchEvent(new Event('beforeprint')), ({LEFT})()") == 0
    assert page.evaluate("MathJax.startup.promise.then(() => true)")
    page.emulate_media(media="print")
    kinds = "nodes => [...new Set(nodes.map(node => getComputedStyle(node).contentVisibility))]"
    assert page.locator(".ledger-entry").evaluate_all(kinds) == ["visible"]
    assert page.trouble == []


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
def test_without_scripts_the_ledger_is_complete(browser, origin, claims):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{origin}/book/ledger.html?verdict=does-not-hold")
    assert page.locator(".ledger-entry").count() == len(claims)
    assert page.locator(".ledger-entry").last.is_visible()
    assert page.locator(".ledger-overview tbody tr").last.is_visible()
    context.close()
