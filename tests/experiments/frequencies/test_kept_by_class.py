"""What memories keep of facts of several frequencies, beside the theory of weights."""

import numpy as np
import pytest

from assocmem.experiments.frequencies.kept import LAWS, classes_of, measure_kept
from assocmem.theory.frequencies import Frequencies
from assocmem.theory.weighted import solve_weighted


@pytest.mark.parametrize("law", LAWS)
def test_weights_have_mean_one_and_classes_cover_all(law):
    for n in (7, 86, 500):
        classes = classes_of(law, n)
        assert classes.weights.mean() == pytest.approx(1)
        assert len(classes.weights) == classes.ends[-1] == n
        assert list(classes.weights) == sorted(classes.weights, reverse=True)


def test_two_classes_are_as_stated():
    classes = classes_of("two", 100)
    assert classes.ends == (20, 100)
    assert classes.weights[[0, 19, 20, 99]].tolist() == pytest.approx([4, 4, 0.25, 0.25])


@pytest.mark.parametrize("law", ["two", "three"])
def test_instances_are_near_the_theory_and_far_from_that_of_equal_weights(law):
    load, ridge = 0.6, 0.01
    rows = [measure_kept(load, 24, law, 0.15, 5.0, ridge, seed) for seed in range(4)]
    mean = {name: np.mean([row[name] for row in rows]) for name in ("nu", "loss", "answered", "kept_1")}
    weights = classes_of(law, rows[0]["n"]).weights
    values, counts = np.unique(weights, return_counts=True)
    told = solve_weighted(load, 0.15, beta=5.0, ridge=ridge, frequencies=Frequencies(values, counts * 1.0))
    assert mean["nu"] == pytest.approx(told.nu, rel=0.2)
    assert mean["loss"] == pytest.approx(told.loss, rel=0.05)
    kept = told.kept(values)
    assert mean["answered"] == pytest.approx((values * counts) @ kept / counts.sum(), abs=0.04)
    assert mean["kept_1"] == pytest.approx(kept[-1], abs=0.04)
    least = 2 if law == "two" else 3
    assert np.mean([row[f"kept_{least}"] for row in rows]) == pytest.approx(kept[0], abs=0.04)
    equal = solve_weighted(load, 0.15, beta=5.0, ridge=ridge, frequencies=Frequencies(np.ones(1)))
    assert abs(mean["answered"] - equal.kept(1.0)) > 0.3
    assert rows[0]["kept_3"] is None if law == "two" else rows[0]["kept_3"] is not None


def test_a_memory_that_is_not_found_is_told():
    with pytest.raises(ArithmeticError, match="law two, seed = 0: gap"):
        from assocmem.experiments.frequencies.kept import train_weighted

        train_weighted(0.5, 6, "two", 0.3, 4.0, 0.1, seed=0, tol=1e-300)
