"""Boundaries of trained memories, and what finite size does to the laws."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from assocmem.experiments.tail_average import phase
from assocmem.experiments.tail_average.phase import (
    HALF,
    LEVELS,
    boundary,
    by_dimension,
    certified_by_dimension,
    critical_tail_pairs,
    length_scatter,
    predicted_boundary,
    profile,
    train_tail_average,
)
from assocmem.pairs.scores import scores
from assocmem.pairs.sizes import tail_count
from assocmem.theory.kinematics import critical_dimension, retrieval_probability
from assocmem.theory.ridgeless import critical_load


def test_a_boundary_lies_between_two_losses():
    found = boundary(0.4, 12, seed=3, ridge=1e-4)
    losses = [
        train_tail_average(n / 144, 0.4, 12, seed=3, ridge=1e-4, tol=0.01)[1].loss
        for n in (found.low, found.high)
    ]
    assert found.high - found.low == 1
    assert losses[0] < HALF <= losses[1]
    assert found.low <= found.load * 144 <= found.high
    assert found.fits >= 2


def test_a_boundary_is_found_from_far_away(monkeypatch):
    near = boundary(0.4, 8, seed=1, ridge=1e-4)
    for start in (8, 120):
        monkeypatch.setattr(phase, "critical_tail_pairs", lambda d, r, start=start: start)
        assert boundary(0.4, 8, seed=1, ridge=1e-4).load == pytest.approx(near.load)


def test_a_boundary_that_does_not_exist_is_an_error(monkeypatch):
    lossy = type("Fit", (), {"loss": 1.0})()
    monkeypatch.setattr(phase, "train_tail_average", lambda *a, **k: (None, lossy))
    with pytest.raises(ArithmeticError, match=r"d = 12, r = 0.4, seed = 3: no number of pairs"):
        boundary(0.4, 12, seed=3)


def test_a_fit_that_has_not_converged_is_an_error(monkeypatch):
    monkeypatch.setattr(phase, "fit", lambda *a, f=phase.fit, **k: replace(f(*a, **k), converged=False))
    with pytest.raises(ArithmeticError, match=r"n = 29, d = 12, r = 0.4, seed = 0: gap \d"):
        train_tail_average(0.2, 0.4, 12, seed=0, ridge=0.01)


@pytest.mark.parametrize("r", [0.05, 0.15, 0.4])
def test_the_rule_finds_the_critical_load(r):
    assert predicted_boundary(r, ridge=1e-10) == pytest.approx(critical_load(r), rel=1e-4)
    assert predicted_boundary(r, ridge=1e-3) < critical_load(r) * 0.99


def test_a_level_below_the_jump_is_passed_at_it():
    """For r = 0.9 the jump is to less than half of log 2."""
    assert predicted_boundary(0.9, ridge=1e-12, level=0.1) == pytest.approx(critical_load(0.9), rel=1e-5)
    assert predicted_boundary(0.9, ridge=1e-12) > critical_load(0.9) * 1.01
    with pytest.raises(ValueError, match="level = 0.7: must be in"):
        predicted_boundary(0.5, level=0.7)


def test_critical_tail_pairs_have_the_critical_dimension():
    n = critical_tail_pairs(20, 0.15)
    assert critical_dimension(n, tail_count(0.15, n - 1)) == pytest.approx(20, abs=0.05)
    assert n > critical_load(0.15) * 400
    with pytest.raises(ValueError, match="r = 1.0: must be in"):
        critical_tail_pairs(20, 1.0)
    with pytest.raises(ValueError, match="d = 1: must be"):
        critical_tail_pairs(1, 0.15)


def test_profiles_are_quantiles_over_the_norm():
    pairs, found = train_tail_average(0.5, 0.4, 10, seed=0, ridge=0.01)
    laws = profile(pairs, found)
    signal = np.sort(scores(pairs, found.W).diagonal().numpy()) / found.nu
    assert laws["signal"][0] == pytest.approx(signal[0])
    assert laws["signal"][-1] == pytest.approx(signal[-1])
    middle = LEVELS.index(0.5)
    assert laws["margin"][middle] == pytest.approx(
        np.sort(found.margins.numpy())[len(signal) // 2 - 1] / found.nu
    )
    assert all(np.all(np.diff(values) >= 0) for values in laws.values())
    assert 0 <= laws["percentile"][0] <= laws["percentile"][-1] <= 1


def test_the_scatter_of_lengths_is_that_of_the_spectrum():
    rng = np.random.default_rng(0)
    W = torch.from_numpy(rng.standard_normal((300, 300)))
    assert length_scatter(W) == pytest.approx(1, abs=0.01)
    lengths = (W @ torch.from_numpy(rng.standard_normal((300, 20_000)))).norm(dim=0)
    assert float(lengths.std() / lengths.mean()) * math.sqrt(300) == pytest.approx(1, abs=0.03)
    assert length_scatter(torch.eye(7)) == pytest.approx(math.sqrt(0.5))


def test_boundaries_are_averaged_by_dimension():
    table = {
        "d": np.array([10, 10, 20, 20, 10.0]),
        "r": np.array([0.15, 0.15, 0.15, 0.15, 0.4]),
        "load": np.array([0.3, 0.34, 0.3, 0.3, 0.6]),
        "predicted": np.array([31, 31, 120, 120, 56.0]),
    }
    found = by_dimension(pd.DataFrame(table), 0.15)
    np.testing.assert_array_equal(found.d, [10, 20])
    np.testing.assert_allclose(found.load, [0.32, 0.3])
    np.testing.assert_allclose(found.predicted, [0.31, 0.3])
    assert found.error[0] == pytest.approx(2 * found.error[1])
    assert found.error[0] == pytest.approx(0.02 / math.sqrt(2), rel=1e-9)


def test_certified_boundaries_are_those_of_the_counts():
    """Counts drawn with the probabilities of the prediction have it as their half point."""
    k, rng = tail_count(0.3, 59), np.random.default_rng(0)
    d = np.repeat([8, 9, 10, 11], 400)
    feasible = rng.random(len(d)) < retrieval_probability(60, d, k)
    table = {"r": np.full(len(d), 0.3), "n": np.full(len(d), 60), "d": d, "feasible": feasible.astype(float)}
    found = certified_by_dimension(pd.DataFrame(table), 0.3)
    assert abs(found.load[0] - found.predicted[0]) < 4 * found.error[0]
    assert found.error[0] < 0.02 * found.load[0]
    assert found.d[0] ** 2 * found.load[0] == pytest.approx(60)


def test_the_map_is_that_of_the_largest_complete_dimension():
    rows = [(10, r, load, r + load, 1.0) for r in (0.2, 0.1) for load in (0.3, 0.1, 0.5)]
    rows += [(20, r, 0.1, 0.0, 0.0) for r in (0.1, 0.2)] + [(20, 0.1, 0.3, 0.0, 0.0)]
    table = pd.DataFrame(rows, columns=["d", "r", "load", "loss", "nu"])
    found = phase.largest_map(table)
    assert found.d == 10
    np.testing.assert_allclose(found.load, [0.1, 0.3, 0.5])
    np.testing.assert_allclose(found.r, [0.1, 0.2])
    np.testing.assert_allclose(found.loss, [[0.2, 0.4, 0.6], [0.3, 0.5, 0.7]])
    with pytest.raises(ValueError, match="table: must have all loads"):
        phase.largest_map(table[6:])
