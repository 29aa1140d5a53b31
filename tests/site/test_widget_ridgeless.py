"""The widgets of the section on the critical load show what the package computes."""

import numpy as np
import pytest
from scipy import special

from assocmem.theory.ridgeless import critical_load, sat_edge, solve_unsat, tail_mean
from assocmem.theory.scalar import solve_scalar

POINT = "p => { const {loss, nu} = assocmem.small_ridge.point(...p); return [loss, nu]; }"
pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]


def shown(host, *names):
    return [float(host.get_attribute(f"data-{name}")) for name in names]


@pytest.mark.parametrize(("load", "r"), [(0.2, 0.15), (0.02, 0.98), (1.9, 0.01), (0.3, 0.15), (0.6, 0.5)])
def test_the_edge_and_the_price_are_those_of_the_package(widget, load, r):
    host = widget("moving_edge", load=load, r=r)
    rho, kappa = float(sat_edge(load)), float(tail_mean(r))
    expected = [rho, kappa, special.ndtr(rho), 1 / load, 1 / critical_load(r)]
    found = shown(host, "edge", "kappa", "atom", "have", "need")
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert host.get_attribute("data-phase") == ("below" if load < critical_load(r) else "above")
    assert ("no memory" in host.locator(".am-answer").inner_text()) == (load > critical_load(r))


def test_the_area_of_the_price_is_one_over_the_load(widget):
    host, nodes = widget("moving_edge"), np.linspace(-9, 9, 4001)
    loads = np.array([0.05, 0.2, 1.0])
    prices = host.page.evaluate(
        "([levels, nodes]) => levels.map(level => nodes.map(G => assocmem.moving_edge.price(level, G)))",
        [sat_edge(loads).tolist(), nodes.tolist()],
    )
    np.testing.assert_allclose(np.trapezoid(prices, nodes, axis=1), 1 / loads, rtol=1e-5)


def test_curves_with_a_ridge_are_those_of_the_package(widget):
    points = [
        (over, r, beta, ridge)
        for over in (0.5, 0.97, 1.0, 1.03, 1.5)
        for r in (0.02, 0.15, 0.9)
        for beta, ridge in ((3.0, 1e-2), (0.3, 1.0), (100.0, 1e-8))
    ]
    host = widget("small_ridge")
    found = host.page.evaluate(f"points => points.map({POINT})", points)
    over, r, beta, ridge = np.array(points).T
    theory = solve_scalar(over * critical_load(r), r, beta=beta, ridge=ridge)
    np.testing.assert_allclose(np.array(found).T, [theory.loss, theory.nu], rtol=1e-9)


def test_curves_without_a_ridge_are_those_of_the_package(widget):
    points = [
        (over, r, beta, 0) for over in (1.002, 1.03, 1.5) for r in (0.02, 0.15, 0.9) for beta in (0.3, 30.0)
    ]
    host = widget("small_ridge")
    found = host.page.evaluate(f"points => points.map({POINT})", points)
    over, r, beta, _ = np.array(points).T
    theory = solve_unsat(over * critical_load(r), r, beta)
    np.testing.assert_allclose(np.array(found).T, [theory.loss, theory.nu], rtol=1e-8)
    assert host.page.evaluate("() => assocmem.small_ridge.point(0.99, 0.15, 3, 0).loss") == 0


@pytest.mark.parametrize("over", [0.5, 0.9, 1.0, 1.1, 1.5])
def test_what_is_said_is_at_the_settings(widget, over):
    host = widget("small_ridge", over=over, ridge=1e-4)
    theory = solve_scalar(over * critical_load(0.15), 0.15, beta=3, ridge=1e-4)
    np.testing.assert_allclose(shown(host, "loss", "nu"), [theory.loss, theory.nu], rtol=1e-9)
    assert ("Without a ridge the norm scale" in host.locator(".am-answer").inner_text()) == (over > 1)
    host.page.wait_for_selector('[data-widget="small_ridge"][data-state="done"]')
    lines = host.locator("svg.am-chart path.am-tail-average")
    assert lines.count() == 2 and "NaN" not in "".join(x.get_attribute("d") for x in lines.all())
