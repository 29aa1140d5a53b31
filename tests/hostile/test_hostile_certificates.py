"""Forged certificates never hold, and broken files never do more than fail in one line."""

import numpy as np
import pytest
import torch
from degenerate_instances import ROUNDED, instances

from assocmem.deciding.certificates import Certificate, _main, holds, save
from assocmem.deciding.comparisons import cancellation
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide_top1
from assocmem.pairs.data import Pairs, gaussian_pairs

pytestmark = pytest.mark.faults

EACH = 12
"""Forgeries of one instance."""


def decided():
    """Instances with their verdicts: random ones of both kinds, and degenerate ones."""
    random = [
        (f"random, d = {d}, seed {seed}", gaussian_pairs(16, d, seed=seed))
        for d in (5, 6, 7, 8)
        for seed in range(4)
    ]
    degenerate = [case for case in instances([3]) if not case[0].startswith(ROUNDED)]
    return [(name, pairs, decide_top1(pairs)) for name, pairs in random + degenerate]


def test_no_memory_or_weights_prove_the_opposite(report_trials):
    """Weights that almost cancel where some memory retrieves, and memories that almost do where none can."""
    faults, trials = [], 0
    for number, (name, pairs, verdict) in enumerate(decided()):
        rng = np.random.default_rng(number)
        forge = _almost_cancelling if verdict.feasible else _almost_retrieving
        for count in range(EACH):
            forged = forge(pairs, verdict.certificate, rng, count)
            trials += 1
            if holds(forged, pairs.U, pairs.V):
                faults.append(f"{name}: forgery {count} holds, though the verdict is {verdict.feasible}")
    report_trials("forged certificates", trials, faults)


def _almost_cancelling(pairs, genuine, rng, count):
    """Weights of the loss far out, on all comparisons or on the tightest, some made to cancel further."""
    W = torch.from_numpy(genuine.W) * 10.0 ** rng.uniform(-3, 3) / np.abs(genuine.W).max()
    S = pairs.U.T @ W @ pairs.V
    weights = torch.softmax(S / 10.0 ** rng.uniform(-2, 2), dim=0).fill_diagonal_(0)
    if count % 3 == 1:  # on a few comparisons only
        smallest = weights.flatten().sort(descending=True).values[rng.integers(2, 40)]
        weights = torch.where(weights >= smallest, weights, 0.0)
    if count % 3 == 2:  # steps towards weights that cancel
        for _ in range(200):
            rest = cancellation(pairs, weights)
            slope = (pairs.U.T @ rest @ pairs.V).diagonal() - pairs.U.T @ rest @ pairs.V
            weights = (weights + 0.1 * slope / slope.abs().max()).clamp_(min=0).fill_diagonal_(0)
    return Certificate(1, weights=weights.numpy())


