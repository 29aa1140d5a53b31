"""Fewer bits, entries and ranks: against known constants of normal entries, and by definition."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from assocmem.memories.compression import low_rank, relative_error, rounded, sparsified


@cache
def least_error(bits):
    """Squared error of the best evenly spaced values for a normal law, by an integral over it."""
    x = np.linspace(-9, 9, 400_001)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    half = 2 ** (bits - 1)

    def error(step):
        return float(density @ ((np.clip(np.floor(x / step), -half, half - 1) + 0.5) * step - x) ** 2)

    return minimize_scalar(error, bounds=(0.5 / half, 12 / (2 * half)), method="bounded").fun


def normal(rows, columns, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((rows, columns)))


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 6])
def test_the_error_is_that_of_the_best_even_values_for_normal_entries(bits):
    assert least_error(1) == pytest.approx(1 - 2 / math.pi, rel=1e-6)
    W = normal(700, 700)
    found = float((rounded(W, bits) - W).square().mean() / W.square().mean())
    assert found == pytest.approx(least_error(bits), rel=0.02)
    share = found / (1 - found)
    assert relative_error(W, rounded(W, bits)) == pytest.approx(
        share, rel=1e-3
    )  # uncorrelated at the best step


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_values_are_even_and_symmetric(bits, seed):
    kept = rounded(normal(80, 90), bits, seed=seed)
    values = kept.unique()
    assert len(values) == 2**bits
    torch.testing.assert_close(values, -values.flip(0))
    steps = values.diff()
    torch.testing.assert_close(steps, steps[:1].expand_as(steps))


def test_one_bit_is_the_sign_at_the_mean_size():
    W = normal(30, 40)
    torch.testing.assert_close(rounded(W, 1), W.sign() * W.abs().mean(), rtol=1e-3, atol=0)
    rows = rounded(W, 1, rows=True)
    torch.testing.assert_close(rows, W.sign() * W.abs().mean(dim=1, keepdim=True), rtol=1e-3, atol=0)


def test_the_step_is_the_best_of_many():
    W = normal(40, 30, seed=2) ** 3  # far from normal
    for bits in (2, 4):
        best = float((rounded(W, bits) - W).square().sum())
        for step in np.geomspace(0.01, 20, 2000):
            half = 2 ** (bits - 1)
            tried = (torch.floor(W / step).clamp(-half, half - 1) + 0.5) * step
            assert float((tried - W).square().sum()) > best * (1 - 2e-3)


def test_rows_of_unequal_sizes_want_scales_of_their_own():
    W = normal(20, 200) * torch.logspace(0, 3, 20, dtype=torch.float64)[:, None]

    def errors(Q):
        return (Q - W).square().sum(dim=1) / W.square().sum(dim=1)

    assert float(errors(rounded(W, 3, rows=True)).max()) < 0.06
    assert float(errors(rounded(W, 3)).max()) > 0.9


def test_random_rounding_is_unbiased_within_the_range():
    W = normal(12, 15)
    mean = sum(rounded(W, 2, seed=k) for k in range(200)) / 200
    most = float(rounded(W, 2, seed=0).abs().max())
    inside = W.abs() < most
    assert 0.5 < float(inside.double().mean()) < 1
    torch.testing.assert_close(mean[inside], W[inside], rtol=0, atol=0.14 * most)
    torch.testing.assert_close(mean[~inside], W[~inside].sign() * most)
    torch.testing.assert_close(rounded(W, 2, seed=5), rounded(W, 2, seed=5), rtol=0, atol=0)
    assert relative_error(W, rounded(W, 2, seed=5)) > relative_error(W, rounded(W, 2))


@pytest.mark.parametrize("rows", [False, True])
def test_rounding_goes_with_the_scale_and_keeps_dtype_and_zeros(rows):
    W = normal(9, 8)
    W[3] = 0
    kept = rounded(W, 3, rows=rows)
    for scale in (1e-200, 1e150):
        torch.testing.assert_close(rounded(W * scale, 3, rows=rows) / scale, kept)
    torch.testing.assert_close(rounded(-W, 3, rows=True)[4:], -rounded(W, 3, rows=True)[4:])
    assert rounded(W.float(), 3, rows=rows).dtype == torch.float32
    assert not rounded(torch.zeros_like(W), 2, rows=rows).any()
    if rows:
        assert not kept[3].any()


def test_the_largest_entries_are_kept():
    W = normal(10, 20)
    kept = sparsified(W, 0.25)
    there = kept != 0
    assert int(there.sum()) == 50
    torch.testing.assert_close(kept[there], W[there], rtol=0, atol=0)
    assert float(W[there].abs().min()) > float(W[~there].abs().max())
    torch.testing.assert_close(sparsified(W, 1), W, rtol=0, atol=0)
    assert int((sparsified(W, 1e-9) != 0).sum()) == 1


def test_low_rank_is_the_nearest_of_its_rank():
    W = normal(10, 14)
    kept = low_rank(W, 4)
    assert int(torch.linalg.matrix_rank(kept)) == 4
    rest = torch.linalg.svdvals(W)[4:].square().sum().sqrt()
    torch.testing.assert_close((W - kept).norm(), rest)
    torch.testing.assert_close(low_rank(W, 99), W, rtol=0, atol=0)


def test_relative_error_of_noise_is_its_variance():
    W, noise = normal(400, 400), normal(400, 400, seed=1)
    assert relative_error(W, 3 * (W + 0.5 * noise)) == pytest.approx(0.25, rel=0.03)
    assert relative_error(W, 1e150 * W) == pytest.approx(0, abs=1e-12)
    assert relative_error(W, torch.zeros_like(W)) == math.inf


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda W: rounded(W, 0), "bits = 0: must be an integer >= 1"),
        (lambda W: rounded(W, 17), "bits = 17: must be at most 16"),
        (lambda W: rounded(W, 2, rows=1), "rows = 1: must be True or False"),
        (lambda W: rounded(W, 2, seed=-1), "seed = -1: must be an integer >= 0"),
        (lambda W: rounded(W[0], 2), "a floating-point matrix, dense and not empty"),
        (lambda W: rounded(W / 0, 2), "W = 'a matrix with inf or nan': must be finite"),
        (lambda W: sparsified(W, 0), "share = 0: must be in (0, 1]"),
        (lambda W: sparsified(W, 1.5), "share = 1.5: must be in (0, 1]"),
        (lambda W: low_rank(W, 0), "rank = 0: must be an integer >= 1"),
        (lambda W: relative_error(W, W[:2]), "of shape (3, 4), like W"),
    ],
)
def test_refusals(call, line):
    with pytest.raises(ValueError) as error:
        call(normal(3, 4))
    assert line in str(error.value)
    assert "\n" not in str(error.value)
