"""The explorer pages compute what the package computes, and answer to mouse, keys and addresses."""

import contextlib
import math
import re

import numpy as np
import pytest
from conftest import TAKES, draw_nothing

from assocmem.pairs.sizes import tail_count
from assocmem.theory import kinematics
from assocmem.theory.finite_dimension import effective_load
from assocmem.theory.lists import best_share, equivalent_tail, list_capacity
from assocmem.theory.outer_products import query_failure
from assocmem.theory.ridgeless import critical_load, sat_laws, solve_unsat, tail_mean
from assocmem.theory.scalar import saddle_points, solve_scalar

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]

EXPLORERS = ("capacity", "phase", "ridge")
STILL = "() => new Promise(done => { const at = scrollY; setTimeout(() => done(at === scrollY), 300); })"
GESTURES = 6  # that a finger makes at most, until the page has seen one
LARGEST = 2_000_000  # bytes of a page beyond what all pages share


@pytest.fixture
def explorer(page, origin):
    """Open an explorer at settings, as a link would; its formulas are looked at elsewhere."""
    draw_nothing(page)

    def open_page(name, **settings):
        query = "&".join(f"{key}={value!r}" for key, value in settings.items())
        page.goto("about:blank")
        page.goto(f"{origin}/book/explore_{name}.html?{query}")
        page.wait_for_selector(f"#{name}-explorer .am-readings td")
        return page

    yield open_page
    assert page.trouble == []


def reading(page, start):
    """The number behind the reading whose name starts like this."""
    row = page.locator(".am-readings tr", has=page.locator("th", has_text=re.compile(f"^{re.escape(start)}")))
    return float(row.first.locator("td").get_attribute("data-value"))


