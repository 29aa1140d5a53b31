"""The scalar saddle against other quadrature, its dual, arithmetic with thirty digits, and limits."""

import json
import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saddle_reference import POINTS, STORE, misses
from scipy import integrate, optimize, special, stats

from assocmem.theory.ridgeless import critical_load, tail_mean
from assocmem.theory.scalar import (
    dual_potential,
    prox,
    reduced_potential,
    saddle_potential,
    scalar_tail_average,
    solve_scalar,
)

names = [f"load={p[0]}-r={p[1]}-beta={p[2]}-ridge={p[3]}" for p in POINTS]
logarithmic = st.floats(-1, 1)


def solution(point):
    load, r, beta, ridge = point
    return solve_scalar(load, r, beta=beta, ridge=ridge)


def between(low, high, position):
    """A point of a range, uniform in the logarithm, from a number in [-1, 1]."""
    return low * (high / low) ** (0.5 * (position + 1))


@settings(max_examples=40)
@given(logarithmic, st.floats(0.005, 0.98), logarithmic, logarithmic)
def test_both_equations_hold_and_the_dual_meets_the_primal(load, r, beta, ridge):
    point = (between(0.02, 5, load), r, between(0.1, 1000, beta), between(1e-12, 10, ridge))
    s = solution(point)
    assert s.converged
    assert s.residual < 1e-10
    # weak duality: for these weights the bound holds at every nu, and it is tight at the solution
    bound = [dual_potential(s.nu * t, s) for t in (0.5, 0.9, 1.0, 1.1, 2.0)]
    assert min(bound) == pytest.approx(s.objective, rel=1e-10)
    upper = saddle_potential(s.nu, s.chi, *point[:2], beta=point[2], ridge=point[3])
    assert upper == pytest.approx(s.objective, rel=1e-10)


@pytest.mark.parametrize("point", POINTS, ids=names)
def test_the_saddle_is_a_maximum_in_chi_and_a_minimum_in_nu(point):
    load, r, beta, ridge = point
    s = solution(point)
    at = {"load": load, "r": r, "beta": beta, "ridge": ridge}
    for factor in (0.7, 1.4):
        assert saddle_potential(s.nu, s.chi * factor, **at) < s.objective
        assert reduced_potential(s.nu * factor, **at) > s.objective
        assert reduced_potential(s.nu * factor, **at) >= dual_potential(s.nu * factor, s) - 1e-12
        # strong convexity, Proposition 10
        growth = 0.5 * ridge * s.nu**2 * (factor - 1) ** 2
        assert reduced_potential(s.nu * factor, **at) - s.objective >= growth * (1 - 1e-6)


@pytest.mark.parametrize("point", POINTS, ids=names)
def test_adaptive_quadrature_finds_the_same_averages(point):
    load = point[0]
    s = solution(point)

    def average(function):
        def integrand(G):
            return function(G) * stats.norm.pdf(G)

        kinks = [s.c / s.nu + t / s.nu for t in (-40, -10, -3, 0, 3, 10, 40, math.log1p(s.chi))]
        inside = sorted({k for k in kinks if -12 < k < 12})
        edges = [-12, *inside, 12]
        parts = [
            integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-12, limit=400)[0] for a, b in pairwise(edges)
        ]
        return math.fsum(parts)

    def channel(G):
        x = s.nu * G - s.c
        y = optimize.brentq(
            lambda y: y - s.chi * special.expit(-y) - x, x - 1e-9, x + s.chi + 1e-9, xtol=1e-14
        )
        return y

    square = average(lambda G: special.expit(-channel(G)) ** 2)
    assert s.nu**2 == pytest.approx(load * s.chi**2 * square, rel=1e-8)
    assert s.loss == pytest.approx(average(lambda G: np.logaddexp(0, -channel(G))), rel=1e-8)


