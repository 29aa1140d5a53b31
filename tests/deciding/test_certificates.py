"""A certificate is accepted only where it proves something; forgeries, strangers and close calls are not."""

import ast
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assocmem.deciding import certificates
from assocmem.deciding.certificates import Certificate, holds, load, save
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide, verify
from assocmem.pairs.data import Pairs, gaussian_pairs

N, DOUBLE = 16, torch.float64
CASES = [(5, 1), (7, 1), (3, 4), (6, 4), (2, 15), (4, 15)]  # d, k; some feasible, some not


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"d{case[0]}k{case[1]}")
def proved(request):
    d, k = request.param
    pairs = gaussian_pairs(N, d, seed=5)
    return decide(pairs, k).certificate, pairs


def test_genuine_ones_hold_in_floating_point_and_in_exact_arithmetic(proved):
    assert verify(*proved)
    assert holds_exactly(*proved)


def test_both_kinds_are_among_the_cases():
    kinds = {(k, decide(gaussian_pairs(N, d, seed=5), k).feasible) for d, k in CASES}
    assert kinds == {(k, answer) for k in (1, 4, 15) for answer in (True, False)}


def test_other_data_are_rejected(proved):
    certificate, pairs = proved
    stranger = gaussian_pairs(N, pairs.d, seed=6)
    assert not verify(certificate, stranger)
    assert not holds_exactly(certificate, stranger)
    assert not verify(certificate, Pairs(pairs.V, pairs.U))
    assert not verify(certificate, gaussian_pairs(N + 1, pairs.d, seed=5))


def test_one_key_more_wrong_is_rejected(proved):
    """One target exchanged with that which its key likes least, or one weight negated."""
    certificate, pairs = proved
    if certificate.feasible:
        U = pairs.U.clone()
        least = int((U.T @ torch.from_numpy(certificate.W) @ pairs.V[:, 0]).argmin())
        U[:, [0, least]] = U[:, [least, 0]]
        assert not verify(certificate, Pairs(U, pairs.V))
        assert not holds_exactly(certificate, Pairs(U, pairs.V))
        forged = replace(certificate, W=-certificate.W)
    else:
        weights = certificate.weights.copy()
        j, i = np.unravel_index(weights.argmax(), weights.shape)
        weights[j, i] *= -1
        forged = replace(certificate, weights=weights)
    assert not verify(forged, pairs)
    assert not holds_exactly(forged, pairs)


def test_a_memory_that_misses_one_key_is_rejected():
    pairs = gaussian_pairs(N, 7, seed=5)
    W = decide(pairs).certificate.W
    gap, v = (pairs.U[:, 3] - pairs.U[:, 4]).numpy(), pairs.V[:, 3].numpy()
    margin = gap @ W @ v
    for past, answer in ((0.999999, True), (1.000001, False)):
        moved = W - past * margin * np.outer(gap, v) / (gap @ gap * v @ v)
        others = decide(pairs).certificate.k == 1 and _worst_but(pairs, moved, (4, 3)) > 0
        if others:
            assert verify(Certificate(1, W=moved), pairs) is answer
    nearly = W - margin * np.outer(gap, v) / (gap @ gap * v @ v)  # zero but for rounding: nobody can tell
    assert not verify(Certificate(1, W=nearly), pairs)


def _worst_but(pairs, W, left_out):
    U, V = pairs.U.numpy(), pairs.V.numpy()
    S = U.T @ W @ V
    gaps = S.diagonal() - S
    np.fill_diagonal(gaps, np.inf)
    gaps[left_out] = np.inf
    return gaps.min()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.floats(-17, 3), d=st.integers(5, 7))
def test_no_weights_prove_that_a_retrievable_instance_is_not(seed, size, d):
    """Weights of the loss far out, where they almost cancel, and any multiples of them."""
    pairs = gaussian_pairs(6, d, seed=seed)  # n <= d + 1: always some memory
    rng = np.random.default_rng(seed)
    W = torch.from_numpy(rng.standard_normal((d, d))) * 10.0**size
    weights = torch.softmax(pairs.U.T @ W @ pairs.V, dim=0).numpy() * 10 ** rng.uniform(-9, 0, (6, 6))
    np.fill_diagonal(weights, 0)
    assert not verify(Certificate(1, weights=weights), pairs)


