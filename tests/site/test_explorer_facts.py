"""The capacity explorer for facts: the package's numbers, a choice that links keep, and honest remarks."""

import re

import numpy as np
import pytest
from conftest import draw_nothing
from scipy import special
from test_explorer_pages import put

from assocmem.theory import kinematics
from assocmem.theory.facts_that_fit import (
    bits_per_parameter,
    cover_probability,
    facts_at,
    facts_that_fit,
    fit_probability,
    fit_width,
)
from assocmem.theory.uneven_answers import random_answers_cost

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]

HOST = "#facts-explorer"
SIZES = [  # d_in, d_out, m, k
    *((12, 12, 3, 1), (30, 12, 13, 1), (12, 40, 50, 1), (768, 768, 50_257, 1), (4096, 300, 10**6, 1)),
    *((40, 40, 2, 1), (100, 100, 37, 5), (64, 64, 290, 40), (50, 50, 5400, 5399)),
]


@pytest.fixture
def explorer(page, origin):
    """Open the explorer at an address, as a link would; its formulas are looked at elsewhere."""
    draw_nothing(page)

    def open_page(address="?of=facts"):
        page.goto("about:blank")
        page.goto(f"{origin}/book/explore_capacity.html{address}")
        page.wait_for_selector(f"{HOST} .am-readings td", state="attached")
        return page

    yield open_page
    assert page.trouble == []


def link(**settings):
    return "?of=facts&" + "&".join(f"facts.{name}={value}" for name, value in settings.items())


def shown(page):
    return [name for name in ("capacity", "facts") if page.locator(f"#{name}-explorer").is_visible()]


def facts_reading(page, start):
    """The number behind the reading whose name starts like this."""
    name = page.locator("th", has_text=re.compile(f"^{re.escape(start)}"))
    return float(page.locator(f"{HOST} tr", has=name).first.locator("td").get_attribute("data-value"))


# --- the numbers ---


def test_the_law_is_that_of_the_package(explorer):
    page = explorer()
    found = page.evaluate(
        """sizes => sizes.map(([d_in, d_out, m, k]) => {
            const found = assocmem.facts.facts({n: 100, d_in, d_out, m, k});
            return [found.half, found.spread, ...found.ends, found.bits * d_in * d_out / found.half];
        })""",
        SIZES,
    )
    for size, (half, spread, early, late, bits) in zip(SIZES, found, strict=True):
        first = size[-1] == 1
        assert half == pytest.approx(facts_that_fit(*size), rel=1e-8 if first else 4e-3)
        assert spread == pytest.approx(fit_width(*size), rel=0.02)
        assert (early, late) == pytest.approx((facts_at(0.9, *size), facts_at(0.1, *size)), rel=0.01)
        assert bits == pytest.approx(np.log2(size[2]))


def test_probabilities_are_within_the_stated_error(explorer):
    page = explorer()
    asked = [(round(x * facts_that_fit(*size)), *size) for size in SIZES[:6] for x in (0.9, 0.99, 1, 1.05)]
    found = page.evaluate(
        "all => all.map(([n, d_in, d_out, m, k]) => assocmem.facts.retrieval({n, d_in, d_out, m, k}))", asked
    )
    expected = [float(fit_probability(*size)) for size in asked]
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_cover_counts_as_cover_did(explorer):
    page = explorer()
    count = "all => all.map(([n, d]) => assocmem.facts.cover(n, d))"
    asked = np.array([(1, 1), (2, 1), (10, 3), (200, 100), (201, 100), (30, 20), (5, 9)])
    found = page.evaluate(count, asked.tolist())
    np.testing.assert_allclose(found, cover_probability(*asked.T), rtol=1e-10)
    large = np.array([(10**6, 499_000), (2 * 10**6, 10**6 + 500), (10**9, 5 * 10**8), (10**12, 5 * 10**11)])
    n, d = large.T
    found = page.evaluate(count, large.tolist())
    np.testing.assert_allclose(found, special.betainc(n - d, d, 0.5), rtol=1e-6)


def test_the_band_reaches_down_to_what_random_answers_cost(explorer):
    page = explorer()
    ask = "all => all.map(([d_in, d_out, m, k]) => assocmem.facts.missing({d_in, d_out, m, k}))"
    two, few, corner, beyond, lists = page.evaluate(
        ask, [(50, 9, 2, 1), (50, 30, 13, 1), (12, 12, 13, 1), (12, 12, 100, 1), (50, 50, 200, 5)]
    )
    assert two == 0
    assert few == pytest.approx(random_answers_cost(13), rel=0.01) == corner
    assert 0.05 < beyond / facts_that_fit(12, 12, 100) < 0.12
    assert lists / facts_that_fit(50, 50, 200, 5) == pytest.approx(0.08, rel=1e-2)


def test_targets_in_sight_are_those_on_the_hull(explorer):
    """Shares of Gaussian points that are corners of their convex hull, by simulation."""
    page = explorer()
    found = page.evaluate(
        "all => all.map(([d, m]) => assocmem.facts.inSight(d, m))", [(3, 100), (5, 20), (10, 1000), (30, 100)]
    )
    np.testing.assert_allclose(found, [0.214, 0.938, 0.753, 1], atol=0.03)


# --- the page ---


def test_an_old_address_shows_pairs_and_a_new_one_facts(explorer):
    for address, kind in (
        ("", "capacity"),
        ("?n=100&d=24", "capacity"),
        ("?n=100&d=24&r=0.15#how-exact-it-is", "capacity"),
        ("?of=facts", "facts"),
        ("?facts.m=13", "facts"),
        ("#facts.m=13&facts.n=50", "facts"),
        ("?of=pairs&facts.m=13", "capacity"),
        ("?n=100&facts.m=13", "capacity"),
        ("?of=nonsense", "capacity"),
    ):
        assert shown(explorer(address)) == [kind], address


