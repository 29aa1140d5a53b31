"""The largest margin: against small quadratic programs, the perceptron, exact arithmetic and invariances."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.optimize import nnls

from assocmem.deciding.feasibility import decide_top1
from assocmem.deciding.largest_margin import largest_margin
from assocmem.deciding.margin_bounds import margin_from_below, verify_margin_bound
from assocmem.pairs.data import Facts, Pairs, gaussian_pairs
from assocmem.pairs.scores import retrieval_margins

TIGHT = 1e-7


def comparisons(facts):
    """All ``A_ij`` as rows, in numpy."""
    U, V, own = facts.U.double().numpy(), facts.V.double().numpy(), facts.answers.numpy()
    return np.array(
        [
            np.outer(U[:, own[i]] - U[:, j], V[:, i]).ravel()
            for i in range(facts.n)
            for j in range(facts.m)
            if j != own[i]
        ]
    )


def by_program(facts):
    """From the shortest W with all products at least one, by the method of Lawson and Hanson."""
    A = comparisons(facts)
    system = np.vstack([A.T, np.ones(len(A))])
    goal = np.zeros(len(system))
    goal[-1] = 1
    weights, _ = nnls(system, goal, maxiter=10000)
    rest = system @ weights - goal
    return -rest[-1] / np.linalg.norm(rest[:-1])


def separable(n, d, start=0):
    """The first small instance of Gaussian pairs that some memory retrieves."""
    seed = start
    while not decide_top1(gaussian_pairs(n, d, seed=seed)).feasible:
        seed += 1
    return gaussian_pairs(n, d, seed=seed)


def shared():
    """Facts with two keys an answer, targets of nobody, and a dimension for each side."""
    rng = np.random.default_rng(5)
    targets, keys = rng.standard_normal((4, 5)), rng.standard_normal((3, 6))
    return Facts(targets, keys, np.array([0, 1, 2, 0, 1, 2]))


@pytest.mark.parametrize(
    "make", [lambda: separable(4, 2), lambda: separable(5, 3), lambda: separable(6, 3), shared]
)
def test_it_is_the_optimum_of_a_quadratic_program(make):
    facts = make()
    found = largest_margin(facts, gap=TIGHT)
    assert found.converged
    assert found.separates
    assert found.gap <= TIGHT
    best = by_program(facts)
    assert found.margin <= best * (1 + 1e-9)
    assert found.bound >= best * (1 - 1e-9)
    assert float(found.W.norm()) == pytest.approx(1, abs=1e-12)
    assert float(retrieval_margins(facts, found.W).min()) == pytest.approx(found.margin, rel=1e-9)


@pytest.mark.parametrize(("n", "d"), [(60, 24), (150, 60)])
def test_the_gap_closes_in_larger_dimensions(n, d):
    pairs = gaussian_pairs(n, d, seed=1)
    loose, tight = largest_margin(pairs), largest_margin(pairs, gap=1e-6)
    assert loose.converged
    assert tight.converged
    assert loose.passes < tight.passes < 120
    assert loose.margin <= tight.bound
    assert tight.margin <= loose.bound
    assert tight.margin >= (1 - 1e-3) * loose.margin
    assert len(tight.weights) <= 3 * d * d


def test_no_other_memory_is_above_the_bound():
    pairs = gaussian_pairs(40, 20, seed=2)
    found = largest_margin(pairs, gap=1e-5)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 1):
        for _ in range(20):
            W = found.W + size * torch.from_numpy(rng.standard_normal((20, 20))) / 20
            assert float(retrieval_margins(pairs, W).min() / W.norm()) < found.bound


def test_the_perceptron_errs_no_more_often_than_the_margin_allows():
    pairs = gaussian_pairs(12, 8, seed=1)
    A, found = comparisons(pairs), largest_margin(pairs)
    w, errors = np.zeros(64), 0
    while True:
        wrong = np.flatnonzero(A @ w <= 0)
        if not len(wrong):
            break
        w, errors = w + A[wrong[0]], errors + 1
    longest = np.linalg.norm(A, axis=1).max()
    assert errors <= (longest / found.margin) ** 2
    assert (A @ w).min() / np.linalg.norm(w) <= found.bound


def test_rotations_scales_and_the_start_do_not_matter():
    pairs = gaussian_pairs(50, 20, seed=3)
    found = largest_margin(pairs, gap=1e-5)
    rng = np.random.default_rng(1)
    A, B = (torch.from_numpy(np.linalg.qr(rng.standard_normal((20, 20)))[0]) for _ in range(2))
    turned = largest_margin(Pairs(A @ pairs.U, B @ pairs.V), gap=1e-5)
    assert turned.margin == pytest.approx(found.margin, rel=1e-5)
    torch.testing.assert_close(A.T @ turned.W @ B, found.W, rtol=0, atol=3e-3 / 20)
    scaled = largest_margin(Pairs(1e40 * pairs.U, 1e-90 * pairs.V), gap=1e-5)
    assert scaled.margin == pytest.approx(1e-50 * found.margin, rel=1e-5)
    shift = torch.full((20, 1), 0.3, dtype=torch.float64)
    shifted = largest_margin(Pairs(pairs.U + shift, pairs.V), gap=1e-5)  # a comparison is of differences
    assert shifted.margin == pytest.approx(found.margin, rel=1e-4)
    for scale in (1e-30, 1.0, 1e30):
        again = largest_margin(pairs, gap=1e-5, W0=scale * turned.W)
        assert again.margin == pytest.approx(found.margin, rel=1e-5)
    near = largest_margin(pairs, W0=torch.zeros_like(found.W))
    assert near.converged


def test_where_nothing_separates_it_says_so():
    pairs = gaussian_pairs(60, 8, seed=1)
    assert decide_top1(pairs).feasible is False
    found = largest_margin(pairs)
    assert not found.converged
    assert not found.separates
    assert found.margin < 0
    assert found.gap == math.inf
    assert 0 <= found.bound < 1e-5


@pytest.mark.parametrize("broken", ["key", "target"])
def test_a_comparison_that_is_zero_leaves_no_margin(broken):
    pairs = gaussian_pairs(20, 10, seed=1)
    U, V = pairs.U.clone(), pairs.V.clone()
    if broken == "key":
        V[:, 7] = 0
    else:
        U[:, 3] = U[:, 11]
    found = largest_margin(Pairs(U, V))
    assert found.bound == 0
    assert found.margin <= 0
    assert not found.converged
    assert found.passes == 0


def test_a_zero_target_is_one_like_others():
    pairs = gaussian_pairs(20, 14, seed=1)
    U = pairs.U.clone()
    U[:, 4] = 0
    found = largest_margin(Pairs(U, pairs.V))
    assert found.converged
    empty = largest_margin(Facts(torch.zeros(3, 2), pairs.V[:, :4].float(), [0, 1, 0, 1]))
    assert (empty.margin, empty.bound, empty.converged) == (0, 0, False)


def test_one_key_has_its_margin_by_hand():
    U = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    V = torch.tensor([[3.0], [4.0]], dtype=torch.float64)
    found = largest_margin(Facts(U, V, [0]), gap=1e-9)
    assert found.margin == pytest.approx(5 * math.sqrt(2), rel=1e-9)
    assert found.converged


def test_single_precision_is_decided_for_the_numbers_given():
    pairs = gaussian_pairs(60, 30, seed=1, dtype=torch.float32)
    found = largest_margin(pairs)
    assert found.W.dtype == torch.float32
    assert found.converged
    exact = Pairs(pairs.U.double(), pairs.V.double())
    W = found.W.double()
    assert float(retrieval_margins(exact, W).min() / W.norm()) == pytest.approx(found.margin, rel=1e-9)


# --- the bounds ---------------------------------------------------------------------------------------------


def exactly(X):
    return [[Fraction(float(x)) for x in row] for row in X]


def test_both_bounds_hold_in_exact_arithmetic_and_are_near():
    facts = shared()
    found = largest_margin(facts, gap=1e-4)
    U, V, W = exactly(facts.U), exactly(facts.V), exactly(found.W)
    own = facts.answers.tolist()

    def product(j, i):
        return sum(
            (U[a][own[i]] - U[a][j]) * W[a][b] * V[b][i]
            for a in range(facts.d_out)
            for b in range(facts.d_in)
        )

    worst = min(product(j, i) for i in range(facts.n) for j in range(facts.m) if j != own[i])
    square = sum(x * x for row in W for x in row)
    assert Fraction(found.margin) ** 2 * square <= worst**2
    assert Fraction(found.margin * (1 + 1e-9)) ** 2 * square >= worst**2
    total = [[Fraction(0)] * facts.d_in for _ in range(facts.d_out)]
    for weight, j, i in zip(found.weights, found.targets, found.keys, strict=True):
        for a in range(facts.d_out):
            for b in range(facts.d_in):
                total[a][b] += Fraction(float(weight)) * (U[a][own[i]] - U[a][j]) * V[b][i]
    length = sum(x * x for row in total for x in row)
    weights = sum(Fraction(float(w)) for w in found.weights)
    assert Fraction(found.bound) ** 2 * weights**2 >= length
    assert Fraction(found.bound * (1 - 1e-9)) ** 2 * weights**2 <= length


def test_any_weights_bound_the_margin_and_forged_ones_are_refused():
    pairs = gaussian_pairs(40, 20, seed=2)
    found = largest_margin(pairs)
    U, V = pairs.U.numpy(), pairs.V.numpy()
    weights, j, i = found.weights, found.targets, found.keys
    assert verify_margin_bound(weights, j, i, U, V) == found.bound
    rng = np.random.default_rng(0)
    for _ in range(10):  # whatever the weights, nothing below the margin is proved
        some = weights * rng.integers(0, 2, len(weights)) + 1e-3
        assert verify_margin_bound(some, j, i, U, V) >= found.bound * (1 - 1e-3)
    for bad in (-weights, 0 * weights, weights * np.nan, weights[1:]):
        with pytest.raises(ValueError, match="weights"):
            verify_margin_bound(bad, j, i, U, V)
    one = weights.copy()
    one[0] = -1e-12
    with pytest.raises(ValueError, match="weights: must not be negative"):
        verify_margin_bound(one, j, i, U, V)
    for other in (i, j - 1000, j + 40):  # on the own target, which compares nothing; or of nobody
        with pytest.raises(ValueError, match="targets"):
            verify_margin_bound(weights, other, i, U, V)
    with pytest.raises(ValueError, match="answers"):
        verify_margin_bound(weights, j, i, U, V, np.full(40, 40))


def test_margins_from_below():
    pairs = gaussian_pairs(40, 20, seed=2)
    W, U, V = pairs.U.numpy() @ pairs.V.numpy().T, pairs.U.numpy(), pairs.V.numpy()
    plain = float(retrieval_margins(pairs, torch.from_numpy(W)).min()) / np.linalg.norm(W)
    found = margin_from_below(W, U, V)
    assert found < plain
    assert found == pytest.approx(plain, rel=1e-9)
    assert margin_from_below(2.0**70 * W, U, V) == found
    assert margin_from_below(0 * W, U, V) == 0
    with pytest.raises(ValueError, match="W: must be"):
        margin_from_below(W[:3], U, V)


@pytest.mark.parametrize(
    ("keywords", "line"),
    [
        ({"gap": 0}, "gap = 0: must be in (0, 1)"),
        ({"gap": 1.0}, "gap = 1.0: must be in (0, 1)"),
        ({"max_passes": 0}, "max_passes = 0: must be an integer >= 1"),
        ({"W0": torch.zeros(2, 2)}, "W0 = '(2, 2) float32 on cpu': must be a tensor of shape (8, 8)"),
    ],
)
def test_refusals(keywords, line):
    with pytest.raises(ValueError) as error:
        largest_margin(gaussian_pairs(12, 8, seed=1), **keywords)
    assert str(error.value) == line


def test_it_gives_up_after_so_many_passes():
    found = largest_margin(gaussian_pairs(60, 24, seed=1), gap=1e-6, max_passes=4)
    assert not found.converged
    assert found.passes <= 4
    assert found.bound > 0
