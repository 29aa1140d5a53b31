"""The closed-form critical load against quadrature and its limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from assocmem.theory.ridgeless import critical_load, sat_edge, sat_laws, solve_unsat, tail_mean
from assocmem.theory.scalar import solve_scalar


@given(st.floats(0.001, 0.999))
def test_tail_mean_is_the_mean_of_the_tail(r):
    mean, _ = integrate.quad(lambda x: x * stats.norm.pdf(x), stats.norm.isf(r), 12)
    assert tail_mean(r) == pytest.approx(mean / r, rel=1e-7)


@given(st.floats(0.001, 0.999))
def test_critical_load_is_the_inverse_second_moment_of_a_hinge(r):
    kappa = float(tail_mean(r))
    moment, _ = integrate.quad(lambda z: (z + kappa) ** 2 * stats.norm.pdf(z), -kappa, 12)
    assert critical_load(r) == pytest.approx(1 / moment, rel=1e-7)


def test_limits_and_monotony():
    r = np.array([1e-12, 1e-6, 0.01, 0.15, 0.5, 0.9, 1 - 1e-9])
    load = critical_load(r)
    assert np.all(np.diff(load) > 0)
    assert load[-1] == pytest.approx(2, abs=1e-7)
    assert critical_load(1.0) == 2
    assert tail_mean(1.0) == 0
    assert load[3] == pytest.approx(0.2944, abs=5e-5)
    assert tail_mean(1e-12) == pytest.approx(math.sqrt(2 * math.log(1e12)), rel=0.05)
    assert tail_mean(1 - 1e-9) == pytest.approx(stats.norm.pdf(stats.norm.isf(1e-9)), rel=1e-7)


@pytest.mark.parametrize("r", [0.0, 1.1, -0.1, math.nan])
def test_fractions_outside_the_range_are_refused(r):
    with pytest.raises(ValueError, match=r"r = .*: must be in \(0, 1\]"):
        critical_load(r)


@given(st.floats(-6, 6))
def test_the_edge_solves_its_equation(log_load):
    load = 10.0**log_load
    rho = float(sat_edge(load))
    moment, _ = integrate.quad(lambda z: (z + rho) ** 2 * stats.norm.pdf(z), max(-rho, -13), 13, limit=200)
    assert moment * load == pytest.approx(1, rel=1e-7)


def test_the_edge_meets_the_tail_mean_at_the_critical_load():
    r = np.array([1e-12, 1e-3, 0.15, 0.5, 0.99, 1 - 1e-9])
    np.testing.assert_allclose(sat_edge(critical_load(r)), tail_mean(r), rtol=1e-12, atol=1e-15)
    assert sat_edge(2.0) == pytest.approx(0, abs=1e-15)
    assert np.all(np.diff(sat_edge(np.logspace(-6, 6, 40))) < 0)
    assert sat_edge(1e-6) == pytest.approx(math.sqrt(1e6 - 1), rel=1e-12)


@pytest.mark.parametrize("load", [0.0, 2e6, math.nan])
def test_loads_without_an_edge_are_refused(load):
    with pytest.raises(ValueError, match="load = .*: must be in"):
        sat_edge(load)


def test_laws_below_the_critical_load():
    """Those of max(G, rho), drawn; with the atom at the edge."""
    laws = sat_laws(0.28, 0.15)
    g = np.maximum(np.random.default_rng(0).standard_normal(200_000), laws.rho)
    edge = special.ndtr(laws.rho)
    assert laws.rho > laws.kappa == tail_mean(0.15)
    cases = ((laws.signal, g), (laws.margin, g - laws.kappa), (laws.percentile, special.ndtr(g)))
    for law, sample in cases:
        p = np.array([0.01, 0.5, 0.95, 0.97, 0.999])
        np.testing.assert_allclose(law.quantile(p), np.quantile(sample, p), atol=0.02)
        (place, mass) = law.atoms[0]
        assert mass == pytest.approx(edge)
        assert law.cdf(place - 1e-9) == 0
        assert law.cdf(place) == pytest.approx(mass)
        assert law.pdf(place - 0.01) == 0
        above = np.linspace(place, law.quantile(1 - 1e-12), 20001)
        assert mass + integrate.simpson(law.pdf(above), x=above) == pytest.approx(1, abs=1e-3)
        assert law.sample(1000, seed=1).min() == pytest.approx(place)
    assert laws.percentile.cdf(1.0) == 1
    assert laws.margin.atoms[0][0] > 0


def test_percentiles_at_the_edge_scatter_like_those_of_samples():
    laws, rng, n = sat_laws(0.28, 0.15), np.random.default_rng(0), 1000
    columns = np.sort(rng.standard_normal((4000, n)), axis=1)
    signal = columns[:, -150:].mean(axis=1) + laws.rho - laws.kappa
    shares = (columns <= signal[:, None]).mean(axis=1)
    assert shares.std() * np.sqrt(n) == pytest.approx(laws.percentile_scatter, rel=0.04)
    assert shares.std() * np.sqrt(n) < 0.6 * np.sqrt(special.ndtr(laws.rho) * special.ndtr(-laws.rho))


def test_the_expansions_at_both_ends():
    r = np.array([1e-300, 1e-50, 1e-12])
    kappa, L = tail_mean(r), np.log(1 / r)
    np.testing.assert_allclose(1 / critical_load(r), 1 + kappa**2, rtol=1e-6)
    slow = np.log(4 * np.pi * L)
    far = np.abs(1 / critical_load(r) - (2 * L - slow + 3 + (slow - 5) / (2 * L)))
    assert np.all(np.diff(far) > 0)
    assert far[0] < 1e-5
    far = []
    for rest in (1e-2, 1e-3):
        kappa, phi0 = float(tail_mean(1 - rest)), 1 / math.sqrt(2 * math.pi)
        series = 1 + 4 * phi0 * kappa + kappa**2 + 2 / 3 * phi0 * kappa**3
        far.append(abs(2 / critical_load(1 - rest) / series - 1) / kappa**5)
    assert far[0] < 1
    assert far[1] < 3


def test_laws_below_are_the_limit_of_a_small_ridge():
    laws, p, far = sat_laws(0.2, 0.3), np.array([0.1, 0.5, 0.9, 0.99]), []
    for ridge in (1e-4, 1e-8, 1e-16):
        small = solve_scalar(0.2, 0.3, beta=3.0, ridge=ridge)
        far.append(np.abs(small.signal.quantile(p) / small.nu - laws.signal.quantile(p)).max())
    assert far[0] > 2 * far[1] > 4 * far[2]
    assert far[2] < 0.04
    np.testing.assert_allclose(small.percentile.quantile(p), laws.percentile.quantile(p), atol=3e-3)
    assert small.c / small.nu == pytest.approx(laws.kappa, rel=2e-4)


@pytest.mark.parametrize(("load", "r", "beta"), [(0.4, 0.15, 30.0), (0.6, 0.3, 3.0), (3.0, 0.9, 0.3)])
def test_the_saddle_point_without_a_ridge_is_the_limit_of_small_ones(load, r, beta):
    found, small = solve_unsat(load, r, beta), solve_scalar(load, r, beta=beta, ridge=1e-13)
    assert found.converged
    assert found.ridge == 0
    for name in ("nu", "chi", "c", "mu", "loss"):
        assert getattr(found, name) == pytest.approx(getattr(small, name), rel=1e-9)
    assert found.loss > 0
    assert found.objective == found.loss


@pytest.mark.parametrize("r", [1e-12, 1e-6, 0.15, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("above", [1e-4, 1.0, 1e5])
@pytest.mark.parametrize("beta", [0.3, 300.0])
def test_saddle_points_without_a_ridge_solve_their_equations(r, above, beta):
    found = solve_unsat(critical_load(r) * (1 + above), r, beta)
    assert found.converged
    assert found.residual < 1e-11


def test_the_norm_diverges_as_one_over_the_excess_load():
    """Whatever beta, which no longer matters at the boundary."""
    r, excess = 0.15, np.array([1e-6, 1e-7])
    norms = {
        beta: np.array([solve_unsat(critical_load(r) * (1 + e), r, beta).nu for e in excess])
        for beta in (3.0, 300.0)
    }
    for nu in norms.values():
        assert np.log10(nu[1] / nu[0]) == pytest.approx(1, abs=0.05)
    np.testing.assert_allclose(norms[3.0], norms[300.0], rtol=2e-3)
    further = [solve_unsat(1.1 * critical_load(r), r, beta).nu for beta in (3.0, 300.0)]
    assert further[0] > 2 * further[1]


def test_many_points_are_solved_at_once():
    found = solve_unsat([[0.4], [0.6]], 0.15, [0.3, 3.0, 300.0])
    assert found.nu.shape == found.ridge.shape == (2, 3)
    assert found.converged.all()
    assert found.nu[1, 2] == solve_unsat(0.6, 0.15, 300.0).nu
    assert isinstance(solve_unsat(0.6, 0.15, 300.0).nu, float)


def test_large_norms_keep_their_digits():
    """Next to the critical load the smoothing no longer matters, however large beta nu is."""
    found = solve_unsat(critical_load(0.15) * (1 + 1e-8), 0.15, [3.0, 300.0, 1e5])
    assert found.converged.all()
    np.testing.assert_allclose(found.nu, found.nu[0], rtol=3e-5)
    np.testing.assert_allclose(found.loss, found.loss[0], rtol=1e-5)


def test_one_competitor_out_of_all_is_the_mean():
    """r near 1: c vanishes, and beta no longer matters at all."""
    found = [solve_unsat(3.0, 1 - 1e-9, beta) for beta in (0.3, 300.0)]
    assert found[0].nu == pytest.approx(found[1].nu, rel=1e-7)
    assert abs(found[0].c) < 1e-6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.2, 0.15, 3.0), r"load = 0.2: must be above the critical load 0.29\d+ of r = 0.15 and at most"),
        ((2e6, 0.15, 3.0), "load = 2000000.0: must be above"),
        (([0.4, 0.2], 0.15, 3.0), r"load = \[0.4, 0.2\]: must be above"),
        ((0.4, 1e-13, 3.0), "r = 1e-13: must be in"),
        ((0.4, 0.15, 0.0), "beta = 0.0: must be in"),
    ],
)
def test_points_without_a_saddle_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve_unsat(*arguments)


@pytest.mark.parametrize("load", [0.3, 1e-7])
def test_laws_of_the_other_side_are_refused(load):
    with pytest.raises(ValueError, match="load = .*: must be at least 1e-06 and below the critical load"):
        sat_laws(load, 0.15)
