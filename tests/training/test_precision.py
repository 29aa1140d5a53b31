"""Products in less than double precision: how numbers are rounded, and what that does to a pass."""

import pytest
import torch

from assocmem.pairs.data import gaussian_pairs
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import hessian_pass, loss_pass
from assocmem.training.precision import PRECISIONS, Products, rounded_to_tf32


def test_rounding_to_ten_bits():
    x = torch.randn(4000, generator=torch.Generator().manual_seed(0)) * 10.0 ** torch.arange(-20, 20).repeat(
        100
    )
    mantissa, exponent = torch.frexp(x.double())
    expected = torch.ldexp(torch.round(mantissa * 2**11), exponent - 11)  # ties to even
    assert torch.equal(rounded_to_tf32(x).double(), expected)
    ties = torch.tensor([1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 0.0, torch.inf])
    assert rounded_to_tf32(ties).tolist() == [1, 1 + 2.0**-9, -1, 0, torch.inf]


def test_products_have_the_digits_of_their_precision():
    generator = torch.Generator().manual_seed(0)
    U, X, T = torch.randn(3, 40, 30, dtype=torch.float64, generator=generator)
    error = {}
    for precision in PRECISIONS:
        products = Products(U, precision)
        S = products.scores(X, products.space(30))
        pulled = products.pulled(T[:30].T.contiguous().T)
        assert pulled.dtype == torch.float64
        error[precision] = max(
            float((S.double() - X.T @ U).norm() / (X.T @ U).norm()),
            float((pulled - U @ T[:30]).norm() / (U @ T[:30]).norm()),
        )
    assert error["float64"] < 1e-15
    assert 1e-8 < error["float32"] < 1e-6
    assert 1e-8 < error["tf32x3"] < 1e-6
    assert 1e-4 < error["tf32"] < 1e-3


@pytest.mark.parametrize("loss", [CrossEntropy(), TailAverage(0.15, 30.0)], ids=str)
def test_passes_follow_the_exact_one_in_every_precision(loss):
    pairs = gaussian_pairs(60, 9, seed=0)
    W, D = torch.randn(2, 9, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    exact, product = loss_pass(pairs, loss, W, features=True), hessian_pass(pairs, loss, W, D)
    for precision, tolerance in (("tf32", 3e-2), ("tf32x3", 2e-5), ("float32", 2e-5), ("float64", 0)):
        rough = loss_pass(pairs, loss, W, features=True, precision=precision)
        assert rough.loss == pytest.approx(exact.loss, rel=tolerance, abs=0)
        for name in ("gradient", "margins", "features", "curvature"):
            mine, theirs = getattr(rough, name), getattr(exact, name)
            assert mine.dtype == torch.float64
            assert float((mine - theirs).norm()) <= tolerance * float(theirs.norm()), (precision, name)
        error = hessian_pass(pairs, loss, W, D, precision=precision) - product
        assert float(error.norm()) <= 10 * tolerance * float(product.norm())


def test_an_unknown_precision_is_refused():
    pairs = gaussian_pairs(6, 3, seed=0)
    W = torch.zeros(3, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="precision = 'half': must be one of tf32, float32, tf32x3, float64"):
        loss_pass(pairs, CrossEntropy(), W, precision="half")
