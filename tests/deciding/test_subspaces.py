"""Passes decide, with proof, where vectors lie in subspaces, are equal, hidden, or far from round."""

import numpy as np
import pytest
import torch

from assocmem.deciding import feasibility
from assocmem.deciding.certificates import spanning_rows
from assocmem.deciding.feasibility import decide, verify
from assocmem.pairs.data import Pairs, gaussian_pairs


def pairs_of(U, V):
    return Pairs(*(torch.tensor(np.ascontiguousarray(X), dtype=torch.float64) for X in (U, V)))


def short(X):
    """Numbers of few digits, so that sums of them are exact."""
    return np.round(X * 64) / 64


def in_subspaces(n, r, d):
    """Vectors of r dimensions in d coordinates, all in exact arithmetic: by name, targets and keys."""
    rng, few, all_of = np.random.default_rng(1), gaussian_pairs(n, r, seed=0), gaussian_pairs(n, d, seed=0)
    U, V, Z = few.U.numpy(), few.V.numpy(), np.zeros((d - r, n))
    twice = rng.integers(0, r, d - r)
    sums, maps = rng.integers(-3, 4, (2, d - r, r)), rng.integers(-3, 4, (2, d, r))
    offset = short(1000 * rng.standard_normal((d, 1)))
    return {
        "zero coordinates": ([*U, *Z], [*V, *Z]),
        "targets twice": ([*U, *U[twice]], all_of.V.numpy()),
        "keys twice": (all_of.U.numpy(), [*V, *V[twice]]),
        "coordinates twice": ([*U, *U[twice]], [*V, *V[twice]]),
        "constant coordinates": ([*U, *(Z + rng.standard_normal((d - r, 1)))], [*V, *Z]),
        "sums": ([*short(U), *(sums[0] @ short(U))], [*short(V), *(sums[1] @ short(V))]),
        "mixed": (maps[0] @ short(U), maps[1] @ short(V)),
        "mixed and shifted": (maps[0] @ short(U) + offset, maps[1] @ short(V)),
    }


NAMES = list(in_subspaces(6, 2, 4))


@pytest.mark.parametrize("name", NAMES)
def test_impossible_in_a_subspace(name):
    pairs = pairs_of(*in_subspaces(100, 13, 26)[name])
    verdict = decide(pairs)
    assert verdict.feasible is False
    assert verdict.steps == 0
    assert verify(verdict.certificate, pairs)
    rule, twice = verdict.certificate.computed, name.endswith("s twice")
    assert len(rule.left) == (26 if name == "keys twice" else 13)
    assert len(rule.right) == (26 if name == "targets twice" else 13)
    assert twice or rule.W.shape == (13, 13)


@pytest.mark.parametrize("name", NAMES)
def test_retrieved_in_a_subspace(name):
    pairs = pairs_of(*in_subspaces(30, 16, 26)[name])
    verdict = decide(pairs)
    assert verdict.feasible is True
    assert verdict.steps == 0
    assert verify(verdict.certificate, pairs)


def test_tails_in_a_subspace():
    pairs = pairs_of(*in_subspaces(60, 6, 26)["coordinates twice"])
    verdict = decide(pairs, 3)
    assert (verdict.feasible, verdict.steps) == (False, 0)
    assert verify(verdict.certificate, pairs)


def changed(name, U, V):
    """Targets and keys of an instance that is changed in one way."""
    rng, (d, n) = np.random.default_rng(5), U.shape
    units = np.linalg.qr(rng.standard_normal((d, d)))[0] * np.logspace(-3, 3, d)
    return {
        "shifted": lambda: (U + 1e6 * rng.standard_normal((d, 1)), V),
        "keys of all lengths": lambda: (U, V * 10.0 ** rng.uniform(-8, 8, n)),
        "targets far from round": lambda: (units @ U, V),
        "keys far from round": lambda: (U, units @ V),
    }[name]()


@pytest.mark.parametrize(
    "name", ["shifted", "keys of all lengths", "targets far from round", "keys far from round"]
)
@pytest.mark.parametrize("d", [11, 17])
def test_answers_do_not_depend_on_coordinates(monkeypatch, name, d):
    monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 0)
    given = gaussian_pairs(50, d, seed=0)
    pairs = pairs_of(*changed(name, given.U.numpy(), given.V.numpy()))
    verdict = decide(pairs)
    assert verdict.feasible == decide(given).feasible == (d == 17)
    assert verdict.steps == 0
    assert verify(verdict.certificate, pairs)


def test_fewer_pairs_than_coordinates(monkeypatch):
    monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 0)
    pairs = gaussian_pairs(7, 26, seed=0)
    verdict = decide(pairs)
    assert (verdict.feasible, verdict.steps) == (True, 0)
    assert verify(verdict.certificate, pairs)


def test_equal_keys_targets_and_hidden_targets_among_many():
    pairs = gaussian_pairs(40, 26, seed=2)
    U, V = pairs.U.clone(), pairs.V.clone()
    V[:, 1] = V[:, 0]
    equal_keys = Pairs(U, V)
    U = pairs.U.clone()
    U[:, 1] = U[:, 0]
    equal_targets = Pairs(U, pairs.V)
    U = (64 * pairs.U).round() / 64
    U[:, 0] = (U[:, 1] + U[:, 2] + U[:, 3] + U[:, 4]) / 4
    hidden = Pairs(U, pairs.V)
    assert decide(pairs).feasible is True
    for case in (equal_keys, equal_targets, hidden):
        verdict = decide(case)
        assert (verdict.feasible, verdict.steps) == (False, 0)
        assert verify(verdict.certificate, case)


def test_subspaces_up_to_rounding_end_with_a_reason():
    few = gaussian_pairs(60, 13, seed=0)
    turn = torch.linalg.qr(gaussian_pairs(26, 26, seed=1).U).Q
    pairs = Pairs(*(turn @ torch.cat([X, 0 * X]) for X in (few.U, few.V)))
    verdict = decide(pairs, max_steps=1)
    assert verdict.feasible is None
    assert verdict.passes < 1000
    assert "targets lie in 13 dimensions up to rounding" in verdict.reason


def test_dependence_is_told_in_many_dimensions():
    """Rows of which the others are sums, among many: an elimination in integers would take minutes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 300))
    zero, twice = np.zeros((40, 300)), X[::-1]
    assert len(spanning_rows(np.vstack([X, zero]))) == 40
    assert len(spanning_rows(np.vstack([X, twice]))) == 40
    assert len(spanning_rows(np.vstack([X, zero + 3]), shifted=True)) == 40
    assert len(spanning_rows(np.vstack([X, zero + 3]))) == 41
    nearly = np.vstack([X, twice])
    nearly[50, 7] = np.nextafter(nearly[50, 7], 9)
    assert len(spanning_rows(nearly)) == 80
    mixed = rng.integers(-3, 4, (20, 8)) @ rng.integers(-100, 100, (8, 50)).astype(float)
    assert len(spanning_rows(mixed)) == 8
    assert len(spanning_rows(mixed + 1, shifted=True)) == 8
