"""Laws at finite size against their limits, columns of samples, and a trained memory."""

import numpy as np
import pytest

from assocmem.experiments.tail_average.phase import train_tail_average
from assocmem.pairs.scores import scores
from assocmem.theory.finite_dimension import effective_load, laws_at_size
from assocmem.theory.ridgeless import sat_edge, sat_laws, tail_mean
from assocmem.theory.scalar import solve_scalar

ALONG = {"beta": 30.0, "ridge": 1e-7}
LEVELS = np.array([0.1, 0.5, 0.9, 0.97])


def test_the_effective_load_tends_to_the_load():
    lower = [1 - effective_load(0.28, 0.15, d) / 0.28 for d in (20, 40, 80)]
    assert lower[0] > 2 * lower[1] > 4 * lower[2] > 0


def test_laws_at_large_size_are_the_limits():
    solution, laws = solve_scalar(0.28, 0.15, **ALONG), laws_at_size(0.28, 0.15, 10**5, **ALONG)
    for kind, scale in (("signal", solution.nu), ("margin", solution.nu), ("percentile", 1)):
        limit = getattr(solution, kind).quantile(LEVELS) / scale
        np.testing.assert_allclose(laws.quantile(kind, LEVELS), limit, atol=0.01)
        np.testing.assert_allclose(laws.cdf(kind, laws.quantile(kind, LEVELS)), LEVELS, atol=2e-3)
    assert laws.tail == pytest.approx(tail_mean(0.15), rel=1e-4)


def test_laws_are_those_of_samples_with_lengths():
    """Keys at the edge: columns of normal samples of random length, all with the same margin."""
    load, r, d = 0.2, 0.15, 100
    laws, n = laws_at_size(load, r, d, beta=1e3, ridge=1e-16), round(load * d**2)
    at, rng = effective_load(load, r, d), np.random.default_rng(0)
    length = 1 + rng.standard_normal((1500, 1)) / np.sqrt(d)
    columns = length * np.sort(rng.standard_normal((1500, n)), axis=1)
    delta = float(sat_edge(at)) - float(tail_mean(r))
    signal = columns[:, -round(r * n) :].mean(axis=1) + delta
    percentile = (columns <= signal[:, None]).mean(axis=1)
    spread = np.diff(laws.quantile("percentile", np.array([0.1, 0.8])))[0]
    assert np.diff(np.quantile(percentile, [0.1, 0.8]))[0] == pytest.approx(spread, rel=0.12)
    spread = np.diff(laws.quantile("signal", np.array([0.1, 0.8])))[0]
    assert np.diff(np.quantile(signal, [0.1, 0.8]))[0] == pytest.approx(spread, rel=0.12)


def test_training_evens_out_margins_and_not_margins_over_lengths():
    """Among keys near the edge the margin does not go with the spread of the competitors; the signal does."""
    pairs, found = train_tail_average(0.2, 0.15, 32, seed=1, beta=30.0, ridge=1e-7, tol=1e-4)
    S = scores(pairs, found.W).numpy() / found.nu
    signal = S.diagonal().copy()
    np.fill_diagonal(S, np.nan)
    spread, margin = np.nanstd(S, axis=0), found.margins.numpy() / found.nu
    near = margin <= np.quantile(margin, 0.8)
    slopes = [np.polyfit(spread[near], x[near], 1)[0] for x in (margin, signal)]
    laws = sat_laws(0.2, 0.15)
    assert abs(slopes[0]) < 0.25 * (laws.rho - laws.kappa)
    assert slopes[1] == pytest.approx(laws.kappa, rel=0.12)


def test_loads_above_the_critical_one_are_refused():
    with pytest.raises(ValueError, match="load = .*: must be at least 1e-06 and below the critical load"):
        laws_at_size(0.4, 0.15, 30, **ALONG)
