"""Weights that are computed from a memory: what is bounded, what is proved, what is refused, and files."""

import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache, partial

import flint
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assocmem.deciding import certificates, feasibility, tilted
from assocmem.deciding.certificates import Certificate, ComputedWeights, holds, load, save, weights_of
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide, verify
from assocmem.deciding.preparation import prepare
from assocmem.pairs.data import Pairs, gaussian_pairs

CASES = [(14, 5, 1, 1), (16, 6, 1, 2), (16, 5, 1, 0), (14, 4, 3, 7), (20, 5, 4, 0), (12, 3, 6, 6)]
"""n, d, k and seed of instances that no memory retrieves, and whose targets do not show it alone."""


@cache
def proof(n, d, k, seed):
    """A certificate of computed weights, and the pairs it is about."""
    pairs = gaussian_pairs(n, d, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feasibility, "DENSE_DIMENSION", 0)
        verdict = decide(pairs, k)
    assert verdict.feasible is False
    assert verdict.certificate.computed is not None
    return verdict.certificate, pairs


@pytest.fixture(params=CASES, ids=lambda case: "n{}d{}k{}s{}".format(*case))
def proved(request):
    certificate, pairs = proof(*request.param)
    return certificate, pairs.U.numpy(), pairs.V.numpy()


def changed(certificate, **fields):
    return replace(certificate, computed=replace(certificate.computed, **fields))


# --- rational numbers ---------------------------------------------------------------------------------------


@np.vectorize(otypes=[object])
def rational(x):
    return flint.fmpq(*float(x).as_integer_ratio())


def as_taken(rule, U, V, k):
    """What the check takes: mapped vectors with their errors, and the weights as they come out."""
    with np.errstate(all="ignore"):
        x, dx = certificates._targets_in(rule, certificates._unit_scale(U))
        y, dy, lengths, _ = certificates._keys_in(rule, V)
        weights = np.empty((x.shape[1],) * 2)
        for keys, block in certificates._computed_blocks(rule, x, y, np.arange(y.shape[1]), k):
            weights[:, keys] = block
    return x, dx, y, dy, lengths, weights


def exact_vectors(rule, U, V, lengths):
    """Mapped targets and keys, exactly; keys divided by the lengths that were taken."""
    U = certificates._unit_scale(U)
    centre = U.mean(axis=1, keepdims=True)
    powers = np.frexp(np.abs(V).max(axis=0))[1]
    x = rational(rule.left) @ (rational(U) - rational(centre))
    return x, rational(rule.right) @ rational(np.ldexp(V, -powers)) / rational(lengths)


def exact_sum(x, y, weights):
    """The weighted sum of all comparisons."""
    return (x * weights.sum(axis=0) - x @ weights) @ y.T


def square(X, **axis):
    return (X * X).sum(**axis)


def exactly_corrected(certificate, U, V):
    """The weights less the correction of the docstring of `certificates`, all in rational numbers."""
    rule, k = certificate.computed, certificate.k
    *_, lengths, weights = as_taken(rule, U, V, k)
    x, y = exact_vectors(rule, U, V, lengths)
    j, i = np.nonzero(weights)
    A = (x[:, None, i] - x[:, None, j]) * y[None][:, :, i]
    A = _matrix(A.reshape(-1, len(i)))
    rest = _matrix(exact_sum(x, y, rational(weights)).reshape(-1, 1))
    change = A.transpose() * (A * A.transpose()).solve(rest)
    new = rational(weights)
    for place, where in enumerate(zip(j, i, strict=True)):
        new[where] -= change[place, 0]
    return new, exact_sum(x, y, new), weights


def _matrix(X):
    return flint.fmpq_mat(*X.shape, X.reshape(-1).tolist())


# --- verdicts -----------------------------------------------------------------------------------------------


def test_verdicts_by_passes_hold_in_floating_point_and_in_exact_arithmetic(proved):
    certificate, U, V = proved
    assert certificate.feasible is False
    assert holds(certificate, U, V)
    assert holds_exactly(certificate, Pairs(torch.from_numpy(U), torch.from_numpy(V)))


def test_the_floor_pays_for_the_exact_correction(proved):
    """The correction that the proof speaks of cancels all, keeps a share of the floor, and keeps the cap."""
    certificate, U, V = proved
    new, rest, weights = exactly_corrected(certificate, U, V)
    apart = ~np.eye(len(new), dtype=bool)
    least = rational(weights[apart].min())
    assert not rest.any()
    assert new[apart].min() >= least / 100 > 0
    if certificate.k > 1:
        assert all(certificate.k * max(column) <= sum(column) for column in new.T)


