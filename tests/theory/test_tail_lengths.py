"""What unequal lengths cost a key: against the definition, closed forms and a general solver."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from assocmem.theory.kinematics import pooled_moments
from assocmem.theory.ridgeless import critical_load
from assocmem.theory.tail_lengths import limiting_cost, projection_cost, simulated_cost


def excess(s, w, k):
    """By how much a signal falls short of the tail average of its competitors."""
    weighted = w * s
    return np.sort(weighted[1:])[::-1][:k].mean() - weighted[0]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_squared_distance_is_that_of_a_general_solver(k):
    rng = np.random.default_rng(k)
    g, w = rng.standard_normal(6), rng.uniform(0.7, 1.3, 6)
    g[0] -= 1.0
    # A tail average is the largest average over k competitors: one smooth constraint for each choice.
    sets = [np.isin(np.arange(1, 6), which) for which in combinations(range(1, 6), k)]
    constraints = [
        {"type": "ineq", "fun": lambda s, m=m: w[0] * s[0] - (w[1:] * s[1:])[m].mean()} for m in sets
    ]
    found = minimize(lambda s: ((s - g) ** 2).sum(), 3 * np.eye(6)[0], constraints=constraints, tol=1e-9)
    assert projection_cost(g[None], w[None] ** 2, k)[0] == pytest.approx(found.fun, abs=1e-5)


@given(st.integers(0, 10**6), st.integers(2, 30), st.floats(0, 1), st.floats(0.1, 10))
@settings(max_examples=40, deadline=None)
def test_cost_is_zero_inside_the_cone_and_grows_with_the_square_of_the_vector(seed, n, share, factor):
    rng = np.random.default_rng(seed)
    k = 1 + int(share * (n - 2))
    g, w = rng.standard_normal(n), rng.uniform(0.5, 2, n)
    cost = projection_cost(g[None], w[None] ** 2, k)[0]
    assert (cost == 0) == (excess(g, w, k) <= 0)
    assert projection_cost(factor * g[None], w[None] ** 2, k)[0] == pytest.approx(factor**2 * cost, rel=1e-6)
    scaled = projection_cost(g[None], (factor * w[None]) ** 2, k)[0]
    assert scaled == pytest.approx(cost, rel=1e-6)


def test_all_competitors_are_a_half_space():
    rng = np.random.default_rng(0)
    g, w = rng.standard_normal((50, 8)), rng.uniform(0.5, 2, (50, 8))
    normal = np.concatenate([w[:, :1], -w[:, 1:] / 7], axis=1)
    distance = np.minimum((normal * g).sum(1), 0) ** 2 / (normal**2).sum(1)
    np.testing.assert_allclose(projection_cost(g, w**2, 7), distance, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(("n", "k"), [(30, 1), (40, 6), (60, 24)])
def test_equal_lengths_cost_what_the_kinematic_formula_says(n, k):
    g = np.random.default_rng(n).standard_normal((5000, n))
    cost = projection_cost(g, np.ones(g.shape), k)
    error = cost.std() / math.sqrt(len(cost))
    assert cost.mean() == pytest.approx(pooled_moments(n, k)[0], abs=4 * error)


@pytest.mark.parametrize("r", [0.15, 0.4])
def test_many_pairs_cost_the_limit(r):
    n = 1500
    d = math.sqrt(n / float(critical_load(r)))
    cost, error = simulated_cost(n, math.ceil(r * (n - 1)), d, draws=500, seed=1)
    limit = limiting_cost(r) / d
    assert cost == pytest.approx(limit, abs=4 * error + 0.03 * limit)
    assert error < 0.12 * limit


def test_the_limit_grows_as_tails_become_small():
    costs = [limiting_cost(r) for r in (0.9, 0.5, 0.1, 0.01, 1e-6)]
    assert np.all(np.diff(costs) > 0)
    assert limiting_cost(1 - 1e-9) == pytest.approx(0, abs=1e-6)


def test_the_same_seed_gives_the_same_cost():
    first, again = (simulated_cost(20, 3, 8, draws=50, seed=2) for _ in range(2))
    assert first == again


@pytest.mark.parametrize(
    ("change", "name"), [({"k": 20}, "k"), ({"n": 1}, "n"), ({"d": 0.5}, "d"), ({"draws": 1}, "draws")]
)
def test_what_cannot_be_simulated_is_refused(change, name):
    with pytest.raises(ValueError, match=f"^{name} = "):
        simulated_cost(**{"n": 20, "k": 3, "d": 8, "draws": 10, "seed": 0} | change)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"^squares = "):
        projection_cost(np.zeros((2, 4)), np.ones((2, 5)), 1)
    with pytest.raises(ValueError, match="^r = "):
        limiting_cost(1.0)
