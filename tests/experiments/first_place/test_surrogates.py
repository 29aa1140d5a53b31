"""Score directions of less structure, and the verdict whether they have a solution."""

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.first_place.norm_peak import train_cross_entropy
from assocmem.experiments.first_place.surrogates import (
    STRUCTURES,
    _projection_cost,
    meets_cone,
    pooled_with_norms,
    scale_exponent,
    score_directions,
    trained,
)
from assocmem.pairs.data import gaussian_pairs
from assocmem.theory.kinematics import pooled_moments, retrieval_probability, statistical_dimension


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: s.name)
def test_directions_share_what_their_structure_says(structure):
    A = score_directions(structure, 5, 3, seed=1)
    assert A.shape == (5, 5, 9)
    assert torch.equal(A, score_directions(structure, 5, 3, seed=1))
    matrices = A.reshape(5, 5, 3, 3)
    ranks = torch.linalg.matrix_rank(matrices, rtol=1e-9)
    assert bool((ranks == (1 if structure.product else 3)).all())
    if structure.unit:
        torch.testing.assert_close(A.norm(dim=-1), torch.ones(5, 5, dtype=A.dtype))
    rows_of = lambda j, i: matrices[j, i] / matrices[j, i].norm()  # noqa: E731
    same_column_space = torch.linalg.matrix_rank(torch.cat([rows_of(0, 0), rows_of(0, 1)], dim=1), rtol=1e-9)
    same_row_space = torch.linalg.matrix_rank(torch.cat([rows_of(0, 0), rows_of(1, 0)]), rtol=1e-9)
    assert (int(same_column_space) == 1) == (structure.product and structure.same_targets)
    assert (int(same_row_space) == 1) == (structure.product and structure.same_keys)


def test_verdicts_on_shared_directions_are_those_on_pairs():
    answers = []
    for seed in range(12):
        pairs = gaussian_pairs(20, 7 + seed % 2, seed=seed)
        A = torch.einsum("aj,bi->jiab", pairs.U, pairs.V).reshape(20, 20, -1)
        answers.append(meets_cone(A))
        assert answers[-1] == decide_top1(pairs).feasible
    assert 0 < sum(answers) < 12


@pytest.mark.parametrize("structure", [STRUCTURES[0], STRUCTURES[3]], ids=lambda s: s.name)
def test_verdicts_are_those_of_linear_programming(structure):
    answers = []
    for seed in range(10):
        A = score_directions(structure, 12, 5, seed=seed)
        differences = (A - A.diagonal(dim1=0, dim2=1).T).transpose(0, 1)[~torch.eye(12, dtype=torch.bool)]
        asked = {"A_ub": differences.numpy(), "b_ub": -np.ones(132), "bounds": (None, None)}
        answers.append(meets_cone(A))
        assert answers[-1] == (linprog(np.zeros(25), **asked).status == 0)
    assert 0 < sum(answers) < 10


def test_opposite_demands_have_no_solution():
    A = torch.zeros(2, 2, 2, dtype=torch.float64)
    A[0, 0], A[1, 1] = torch.tensor([1.0, 0.0]), torch.tensor([-1.0, 0.0])
    assert meets_cone(A) is False
    A[1, 1] = torch.tensor([-1.0, 0.1])
    assert meets_cone(A) is True


def test_independent_directions_follow_the_kinematic_formula():
    n, d, trials = 12, 5, 300
    found = sum(meets_cone(score_directions(STRUCTURES[0], n, d, seed=s)) for s in range(trials))
    share = retrieval_probability(n, d)
    assert found / trials == pytest.approx(share, abs=3.5 * np.sqrt(share * (1 - share) / trials))
    assert abs(retrieval_probability(n, d, shift=0.4) - share) > 4.5 * np.sqrt(share * (1 - share) / trials)


@pytest.mark.parametrize("n", [12, 24])
def test_training_on_shared_directions_is_training_on_pairs(n):
    pairs = gaussian_pairs(n, 5, seed=3)
    A = torch.einsum("aj,bi->jiab", pairs.U, pairs.V).reshape(n, n, -1)
    expected = train_cross_entropy(n, 5, seed=3, effective_ridge=1e-4, tol=1e-10).W.flatten()
    torch.testing.assert_close(trained(A, 1e-4), expected, rtol=1e-4, atol=1e-4 * float(expected.norm()))


def test_training_that_does_not_end_is_an_error(monkeypatch):
    monkeypatch.setattr("assocmem.experiments.first_place.surrogates.STEPS", 0)
    with pytest.raises(ArithmeticError, match="no minimum in 0 steps at ridge 0.1"):
        trained(score_directions(STRUCTURES[0], 4, 2, seed=0), 0.1)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, -2.0])
def test_the_exponent_of_a_scale_is_found(p):
    rng = np.random.default_rng(0)
    lengths = rng.uniform(0.6, 1.6, 20000)
    assert scale_exponent(lengths, 3 * lengths**p * rng.standard_normal(20000)) == pytest.approx(p, abs=0.05)


def test_a_memory_evens_out_lengths_that_all_keys_share():
    structures = {s.name: s for s in STRUCTURES}

    def exponent(name, seed):
        A = score_directions(structures[name], 24, 10, seed)
        rivals = ~torch.eye(24, dtype=torch.bool)
        lengths = A.norm(dim=-1) / A.norm(dim=-1).mean(dim=0)
        return scale_exponent(lengths[rivals].numpy(), (A @ trained(A, 1e-6))[rivals].numpy())

    shared, fresh = (
        np.mean([exponent(name, seed) for seed in range(4)])
        for name in ("same targets and keys", "same keys")
    )
    assert shared < 0.7 < fresh


def test_equal_lengths_cost_what_the_quadrature_says():
    g = np.random.default_rng(0).standard_normal((20000, 30))
    cost = _projection_cost(g, np.ones_like(g))
    assert cost.mean() == pytest.approx(statistical_dimension(30), abs=4 * cost.std() / 20000**0.5)
    mean, variance = pooled_moments(30)
    assert cost.var() == pytest.approx(variance + 2 * mean, rel=0.05)  # of a squared distance


def test_unequal_lengths_cost_more_and_less_so_in_high_dimension():
    low, _ = pooled_with_norms(30, 10, draws=4000, seed=1)
    high, error = pooled_with_norms(30, 1000, draws=4000, seed=1)
    assert low[0] > low[1] > 0.1
    assert np.all(np.abs(high) < 0.01)
    assert np.all(error < 0.005)


@pytest.mark.parametrize("arguments", [{"n": 1}, {"d": 0}, {"seed": -1}])
def test_bad_sizes_are_refused(arguments):
    name = next(iter(arguments))
    with pytest.raises(ValueError, match=f"{name} = .*: must be"):
        score_directions(STRUCTURES[0], **({"n": 4, "d": 2, "seed": 0} | arguments))


def test_too_many_directions_for_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr("assocmem.machine.available_bytes", lambda: 2**20)
    with pytest.raises(ValueError, match="n = 100 needs about .* GiB"):
        score_directions(STRUCTURES[0], 100, 30, 0)