@pytest.mark.parametrize("epsilon", [2.0**-20, 2.0**-60, 2.0**-500, 2.0**-1000])
def test_an_instance_that_is_barely_retrievable(epsilon):
    """Keys 1 and -epsilon: w = -1 retrieves both pairs, but one weight leaves a sum of only epsilon."""
    pairs = Pairs(torch.tensor([[0.0, 1.0]], dtype=DOUBLE), torch.tensor([[1.0, -epsilon]], dtype=DOUBLE))
    weights = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert not verify(Certificate(1, weights=weights), pairs)
    assert not holds_exactly(Certificate(1, weights=weights), pairs)
    assert holds_exactly(Certificate(1, W=np.array([[-1.0]])), pairs)


def claims(U, V, **certificate):
    certificate.setdefault("k", 1)
    return holds(Certificate(**certificate), np.array(U), np.array(V))


def test_squares_that_underflow_do_not_make_a_sum_small():
    tiny = np.array([[0, 1], [2.0**-600, 0]])
    assert not claims([[0, 1.0]], [[-1, 2.0**-540]], weights=tiny)  # w = 1 retrieves both
    assert claims([[0, 1.0]], [[-1, 2.0**-540]], W=np.array([[1.0]]))
    weights = np.array([[0, 1, 2.0**-600], [1, 0, 2.0**-600], [1, 1, 0]])
    assert not claims([[1.0, 0, 0]], [[1.0, -(2.0**-560), -(2.0**-560)]], k=2, weights=weights)


def test_a_tiny_key_needs_a_margin_above_its_own_rounding():
    """Products of the key with the gap cancel to their last digits, far below the sizes of other keys."""
    rng, answers = np.random.default_rng(0), set()
    for _ in range(300):
        U, V = rng.standard_normal((3, 2)), rng.standard_normal((3, 2))
        gap = U[:, 0] - U[:, 1]
        V[:, 0] -= gap * (gap @ V[:, 0]) / (gap @ gap)
        V[:, 0] *= 2.0**-560
        V[:, 1] -= gap * (gap @ V[:, 1] + 1) / (gap @ gap)
        exact = holds_exactly(Certificate(1, W=np.eye(3)), Pairs(torch.from_numpy(U), torch.from_numpy(V)))
        answers.add((claims(U, V, W=np.eye(3)), exact))
    assert answers >= {(False, False), (False, True)}  # most are too close
    assert (True, False) not in answers


def test_a_factor_of_zeros_is_no_proof_for_tiny_numbers(monkeypatch):
    monkeypatch.setattr(np.linalg, "cholesky", np.zeros_like)
    weights = 2.0**-600 * (1 - np.eye(2))
    ask = certificates._smallest_eigenvalue_exceeds
    assert not ask(2.0**-610, weights, weights.sum(axis=0), np.eye(2), np.eye(2), np.arange(2), False)


@pytest.mark.parametrize(
    "U, k",
    [
        (np.array([[2**53 + 1, 2**53]]), 1),
        (np.array([[1 + np.longdouble(2) ** -60, 1]]), 1),
        (np.array([[1 + 1j, 1]]), 1),
        (np.array([["1", "1"]]), 1),
        (np.array([[1.0, 1.0]]), 1.0),
        (np.array([[1.0, 1.0]]), "1"),
        (np.array([[1.0, 1.0]]), np.array([1])),
    ],
    ids=["integers", "long", "complex", "text", "k real", "k text", "k array"],
)
def test_numbers_that_a_conversion_would_change_are_rejected(U, k):
    weights = 1 - np.eye(2)
    assert not holds(Certificate(k, weights=weights), U, np.array([[1.0, -1.0]]))
    assert holds(Certificate(1, weights=weights), np.array([[1.0, 1.0]]), np.array([[1.0, -1.0]]))


def test_small_integers_for_the_tail_do_not_wrap():
    ones = np.ones((1, 127))
    assert not holds(Certificate(np.int8(120), W=np.eye(1)), ones, ones)


@pytest.mark.parametrize("k", [0, -3, N])
def test_exact_arithmetic_checks_the_tail_too(k):
    pairs = gaussian_pairs(N, 5, seed=5)
    certificate = decide(pairs).certificate
    assert not holds_exactly(replace(certificate, k=k), pairs)
    assert not holds_exactly(replace(certificate, W=np.eye(5)), pairs)


def test_rounding_of_the_sum_is_covered():
    """The exact sum of weighted comparisons is never longer than the bound that is used."""
    pairs = gaussian_pairs(30, 6, seed=1)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    weights = decide(pairs).certificate.weights
    exact = _exact_sum(weights, U, V)
    total = weights.sum(axis=0)
    computed = (U * total - U @ weights) @ V.T
    bound = _bound(weights, U, V)
    assert 0 < np.abs(computed - exact).max() < np.linalg.norm(computed - exact) < bound
    assert bound < 1e-10