def test_weights_are_those_of_the_formula(proved):
    certificate, U, V = proved
    rule, k = certificate.computed, certificate.k
    x = rule.left @ (U - U.mean(axis=1, keepdims=True)) / 2.0 ** np.frexp(np.abs(U).max())[1]
    lengths = np.linalg.norm(rule.right @ V, axis=0)
    y = rule.right @ V / lengths
    T = np.exp if k == 1 else lambda t: 1 / (k * (1 + np.exp(-t)))
    own = np.einsum("ij,ij->j", x, rule.change @ y)
    expected = rule.sizes * T(x.T @ rule.W @ y - rule.levels)
    expected += rule.floor * (1 + own - x.T @ rule.change @ y)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(weights_of(certificate, U, V), expected / lengths, rtol=1e-10)


def test_units_and_shifts_of_the_vectors_do_not_matter(proved):
    certificate, U, V = proved
    lengths = np.ldexp(1.0, np.random.default_rng(0).integers(-400, 400, U.shape[1]))
    for u, v in ((2.0**900, 2.0**-900), (2.0**-900, lengths)):
        assert holds(certificate, U * u, V * v)
        weights = weights_of(certificate, U * u, V * v)
        np.testing.assert_array_equal(weights * v, weights_of(certificate, U, V))
    shifted = np.rint(U * 2**30) * 2.0**-30
    _, power = np.frexp(np.abs(shifted + 1000).max())
    left = certificate.computed.left * 2.0 ** (power - np.frexp(np.abs(U).max())[1])
    assert holds(changed(certificate, left=left), shifted + 1000, V)


@pytest.mark.parametrize("block", [1, 40, 2**23])
@pytest.mark.parametrize("tile", [1, 5, 1024])
def test_blocks_and_tiles_do_not_change_the_answer(block, tile, monkeypatch):
    for case in CASES:
        certificate, pairs = proof(*case)
        weights = weights_of(certificate, pairs.U, pairs.V)
        with monkeypatch.context() as patch:
            patch.setattr(certificates, "BLOCK", block)
            patch.setattr(certificates, "TILE", tile)
            assert verify(certificate, pairs)
            assert not verify(changed(certificate, W=-certificate.computed.W), pairs)
            np.testing.assert_allclose(weights_of(certificate, pairs.U, pairs.V), weights, rtol=1e-11)


# --- what is bounded ----------------------------------------------------------------------------------------


def powers(low, high):
    return st.integers(low, high).map(lambda p: 2.0**p)


@st.composite
def awkward(draw):
    """A rule and pairs: any scales, common offsets, equal targets and keys, keys of all lengths."""
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    k, rng = draw(st.integers(1, n - 1)), np.random.default_rng(draw(st.integers(0, 10**6)))
    U, V = rng.standard_normal((2, d, n))
    if draw(st.booleans()):
        U[:, 0], V[:, -1] = U[:, -1], V[:, 0]
    U = (U + draw(st.sampled_from([0, 1, 2.0**30])) * rng.standard_normal((d, 1))) * draw(powers(-30, 30))
    V = V * 2.0 ** rng.integers(-40, 41, n) * draw(powers(-30, 30))
    p, q = rng.integers(1, d + 1, 2)
    left, right = (rng.standard_normal((r, d)) * draw(powers(-90, 90)) for r in (p, q))
    W, change = (rng.standard_normal((p, q)) * draw(powers(-90, 9)) for _ in range(2))
    levels, sizes = rng.standard_normal(n) * draw(powers(-5, 9)), rng.random(n) * draw(powers(-90, 90))
    return ComputedWeights(left, right, W, change, levels, sizes, draw(powers(-190, 190))), U, V, k


@settings(max_examples=150, deadline=None)
@given(awkward())
def test_the_sum_of_the_very_weights_is_no_longer_than_its_bound(case):
    rule, U, V, k = case
    x, dx, y, dy, lengths, weights = as_taken(rule, U, V, k)
    if not lengths.min() > certificates.SMALL:
        return
    exact_x, exact_y = exact_vectors(rule, U, V, lengths)
    assert (square(exact_x - rational(x), axis=0) <= rational(dx) ** 2).all()
    assert (square(exact_y - rational(y), axis=0) <= rational(dy) ** 2).all()
    with np.errstate(all="ignore"):
        found = certificates._left_by_computed(rule, x, dx, y, dy, np.arange(y.shape[1]), k)
    apart = ~np.eye(len(weights), dtype=bool)
    if found is None:
        assert not (weights[apart] > 0).all() or weights.max() >= 1 / certificates.SMALL
        return
    residual, least, room = found
    exact = rational(weights)
    assert square(exact_sum(exact_x, exact_y, exact)) <= rational(residual) ** 2
    assert 0 < least == weights[apart].min()
    assert rational(room) <= min(sum(column) - k * max(column) for column in exact.T)


