"""Forms of fresh vectors: spectra that are known, and normal copies."""

import math

import pytest
import torch

from assocmem.book.claims import check
from assocmem.experiments.removals.bilinear_forms import (
    copy_distance,
    copy_evidence,
    eigenvalue_scatter,
    sharing_eigenvalues,
)


def vectors(d, m, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(d, m, generator=generator, dtype=torch.float64) / math.sqrt(d)


def diagonal(*values):
    return torch.diag(torch.tensor(values, dtype=torch.float64))


def test_eigenvalues_that_share_the_norm():
    assert sharing_eigenvalues(torch.eye(7, dtype=torch.float64)) == pytest.approx(7)
    assert sharing_eigenvalues(diagonal(5.0, 0, 0)) == pytest.approx(1)
    assert sharing_eigenvalues(diagonal(1.0, math.sqrt(3.0))) == pytest.approx(16 / 10)


def test_the_scatter_of_eigenvalues():
    assert eigenvalue_scatter(torch.eye(7, dtype=torch.float64)) == 0
    assert eigenvalue_scatter(diagonal(1.0, math.sqrt(3.0))) == pytest.approx(0.5)


def test_a_key_of_the_expected_length_is_its_own_copy():
    u, v = vectors(5, 3, 1), vectors(5, 3, 2)
    v = v / v.norm(dim=0)
    assert copy_distance(torch.eye(5, dtype=torch.float64), u, v) == pytest.approx(0, abs=1e-12)
    stretched = copy_distance(torch.eye(5, dtype=torch.float64), u, 1.5 * v)
    form = torch.linalg.vecdot(u, v, dim=0) * math.sqrt(5)
    assert stretched == pytest.approx(0.5 * float(form.square().mean().sqrt()))


def test_the_scale_does_not_depend_on_the_norm():
    u, v, W = vectors(6, 50, 1), vectors(6, 50, 2), vectors(6, 6, 3)
    assert copy_distance(3 * W, u, v) == pytest.approx(copy_distance(W, u, v))
    assert sharing_eigenvalues(3 * W) == pytest.approx(sharing_eigenvalues(W))


def test_the_check_tells_shared_norms_from_scatter():
    u, v = vectors(40, 4000, 1), vectors(40, 4000, 2)
    half = torch.eye(40, dtype=torch.float64) * (torch.arange(40) < 20)
    memories = {"alike": torch.eye(40, dtype=torch.float64), "half": half}
    found = check(**copy_evidence(memories, u, v))
    assert found.verdict == "holds with limits"
    assert found.what.endswith("for alike, half")