def _exact_sum(weights, U, V):
    F = np.vectorize(Fraction, otypes=[object])
    u, v, w = F(U), F(V), F(weights)
    return ((u * w.sum(axis=0) - u @ w) @ v.T).astype(float)


def _bound(weights, U, V):
    u, v = certificates._norms(U), certificates._norms(V)
    sizes = v * (u * weights.sum(axis=0) + u @ weights)
    return certificates._g(2 * len(u) + 8) * sizes.sum()


def test_smallest_eigenvalues_are_bounded_from_below():
    pairs = gaussian_pairs(40, 11, seed=1)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    weights = decide(pairs).certificate.weights
    H = sum(
        weights[j, i] * np.outer(a := np.outer(U[:, i] - U[:, j], V[:, i]).ravel(), a)
        for i in range(40)
        for j in range(40)
    )
    smallest = np.linalg.eigvalsh(H)[0]
    total, own = weights.sum(axis=0), np.arange(40)
    ask = lambda x: certificates._smallest_eigenvalue_exceeds(x, weights, total, U, V, own, False)  # noqa: E731
    np.testing.assert_allclose(certificates._gram(weights, total, U, V, own, False), H, atol=1e-13)
    assert smallest > 1e-6
    assert ask(0.95 * smallest)
    assert not ask(1.0001 * smallest)


def test_a_factorisation_that_lies_is_caught(monkeypatch):
    certificate, pairs = decide(gaussian_pairs(N, 5, seed=5)).certificate, gaussian_pairs(N, 5, seed=5)
    monkeypatch.setattr(np.linalg, "cholesky", lambda H: np.eye(len(H)))
    assert not certificate.feasible
    assert not verify(certificate, pairs)


def test_weights_above_their_cap_prove_nothing():
    pairs = gaussian_pairs(N, 3, seed=5)
    top1 = decide(pairs, 1).certificate  # true at k = 1, where weights may be concentrated
    assert verify(top1, pairs)
    for k in (4, N - 1):
        assert not verify(replace(top1, k=k), pairs)
        assert not holds_exactly(replace(top1, k=k), pairs)


def malformed():
    weights, W = np.ones((N, N)) - np.eye(N), np.eye(5)
    yield Certificate(1)
    yield Certificate(1, W=W, weights=weights)
    yield Certificate(0, weights=weights)
    yield Certificate(N, weights=weights)
    yield Certificate(1, W=np.eye(4))
    yield Certificate(1, W=np.full((5, 5), np.nan))
    yield Certificate(1, W=np.full((5, 5), np.inf))
    yield Certificate(1, W=0 * W)
    yield Certificate(1, weights=0 * weights)
    yield Certificate(1, weights=weights * np.nan)
    yield Certificate(1, weights=np.inf * (weights + np.eye(N)))
    yield Certificate(1, weights=weights + np.eye(N))
    yield Certificate(1, weights=weights[:5, :5])
    yield Certificate(1, weights=weights[0])


@pytest.mark.parametrize("certificate", list(malformed()), ids=range(14))
def test_malformed_ones_are_rejected(certificate):
    assert not verify(certificate, gaussian_pairs(N, 5, seed=5))


@pytest.mark.parametrize(
    "U, V", [(np.eye(3), np.eye(2)), (np.eye(3)[0], np.eye(3)[0]), (np.eye(3) * np.nan,) * 2]
)
def test_malformed_data_are_rejected(U, V):
    assert not holds(Certificate(1, W=np.eye(3)), U, V)


def test_dimensions_out_of_reach_of_exact_arithmetic_are_refused():
    with pytest.raises(ValueError, match="pairs = 'dimension 30': must be at most 24"):
        holds_exactly(Certificate(1, W=np.eye(30)), gaussian_pairs(4, 30, seed=0))


def test_files_carry_all_that_a_check_needs(proved, tmp_path):
    certificate, pairs = proved
    path = tmp_path / "proof.npz"
    save(path, certificate, pairs.U.numpy(), pairs.V.numpy())
    again, U, V, answers = load(path)
    assert answers is None
    assert again.k == certificate.k
    assert again.feasible == certificate.feasible
    assert holds(again, U, V)
    np.testing.assert_array_equal(U, pairs.U.numpy())


