"""Losses read as loads, and the scatter of loads."""

import numpy as np
import pytest

from assocmem.experiments.tail_average.loss_as_load import load_scatter, read_load, read_load_of_norm
from assocmem.theory.kinematics import retrieval_probability


def test_a_loss_of_the_theory_is_read_as_its_load():
    loads = np.array([0.1, 0.2, 0.3])
    losses = np.array([1e-6, 1e-3, 1.0])
    np.testing.assert_allclose(read_load(losses, loads, losses), loads)
    assert read_load(10**-1.5, loads, losses) == pytest.approx(0.25)


def test_a_norm_of_the_theory_is_read_as_its_load_on_either_side():
    loads, nus = np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.array([1.0, 10.0, 100.0, 1.0, 0.1])
    np.testing.assert_allclose(read_load_of_norm(nus[:3], loads, nus, below=True), loads[:3])
    np.testing.assert_allclose(read_load_of_norm(nus[2:], loads, nus, below=False), loads[2:])
    assert read_load_of_norm(1000.0, loads, nus, below=True) == pytest.approx(0.3)
    assert read_load_of_norm(10.0, loads, nus, below=False) == pytest.approx(0.35)


def test_the_scatter_falls_like_a_root():
    one, other = load_scatter([100, 400], 0.15)
    assert one == pytest.approx(2 * other)
    assert 0 < other < 0.1


@pytest.mark.parametrize("share", [0.16, 0.84])
def test_the_scatter_is_the_width_of_the_transition(share):
    """One standard deviation from the half point the kinematic probability is that of a normal law."""
    n, k = 1000, 150
    d = np.linspace(50, 70, 2001)
    p = retrieval_probability(n, d, k=k)
    half, there = (np.interp(level, p, d**2 / n) for level in (0.5, share))
    assert abs(there / half - 1) == pytest.approx(load_scatter(n, 0.15), rel=0.1)
