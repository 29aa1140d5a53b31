"""The tail average of a vector: definition, variational form, limits, derivatives."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize

from assocmem.pairs.sizes import tail_count
from assocmem.pairs.tail_average import (
    smoothed_gradient,
    smoothed_hessian,
    smoothed_tail_average,
    smoothed_threshold,
    tail_average,
)
from assocmem.training.losses import TailAverage

vectors = arrays(float, st.integers(2, 20), elements=st.floats(-50, 50))
fractions = st.floats(0.01, 1)
widths = st.floats(0.1, 50)


@given(vectors, fractions)
def test_definition_and_variational_form(x, r):
    k = math.ceil(r * len(x) - 1e-9)
    value = tail_average(x, r)
    assert value == pytest.approx(np.sort(x)[::-1][:k].mean(), abs=1e-12)
    # eq. tam-variational: the minimum is attained at an entry
    candidates = [mu + np.maximum(x - mu, 0).sum() / k for mu in x]
    assert value == pytest.approx(min(candidates), abs=1e-9)
    assert np.sort(x)[-k] <= value + 1e-12


@given(vectors)
def test_maximum_and_mean_are_the_ends(x):
    assert tail_average(x, 1 / len(x)) == x.max()
    assert tail_average(x, 1) == pytest.approx(x.mean(), abs=1e-12)
    assert smoothed_tail_average(x, 1, 2.0) == pytest.approx(x.mean(), abs=1e-12)


def test_the_count_is_exact_where_rounding_would_add_one():
    x = np.arange(100.0)
    assert 0.07 * 100 > 7
    assert tail_average(x, 0.07) == np.mean(np.arange(93, 100))


@given(vectors, fractions, widths)
def test_smoothing_lies_above_by_at_most_its_bound_and_vanishes(x, r, beta):
    k = tail_count(r, len(x))
    exact, smooth = tail_average(x, r), smoothed_tail_average(x, r, beta)
    assert exact - 1e-12 <= smooth <= exact + math.log(2) * len(x) / (beta * k) + 1e-12
    assert smoothed_tail_average(x, r, 1e9) == pytest.approx(exact, abs=1e-6)


@given(vectors, fractions, widths)
def test_smoothed_form_is_the_minimum_over_the_threshold(x, r, beta):
    k = tail_count(r, len(x))

    def objective(mu):
        return mu + np.logaddexp(0, beta * (x - mu)).sum() / (beta * k)

    value = smoothed_tail_average(x, r, beta)
    reach = 60 / beta
    found = optimize.minimize_scalar(objective, bounds=(x.min() - reach, x.max() + reach), method="bounded")
    assert value <= found.fun + 1e-9
    if k < len(x):
        mu = smoothed_threshold(x, r, beta)
        assert value == pytest.approx(objective(mu), abs=1e-10)
        assert (1 / (1 + np.exp(-np.clip(beta * (x - mu), -700, 700)))).sum() == pytest.approx(k, rel=1e-9)


@given(st.integers(0, 1000), fractions, widths, st.floats(0, 1))
def test_convex_translation_equivariant_and_positively_homogeneous(seed, r, beta, share):
    x, y = np.random.default_rng(seed).normal(0, 5, (2, 12))
    for function in (lambda v: tail_average(v, r), lambda v: smoothed_tail_average(v, r, beta)):
        mixed = function(share * x + (1 - share) * y)
        assert mixed <= share * function(x) + (1 - share) * function(y) + 1e-10
        assert function(x + 3) == pytest.approx(function(x) + 3, abs=1e-10)
    assert tail_average(2.5 * x, r) == pytest.approx(2.5 * tail_average(x, r), abs=1e-10)
    scaled = smoothed_tail_average(2.5 * x, r, beta / 2.5)
    assert scaled == pytest.approx(2.5 * smoothed_tail_average(x, r, beta), abs=1e-9)


@pytest.mark.parametrize("r", [0.1, 0.4, 0.95])
@pytest.mark.parametrize("beta", [0.5, 4.0])
def test_gradient_and_hessian_by_differences(r, beta):
    x = np.random.default_rng(1).normal(size=9)
    step = 1e-5 * np.eye(9)
    slope = [
        (smoothed_tail_average(x + e, r, beta) - smoothed_tail_average(x - e, r, beta)) / 2e-5 for e in step
    ]
    np.testing.assert_allclose(smoothed_gradient(x, r, beta), slope, atol=1e-8)
    bend = [(smoothed_gradient(x + e, r, beta) - smoothed_gradient(x - e, r, beta)) / 2e-5 for e in step]
    H = smoothed_hessian(x, r, beta)
    np.testing.assert_allclose(H, bend, atol=1e-7)
    assert smoothed_gradient(x, r, beta).sum() == pytest.approx(1, rel=1e-12)
    values = np.linalg.eigvalsh(H)
    k = tail_count(r, 9)
    assert -1e-12 <= values.min() <= values.max() <= beta / (4 * k)  # eq. B-bounds
    np.testing.assert_allclose(H @ np.ones(9), 0, atol=1e-12)


@pytest.mark.parametrize("r", [0.05, 0.3, 1.0])
def test_the_fast_form_of_the_fits_agrees(r):
    x = np.random.default_rng(2).normal(0, 3, (7, 40))
    padded = torch.from_numpy(np.vstack([np.full(7, -np.inf), x.T]))
    c, _ = TailAverage(r, 6.0).aggregate(padded)
    np.testing.assert_allclose(smoothed_tail_average(x, r, 6.0), c, rtol=1e-12)
    np.testing.assert_allclose(smoothed_gradient(x, r, 6.0), padded[1:].T, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tail_average([1, 2], 0), "r = 0"),
        (lambda: tail_average([1, np.nan], 0.5), "x = .*finite"),
        (lambda: tail_average(3.0, 0.5), "x = .*at least one entry"),
        (lambda: smoothed_tail_average([1, 2], 0.5, 0), "beta = 0"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
