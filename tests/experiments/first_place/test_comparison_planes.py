"""Comparisons in a plane: their coordinates from the definition, and polygons that close."""

import numpy as np
import pytest
import torch

from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.first_place.comparison_planes import head_to_tail, plane_coordinates
from assocmem.pairs.data import gaussian_pairs


def test_coordinates_are_inner_products_with_two_orthogonal_matrices_of_length_one():
    pairs, n = gaussian_pairs(5, 3, seed=0), 5
    W = torch.from_numpy(np.random.default_rng(1).standard_normal((3, 3)))
    X = torch.randn((3, 3), generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    X = X - W * float((W * X).sum() / (W * W).sum())
    assert float((W * X).sum()) == pytest.approx(0, abs=1e-12)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    off = [(j, i) for j in range(n) for i in range(n) if i != j]
    A = np.array([np.outer(U[:, i] - U[:, j], V[:, i]) for j, i in off])
    expected = [(A * (D / D.norm()).numpy()).sum(axis=(1, 2)) for D in (W, X)]
    np.testing.assert_allclose(plane_coordinates(pairs, W, seed=7), expected, atol=1e-12)


def test_along_a_memory_that_retrieves_all_comparisons_are_positive():
    pairs = gaussian_pairs(10, 7, seed=0)
    W = torch.from_numpy(decide_top1(pairs).certificate.W)
    assert plane_coordinates(pairs, W, seed=0)[0].min() > 0


def test_the_polygon_of_a_certificate_closes_and_is_convex():
    pairs = gaussian_pairs(10, 3, seed=0)
    weights = decide_top1(pairs).certificate.weights
    corners = head_to_tail(plane_coordinates(pairs, pairs.U @ pairs.V.T, seed=0), weights)
    assert corners.shape == (2, 91)
    np.testing.assert_array_equal(corners[:, 0], 0)
    perimeter = np.linalg.norm(np.diff(corners, axis=1), axis=0).sum()
    np.testing.assert_allclose(corners[:, -1], 0, atol=1e-9 * perimeter)
    x, y = np.diff(corners, axis=1)
    assert np.min(x[:-1] * y[1:] - y[:-1] * x[1:]) > -1e-12  # it only turns left


def test_other_weights_do_not_close():
    pairs = gaussian_pairs(10, 7, seed=0)
    corners = head_to_tail(plane_coordinates(pairs, pairs.U @ pairs.V.T, seed=0), 1 - np.eye(10))
    assert np.linalg.norm(corners[:, -1]) > 1
