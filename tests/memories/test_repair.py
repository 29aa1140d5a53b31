"""Sparse repair and repair in place: the blocks of the paper, margins lifted to twice gamma, rounds."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assocmem.memories.outer_products import correlation_memory
from assocmem.memories.sparse_repair import (
    default_reserve,
    repair_in_place,
    reserve_at_share,
    sparse_repair,
)
from assocmem.pairs.data import Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins, scores
from assocmem.theory import outer_products as cmm


def by_definition(pairs, gamma, d1):
    """The construction of Section 2.2, written out pair by pair."""
    n, d = pairs.n, pairs.d
    d0 = d - d1
    U, V = pairs.U.numpy(), pairs.V.numpy()
    W0 = sum(np.outer(U[:d0, k], V[:d0, k]) for k in range(n)) * d**2 / d0**2
    S = U[:d0].T @ W0 @ V[:d0]
    m = np.array([S[i, i] - max(S[j, i] for j in range(n) if j != i) for i in range(n)])
    W1 = np.zeros((d1, d1))
    for i in range(n):
        if m[i] <= gamma:
            W1 += (2 * gamma - m[i]) * np.outer(U[d0:, i], V[d0:, i])
    W = np.zeros((d, d))
    W[:d0, :d0], W[d0:, d0:] = W0, W1 * d**2 / d1**2
    return W, m


@given(n=st.integers(3, 12), d=st.integers(2, 9), share=st.floats(0.1, 0.9), gamma=st.floats(0.01, 0.49))
def test_blocks_are_those_of_the_paper(n, d, share, gamma):
    d1 = min(d - 1, max(1, round(share * d)))
    pairs = gaussian_pairs(n, d, seed=n + 100 * d)
    found = sparse_repair(pairs, gamma=gamma, reserve=d1)
    W, m = by_definition(pairs, gamma, d1)
    np.testing.assert_allclose(found.W.numpy(), W, atol=1e-10)
    np.testing.assert_allclose(found.base_margins.numpy(), m, atol=1e-10)
    np.testing.assert_array_equal(found.deficient.numpy(), np.flatnonzero(m <= gamma))
    np.testing.assert_allclose(found.weights.numpy(), 2 * gamma - m[m <= gamma], atol=1e-10)
    assert (found.d0, found.d1) == (d - d1, d1)
    rebuilt = torch.block_diag(*(L @ R.T for L, R in (found.base, found.repair)))
    torch.testing.assert_close(rebuilt, found.W)


@pytest.mark.parametrize(("n", "share"), [(10_000, 0.7576), (100, 0.8262), (3, 0.9883)])
def test_default_reserve_is_most_of_the_coordinates(n, share):
    d = 10_000
    assert default_reserve(n, d) == math.floor(d * math.log(n) ** -0.125)
    assert default_reserve(n, d) / d == pytest.approx(share, abs=1e-4)
    pairs = gaussian_pairs(5, 40, seed=1)
    assert sparse_repair(pairs, gamma=0.1).d1 == default_reserve(5, 40)


def test_a_repaired_key_reaches_twice_gamma_on_average():
    gamma, lifted, wrong = 0.1, [], []
    for seed in range(20):
        pairs = gaussian_pairs(300, 90, seed=seed)
        found = sparse_repair(pairs, gamma=gamma, reserve=40)
        t = scores(Pairs(pairs.U[50:], pairs.V[50:]), found.W[50:, 50:]).diagonal()[found.deficient]
        lifted.append(float((found.base_margins[found.deficient] + t).mean()))
        wrong.append(float((found.base_margins[found.deficient] + t - gamma * t / found.weights).mean()))
    error = np.std(lifted) / math.sqrt(len(lifted))
    assert abs(np.mean(lifted) - 2 * gamma) < 4 * error
    assert abs(np.mean(wrong) - 2 * gamma) > 8 * error  # weights gamma - m


def test_base_scores_are_those_of_outer_products_in_fewer_dimensions():
    n, d, d1 = 60, 30, 12
    margins = torch.cat(
        [sparse_repair(gaussian_pairs(n, d, seed=s), gamma=0.1, reserve=d1).base_margins for s in range(60)]
    ).numpy()
    column = cmm.sample_score_column(n, d - d1, 4000, seed=1)
    exact = column[:, 0] - column[:, 1:].max(axis=1)
    assert stats.ks_2samp(margins, exact).pvalue > 1e-3
    assert stats.ks_2samp(margins * ((d - d1) / d) ** 2, exact).pvalue < 1e-9  # without the scale


@pytest.mark.parametrize(
    ("keywords", "line"),
    [
        ({"gamma": 0.5}, "gamma = 0.5: must be in (0, 1/2)"),
        ({"gamma": 0.0}, "gamma = 0.0: must be in (0, 1/2)"),
        ({"gamma": math.nan}, "gamma = nan: must be in (0, 1/2)"),
        ({"gamma": 0.1, "reserve": 6}, "reserve = 6: must be less than d = 6, to leave a base"),
        ({"gamma": 0.1, "reserve": 0}, "reserve = 0: must be an integer >= 1"),
        ({"gamma": 0.1, "reserve": 2.5}, "reserve = 2.5: must be an integer >= 1"),
    ],
)
def test_refusals_of_repair(keywords, line):
    with pytest.raises(ValueError) as error:
        sparse_repair(gaussian_pairs(9, 6, seed=1), **keywords)
    assert str(error.value) == line


def test_a_default_reserve_that_leaves_no_coordinate_is_refused():
    with pytest.raises(ValueError, match="reserve = 0: must be an integer >= 1"):
        sparse_repair(gaussian_pairs(9, 1, seed=1), gamma=0.1)


def test_repair_streams():
    """Scores of 11,000 pairs would take 0.97 GB; a repair takes less than it announces, libraries aside."""
    code = (
        "from assocmem.pairs.data import gaussian_pairs\n"
        "from assocmem.pairs.sizes import RUNTIME_BYTES, peak_bytes\n"
        "from assocmem.memories.sparse_repair import sparse_repair\n"
        "def peak():\n"
        "    line = [x for x in open('/proc/self/status') if x.startswith('VmHWM')][0]\n"
        "    return int(line.split()[1]) * 1024\n"
        "for n in 1000, 11_000:\n"
        "    before = peak()\n"
        "    sparse_repair(gaussian_pairs(n, 20, seed=1), gamma=0.1, reserve=4)\n"
        "print(peak() - before, peak_bytes(11_000, 20) - RUNTIME_BYTES)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    taken, announced = map(int, done.stdout.split())
    assert taken < announced + 5e7 < 8 * 11_000**2  # some room for buffers of many threads


# --- in place ---------------------------------------------------------------------------------------------


def test_one_round_in_place_adds_the_same_weights():
    pairs = gaussian_pairs(40, 12, seed=3)
    W = correlation_memory(pairs)
    m = retrieval_margins(pairs, W)
    assert bool((m < 0).any())
    weights = torch.where(m <= 0.1, 0.2 - m, 0.0)
    expected = W + (pairs.U * weights) @ pairs.V.T
    found = repair_in_place(pairs, W, gamma=0.1, rounds=1)
    torch.testing.assert_close(found.W, expected)
    assert found.failures == (int((m <= 0).sum()), int((retrieval_margins(pairs, expected) <= 0).sum()))


def test_against_rivals_pushes_the_best_competitor_down():
    pairs = gaussian_pairs(40, 12, seed=3)
    W = correlation_memory(pairs)
    S = scores(pairs, W)
    rival = S.masked_fill(torch.eye(40, dtype=torch.bool), -math.inf).argmax(dim=0)
    m = retrieval_margins(pairs, W)
    weights = torch.where(m <= 0.1, 0.2 - m, 0.0)
    expected = W + 0.5 * ((pairs.U - pairs.U[:, rival]) * weights) @ pairs.V.T
    found = repair_in_place(pairs, W, gamma=0.1, rounds=1, against_rivals=True)
    torch.testing.assert_close(found.W, expected)


def test_rounds_end_when_everything_is_retrieved():
    pairs = gaussian_pairs(60, 40, seed=1)
    found = repair_in_place(pairs, correlation_memory(pairs), gamma=0.1, rounds=50, against_rivals=True)
    assert found.failures[-1] == 0 < found.failures[0]
    assert len(found.failures) < 51
    assert float(retrieval_margins(pairs, found.W).min()) > 0
    assert repair_in_place(pairs, found.W, gamma=0.1).failures == (0,)


@pytest.mark.parametrize("keywords", [{"gamma": 0.0}, {"gamma": 0.1, "rounds": -1}])
def test_refusals_in_place(keywords):
    pairs = gaussian_pairs(9, 6, seed=1)
    with pytest.raises(ValueError, match=list(keywords)[-1]):
        repair_in_place(pairs, correlation_memory(pairs), **keywords)


@pytest.mark.parametrize(
    ("share", "d", "reserve"), [(0.14, 50, 7), (0.001, 50, 1), (0.999, 50, 48), (0.5, 2, 1)]
)
def test_a_share_leaves_coordinates_to_both_sides(share, d, reserve):
    assert reserve_at_share(share, d) == reserve
    assert sparse_repair(gaussian_pairs(9, d, seed=1), gamma=0.1, reserve=reserve).d1 == reserve