def test_tensors_and_arrays_of_any_byte_order_are_read(proved):
    certificate, pairs = proved
    U, V = pairs.U.numpy(), pairs.V.numpy()
    assert holds(certificate, pairs.U, pairs.V)
    assert holds(certificate, U.astype(">f8"), np.asfortranarray(V))
    assert not holds(certificate, pairs.U.to("meta"), V)
    assert not holds(certificate, pairs.U.bfloat16(), V)


def test_what_is_no_certificate_proves_nothing():
    for stranger in (None, "proof", 1.0, Certificate, np.eye(3)):
        assert not holds(stranger, np.eye(3), np.eye(3))
        assert not holds_exactly(stranger, gaussian_pairs(3, 3, seed=0))


def test_a_file_is_written_whole_or_not_at_all(proved, tmp_path, monkeypatch):
    certificate, pairs = proved
    path = tmp_path / "proof.npz"
    for wrong in (None, Certificate(1), replace(certificate, k=0)):
        with pytest.raises(ValueError, match="certificate = .*: must be a Certificate that fits U and V"):
            save(path, wrong, pairs.U, pairs.V)
    assert not list(tmp_path.iterdir())
    save(path, certificate, pairs.U, pairs.V)
    before = path.read_bytes()
    monkeypatch.setattr(np, "savez_compressed", _fails_half_way)
    with pytest.raises(OSError, match="no space"):
        save(path, certificate, pairs.U, pairs.V)
    assert [file.name for file in tmp_path.iterdir()] == ["proof.npz"]
    assert path.read_bytes() == before


def test_only_files_are_written(proved, tmp_path):
    certificate, pairs = proved
    os.mkfifo(tmp_path / "pipe.npz")
    for place in (tmp_path / "pipe.npz", tmp_path):
        with pytest.raises(ValueError, match="path = .*: must be a file, unlike what is there"):
            save(place, certificate, pairs.U, pairs.V)
    with pytest.raises(OSError, match=r"No such file or directory: '.*/nowhere/proof.npz'$"):
        save(tmp_path / "nowhere" / "proof.npz", certificate, pairs.U, pairs.V)
    (tmp_path / "link.npz").symlink_to(tmp_path / "proof.npz")
    save(tmp_path / "link.npz", certificate, pairs.U, pairs.V)
    assert (tmp_path / "link.npz").is_symlink()
    assert holds(*load(tmp_path / "proof.npz"))


def _fails_half_way(file, **_):
    file.write(b"half")
    raise OSError("no space")