def _almost_retrieving(pairs, genuine, rng, count):
    """Memories that retrieve all but the pairs that are hardest, or random ones."""
    if count % 2:
        return Certificate(1, W=rng.standard_normal((pairs.d, pairs.d)) * 10.0 ** rng.uniform(-9, 9))
    kept = np.sort(rng.permutation(pairs.n)[: pairs.n // 2])
    found = decide_top1(Pairs(pairs.U[:, kept], pairs.V[:, kept]), max_steps=30)
    W = found.certificate.W if found.feasible else np.eye(pairs.d)
    return Certificate(1, W=W + 1e-9 * rng.standard_normal(W.shape))


def test_perturbed_certificates_hold_only_where_exact_arithmetic_agrees(report_trials):
    faults, trials = [], 0
    for number, (name, pairs, verdict) in enumerate(decided()):
        rng = np.random.default_rng(number)
        for size in 10.0 ** rng.uniform(-16, -1, 3):
            values = verdict.certificate.W if verdict.feasible else verdict.certificate.weights
            changed = values * (1 + size * rng.standard_normal(values.shape))
            forged = (
                Certificate(1, W=changed) if verdict.feasible else Certificate(1, weights=np.abs(changed))
            )
            trials += 1
            if holds(forged, pairs.U, pairs.V) and pairs.d <= 8 and not holds_exactly(forged, pairs):
                faults.append(f"{name}: changed by {size:.1e} it holds, but not in exact arithmetic")
    report_trials("perturbed certificates", trials, faults)


@pytest.mark.parametrize("feasible", [True, False])
def test_broken_files_fail_in_one_line(feasible, tmp_path, capsys, report_trials):
    pairs = gaussian_pairs(16, 8 if feasible else 5, seed=5)
    U, V, genuine = pairs.U.numpy(), pairs.V.numpy(), decide_top1(pairs).certificate
    assert genuine.feasible is feasible
    save(tmp_path / "good.npz", genuine, U, V)
    whole, faults, rng = (tmp_path / "good.npz").read_bytes(), [], np.random.default_rng(0)
    for trial in range(200):
        (tmp_path / "bad.npz").write_bytes(_broken(whole, rng, trial))
        try:
            code = _main([str(tmp_path / "bad.npz"), str(tmp_path / "good.npz")])
        except BaseException as error:
            faults.append(f"trial {trial}: {type(error).__name__}: {error}")
            continue
        out, err = capsys.readouterr()
        lines = (out + err).count("\n")
        known = code in (1, 2) or (
            code == 0 and out.count(": proved") == 2 and _same(tmp_path, genuine, U, V)
        )
        if not known or lines != 2 or "good.npz" not in out:
            faults.append(f"trial {trial}: exit code {code}, {lines} lines: {err!r}")
    report_trials(f"broken files of {'feasible' if feasible else 'infeasible'} certificates", 200, faults)


def _broken(whole, rng, trial):
    """A file with bytes changed, cut off, added, or cut out."""
    data, place = bytearray(whole), int(rng.integers(len(whole)))
    kind = trial % 4
    if kind == 0:
        for spot in rng.integers(len(data), size=int(rng.integers(1, 9))):
            data[spot] ^= int(rng.integers(1, 256))
    elif kind == 1:
        del data[place:]
    elif kind == 2:
        data[place:place] = rng.bytes(int(rng.integers(1, 99)))
    else:
        del data[place : place + int(rng.integers(1, 99))]
    return bytes(data)


def _same(folder, genuine, U, V):
    """Whether a broken file that still holds has the numbers of the good one."""
    with np.load(folder / "bad.npz") as file:
        values = genuine.W if genuine.feasible else genuine.weights
        name = "W" if genuine.feasible else "weights"
        return all(np.array_equal(a, b) for a, b in ((file["U"], U), (file["V"], V), (file[name], values)))


def test_files_with_other_contents_fail_in_one_line(tmp_path, capsys, report_trials):
    pairs = gaussian_pairs(16, 5, seed=5)
    U, V, weights = pairs.U.numpy(), pairs.V.numpy(), decide_top1(pairs).certificate.weights
    whole = {"format": 1, "k": 1, "U": U, "V": V, "weights": weights}
    values = [
        None, "text", np.array("text"), np.nan, [], {}, -1, 2, 1.5, 10**30, True, np.zeros(0), U[:, :3], U.T,
        U.astype(complex), U.astype("O"), U * np.nan, np.full((16, 16), np.inf), -weights, weights[None],
        np.int8(1), np.ones((16, 16)), np.array([1, 2]), U.astype(np.longdouble),
    ]  # fmt: skip
    faults, trials = [], 0
    for name in whole:
        for value in [*values, "missing"]:
            changed = (
                {key: x for key, x in whole.items() if key != name or value != "missing"}
                if isinstance(value, str)
                else dict(whole)
            )
            if not (isinstance(value, str) and value == "missing"):
                changed[name] = value
            np.savez(tmp_path / "other.npz", **changed)
            trials += 1
            try:
                code = _main([str(tmp_path / "other.npz")])
            except BaseException as error:
                faults.append(f"{name} = {value!r}: {type(error).__name__}: {error}")
                continue
            out, err = capsys.readouterr()
            legitimate = name in ("format", "k") and np.ndim(value) == 0 and str(value) in ("1", "True")
            if (code == 0 and not legitimate) or (out + err).count("\n") != 1:
                faults.append(f"{name} = {value!r}: exit code {code}: {out}{err}")
    report_trials("files with other contents", trials, faults)
