"""Facts: many keys to one target, sizes of their own, and that pairs are a case of them."""

import math
import re
import sys
import types

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import assocmem as am
from assocmem.pairs import scores as score_module
from assocmem.training.losses import CrossEntropy, TailAverage
from assocmem.training.passes import attended_pass, dense_hessian, hessian_pass, joint_pass, loss_pass


def draw_facts(d_out, d_in, m, n, seed):
    """Gaussian vectors, answers at random, and a memory."""
    rng = np.random.default_rng(seed)
    facts = am.Facts(rng.standard_normal((d_out, m)), rng.standard_normal((d_in, n)), rng.integers(m, size=n))
    return facts, torch.from_numpy(rng.standard_normal((d_out, d_in)))


sizes = st.tuples(
    st.integers(1, 5), st.integers(1, 5), st.integers(2, 9), st.integers(1, 12), st.integers(0, 99)
)


@given(sizes, st.integers(1, 5))
def test_what_is_read_off_scores_is_that_of_dense_ones(size, step):
    facts, W = draw_facts(*size)
    S = facts.U.numpy().T @ W.numpy() @ facts.V.numpy()
    own = facts.answers.numpy()
    signal = S[own, np.arange(facts.n)]
    rivals = np.array([np.delete(S[:, i], a) for i, a in enumerate(own)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_module, "block_columns", lambda *_, **__: step)
        margins, shares = am.retrieval_margins(facts, W), am.signal_percentiles(facts, W)
    np.testing.assert_allclose(am.scores(facts, W), S, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(margins, signal - rivals.max(axis=1), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(shares, (rivals <= signal[:, None]).mean(axis=1), atol=1e-15)


@given(sizes, st.sampled_from([CrossEntropy(), TailAverage(0.3, 2.0), TailAverage(1.0, 2.0)]))
def test_a_pass_has_the_derivatives_of_its_loss(size, loss):
    facts, W = draw_facts(*size)
    D = torch.from_numpy(np.random.default_rng(7).standard_normal(tuple(W.shape)))
    done, h = loss_pass(facts, loss, W, features=True), 1e-5
    ends = [loss_pass(facts, loss, W + s * h * D) for s in (-1, 1)]
    slope = (ends[1].loss - ends[0].loss) / (2 * h)
    np.testing.assert_allclose(float((done.gradient * D).sum()), slope, rtol=1e-6, atol=1e-8)
    bend = (ends[1].gradient - ends[0].gradient) / (2 * h)
    product = hessian_pass(facts, loss, W, D)
    torch.testing.assert_close(product, bend, rtol=1e-4, atol=1e-6)
    H = dense_hessian(facts, loss, W)
    torch.testing.assert_close((H @ D.reshape(-1)).reshape(D.shape), product, rtol=1e-9, atol=1e-10)
    moved = torch.linalg.vecdot(done.features, D @ facts.V, dim=0)
    torch.testing.assert_close((ends[1].margins - ends[0].margins) / (2 * h), moved, rtol=1e-5, atol=1e-6)


def test_a_pass_over_every_size_of_block_is_the_same(monkeypatch):
    facts, W = draw_facts(4, 3, 7, 40, 0)
    loss = TailAverage(0.4, 3.0)
    whole = loss_pass(facts, loss, W, features=True)
    joint = joint_pass(facts, loss, W, whole.mu)
    monkeypatch.setattr("assocmem.training.passes.block_columns", lambda *_, **__: 3)
    parts = loss_pass(facts, loss, W, features=True)
    torch.testing.assert_close(whole.gradient, parts.gradient)
    torch.testing.assert_close(whole.features, parts.features)
    torch.testing.assert_close(joint[1], whole.gradient, rtol=1e-6, atol=1e-9)
    assert float(joint[2].abs().max()) < 1e-12


def test_pairs_are_facts_with_a_target_for_each_key():
    pairs = am.gaussian_pairs(30, 7, seed=1)
    facts = am.Facts(targets=pairs.U, keys=pairs.V)
    W = am.correlation_memory(pairs)
    assert torch.equal(am.correlation_memory(facts), W)
    assert torch.equal(am.retrieval_margins(facts, W), am.retrieval_margins(pairs, W))
    assert torch.equal(am.signal_percentiles(facts, W), am.signal_percentiles(pairs, W))
    for loss in (am.CrossEntropy(), am.TailAverage(r=0.2, beta=5.0)):
        one, other = (am.fit(p, loss, ridge=1e-2) for p in (pairs, facts))
        assert one.converged and other.converged
        torch.testing.assert_close(one.W, other.W, rtol=1e-9, atol=1e-9)
        assert one.nu == pytest.approx(other.nu, rel=1e-12)
    one, other = (am.clipped_memory(p) for p in (pairs, facts))
    torch.testing.assert_close(one.W, other.W)


def test_the_order_of_targets_and_of_facts_does_not_matter():
    facts, _ = draw_facts(4, 5, 8, 20, 3)
    rng = np.random.default_rng(0)
    place, order = (torch.from_numpy(rng.permutation(x)) for x in (facts.m, facts.n))
    number = torch.empty_like(place)
    number[place] = torch.arange(facts.m)
    other = am.Facts(facts.U[:, place], facts.V[:, order], number[facts.answers][order])
    one, two = (am.fit(f, am.CrossEntropy(), ridge=1e-2) for f in (facts, other))
    torch.testing.assert_close(one.W, two.W, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(am.correlation_memory(facts), am.correlation_memory(other))


def test_outer_products_count_facts():
    facts, _ = draw_facts(3, 4, 5, 11, 2)
    U, V = facts.U, facts.V
    expected = sum(torch.outer(U[:, a], V[:, i]) for i, a in enumerate(facts.answers))
    torch.testing.assert_close(am.correlation_memory(facts), expected)


@pytest.mark.parametrize(("d_out", "d_in", "m", "n"), [(6, 5, 9, 20), (6, 5, 3, 8), (4, 9, 12, 7)])
def test_equal_signals_have_the_least_energy(d_out, d_in, m, n):
    """Also where targets, or keys, are fewer than their dimensions."""
    facts, _ = draw_facts(d_out, d_in, m, n, 5)
    W = am.equalised_memory(facts)
    keys = torch.arange(n)
    S = am.scores(facts, W)
    torch.testing.assert_close(S[facts.answers, keys], torch.ones(n, dtype=torch.float64), rtol=0, atol=1e-3)
    A = torch.stack([torch.outer(u, v).reshape(-1) for u in facts.U.T for v in facts.V.T])
    own = A[facts.answers * n + keys]
    energy = A.T @ A
    best = torch.linalg.pinv(energy) @ own.T @ torch.linalg.pinv(own @ torch.linalg.pinv(energy) @ own.T)
    least = best.sum(dim=1).reshape(d_out, d_in)
    torch.testing.assert_close(S, am.scores(facts, least), rtol=0, atol=5e-3)


def test_a_fit_is_a_minimum_and_scales_its_ridge_with_the_entries():
    facts, _ = draw_facts(5, 8, 6, 30, 1)
    found = am.fit(facts, am.CrossEntropy(), ridge=0.05, tol=1e-10)
    assert found.converged
    gradient = loss_pass(facts, CrossEntropy(), found.W).gradient + 0.05 / 40 * found.W
    assert float(gradient.norm()) < 1e-6
    assert found.nu == pytest.approx(float(found.W.norm()) / np.sqrt(40))


def test_a_fit_goes_on_from_its_checkpoint_and_refuses_that_of_other_answers(tmp_path):
    facts, _ = draw_facts(5, 4, 6, 30, 1)
    state = tmp_path / "fit.state"
    one = am.fit(facts, am.CrossEntropy(), ridge=0.05, max_passes=4, checkpoint=state)
    again = am.fit(facts, am.CrossEntropy(), ridge=0.05, checkpoint=state)
    assert again.converged and again.passes > one.passes
    other = am.Facts(facts.U, facts.V, (facts.answers + 1) % facts.m)
    with pytest.raises(ValueError, match="of the same pairs, loss and ridge"):
        am.fit(other, am.CrossEntropy(), ridge=0.05, checkpoint=state)


def test_short_types_and_any_order_of_memory():
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((6, 3)), rng.standard_normal((9, 4))
    plain = am.Facts(U.T.astype(np.float16), V.T.astype(np.float32), np.arange(9) % 6)
    assert plain.U.dtype == plain.V.dtype == torch.float32
    assert (plain.m, plain.n, plain.d_out, plain.d_in, plain.entries) == (6, 9, 3, 4, 12)
    swapped = am.Facts(np.asfortranarray(U.T)[:, ::-1], V.T[::-1].astype(">f8"), [0] * 9)
    np.testing.assert_array_equal(swapped.U, U.T[:, ::-1])
    np.testing.assert_array_equal(swapped.V, V.T[::-1])
    mixed = am.Facts(
        torch.from_numpy(U.T).bfloat16(), torch.from_numpy(V.T), torch.zeros(9, dtype=torch.int8)
    )
    assert mixed.U.dtype == torch.float64
    assert torch.equal(mixed.U, torch.from_numpy(U.T).bfloat16().double())
    U[:] = 0
    assert swapped.U.any()  # a copy


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 1)), np.ones((2, 3)), [0, 0, 0]), r"targets = .*at least two columns \(m >= 2\)"),
        ((np.ones((2, 3)), np.ones((2, 0)), []), "keys = .*at least one column"),
        ((np.ones((0, 3)), np.ones((2, 2)), [0, 1]), "targets = .*at least one row"),
        ((np.ones((2, 3)), np.ones((2, 4))), "answers = None: must be given, since 4 keys have 3 targets"),
        ((np.ones((2, 3)), np.ones((2, 4)), [0, 1, 2]), "answers = .*one integer for each of 4 keys"),
        ((np.ones((2, 3)), np.ones((2, 2)), [0.0, 1.0]), "answers = .*one integer for each of 2 keys"),
        ((np.ones((2, 3)), np.ones((2, 2)), [True, False]), "answers = .*one integer for each of 2 keys"),
        ((np.ones((2, 3)), np.ones((2, 2)), ["a", "b"]), "answers = 'list': must be 2 integers"),
        ((np.ones((2, 3)), np.ones((2, 2)), [0, 3]), r"answers\[1\] = 3: must be from 0 to m - 1 = 2"),
        ((np.ones((2, 3)), np.ones((2, 2)), [-1, 0]), r"answers\[0\] = -1: must be from 0 to m - 1 = 2"),
        ((np.ones((2, 3)), np.array([[1.0, np.nan]]), [0, 0]), "keys = .*inf or nan in column 1"),
        ((np.ones((2, 3), dtype=int), np.ones((2, 2)), [0, 0]), "targets = 'ndarray'"),
        ((np.ones(3), np.ones((2, 2)), [0, 0]), "targets = .*shape"),
        (("U", np.ones((2, 2)), [0, 0]), "targets = 'str'"),
    ],
)
def test_malformed_facts_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        am.Facts(*arguments)


