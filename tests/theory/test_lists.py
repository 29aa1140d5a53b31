"""Lists: closed forms against quadrature, identities, ends, and the two equations solved another way."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from assocmem.theory.lists import (
    best_share,
    equivalent_tail,
    list_capacity,
    list_quantile,
    listed_fraction,
    solve_list,
    vanishing_load,
)
from assocmem.theory.ridgeless import critical_load, sat_laws, tail_mean
from assocmem.theory.scalar import saddle_points

SHARES = np.array(
    [1e-300, 1e-100, 1e-12, 1e-6, 1e-3, 0.0228, 0.1586, 0.1587, 0.15, 0.3, 0.49, 0.5 - 1e-12, 0.5]
)


@given(st.floats(1e-3, 0.5))
def test_the_capacity_is_the_inverse_second_moment_of_a_hinge(r):
    q = stats.norm.isf(r)
    assert list_quantile(r) == pytest.approx(q, abs=1e-13)
    moment, _ = integrate.quad(lambda z: (z + q) ** 2 * stats.norm.pdf(z), -q, 12)
    assert list_capacity(r) == pytest.approx(1 / moment, rel=1e-7)


def test_the_capacity_of_the_issue():
    assert list_capacity(0.15) == pytest.approx(0.499, abs=5e-4)
    assert list_capacity(0.15) / critical_load(0.15) == pytest.approx(1.694, abs=1e-3)
    assert list_capacity(0.5) == 2
    assert equivalent_tail(0.15) == pytest.approx(0.3615, abs=5e-5)


def test_the_longer_tail_has_the_quantile_for_its_mean():
    t = equivalent_tail(SHARES)
    np.testing.assert_allclose(tail_mean(t), list_quantile(SHARES), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(critical_load(t), list_capacity(SHARES), rtol=1e-12)
    assert t[-1] == 1


def test_shares_and_tails_are_inverse_to_all_digits():
    np.testing.assert_allclose(listed_fraction(equivalent_tail(SHARES)), SHARES, rtol=1e-14)
    tails = np.array([1e-300, 1e-12, 1e-3, 0.2, 0.3614, 0.49999, 0.5, 0.9])
    np.testing.assert_allclose(equivalent_tail(listed_fraction(tails)), tails, rtol=1e-14)


@pytest.mark.parametrize("r", ["1e-100", "1e-12", "1e-6", "0.01", "0.158", "0.159", "0.3", "0.49"])
def test_the_longer_tail_has_the_digits_of_fifty(r):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(50):
        share = mpmath.mpf(float(r))  # what the float is
        beyond = lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2  # noqa: E731
        start = stats.norm.isf(float(r))
        q = mpmath.findroot(lambda x: mpmath.log(beyond(x) / share), start)
        x = mpmath.findroot(lambda x: mpmath.log(mpmath.npdf(x) / beyond(x) / q), start - 1 / max(1.0, start))
        exact = float(beyond(x))
    assert equivalent_tail(float(r)) == pytest.approx(exact, rel=1e-14)
    assert listed_fraction(exact) == pytest.approx(float(r), rel=1e-14)


def test_the_two_ends():
    """The tail of a short list is ``e (1 - 1 / (2 q^2))`` times its share."""
    q = list_quantile(SHARES[:3])
    far = 1 - equivalent_tail(SHARES[:3]) / SHARES[:3] / math.e
    np.testing.assert_allclose(far * q**2, [0.498, 0.494, 0.454], atol=1e-3)
    below = 0.5 - np.array([1e-3, 1e-6])
    np.testing.assert_allclose(list_quantile(below), math.sqrt(2 * math.pi) * (0.5 - below), rtol=1e-5)
    L = math.log(1e300)  # the two critical loads differ by 2 in their inverses
    difference = 1 / critical_load(1e-300) - 1 / list_capacity(1e-300)
    assert difference == pytest.approx(2, abs=3 / L)


@given(st.floats(1e-300, 0.5), st.floats(1e-300, 0.5))
def test_all_grow_with_the_share(one, other):
    r, s = sorted((one, other))
    for function in (list_capacity, equivalent_tail, vanishing_load):
        assert function(r) <= function(s) * (1 + 1e-12)
    assert r < equivalent_tail(r) <= math.e * r
    assert critical_load(r) < list_capacity(r) < vanishing_load(r)


def test_the_best_share_is_the_inverse_of_the_capacity():
    r = SHARES[2:]
    np.testing.assert_allclose(best_share(list_capacity(r)), r, rtol=1e-12)
    laws = sat_laws(0.28, 0.15)
    assert best_share(0.28) == pytest.approx(1 - laws.percentile.quantile(1e-9), rel=1e-13)
    assert best_share(1e-6) == 0
    assert best_share(2) == pytest.approx(0.5, abs=1e-15)
    assert best_share([[0.1, 0.2]]).shape == (1, 2)


# --- the loss ---


def proximal(x, chi):
    """The y with ``y - chi sigma(-y) = x`` by a search."""
    return optimize.brentq(lambda y: y - chi * special.expit(-y) - x, x - 1e-9, x + chi + 1e-9, xtol=1e-14)


def average(function, nu, q, chi):
    """Mean of a function of y and G, by adaptive quadrature."""

    def value(G):
        return function(proximal(nu * (G - q), chi), G) * math.exp(-(G**2) / 2) / math.sqrt(2 * math.pi)

    return integrate.quad(value, -9, 9, limit=200, epsabs=1e-11, points=[q])[0]


@pytest.mark.parametrize(
    ("load", "r", "ridge"), [(0.42, 0.15, 0.01), (0.6, 0.15, 0.0), (0.3, 0.05, 0.1), (1.5, 0.5, 0.05)]
)
def test_both_equations_hold_by_adaptive_quadrature(load, r, ridge):
    """With q nu as it stands, and not as a tail average."""
    found, q = solve_list(load, r, ridge=ridge), stats.norm.isf(r)
    nu, chi = found.nu, found.chi
    square = average(lambda y, G: special.expit(-y) ** 2, nu, q, chi)
    pull = average(lambda y, G: special.expit(-y), nu, q, chi)
    b = average(lambda y, G: 1 / (1 / (special.expit(y) * special.expit(-y)) + chi), nu, q, chi)
    assert nu**2 == pytest.approx(load * chi**2 * square, rel=1e-8)
    assert ridge - 1 / (load * chi) + b + q * pull / nu == pytest.approx(0, abs=1e-8)
    loss = average(lambda y, G: np.logaddexp(0, -y), nu, q, chi)
    assert found.loss == pytest.approx(loss, rel=1e-8)
    assert found.objective == pytest.approx(loss + ridge * nu**2 / 2, rel=1e-8)


def test_the_saddle_point_is_found_by_a_plain_search():
    """The least over nu of the largest over chi of the potential, on a grid of nodes."""
    load, r, ridge = 0.42, 0.15, 0.01
    q, (G, weights) = stats.norm.isf(r), np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def potential(nu, chi):
        y = np.array([proximal(nu * (g - q), chi) for g in G])
        envelope = weights @ (chi * special.expit(-y) ** 2 / 2 + np.logaddexp(0, -y))
        return ridge * nu**2 / 2 - nu**2 / (2 * load * chi) + envelope

    def highest(nu):
        best = optimize.minimize_scalar(
            lambda c: -potential(nu, math.exp(c)), bounds=(-2, 9), method="bounded"
        )
        return -best.fun

    best = optimize.minimize_scalar(highest, bounds=(0.5, 8), method="bounded", options={"xatol": 1e-4})
    found = solve_list(load, r, ridge=ridge)
    assert best.x == pytest.approx(found.nu, rel=1e-3)
    assert best.fun == pytest.approx(found.objective, rel=1e-5)


@pytest.mark.parametrize(("load", "ridge"), [(0.42, 1e-6), (0.3, 1e-10), (0.6, 0.0), (0.6, 0.1)])
def test_it_is_the_longer_tail_with_a_sharp_smoothing(load, ridge):
    found, tail = solve_list(load, 0.15, ridge=ridge), equivalent_tail(0.15)
    close, sharp = saddle_points(load, tail, 1e4, ridge), saddle_points(load, tail, 1e6, ridge)
    assert sharp.nu == pytest.approx(found.nu, rel=1e-10)
    assert sharp.chi == pytest.approx(found.chi, rel=1e-10)
    assert sharp.loss == pytest.approx(found.loss, rel=1e-10)
    excess = math.pi**2 / 6 / (1e4 * found.nu) ** 2  # of a smoothed tail average
    assert close.c / close.nu / list_quantile(0.15) - 1 == pytest.approx(excess, rel=0.02, abs=1e-13)


def test_below_the_capacity_the_law_is_that_of_any_tail():
    p, far = np.array([0.01, 0.5, 0.9, 0.99]), []
    laws = sat_laws(0.28, 0.15)  # of the tail average, below its own critical load
    for ridge in (1e-4, 1e-8, 1e-16):
        found = solve_list(0.28, 0.15, ridge=ridge)
        far.append(np.abs(found.signal.quantile(p) / found.nu - laws.signal.quantile(p)).max())
    assert far[0] > 1.5 * far[1] > 2 * far[2]
    assert far[2] < 0.035


def test_without_a_ridge_it_is_the_limit_of_small_ones():
    found, small = solve_list(0.7, 0.15, ridge=0), solve_list(0.7, 0.15, ridge=1e-14)
    for name in ("nu", "chi", "loss"):
        assert getattr(found, name) == pytest.approx(getattr(small, name), rel=1e-10)
    near = [solve_list(list_capacity(0.15) * (1 + e), 0.15, ridge=0).nu for e in (1e-6, 1e-7)]
    assert near[1] / near[0] == pytest.approx(10, rel=0.1)


def test_the_best_memory_shrinks_to_nothing_at_a_large_load():
    """In proportion to the distance from the load at which it vanishes; a ridge does not move that."""
    most = vanishing_load(0.15)
    assert most == pytest.approx(1 / stats.norm.isf(0.15) ** 2, rel=1e-12)
    for ridge in (0.0, 10.0):
        nu = np.array([solve_list(most * (1 - e), 0.15, ridge=ridge).nu for e in (1e-3, 1e-4, 1e-9)])
        np.testing.assert_allclose(nu / nu[0], [1, 0.1, 1e-6], rtol=0.01)
    assert vanishing_load(0.5) == math.inf
    with pytest.raises(ValueError, match="load = 0.94: must be below 1 / q_r"):
        solve_list(0.94, 0.15, ridge=1.0)


@pytest.mark.parametrize(("load", "low", "high"), [(0.6, 0.8, 2.5), (1.3, 0, 1e-3)])
def test_so_it_does_in_a_finite_dimension(load, low, high):
    """Lengths are smoothed by a millionth; at a load of 1.3 the theory says zero, at 0.6 about one."""
    d, q, rng = 20, list_quantile(0.15), np.random.default_rng(1)
    U, V = rng.standard_normal((2, d, round(load * d**2))) / math.sqrt(d)

    def loss(w):
        Z = w.reshape(d, d) @ V
        spread = np.sqrt((Z**2).sum(axis=0) / d + 1e-12)
        margin = (U * Z).sum(axis=0) - q * spread
        a = special.expit(-margin)
        slope = -(U * a - q / d * Z * (a / spread)) @ V.T / U.shape[1]
        return np.logaddexp(0, -margin).mean(), slope.ravel()

    start = (U @ V.T).ravel()
    best = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-8})
    assert low <= np.linalg.norm(best.x) / d < high


@settings(max_examples=20)
@given(st.floats(-12, math.log10(0.5)), st.floats(-6, 1), st.floats(-16, 3))
def test_all_points_converge(log_r, log_load, log_ridge):
    r, load = min(10.0**log_r, 0.5), 10.0**log_load
    load = min(load, 0.99 * vanishing_load(r))
    found = solve_list(load, r, ridge=min(max(10.0**log_ridge, 1e-16), 1e3))
    assert found.converged
    assert found.residual < 1e-11


def test_many_points_are_solved_at_once():
    found = solve_list([[0.3], [0.6]], [0.15, 0.2, 0.3], ridge=1e-3)
    assert found.nu.shape == found.beta.shape == found.converged.shape == (2, 3)
    assert found.converged.all()
    one = solve_list(0.6, 0.3, ridge=1e-3)
    assert isinstance(one.nu, float)
    assert found.nu[1, 2] == one.nu
    assert one.c == one.mu == pytest.approx(list_quantile(0.3) * one.nu, rel=1e-15)


@pytest.mark.parametrize("function", [list_quantile, list_capacity, equivalent_tail, vanishing_load])
@pytest.mark.parametrize("r", [0.0, 0.6, -0.1, math.nan, [0.1, 0.7]])
def test_shares_that_are_no_list_are_refused(function, r):
    with pytest.raises(ValueError, match=r"r = .*: must be in \(0, 0.5\]"):
        function(r)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: listed_fraction(1.1), r"tail = 1.1: must be in \(0, 1\]"),
        (lambda: best_share(2.1), r"load = 2.1: must be in \[1e-06, 2\]"),
        (lambda: solve_list(0.3, 0.15, ridge=0), "ridge = 0.0: must be in .*above the list capacity"),
        (lambda: solve_list([0.3, 0.6], 0.15, ridge=0), r"ridge = \[0.0, 0.0\]: must be in"),
        (lambda: solve_list(0.3, 0.15, ridge=1e-17), "ridge = 1e-17: must be in"),
        (lambda: solve_list(0.3, 0.6, ridge=1.0), "r = 0.6: must be in"),
        (lambda: solve_list(0.3, 1e-13, ridge=1.0), "r = 1e-13: must be in"),
        (lambda: solve_list(1e-7, 0.15, ridge=1.0), "load = 1e-07: must be in"),
        (lambda: solve_list([0.1, 0.2], [0.1, 0.2, 0.3], ridge=1.0), "load, r, ridge: shapes"),
    ],
)
def test_points_without_a_solution_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
