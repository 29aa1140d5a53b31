"""The norm of trained memories along the load, and the certified last retrievable pair."""

import numpy as np
import pandas as pd
import pytest

from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.first_place.norm_peak import (
    critical_pairs,
    grid_peaks,
    last_retrievable,
    linearised,
    load_grid,
    mean_line,
    single_slopes,
    steps_past_last,
    thinned,
    train_cross_entropy,
)
from assocmem.experiments.statistics import line_through
from assocmem.pairs.data import gaussian_pairs
from assocmem.theory.kinematics import critical_dimension, pooled_moments


def test_the_ridge_is_the_one_of_the_summed_loss():
    """At the minimum of the sum of losses + effective / 2 |W|^2, W = -gradient / effective."""
    found, effective = train_cross_entropy(12, 4, seed=1, effective_ridge=0.3, tol=1e-12), 0.3
    pairs = gaussian_pairs(12, 4, seed=1)
    S = pairs.U.T @ found.W @ pairs.V
    weights = S.softmax(dim=0)
    weights.diagonal().sub_(1.0)
    np.testing.assert_allclose(found.W, -(pairs.U @ weights @ pairs.V.T) / effective, atol=1e-5)


def test_the_norm_peaks_near_the_last_retrievable_pair():
    d = 8
    last = last_retrievable(d, seed=3)
    norms = {n: train_cross_entropy(n, d, seed=3).nu for n in (last - 10, last, last + 1, last + 10)}
    assert max(norms[last], norms[last + 1]) > 3 * max(norms[last - 10], norms[last + 10])


def test_the_last_retrievable_pair_is_the_last():
    for d, seed in [(2, 0), (5, 0), (8, 1)]:
        last = last_retrievable(d, seed=seed)
        assert decide_top1(gaussian_pairs(last, d, seed=seed)).feasible
        assert not decide_top1(gaussian_pairs(last + 1, d, seed=seed)).feasible


def test_no_proof_is_an_error(monkeypatch):
    undecided = type("Verdict", (), {"feasible": None})()
    monkeypatch.setattr("assocmem.experiments.first_place.norm_peak.decide_top1", lambda pairs: undecided)
    with pytest.raises(ArithmeticError, match="no proof either way for n = 22, d = 8, seed = 0"):
        last_retrievable(8, seed=0)


def test_critical_pairs_invert_the_critical_dimension():
    for d in (2, 5, 40, 1000):
        assert critical_dimension(critical_pairs(d)) == pytest.approx(d, rel=1e-9)
    with pytest.raises(ValueError, match="d = 1: must be in"):
        critical_pairs(1)


@pytest.mark.parametrize("d", [8, 20, 100])
def test_grids_are_dense_about_the_transition(d):
    grid, centre = np.array(load_grid(d)), critical_pairs(d)
    assert grid[0] < 0.65 * centre
    assert grid[-1] > 1.45 * centre
    steps = np.diff(grid)
    assert np.all(steps >= 1)
    inner = np.abs(grid[:-1] / centre - 1) < 0.05
    assert np.all(steps[inner] <= max(1, 0.01 * centre) + 1)
    assert len(load_grid(d, step=0.08)) < len(grid)


def test_the_conjecture_is_a_line_in_these_coordinates():
    n = np.array([50.0, 500.0, 5000.0])
    x, y = linearised(n, np.sqrt(n * (2 * np.log(n) - 3 * np.log(np.log(n)) + 0.7)))
    line = line_through(x, y)
    assert (line.slope, line.intercept) == pytest.approx((-3, 0.7))


def rows_of(instances):
    """One row a fit, from {(d, seed): {n: nu}}."""
    rows = [(d, s, n, nu) for (d, s), norms in instances.items() for n, nu in norms.items()]
    return pd.DataFrame(rows, columns=["d", "seed", "n", "nu"], dtype=float)


def test_peaks_are_found_for_every_instance():
    fits = rows_of(
        {
            (8, 0): {10: 1.0, 11: 5.0, 12: 2.0},
            (8, 1): {10: 7.0, 11: 5.0, 12: 2.0},
            (9, 0): {14: 1.0, 13: 3.0},
        }
    )
    found = grid_peaks(fits)
    assert {d: list(n) for d, n in found.items()} == {8: [11, 10], 9: [13]}
    unfinished = {(8, 0): {10: 1.0, 12: 5.0}, (9, 0): {10: 1.0, 12: 5.0, 14: 2.0}, (9, 1): {10: 1.0, 12: 5.0}}
    assert {d: list(n) for d, n in grid_peaks(rows_of(unfinished)).items()} == {9: [12]}


def test_steps_are_counted_from_the_last_retrievable_load():
    fits = rows_of({(8, 0): {10: 1.0, 12: 5.0, 14: 2.0}, (8, 1): {10: 7.0, 12: 5.0, 14: 2.0}})
    last = lambda *rows: pd.DataFrame(rows, columns=["d", "seed", "n"], dtype=float)  # noqa: E731
    assert steps_past_last(fits, last((8, 0, 13), (8, 1, 14)))[8].tolist() == [0, -2]
    assert steps_past_last(fits, last((8, 0, 11)))[8].tolist() == [1]
    with pytest.raises(ValueError, match="last = 'd = 9, seed = 0': must be of instances that were trained"):
        steps_past_last(fits, last((9, 0, 12)))


def test_a_thinner_grid_keeps_every_other_load_of_each_instance():
    fits = rows_of({(8, 0): dict.fromkeys((12, 10, 11), 1.0), (8, 1): dict.fromkeys((10, 11), 1.0)})
    assert thinned(fits, 2)["n"].tolist() == [12, 10, 10]
    assert thinned(fits, 2, offset=1)["n"].tolist() == [11, 11]


def law(n, slope):
    return np.sqrt(n * (2 * np.log(n) + slope * np.log(np.log(n)) + 1))


def test_lines_through_means_weigh_instances():
    sizes = {50: 40, 200: 10, 1000: 3}
    peaks = {float(law(n, -2.5)): np.full(count, float(n)) for n, count in sizes.items()}
    x, y, error, line = mean_line(peaks)
    assert (line.slope, line.intercept) == pytest.approx((-2.5, 1.0))
    np.testing.assert_allclose(y, 1 - 2.5 * x)
    width = [pooled_moments(n)[1] / n / count for n, count in sizes.items()]
    np.testing.assert_allclose(error, np.sqrt(width))


def test_single_instances_scatter_about_the_line():
    rng = np.random.default_rng(0)
    peaks = {
        float(law(n, -3)): n + rng.integers(-spread, spread + 1, 30).astype(float)
        for n, spread in ((40, 4), (100, 6), (300, 10))
    }
    slopes = single_slopes(peaks, rng, draws=400)
    assert slopes.shape == (400,)
    assert slopes.mean() == pytest.approx(mean_line(peaks)[-1].slope, abs=0.35)
    assert slopes.std() > 0.2
    exact = single_slopes({d: n[:1] * 0 + round(n.mean()) for d, n in peaks.items()}, rng, draws=3)
    assert exact.std() == pytest.approx(0, abs=1e-12)