def test_functions_of_pairs_refuse_facts():
    facts, W = draw_facts(3, 3, 4, 4, 0)
    with pytest.raises(ValueError, match="pairs = .*a Pairs"):
        am.sparse_repair(facts, gamma=0.1)
    with pytest.raises(ValueError, match=r"W = '\(2, 3\) .*shape \(3, 3\)"):
        am.scores(facts, W[:2])


def test_scores_that_are_not_stored_give_the_same_pass(monkeypatch):
    """Of `attended_pass` only what is around the kernel, which needs a card."""
    facts, W = draw_facts(4, 3, 6, 9, 4)

    def attend(Q, U, answers, precision="float64"):
        S = (Q.T @ U).T
        S[answers, torch.arange(len(answers))] = -torch.inf
        return S.logsumexp(dim=0), U @ torch.softmax(S, dim=0)

    module = types.ModuleType("attention_gpu")
    module.attend = attend
    monkeypatch.setitem(sys.modules, "assocmem.training.attention_gpu", module)
    one, other = attended_pass(facts, W, features=True), loss_pass(facts, CrossEntropy(), W, features=True)
    torch.testing.assert_close(one.gradient, other.gradient)
    torch.testing.assert_close(one.features, other.features)
    torch.testing.assert_close(one.margins, other.margins)


