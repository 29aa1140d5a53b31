"""Costs of facts: distances by brute force, closed forms, and what Gaussian targets cost."""

import numpy as np
import pytest
from scipy.optimize import minimize

from assocmem.experiments.words.fact_costs import fact_costs, squared_distance
from assocmem.theory.kinematics import statistical_dimension


def test_a_vector_in_the_cone_costs_nothing():
    targets = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    assert squared_distance(targets, 0, np.array([3.0, 0.5])) == pytest.approx(0, abs=1e-12)


def test_two_targets_ask_for_a_half_space():
    rng = np.random.default_rng(0)
    targets, z = rng.standard_normal((5, 2)), rng.standard_normal(5)
    difference = targets[:, 1] - targets[:, 0]
    excess = max(0.0, difference @ z) ** 2 / (difference @ difference)
    assert squared_distance(targets, 0, z) == pytest.approx(excess, abs=1e-12)


def test_a_target_inside_the_others_leaves_nothing_but_zero():
    targets = np.array([[1.0, -1.0, 0.0, 0.1], [-1.0, -1.0, 2.0, 0.0]])
    z = np.array([0.3, -2.0])
    assert squared_distance(targets, 3, z) == pytest.approx(z @ z)


@pytest.mark.parametrize("seed", range(4))
def test_distances_are_those_of_a_minimisation(seed):
    rng = np.random.default_rng(seed)
    targets, z = rng.standard_normal((3, 7)), 2 * rng.standard_normal(3)
    rows = targets[:, [0]].T - np.delete(targets, 0, axis=1).T
    cone = {"type": "ineq", "fun": lambda x: rows @ x, "jac": lambda x: rows}
    found = minimize(
        lambda x: (x - z) @ (x - z), targets[:, 0], jac=lambda x: 2 * (x - z), constraints=cone, tol=1e-12
    )
    assert squared_distance(targets, 0, z) == pytest.approx(found.fun, abs=1e-5)


def test_gaussian_targets_cost_the_statistical_dimension():
    """In as many dimensions as there are targets, where differences of targets are all but independent."""
    rng = np.random.default_rng(1)
    targets = rng.standard_normal((60, 40))
    costs = fact_costs(targets, np.arange(40), np.zeros((60, 40)), np.zeros(1), draws=10, seed=2)
    error = costs.std() / np.sqrt(40)
    assert costs.mean() == pytest.approx(statistical_dimension(40), abs=4 * error)


def test_a_rule_that_leads_right_costs_less_and_one_that_leads_astray_more():
    rng = np.random.default_rng(3)
    targets, answers = rng.standard_normal((6, 20)), np.arange(20)
    at = {"draws": 4, "seed": 4}
    right = fact_costs(targets, answers, targets, np.array([0.0, 1.0]), **at)
    wrong = fact_costs(targets, answers, -targets, np.array([0.0, 1.0]), **at)
    np.testing.assert_array_equal(right[:, 0], wrong[:, 0])
    assert right[:, 1].mean() < right[:, 0].mean() < wrong[:, 1].mean()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"leads": np.zeros((3, 5))}, "leads = 'shape"),
        ({"strengths": [np.nan]}, "strengths ="),
        ({"draws": 0}, "draws = 0"),
        ({"answers": np.array([0, 9, 1, 1])}, "answer = 9: must be below m = 5"),
    ],
)
def test_bad_arguments_are_named(change, message):
    good = {"targets": np.eye(3, 5), "answers": np.arange(4), "leads": np.zeros((3, 4)), "strengths": [0.0]}
    with pytest.raises(ValueError, match=message):
        fact_costs(**good | {"draws": 1, "seed": 0} | change)
