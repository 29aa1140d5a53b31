"""One stored memory: couplings, averages and shares against definitions, and what tables make of them."""

import numpy as np
import pytest
import torch

from assocmem.experiments.points import scalar_instance
from assocmem.experiments.tail_average import stored_instances
from assocmem.experiments.tail_average.coupling_evidence import (
    by_dimension,
    coupling_misses,
    equation_sides,
    removed_pairs,
)
from assocmem.experiments.tail_average.memories_at_load import train_at_load
from assocmem.pairs.scores import scores
from assocmem.removal.hessians import evaluate
from assocmem.removal.leave_one_out import full_problem, minimise, without
from assocmem.theory.scalar import solve_scalar
from assocmem.training.losses import TailAverage

AT = {"load": 0.6, "r": 0.15, "beta": 3.0, "ridge": 0.01}
D, SEED = 12, 3


@pytest.fixture(scope="module")
def point():
    loss = TailAverage(r=AT["r"], beta=AT["beta"])
    pairs, found = train_at_load(AT["load"], D, loss, ridge=AT["ridge"], tol=1e-8, seed=SEED)
    return evaluate(full_problem(pairs, loss, AT["ridge"]), found.W)


@pytest.fixture(scope="module")
def row():
    return scalar_instance(D, **AT, seed=SEED, removed=2)


def test_a_removed_pair_is_scored_by_the_memory_without_it(point, row):
    pairs = point.problem.pairs
    rest = minimise(without(point.problem, 1))
    assert row["fresh_1"] == pytest.approx(float(pairs.U[:, 1] @ rest.W @ pairs.V[:, 1]), abs=1e-3)
    assert row["signal_1"] == pytest.approx(float(point.S[1, 1]), abs=1e-5)
    assert row["square_1"] == pytest.approx(float(pairs.U[:, 1].norm() * pairs.V[:, 1].norm()) ** 2, rel=1e-5)
    assert row["fresh_2"] is None


def test_moments_of_competitors_are_those_of_the_scores(point, row):
    pairs, W = point.problem.pairs, point.W
    S = scores(pairs, W).numpy()
    off = ~np.eye(len(S), dtype=bool)
    z = S * row["nu"] * np.sqrt(D) / np.linalg.norm(W.numpy() @ pairs.V.numpy(), axis=0)
    assert row["competitor_square"] == pytest.approx((S[off] ** 2).mean(), rel=1e-5)
    assert row["scaled_fourth"] == pytest.approx((z[off] ** 4).mean(), rel=1e-4)
    assert row["coupling"] == pytest.approx(np.sqrt(((S - z)[off] ** 2).mean()), rel=1e-5)
    rows = np.where(off, z**2, 0).sum(axis=1)
    assert row["scaled_row_variance"] == pytest.approx(rows.var(ddof=1) / rows.mean() ** 2, rel=1e-5)


def test_probes_find_the_trace(point, monkeypatch):
    exact, none = stored_instances.susceptibility(point, probes=2, seed=1)
    monkeypatch.setattr(stored_instances, "LARGEST_INVERSE", 1)
    found, error = stored_instances.susceptibility(point, probes=30, seed=1)
    assert none == 0
    assert 0 < error < 0.1 * exact
    assert abs(found - exact) < 4 * error


def test_the_proximal_law_of_a_table_is_that_of_its_pairs(row):
    table = {name: np.array([x], dtype=float) for name, x in (row | AT | {"d": D}).items()}
    law = solve_scalar(**{name: AT[name] for name in ("load", "r")}, beta=3.0, ridge=0.01)
    pairs = removed_pairs(table)
    assert len(pairs["fresh"]) == 2
    misses = coupling_misses(pairs, law)
    y = pairs["signal"][0] - law.c - misses["as stated"][0]
    assert y - law.chi / (1 + np.exp(y)) == pytest.approx(pairs["fresh"][0] - law.c)
    assert list(by_dimension(table, table["nu"][:, None])) == [D]


def test_the_equations_hold_at_the_solution():
    law = solve_scalar(0.6, 0.15, beta=3.0, ridge=0.01)
    row = {"d": 10, "nu": law.nu, "chi": law.chi, "a_bend": 1.0, "a_signal": 1.0, "response": 0.2}
    sides = equation_sides({name: [x] for name, x in row.items()}, law)
    assert sides["variance"][0] == pytest.approx(1, abs=1e-3)
    assert sides["response"][0] == pytest.approx(1, abs=1e-3)
    assert abs(sides["variance_at_c"][0] - 1) > 0.1
    assert sides["response_of_scores"][0] == pytest.approx(0.6 * (law.chi * 1.01 + 0.2))


def test_shares_below_infinite_quantiles_are_counts(point):
    law = solve_scalar(0.6, 0.15, beta=3.0, ridge=0.01)
    found = stored_instances.shares(point, law)
    q = float(law.margin.quantile(0.5))
    assert found["margin_below_2"] == pytest.approx(float(torch.mean((point.m <= q).double())))