@settings(max_examples=150, deadline=None)
@given(awkward(), st.integers(-60, -1), st.booleans())
def test_least_extents_are_bounded_from_below(case, error, centred):
    _, X, _, _ = case
    rng = np.random.default_rng(0)
    error = np.abs(X).max() * 2.0**error * rng.random(X.shape[1])
    found = certificates._least_extent(X, error, centred=centred)
    assert found >= 0
    moved = rng.standard_normal(X.shape)  # by all that is allowed, but for rounding
    moved = rational(X) + rational(moved * (error * (1 - 1e-9) / np.linalg.norm(moved, axis=0)))
    if centred:
        moved = moved - moved.sum(axis=1, keepdims=True) / flint.fmpq(X.shape[1])
    G = moved @ moved.T - rational(found * np.eye(len(X)))
    if found:  # all leading minors are positive, which is so only if all eigenvalues are
        assert all(_matrix(G[:r, :r]).det() > 0 for r in range(1, len(G) + 1))


def test_bounds_of_extents_are_close_to_them():
    X = gaussian_pairs(60, 8, seed=0).U.numpy()
    for centred in (False, True):
        D = X - X.mean(axis=1, keepdims=True) * centred
        smallest = np.linalg.eigvalsh(D @ D.T)[0]
        found = certificates._least_extent(X, np.full(60, 1e-12), centred=centred)
        assert 0.99 * smallest < found < smallest


def test_a_factorisation_that_lies_is_caught(proved, monkeypatch):
    X = gaussian_pairs(60, 8, seed=0).U.numpy()
    smallest = np.linalg.eigvalsh(X @ X.T)[0]
    for size in (0.0, 1e-9, 1.0, 3.0, 1e9, np.nan):
        monkeypatch.setattr(np.linalg, "cholesky", lambda H, size=size: size * np.eye(len(H)))
        assert certificates._least_extent(X, np.zeros(60)) < smallest
    assert not holds(*proved)


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("floor", [1e-3, 1e-6, 1e-10, 1e-14])
@pytest.mark.parametrize("n, d, k, seed", [(14, 6, 1, 0), (16, 6, 1, 0), (14, 5, 3, 4), (6, 5, 1, 3)])
def test_the_best_tilted_weights_prove_nothing_where_some_memory_retrieves(n, d, k, seed, floor, monkeypatch):
    """All that a search comes by is offered, however much is left of the sum."""
    pairs, offered = gaussian_pairs(n, d, seed=seed), []
    assert decide(pairs, k).feasible
    monkeypatch.setattr(tilted, "HOPEFUL", np.inf)
    prepared = prepare(pairs, feasibility.ROUNDED)
    offer = partial(feasibility._floor_found, pairs, prepared, k)

    def impossible(*found):
        offered.append(offer(*found))

    begin = tilted.State(torch.zeros(d, d, dtype=torch.float64), floor)
    tilted.search(
        prepared.pairs,
        k,
        begin,
        max_passes=60,
        retrieves=lambda W: None,
        impossible=impossible,
        watch=lambda state: None,
    )
    assert len(offered) > 5
    assert not any(offered)


def test_other_pairs_and_other_tails_are_rejected(proved):
    certificate, U, V = proved
    n, d = U.shape[1], len(U)
    assert not holds(certificate, V, U)
    assert not holds(certificate, U, V[:, ::-1])
    assert not holds(certificate, U[:, 1:], V[:, 1:])
    stranger = gaussian_pairs(n, d, seed=99)
    assert not holds(certificate, stranger.U, stranger.V)
    for k in (0, -1, certificate.k + 1, n - 1, n, True, float(certificate.k)):
        if k != certificate.k or isinstance(k, float):
            assert not holds(replace(certificate, k=k), U, V), k


