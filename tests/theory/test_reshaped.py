"""Shares that reshaped sums keep: closed forms against quadrature, and matrices that are drawn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from assocmem.theory import outer_products as cmm
from assocmem.theory import reshaped


def quarter_circle(f, low=0.0, high=2.0):
    """Mean of f over a part of the quarter circle, by another quadrature."""
    return integrate.quad(lambda x: f(x) * math.sqrt(4 - x**2) / math.pi, low, high)[0]


def normal(f, low=-np.inf, high=np.inf):
    """Mean of f over a part of the normal law, by another quadrature."""
    return integrate.quad(lambda x: f(x) * stats.norm.pdf(x), low, high)[0]


def test_signs_and_polar_factor():
    assert reshaped.kept_share(np.sign, breaks=[0.0]) == pytest.approx(reshaped.SIGN_SHARE, abs=1e-12)
    found = reshaped.kept_share(np.ones_like, law="quarter circle")
    assert found == pytest.approx(reshaped.POLAR_SHARE, abs=1e-12)
    assert reshaped.rule_constant(reshaped.SIGN_SHARE) == pytest.approx(4 * math.pi)
    assert reshaped.rule_constant(reshaped.POLAR_SHARE) == pytest.approx(9 * math.pi**2 / 8)


def test_powers_have_shares_of_moments():
    """Of x^3, 9/15 for the normal law; for the quarter circle moments are Catalan numbers, 1, 2, 5."""
    assert reshaped.kept_share(lambda x: x**3) == pytest.approx(9 / 15, abs=1e-12)
    assert reshaped.kept_share(lambda x: x**3, law="quarter circle") == pytest.approx(4 / 5, abs=1e-12)
    assert reshaped.kept_share(lambda x: x**2) == pytest.approx(0, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 5), st.floats(0.1, 10), st.sampled_from(reshaped.LAWS))
def test_a_scale_keeps_everything_and_leaves_a_share_alone(bend, scale, law):
    assert reshaped.kept_share(lambda x: scale * x, law=law) == pytest.approx(1, abs=1e-12)
    share = reshaped.kept_share(lambda x: np.tanh(bend * x), law=law)
    assert 0 < share < 1
    assert reshaped.kept_share(lambda x: -scale * np.tanh(bend * x), law=law) == pytest.approx(share)


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("bits", [1, 2, 3, 5, 8])
def test_quantisers_keep_what_they_say(bits, uniform):
    q = reshaped.best_quantiser(bits, uniform=uniform)
    assert len(q.levels) == 2**bits == len(q.edges) + 1
    np.testing.assert_allclose(q.levels, -q.levels[::-1], atol=1e-14)
    share = reshaped.kept_share(lambda x: q.levels[np.searchsorted(q.edges, x)], breaks=q.edges)
    assert share == pytest.approx(q.share, abs=1e-12)
    error = sum(
        normal(lambda x, level=level: (x - level) ** 2, low, high)
        for low, high, level in zip([-np.inf, *q.edges], [*q.edges, np.inf], q.levels, strict=True)
    )
    assert 1 - error == pytest.approx(q.share, abs=1e-7)


def test_known_errors_of_quantisers():
    """Max's tables of 1960, to the digits that they have."""
    errors = [1 - reshaped.quantiser_share(b) for b in (1, 2, 3, 4, 5)]
    np.testing.assert_allclose(errors, [0.3634, 0.1175, 0.03454, 0.009497, 0.002499], rtol=3e-3)
    evenly = [1 - reshaped.quantiser_share(b, uniform=True) for b in (1, 2, 3, 4, 5)]
    np.testing.assert_allclose(evenly, [0.3634, 0.1188, 0.03744, 0.01154, 0.003495], rtol=1e-3)
    assert 1 - reshaped.quantiser_share(8) == pytest.approx(math.sqrt(3) * math.pi / 2 / 4**8, rel=0.02)


def test_no_other_levels_are_better():
    q, rng = reshaped.best_quantiser(3), np.random.default_rng(0)
    for size in (0.02, 0.1):
        levels = np.sort(q.levels + size * rng.standard_normal(8))
        edges = 0.5 * (levels[1:] + levels[:-1])
        other = reshaped.kept_share(lambda x, at=levels, cut=edges: at[np.searchsorted(cut, x)], breaks=edges)
        assert other < q.share