def put(page, name, value):
    page.fill(f"#set-{name}", repr(value))
    page.wait_for_function(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


# --- the numbers ---

POINTS = [
    (load, r, beta, ridge)
    for load in (0.05, 0.28, 0.6, 2.0)
    for r in (0.01, 0.15, 0.5, 0.9)
    for beta, ridge in ((1.0, 0.1), (3.0, 1e-3), (30.0, 1e-8))
] + [(1.2, 0.15, 3.0, 0.0), (0.9, 0.5, 10.0, 0.0), (0.4, 0.01, 100.0, 0.0), (0.3, 0.05, 3.0, 1e-12)]


def test_the_scalar_theory_is_that_of_the_package(explorer):
    page = explorer("phase")
    found = page.evaluate(
        """points => points.map(([load, r, beta, ridge]) => {
            const s = assocmem.theory.solveScalar(load, r, beta, ridge);
            return [s.nu, s.chi, s.c, s.loss, s.mu + s.c, s.residual];
        })""",
        POINTS,
    )
    theory = saddle_points(*np.array(POINTS).T)
    expected = [theory.nu, theory.chi, theory.c, theory.loss, theory.mu + theory.c]
    np.testing.assert_allclose(np.array(found)[:, :5].T, expected, rtol=1e-9)
    assert np.array(found)[:, 5].max() < 1e-11


def test_laws_and_closed_forms_are_those_of_the_package(explorer):
    page = explorer("phase")
    r, load, omega, margins = 0.15, 0.5, np.linspace(0.02, 0.98, 17), np.linspace(-4, 4, 17)
    found = page.evaluate(
        """([r, load, omega, margins]) => {
            const {theory} = assocmem, s = theory.solveScalar(load, r, 3, 1e-3);
            return {
                closed: [theory.criticalLoad(r), theory.tailMean(r), theory.satEdge(0.2)],
                percentile: omega.map(s.percentile.cdf), back: omega.map(s.percentile.quantile),
                margin: margins.map(s.margin.cdf), density: margins.map(s.margin.pdf),
                normal: margins.map(x => theory.ndtr(3 * x)), inverse: omega.map(theory.ndtri),
            };
        }""",
        [r, load, omega.tolist(), margins.tolist()],
    )
    laws = solve_scalar(load, r, beta=3, ridge=1e-3)
    expected = {
        "closed": [critical_load(r), tail_mean(r), sat_laws(0.2, r).rho],
        "percentile": laws.percentile.cdf(omega),
        "back": laws.percentile.quantile(omega),
        "margin": laws.margin.cdf(margins),
        "density": laws.margin.pdf(margins),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-15, err_msg=name)
    from scipy import special

    np.testing.assert_allclose(found["normal"], special.ndtr(3 * margins), rtol=1e-12)
    np.testing.assert_allclose(found["inverse"], special.ndtri(omega), atol=1e-14)


def test_lists_are_those_of_the_package(explorer):
    page = explorer("phase")
    shares, loads = (
        [0.0005, 0.002, 0.01, 0.0228, 0.15, 0.3, 0.49, 0.499999, 0.5],
        [0.005, 0.28, 0.5, 1.9, 2.0],
    )
    found = page.evaluate(
        """([shares, loads]) => {
            const {theory} = assocmem;
            const ofShares = [theory.listCapacity, theory.equivalentTail].map(f => shares.map(f));
            return [...ofShares, loads.map(theory.bestShare)];
        }""",
        [shares, loads],
    )
    expected = list_capacity(shares), equivalent_tail(shares), best_share(loads)
    for values, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(values, exact, rtol=1e-11)


BETWEEN = [(17, 1), (47, 1), (450, 1), (123456, 1), (3 * 10**9, 1), (17, 5), (47, 3), (150, 2), (290, 40)]
BETWEEN += [(290, 280), (5400, 7), (5400, 2000), (123456, 20), (123456, 18518), (3 * 10**9, 450_000_000)]


def test_interpolated_moments_are_within_the_stated_error(explorer):
    page = explorer("capacity")
    found = np.array(page.evaluate("sizes => sizes.map(([n, k]) => assocmem.capacity.pooled(n, k))", BETWEEN))
    expected = np.array([kinematics.pooled_moments(n, k) for n, k in BETWEEN])
    first = np.array([k == 1 for _, k in BETWEEN])
    half = np.sqrt(found[:, 0] / expected[:, 0]) - 1
    assert np.abs(half[first]).max() < 1e-6
    assert np.abs(half[~first]).max() < 2e-3
    np.testing.assert_allclose(found[:, 1], expected[:, 1], rtol=0.03)


def test_interpolated_probabilities_are_within_the_stated_error(explorer):
    page = explorer("capacity")
    sizes = [
        (n, d, k)
        for n, k in BETWEEN
        for d in {round(kinematics.critical_dimension(n, k) * x) for x in (0.9, 0.98, 1.0, 1.02, 1.1)}
        if d < n
    ]
    found = page.evaluate("sizes => sizes.map(([n, d, k]) => assocmem.capacity.retrieval(n, d, k))", sizes)
    expected = [float(kinematics.retrieval_probability(n, d, k)) for n, d, k in sizes]
    small = [n < 10**5 for n, _, _ in sizes]  # beyond, a dimension is less than the error
    np.testing.assert_allclose(np.array(found)[small], np.array(expected)[small], atol=0.02)


def test_failures_of_outer_products_are_within_the_stated_error(explorer):
    page = explorer("capacity")
    sizes = [
        (n, round(math.sqrt(c * n * math.log(n))))
        for n in (40, 130, 4000, 10**7)
        for c in (1.2, 3.3, 7.5, 11)
    ]
    found = page.evaluate("sizes => sizes.map(([n, d]) => assocmem.capacity.outerFailure(n, d))", sizes)
    expected = [math.log(query_failure(n, d).value) for n, d in sizes]
    seen = np.array(expected) > math.log(1e-9)
    np.testing.assert_allclose(np.array(found)[seen], np.array(expected)[seen], atol=0.02)


# --- the controls ---


def test_the_map_shows_both_sides(explorer):
    page = explorer("phase", r=0.15, load=0.2)
    laws = sat_laws(0.2, 0.15)
    assert page.locator("#phase-explorer").get_attribute("data-phase") == "below"
    assert reading(page, "edge of the signals") == pytest.approx(laws.rho, rel=1e-9)
    assert reading(page, "smallest margin") == pytest.approx(laws.rho - laws.kappa, rel=1e-9)

    put(page, "load", 0.7)
    put(page, "beta", 8)
    theory = solve_unsat(0.7, 0.15, 8.0)
    assert page.locator("#phase-explorer").get_attribute("data-phase") == "above"
    assert reading(page, "norm scale") == pytest.approx(float(theory.nu), rel=1e-9)
    assert reading(page, "share of keys with a negative") == pytest.approx(
        float(theory.margin_cdf(0)), rel=1e-9
    )
    assert "load=0.7" in page.url


def test_the_map_tells_of_lists(explorer):
    """On both sides of the critical load, as far as there are lists: up to a share of one half."""
    page = explorer("phase", r=0.15, load=0.28)
    for load in (0.28, 0.45):
        put(page, "load", load)
        row = page.locator(".am-readings tr", has_text="every key in the top 15%")
        assert "by the tail average of the r′ = 0.3615" in row.inner_text()
        assert reading(page, "every key in the top") == pytest.approx(float(list_capacity(0.15)), rel=1e-11)
        assert reading(page, "longer tail") == pytest.approx(float(equivalent_tail(0.15)), rel=1e-11)
        assert reading(page, "smallest share") == pytest.approx(float(best_share(load)), rel=1e-11)
    assert "list capacity" in page.locator("#phase-explorer .am-legend").first.inner_text()
    put(page, "r", 0.6)
    put(page, "load", 2.1)
    assert not page.locator(".am-readings tr", has_text="every key in the").count()


def test_a_click_and_the_arrow_keys_move_the_point(explorer):
    page = explorer("phase", r=0.15, load=0.2)
    box = page.locator("#phase-map").bounding_box()
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.3 * box["height"])
    r, load = (float(page.input_value(f"#set-{name}")) for name in ("r", "load"))
    assert 0.5 < r < 0.65
    assert 1.3 < load < 1.7
    assert page.locator("#phase-explorer").get_attribute("data-phase") == "above"

    page.focus("#phase-map")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowDown")
    assert float(page.input_value("#set-r")) == pytest.approx(r - 0.01, abs=1e-3)
    assert float(page.input_value("#set-load")) == pytest.approx(load - 0.1, abs=1e-3)