def test_maps_that_lose_something_prove_nothing():
    """Without its last coordinates no memory retrieves the instance; with them some memory does."""
    certificate, pairs = proof(16, 6, 1, 2)
    rule, more = certificate.computed, gaussian_pairs(16, 12, seed=0)
    rng = np.random.default_rng(0)
    for size in (1.0, 2.0**-40, 2.0**-300):
        U, V = (torch.vstack([X, size * Y[6:]]) for X, Y in ((pairs.U, more.U), (pairs.V, more.V)))
        assert decide(Pairs(U, V)).feasible
        for rest in (np.zeros((6, 6)), 1e-12 * rng.standard_normal((6, 6))):
            power = 2.0 ** (np.frexp(float(U.abs().max()))[1] - np.frexp(float(pairs.U.abs().max()))[1])
            left, right = np.hstack([rule.left * power, rest]), np.hstack([rule.right, rest])
            assert not verify(changed(certificate, left=left, right=right), Pairs(U, V))
            left, right = (np.vstack([X, np.hstack([rest, 1e-9 * np.eye(6)])]) for X in (left, right))
            W, change = (np.pad(X, (0, 6)) for X in (rule.W, rule.change))
            padded = changed(certificate, left=left, right=right, W=W, change=change)
            assert not verify(padded, Pairs(U, V))
    zeros = torch.zeros_like(pairs.U)
    U, V = torch.vstack([pairs.U, zeros]), torch.vstack([zeros, pairs.V])  # nothing is lost here
    left, right = np.hstack([rule.left, 0 * rule.left]), np.hstack([0 * rule.right, rule.right])
    assert verify(changed(certificate, left=left, right=right), Pairs(U, V))


def test_a_key_that_a_map_makes_zero_proves_nothing(proved):
    certificate, U, V = proved
    V = V.copy()
    V[:, 0] = 0
    assert not holds(certificate, U, V)
    assert not np.isfinite(weights_of(certificate, U, V)).all()


def strange():
    """Fields that are none, or that make numbers overflow, vanish or be none."""
    for name in ("left", "right", "W", "change", "levels", "sizes"):
        yield from (
            {name: None},
            {name: "text"},
            {name: [[1.0], [1.0, 2.0]]},
            {name: np.zeros((0, 5))},
            {name: lambda X: X[:-1]},
            {name: lambda X: X[None]},
            {name: lambda X: X.astype(complex)},
            {name: lambda X: X.astype(np.longdouble)},
            {name: lambda X: X.astype(object)},
            {name: lambda X: X * np.nan},
            {name: lambda X: np.full_like(X, 1e308)},
            {name: lambda X: np.full_like(X, -1e308)},
        )
    for name in ("left", "right"):
        yield from ({name: lambda X, size=size: X * size} for size in (0.0, 1e-300, 1e-70, 1e200, 1e300))
    for value in (
        0.0,
        -1.0,
        np.nan,
        np.inf,
        5e-324,
        1e-300,
        1e300,
        1,
        None,
        "1",
        [[1.0], [1.0, 2.0]],
        np.ones(2),
        torch.ones(1, device="meta"),
        1 + 1j,
        np.longdouble(1),
        True,
    ):
        yield {"floor": value}
    yield {"sizes": lambda X: -X}
    yield {"sizes": lambda X: 0 * X}
    yield {"levels": lambda X: X - 2000}
    yield {"levels": lambda X: X + 2000}


def test_strange_numbers_prove_nothing_and_raise_nothing():
    for case in (CASES[0], CASES[3]):
        certificate, pairs = proof(*case)
        for number, fields in enumerate(strange()):
            given = {
                name: value(getattr(certificate.computed, name)) if callable(value) else value
                for name, value in fields.items()
            }
            false = changed(certificate, **given)
            assert not verify(false, pairs), (number, fields)
            weights = weights_of(false, pairs.U, pairs.V)
            assert weights is None or weights.shape == (pairs.n, pairs.n)
    assert not holds(Certificate(1, computed="weights"), pairs.U, pairs.V)


def test_there_are_weights_only_where_they_fit(proved):
    certificate, U, V = proved
    assert weights_of(certificate, U[:, 1:], V[:, 1:]) is None
    assert weights_of(Certificate(1, W=np.eye(len(U))), U, V) is None
    assert weights_of(None, U, V) is None
    stored = np.ones((U.shape[1],) * 2)
    np.testing.assert_array_equal(weights_of(Certificate(1, weights=stored), U, V), stored)
    for X, Y in ((0 * U, V), (U, 0 * V)):  # no proof, but no reason to fail either
        assert weights_of(certificate, X, Y).shape == stored.shape
        assert not holds(certificate, X, Y)


