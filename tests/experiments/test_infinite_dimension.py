"""Limits at infinite dimension of measurements that are polynomials in 1/d, or powers of it."""

import numpy as np
import pytest

from assocmem.book.claims import check
from assocmem.experiments.infinite_dimension import (
    boundary_ratio,
    decay_exponent,
    extrapolate,
    extrapolate_pooled,
    limit_evidence,
)
from assocmem.experiments.tail_average.phase import ByDimension

D = np.array([10, 16, 24, 40])


def measured(limit, slope, bend=0.0, noise=1e-3, instances=6, seed=0):
    rng = np.random.default_rng(seed)
    mean = limit + slope / D + bend / D**2
    return mean[:, None] + noise * rng.standard_normal((len(D), instances)) / D[:, None]


def test_a_parabola_is_followed_to_its_end():
    found = extrapolate(D, measured(2.0, 3.0, -5.0))
    assert len(found.polynomial) == 3
    assert found.value == pytest.approx(2.0, abs=4 * found.error)
    assert 0 < found.error < 1e-3


def test_the_degree_is_lowered_where_dimensions_are_few():
    x = measured(2.0, 3.0)
    assert len(extrapolate(D[-3:], x[-3:]).polynomial) == 2
    assert len(extrapolate(D, x, 1).polynomial) == 2


def test_groups_of_different_sizes_are_pooled():
    rows = np.stack([measured(2.0, 3.0), measured(-1.0, 1.0, seed=1)], axis=2)
    groups = {int(d): x[: 1 + 5 * (d < 40)] for d, x in zip(D, rows, strict=True)}
    assert len(groups[40]) == 1
    limits, errors = extrapolate_pooled(groups)
    np.testing.assert_allclose(limits, [2, -1], atol=4 * errors.max())
    assert (errors > 0).all() and errors.max() < 1e-2


@pytest.mark.parametrize("power", [1, 0.5])
def test_the_two_powers_of_a_ratio_make_an_uncertainty(power):
    d = np.array([10.0, 20.0, 40.0])
    predicted = np.array([0.2, 0.21, 0.22])
    points = ByDimension(d, predicted * (1 + 0.3 / d**power), np.full(3, 1e-9), predicted)
    limit, uncertainty = boundary_ratio(points)
    assert abs(limit - 1) <= uncertainty + 1e-9
    assert (abs(limit - 1) < 1e-6) == (power == 1)
    assert uncertainty > 1e-3


def test_evidence_is_four_standard_errors():
    limits = [extrapolate(D, measured(2.0, 3.0)), extrapolate(D, measured(1.0, 0.0, seed=1))]
    right = limit_evidence(
        "theorem-2", "limits", limits, kind="simulation", predicted=[2, 1], falsehood=("others", [1, 2])
    )
    assert right["tolerance"] == [4 * x.error for x in limits]
    assert check(**right).verdict == "holds"
    wrong = limit_evidence(
        "theorem-2", "limits", limits, kind="simulation", predicted=[1, 2], falsehood=("others", [2, 1])
    )
    assert check(**wrong).verdict == "does not hold"


def test_the_exponent_of_a_scatter():
    x = np.random.default_rng(3).standard_normal((len(D), 200)) / D[:, None] ** 0.7
    exponent, low, high = decay_exponent(D, x, lambda y: y.std(axis=1, ddof=1), seed=1)
    assert low < exponent < high
    assert low < 0.7 < high
    assert high - low < 0.3
    assert decay_exponent(D, x, lambda y: y.std(axis=1, ddof=1), seed=1) == (exponent, low, high)


def test_instances_that_are_all_alike_say_nothing_of_their_scatter():
    x = measured(2.0, 3.0)
    x[1] = x[1].mean()
    found = extrapolate(D, x)
    assert found.value == pytest.approx(2.0, abs=4 * found.error)
    assert found.error > 1e-5
    evidence = limit_evidence(
        "proposition-7",
        "a share",
        [extrapolate(D, np.zeros((4, 3)))],
        kind="simulation",
        predicted=0.1,
        falsehood=("much", 0.5),
    )
    assert check(**evidence).verdict == "not yet"