def test_the_choice_answers_to_keys_and_stays_in_the_address(explorer):
    page = explorer("?n=200&d=33")
    page.focus("#set-of-pairs")
    page.keyboard.press("ArrowRight")
    assert shown(page) == ["facts"]
    assert page.is_checked("#set-of-facts")
    put(page, "facts-m", 13)
    assert "n=200&d=33" in page.url
    assert "of=facts" in page.url
    assert "facts.m=13" in page.url
    page.reload()
    page.wait_for_selector(f"{HOST} .am-readings td")
    assert page.input_value("#set-facts-m") == "13"
    page.get_by_label("pairs: each key").check()
    assert shown(page) == ["capacity"]
    assert "of=" not in page.url
    assert page.input_value("#set-n") == "200"


def test_a_hash_shows_what_it_is_about(explorer):
    page = explorer("?n=200&d=33")
    page.evaluate("location.hash = '#facts.n=70&facts.m=2&facts.d_in=30'")
    page.wait_for_function("() => !document.querySelector('#facts-explorer').hidden")
    assert page.input_value("#set-facts-n") == "70"
    assert "#" not in page.url


def test_the_page_says_what_fits(explorer):
    page = explorer(link(n=30_000, m=50_257, d_in=768, d_out=768))
    host = page.locator(HOST)
    assert host.get_attribute("data-verdict") == "yes"
    fit = facts_that_fit(768, 768, 50_257)
    assert facts_reading(page, "Facts that fit half of the time, independent") == pytest.approx(fit, rel=1e-8)
    assert facts_reading(page, "Bits in a parameter when half") == pytest.approx(bits_per_parameter(50_257))
    delta = facts_reading(page, "Degrees of freedom that a fact takes")
    assert delta == pytest.approx(kinematics.statistical_dimension(50_257))
    put(page, "facts-n", 60_000)
    assert host.get_attribute("data-verdict") == "no"
    assert facts_reading(page, "Bits in a parameter with n") == pytest.approx(
        60_000 * np.log2(50_257) / 768**2
    )


def test_two_targets_are_cover(explorer):
    page = explorer()
    page.locator(HOST).get_by_role("button", name="Cover").click()
    assert facts_reading(page, "Probability at n by Cover") == pytest.approx(0.5)
    assert facts_reading(page, "Cover's count") == 200
    assert "Cover's count, which is exact" in page.inner_text(f"{HOST} .am-legend >> nth=0")
    assert "with a probability of 50%" in page.inner_text(f"{HOST} .am-answer")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n": 50, "m": 10, "k": 20}, "only 9 competitors, so k is 9"),
        ({"n": 50, "m": 1000, "d_out": 10}, "hidden by the others"),
        ({"n": 20, "m": 20, "d_in": 5, "d_out": 50}, "a guess"),
        ({"n": 60, "m": 13, "d_in": 12, "d_out": 12}, "about 9% fewer"),
        ({"n": 1, "m": 2}, "answer to one key"),
        ({"n": 1, "m": 1000, "d_out": 10}, "can, with a probability of 7"),
        ({"n": 90, "m": 20, "d_in": 100, "d_out": 30}, "almost certainly can"),
    ],
)
def test_it_says_where_theory_ends(explorer, settings, words):
    page = explorer(link(**settings))
    assert words in page.inner_text(f"{HOST} .am-answer")


def test_extreme_settings_have_an_answer(explorer):
    low, high = {"n": 1, "m": 2, "d_in": 1, "d_out": 1, "k": 1}, {"d_in": 10**7, "d_out": 10**7}
    for settings in (
        low,
        low | {"m": 10**12},
        low | {"n": 10**12},
        high | {"n": 10**12, "m": 10**12, "k": 10**12},
        high | {"n": 1, "m": 2},
        high | {"n": 10**12, "m": 10**7 + 1},
        {"n": 10**12, "m": 3, "d_in": 1, "d_out": 1, "k": 2},
    ):
        page = explorer(link(**settings))
        text = page.inner_text(HOST)
        assert "NaN" not in text
        assert "undefined" not in text
        assert len(page.inner_text(f"{HOST} .am-answer")) > 40
        for path in page.locator(f"{HOST} .am-chart path").all():
            assert "NaN" not in path.get_attribute("d")


def test_it_resets_speaks_and_names_its_fields(explorer):
    page = explorer()
    before = page.inner_text(f"{HOST} .am-answer")
    for preset in page.locator(f"{HOST} button.am-preset").all():
        preset.click()
        assert preset.get_attribute("aria-pressed") == "true"
    page.click(f"{HOST} button.am-reset")
    page.wait_for_function(
        "text => document.querySelector('#facts-explorer .am-answer').innerText === text", arg=before
    )
    for chart in page.locator(f"{HOST} .am-chart").all():
        assert len(chart.get_attribute("aria-label")) > 40
        assert chart.bounding_box()["width"] > 200
    for name in ("n", "m", "d_in", "d_out", "k"):
        assert page.locator(f"label[for='set-facts-{name}']").inner_text()
        assert page.get_attribute(f"#set-facts-{name}-slider", "aria-label").endswith(", slider")
    page.fill("#set-facts-d_out", "0")
    assert page.inner_text("#set-facts-d_out-note").startswith("dimension of targets dout: an integer from")
    assert page.inner_text(f"{HOST} .am-answer") == before


def test_it_fits_a_narrow_screen(explorer):
    page = explorer()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(
        """() => {
            const charts = [...document.querySelectorAll('#facts-explorer .am-chart')];
            const narrow = document.documentElement.scrollWidth <= 390;
            return narrow && charts.every(c => c.viewBox.baseVal.width < 390);
        }"""
    )
