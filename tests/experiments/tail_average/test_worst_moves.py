"""Searches for the worst moves of scores, and the checks that they make."""

import numpy as np
import pytest

from assocmem.book.claims import FORCE, check
from assocmem.experiments.tail_average import worst_moves
from assocmem.experiments.tail_average.worst_moves import component_evidence, move_evidence, weighted_tail
from assocmem.pairs.tail_average import smoothed_gradient, smoothed_hessian, smoothed_tail_average


def test_a_column_with_repeated_heights_is_the_column_written_out():
    z, often = np.array([0.3, -1.0, 2.0]), np.array([2.0, 5.0, 1.0])
    value, p, w = weighted_tail(z, often, 2, 3.0)
    x = np.repeat(z, often.astype(int))
    assert value == pytest.approx(smoothed_tail_average(x, 0.25, 3.0), rel=1e-13)
    np.testing.assert_allclose(np.repeat(p, [2, 5, 1]), smoothed_gradient(x, 0.25, 3.0), rtol=1e-12)
    B = smoothed_hessian(x, 0.25, 3.0)
    assert B[0, 0] == pytest.approx(w[0] - w[0] ** 2 / (often @ w), rel=1e-12)


def test_the_bounds_are_reached_and_not_passed(monkeypatch):
    monkeypatch.setattr(worst_moves, "STARTS", 2)
    found = check(**move_evidence([(2, 10.0)], seed=1))
    assert found.verdict == "holds"
    assert found.force > FORCE
    assert max(found.measured) <= 1
    monkeypatch.setattr(worst_moves, "largest_stretch", lambda *_: 1.01)
    assert check(**move_evidence([(2, 10.0)], seed=1)).verdict == "does not hold"


def test_the_constant_of_one_weight():
    found = check(**component_evidence([(400, 2.0)], seed=1))
    assert found.verdict == "holds"
    assert found.force > FORCE
    assert max(found.measured) <= worst_moves.BEST_COMPONENT * (1 + worst_moves.SMALL_MOVE)


def test_no_random_move_errs_by_more():
    """The proof of the constant allows any size of moves."""
    rng = np.random.default_rng(3)
    most = 0.0
    for _ in range(300):
        m = int(rng.integers(3, 30))
        z, k, beta = 3 * rng.standard_normal(m), int(rng.integers(1, m - 1)), 10 ** rng.uniform(-1, 1)
        h = 10 ** rng.uniform(-2, 1) / beta * rng.uniform(-1, 1, m)
        ones = np.ones(m)
        (_, p, w), (_, moved, _) = (weighted_tail(x, ones, k, beta) for x in (z / beta, z / beta + h))
        error = np.abs(moved - p - w * (h - w @ h / w.sum())).max()
        most = max(most, error * k / (beta * np.abs(h).max()) ** 2)
    assert 0.02 < most <= worst_moves.BEST_COMPONENT
