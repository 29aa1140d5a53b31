"""Scaling laws against sums over all facts, adaptive quadrature, limits, and searches over weights."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from assocmem.theory import frequency_scaling as scaling
from assocmem.theory.frequencies import Frequencies, rank_nodes
from assocmem.theory.ridgeless import critical_load, tail_mean
from assocmem.theory.weighted import saddle_of_sums, solve_weighted

R = 0.15
KAPPA, CRITICAL = float(tail_mean(R)), float(critical_load(R))


def asked(n, s):
    shares = np.arange(1.0, n + 1) ** -s
    return shares / shares.sum()


@pytest.mark.parametrize("s", [1.2, 2.0])
def test_the_constants_stand_in_their_order(s):
    keep = scaling.keep_constant(s, R)
    lowest, convex, hebb = (
        f(s, R) / keep for f in (scaling.lowest_constant, scaling.convex_constant, scaling.hebb_constant)
    )
    trained = [scaling.trained_constant(s, R, beta=1.0, gamma=gamma) / keep for gamma in (1.0, 3.0)]
    assert lowest < convex < 1 < trained[1] < trained[0]
    assert hebb > trained[0] * 0.999
    seen = {1.2: (0.906788, 0.997200, 1.253351, 1.253699, 1.091241)}
    seen[2.0] = (0.782243, 0.993219, 4.010912, 2.083304, 1.322598)
    assert (lowest, convex, hebb, *trained) == pytest.approx(seen[s], abs=2e-6)


def test_the_constant_of_outer_products_by_adaptive_quadrature():
    """With the strength as the variable: no equation to solve."""
    s = 1.5

    def place(t):  # up to a unit
        return (t / stats.norm.pdf(KAPPA - t)) ** (-1 / s)

    def slope(t):
        return place(t) / s * (1 / t + t - KAPPA)

    quad = {"epsabs": 0, "epsrel": 1e-9, "limit": 400}
    spent = sum(integrate.quad(lambda t: t**2 * slope(t), a, b, **quad)[0] for a, b in ((0, 2), (2, 20)))
    missed = sum(
        integrate.quad(lambda t: place(t) ** -s * special.ndtr(KAPPA - t) * slope(t), a, b, **quad)[0]
        for a, b in ((0, 1e-3), (1e-3, 2), (2, 20))
    )
    assert scaling.hebb_constant(s, R) == pytest.approx(spent ** (s - 1) * missed, rel=1e-7)


def test_the_lowest_constant_by_adaptive_quadrature():
    s = 2.0

    def cost(h):
        return integrate.quad(
            lambda z: z**2 * stats.norm.pdf(KAPPA - z), 0, min(h, KAPPA + 12), epsrel=1e-11
        )[0]

    def over(function):  # over the root h of the price
        def inner(h):
            return function(h) * 2 / s * h ** (-2 / s - 1)

        edges = [0, 0.5, 2, 6, 60]
        parts = [integrate.quad(inner, a, b, epsabs=0, epsrel=1e-8, limit=200)[0] for a, b in pairwise(edges)]
        return sum(parts) + function(1e3) * 60 ** (-2 / s)

    found = over(cost) ** (s - 1) * over(lambda h: h**2 * special.ndtr(KAPPA - h))
    assert scaling.lowest_constant(s, R) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("ways", [("hebb", 1.5), ("convex", 1.5), ("lowest", 1.5), ("keep", 1.5)])
def test_very_many_facts_have_the_constant(ways):
    name, s = ways
    constant, error = getattr(scaling, f"{name}_constant"), getattr(scaling, f"{name}_error")
    found = error(1e14, 1e3, s, R) * 1e3 ** (2 * (s - 1)) * special.zeta(s)
    assert found == pytest.approx(constant(s, R), rel=2e-4)


def test_training_with_very_many_facts_has_the_constant():
    for gamma, smoothed in ((1.0, False), (1.0, True), (2.0, False)):
        found = scaling.trained_error(1e14, 1e3, 1.5, R, beta=1.0, gamma=gamma, smoothed=smoothed)
        constant = scaling.trained_constant(1.5, R, beta=1.0, gamma=gamma, smoothed=smoothed)
        assert found * 1e3 * special.zeta(1.5) == pytest.approx(constant, rel=2e-4)


def test_training_on_the_rare_has_no_constant():
    """For s gamma below one the error depends on how many facts there are, however many."""
    at = {"beta": 1.0, "gamma": 0.6, "smoothed": True}
    errors = [scaling.trained_error(n, 100.0, 1.2, R, **at) for n in (1e6, 1e9)]
    keeps = [scaling.keep_error(n, 100.0, 1.2, R) for n in (1e6, 1e9)]
    assert errors[1] / keeps[1] > 1.2 * errors[0] / keeps[0]
    with pytest.raises(ValueError, match=r"gamma = 0\.8: must be such that s gamma is in \[1\.01, 15\]"):
        scaling.trained_constant(1.2, R, beta=1.0, gamma=0.8)


def test_sums_over_some_facts_are_those_over_all():
    n, d, s = 3000, 30.0, 1.3
    shares = asked(n, s)
    q = scaling.hebb_weights(n, d, s, R)
    assert np.mean(q**2) == pytest.approx(1)
    t = q * d / math.sqrt(n)
    assert scaling.hebb_error(n, d, s, R) == pytest.approx(shares @ special.ndtr(KAPPA - t), rel=1e-9)
    held = CRITICAL * d**2
    whole = int(held)
    rest = shares[whole:].sum() - (held - whole) * shares[whole]
    assert scaling.keep_error(n, d, s, R) == pytest.approx(rest * special.ndtr(KAPPA), rel=1e-10)
    # training: against the theory of weights, with all of them and both ways to count
    law = Frequencies(shares)
    load = n / d**2
    w = solve_weighted(load, R, beta=2.0, ridge=1e-3, frequencies=law)
    smoothed = scaling.trained_error(n, d, s, R, beta=2.0, ridge=1e-3, smoothed=True)
    assert smoothed == pytest.approx(w.error, rel=1e-9)
    plain = scaling.trained_error(n, d, s, R, beta=2.0, ridge=1e-3)
    level = KAPPA * w.nu - w.c
    some = [0, 10, 100, 1000]
    lost = [w.margin(law.values[k]).cdf(level) for k in some]
    found = scaling._lost(w.nu, w.chi, w.c, law.values[some], R, False)
    np.testing.assert_allclose(found, lost, rtol=1e-9)
    assert plain < smoothed


def test_no_other_weights_of_outer_products_do_better():
    n, d, s = 40, 4.0, 1.5
    shares = asked(n, s)

    def error(log_q):
        q = np.exp(log_q)
        return shares @ special.ndtr(KAPPA - q * d / np.linalg.norm(q))

    best = np.log(scaling.hebb_weights(n, d, s, R))
    assert error(best) == pytest.approx(scaling.hebb_error(n, d, s, R), rel=1e-9)
    rng = np.random.default_rng(0)
    aside = [error(best + 0.1 * rng.normal(size=n)) for _ in range(50)]
    assert min(aside) > error(best)
    searched = optimize.minimize(error, best + 0.3 * rng.normal(size=n), method="L-BFGS-B").fun
    assert searched == pytest.approx(error(best), rel=1e-4)
    assert searched > error(best) * (1 - 1e-9)
    assert error(np.log(shares)) > error(best)


def test_weights_jump_for_short_tails_alone():
    for r, jumps in ((0.15, False), (0.01, True)):
        q = scaling.hebb_weights(2000, 20.0, 1.2, r)
        assert np.all(np.diff(q) < 0)
        largest = np.max(-np.diff(np.log(q[5:])))
        assert (largest > 0.5) == jumps


def test_no_convex_losses_do_better():
    """Hinges of any two widths, one up to some rank and another beyond, at the same cost."""
    n, d, s = 400, 8.0, 1.5
    shares, best = asked(n, s), scaling.convex_error(n, d, s, R)

    def cost(h):
        z = KAPPA - h
        below = (1 + KAPPA**2) * special.ndtr(z) + (2 * KAPPA - z) * stats.norm.pdf(z)
        return 1 / CRITICAL - below + h**2 * special.ndtr(z)

    for rank in (10, 17, 18, 19, 25, 60, 400):
        for wide in (0.5, 1.0, 2.0, 8.0):
            left = d**2 - rank * cost(wide)
            if left < 0:
                continue
            narrow = 0.0
            if rank < n:
                most = left / (n - rank)
                narrow = 8.0 if cost(8.0) < most else optimize.brentq(lambda h, m=most: cost(h) - m, 0, 8)
            h = np.where(np.arange(n) < rank, wide, narrow)
            assert shares @ special.ndtr(KAPPA - h) > best * (1 - 1e-9)
    assert best < scaling.keep_error(n, d, s, R)


def test_the_first_place_by_simulation_and_its_limit():
    n, d, s = 300, 20.0, 1.3
    law = scaling._law(n, d, s, 0.5)
    way = scaling._first_place(float(n))
    t = way.strength(law.log_first - s * np.log(np.arange(1, n + 1)) - way.log_price(law, d))
    assert np.sum(t**2) == pytest.approx(d**2, rel=0.05)  # up to the one fact at the jump
    rng = np.random.default_rng(1)
    draws = [t + rng.normal(size=n) < rng.normal(size=(n - 1, n)).max(axis=0) for _ in range(200)]
    lost = np.mean(draws, axis=0) @ asked(n, s)
    assert scaling.first_place_hebb_error(n, d, s) == pytest.approx(lost, rel=0.02)
    ratios = [
        scaling.first_place_hebb_error(n, 50.0, 1.5) / scaling.first_place_keep_error(n, 50.0, 1.5)
        for n in (1e5, 1e12)
    ]
    assert ratios[0] > ratios[1] > 1
    assert scaling.first_place_keep_error(100, 90.0, 1.5) == 0


def test_sharper_weights_and_wider_smoothing_help():
    constants = [scaling.trained_constant(1.5, R, beta=1.0, gamma=g) for g in (1.0, 2.0, 4.0)]
    assert np.all(np.diff(constants) < 0)
    assert constants[-1] > scaling.keep_constant(1.5, R)
    wider = [scaling.trained_constant(1.5, R, beta=beta) for beta in (100.0, 1.0, 0.1)]
    assert np.all(np.diff(wider) < 0)


def test_no_fact_dominates_the_norm():
    """The pull of the most frequent facts grows like a logarithm, as the saddle point needs."""
    ranks, counts = rank_nodes(5000, 2.0)
    nu, chi, c = saddle_of_sums(ranks**-2.0, counts / 30**2, R, beta=1.0, ridge=0.0)[:3]
    tau = chi * ranks[0] ** -2.0
    pull = special.wrightomega(math.log(tau) + c)  # of a key whose own score is zero
    assert pull**2 / 30**2 < 0.05 * nu**2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scaling.keep_constant(1.0, R), "s = 1.0"),
        (lambda: scaling.hebb_error(10.5, 4, 1.5, R), "n = 10.5"),
        (lambda: scaling.hebb_weights(10, 1, 1.5, R), "d = 1"),
        (lambda: scaling.lowest_error(10, 4, 1.5, 1.0), "r = 1.0"),
        (
            lambda: scaling.trained_error(10, 40, 1.5, R, beta=1.0),
            "ridge = 0.0: .* 0 above the critical load",
        ),
        (lambda: scaling.trained_error(1e4, 4, 1.5, R, beta=1.0, smoothed=1), "smoothed = 1"),
        (lambda: scaling.first_place_hebb_error(1e13, 4, 1.5), "n = 1000"),
    ],
)
def test_bad_parameters_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