@pytest.mark.parametrize("p", [0.003, 0.1, 0.5, 0.99, 1.0])
def test_largest_entries_and_singular_values(p):
    t = stats.norm.isf(p / 2)
    assert reshaped.largest_entries_share(p) == pytest.approx(2 * normal(lambda x: x**2, t), rel=1e-6)
    low = 2 * math.cos(_angle(p))
    assert quarter_circle(lambda _: 1.0, low) == pytest.approx(p, abs=1e-6)
    assert reshaped.rank_share(p) == pytest.approx(quarter_circle(lambda x: x**2, low), abs=1e-6)


def _angle(p):
    """The angle t with ``2 t - sin 2 t = pi p``, by scipy."""
    return optimize.brentq(lambda t: 2 * t - math.sin(2 * t) - math.pi * p, 0, math.pi / 2 + 1e-9)


def test_large_parts_keep_more_than_their_share():
    p = np.linspace(0.01, 1, 50)
    for share in (reshaped.largest_entries_share(p), reshaped.rank_share(p)):
        assert np.all(share >= p - 1e-12)
        assert np.all(np.diff(share) > 0)
        assert share[-1] == pytest.approx(1, abs=1e-12)


def test_the_iteration_of_muon_is_the_one_of_torch():
    torch = pytest.importorskip("torch")
    muon = pytest.importorskip("torch.optim._muon")
    default = (muon.DEFAULT_A, muon.DEFAULT_B, muon.DEFAULT_C)
    assert default == reshaped.MUON_COEFFICIENTS
    assert muon.DEFAULT_NS_STEPS == reshaped.MUON_STEPS
    x = np.array([0.02, 0.1, 0.3, 0.9])
    x /= np.linalg.norm(x)
    found = muon._zeropower_via_newtonschulz(torch.tensor(np.diag(x)), default, 5, 1e-7)
    np.testing.assert_allclose(found.diagonal().float(), reshaped.newton_schulz(x), rtol=0.03)  # eight bits
    assert reshaped.newton_schulz(0.3, steps=0) == 0.3


def test_muon_keeps_everything_in_the_end():
    """Five steps multiply by at most 3.4445^5, so that the iteration is linear in a huge dimension."""
    shares = [reshaped.newton_schulz_share(d) for d in (30, 300, 10**4, 10**8, 10**11)]
    assert min(shares) > 0.67
    assert max(shares[:3]) < 0.72
    assert shares[-1] == pytest.approx(1, abs=1e-6)
    assert reshaped.newton_schulz_share(50, steps=0) == pytest.approx(1)


def scores(n, d, function, seed):
    """Mean signal and mean square of a competitor, for a function of the sum of outer products."""
    rng = np.random.default_rng([n, d, seed])
    U, V = rng.standard_normal((2, d, n)) / math.sqrt(d)
    W = function(U @ V.T)
    signal = np.sum(U * (W @ V), axis=0)
    some = U[:, : min(n, 300)].T @ W @ V
    some[np.arange(len(some)), np.arange(len(some))] = np.nan
    return signal, np.nanmean(some**2)


def largest(G):
    """The largest tenth of the entries."""
    return np.where(np.abs(G) > np.quantile(np.abs(G), 0.9), G, 0)