@pytest.mark.parametrize("n, d", [(2, 1), (3, 1), (4, 2)])
def test_the_smallest_instances(n, d):
    """With equal keys, equal weights on all comparisons cancel."""
    rng = np.random.default_rng(n)
    U, V = rng.standard_normal((d, n)), np.ones((1, n))
    one = ComputedWeights(
        np.eye(d), np.eye(1), np.zeros((d, 1)), np.zeros((d, 1)), np.zeros(n), np.zeros(n), 1.0
    )
    if d == 1:
        assert holds(Certificate(1, computed=one), U, V)
        assert holds(Certificate(1, computed=replace(one, sizes=np.ones(n), floor=1e-3)), U, V)
        assert holds(Certificate(1, computed=one), U, np.arange(1.0, n + 1)[None])  # lengths play no part
        assert not holds(Certificate(1, computed=one), U, np.where(np.arange(n) < n // 2, 1.0, -1.0)[None])
    assert not holds(Certificate(n - 1, computed=one), U, V) or n == 2  # there is no room below the cap
    W = np.zeros((d, 1))
    W[0] = 1
    assert not holds(Certificate(1, computed=replace(one, W=W, sizes=np.ones(n), floor=1e-3)), U, V)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.sampled_from([1, 7, 2**15, 2**40]), st.integers(0, 10**6))
def test_coordinates_that_depend_on_others_are_told_from_those_that_nearly_do(r, more, size, seed):
    """Combinations with any fractions; then with one digit changed, also by a multiple of the prime."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-(2**20), 2**20, (r, 9)).astype(object)
    shares = rng.integers(-size, size + 1, (more, r)).astype(object)
    Z = np.vstack([rows * int(rng.integers(1, size + 1)), shares @ rows])
    if np.linalg.matrix_rank(rows.astype(float)) < r:
        return
    assert certificates._rest_depends(Z, r)
    for step in (1, certificates.PRIME, 2**60):
        other = Z.copy()
        other[-1, rng.integers(9)] += step
        assert not certificates._rest_depends(other, r)


# --- files --------------------------------------------------------------------------------------------------


def test_files_carry_all_that_a_check_needs(proved, tmp_path):
    certificate, U, V = proved
    save(tmp_path / "proof.npz", certificate, U, V)
    again, *pairs = load(tmp_path / "proof.npz")
    assert again.k == certificate.k
    assert again.weights is None is again.W
    for name in certificates.RULE:
        np.testing.assert_array_equal(getattr(again.computed, name), getattr(certificate.computed, name))
    assert holds(again, *pairs)
    with np.load(tmp_path / "proof.npz") as file:
        assert file["format"] == 2
        assert sum(file[name].size for name in file) < U.size * 6 + 5 * len(U) ** 2


def test_older_files_are_read_and_those_of_other_formats_are_refused(tmp_path):
    certificate, pairs = proof(*CASES[0])
    U, V = pairs.U.numpy(), pairs.V.numpy()
    body = {"k": 1, "U": U, "V": V}
    rule = {"computed_" + name: getattr(certificate.computed, name) for name in certificates.RULE}
    weights = {"weights": weights_of(certificate, U, V)}
    np.savez(tmp_path / "old.npz", format=1, **body, **weights)
    np.savez(tmp_path / "new.npz", format=2, **body, **rule)
    for name, stored in (("old.npz", True), ("new.npz", False)):
        again, *_ = load(tmp_path / name)
        assert (again.computed is None) is stored
        assert holds(again, U, V)
    np.savez(tmp_path / "both.npz", format=2, **body, **rule, **weights)
    assert not holds(*load(tmp_path / "both.npz"))
    for version, content in ((3, rule), (1, rule), (2, weights), (3, weights)):
        np.savez(tmp_path / "other.npz", format=version, **body, **content)
        with pytest.raises(ValueError, match="other.npz': a certificate of a newer format"):
            load(tmp_path / "other.npz")
    for name in rule:
        np.savez(tmp_path / "part.npz", format=2, **body, **{key: rule[key] for key in rule if key != name})
        with pytest.raises(ValueError, match="part.npz': (not a|a certificate of a newer)"):
            load(tmp_path / "part.npz")


def test_the_module_alone_checks_files(tmp_path):
    certificate, pairs = proof(*CASES[3])
    save(tmp_path / "good.npz", certificate, pairs.U, pairs.V)
    save(tmp_path / "bad.npz", changed(certificate, W=-certificate.computed.W), pairs.U, pairs.V)
    script = shutil.copy(certificates.__file__, tmp_path / "certificates.py")
    command = [sys.executable, "-I", script, "good.npz", "bad.npz"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    claim = "no memory retrieves all pairs, (d, n) = (4, 14), at k = 3"
    assert done.stdout == f"good.npz: {claim}: proved\nbad.npz: {claim}: NOT proved\n"
    assert (done.returncode, done.stderr) == (1, "")
