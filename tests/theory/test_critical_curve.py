"""Ends of the critical curve, and its neighbours."""

import numpy as np
import pytest
from scipy import special

from assocmem.theory.critical_curve import (
    critical_load_of_median,
    inverse_at_large_tails,
    inverse_at_small_tails,
    loss_of_first_moments,
)
from assocmem.theory.crossover import crossover
from assocmem.theory.ridgeless import critical_load, hinge_edge, solve_unsat


def test_small_tails():
    r = np.array([1e-4, 1e-8, 1e-12])
    off = abs(inverse_at_small_tails(r) - 1 / critical_load(r))
    assert off[0] < 0.1
    assert (np.diff(off) < 0).all()


def test_large_tails():
    r = np.array([0.9, 0.99, 0.999])
    np.testing.assert_allclose(inverse_at_large_tails(r), 1 / critical_load(r), rtol=2e-4)
    assert inverse_at_large_tails(1.0) == pytest.approx(0.5)


@pytest.mark.parametrize("r", [0.05, 0.3])
def test_the_median_of_a_tail_is_below_its_mean(r):
    """The load at which the edge is the upper ``r/2`` quantile, and more than with the mean."""
    load = critical_load_of_median(r)
    assert hinge_edge(1 / load) == pytest.approx(-special.ndtri(r / 2))
    assert load > critical_load(r)


def test_first_moments_give_another_loss():
    """The law with second moments is fifty times nearer to the solution than the one with first moments."""
    r, excess = 0.15, 1e-6
    load = float(critical_load(r)) * (1 + excess)
    exact, law = float(solve_unsat(load, r, 30.0).loss), crossover(load, r, 0.0).loss
    assert abs(loss_of_first_moments(load, r) - exact) > 50 * abs(law - exact)


def test_first_moments_balance():
    """With the edge of the variant as the limit, the width makes its entropy: a value done by hand."""
    r, load = 0.5, float(critical_load(0.5)) * 1.2
    lacking = 1 / float(critical_load(r)) - 1 / load
    kappa = np.sqrt(2 / np.pi)
    grid = np.linspace(-9, kappa, 20_001)
    first = np.array([t * special.ndtr(t) + np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi) for t in grid])
    tau = np.interp(lacking, first, grid)
    G = np.linspace(-9, 9, 200_001)
    A = np.clip((kappa - G) / (kappa - tau), 0, 1)
    density = np.exp(-(G**2) / 2) / np.sqrt(2 * np.pi)
    entropy = special.entr(A) + special.entr(1 - A)
    expected = (density * entropy).sum() * (G[1] - G[0])
    assert loss_of_first_moments(load, r) == pytest.approx(expected, rel=1e-4)