def cut_rank(G):
    """The largest fifth of the singular values."""
    P, s, Q = np.linalg.svd(G)
    return (P * np.where(np.arange(len(s)) < len(s) // 5, s, 0)) @ Q


def polar(G):
    """The polar factor."""
    P, _, Q = np.linalg.svd(G)
    return P @ Q


def two_bits(G):
    """Four levels."""
    q = reshaped.best_quantiser(2)
    return q.levels[np.searchsorted(q.edges, G / G.std())]


@pytest.mark.parametrize(
    ("function", "share"),
    [
        (np.sign, reshaped.SIGN_SHARE),
        (two_bits, 0.88252),
        (largest, float(reshaped.largest_entries_share(0.1))),
        (cut_rank, float(reshaped.rank_share(0.2))),
        (polar, reshaped.POLAR_SHARE),
    ],
)
def test_a_drawn_matrix_keeps_that_share_where_there_are_many_more_pairs(function, share):
    """At n / d = 100; outer products have ``1 / (1 + 2 d / n)`` there."""
    n, d = 6000, 60
    found = []
    for seed in range(4):
        signal, square = scores(n, d, function, seed)
        found.append(n / d**2 * signal.mean() ** 2 / square)
    assert np.mean(found) == pytest.approx(share, rel=0.04)


@pytest.mark.parametrize("ratio", [2.0, 3.0, 8.0])
def test_moments_of_the_polar_factor_at_any_ratio(ratio):
    d, at = 100, reshaped.polar_moments(ratio)
    drawn = [scores(int(ratio * d), d, polar, seed) for seed in range(6)]
    assert np.mean([s.mean() for s, _ in drawn]) == pytest.approx(at.signal, rel=0.01)
    assert d * np.mean([q for _, q in drawn]) == pytest.approx(at.rival_variance, rel=0.02)
    assert d * np.mean([s.var() for s, _ in drawn]) == pytest.approx(at.signal_variance, rel=0.1)


def test_the_signal_of_the_polar_factor_is_its_integral():
    """Over y, with gamma from its equation, which no closed form uses."""
    for c in (1.2, 3.0, 900.0, 1100.0):
        last = 1 / math.sqrt(c - 1)

        def slope(g, c=c):
            return g**2 / (1 + g**2) * (1 / g**2 + c * (1 - g**2) / (1 + g**2) ** 2)

        found = 2 / math.pi * integrate.quad(slope, 0, last)[0]
        assert reshaped.polar_moments(c).signal == pytest.approx(found, rel=1e-9)


def test_many_more_pairs_than_dimensions_are_the_quarter_circle():
    assert reshaped.polar_moments(1e6).share == pytest.approx(reshaped.POLAR_SHARE, abs=1e-4)
    assert reshaped.polar_moments(1e5).signal * math.sqrt(1e5) == pytest.approx(8 / (3 * math.pi), rel=1e-4)


def test_the_polar_factor_beats_the_sum_up_to_five_pairs_for_each_dimension():
    """In the variance of competitors over the squared signal."""
    better = [reshaped.polar_moments(c).share > 1 / (1 + 2 / c) for c in (2, 4, 6, 20)]
    assert better == [True, True, False, False]


def test_half_points():
    log_n = math.log(1000)
    whole = cmm.half_success_ratio(log_n)
    assert reshaped.reshaped_half_ratio(log_n, 1.0) == whole
    assert reshaped.reshaped_half_ratio(log_n, 0.5) == 2 * whole
    far = [reshaped.polar_half_ratio(x) for x in (math.log(300), math.log(1e9), 5000.0)]
    assert 8.3 < far[0] < 9.2  # seen: 9.2 on nested instances that were all retrieved from there on
    assert far[0] < far[1] < far[2] < 9 * math.pi**2 / 8
    assert far[2] == pytest.approx(9 * math.pi**2 / 8, rel=2e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reshaped.kept_share(3), "f = 3: must be a function"),
        (lambda: reshaped.kept_share(lambda _: 1.0), "f = .*in the same shape"),
        (lambda: reshaped.kept_share(lambda x: x * np.nan), "f = .*finite"),
        (lambda: reshaped.kept_share(lambda x: 0 * x), "f = .*not zero throughout"),
        (lambda: reshaped.kept_share(np.sign, law="uniform"), "law = 'uniform'"),
        (lambda: reshaped.kept_share(np.sign, breaks=["a"]), "breaks = "),
        (lambda: reshaped.best_quantiser(0), "bits = 0"),
        (lambda: reshaped.quantiser_share(9), "bits = 9: must be at most 8"),
        (lambda: reshaped.quantiser_share(2, uniform=1), "uniform = 1"),
        (lambda: reshaped.largest_entries_share(0.0), "p = 0.0"),
        (lambda: reshaped.rank_share(1.1), "p = 1.1"),
        (lambda: reshaped.newton_schulz(2.0), "x = 2.0"),
        (lambda: reshaped.newton_schulz_share(3), "d = 3"),
        (lambda: reshaped.newton_schulz_share(100, steps=100), "steps = 100: must be below 100"),
        (lambda: reshaped.polar_moments(1.0), "ratio = 1.0"),
        (lambda: reshaped.polar_half_ratio(1.0), "log_n = 1.0"),
        (lambda: reshaped.rule_constant(0.0), "rho = 0.0"),
        (lambda: reshaped.reshaped_half_ratio(9.0, 2.0), "rho = 2.0"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
