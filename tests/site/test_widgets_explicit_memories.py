"""The widgets of the explicit memories compute what the package computes, and show it."""

import math

import numpy as np
import pytest
from scipy import special

from assocmem.theory import failing_counts, repair
from assocmem.theory import outer_products as cmm

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]


def shown(page, name, key):
    return float(page.locator(f"[data-widget={name}]").get_attribute(f"data-{key}"))


def digits(*counts):
    return [x * math.log(10) for x in counts]


# --- the Gaussian picture ---


def test_the_logarithm_of_the_normal_law_has_all_digits(widget):
    page = widget("two_extremes").page
    x, p = np.r_[np.linspace(-60, 9, 1381), -40.01, -39.99, 3.99, 4.01], -np.geomspace(1e-9, 2000, 120)
    values, quantiles = page.evaluate(
        """([x, p]) => {
            const {gaussianPicture} = assocmem;
            return [x.map(gaussianPicture.logNdtr), p.map(gaussianPicture.ndtriExp)];
        }""",
        [x.tolist(), p.tolist()],
    )
    np.testing.assert_allclose(values, special.log_ndtr(x), rtol=1e-12)
    np.testing.assert_allclose(quantiles, special.ndtri_exp(p), rtol=1e-12, atol=1e-13)


def test_failing_keys_of_outer_products_are_those_of_the_package(widget):
    page = widget("two_extremes").page
    sizes = [math.log(3), *digits(2, 3, 6, 12, 30, 100, 1000)]
    points = [(log_n, c) for log_n in sizes for c in (0.5, 1.0, 2.0, 5.0, 8.0, 12.0, 20.0)]
    found = page.evaluate(
        "all => all.map(([x, c]) => assocmem.gaussianPicture.logOuterFailures(x, c))", points
    )
    np.testing.assert_allclose(found, [cmm.log_expected_failures(*p) for p in points], atol=1e-8)


def test_the_ratio_at_one_half_and_its_first_terms_are_those_of_the_package(widget):
    page = widget("slow_approach").page
    sizes = digits(2, 2.5, 3, 6, 12, 40, 100, 1000)
    found = page.evaluate(
        "all => all.map(x => [assocmem.gaussianPicture.ratioAt(x), assocmem.gaussianPicture.expansion(x)])",
        sizes,
    )
    expected = [(cmm.half_success_ratio(x), cmm.half_success_expansion(x)) for x in sizes]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_exact_ratio_is_that_of_the_package_up_to_the_error_of_its_table(widget):
    page = widget("slow_approach").page
    sizes = (150, 4000, 10**6, 10**11)
    found = page.evaluate("all => all.map(n => assocmem.slow_approach.exactRatio(n, 0.5))", sizes)
    np.testing.assert_allclose(found, [cmm.exact_half_success_ratio(n) for n in sizes], atol=0.02)


def test_repair_is_that_of_the_package(widget):
    """The two use the same quadrature; tiny numbers of failures are differences of larger ones."""
    page = widget("reserve").page
    points = [
        (log_n, c, share, gamma)
        for log_n in digits(2, 3, 6, 30, 100)
        for c in (1.5, 4.0, 9.0, 60.0)
        for share in (0.005, 0.14, 0.78, 0.95)
        for gamma in (0.01, 0.1, 0.49)
    ]
    found = page.evaluate(
        """all => all.map(point => {
            const {logFailures, deficient, noise, margin} = assocmem.gaussianPicture.repair(...point);
            return [Math.max(logFailures, -1e300), deficient, noise, margin];
        })""",
        points,
    )
    theory = [repair.predict_repair(x, c, share=share, gamma=gamma) for x, c, share, gamma in points]
    expected = [(max(t.log_failures, -1e300), t.deficient, t.noise, t.margin) for t in theory]
    found, expected = np.array(found).T, np.array(expected).T
    for row in (0, 1, 3):
        np.testing.assert_allclose(found[row], expected[row], rtol=2e-9)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-9, atol=1e-15)


def test_a_line_of_the_chart_is_near_the_full_quadrature(widget):
    page = widget("reserve").page
    log_n = math.log(1000)
    shares = [0.01, 0.05, 0.14, 0.4, 0.78]
    found = page.evaluate(
        "([x, all]) => all.map(share => assocmem.gaussianPicture.repair(x, 9, share, 0.1, 2).logFailures)",
        [log_n, shares],
    )
    expected = [repair.predict_repair(log_n, 9.0, share=share, gamma=0.1).log_failures for share in shares]
    np.testing.assert_allclose(found, expected, atol=0.02)


# --- what the widgets show ---


