"""The tilted loss and its search: gradients, weights that cancel, floors, and ends without a proof."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assocmem.deciding import feasibility, tilted
from assocmem.deciding.certificates import weights_of
from assocmem.deciding.comparisons import as_arrays, cancellation
from assocmem.deciding.feasibility import decide, verify
from assocmem.deciding.preparation import ROUNDED, prepare
from assocmem.deciding.tilted import FIRST_FLOOR, State, _Tilt, search
from assocmem.pairs.data import gaussian_pairs


def random(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def nothing(*_):
    """Offers that are never taken."""
    return None


def searched(pairs, k=1, begin=None, max_passes=400, retrieves=nothing, impossible=nothing):
    """The end of a search and the states on the way."""
    states = []
    end = search(
        pairs,
        k,
        begin,
        max_passes=max_passes,
        retrieves=retrieves,
        impossible=impossible,
        watch=states.append,
    )
    return end, states


def comparisons(pairs):
    """All comparisons, ``A[j, i]`` of competitor j of key i, shape (n, n, d, d)."""
    gaps = pairs.U[:, None, :] - pairs.U[:, :, None]  # [:, j, i]: u_i - u_j
    return torch.einsum("aji,bi->jiab", gaps, pairs.V)


@settings(max_examples=8)
@given(seed=st.integers(0, 50), k=st.sampled_from([1, 2, 5]), floor=st.floats(1e-6, 0.5))
def test_the_gradient_of_the_tilted_loss_by_differences(seed, k, floor):
    pairs = gaussian_pairs(9, 3, seed=seed)
    tilt, W, X = _Tilt(pairs, k), random(3, 3, seed=seed), random(3, 3, seed=seed + 1)

    def value(W):
        return tilt.at(W)[2] - floor * float((tilt.pull * W).sum())

    slope = float(((tilt.at(W)[1] - floor * tilt.pull) * X).sum())
    step = 1e-5
    assert slope == pytest.approx(
        (value(W + step * X) - value(W - step * X)) / (2 * step), rel=1e-6, abs=1e-6
    )


def test_the_tilt_is_the_sum_of_all_comparisons():
    pairs = gaussian_pairs(9, 3, seed=0)
    torch.testing.assert_close(_Tilt(pairs, 1).pull, comparisons(pairs).sum(dim=(0, 1)))


def test_minus_the_gradient_is_the_sum_of_the_weights():
    pairs = gaussian_pairs(9, 3, seed=0)
    tilt, W, floor = _Tilt(pairs, 1), random(3, 3, seed=1), 0.01
    weights = torch.softmax(pairs.U.T @ W @ pairs.V, dim=0) + floor
    weights.fill_diagonal_(0)
    expected = -torch.einsum("ji,jiab->ab", weights, comparisons(pairs))
    torch.testing.assert_close(tilt.at(W)[1] - floor * tilt.pull, expected)


def test_the_change_of_the_floor_cancels_what_a_gradient_leaves():
    pairs, floor = gaussian_pairs(9, 3, seed=0), 0.01
    gradient, A = random(3, 3, seed=2), comparisons(gaussian_pairs(9, 3, seed=0))
    Z = _Tilt(pairs, 1).change_of_floor(gradient, floor)
    changes = floor * torch.einsum("jiab,ab->ji", A, Z)
    torch.testing.assert_close(torch.einsum("ji,jiab->ab", changes, A), gradient)


@pytest.mark.parametrize("k", [1, 3])
def test_weights_cancel_at_the_end_of_an_impossible_instance(k):
    given, found = gaussian_pairs(60, 13 if k == 1 else 9, seed=2), {}
    prepared = prepare(given, ROUNDED)

    def impossible(W, done, floor, change):
        certificate = feasibility._floor_found(given, prepared, k, W, done, floor, change)
        found.update(change=change, floor=floor)
        return certificate

    end, states = searched(prepared.pairs, k, impossible=impossible)
    assert verify(end.certificate, given)
    assert end.state == states[-1]
    weights = torch.from_numpy(weights_of(end.certificate, *as_arrays(given)))
    off_diagonal = ~torch.eye(given.n, dtype=torch.bool)
    assert bool((weights[off_diagonal] > 0).all())
    assert float(cancellation(given, weights).norm()) < 1e-9 * float(weights.sum())
    scaled = weights / prepared.lengths
    assert float(scaled[off_diagonal].min()) > 0.01 * found["floor"]
    assert float((k * weights.amax(dim=0) / weights.sum(dim=0)).max()) <= 1


def test_no_search_ends_at_a_floor_at_which_the_tilted_loss_is_negative():
    """There the weights could not cancel: the loss less the tilt is at least the entropy of such weights."""
    for d in (12, 14, 15):
        pairs = prepare(gaussian_pairs(60, d, seed=1), ROUNDED).pairs
        offered = []

        def impossible(W, done, floor, change, pairs=pairs, offered=offered):
            pull = float((_Tilt(pairs, 1).pull * W).sum())
            offered.append(done.loss * pairs.n - floor * pull)

        begin = State(pairs.U.new_zeros(d, d), 0.5)  # far too high
        _, states = searched(pairs, begin=begin, impossible=impossible)
        assert all(value > 0 for value in offered)
        floors = [state.floor for state in states]
        assert floors == sorted(floors, reverse=True)
        assert floors[0] == 0.5
        assert floors[-1] < 0.1


@pytest.mark.parametrize(
    "n, dimensions", [(20, (5, 6, 7, 8)), (30, (9, 10, 11)), (50, (13, 15)), (100, (21, 24))]
)
def test_passes_agree_with_newtons_method(monkeypatch, n, dimensions):
    seen = set()
    for d in dimensions:
        for seed in range(2):
            pairs = gaussian_pairs(n, d, seed=seed)
            monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 24)
            dense = decide(pairs, max_passes=1)
            monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 0)
            passes = decide(pairs, max_steps=1)
            assert dense.feasible is not None
            assert passes.feasible == dense.feasible, (d, seed)
            assert (passes.steps, dense.passes) == (0, 0)
            assert verify(passes.certificate, pairs)
            seen.add(passes.feasible)
    assert seen == {True, False}


@pytest.mark.parametrize("k, dimensions", [(2, (8, 9, 10)), (6, (4, 5)), (25, (3, 4)), (28, (2, 3))])
def test_passes_agree_with_newtons_method_on_tails(monkeypatch, k, dimensions):
    seen, decided_by_passes = set(), 0
    for d in dimensions:
        for seed in range(3):
            pairs = gaussian_pairs(30, d, seed=seed)
            monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 24)
            dense = decide(pairs, k)
            monkeypatch.setattr(feasibility, "DENSE_DIMENSION", 0)
            passes = decide(pairs, k)
            decided_by_passes += passes.passes > 0  # the rest have a hidden target
            assert passes.feasible == dense.feasible, (d, seed)
            assert verify(passes.certificate, pairs)
            seen.add(passes.feasible)
    assert None not in seen
    assert decided_by_passes or k == 28


def test_passes_used_up_are_said():
    pairs = prepare(gaussian_pairs(60, 14, seed=1), ROUNDED).pairs
    for most in (1, 2, 7):
        end, states = searched(pairs, max_passes=most)
        assert (end.certificate, end.reason) == (None, f"undecided after {most} passes")
        assert end.state.passes == most
        assert len(states) <= most


def test_a_search_ends_where_weights_cancel_and_prove_nothing():
    """Were the verification to refuse everything, more passes would not help."""
    offered = []
    pairs = prepare(gaussian_pairs(60, 12, seed=1), ROUNDED).pairs
    end, _ = searched(pairs, max_passes=3000, impossible=lambda *parts: offered.append(parts))
    assert end.reason == tilted.CANCELLED_ALL
    assert end.state.passes < 300
    assert len(offered) < 40
    assert end.state.excess < 1e-6


def test_a_search_ends_where_a_memory_retrieves_and_proves_nothing():
    pairs = prepare(gaussian_pairs(60, 24, seed=1), ROUNDED).pairs
    end, _ = searched(pairs, max_passes=3000)
    assert end.reason == "all pairs are retrieved, but too narrowly for double precision"
    assert end.state.passes < 300
    assert end.state.margin > 0


def test_a_search_ends_where_no_decrease_is_left(monkeypatch):
    monkeypatch.setattr(tilted, "SHORTEST_STEP", 2.0)  # so that no step is ever tried
    end, states = searched(prepare(gaussian_pairs(20, 6, seed=1), ROUNDED).pairs)
    assert end.certificate is None
    assert end.reason == "no decrease left that double precision resolves"
    assert states == []


def test_a_search_begins_where_it_is_told():
    pairs = prepare(gaussian_pairs(60, 12, seed=1), ROUNDED).pairs
    first, _ = searched(pairs, max_passes=20)
    _, states = searched(pairs, begin=first.state, max_passes=40)
    assert states[0].passes > first.state.passes
    assert states[0].excess < 10 * first.state.excess
    far = State(1e8 * random(12, 12, seed=0), FIRST_FLOOR / 59)
    _, states = searched(pairs, begin=far, max_passes=40)
    assert math.isfinite(states[-1].margin)


def test_the_first_step_goes_along_the_outer_products():
    pairs = prepare(gaussian_pairs(40, 10, seed=0), ROUNDED).pairs
    _, states = searched(pairs, max_passes=2)
    pull = _Tilt(pairs, 1).pull
    cosine = float((states[0].W * pull).sum() / states[0].W.norm() / pull.norm())
    assert cosine == pytest.approx(1)
    assert np.isclose(float(states[0].W.norm()), 0.3 * 10)
