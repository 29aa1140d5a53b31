"""The verifier of the list believes what exact arithmetic believes, and no forgery."""

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.special import ndtri

from assocmem.deciding import lists
from assocmem.deciding.list_certificates import ListCertificate, _slopes, level_bounds, list_holds
from assocmem.deciding.lists import decide_list
from assocmem.pairs.data import Facts, gaussian_pairs

# 1.6448536269514722 and so on are quantiles to fifty digits (tables of the normal law)
QUANTILES = {
    0.15: "1.03643338949378957",
    0.05: "1.64485362695147271",
    0.25: "0.67448975019608174",
}


@pytest.mark.parametrize("r", [*QUANTILES, 0.3, 0.499999, 1e-10, 1e-100])
def test_the_quantile_lies_between_its_bounds(r):
    low, high = level_bounds(r)
    assert high == math.nextafter(low, math.inf)
    assert low == pytest.approx(-ndtri(r), rel=1e-14)
    if r in QUANTILES:
        assert abs(Decimal(low) - Decimal(QUANTILES[r])) < Decimal("4e-16")


def test_bounds_of_the_quantile_hold_for_an_independent_integral():
    """The tail of the normal law by Simpson's rule in forty digits."""
    for r in (0.15, 0.4, 0.01):
        low, high = level_bounds(r)
        with localcontext() as context:
            context.prec = 40
            root = (2 * Decimal("3.14159265358979323846264338327950288419716939937510")).sqrt()

            def tail(x, root=root):
                step = Decimal(x) / 600
                heights = [(-((i * step) ** 2) / 2).exp() for i in range(601)]
                odd, even = sum(heights[1::2]), sum(heights[2:-1:2])
                return Decimal("0.5") - step / 3 * (heights[0] + 4 * odd + 2 * even + heights[-1]) / root

            rough = Decimal("1e-9")  # what the rule leaves out
            assert tail(low * (1 - 1e-8)) > Decimal(r) - rough and tail(low) > Decimal(r) - rough
            assert tail(high * (1 + 1e-6)) < Decimal(r) < tail(low * (1 - 1e-6))


def test_half_of_the_list_has_no_spread_and_other_shares_are_refused():
    assert level_bounds(0.5) == (0.0, 0.0)
    for r in (0.0, 0.51, -1.0, math.nan, 1, "0.3", None):
        with pytest.raises(ValueError, match="r = "):
            level_bounds(r)


def instance(n, d, r, seed=1):
    pairs = gaussian_pairs(n, d, seed=seed)
    verdict = decide_list(pairs, r)
    return verdict.certificate, pairs.U.numpy(), pairs.V.numpy()


def exactly_cancels(certificate, U, V, r):
    """What the verifier claims to have bounded, in fractions: the corrected vectors lie in the ball."""
    weights = [Fraction(x) for x in certificate.weights]
    kappa = Fraction(level_bounds(r)[0]) ** 2 / len(U)
    pulled = _slopes(r, len(U), 0)[0] * certificate.vectors
    U, V, F = ([[Fraction(x) for x in column] for column in X.T] for X in (U, V, pulled))
    d, n = len(V[0]), len(V)
    M = [[sum(weights[i] * V[i][a] * V[i][b] for i in range(n)) for b in range(d)] for a in range(d)]
    R = [
        [sum(weights[i] * (U[i][o] - F[i][o]) * V[i][a] for i in range(n)) for a in range(d)]
        for o in range(len(U[0]))
    ]
    X = [solved(M, row) for row in R]
    return all(
        sum((F[i][o] + sum(X[o][a] * V[i][a] for a in range(d))) ** 2 for o in range(len(X))) <= kappa
        for i in range(n)
    )


