"""Verdicts on the cones of the list agree with another method, and say when there is none."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from scipy.stats import norm

from assocmem.deciding import lists
from assocmem.deciding.lists import decide_list, verify_list
from assocmem.pairs.data import Facts, Pairs, gaussian_pairs

SHARES = (0.5, 0.45, 0.3, 0.15, 0.05)


def by_cuts(pairs, r, rounds=300):
    """Whether the least margin of a memory in a box can be positive, by linear programs.

    Each cone is replaced by half-spaces that contain it; where the best memory for these violates a cone, the
    half-space that touches the cone there is added.
    """
    T, V = pairs.answered().double().numpy(), pairs.V.double().numpy()
    (d_out, n), d_in, kappa = T.shape, len(V), norm.isf(r) / math.sqrt(len(T))
    rows = [np.append(-np.outer(T[:, i], V[:, i]), 1.0) for i in range(n)]
    target, bounds = np.append(np.zeros(d_out * d_in), -1.0), [(-1, 1)] * (d_out * d_in) + [(None, 1)]
    for _ in range(rounds):
        solved = linprog(target, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=bounds)
        if -solved.fun <= 1e-9:
            return False
        Z = solved.x[:-1].reshape(d_out, d_in) @ V
        lengths = np.linalg.norm(Z, axis=0)
        margins = (T * Z).sum(axis=0) - kappa * lengths
        if margins.min() > 0:
            return True
        for i in np.flatnonzero((margins <= -solved.fun - 1e-12) & (lengths > 0)):
            rows.append(np.append(-np.outer(T[:, i] - kappa * Z[:, i] / lengths[i], V[:, i]), 1.0))
    raise AssertionError("no answer")


def proved(pairs, r):
    verdict = decide_list(pairs, r)
    assert verdict.feasible is not None, verdict.reason
    assert verify_list(verdict.certificate, pairs, r)
    assert verdict.certificate.feasible == verdict.feasible and verdict.reason == ""
    assert (verdict.margin > 0) == verdict.feasible
    return verdict.feasible


@pytest.mark.parametrize("r", SHARES)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_verdicts_on_few_pairs_are_those_of_linear_programs(d, r):
    for n in sorted({2, d + 1, 2 * d, d * d, 3 * d * d // 2 + 1, 2 * d * d} - {1}):
        pairs = gaussian_pairs(n, d, seed=100 * d + n)
        assert proved(pairs, r) == by_cuts(pairs, r), n


def test_a_fit_that_is_stuck_does_not_hold_the_later_ones(monkeypatch):
    starts, real = [], lists.fit_list

    def stuck(*arguments, W0, **options):
        starts.append(W0)
        if len(starts) == 1:
            W0 = torch.full((6, 6), 1e-9, dtype=torch.float64)
        return real(*arguments, W0=W0, **options | ({"max_passes": 1} if W0 is not None else {}))

    monkeypatch.setattr(lists, "fit_list", stuck)
    assert proved(gaussian_pairs(9, 6, seed=0), 0.15)
    assert len(starts) > 10 and starts[0] is starts[-1] is None


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_on_facts_are_those_of_linear_programs(seed):
    draw = np.random.default_rng(seed)
    for r in SHARES[:4]:
        (d_out, d_in), m = draw.integers(2, 5, 2), int(draw.integers(2, 6))
        n = int(draw.integers(1, 2 * d_out * d_in))
        targets, keys = 1.3 * draw.normal(size=(d_out, m)) / d_out**0.5, draw.normal(size=(d_in, n))
        facts = Facts(targets, keys, draw.integers(m, size=n))
        assert proved(facts, r) == by_cuts(facts, r), r


@pytest.mark.parametrize("seed", range(4))
def test_instances_next_to_the_transition_are_decided(seed):
    pairs = gaussian_pairs(46, 10, seed=1000 + seed)
    proved(pairs, 0.15)


def test_more_of_the_list_is_easier():
    pairs = gaussian_pairs(50, 10, seed=1)
    answers = [proved(pairs, r) for r in (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)]
    assert answers == sorted(answers) and len(set(answers)) == 2


def test_no_spreads_are_half_of_the_list():
    pairs = gaussian_pairs(60, 5, seed=1)
    assert not proved(pairs, 0.5)
    assert not proved(pairs, 0.4999999)
    assert not decide_list(pairs, 0.4999999).certificate.vectors.any()
    assert not proved(Pairs(1e6 * pairs.U, pairs.V), 0.15)  # so long that spreads are next to nothing


@pytest.mark.parametrize("size", [1e-25, 1e-3, 1e3, 1e25])
@pytest.mark.parametrize("n", [8, 40])
def test_units_of_the_keys_do_not_matter(n, size):
    pairs = gaussian_pairs(n, 5, seed=1)
    assert proved(Pairs(pairs.U, size * pairs.V), 0.3) == proved(pairs, 0.3)


def test_keys_of_any_shape_are_decided_alike():
    pairs = gaussian_pairs(22, 7, seed=2)
    draw = np.random.default_rng(0)
    turned = torch.from_numpy(np.linalg.qr(draw.normal(size=(7, 7)))[0] * np.geomspace(1e-2, 1e2, 7))
    mapped = Pairs(pairs.U, turned @ pairs.V * torch.logspace(-3, 3, 22))
    for r in (0.15, 0.3, 0.4):
        assert proved(mapped, r) == proved(pairs, r)


def test_degenerate_vectors_are_decided():
    pairs = gaussian_pairs(12, 5, seed=1)
    U, V = pairs.U, pairs.V
    flat = torch.cat([V[:3], V[:2]])
    tilted = torch.cat([V[:3], torch.ones(2, 3, dtype=torch.float64) @ V[:3]])  # rounding makes it less flat
    cases = {
        "opposite targets of one key": (Pairs(torch.cat([U, -U], 1), V.repeat(1, 2)), False),
        "the same pairs twice": (Pairs(U[:, :6].repeat(1, 2), V[:, :6].repeat(1, 2)), True),
        "fewer than dimensions": (gaussian_pairs(4, 8, seed=2), True),
        "a target of zero": (Pairs(torch.cat([U, 0 * U[:, :1]], 1), torch.cat([V, V[:, :1]], 1)), False),
        "a key of zero": (Pairs(torch.cat([U, U[:, :1]], 1), torch.cat([V, 0 * V[:, :1]], 1)), False),
        "no targets at all": (Pairs(0 * U, V), False),
        "no keys at all": (Pairs(U, 0 * V), False),
    }
    for name, (given, answer) in cases.items():
        assert proved(given, 0.3) == answer, name
    for given in (Pairs(U, flat), Pairs(U[:, :5], flat[:, :5]), Pairs(U, tilted)):
        for r in (0.3, 0.45):
            assert proved(given, r) == by_cuts(given, r)


def test_a_short_target_is_told_without_a_search():
    pairs = gaussian_pairs(12, 5, seed=1)
    verdict = decide_list(Pairs(0.01 * pairs.U, pairs.V), 0.15)
    assert (verdict.feasible, verdict.passes, verdict.margin) == (False, 0, -math.inf)
    assert np.count_nonzero(verdict.certificate.weights) == 1


def test_single_precision_is_taken_as_exact():
    pairs = gaussian_pairs(14, 5, seed=1, dtype=torch.float32)
    assert proved(pairs, 0.3) == proved(Pairs(pairs.U.double(), pairs.V.double()), 0.3)


def test_a_search_that_gives_up_says_so():
    pairs = gaussian_pairs(46, 10, seed=1000)
    verdict = decide_list(pairs, 0.15, max_passes=3)
    assert verdict.feasible is None and verdict.certificate is None and "passes" in verdict.reason
    assert not verify_list(None, pairs, 0.15)


def test_large_halves_without_a_memory_are_left_open(monkeypatch):
    monkeypatch.setattr(lists, "LARGEST_HALF", 10)
    monkeypatch.setattr(lists, "SMALL_PROGRAM", 10)
    verdict = decide_list(gaussian_pairs(60, 5, seed=1), 0.5)
    assert verdict.feasible is None and "small dimensions" in verdict.reason


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"r": 0.6}, "r = 0.6"),
        ({"r": "0.3"}, "r = '0.3'"),
        ({"max_passes": 0}, "max_passes = 0"),
        ({"pairs": None}, "pairs = None"),
    ],
)
def test_bad_arguments_get_one_line(change, text):
    arguments = {"pairs": gaussian_pairs(12, 4, seed=1), "r": 0.3} | change
    with pytest.raises(ValueError, match=text) as error:
        decide_list(**arguments)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="certificate"):
        verify_list("proof", gaussian_pairs(12, 4, seed=1), 0.3)