def test_the_ridge_walks_into_its_limit(explorer):
    page = explorer("ridge", load=0.28, r=0.15, beta=3, ridge=1e-2)
    page.wait_for_selector("#ridge-explorer[data-walk=done]")
    for ridge in (1e-2, 1e-7):
        put(page, "ridge", ridge)
        theory = solve_scalar(0.28, 0.15, beta=3, ridge=ridge)
        assert reading(page, "norm scale") == pytest.approx(float(theory.nu), rel=1e-9)
        assert reading(page, "loss") == pytest.approx(float(theory.loss), rel=1e-9)

    page.focus("#set-ridge-slider")
    page.keyboard.press("Home")
    theory = solve_scalar(0.28, 0.15, beta=3, ridge=1e-12)
    page.wait_for_function("() => document.querySelector('#set-ridge').value === '1e-12'")
    put(page, "load", 0.5)
    page.wait_for_selector("#ridge-explorer[data-walk=done][data-phase=above]")
    limit = solve_unsat(0.5, 0.15, 3.0)
    assert reading(page, "norm scale") == pytest.approx(float(limit.nu), rel=1e-6)


def test_the_calculator_says_what_the_theorems_say(explorer):
    page = explorer("capacity", n=100, d=24)
    verdict = page.locator("#capacity-explorer")
    assert verdict.get_attribute("data-verdict") == "yes"
    assert reading(page, "d² / (n log n)") == pytest.approx(24**2 / (100 * math.log(100)), rel=1e-9)
    half = reading(page, "Dimension for half of the instances, independent")
    assert half == pytest.approx(kinematics.critical_dimension(100), rel=1e-6)
    assert "300 of 300 instances retrievable" in page.inner_text(".am-readings")

    put(page, "d", 15)
    assert verdict.get_attribute("data-verdict") == "no"
    assert reading(page, "Probability at d, independent") == pytest.approx(
        float(kinematics.retrieval_probability(100, 15)), abs=0.01
    )

    put(page, "r", 0.15)
    k = tail_count(0.15, 99)
    assert reading(page, "competitors to beat") == k
    half = reading(page, "Dimension for half of the instances, independent")
    assert half == pytest.approx(kinematics.critical_dimension(100, k), rel=2e-3)
    put(page, "n", 160)
    put(page, "d", 22)
    assert re.search(r"\d+ of 120 instances retrievable, each proved", page.inner_text(".am-readings"))


