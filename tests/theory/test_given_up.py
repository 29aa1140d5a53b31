"""The ridge to zero with weights, against the saddle point at small ridges and near the critical load."""

import math

import numpy as np
import pytest
from scipy import special

from assocmem.theory.crossover import crossover
from assocmem.theory.frequencies import equal, two_classes, zipf_frequencies
from assocmem.theory.given_up import all_kept, given_up, ridge_at_weighted_norm
from assocmem.theory.ridgeless import critical_load, tail_mean
from assocmem.theory.weighted import solve_weighted

CRITICAL = float(critical_load(0.15))
LAWS = {"equal": equal(), "two": two_classes(0.2, 16), "zipf": zipf_frequencies(2000, 1.2)}


@pytest.mark.parametrize("name", LAWS)
def test_just_above_the_critical_load(name):
    law = LAWS[name]
    misses = []
    for excess in (1e-5, 1e-7):
        s = solve_weighted(CRITICAL * (1 + excess), 0.15, beta=30.0, ridge=0, frequencies=law)
        g = given_up(CRITICAL * (1 + excess), 0.15, 0, law)
        at = np.abs([g.nu / s.nu - 1, g.M * s.nu / s.chi - 1, g.loss / s.loss - 1])
        lost = law.mean(s.lost)
        misses.append([*at, abs(law.mean(g.lost) / lost - 1)])
        # margins of the order of one, below zero, are many more than those of the order of nu
        assert law.mean(g.left) < 0.02 * lost
    assert np.all(np.array(misses[0]) < [0.06, 3e-3, 5e-4, 1e-2])
    assert np.all(np.array(misses[1]) < [5e-4, 2e-5, 5e-6, 1e-4])
    # not what a hinge would make of it, in which all keys that are pulled up end at zero
    tau = float(tail_mean(0.15)) - s.chi / s.nu * law.values
    assert law.masses @ special.ndtr(tau) < 0.02 * lost


def test_the_error_vanishes_as_a_fourth_root_and_the_loss_more_slowly():
    errors, losses, norms = [], [], []
    excesses = np.array([1e-9, 1e-7, 1e-5])
    for excess in excesses:
        g = given_up(CRITICAL * (1 + excess), 0.15, 0, two_classes(0.2, 16))
        errors.append(g.error)
        losses.append(g.loss)
        norms.append(g.nu)
    slopes = np.diff(np.log(errors)) / np.diff(np.log(excesses))
    assert np.all((slopes > 0.15) & (slopes < 0.25))
    assert np.all(np.diff(np.log(losses)) / np.diff(np.log(excesses)) < 0.03)
    assert np.diff(np.log(norms)) / np.diff(np.log(excesses)) == pytest.approx(-1, abs=0.05)


def test_equal_weights_cross_over_as_the_paper_has_it():
    for load, ridge in ((CRITICAL * (1 + 1e-6), 0.0), (CRITICAL, 1e-10), (CRITICAL * (1 - 1e-5), 1e-12)):
        plain, g = crossover(load, 0.15, ridge), given_up(load, 0.15, ridge, equal())
        assert (g.M, g.nu, g.loss) == pytest.approx((plain.M, plain.nu, plain.loss), rel=1e-8)
        assert g.left(1.0) == pytest.approx(plain.given_up, rel=1e-7)


def test_just_below_the_critical_load_with_a_ridge():
    law = LAWS["two"]
    s = solve_weighted(CRITICAL * (1 - 1e-6), 0.15, beta=30.0, ridge=1e-10, frequencies=law)
    g = given_up(CRITICAL * (1 - 1e-6), 0.15, 1e-10, law)
    assert (g.nu, g.loss) == pytest.approx((s.nu, s.loss), rel=5e-3)
    assert law.mean(g.lost) == pytest.approx(law.mean(s.lost), rel=5e-3)


@pytest.mark.parametrize("name", LAWS)
def test_below_the_critical_load_all_are_kept(name):
    law = LAWS[name]
    for ridge, within in ((1e-8, 2e-3), (1e-16, 5e-4)):
        s = solve_weighted(0.2, 0.15, beta=30.0, ridge=ridge, frequencies=law)
        a = all_kept(0.2, 0.15, ridge, law)
        assert a.nu == pytest.approx(s.nu, rel=within)
        assert a.loss == pytest.approx(s.loss, rel=within / 10)
        assert a.chi == pytest.approx(s.chi, rel=0.01)
        assert s.error < 1e-12
        assert ridge_at_weighted_norm(0.2, 0.15, a.nu, law) == pytest.approx(ridge, rel=1e-9)
    # a frequent fact has a margin that is larger by the logarithm of its weight, and no more than that
    G = -1.0
    level = special.ndtr(G)
    steps = [s.margin(p).quantile(level) - s.margin(1.0).quantile(level) for p in (0.25, 4.0)]
    assert steps == pytest.approx([math.log(0.25), math.log(4)], abs=0.05)
    assert a.least_margin(4.0) - a.least_margin(1.0) == pytest.approx(math.log(4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: given_up(0.2, 0.15, 0.0, equal()), "load = 0.2: must be above 0.294439"),
        (lambda: given_up(0.4, 0.15, 0.0, equal()), "load = 0.4: .* below"),
        (lambda: given_up(0.29, 0.15, 1.5, equal()), "ridge = 1.5"),
        (lambda: given_up(0.29, 0.15, 1e-6, None), "frequencies = None"),
        (lambda: all_kept(0.4, 0.15, 1e-6, equal()), "load = 0.4"),
        (lambda: all_kept(0.2, 0.15, 0.0, equal()), "ridge = 0.0"),
    ],
)
def test_bad_parameters_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