WEIGHTS = [0.5, 1.0, 2.5, 4.0]


@pytest.mark.parametrize(
    "given_as",
    [
        list,
        tuple,
        np.array,
        lambda w: np.array(w, dtype=">f4"),
        lambda w: np.broadcast_to(np.array(w)[::-1][::-1], 4),
        lambda w: (2 * np.array(w)).astype(np.uint8),
        lambda w: torch.tensor(w, dtype=torch.float16, requires_grad=True),
        lambda w: [int(2 * x) for x in w],
        lambda w: torch.nn.Parameter(torch.tensor(w)),
        lambda w: np.array(w) * 1e307,
        lambda w: np.array(w) * 1e-300,
    ],
)
def test_weights_are_kept_with_mean_one_however_they_are_given(given_as):
    pairs = am.gaussian_pairs(4, 3, seed=0)
    facts = am.Facts(pairs.U, pairs.V, weights=given_as(WEIGHTS))
    assert type(facts.weights) is torch.Tensor
    assert facts.weights.dtype == torch.float64
    assert not facts.weights.requires_grad
    np.testing.assert_allclose(facts.weights, np.array(WEIGHTS) / 2, rtol=1e-15)


@given(st.lists(st.floats(1e-40, 1e40), min_size=1, max_size=30))
def test_copies_have_the_weights_to_the_last_digit(weights):
    n = len(weights)
    rng = np.random.default_rng(0)
    facts = am.Facts(rng.standard_normal((2, 3)), rng.standard_normal((2, n)), [0] * n, weights)
    assert float(facts.weights.mean()) == pytest.approx(1, abs=1e-14)
    copy = facts.with_vectors(facts.U.float(), facts.V.float())
    assert torch.equal(copy.weights, facts.weights)
    assert torch.equal(facts.chosen(slice(None)).weights, facts.weights)
    assert torch.equal(am.Facts(facts.U, facts.V, facts.answers, facts.weights).weights, facts.weights)