def run_script(*arguments, folder):
    script = shutil.copy(certificates.__file__, folder / "certificates.py")
    command = [sys.executable, "-I", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_the_module_alone_checks_files(tmp_path):
    pairs = gaussian_pairs(N, 5, seed=5)
    certificate = decide(pairs).certificate
    U, V = pairs.U.numpy(), pairs.V.numpy()
    save(tmp_path / "good.npz", certificate, U, V)
    save(tmp_path / "bad.npz", certificate, V, U)
    done = run_script("good.npz", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "good.npz: no memory retrieves all pairs, (d, n) = (5, 16), at k = 1: proved\n"
    done = run_script("good.npz", "bad.npz", folder=tmp_path)
    assert done.returncode == 1
    assert "bad.npz: no memory retrieves all pairs, (d, n) = (5, 16), at k = 1: NOT proved" in done.stdout


def test_files_of_another_kind_are_refused(tmp_path):
    (tmp_path / "text.npz").write_text("no numbers here")
    np.savez(tmp_path / "other.npz", a=1)
    np.savez(tmp_path / "newer.npz", format=99, k=1, U=np.eye(2), V=np.eye(2), W=np.eye(2))
    certificate, pairs = decide(gaussian_pairs(N, 5, seed=5)).certificate, gaussian_pairs(N, 5, seed=5)
    save(tmp_path / "good.npz", certificate, pairs.U, pairs.V)
    done = run_script("good.npz", "missing.npz", "good.npz", folder=tmp_path)
    assert (done.returncode, done.stdout.count(": proved\n"), done.stderr.count("\n")) == (2, 2, 1)
    for name in ("text.npz", "other.npz", "newer.npz", "missing.npz"):
        done = run_script(name, folder=tmp_path)
        assert done.returncode == 2, name
        assert done.stderr.count("\n") == 1
        assert name in done.stderr
    assert run_script(folder=tmp_path).returncode == 2


def test_the_module_needs_numpy_alone():
    tree = ast.parse(Path(certificates.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"sys", "dataclasses", "math", "os", "numpy"}


# --- awkward data -------------------------------------------------------------------------------------------


def test_rows_are_left_out_only_where_integers_show_that_they_depend():
    X = np.random.default_rng(0).integers(-99, 99, (5, 9)).astype(float)
    dependent = np.vstack([X, X[0] - 3 * X[1], 0 * X[0], X[2]])
    for scales in (np.ones(9), 2.0 ** np.arange(-60, 30, 10)):
        assert len(certificates.spanning_rows(dependent * scales)) == 5
    nearly = dependent.copy()
    nearly[5, 3] = np.nextafter(nearly[5, 3], np.inf)
    assert len(certificates.spanning_rows(nearly)) == 8
    shifted = np.vstack([X, X[0] + 7])
    assert len(certificates.spanning_rows(shifted)) == 6
    assert len(certificates.spanning_rows(shifted, shifted=True)) == 5


def test_keys_that_are_equal_but_for_their_last_digit_do_not_contradict_each_other():
    pairs = gaussian_pairs(20, 12, seed=2)
    U, V, weights = pairs.U.numpy(), pairs.V.numpy().copy(), np.zeros((20, 20))
    weights[0, 1] = weights[1, 0] = 1.0
    V[:, 1] = V[:, 0]
    assert holds(Certificate(1, weights=weights), U, V)
    assert holds_exactly(Certificate(1, weights=weights), Pairs(pairs.U, torch.from_numpy(V)))
    V[5, 1] = np.nextafter(V[5, 1], 9)
    assert not holds(Certificate(1, weights=weights), U, V)
    assert not holds_exactly(Certificate(1, weights=weights), Pairs(pairs.U, torch.from_numpy(V)))


@pytest.mark.parametrize("seed", range(4))
def test_weights_on_few_comparisons_agree_with_exact_arithmetic(seed):
    """A target in the middle of others for two keys at once, or just outside."""
    rng, answers = np.random.default_rng(seed), []
    U, V = rng.integers(-9, 9, (3, 7)).astype(float), rng.integers(-9, 9, (3, 7)).astype(float)
    share = rng.integers(1, 9, 4) / 16.0
    share[3] = 1 - share[:3].sum()  # sometimes negative
    U[:, 0] = U[:, 1:5] @ share
    weights = np.zeros((7, 7))
    weights[1:5, 0] = np.abs(share)
    weights[6, 5] = weights[5, 6] = 1e-3
    V[:, 6] = V[:, 5]
    for change in (0.0, 1e-9):
        weights[1, 0] += change
        certificate = Certificate(1, weights=weights)
        answers.append(holds(certificate, U, V))
        pairs = Pairs(torch.from_numpy(U), torch.from_numpy(V))
        assert not answers[-1] or holds_exactly(certificate, pairs)
    assert answers[0] or share[3] < 0


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), spread=st.floats(0, 14))
def test_errors_of_mapped_vectors_are_bounded(seed, spread):
    rng = np.random.default_rng(seed)
    A, X = rng.standard_normal((3, 3)), rng.standard_normal((3, 5)) + 10.0 ** rng.uniform(0, spread)
    A[0] *= 10.0**-spread
    A[1] = A[0] * 3 + 10.0**-spread * A[1]
    centre = X[:, [int(np.abs(X).max(axis=0).argmin())]]
    mapped, error = certificates.mapped(A, X, centre)
    F = np.vectorize(Fraction, otypes=[object])
    power = float(np.abs(A @ (X - centre)).max())
    exact = F(A) @ (F(X) - F(centre)) * Fraction(2.0 ** -int(np.frexp(power)[1]))
    off = np.array([float(sum((F(mapped[:, i]) - exact[:, i]) ** 2)) ** 0.5 for i in range(5)])
    assert (off <= error).all()
    assert (error <= 1e-11 * np.linalg.norm(mapped, axis=0) + 1e-200).all()


def test_what_a_map_rounds_away_counts_against_a_proof(monkeypatch):
    pairs = gaussian_pairs(N, 5, seed=5)
    stretch = torch.diag(10.0 ** torch.arange(-4, 6, 2, dtype=torch.float64))
    turned = torch.linalg.qr(gaussian_pairs(5, 5, seed=1).U).Q @ stretch
    other = Pairs(turned @ pairs.U, pairs.V)
    certificate = decide(other).certificate
    assert not certificate.feasible
    assert verify(certificate, other)
    assert not verify(certificate, Pairs(other.U.flip(1), other.V))
    exact = certificates.mapped
    monkeypatch.setattr(certificates, "mapped", lambda *a: (exact(*a)[0], exact(*a)[1] + 1e-3))
    assert not verify(certificate, other)
