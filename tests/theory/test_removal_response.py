"""Constants of a removal: by other integrals, by simulation of their ingredients, and where they vanish."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from assocmem.theory.removal_response import removal_response
from assocmem.theory.scalar import solve_scalar

POINT = {"load": 0.25, "r": 0.2, "beta": 3.0, "ridge": 0.5}


def solution(**changes):
    point = POINT | changes
    return solve_scalar(point["load"], point["r"], beta=point["beta"], ridge=point["ridge"])


SOLUTION = solution()
RESPONSE = removal_response(SOLUTION)


def test_constants_are_those_of_an_adaptive_integration():
    def mean(f):
        return integrate.quad(lambda z: f(z) * stats.norm.pdf(z), -12, 12, epsabs=1e-13, limit=200)[0]

    def bend(z):
        q = special.expit(3 * (SOLUTION.nu * z - SOLUTION.mu))
        return 3 * q * (1 - q)

    assert RESPONSE.slope == pytest.approx(mean(bend) / 0.2, rel=1e-10)
    assert RESPONSE.across == pytest.approx(np.sqrt(mean(lambda z: bend(z) ** 2) / 0.25) / 0.2, rel=1e-10)
    # By parts: nu E phi''' = E Z phi''.
    assert RESPONSE.along == pytest.approx(abs(mean(lambda z: z * bend(z))) / 0.2, rel=1e-10)


def test_the_average_of_independent_targets_has_this_length():
    d, n = 64, 1024
    rng = np.random.default_rng(1)
    found = []
    for _ in range(40):
        u = rng.standard_normal((d, n)) / np.sqrt(d)
        q = special.expit(3 * (SOLUTION.nu * np.sqrt(d) * u[0] - SOLUTION.mu))
        found.append(np.square(u @ (3 * q * (1 - q)) / (0.2 * n)).sum())
    assert np.sqrt(np.mean(found)) == pytest.approx(RESPONSE.gradient(d), rel=0.02)


def test_half_the_competitors_make_the_slow_part_vanish_and_no_other_share():
    half = removal_response(solution(r=0.5))
    assert half.along < 1e-12
    assert half.gradient(40) == pytest.approx(half.across / 40)
    assert removal_response(solution(r=0.45)).along > 0.05
    assert removal_response(solution(r=0.55)).along > 0.05


def test_the_motion_is_the_derivative_of_the_susceptibility():
    """``steep = -d chi / d(ridge alpha)`` with the laws of the weights held still, by differences."""
    s = SOLUTION
    Z = np.linspace(-12, 12, 20001)
    weights = stats.norm.pdf(Z) / stats.norm.pdf(Z).sum()
    a = special.expit(-s.margin.quantile(special.ndtr(Z.clip(-8, 8))))
    b = a * (1 - a)
    rest = 1 / s.chi - 0.25 * (weights @ (b / (1 + b * s.chi)))

    def ridge(chi):
        return 1 / chi - 0.25 * (weights @ (b / (1 + b * chi))) - rest

    steep = -2e-4 / (ridge(s.chi + 1e-4) - ridge(s.chi - 1e-4))
    assert RESPONSE.moved == pytest.approx(np.sqrt(steep * (weights @ a**2)), rel=1e-4)


def test_parts_add_up_in_squares_and_corrections_vanish():
    d = 50
    averaged = RESPONSE.gradient(d) * 1.5 / d
    newcomer = RESPONSE.newcomer / d**2
    assert (RESPONSE.slope * RESPONSE.threshold(d, 1.5)) ** 2 == pytest.approx(averaged**2 + newcomer**2)
    assert RESPONSE.score_share(50) < RESPONSE.score_share(500) < 1
    assert 500 * (1 - RESPONSE.score_share(500)) == pytest.approx(8 * RESPONSE.stiffness, rel=0.02)


def test_several_points_are_refused():
    with pytest.raises(ValueError, match="solution = '2 points': must be of a single point"):
        removal_response(solve_scalar([0.25, 0.3], 0.2, beta=3.0, ridge=0.5))
