"""Small problems in compiled loops: the passes are those of blocks, and descents end where others do."""

import threading

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assocmem.pairs.data import Facts, Pairs, gaussian_pairs
from assocmem.training import fit as room
from assocmem.training import small_pass
from assocmem.training.descent import Stage
from assocmem.training.fit import fit
from assocmem.training.losses import CrossEntropy, ScoresOverflow, TailAverage
from assocmem.training.passes import loss_pass
from assocmem.training.precision import EXACT
from assocmem.training.small_fit import MOST_PASSES, PAUSE, descend
from assocmem.training.small_pass import one_thread, suits

LOSSES = [CrossEntropy(), TailAverage(0.3, 3.0), TailAverage(0.1, 300.0), TailAverage(1.0, 2.0)]


def draw(n, m, d_in, d_out, seed, weighted):
    generator = torch.Generator().manual_seed(seed)
    keys, targets = (
        torch.randn(d, k, dtype=torch.float64, generator=generator) for d, k in ((d_in, n), (d_out, m))
    )
    answers = torch.randint(0, m, (n,), generator=generator)
    weights = torch.rand(n, dtype=torch.float64, generator=generator) + 0.1 if weighted else None
    W = torch.randn(d_out, d_in, dtype=torch.float64, generator=generator)
    return Facts(targets, keys, answers, weights), W


@given(
    st.integers(1, 40),
    st.integers(2, 30),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 2**31),
    st.booleans(),
    st.sampled_from(LOSSES),
    st.sampled_from([0.0, 1e-3, 1.0, 30.0]),
)
def test_a_pass_is_the_streamed_one(n, m, d_in, d_out, seed, weighted, loss, size):
    facts, W = draw(n, m, d_in, d_out, seed, weighted)
    assert suits(facts, loss, EXACT)
    found = loss_pass(facts, loss, size * W, features=True)
    limit, small_pass.MOST_WORK = small_pass.MOST_WORK, 0
    try:
        assert not suits(facts, loss, EXACT)
        other = loss_pass(facts, loss, size * W, features=True)
    finally:
        small_pass.MOST_WORK = limit
    assert found.loss == pytest.approx(other.loss, rel=1e-12, abs=1e-300)
    scale = 1 + size * float(W.norm())
    for name in ("gradient", "margins", "features"):
        torch.testing.assert_close(
            getattr(found, name), getattr(other, name), rtol=1e-9, atol=1e-11 * scale, msg=name
        )
    torch.testing.assert_close(found.curvature, other.curvature, rtol=1e-6, atol=1e-8)
    bare = loss_pass(facts, loss, size * W)
    assert (bare.loss, bare.features, bare.curvature) == (found.loss, None, None)


def test_what_passes_need_is_not_stored_twice_and_they_are_no_views_of_each_other():
    pairs = gaussian_pairs(30, 6, seed=0)
    W = torch.ones(6, 6, dtype=torch.float64)
    first = loss_pass(pairs, CrossEntropy(), W, features=True)
    kept = first.margins.clone(), first.features.clone()
    loss_pass(pairs, CrossEntropy(), 2 * W, features=True)
    assert torch.equal(first.margins, kept[0])
    assert torch.equal(first.features, kept[1])


def test_other_types_and_sizes_go_another_way():
    pairs, loss = gaussian_pairs(30, 6, seed=0), CrossEntropy()
    assert suits(pairs, loss, EXACT)
    assert not suits(pairs, loss, "float32")
    assert not suits(gaussian_pairs(30, 6, seed=0, dtype=torch.float32), loss, EXACT)
    assert suits(gaussian_pairs(600, 60, seed=0), loss, EXACT)
    assert not suits(gaussian_pairs(600, 60, seed=0), TailAverage(0.3, 3.0), EXACT)
    assert not suits(gaussian_pairs(1200, 60, seed=0), loss, EXACT)
    assert not suits(gaussian_pairs(3000, 2, seed=0), loss, EXACT)  # the scores would take too much


def test_scores_whose_squares_overflow_are_named():
    pairs = gaussian_pairs(30, 6, seed=0)
    W = torch.full((6, 6), 1e160, dtype=torch.float64)
    with pytest.raises(ScoresOverflow, match=r"W: scores of up to \de\+16\d, whose squares overflow"):
        loss_pass(pairs, TailAverage(0.3, 3.0), W)
    with pytest.raises(ValueError, match="pairs = 'vectors whose product overflows': must be shorter"):
        loss_pass(Pairs(1e160 * pairs.U, pairs.V), CrossEntropy(), W * 0)


def test_products_take_one_thread_until_the_last_has_left():
    def counts():
        return [library.num_threads for library in small_pass._libraries()]

    before = counts()
    assert before
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with one_thread():
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=stay)
    with pytest.raises(ZeroDivisionError), one_thread():
        other.start()
        inside.wait(10)
        assert set(counts()) == {1}
        1 / 0
    assert set(counts()) == {1}  # since the other is still there
    leave.set()
    other.join()
    assert counts() == before


@pytest.mark.parametrize("loss", LOSSES[:3], ids=str)
def test_a_descent_tells_all_passes_and_ends_at_its_word(loss):
    pairs = gaussian_pairs(60, 12, seed=2)
    told = []
    zero = torch.zeros(12, 12, dtype=torch.float64)
    point = descend(
        pairs, zero, Stage(loss, 1e-3), tol=1e-9, most=2000, tell=lambda done, W: told.append((done, W))
    )
    assert point.within(1e-9)
    assert all(0 < len(done) < 2 * PAUSE for done, _ in told)
    assert torch.equal(told[-1][1], point.W)
    assert told[-1][0][-1] == pytest.approx((point.objective, point.relative_gap), rel=1e-12)
    done = loss_pass(pairs, loss, point.W)
    gradient = done.gradient + 1e-3 / 144 * point.W
    torch.testing.assert_close(point.gradient, gradient, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(point.done.margins, done.margins, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(point.done.gradient, done.gradient, rtol=1e-9, atol=1e-12)
    for objective, gap in (entry for passes, _ in told for entry in passes):
        assert objective * (1 - gap) <= point.objective * (1 + 1e-9)  # each gap bounds the distance


@pytest.mark.parametrize("most", [1, 2, 3, 17])
def test_passes_are_never_more_than_asked_for(most):
    pairs, zero, told = gaussian_pairs(60, 12, seed=2), torch.zeros(12, 12, dtype=torch.float64), []
    stage = Stage(CrossEntropy(), 1e-6)
    descend(pairs, zero, stage, tol=1e-9, most=most, tell=lambda done, W: told.extend(done))
    assert most <= len(told) <= most + 1


def test_where_it_gets_nowhere_the_other_descent_takes_over(monkeypatch):
    pairs, loss = gaussian_pairs(150, 28, seed=1), CrossEntropy()
    ridge = 1e-8 * 28**2 / 150
    monkeypatch.setattr(room, "MOST_PASSES", 60)
    found = fit(pairs, loss, ridge=ridge)
    assert found.converged
    assert 60 < found.passes < MOST_PASSES / 3
    assert len(found.trace) == found.passes
    assert found.nu == pytest.approx(1093.72, rel=1e-4)


def test_seconds_of_a_trace_rise(tmp_path):
    found = fit(gaussian_pairs(60, 12, seed=2), CrossEntropy(), ridge=1e-5)
    seconds = np.array([entry["seconds"] for entry in found.trace])
    assert seconds[0] >= 0
    assert (np.diff(seconds) >= 0).all()