def test_two_extremes_counts_the_keys_that_fail(widget):
    for ratio, places in ((2.5, 3), (5.0, 6), (9.0, 40)):
        page = widget("two_extremes", ratio=ratio, digits=places).page
        (log_n,) = digits(places)
        failing = shown(page, "two_extremes", "failing")
        assert failing == pytest.approx(cmm.log_expected_failures(log_n, ratio), abs=1e-8)
        power = shown(page, "two_extremes", "power")
        assert power == pytest.approx(failing_counts.leading_power(ratio), rel=1e-12)
        log_half = math.log(
            -math.expm1(-math.log(2) * 10.0**-places)
        )  # the largest of n is below half of the time
        rise = -special.ndtri_exp(log_half) / math.sqrt(log_n)
        assert shown(page, "two_extremes", "rise") == pytest.approx(rise, rel=1e-9)


def test_the_region_of_pairs_is_left_at_eight(widget):
    page = widget("two_extremes").page
    found = page.evaluate(
        "all => all.map(c => assocmem.two_extremes.beyond(Math.sqrt(c)))", [0.0, 2.0, 5.0, 7.9, 8.1]
    )
    areas = []
    for polygon in found:
        x, y = np.array(polygon).T if polygon else np.zeros((2, 1))
        areas.append(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)
    assert areas == sorted(areas, reverse=True)
    assert areas[3] > 0
    assert areas[4] == 0


def test_curves_of_keys_by_their_dip_add_up(widget):
    """Both are numbers for a unit of dip: their integrals are all keys, and those that fail."""
    page = widget("two_extremes").page
    (log_n,), ratio = digits(6), 5.0
    dips = np.linspace(-4, 4, 4001)
    powers = page.evaluate(
        "([all, x, c]) => all.map(dip => assocmem.two_extremes.powers(dip, x, c))",
        [dips.tolist(), log_n, ratio],
    )
    counts = np.exp(log_n * np.array(powers)).sum(axis=0) * (dips[1] - dips[0])
    assert counts[0] == pytest.approx(math.exp(log_n), rel=1e-6)
    assert math.log(counts[1]) == pytest.approx(cmm.log_expected_failures(log_n, ratio), abs=1e-6)


def test_slow_approach_shows_three_accounts_of_one_ratio(widget):
    page = widget("slow_approach", digits=6).page
    (log_n,) = digits(6)
    assert shown(page, "slow_approach", "exact") == pytest.approx(
        cmm.exact_half_success_ratio(10**6), abs=0.02
    )
    assert shown(page, "slow_approach", "picture") == pytest.approx(cmm.half_success_ratio(log_n), rel=1e-9)
    assert shown(page, "slow_approach", "expansion") == pytest.approx(
        cmm.half_success_expansion(log_n), rel=1e-12
    )

    page = widget("slow_approach", digits=100).page
    assert page.locator("[data-widget=slow_approach]").get_attribute("data-exact") == ""
    found = shown(page, "slow_approach", "picture")
    assert found == pytest.approx(cmm.half_success_ratio(digits(100)[0]), rel=1e-9)


def test_reserve_shows_the_prediction_and_the_best_share(widget):
    page = widget("reserve", share=0.14, gamma=0.1, ratio=9, digits=3).page
    page.wait_for_selector("[data-widget=reserve][data-curve=done]")
    (log_n,) = digits(3)
    theory = repair.predict_repair(log_n, 9.0, share=0.14, gamma=0.1)
    assert shown(page, "reserve", "failures") == pytest.approx(theory.log_failures, rel=1e-8)
    assert shown(page, "reserve", "deficient") == pytest.approx(theory.deficient, rel=1e-9)
    assert shown(page, "reserve", "noise") == pytest.approx(theory.noise, rel=1e-9)
    best = shown(page, "reserve", "best")
    least = repair.predict_repair(log_n, 9.0, share=best, gamma=0.1).log_failures
    for share in np.geomspace(0.01, 0.8, 30):
        assert repair.predict_repair(log_n, 9.0, share=share, gamma=0.1).log_failures > least - 0.005

    before = page.locator("[data-widget=reserve]").get_attribute("data-failures")
    page.fill("#set-reserve-digits", "6")
    page.wait_for_selector(f"[data-widget=reserve][data-curve=done]:not([data-failures='{before}'])")
    later = repair.predict_repair(digits(6)[0], 9.0, share=0.14, gamma=0.1)
    assert shown(page, "reserve", "failures") == pytest.approx(later.log_failures, rel=1e-8)
    assert repair.paper_share(digits(6)[0]) > 4 * shown(page, "reserve", "best")