def solved(M, right):
    """Solution of linear equations by elimination in fractions."""
    rows = [[*row, b] for row, b in zip(M, right, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def test_what_holds_holds_in_exact_arithmetic(monkeypatch):
    monkeypatch.setattr(lists, "_single_key", lambda *_: None)  # so that all keys have weights
    draw, held = np.random.default_rng(0), 0
    for n, d, r in ((14, 3, 0.15), (8, 2, 0.3), (30, 3, 0.3)):
        certificate, U, V = instance(n, d, r)
        assert exactly_cancels(certificate, U, V, r)
        for size in (0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1):
            for _ in range(3):
                noise = certificate.vectors + size * draw.normal(size=certificate.vectors.shape)
                changed = replace(certificate, vectors=noise)
                if list_holds(changed, U, V, r):
                    held += 1
                    assert exactly_cancels(changed, U, V, r)
    assert held > 10


@pytest.mark.parametrize("r", [0.15, 0.3, 0.5])
def test_no_forgery_holds_against_a_memory_that_does_it(r):
    certificate, U, V = instance(10, 5, r, seed=6)
    if not certificate.feasible:
        pytest.skip("the instance is for those that some memory can place")
    draw = np.random.default_rng(1)
    for _ in range(1500):
        weights = draw.exponential(size=10) * (draw.random(10) < draw.choice([0.1, 0.5, 1]))
        vectors = draw.normal(size=(5, 10))
        vectors *= draw.choice([0, 1e-300, 1e-9, 0.1, 1, 1e9, 1e300]) / np.linalg.norm(vectors, axis=0)
        scale = 2.0 ** draw.integers(-900, 900)
        assert not list_holds(ListCertificate(r, weights=scale * weights, vectors=vectors), U, V, r)


def nearest_weights(U, V, r):
    """Weights and vectors that come as near to cancelling as they can, by steps of least squares."""
    kappa, weights = level_bounds(r)[0] / math.sqrt(len(U)), np.ones(V.shape[1])
    gram, F = np.linalg.pinv((V * weights) @ V.T), np.zeros_like(U)
    for _ in range(300):
        F = F + ((U - F) * weights) @ V.T @ gram @ V
        F = F * np.minimum(1, kappa / np.linalg.norm(F, axis=0))
    return ListCertificate(r, weights=weights, vectors=F / kappa)


@pytest.mark.parametrize("seed", range(3))
def test_a_near_miss_is_refused(seed):
    pairs = gaussian_pairs(12, 6, seed=seed)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    assert decide_list(pairs, 0.4).feasible
    assert not list_holds(nearest_weights(U, V, 0.4), U, V, 0.4)


def test_a_proof_for_less_of_the_list_is_none_for_more():
    pairs = gaussian_pairs(40, 10, seed=1)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    verdicts = {r: decide_list(pairs, r) for r in (0.05, 0.1, 0.3, 0.5)}
    assert not verdicts[0.05].feasible and verdicts[0.5].feasible
    for r, verdict in verdicts.items():
        assert list_holds(verdict.certificate, U, V, r)
        for other, claim in verdicts.items():
            assert list_holds(verdict.certificate, U, V, other) == (r == other)
            renamed = replace(verdict.certificate, r=other)
            assert not list_holds(renamed, U, V, other) or claim.feasible == verdict.feasible


@pytest.mark.parametrize("n", [30, 60])
def test_decisive_changes_of_a_proof_are_refused(n):
    r = 0.15
    certificate, U, V = instance(n, 10, r)
    other = gaussian_pairs(n, 10, seed=99)
    assert list_holds(certificate, U, V, r)
    assert not list_holds(certificate, other.U.numpy(), other.V.numpy(), r)
    assert not list_holds(certificate, U[:, ::-1].copy(), V, r)
    assert list_holds(certificate, U[:, :-1], V[:, :-1], r) == certificate.feasible
    if certificate.feasible:
        forged = [replace(certificate, W=W) for W in (-certificate.W, certificate.W.T, 0 * certificate.W)]
        forged += [
            replace(certificate, W=np.full_like(certificate.W, bad)) for bad in (np.nan, np.inf, 1e308)
        ]
    else:
        weights, vectors = certificate.weights, certificate.vectors
        longer = vectors * (1.001 / np.linalg.norm(vectors, axis=0).max())
        negated = np.where(np.arange(n) == weights.argmax(), -weights, weights)
        forged = [
            replace(certificate, weights=negated),
            replace(certificate, weights=0 * weights),
            replace(certificate, weights=np.full(n, np.nan)),
            replace(certificate, weights=weights[::-1].copy()),
            replace(certificate, vectors=-vectors),
            replace(certificate, vectors=1.01 * longer),
            replace(certificate, vectors=np.full_like(vectors, np.inf)),
            replace(certificate, vectors=None),
            replace(certificate, weights=weights.astype(int)),
        ]
    forged += [replace(certificate, r=0.1), replace(certificate, r=math.nan), replace(certificate, r="0.15")]
    forged += [None, ListCertificate(r), replace(certificate, W=np.eye(10), weights=np.ones(n))]
    for false in forged:
        assert not list_holds(false, U, V, r)


def test_a_memory_is_held_to_its_last_digits():
    """In one dimension the margin is ``u - q`` times the rest, so that the transition is known."""
    low, high = level_bounds(0.3)
    V, W = np.ones((1, 2)), np.ones((1, 1))
    for u, fair in ((high * (1 + 1e-13), True), (high, False), (low, False), (low * (1 - 1e-13), False)):
        U = np.full((1, 2), u)
        assert list_holds(ListCertificate(0.3, W=W), U, V, 0.3) == fair
        against = ListCertificate(0.3, weights=np.ones(2), vectors=U / low)
        assert not (list_holds(against, U, V, 0.3) and u >= low)
    U = np.full((1, 2), low * (1 - 1e-11))
    assert list_holds(ListCertificate(0.3, weights=np.ones(2), vectors=U / low), U, V, 0.3)


@pytest.mark.parametrize("power", [-1000, -500, -300, 300, 500, 900])
def test_keys_of_any_unit_are_verified(power):
    for n in (30, 60):
        certificate, U, V = instance(n, 10, 0.15)
        assert list_holds(certificate, U, np.ldexp(V, power), 0.15)
        mixed = np.ldexp(V, np.arange(n) % 5 * power // 5)
        if certificate.feasible:
            assert list_holds(certificate, U, mixed, 0.15)
        assert not list_holds(certificate, np.ldexp(U, power), V, 0.15) or (power > 0) == certificate.feasible


def test_malformed_data_prove_nothing():
    certificate, U, V = instance(30, 10, 0.15)
    for bad in (None, "U", U[0], U[:, :3], U.astype(complex), np.full_like(U, np.nan), U.astype(int)):
        assert not list_holds(certificate, bad, V, 0.15)
        assert not list_holds(certificate, U, bad, 0.15)
    for answers in (np.zeros(3, dtype=int), np.full(30, 30), np.full(30, -1), np.zeros(30), "answers"):
        assert not list_holds(certificate, U, V, 0.15, answers)
    for r in (None, "0.15", 1, 0.0, 0.6, math.nan):
        assert not list_holds(certificate, U, V, r)
    assert list_holds(certificate, torch.from_numpy(U), torch.from_numpy(V), 0.15, np.arange(30))


def test_facts_are_verified_with_their_answers():
    draw = np.random.default_rng(4)
    facts = Facts(draw.normal(size=(4, 5)), draw.normal(size=(3, 14)), draw.integers(5, size=14))
    seen = set()
    for r in (0.05, 0.45):
        verdict = decide_list(facts, r)
        U, V, answers = facts.U.numpy(), facts.V.numpy(), facts.answers.numpy()
        assert list_holds(verdict.certificate, U, V, r, answers)
        if np.count_nonzero(verdict.certificate.weights if not verdict.feasible else 2) != 1:
            assert not list_holds(verdict.certificate, U, V, r, (answers + 1) % 5)
        seen.add(verdict.feasible)
    assert seen