def test_a_bad_number_is_refused_and_the_last_good_one_stays(explorer):
    page = explorer("capacity", n=100, d=24)
    before = page.inner_text("#capacity-explorer .am-answer")
    for bad, message in (("0", "from 2 to"), ("3.5", "an integer"), ("", "an integer")):
        page.fill("#set-d", bad)
        assert message in page.inner_text("#set-d-note")
        assert page.get_attribute("#set-d", "aria-invalid") == "true"
        assert page.inner_text("#capacity-explorer .am-answer") == before
    put(page, "d", 25)
    assert page.inner_text("#set-d-note") == ""
    assert "25 × 25" in page.inner_text("#capacity-explorer .am-answer")


@pytest.mark.parametrize("settings", [{"n": "x", "d": 10}, {"n": -4, "d": 1e99}, {"other": 1}])
def test_an_address_that_makes_no_sense_is_ignored(explorer, settings):
    page = explorer("capacity", **settings)
    assert page.input_value("#set-n") == "100"


def test_an_address_that_is_out_of_range_is_refused_in_words(explorer):
    page = explorer("capacity", n=2, d=24)
    assert page.input_value("#set-n") == "100"
    assert "from 20 to" in page.inner_text("#set-n-note")


def test_settings_after_a_hash_count_and_move_into_the_query(explorer):
    page = explorer("capacity", n=200, d=33)
    page.evaluate("location.hash = '#n=500&d=60'")
    page.wait_for_function("() => document.querySelector('.am-answer').textContent.includes('500')")
    assert page.input_value("#set-d") == "60"
    assert "?" in page.url
    assert "n=500&d=60" in page.url.split("?")[1]
    assert "#" not in page.url
    before = page.inner_text("#capacity-explorer .am-answer")
    page.evaluate("location.hash = '#how-exact-it-is'")
    page.wait_for_function("() => location.hash === '#how-exact-it-is'")
    assert page.inner_text("#capacity-explorer .am-answer") == before


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_click_into_the_contents_keeps_the_settings(explorer, name):
    page = explorer(name, r=0.3)
    page.locator(
        ".bd-sidebar-secondary a[href='#how-exact-it-is'], .bd-toc a[href='#how-exact-it-is']"
    ).first.click()
    page.wait_for_function("() => location.hash === '#how-exact-it-is'")
    assert "r=0.3" in page.url
    assert page.input_value("#set-r") == "0.3"
    put(page, "r", 0.4)
    assert re.search(r"\?.*r=0.4.*#how-exact-it-is$", page.url)
    page.reload()
    page.wait_for_selector(f"#{name}-explorer .am-readings td")
    assert page.input_value("#set-r") == "0.4"


def test_one_press_of_a_key_is_one_step_of_a_slider(explorer):
    page = explorer("capacity", n=100, d=24)
    page.focus("#set-d-slider")
    for key, value in (("ArrowRight", 25), ("ArrowRight", 26), ("ArrowLeft", 25), ("PageUp", 35)):
        page.keyboard.press(key)
        assert int(page.input_value("#set-d")) == value
    put(page, "d", 5000)
    page.focus("#set-d-slider")
    page.keyboard.press("ArrowUp")
    assert 5050 < int(page.input_value("#set-d")) < 5100
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('#set-d').value === '10000000'")
    page.focus("#set-d-slider")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#set-d") == "10000000"


