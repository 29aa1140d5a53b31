"""Forged certificates never hold, and broken files never do more than fail in one line."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from degenerate_instances import ROUNDED, instances

from assocmem.deciding import feasibility
from assocmem.deciding.certificates import RULE, Certificate, _main, holds, save
from assocmem.deciding.comparisons import cancellation
from assocmem.deciding.exact import holds_exactly
from assocmem.deciding.feasibility import decide, decide_top1
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


# --- weights that are computed ------------------------------------------------------------------------------

COMPUTED = [(n, d, k, seed) for n, d, k in ((6, 2, 1), (8, 3, 1), (8, 2, 3), (10, 3, 3)) for seed in range(3)]
"""n, d, k and seed of instances that no memory retrieves."""
OF_EACH = 840
"""Forgeries of the certificate of one of them."""
HALVINGS = 16
"""Of the powers of ten between a change that is accepted and one that is not."""


@cache
def computed_proofs():
    """Instances with certificates of computed weights."""
    proofs = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feasibility, "DENSE_DIMENSION", 0)
        patch.setattr(feasibility, "hidden_target", lambda pairs, k: None)
        for n, d, k, seed in COMPUTED:
            pairs = gaussian_pairs(n, d, seed=seed)
            certificate = decide(pairs, k).certificate
            assert certificate.computed is not None
            proofs.append((f"n = {n}, d = {d}, k = {k}, seed {seed}", pairs, certificate))
    return proofs


def test_computed_weights_hold_only_where_exact_arithmetic_agrees(report_trials):
    """Everything in a certificate and in its pairs is changed in every way, by an ulp and by a lot."""
    faults, trials, accepted = [], 0, 0
    for number, (name, pairs, certificate) in enumerate(computed_proofs()):
        rng = np.random.default_rng(number)
        genuine = {**vars(certificate.computed), "U": pairs.U.numpy(), "V": pairs.V.numpy()}
        for count in range(OF_EACH):
            k, parts, what = certificate.k, dict(genuine), ""
            for _ in range(rng.choice([1, 1, 1, 2, 3])):  # changes at a time
                field = str(rng.choice([*RULE, "U", "V", "k"]))
                change = list(CHANGES)[rng.integers(len(CHANGES))]
                what += f" {field}: {change}"
                if field == "k":
                    k = int(rng.integers(1, pairs.n))
                else:
                    parts[field] = CHANGES[change](parts[field], parts, rng)
            if count % 5 == 0:
                what, parts = what + ", as far as it just holds", _just_holding(genuine, parts, k)
            trials += 1
            if _accepted(k, parts):
                accepted += 1
                if not _exactly(k, parts):
                    faults.append(f"{name}: it holds, but not in exact arithmetic: {what}")
    assert trials / 10 < accepted < trials * 0.7
    report_trials("forged certificates of computed weights", trials, faults)


def _one(X, rng):
    """One place of an array."""
    return tuple(rng.integers(size) for size in np.shape(X))


def _with_one(X, rng, change):
    X = np.array(X, dtype=float)
    place = _one(X, rng)
    X[place] = change(X[place])
    return X


def _exchanged(X, rng):
    X = np.array(X, dtype=float)
    a, b = _one(X, rng), _one(X, rng)
    X[a], X[b] = X[b], X[a]
    return X


def _like(X, other):
    """Another array of the same shape, or the same with rows and columns exchanged."""
    return other if np.shape(other) == np.shape(X) else np.transpose(X)


CHANGES = {
    "one number up by an ulp": lambda X, all_, rng: _with_one(X, rng, lambda x: np.nextafter(x, np.inf)),
    "one number down by an ulp": lambda X, all_, rng: _with_one(X, rng, lambda x: np.nextafter(x, -np.inf)),
    "one number by a lot": lambda X, all_, rng: _with_one(X, rng, lambda x: x * 10.0 ** rng.uniform(-9, 9)),
    "one number by a little": lambda X, all_, rng: _with_one(
        X, rng, lambda x: x * (1 + 10.0 ** rng.uniform(-15, -1))
    ),
    "one number negated": lambda X, all_, rng: _with_one(X, rng, np.negative),
    "one number to zero": lambda X, all_, rng: _with_one(X, rng, lambda x: 0.0),
    "two numbers exchanged": lambda X, all_, rng: _exchanged(X, rng),
    "all negated": lambda X, all_, rng: -X,
    "all to zero": lambda X, all_, rng: 0 * X,
    "all by a lot": lambda X, all_, rng: X * 10.0 ** rng.uniform(-9, 9),
    "all by powers of two": lambda X, all_, rng: X * 2.0 ** int(rng.integers(-200, 200)),
    "all by a little": lambda X, all_, rng: (
        X * (1 + 10.0 ** rng.uniform(-15, -1) * rng.standard_normal(np.shape(X)))
    ),
    "all by about an ulp": lambda X, all_, rng: X * (1 + 2.0**-52 * rng.integers(-1, 2, np.shape(X))),
    "columns permuted": lambda X, all_, rng: rng.permutation(X, axis=-1) if np.ndim(X) else X,
    "rows permuted": lambda X, all_, rng: rng.permutation(X) if np.ndim(X) else X,
    "shifted": lambda X, all_, rng: X + 10.0 ** rng.uniform(-15, 6),
    "that of another field": lambda X, all_, rng: _like(X, all_[str(rng.choice(list(all_)))]),
}
"""Ways to change one field of a certificate, or its pairs."""


def _certificate(k, parts):
    rule = replace(computed_proofs()[0][2].computed, **{name: parts[name] for name in RULE})
    return Certificate(k, computed=replace(rule, floor=float(rule.floor)))


def _accepted(k, parts):
    return holds(_certificate(k, parts), parts["U"], parts["V"])


def _exactly(k, parts):
    pairs = Pairs(*(torch.from_numpy(np.ascontiguousarray(parts[name])) for name in "UV"))
    return holds_exactly(_certificate(k, parts), pairs)


def _just_holding(genuine, changed, k):
    """As large a share of a change as is accepted, up to rounding."""
    low, high = -20.0, 0.0

    def part(power):
        share = 10.0**power
        return {name: x + share * (changed[name] - x) for name, x in genuine.items()}

    if any(np.shape(changed[name]) != np.shape(x) for name, x in genuine.items()):
        return changed
    if not _accepted(k, part(low)) or _accepted(k, part(high)):
        return changed
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _accepted(k, part(middle)) else (low, middle)
    return part(low)


def test_no_computed_weights_prove_that_a_retrievable_instance_is_not(report_trials):
    """The proofs of instances on the way to one that a memory retrieves, offered where first one does."""
    faults, trials = [], 0
    for number, (name, pairs, certificate) in enumerate(computed_proofs()[::2]):
        k, rng, proofs, reached = certificate.k, np.random.default_rng(number), [], None
        low, high, alike = 0.0, 1.0, pairs.U / pairs.U.norm(dim=0)  # with U = V of length one W = 1 retrieves
        for _ in range(24):
            share = (low + high) / 2
            between = Pairs(*((1 - share) * X + share * alike for X in (pairs.U, pairs.V)))
            verdict = feasibility._by_passes(between, k, 1000, None, _Silent())
            if verdict.feasible is None:
                break
            if verdict.feasible:
                high, reached = share, between
                assert holds_exactly(verdict.certificate, between)
            else:
                low = share
                proofs.append(verdict.certificate)
        for genuine in proofs:
            rule = {**vars(genuine.computed), "U": reached.U.numpy(), "V": reached.V.numpy()}
            for _ in range(10):
                trials += 1
                if _accepted(k, rule):
                    faults.append(f"{name}: weights hold {high - low:.0e} after where they do")
                field = str(rng.choice(RULE))
                rule[field] = CHANGES["all by a little"](rule[field], rule, rng)
    report_trials("computed weights where some memory retrieves", trials, faults)


class _Silent:
    """What a search tells, told to nobody."""

    def resume(self, extent):
        return None

    def after_step(self, state):
        pass

    def save(self, force):
        pass


@pytest.mark.parametrize("kind", ["feasible", "infeasible", "computed"])
def test_broken_files_fail_in_one_line(kind, tmp_path, capsys, report_trials):
    pairs = gaussian_pairs(16, 8 if kind == "feasible" else 5, seed=5)
    genuine = decide_top1(pairs).certificate
    if kind == "computed":
        _, pairs, genuine = computed_proofs()[0]
    U, V = pairs.U.numpy(), pairs.V.numpy()
    assert genuine.feasible is (kind == "feasible")
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
    report_trials(f"broken files of {kind} certificates", 200, faults)


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
        if genuine.computed is not None:
            values = {f"computed_{name}": getattr(genuine.computed, name) for name in RULE}
        else:
            values = {"W": genuine.W} if genuine.feasible else {"weights": genuine.weights}
        return all(np.array_equal(file[name], x) for name, x in ({"U": U, "V": V} | values).items())


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
