"""The largest margin in the picture of independent directions: against simulation, limits and the cone."""

import math

import numpy as np
import pytest

from assocmem.theory.kinematics import statistical_dimension
from assocmem.theory.margin_law import largest_margin_law, margin_distance, margin_limit


def distances(n, kappa, count, seed):
    """Squared distances of Gaussian columns to what a margin asks, by pooling the best competitors."""
    rng = np.random.default_rng(seed)
    g = rng.standard_normal((count, n))
    signal, rivals = g[:, 0] - kappa, -np.sort(-g[:, 1:], axis=1)
    pooled = (signal[:, None] + rivals.cumsum(axis=1)) / np.arange(2, n + 1)
    levels = np.column_stack([signal, pooled])
    nearest = np.column_stack([rivals, np.full(count, -np.inf)])
    level = levels[np.arange(count), (levels >= nearest).argmax(axis=1)]  # the first that no other is above
    return np.maximum(level - signal, 0) ** 2 + (np.maximum(rivals - level[:, None], 0) ** 2).sum(axis=1)


@pytest.mark.parametrize(("n", "kappa"), [(3, 0.7), (10, 0.3), (10, 3.0), (200, 1.0), (200, 6.0), (50, 18.0)])
def test_distances_are_those_of_a_simulation(n, kappa):
    found = distances(n, kappa, 40_000, seed=1)
    error = found.std() / math.sqrt(len(found))
    assert margin_distance(n, kappa) == pytest.approx(found.mean(), abs=4 * error)
    assert margin_distance(n, 1.1 * kappa + 0.1) > found.mean() + 4 * error


@pytest.mark.parametrize("n", [3, 30, 1e4, 1e12])
def test_no_margin_asks_for_the_cone(n):
    assert margin_distance(n, 0) == pytest.approx(statistical_dimension(n), rel=1e-7)
    critical = statistical_dimension(n) / math.log(n)
    assert largest_margin_law(n, 0.999 * critical) == 0
    assert 0 < largest_margin_law(n, 1.001 * critical) < 0.02 * math.sqrt(math.log(n))


def test_the_law_is_the_inverse_of_the_distance():
    kappa = largest_margin_law(300, 4)
    assert margin_distance(300, kappa) == pytest.approx(4 * math.log(300), rel=1e-8)
    assert margin_distance(300, kappa - 0.1) < 4 * math.log(300) < margin_distance(300, kappa + 0.1)


def test_it_tends_to_its_limit_slowly_and_from_above():
    above = [largest_margin_law(10.0**e, 4) / margin_limit(e * math.log(10), 4) for e in (2, 12)]
    assert above[0] > 1.7
    assert 1.2 < above[1] < 1.3
    assert margin_limit(10, 1.9) == 0
    assert margin_limit(9.0, 8) == pytest.approx(3 * math.sqrt(2))


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: margin_distance(2, 1), "n = 2: must be in [3, 1e12]"),
        (lambda: margin_distance(30, -1), "kappa = -1: must be in [0, 20]"),
        (lambda: largest_margin_law(30, 0), "ratio = 0: must be a finite number > 0"),
        (lambda: largest_margin_law(100, 1000), "ratio = 1000: must be at most 86.86 for n = 100"),
        (lambda: margin_limit(0, 3), "log_n = 0: must be a finite number > 0"),
    ],
)
def test_refusals(call, line):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == line
