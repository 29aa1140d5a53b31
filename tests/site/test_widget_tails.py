"""The widgets about tail averages and the two numbers compute what the package computes."""

import re

import numpy as np
import pytest
from scipy import special

from assocmem.pairs.sizes import tail_count
from assocmem.pairs.tail_average import smoothed_tail_average, smoothed_threshold, tail_average
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.scalar import (
    reduced_potential,
    saddle_points,
    saddle_potential,
    scalar_tail_average,
    solve_scalar,
)

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]


def shown(place, *names):
    """Numbers that a widget shows."""
    return [float(place.get_attribute(f"data-{name}")) for name in names]


# --- the column ---


def test_the_column_is_that_of_the_section_and_its_tails_those_of_the_package(widget, page):
    widget("tail_smoothing")
    x = np.array(page.evaluate("() => assocmem.tail_smoothing.SCORES"))
    np.testing.assert_allclose(x, np.random.default_rng(1).standard_normal(60), atol=6e-7)
    grid = [
        (r, beta, nu) for r in (0.01, 0.15, 0.5, 0.55, 0.98) for beta in (1, 8, 300) for nu in (0.2, 1, 5)
    ]
    found = page.evaluate(
        """grid => grid.map(([r, beta, nu]) => {
            const w = assocmem.tail_smoothing, x = w.SCORES.map(s => nu * s);
            const q = x.map(s => assocmem.theory.expit(beta * (s - w.threshold(x, r, beta))));
            return [w.tailCount(r, 60), w.tailAverage(x, r), w.smoothed(x, r, beta),
                    w.bracket(x, r, beta, 0.3), w.bracket(x, r, Infinity, 0.3), q.reduce((a, b) => a + b)];
        })""",
        grid,
    )
    for (r, beta, nu), values in zip(grid, found, strict=True):
        k, column = tail_count(r, 60), nu * x
        expected = [
            k,
            tail_average(column, r),
            smoothed_tail_average(column, r, beta),
            0.3 + np.logaddexp(0, beta * (column - 0.3)).sum() / (beta * k),
            0.3 + np.maximum(column - 0.3, 0).sum() / k,
            k,
        ]
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12, err_msg=f"{r}, {beta}, {nu}")


def test_thresholds_are_those_of_the_package_where_a_column_has_one(widget, page):
    widget("tail_smoothing")
    x = np.array(page.evaluate("() => assocmem.tail_smoothing.SCORES"))
    grid = [(r, beta) for r in (0.05, 0.15, 0.5, 0.9) for beta in (1.0, 3.0, 20.0)]
    found = page.evaluate(
        """grid => grid.map(([r, beta]) => {
            const {SCORES, threshold} = assocmem.tail_smoothing;
            return threshold(SCORES, r, beta);
        })""",
        grid,
    )
    np.testing.assert_allclose(found, [smoothed_threshold(x, r, beta) for r, beta in grid], rtol=1e-9)


def test_the_smoothed_column_says_what_it_shows(widget):
    place = widget("tail_smoothing", beta=10.0, r=0.3, spread=2.0)
    x = 2 * np.random.default_rng(1).standard_normal(60).round(6)
    exact, soft = tail_average(x, 0.3), smoothed_tail_average(x, 0.3, 10)
    threshold = smoothed_threshold(x, 0.3, 10)
    found = shown(place, "exact", "smoothed", "threshold")
    np.testing.assert_allclose(found, [exact, soft, threshold], rtol=1e-9)
    q = special.expit(10 * (x - threshold))
    assert shown(place, "felt") == [((q > 0.05) & (q < 0.95)).sum()]
    text = place.locator(".am-answer").inner_text()
    assert f"average {exact:.4g}" in text
    assert f"{soft:.4g}" in text


# --- the two numbers ---

POINTS = [
    (load, r, beta, ridge)
    for load in (0.05, 0.28, 0.6, 2.0)
    for r in (0.01, 0.15, 0.5, 0.9)
    for beta, ridge in ((1.0, 0.1), (3.0, 1e-3), (30.0, 1e-6))
]


def test_size_and_susceptibility_lead_back_to_load_and_ridge(widget, page):
    widget("proximal")
    theory = saddle_points(*np.array(POINTS).T)
    asked = np.array([theory.nu, theory.chi, theory.r, theory.beta]).T
    found = page.evaluate(
        """points => points.map(([nu, chi, r, beta]) => {
            const {c, load, ridge} = assocmem.proximal.origin(nu, chi, r, beta);
            return [c, load, ridge, ...assocmem.proximal.failing(nu, chi, c)];
        })""",
        asked.tolist(),
    )
    c, load, ridge, before, after = np.array(found).T
    np.testing.assert_allclose(c, theory.c, rtol=1e-9)
    np.testing.assert_allclose(load, theory.load, rtol=1e-9)
    np.testing.assert_allclose(ridge, theory.ridge, rtol=1e-9, atol=1e-12)  # a difference of larger numbers
    np.testing.assert_allclose(before, special.ndtr(theory.c / theory.nu), rtol=1e-9)
    failing = [solve_scalar(load, r, beta=beta, ridge=ridge).margin_cdf(0) for load, r, beta, ridge in POINTS]
    np.testing.assert_allclose(after, failing, rtol=1e-9, atol=1e-12)


