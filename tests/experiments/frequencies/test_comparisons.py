"""Stored memories of frequent and rare facts beside theory: means, errors, slopes and bins."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import torch

from assocmem.experiments.frequencies import comparisons
from assocmem.experiments.frequencies.kept import classes_of
from assocmem.experiments.frequencies.passes import COUNTS
from assocmem.experiments.frequencies.zipf import tail_and_first
from assocmem.pairs.data import gaussian_pairs
from assocmem.pairs.sizes import pairs_at_load
from assocmem.theory.frequencies import Frequencies
from assocmem.theory.weighted import solve_weighted


def kept_rows():
    return pd.DataFrame(
        {"law": "two", "load": 0.6, "ridge": 1e-2, "d": 20.0, "seed": seed}
        | {"size_1": 48.0, "size_2": 192.0, "kept_1": 1.0 - seed / 48, "kept_2": 0.1 + 0.02 * seed}
        for seed in (0, 1)
    )


def test_classes_stand_beside_the_theory_of_their_weights():
    found = comparisons.kept_classes(kept_rows(), "two", 0.6, 1e-2, 20)
    n = pairs_at_load(0.6, 20)
    law = Frequencies(classes_of("two", n).weights)
    theory = solve_weighted(n / 400, 0.15, beta=5.0, ridge=1e-2, frequencies=law)
    assert found.told == pytest.approx(theory.kept(np.array([4.0, 0.25])), rel=1e-6)
    assert found.kept == pytest.approx([1 - 1 / 96, 0.11])
    assert found.weights == pytest.approx([4.0, 0.25])
    assert found.error[1] == pytest.approx(max(0.01, math.sqrt(found.told[1] * (1 - found.told[1]) / 384)))
    with pytest.raises(ValueError, match="stored with load"):
        comparisons.kept_classes(kept_rows(), "two", 0.7, 1e-2, 20)


def asked(d):
    """How often all of twice as many facts as entries are asked, over the first."""
    return float(np.sum(np.arange(1, 2 * d**2 + 1) ** -1.5))


def zipf_rows(way="tail_average"):
    stored = [
        {"n": 2.0 * d**2, "d": float(d), "s": 1.5, "gamma": 1.0, "way": way, "seed": seed}
        | {"error": (1 + 0.1 * (seed - 1)) * 2 / d / asked(d), "error_first": 0.9}
        for d, seeds in ((10, 3), (20, 3), (40, 1))
        for seed in range(seeds)
    ]
    stored[-1]["error"] = 2 / 40 / asked(40)
    predicted = [{"n": 200.0, "d": 10.0, "s": 1.5, "gamma": 1.0, "trained": 0.21, "hebb": 0.3}]
    return pd.DataFrame(stored), pd.DataFrame(predicted)


def test_errors_have_an_exponent_and_theory_where_there_is_some():
    stored, predicted = zipf_rows()
    found = comparisons.zipf_errors(stored, predicted, 1.5, "tail_average")
    assert found.mean == pytest.approx([0.2 / asked(10), 0.1 / asked(20), 0.05 / asked(40)])
    assert found.exponent.slope == pytest.approx(-0.5)
    assert found.error[0] == pytest.approx(found.mean[0] * 0.1 / math.sqrt(3))
    assert found.error[2] == pytest.approx(found.mean[2] * 1.5 / 40)  # of one instance, from the others
    assert found.told[0] == 0.21
    assert np.isnan(found.told[1:]).all()
    first = comparisons.zipf_errors(stored, predicted, 1.5, "tail_average", column="error_first")
    assert first.mean == pytest.approx(0.9)
    with pytest.raises(ValueError, match="three dimensions"):
        comparisons.zipf_errors(stored, predicted, 2.0, "tail_average")


def test_a_sum_of_outer_products_loses_what_is_predicted():
    d, n = 24, 600
    asked = np.arange(1, n + 1) ** -1.5
    weights = np.minimum(1.0, 3 * asked)
    found = {False: [], True: []}
    for seed, levelled in itertools.product(range(6), found):
        pairs = gaussian_pairs(n, d, seed=seed)
        lengths = (pairs.U.square().sum(0) * pairs.V.square().sum(0)).numpy() if levelled else 1.0
        W = pairs.U * torch.from_numpy(weights / lengths) @ pairs.V.T
        lost = tail_and_first(pairs, W, 0.15)[0] <= 0
        found[levelled].append(asked @ lost / asked.sum())
    for levelled, errors in found.items():
        told = comparisons.written_error(asked, weights, d, 0.15, levelled=levelled)
        assert np.mean(errors) == pytest.approx(told, abs=4 * np.std(errors) / 2 + 0.02)
    with pytest.raises(ValueError, match="weights"):
        comparisons.written_error(asked, weights[:-1], d, 0.15)


def test_bins_of_streams_are_over_all_facts_of_all_instances():
    rows = pd.DataFrame(
        {"d": 32.0, "chunks": 8.0, "s": 0.0, "way": way, "seed": seed}
        | {
            "age_0": 0.5 + 0.5 * seed,
            "of_age_0": 10.0 * (1 + seed),
            "told_age_0": 0.7 if way == "delta" else None,
        }
        | {"age_1": None, "of_age_1": 0.0, "told_age_1": None}
        for way in ("delta", "newest")
        for seed in (0, 1)
    )
    found = comparisons.stream_shares(rows, 32, 8, "delta", 0.0, ["age_0", "age_1"])
    assert found.mean == pytest.approx([(5 + 20) / 30, 0])
    assert found.told[0] == pytest.approx(0.7)
    assert found.error[0] > 0
    assert np.isnan(comparisons.stream_shares(rows, 32, 8, "newest", 0.0, ["age_0"]).told).all()
    with pytest.raises(ValueError, match="stored with"):
        comparisons.stream_shares(rows, 32, 9, "delta", 0.0, ["age_0"])


def test_passes_have_the_best_step_at_each_number():
    rows = [
        {"d": 16.0, "s": 1.5, "training": training, "step": step, "seed": seed}
        | {f"error_{count}": abs(math.log(count + step)) / 10 + seed / 100 for count in COUNTS}
        for training, steps in (("descent", (1.0, 4.0)), ("fit", (1.0,)))
        for step in steps
        for seed in (0, 1)
    ]
    found = comparisons.passes_by_size(pd.DataFrame(rows), 1.5)
    assert list(found) == ["descent, $d = 16$", "fit, $d = 16$"]
    passes, mean, error = found["descent, $d = 16$"]
    assert passes.tolist() == list(COUNTS)
    assert mean[0] == pytest.approx(math.log(2) / 10 + 0.005)
    assert error[0] == pytest.approx(0.005)
    with pytest.raises(ValueError, match="a stored exponent"):
        comparisons.passes_by_size(pd.DataFrame(rows), 3.0)
