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
        (torch.ones(2, 3) / 0, torch.ones(2, 3), "U = 'a tensor with inf or nan in column 0'"),
        (np.ones((2, 3)), np.ones((2, 3)), "U = 'ndarray'"),
        (torch.ones(2, 3, dtype=torch.int64), torch.ones(2, 3, dtype=torch.int64), "floating-point"),
    ],
)
def test_malformed_pairs_are_refused(U, V, message):
    with pytest.raises(ValueError, match=message):
        Pairs(U, V)


def test_good_tensors_are_kept_and_not_copied():
    U, V = torch.ones(3, 5), torch.ones(5, 3).T
    pairs = Pairs(U, V)
    assert pairs.U is U
    assert pairs.V is V


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float8_e4m3fn])
def test_short_numbers_become_float32_without_rounding(dtype):
    U = torch.linspace(-2, 2, 12).reshape(3, 4).to(dtype)
    pairs = Pairs(U, U.clone())
    assert pairs.U.dtype == pairs.V.dtype == torch.float32
    assert torch.equal(pairs.U.to(dtype).float(), U.float())


def test_gradients_are_not_followed():
    free = torch.ones(3, 4, requires_grad=True)
    pairs = Pairs(free, torch.nn.Parameter(torch.ones(3, 4)))
    assert not (pairs.U.requires_grad or pairs.V.requires_grad)
    assert type(pairs.V) is torch.Tensor
    assert pairs.U.data_ptr() == free.data_ptr()  # the memory is shared all the same


@pytest.mark.parametrize(
    ("U", "message"),
    [
        (None, "U = 'NoneType': must be a floating-point tensor of shape"),
        ("abc", "U = 'str'"),
        (Pairs, "U = 'the class Pairs'"),
        ([[1.0, 2.0]], "U = 'list'"),
        (torch.ones(0, 4), r"U = '\(0, 4\) float32 on cpu': must be at least one row"),
        (torch.ones(3, 4, dtype=torch.complex64), "complex64"),
        (torch.eye(4).to_sparse(), "sparse_coo float32 on cpu': must be a floating-point tensor"),
        (torch.ones(3, 4, device="meta"), "on meta': must be a floating-point tensor .* on cpu or cuda"),
        (torch.full((3, 4), torch.nan, dtype=torch.float16), "U = 'a tensor with inf or nan in column 0'"),
    ],
    ids=str,
)
def test_what_is_no_matrix_of_numbers_is_refused(U, message):
    with pytest.raises(ValueError, match=message):
        Pairs(U, U)


@pytest.mark.parametrize("seed", [-1, 1.5, True, None, "7"])
def test_derived_seeds_are_of_integers(seed):
    with pytest.raises(ValueError, match="seed = .*: must be an integer >= 0"):
        derived_seed(seed, 1)
    with pytest.raises(ValueError, match="indices = "):
        derived_seed(1, seed)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_without_a_shape_are_refused():
    U = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with pytest.raises(ValueError, match="U = 'nested float32 on cpu': must be a floating-point tensor"):
        Pairs(U, U)


def test_short_integers_of_numpy_do_not_overflow():
    short = gaussian_pairs(np.int8(9), np.int16(3), seed=np.uint8(2))
    assert torch.equal(short.U, gaussian_pairs(9, 3, seed=2).U)