def test_weights_are_not_those_of_the_caller():
    pairs, given = am.gaussian_pairs(4, 3, seed=0), torch.ones(4, dtype=torch.float64)
    facts = am.Facts(pairs.U, pairs.V, weights=given)
    given[0] = 7
    assert float(facts.weights[0]) == 1


@pytest.mark.parametrize(
    "which", [slice(1, 4), torch.tensor([3, 1]), torch.tensor([True, False, True, True])]
)
def test_some_of_the_facts_weigh_as_they_did_among_each_other(which):
    pairs = am.gaussian_pairs(4, 3, seed=0)
    facts = am.Facts(pairs.U, pairs.V, weights=WEIGHTS)
    some, expected = facts.chosen(which), torch.tensor(WEIGHTS, dtype=torch.float64)[which]
    torch.testing.assert_close(some.weights, expected / expected.mean())
    assert torch.equal(some.keys, facts.keys[:, which])
    assert torch.equal(some.answers, facts.answers[which])
    assert facts.unweighted().weights is None
    assert facts.unweighted().chosen(which).weights is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0, 3.0], "weights = '(3,) float64 on cpu': must be one positive number for each of 4 keys"),
        (
            np.ones((4, 1)),
            "weights = '(4, 1) float64 on cpu': must be one positive number for each of 4 keys",
        ),
        (1.0, "weights = '() float64 on cpu': must be one positive number for each of 4 keys"),
        (torch.ones(4) > 0, "weights = '(4,) bool on cpu': must be one positive number for each of 4 keys"),
        (
            torch.ones(4) + 0j,
            "weights = '(4,) complex64 on cpu': must be one positive number for each of 4 keys",
        ),
        (torch.ones(4, device="meta"), "weights = '(4,) float32 on meta': must be one positive number"),
        (
            torch.ones(4).to_sparse(),
            "weights = '(4,) sparse_coo float32 on cpu': must be one positive number",
        ),
        ([1.0, -2.0, 3.0, 1.0], "weights[1] = -2.0: must be positive and finite"),
        ([1.0, 2.0, 0.0, 1.0], "weights[2] = 0.0: must be positive and finite"),
        ([1.0, 2.0, 3.0, math.nan], "weights[3] = nan: must be positive and finite"),
        ([math.inf, 2.0, 3.0, 1.0], "weights[0] = inf: must be positive and finite"),
        ([1e-60, 1.0, 1e60, 1.0], "weights = 'from 1e-60 to 1e+60': must be within a factor of 1e+100"),
        ([True, True, False, True], "weights = 'list': must be 4 positive numbers"),
        (np.array([1j, 1, 1, 1]), "weights = 'ndarray': must be 4 positive numbers"),
        ("abcd", "weights = 'str': must be 4 positive numbers"),
        ([None] * 4, "weights = 'list': must be 4 positive numbers"),
        ([[1.0], 2.0, 3.0, 4.0], "weights = 'list': must be 4 positive numbers"),
        (object(), "weights = 'object': must be 4 positive numbers"),
        ([10**400] * 4, "weights = 'list': must be 4 positive numbers"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message):
    pairs = am.gaussian_pairs(4, 3, seed=0)
    with pytest.raises(ValueError, match=re.escape(message)):
        am.Facts(pairs.U, pairs.V, weights=weights)
