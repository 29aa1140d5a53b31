"""Bounds on the norm scale: around the theory, and in limits where they have closed forms."""

import math

import pytest

from assocmem.theory.norm_bounds import largest_square, least_norm, outer_product_objective
from assocmem.theory.scalar import solve_scalar


@pytest.mark.parametrize(
    "at",
    [
        {"load": 0.6, "r": 0.15, "beta": 3.0, "ridge": 0.01},
        {"load": 0.1, "r": 0.5, "beta": 10.0, "ridge": 1.0},
    ],
)
def test_the_theory_lies_between_the_bounds(at):
    upper = math.sqrt(largest_square(at["r"], at["beta"], at["ridge"]))
    assert 0 < least_norm(**at) < solve_scalar(**at).nu < upper


def test_the_upper_bound_in_numbers():
    assert largest_square(0.5, 2.0, 4.0) == pytest.approx(math.log(2))


def test_the_objective_of_small_multiples_is_the_loss_of_equal_scores():
    """Scores that are all zero have the threshold 0 at r = 1/2, and the tail average ``2 log 2 / beta``."""
    value = outer_product_objective(1e-9, 0.3, 0.5, beta=2.0, ridge=0.1)
    assert value == pytest.approx(math.log(1 + math.exp(math.log(2))), abs=1e-8)


def test_without_load_a_multiple_has_no_noise():
    """Signal t against a tail average of equal scores, ``2 log 2 / beta`` for r = 1/2."""
    value = outer_product_objective(3.0, 1e-12, 0.5, beta=2.0, ridge=0.1)
    assert value == pytest.approx(math.log(1 + math.exp(math.log(2) - 3)), abs=1e-5)
