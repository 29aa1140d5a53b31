"""Norms of the features, by the matrices themselves, and their check on norms that are made up."""

import numpy as np
import pytest
import torch

from assocmem.book.claims import check
from assocmem.experiments.removals.feature_norms import (
    expected_unmatched,
    feature_evidence,
    matched_norm,
    unmatched_norm,
)
from assocmem.pairs.data import gaussian_pairs

PAIRS = gaussian_pairs(7, 4, seed=1)


def features(columns):
    return torch.stack([torch.outer(PAIRS.U[:, j], PAIRS.V[:, i]).reshape(-1) for j, i in columns], dim=1)


def test_norms_are_those_of_the_matrices():
    matched = features([(i, i) for i in range(7)]).double()
    assert matched_norm(PAIRS) == pytest.approx(float(torch.linalg.matrix_norm(matched, 2)), rel=1e-6)
    unmatched = features([(j, 2) for j in range(7) if j != 2]).double()
    assert unmatched_norm(PAIRS, 2) == pytest.approx(float(torch.linalg.matrix_norm(unmatched, 2)), rel=1e-6)


def test_the_mean_for_one_key_is_that_of_instances():
    norms = [unmatched_norm(gaussian_pairs(100, 20, seed=s), i) for s in range(40) for i in range(5)]
    assert np.mean(norms) == pytest.approx(expected_unmatched(20, 0.25), rel=0.03)


@pytest.mark.parametrize(
    ("limit", "verdict"), [(1.5, "holds"), (1.0, "does not hold"), (2.0, "does not hold")]
)
def test_the_limit_is_that_of_a_line(limit, verdict):
    rng = np.random.default_rng(1)
    matched = {d: limit + 1.2 / np.sqrt(d) + 0.02 * rng.standard_normal(30) for d in (16, 24, 32, 48)}
    unmatched = {d: [expected_unmatched(d, 0.25)] * 3 for d in matched}
    assert check(**feature_evidence(matched, unmatched, 0.25)).verdict == verdict
