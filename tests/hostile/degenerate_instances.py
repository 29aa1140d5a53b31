"""Instances in no general position: equal and parallel keys, subspaces, other units, lengths far apart.

`ROUNDED` are the kinds where what rounding leaves of a dependence decides, so that an answer may be missing.
"""

import numpy as np
import torch
from scipy.optimize import linprog

from assocmem.pairs.data import Pairs, gaussian_pairs

SHAPES = ((20, 12), (30, 8), (20, 6))
ROUNDED = ("keys parallel up to rounding", "subspaces up to rounding")


def instances(seeds):
    """Name and pairs of every kind, in every shape, for every seed."""
    for n, d in SHAPES:
        for seed in seeds:
            for name, change in KINDS.items():
                pairs = gaussian_pairs(n, d, seed=seed)
                U, V = change(pairs.U.numpy().copy(), pairs.V.numpy().copy(), np.random.default_rng(seed))
                yield f"{name}, n = {n}, d = {d}, seed {seed}", Pairs(torch.tensor(U), torch.tensor(V))


def best_margin(pairs):
    """The largest margin over the length of its comparison, for a memory with entries of at most one: an LP.

    In coordinates in which vectors look alike in all directions, so that the program is well scaled.
    """
    U, V = pairs.U.numpy(), pairs.V.numpy()
    U, V = _even(U - U[:, :1]), _even(V / np.abs(V).max(axis=0))
    V = V / np.linalg.norm(V, axis=0)
    n = pairs.n
    A = np.array([np.outer(U[:, i] - U[:, j], V[:, i]).ravel() for i in range(n) for j in range(n) if i != j])
    sizes = np.linalg.norm(A, axis=1, keepdims=True)
    A = np.divide(A, sizes, out=np.zeros_like(A), where=sizes > 0)
    found = linprog(
        np.append(np.zeros(A.shape[1]), -1),
        A_ub=np.c_[-A, np.ones(len(A))],
        b_ub=np.zeros(len(A)),
        bounds=[(-1, 1)] * A.shape[1] + [(None, 1)],
    )
    return -found.fun


def _even(X):
    size = np.abs(X).max(axis=1, keepdims=True)
    left, values, _ = np.linalg.svd(
        np.divide(X, size, out=np.zeros_like(X), where=size > 0), full_matrices=False
    )
    kept = values > 1e-13 * values[0]
    return (left[:, kept] / values[kept]).T @ np.divide(X, size, out=np.zeros_like(X), where=size > 0)


# --- the kinds: each changes random targets U and keys V ----------------------------------------------------


def _equal_keys(U, V, rng):
    V[:, 1] = V[:, 0]
    return U, V


def _parallel_keys(U, V, rng):
    V[:, 1] = 4 * V[:, 0]
    return U, V


def _nearly_parallel_keys(U, V, rng):
    V[:, 1] = V[:, 0] * 0.1
    return U, V


def _opposite_keys(U, V, rng):
    V[:, 1] = -V[:, 0]
    return U, V


def _keys_in_a_plane(U, V, rng):
    V[2:, :6] = 0
    return U, V


def _keys_in_a_subspace(U, V, rng):
    V[len(V) // 2 :] = 0
    return U, V


def _targets_in_a_subspace(U, V, rng):
    U[len(U) // 2 :] = 0
    return U, V


def _both_in_subspaces(U, V, rng):
    U[len(U) // 2 :], V[len(V) // 2 :] = 0, 0
    return U, V


def _coordinates_twice(U, V, rng):
    U[-1], V[-1] = U[0], V[1]
    return U, V


def _subspaces_up_to_rounding(U, V, rng):
    Q = np.linalg.qr(rng.standard_normal((len(U), len(U))))[0]
    U[len(U) // 2 :], V[len(V) // 2 :] = 0, 0
    return Q @ U, Q @ V


def _equal_targets(U, V, rng):
    U[:, 3] = U[:, 4]
    return U, V


def _a_long_key(U, V, rng):
    V[:, 0] *= 1e12
    return U, V


def _keys_of_all_lengths(U, V, rng):
    return U, V * 10.0 ** rng.uniform(-8, 8, V.shape[1])


def _a_long_target(U, V, rng):
    U[:, 0] *= 1e12
    return U, V


def _targets_of_all_lengths(U, V, rng):
    return U * 10.0 ** rng.uniform(-3, 3, U.shape[1]), V


def _small_targets(U, V, rng):
    return U * 1e-6, V


def _small_keys(U, V, rng):
    return U, V * 1e-9


def _coordinates_in_all_units(U, V, rng):
    shape = (len(U), 1)
    return U * 10.0 ** rng.uniform(-6, 6, shape), V * 10.0 ** rng.uniform(-6, 6, shape)


def _correlated_coordinates(U, V, rng):
    A = rng.standard_normal((len(U), len(U))) @ np.diag(10.0 ** np.linspace(-4, 4, len(U)))
    return A @ U, A.T @ V


def _targets_far_from_zero(U, V, rng):
    return U + 1e6 * rng.standard_normal((len(U), 1)), V


def _keys_far_from_zero(U, V, rng):
    return U, V + 1e4 * rng.standard_normal((len(V), 1))


def _signs(U, V, rng):
    return np.sign(U), np.sign(V)


def _one_hot_targets(U, V, rng):
    places = np.arange(U.shape[1])
    U[:] = 0
    U[places % len(U), places] = 1 + places // len(U)
    return U, V


KINDS = {
    "equal keys": _equal_keys,
    "parallel keys": _parallel_keys,
    "keys parallel up to rounding": _nearly_parallel_keys,
    "opposite keys": _opposite_keys,
    "keys in a plane": _keys_in_a_plane,
    "keys in a subspace": _keys_in_a_subspace,
    "targets in a subspace": _targets_in_a_subspace,
    "both in subspaces": _both_in_subspaces,
    "coordinates twice": _coordinates_twice,
    "subspaces up to rounding": _subspaces_up_to_rounding,
    "equal targets": _equal_targets,
    "a long key": _a_long_key,
    "keys of all lengths": _keys_of_all_lengths,
    "a long target": _a_long_target,
    "targets of all lengths": _targets_of_all_lengths,
    "small targets": _small_targets,
    "small keys": _small_keys,
    "coordinates in all units": _coordinates_in_all_units,
    "correlated coordinates": _correlated_coordinates,
    "targets far from zero": _targets_far_from_zero,
    "keys far from zero": _keys_far_from_zero,
    "signs": _signs,
    "one-hot targets": _one_hot_targets,
}