def test_a_matrix_has_the_right_article(explorer):
    page = explorer("capacity", n=1000, d=88)
    assert page.inner_text(".am-answer").startswith("An 88")
    put(page, "d", 87)
    assert page.inner_text(".am-answer").startswith("An 87")
    put(page, "d", 78)
    assert page.inner_text(".am-answer").startswith("A 78")
    numbers = [8, 11, 18, 800, 8000, 11_000, 18_500, 1, 80_000, 100, 110, 118, 1100, 1800, 10**6, 8 * 10**6]
    words = page.evaluate("all => all.map(assocmem.widgets.article)", numbers)
    assert words == ["An"] * 7 + ["A", "An"] + ["A"] * 6 + ["An"]


@pytest.mark.parametrize("name", EXPLORERS)
def test_named_settings_a_way_back_and_a_link(explorer, name):
    page = explorer(name)
    before = page.inner_text(".am-answer")
    presets = page.locator(f"#{name}-explorer .am-tools button.am-preset")
    assert presets.count() >= 3
    seen = set()
    for preset in presets.all():
        preset.click()
        assert preset.get_attribute("aria-pressed") == "true"
        seen.add(page.evaluate("location.search"))
        assert page.locator(".am-trouble", has_text=re.compile(".")).count() == 0
    assert len(seen) == presets.count()
    page.click(".am-tools button.am-copy")
    page.wait_for_function("() => document.querySelector('.am-copied').textContent !== ''")
    page.click(".am-tools button.am-reset")
    page.wait_for_function("text => document.querySelector('.am-answer').innerText === text", arg=before)
    assert page.locator(".am-tools button[aria-pressed=true]").count() == 0


def test_the_paper_figure_is_a_preset(explorer):
    page = explorer("ridge")
    page.get_by_role("button", name="the paper's Figure 3").click()
    values = {name: float(page.input_value(f"#set-{name}")) for name in ("ridge", "load", "r", "beta")}
    assert values == {"ridge": 1e-7, "load": 0.28, "r": 0.15, "beta": 30}


def test_the_path_stays_in_view_while_a_slider_moves(explorer):
    page = explorer("ridge", load=0.28, r=0.15, beta=3, ridge=1e-2)
    page.wait_for_selector("#ridge-explorer[data-walk=done]")
    lines = page.evaluate(
        """() => new Promise(done => {
            const slider = document.querySelector('#set-load-slider'), seen = [];
            let left = 6;
            const step = () => {
                seen.push(document.querySelectorAll('#ridge-norm path.am-pale').length);
                if (!left--) return done(seen);
                slider.value = Number(slider.value) + 0.02;
                slider.dispatchEvent(new Event('input', {bubbles: true}));
                requestAnimationFrame(() => requestAnimationFrame(step));
            };
            step();
        })"""
    )
    assert lines[0] == 0
    assert min(lines[1:]) == 1
    page.wait_for_selector("#ridge-explorer[data-walk=done]")
    assert page.locator("#ridge-norm path.am-pale").count() == 0


def until(page, gesture, seen):
    """Make a gesture until it is seen: a busy machine may take a slow finger for one that rests."""
    from playwright.sync_api import TimeoutError

    for _ in range(GESTURES):
        gesture()
        with contextlib.suppress(TimeoutError):
            page.wait_for_function(seen, timeout=TAKES / GESTURES)
            return
    pytest.fail(f"not after {GESTURES} gestures: {seen}")


