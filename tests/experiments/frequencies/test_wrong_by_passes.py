"""Errors along trainings: both end in one place, and descent answers frequent facts first."""

import math

import numpy as np
import pytest
import torch

from assocmem.experiments.frequencies.passes import (
    COUNTS,
    errors_of_descent,
    errors_of_fit,
    measure_passes,
    unit_step,
    wrong,
)
from assocmem.experiments.frequencies.zipf import zipf_weights
from assocmem.pairs.data import Facts, gaussian_pairs
from assocmem.training.losses import TailAverage

LOSS = TailAverage(r=0.15, beta=1.0)


def facts(n, d, s=1.5, seed=0):
    pairs = gaussian_pairs(n, d, seed=seed)
    return Facts(pairs.U, pairs.V, weights=torch.from_numpy(zipf_weights(n, s)))


def test_both_trainings_end_in_one_place():
    given = facts(60, 8)
    end = errors_of_fit(given, LOSS, 1e-5, (1, 200))[-1]
    assert errors_of_descent(given, LOSS, 16.0, (100, 300))[-1] == pytest.approx(end, abs=0.02)


def test_errors_are_shares_of_questions():
    given = facts(50, 6)
    margins = torch.ones(50, dtype=torch.float64)
    assert wrong(given, margins) == 0
    margins[0] = 0
    assert wrong(given, margins) == pytest.approx(1 / sum(i**-1.5 for i in range(1, 51)))


def test_descent_takes_passes_in_proportion_to_rarity():
    row = measure_passes(200, 24, 2.0, "descent", 1.0, 0)
    errors = np.array([row[f"error_{count}"] for count in COUNTS])
    slope = np.polyfit(np.log(COUNTS[2:]), np.log(errors[2:]), 1)[0]
    assert slope == pytest.approx(-1 / 2, abs=0.15)  # (s - 1) / s
    assert abs(slope + 1) > 0.3  # what it would be if the passes went down in proportion to rank
    fit = measure_passes(200, 24, 2.0, "fit", 1.0, 0)
    assert fit["error_64"] < 0.4 * errors[COUNTS.index(64)]


def test_short_steps_are_the_same_at_as_many_passes_more():
    given = facts(80, 10)
    quick = errors_of_descent(given, LOSS, 0.4, (10, 20))
    slow = errors_of_descent(given, LOSS, 0.2, (20, 40))
    assert slow == pytest.approx(quick, abs=0.06)
    assert math.isfinite(unit_step(given))
    with pytest.raises(ValueError, match="step"):
        errors_of_descent(given, LOSS, 0.0, (1,))