REFERENCE = json.loads(STORE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", REFERENCE["rows"], ids=names)
def test_thirty_digits_give_the_same_solution(row):
    s = solution(row["point"])
    for name in ("nu", "chi", "c", "loss"):
        assert float(getattr(s, name)) == pytest.approx(float(row[name]), rel=1e-10), name
    scale = abs(float(row["mu"])) + 1 / row["point"][2]
    assert s.mu == pytest.approx(float(row["mu"]), abs=1e-10 * scale)


def test_the_stored_digits_solve_the_equations():
    """One point afresh, so that the table cannot drift away from the code that wrote it."""
    assert [tuple(row["point"]) for row in REFERENCE["rows"]] == POINTS
    assert all(float(row["miss"]) < 1e-20 for row in REFERENCE["rows"])
    row = REFERENCE["rows"][9]
    with mpmath.workdps(20):
        nu, chi, c, mu = (mpmath.mpf(row[name]) for name in ("nu", "chi", "c", "mu"))
        missed, same_c, same_mu = misses(nu, chi, row["point"], mu)
        assert mpmath.norm(missed) < 1e-16
        assert max(abs(same_c - c), abs(same_mu - mu)) < 1e-16
        assert mpmath.norm(misses(nu * (1 + mpmath.mpf("1e-9")), chi, row["point"], mu)[0]) > 1e-10


@given(st.floats(-1e6, 1e6), st.floats(-3, 12))
def test_prox_solves_its_equation(x, exponent):
    chi = 10.0**exponent
    y = prox(x, chi)
    assert x <= y <= x + chi
    assert y - chi * special.expit(-y) == pytest.approx(
        x, abs=1e-13 * (abs(x) + abs(y) + chi * special.expit(-y))
    )


@pytest.mark.parametrize("r", [0.01, 0.15, 0.5, 0.9])
def test_tail_average_of_a_normal_law_has_its_limits(r):
    c, mu, slope = scalar_tail_average(200.0, r, 50.0)
    assert c / 200 == pytest.approx(tail_mean(r), rel=1e-6)
    assert mu / 200 == pytest.approx(stats.norm.isf(r), abs=1e-6)
    assert slope == pytest.approx(tail_mean(r), rel=1e-6)
    c, mu, slope = scalar_tail_average(1e-6, r, 1.0)
    assert mu == pytest.approx(-special.logit(r), abs=1e-9)
    assert slope == pytest.approx(1e-6 * (1 - r), rel=1e-6)  # phi'' = q (1 - q) at q = r
    for nu in (0.3, 5.0):
        c, _, slope = scalar_tail_average(nu, r, 4.0)
        high, low = (scalar_tail_average(nu * f, r, 4.0)[0] for f in (1.0001, 0.9999))
        assert slope == pytest.approx((high - low) / (2e-4 * nu), rel=1e-6)


def test_large_ridge_is_linear_response():
    """The memory is small, all weights are those of equal scores, and chi is 1 over load times ridge."""
    s = solve_scalar(0.5, 0.3, beta=1.0, ridge=1e3)
    c = math.log(0.7 / 0.3) - math.log(0.7) / 0.3  # tail average of equal scores
    assert s.c == pytest.approx(c, rel=1e-5)
    assert s.chi == pytest.approx(1 / (0.5 * 1e3), rel=2e-3)
    assert s.nu == pytest.approx(math.sqrt(0.5) * s.chi * special.expit(c), rel=2e-3)


def test_the_transition_is_where_the_ridgeless_theory_puts_it():
    edge = critical_load(0.15)
    below = solve_scalar(0.95 * edge, 0.15, beta=30.0, ridge=np.array([1e-6, 1e-9, 1e-12]))
    above = solve_scalar(1.05 * edge, 0.15, beta=30.0, ridge=np.array([1e-6, 1e-9, 1e-12]))
    assert np.all(np.diff(below.nu) > 10)
    assert below.loss[-1] < 1e-7
    assert np.ptp(above.nu[1:]) < 1e-4 * above.nu[-1]
    assert above.loss[-1] > 0.1


@pytest.mark.parametrize("point", POINTS[:3] + POINTS[9:], ids=names[:3] + names[9:])
@pytest.mark.parametrize("name", ["signal", "competitor", "margin", "percentile"])
def test_laws_are_consistent(point, name):
    law = getattr(solution(point), name)
    p = np.array([1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
    x = law.quantile(p)
    assert np.all(np.diff(x) > 0)
    np.testing.assert_allclose(law.cdf(x), p, rtol=1e-6)
    if name != "percentile":  # there quantiles crowd at the edge of what a float resolves
        step = 1e-4 * (x[-1] - x[0]) * np.minimum(p, 1 - p)
        rise = (law.cdf(x + step) - law.cdf(x - step)) / (2 * step)
        np.testing.assert_allclose(law.pdf(x)[1:-1], rise[1:-1], rtol=0.02)
    sample = law.sample(4000, seed=1)
    assert stats.kstest(sample, law.cdf).pvalue > 1e-3
    assert not law.atoms


def test_margin_law_gives_the_loss():
    s = solution(POINTS[9])
    sample = s.margin.sample(400_000, seed=0)
    losses = np.logaddexp(0, -sample)
    assert s.loss == pytest.approx(losses.mean(), abs=5 * losses.std() / math.sqrt(len(losses)))
    assert s.margin_cdf(0.0) == pytest.approx((sample <= 0).mean(), abs=4e-3)
    np.testing.assert_allclose(s.percentile_cdf([0.0, 1.0]), [0, 1], atol=1e-12)


def test_arrays_of_parameters_broadcast():
    grid = solve_scalar(np.array([[0.2], [0.5]]), [0.1, 0.3, 0.9], beta=5.0, ridge=1e-3)
    assert grid.nu.shape == (2, 3)
    assert grid.nu[1, 2] == solve_scalar(0.5, 0.9, beta=5.0, ridge=1e-3).nu
    assert grid.margin_cdf(0.0).shape == (2, 3)
    assert grid.converged.all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"load": 0}, r"load = 0.*in \[1e-06, 1e\+06\]"),
        ({"r": 1}, "r = 1"),
        ({"beta": -1.0}, "beta = -1.0"),
        ({"ridge": [1e-3, 0.0]}, r"ridge = \[0.001, 0.0\]"),
        ({"ridge": math.nan}, "ridge = nan"),
        ({"load": "a"}, "load = 'a'"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve_scalar(**({"load": 0.3, "r": 0.15, "beta": 1.0, "ridge": 1e-3} | arguments))
