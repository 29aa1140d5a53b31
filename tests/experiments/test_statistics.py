"""Lines, polynomials in 1/d and powers of d."""

import numpy as np
import pytest

from assocmem.experiments.statistics import line_through, pooled_errors, power_law, through_inverse


def test_lines_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    x = np.linspace(1, 2, 7)
    y = 1 - 3 * x + 0.1 * rng.standard_normal(7)
    slope = ((x - x.mean()) * y).sum() / ((x - x.mean()) ** 2).sum()
    free, fixed = line_through(x, y), line_through(x, y, slope=-3.0)
    assert (free.slope, free.intercept) == pytest.approx((slope, y.mean() - slope * x.mean()))
    scatter = ((y - free.intercept - slope * x) ** 2).sum() / 5
    assert free.slope_error == pytest.approx((scatter / ((x - x.mean()) ** 2).sum()) ** 0.5)
    assert fixed.intercept == pytest.approx((y + 3 * x).mean())
    assert fixed.slope_error == 0
    with pytest.raises(ValueError, match="x = '2 points': must be at least 3"):
        line_through(x[:2], y[:2])


def test_points_weigh_by_their_errors():
    heavier = line_through([0, 1, 2], [0, 1, 3], error=[0.1, 0.1, 100])
    assert heavier.slope == pytest.approx(1, abs=1e-3)
    assert heavier.slope_error == pytest.approx(0.1 * 2**0.5, rel=1e-3)
    fixed = line_through([0, 1, 2], [0, 1, 3], error=[0.1, 0.1, 100], slope=1.0)
    assert fixed.intercept == pytest.approx(0, abs=1e-5)


def test_an_exact_polynomial_is_followed_to_its_limit():
    d = np.array([10, 20, 40, 80])
    polynomial, error = through_inverse(d, 3 - 2 / d + 5 / d**2, np.full(4, 0.1), degree=2)
    np.testing.assert_allclose(polynomial, [5, -2, 3], rtol=1e-9)
    assert error > 0.1


def test_the_error_is_that_of_the_limit():
    rng, d = np.random.default_rng(0), np.array([10, 20, 40])
    limits = [through_inverse(d, 1 + 1 / d + rng.normal(0, 0.1, 3), np.full(3, 0.1)) for _ in range(4000)]
    assert np.std([p[-1] for p, _ in limits]) == pytest.approx(limits[0][1], rel=0.05)


def test_pooled_errors_are_those_of_a_scatter_that_falls_with_d():
    rng, d = np.random.default_rng(1), np.array([10, 20, 50])
    groups = [rng.normal(0, 3 / x, size) for x, size in zip(d, (2000, 500, 1), strict=True)]
    np.testing.assert_allclose(pooled_errors(d, groups), 3 / d / np.sqrt([2000, 500, 1]), rtol=0.05)


def test_what_cannot_be_followed_is_refused():
    with pytest.raises(ValueError, match="d = '2 dimensions': must be at least 3"):
        through_inverse([10, 20], [1, 2], [0.1, 0.1], degree=2)
    with pytest.raises(ValueError, match="error = .*: must be positive"):
        through_inverse([10, 20], [1, 2], [0.1, 0.0])
    with pytest.raises(ValueError, match="groups = .*: must be at least one with two members"):
        pooled_errors([10, 20], [[1], [2]])


def test_power_law_finds_an_exact_power():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(400)
    noise /= np.sqrt(np.mean(noise**2))
    law = power_law({d: 3 * d**-1.5 * noise for d in (10, 20, 40)})
    assert law.exponent == pytest.approx(-1.5, abs=1e-10)
    assert law.factor == pytest.approx(3, rel=1e-9)
    assert law(20) == pytest.approx(law.size[1])


@pytest.mark.parametrize("spread", [False, True])
def test_power_law_covers_the_truth(spread):
    rng = np.random.default_rng(2)
    misses, errors = [], []
    for _ in range(200):
        groups = {d: 7 * spread + d**-0.5 * rng.standard_normal(30) for d in (8, 16, 32, 64)}
        law = power_law(groups, spread=spread)
        misses.append((law.exponent + 0.5) / law.deviation)
        errors.append(law.exponent + 0.5)
    assert abs(np.mean(errors)) < 0.02
    assert np.mean(np.abs(misses) < 2) > 0.9


@pytest.mark.parametrize("spread", [False, True])
def test_power_law_of_sizes_that_one_instance_has_alone(spread):
    law = power_law({d: [0, 1 / d, 0] for d in (8, 16, 32)}, spread=spread)
    assert law.exponent == pytest.approx(-1)
    assert np.isfinite([law.deviation, *law.error]).all()
    same = power_law({8: [2, 2, 2], 16: [1, 2, 3], 32: [1, 2, 3]}, spread=True)  # no spread at all at one
    assert np.isfinite([same.exponent, same.deviation]).all()


def test_power_law_refuses_what_cannot_be_fitted():
    with pytest.raises(ValueError, match="groups = '2 dimensions': must be at least three"):
        power_law({8: [1, 2], 16: [1, 2]})
    with pytest.raises(ValueError, match="groups = '1 instances at d = 8'"):
        power_law({8: [1], 16: [1, 2], 32: [1, 2]})
    with pytest.raises(ValueError, match="finite and not all zero"):
        power_law({8: [1, np.nan], 16: [1, 2], 32: [1, 2]})
