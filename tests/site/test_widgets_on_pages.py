"""Widgets in the text: what all of them do, each on the page that has it."""

import re
from importlib.resources import files

import pytest
from conftest import soup, widget_pages

pytestmark = pytest.mark.site

MOST_BYTES = 300_000
"""Of all scripts, styles and numbers that the widgets of one page bring along."""
SMALLEST = 11
"""Pixels of the smallest letters in a chart."""
EMPTY = re.compile(r"NaN|undefined|Infinity|\[object")
AXE = """
    async (name) => {
        const options = {resultTypes: ['violations'], preload: false};
        const found = await axe.run(document.querySelector('#widget-' + name), options);
        return found.violations
            .filter(rule => ['serious', 'critical'].includes(rule.impact))
            .flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`));
    }
"""
PICTURE = """
    name => {
        const body = document.querySelector(`#widget-${name} .am-widget-body`);
        const pictures = [...body.querySelectorAll('svg, canvas')].map(svg => svg.outerHTML);
        return [body.innerText, ...pictures].join();
    }
"""
PICTURES = "svg[role=img], canvas[role=img]"
FRAMES = """
    () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))
"""


WIDGETS = widget_pages()
"""The page of each widget."""
IN_PAGES = sorted(set(WIDGETS.values()))


def settled(page):
    page.evaluate(FRAMES)


def picture(page, name):
    settled(page)
    return page.evaluate(PICTURE, name)


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
@pytest.mark.parametrize("name", WIDGETS)
def test_a_key_moves_it_the_address_keeps_it_and_reset_brings_it_back(widget, page, name):
    place = widget(name)
    start, address = picture(page, name), page.url
    assert f"{name}." not in address  # nothing is written before something is moved
    assert len(place.locator(".am-answer").inner_text().split()) >= 5
    charts = place.locator(PICTURES)
    assert charts.count()
    assert all(len(chart.get_attribute("aria-label")) > 40 for chart in charts.all())

    for slider in place.locator("input[type=range]:not([hidden])").all():
        slider.focus()
        page.keyboard.press("PageUp")
        if f"{name}." not in page.url:
            page.keyboard.press("PageDown")
        assert f"{name}." in page.url
        moved = picture(page, name)
        page.keyboard.press("PageUp")
        assert {moved, picture(page, name)} - {start}, "a setting that changes nothing"
    there, text = page.url, place.locator("input[type=number]").evaluate_all("all => all.map(x => x.value)")
    page.goto("about:blank")
    page.goto(there)
    page.wait_for_selector(f"#widget-{name} [data-ready=yes]")
    assert place.locator("input[type=number]").evaluate_all("all => all.map(x => x.value)") == text
    assert place.locator(".am-trouble", has_text=re.compile(".")).count() == 0

    place.locator(".am-reset").click()
    page.wait_for_function(f"([name, text]) => ({PICTURE})(name) === text", arg=[name, start])


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
@pytest.mark.parametrize("name", WIDGETS)
def test_all_ends_have_an_answer_in_words(widget, page, name):
    place = widget(name)
    for setting in place.locator("input[type=range]").all():
        for key in ("Home", "End"):
            setting.evaluate(
                "(node, key) => node.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))", key
            )
            assert not EMPTY.search(picture(page, name)), (setting.get_attribute("id"), key)
            assert len(place.locator(".am-answer").inner_text()) > 20
    number = place.locator("input[type=number]:visible").first
    if number.count():
        number.fill("1e99")
        assert "from" in place.locator(".am-trouble", has_text=re.compile(".")).first.inner_text()


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
@pytest.mark.parametrize("name", WIDGETS)
def test_presets_are_different_and_the_links_lead_here_and_to_an_explorer(widget, page, name, origin):
    place = widget(name)
    seen = {picture(page, name)}
    for preset in place.locator(".am-tools .am-preset").all():
        preset.click()
        assert preset.get_attribute("aria-pressed") == "true"
        seen.add(picture(page, name))
    assert len(seen) >= place.locator(".am-tools .am-preset").count()
    page.evaluate("() => { assocmem.toClipboard = async text => { window.copied = text; return true; } }")
    place.locator(".am-copy").click()
    copied = page.wait_for_function("() => window.copied").json_value()
    assert copied.startswith(origin)
    assert copied.endswith(f"#widget-{name}")
    further = place.locator(".am-further")
    assert further.count() == 1
    page.goto(further.evaluate("link => link.href"))
    page.wait_for_selector(".am-explorer .am-readings td")
    assert page.locator(".am-trouble", has_text=re.compile(".")).count() == 0
    for key, value in (pair.split("=") for pair in page.url.split("?")[1].split("&")):
        assert float(page.input_value(f"#set-{key}")) == float(value)


@pytest.mark.parametrize("origin", ["disk"], indirect=True)
@pytest.mark.parametrize("name", WIDGETS)
def test_it_fits_a_phone_can_be_read_in_the_dark_and_prints_as_a_still(widget, page, name):
    page.set_viewport_size({"width": 390, "height": 844})
    place = widget(name)
    box = place.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    sizes = place.locator("svg text").evaluate_all(
        "all => all.map(t => parseFloat(getComputedStyle(t).fontSize) * (t.getScreenCTM()?.a || 1))"
    )
    assert min(sizes, default=SMALLEST) >= SMALLEST - 0.01
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        page.emulate_media(reduced_motion="reduce", color_scheme=scheme)
        page.wait_for_function(f"() => document.documentElement.dataset.theme === '{scheme}'")
        settled(page)
        assert page.evaluate(AXE, name) == []
    page.emulate_media(media="print")
    assert place.locator(PICTURES).first.is_visible()
    assert not place.locator("input:visible, button:visible").count()
    page.emulate_media(media="screen", color_scheme="light")


@pytest.mark.parametrize("name", IN_PAGES)
def test_widgets_weigh_little(site, name):
    path = site / f"{name}.html"
    tags = soup(path).select("script[src], link[href]")
    loaded = {re.sub(r"[?#].*", "", tag.get("src") or tag.get("href")) for tag in tags}
    own = [path.parent / part for part in loaded if "/explorer/" in part or "/widgets/" in part]
    assert len(own) >= 5
    assert sum(part.resolve().stat().st_size for part in own) < MOST_BYTES


def test_a_page_without_javascript_says_what_is_missing(site):
    for name in IN_PAGES:
        for place in soup(site / f"{name}.html").select("[data-widget]"):
            assert "JavaScript" in place.noscript.get_text()
            assert len(place.find_parent("figure").figcaption.get_text().split()) > 8
