"""Motions on one instance against the sizes that are measured elsewhere, and averages of the scores."""

import numpy as np
import pytest
import torch

from assocmem.experiments.removals.motion_sizes import AVERAGED, averages, measure_motion
from assocmem.experiments.removals.removal_sizes import threshold_identity
from assocmem.pairs.data import derived_seed, gaussian_pairs
from assocmem.removal.leave_one_out import full_problem, minimise, without
from assocmem.training.losses import TailAverage

POINT = {"load": 0.25, "r": 0.2, "beta": 3.0, "ridge": 0.5}


@pytest.fixture(scope="module")
def found():
    return measure_motion(14, 2, **POINT)


def test_the_parts_of_the_average_add_up(found):
    assert found["along"] ** 2 + found["across"] ** 2 == pytest.approx(found["gradient"] ** 2)
    assert found["score"] < found["score_max"]
    assert found["coefficient"] < found["coefficient_max"]
    assert all(np.isfinite(x) for x in found.values())


def test_sizes_are_those_of_the_minimisers(found):
    problem = full_problem(gaussian_pairs(49, 14, seed=derived_seed(2, 14, 7)), TailAverage(0.2, 3.0), 0.5)
    full = minimise(problem)
    rest = minimise(without(problem, 0), full.W)
    left, right = threshold_identity(full, rest, 0)
    assert found["threshold"] == pytest.approx(float(left.square().mean().sqrt()), rel=1e-6)
    assert found["threshold"] == pytest.approx(float(right.square().mean().sqrt()), rel=1e-4)
    assert found["moved"] == pytest.approx(float((full.W - rest.W).norm()), rel=1e-6)


def test_averages_leave_the_signals_out_of_the_competitors():
    S = torch.tensor([[1.0, 2.0], [-3.0, 5.0]], dtype=torch.float64)
    found = averages(S)
    assert set(found) == {f"{kind}_{name}" for kind in ("signal", "competitor") for name in AVERAGED}
    assert found["signal_square"] == pytest.approx(13)
    assert found["competitor_square"] == pytest.approx(6.5)
    assert found["competitor_half_square"] == pytest.approx(2)
    assert found["signal_cosine"] == pytest.approx((np.cos(2) + np.cos(10)) / 2)