def test_the_map_lets_a_finger_scroll_and_takes_a_tap(browser, origin):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(TAKES)
    draw_nothing(page)
    page.goto(f"{origin}/book/explore_phase.html?r=0.15&load=0.2", wait_until="domcontentloaded")
    page.wait_for_selector("#phase-explorer .am-readings td")
    assert "pan-y" in page.eval_on_selector("#phase-map", "map => getComputedStyle(map).touchAction")
    touch = context.new_cdp_session(page)

    def place(across, down):
        page.evaluate(
            "document.querySelector('#phase-map').scrollIntoView({block: 'center', behavior: 'instant'})"
        )
        page.wait_for_function(STILL)
        box = page.locator("#phase-map").bounding_box()
        return box["x"] + across * box["width"], box["y"] + down * box["height"]

    def swipe():
        x, y = place(0.5, 0.7)
        page.evaluate("() => { window.before = scrollY; }")
        moves = [("touchStart", 0), *(("touchMove", 25 * i) for i in range(1, 8)), ("touchEnd", None)]
        for kind, up in moves:
            points = [] if up is None else [{"x": x, "y": y - up}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    until(page, swipe, "() => scrollY > before + 50")
    assert (page.input_value("#set-r"), page.input_value("#set-load")) == ("0.15", "0.2")
    page.wait_for_function(STILL)
    until(
        page,
        lambda: page.touchscreen.tap(*place(0.6, 0.6)),
        "() => document.querySelector('#set-r').value > 0.5",
    )
    context.close()


def test_ranges_of_probabilities_are_said_as_one_would(explorer):
    page = explorer("capacity")
    pairs = [[0.2, 0.5], [0.2, 0.2], [1e-9, 0.3], [0.9, 0.99999], [0.9999, 0.99999], [0, 1e-9], [0, 1]]
    words = page.evaluate("pairs => pairs.map(([p, q]) => assocmem.widgets.between(p, q))", pairs)
    assert words == [
        "20% to 50%",
        "20%",
        "at most 30%",
        "at least 90%",
        "more than 99.9%",
        "less than 0.1%",
        "anything",
    ]


@pytest.mark.parametrize("name", EXPLORERS)
def test_extreme_settings_have_an_answer(explorer, name):
    corners = {
        "capacity": [
            {"n": 20, "d": 2},
            {"n": 10**12, "d": 10**7},
            {"n": 10**12, "d": 2, "r": 1.0},
            {"n": 20, "d": 29, "r": 1},
        ],
        "phase": [
            {"r": 0.002, "load": 0.005},
            {"r": 0.998, "load": 2.2, "beta": 100},
            {"r": 0.002, "load": 2.2, "beta": 0.1},
        ],
        "ridge": [
            {"r": 0.002, "load": 0.01, "ridge": 1e-12},
            {"r": 0.998, "load": 3, "ridge": 10, "beta": 0.1},
        ],
    }[name]
    for settings in corners:
        page = explorer(name, **settings)
        text = page.inner_text(f"#{name}-explorer")
        assert "NaN" not in text
        assert "undefined" not in text
        assert len(page.inner_text(".am-answer")) > 40


@pytest.mark.parametrize("name", EXPLORERS)
def test_charts_speak_and_pages_are_light(explorer, site, name):
    page = explorer(name)
    for chart in page.locator(".am-chart").all():
        assert len(chart.get_attribute("aria-label")) > 40
        assert chart.locator("path, line").count() > 3
    scripts = page.eval_on_selector_all("script[src*=explorer]", "all => all.map(s => s.getAttribute('src'))")
    files = [(site / "book" / source).resolve() for source in scripts]
    assert files
    assert sum(file.stat().st_size for file in files) < LARGEST


def test_effective_loads_are_what_the_calculator_compares(explorer):
    """The finite-size load of the package and the calculator's dimension for half of the instances agree."""
    page = explorer("capacity", n=392, d=40, r=0.15)
    half = reading(page, "Dimension for half of the instances, independent")
    share = effective_load(392 / 40**2, 0.15, 40) / float(critical_load(0.15))
    assert (half / 40) ** 2 == pytest.approx(share, rel=4e-3)
