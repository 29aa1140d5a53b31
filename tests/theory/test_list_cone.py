"""The bound of lists for any memory: exact cases, draws with a search for the level, and its limits."""

import math

import numpy as np
import pytest
from scipy import optimize

from assocmem.theory.kinematics import pool, statistical_dimension
from assocmem.theory.list_cone import list_bound, list_shift
from assocmem.theory.lists import list_capacity, list_quantile


def distance(signal, rivals):
    """Squared distance to the cone by a search for the level, and nothing else."""

    def squares(t):
        return max(t - signal, 0) ** 2 + (np.maximum(rivals - t, 0) ** 2).sum()

    ends = sorted((signal - 1.0, max(signal, rivals.max()) + 1.0))
    return optimize.minimize_scalar(squares, bounds=ends, method="bounded", options={"xatol": 1e-9}).fun


@pytest.mark.parametrize("n", [2, 3, 10, 392, 1e6, 1e12])
def test_for_first_place_it_is_the_statistical_dimension(n):
    """The cone is convex then, and the mean dimension of a face is another way to the same number."""
    assert list_bound(n) == pytest.approx(statistical_dimension(n), rel=1e-8)


def test_the_last_place_is_a_matter_of_two_numbers():
    """Signal and smallest competitor meet half way: ``E (y - G)_+^2 / 2``."""
    assert list_bound(2, 1) == pytest.approx(0.5, abs=1e-9)
    y, z = np.meshgrid(*2 * [np.linspace(-9, 9, 1801)])
    weights = np.exp(-(y**2 + z**2) / 2) / (2 * math.pi) * 1e-4
    survival = 1 - np.cumsum(weights.sum(axis=0))  # of y
    least = 4 * weights * survival[None, :] ** 3  # the smallest of four
    assert list_bound(5, 4) == pytest.approx((np.maximum(y - z, 0) ** 2 * least).sum() / 2, rel=0.02)


@pytest.mark.parametrize(("n", "k"), [(3, 2), (8, 3), (30, 1), (30, 2), (30, 12), (200, 7)])
def test_it_is_the_mean_of_draws_with_the_level_searched_for(n, k):
    rng, found = np.random.default_rng([n, k]), []
    for g in rng.standard_normal((3000, n)):
        rivals = np.sort(g[1:])[::-1][k - 1 :]
        found.append(distance(g[0], rivals) if rivals[0] > g[0] else 0.0)
    assert abs(list_bound(n, k) - np.mean(found)) < 4 * np.std(found) / math.sqrt(len(found))


def test_the_search_finds_what_pooling_does():
    for g in np.random.default_rng(0).standard_normal((20, 15)):
        rivals = np.sort(g[1:])[::-1][2:]
        level, count = pool(float(g[0]), rivals)
        squares = ((rivals[:count] - level) ** 2).sum() + (level - g[0]) ** 2 if count else 0.0
        assert distance(g[0], rivals) == pytest.approx(squares, abs=1e-9)


def test_no_draw_is_cheaper_with_other_competitors_left_alone():
    """The k - 1 best are the ones to leave: all subsets tried on small columns."""
    from itertools import combinations

    for g in np.random.default_rng(1).standard_normal((30, 6)):
        rivals = np.sort(g[1:])[::-1]
        best = distance(g[0], rivals[2:])
        others = [distance(g[0], np.delete(rivals, left)) for left in combinations(range(5), 2)]
        assert best <= min(others) + 1e-9


def test_it_decreases_with_the_place_and_grows_with_the_pairs():
    places = [list_bound(50, k) for k in (1, 2, 5, 25, 49)]
    assert np.all(np.diff(places) < 0)
    assert places[-1] > 0
    assert list_bound(1e12, 10**12 - 1) >= 0
    sizes = [list_bound(n, 3) for n in (4, 10, 1e4, 1e8)]
    assert np.all(np.diff(sizes) > 0)


def test_no_memory_needs_more_than_the_tail_average_or_the_cone_of_lists():
    for n, k in ((100, 4), (1000, 32), (1e6, 8)):
        assert list_bound(n, k) < min(statistical_dimension(n, k), 1 / list_capacity(k / n))


@pytest.mark.parametrize("r", [0.05, 0.15, 0.4])
def test_at_a_fixed_share_it_is_the_cone_of_lists_in_the_limit(r):
    """From below, by ``(4/3) q sqrt(2 / k)`` in the end where that is small, and in any case as n^(-1/2)."""
    short = np.array([1 / list_capacity(r) - list_bound(n, round(r * n)) for n in (1e4, 1e6, 1e8)])
    assert np.all(short > 0)
    np.testing.assert_allclose(short[1:] / short[:-1], 0.1, rtol=0.1)
    assert short[2] < 1.5e-3


def test_far_above_the_logarithm_it_falls_short_of_the_cone_as_derived():
    n, k = 1e12, 10**5
    short = 1 / list_capacity(k / n) - list_bound(n, k)
    assert short == pytest.approx(4 / 3 * list_quantile(k / n) * math.sqrt(2 / k), rel=0.02)


def test_the_way_between_is_a_function_of_the_place_over_the_logarithm():
    far = []
    for n in (1e6, 1e12):
        moved = np.array([list_bound(n, k) - list_bound(n, 1) for k in (2, 8, 32, 128)])
        far.append(np.abs(moved - list_shift((np.array([2, 8, 32, 128]) - 1) / math.log(n))).max())
    assert far[1] < far[0] < 0.15
    assert far[1] < 0.06


def test_the_ends_of_that_function():
    ratio = np.array([1e4, 1e8, 1e12])
    np.testing.assert_allclose(
        list_shift(ratio), -2 * np.log(ratio / 2) - 2, atol=8 / 3 / math.sqrt(1e4) * 1.2
    )
    assert list_shift(1e12) == pytest.approx(-2 * math.log(1e12 / 2) - 2, abs=1e-5)
    assert list_shift(0) == 0
    x = 1e-9 / 2
    assert list_shift(1e-9) == pytest.approx(-x * (math.log(x) ** 2 - 2 * math.log(x) + 2), rel=1e-5)
    assert np.all(np.diff(list_shift(np.logspace(-6, 12, 50))) < 0)
    assert list_shift([[1.0, 2.0]]).shape == (1, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: list_bound(1, 1), r"n = 1: must be in \[2, 1e12\]"),
        (lambda: list_bound(1e13, 1), r"n = 1.*: must be in"),
        (lambda: list_bound(10, 0), "k = 0: must be an integer >= 1"),
        (lambda: list_bound(10, 1.5), "k = 1.5: must be an integer"),
        (lambda: list_bound(10, 10), "k = 10: must be at most n - 1 = 9"),
        (lambda: list_shift(-1), "ratio = -1: must be in"),
        (lambda: list_shift(math.nan), "ratio = nan: must be in"),
    ],
)
def test_sizes_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