def test_presets_belong_to_the_loads_and_ridges_in_their_names(widget, page):
    place = widget("proximal")
    for button in place.locator(".am-preset").all():
        button.click()
        page.wait_for_timeout(100)
        named = [float(x) for x in re.findall(r"[\d.]+", button.inner_text())]
        np.testing.assert_allclose(shown(place, "load", "ridge"), named, rtol=1e-4)
        assert f"load {named[0]:g} with the ridge" in place.locator(".am-answer").inner_text()


def test_a_pair_of_numbers_that_no_memory_has_is_called_that(widget):
    place = widget("proximal", nu=1.0)
    load, ridge = shown(place, "load", "ridge")
    assert ridge < 0
    assert round(load, 1) == 1.2  # an exercise says so
    assert "No memory has these numbers" in place.locator(".am-answer").inner_text()


def test_the_pushes_of_the_exercise(widget, page):
    place, law = widget("proximal"), solve_scalar(0.6, 0.15, beta=3, ridge=0.01)
    middle = re.compile(r"from −1\.36 to .* with the force")
    for chi in (law.chi, 100 * law.chi, 1e4 * law.chi):
        page.fill("#set-proximal-chi", f"{chi:.6g}")
        page.wait_for_timeout(100)
        assert middle.search(place.locator(".am-answer").inner_text())
    susceptibilities = [law.chi, 100 * law.chi, 1e4 * law.chi]
    found = page.evaluate(
        "([x, all]) => all.map(chi => assocmem.theory.prox(x, chi) - x)", [-law.c, susceptibilities]
    )
    assert [round(push, 2) for push in found] == [0.81, 4.64, 8.66]


# --- the potential ---


def test_potentials_are_those_of_the_package(widget, page):
    widget("scalar_potential")
    grid = [(nu, chi, *p) for nu in (0.3, 2.0, 20.0) for chi in (0.2, 3.0, 400.0) for p in POINTS[::7]]
    found = page.evaluate(
        "grid => grid.map(([nu, chi, ...point]) => assocmem.scalar_potential.potential(nu, chi, ...point))",
        grid,
    )
    expected = [saddle_potential(nu, chi, load, r, beta=beta, ridge=0) for nu, chi, load, r, beta, _ in grid]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)

    grid = [(nu, *p) for nu in (0.1, 1.0, 9.0) for p in POINTS[::5]]
    found = page.evaluate(
        """grid => grid.map(([nu, load, r, beta]) => {
            return assocmem.scalar_potential.leastLoss(nu, load, r, beta).loss;
        })""",
        grid,
    )
    expected = [reduced_potential(nu, load, r, beta=beta, ridge=0) for nu, load, r, beta, _ in grid]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_no_memory_costs_what_the_potential_tends_to(widget, page):
    widget("scalar_potential")
    for r, beta in ((0.15, 3.0), (0.5, 1.0), (0.9, 20.0)):
        c, _, _ = scalar_tail_average(1e-7, r, beta)
        idle = page.evaluate("([r, beta]) => assocmem.scalar_potential.idle(r, beta)", [r, beta])
        np.testing.assert_allclose(idle, np.logaddexp(0, c), rtol=1e-9)


@pytest.mark.parametrize(
    "load, ridge", [(0.6, 1e-2), (0.6, 1e-9), (0.2, 1e-3), (0.2, 1e-9), (0.2944394324, 1e-4)]
)
def test_the_minimum_is_that_of_the_package_on_both_sides_of_the_critical_load(widget, page, load, ridge):
    place = widget("scalar_potential", load=load, ridge=ridge)
    theory = solve_scalar(load, 0.15, beta=3, ridge=ridge)
    np.testing.assert_allclose(shown(place, "nu", "chi"), [theory.nu, theory.chi], rtol=1e-9)
    page.wait_for_selector("[data-widget=scalar_potential][data-curve=done]")
    text = place.locator(".am-answer").inner_text()
    assert ("below the critical" in text) == (load < critical_load(0.15))
    limit = shown(place, "limit")[0]
    if load == 0.6:
        np.testing.assert_allclose(limit, saddle_points(load, 0.15, 3, 0.0).nu, rtol=1e-9)
    else:
        assert limit == 0
