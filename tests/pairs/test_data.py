"""The pairs of the paper: their law, their seeds, and what is refused."""

import math

import numpy as np
import pytest
import torch

from assocmem.pairs.data import Pairs, derived_seed, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins


def test_pairs_have_the_law_of_the_paper():
    pairs = gaussian_pairs(4000, 25, seed=3)
    for X in (pairs.U, pairs.V):
        assert abs(X.mean()) < 4 / math.sqrt(X.numel() * 25)
        assert abs(25 * X.var() - 1) < 4 * math.sqrt(2 / X.numel())
        assert abs(25 * (X**4).mean() / X.var() - 3) < 0.1
    assert abs((pairs.U * pairs.V).sum(0).mean()) < 4 / math.sqrt(4000 * 25)


def test_a_larger_draw_starts_with_the_smaller_one():
    small, large = gaussian_pairs(7, 3, seed=5), gaussian_pairs(9, 3, seed=5)
    assert torch.equal(small.U, large.U[:, :7])
    assert torch.equal(small.V, large.V[:, :7])


def test_seeds_differ_and_float32_is_the_rounded_float64():
    pairs = gaussian_pairs(6, 4, seed=0)
    assert not torch.equal(pairs.U, gaussian_pairs(6, 4, seed=1).U)
    single = gaussian_pairs(6, 4, seed=0, dtype=torch.float32)
    assert torch.equal(single.U, pairs.U.to(torch.float32))
    assert retrieval_margins(single, torch.eye(4)).dtype == torch.float32


def test_derived_seeds_depend_on_every_index():
    seeds = {derived_seed(*indices) for indices in [(0,), (1,), (0, 0), (0, 1), (0, 1, 0), (0, 0, 1)]}
    assert len(seeds) == 6
    assert all(seed >= 0 for seed in seeds)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "n = 1: must be an integer >= 2"),
        ({"n": 2.5}, "n = 2.5: must be an integer"),
        ({"d": 0}, "d = 0: must be an integer >= 1"),
        ({"seed": -1}, "seed = -1"),
        ({"dtype": torch.float16}, "dtype = torch.float16"),
        ({"device": "tpu"}, "device = 'tpu': must be cpu or cuda"),
        ({"n": 10**12, "d": 100}, "the largest n that fits is"),
    ],
)
def test_bad_sizes_are_refused_before_any_work(arguments, message):
    with pytest.raises(ValueError, match=message):
        gaussian_pairs(**({"n": 5, "d": 3, "seed": 0} | arguments))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_cuda_without_a_gpu_is_refused():
    with pytest.raises(ValueError, match="no CUDA GPU"):
        gaussian_pairs(5, 3, seed=0, device="cuda")


@pytest.mark.parametrize(
    ("U", "V", "message"),
    [
        (torch.ones(3), torch.ones(3), r"U = '\(3,\) float32"),
        (torch.ones(2, 3), torch.ones(2, 4), r"V = '\(2, 4\)"),
        (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64), "V = .*float64"),
        (torch.ones(2, 1), torch.ones(2, 1), "at least two columns"),
        (torch.ones(2, 3) / 0, torch.ones(2, 3), "U = 'a tensor with inf or nan'"),
        (np.ones((2, 3)), np.ones((2, 3)), "U = 'ndarray'"),
        (torch.ones(2, 3, dtype=torch.int64), torch.ones(2, 3, dtype=torch.int64), "floating-point"),
    ],
)
def test_malformed_pairs_are_refused(U, V, message):
    with pytest.raises(ValueError, match=message):
        Pairs(U, V)
