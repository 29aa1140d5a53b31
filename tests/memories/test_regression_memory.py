"""Least squares around a prior memory: normal equations, recursion, and what whitening does."""

import pytest
import torch

from assocmem.experiments.gaussian_facts import gaussian_facts
from assocmem.memories.least_squares import least_squares_memory, whitened_memory
from assocmem.memories.outer_products import correlation_memory
from assocmem.pairs.data import Facts, Pairs, gaussian_pairs
from assocmem.pairs.scores import scores


def close(a, b, tol=1e-10):
    torch.testing.assert_close(a, b, rtol=0, atol=tol * float(b.abs().amax()))


def test_it_is_the_solution_of_least_squares():
    pairs = gaussian_pairs(60, 12, seed=1)
    close(least_squares_memory(pairs), torch.linalg.lstsq(pairs.V.T, pairs.U.T).solution.T)


def test_few_keys_are_answered_exactly_and_by_the_least_memory():
    pairs = gaussian_pairs(8, 20, seed=2)
    W = least_squares_memory(pairs)
    close(W @ pairs.V, pairs.U)
    close(W, pairs.U @ torch.linalg.pinv(pairs.V))


def test_a_ridge_is_that_of_the_augmented_system():
    pairs, ridge = gaussian_pairs(40, 10, seed=3), 0.7
    V = torch.cat([pairs.V, ridge**0.5 * torch.eye(10, dtype=torch.float64)], dim=1)
    U = torch.cat([pairs.U, torch.zeros(10, 10, dtype=torch.float64)], dim=1)
    close(least_squares_memory(pairs, ridge=ridge), torch.linalg.lstsq(V.T, U.T).solution.T)
    huge = least_squares_memory(pairs, ridge=1e9) * 1e9  # outer products are the limit of a large ridge
    close(huge, correlation_memory(pairs), 1e-7)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_old_facts_and_then_new_ones_come_to_all_at_once(ridge):
    pairs = gaussian_pairs(70, 12, seed=4)
    old, new = Pairs(pairs.U[:, :40], pairs.V[:, :40]), Pairs(pairs.U[:, 40:], pairs.V[:, 40:])
    first = least_squares_memory(old, ridge=ridge)
    kept = old.V @ old.V.T + ridge * torch.eye(12, dtype=torch.float64)
    second = least_squares_memory(new, prior=first, covariance=kept)
    close(second, least_squares_memory(pairs, ridge=ridge))
    assert float((first - second).norm() / first.norm()) > 0.3


def test_what_was_stored_exactly_stays_where_new_keys_are_orthogonal():
    basis = torch.linalg.qr(gaussian_pairs(16, 16, seed=5).V).Q
    U = gaussian_pairs(12, 16, seed=6).U
    old, new = Pairs(U[:, :6], basis[:, :6]), Pairs(U[:, 6:], basis[:, 6:12])
    W = least_squares_memory(new, prior=least_squares_memory(old), covariance=old.V @ old.V.T)
    close(W @ old.V, old.U)
    close(W @ new.V, new.U)


def test_facts_with_shared_answers_and_dimensions_of_their_own():
    facts = gaussian_facts(10, 6, 9, 50, seed=7)
    plain = torch.linalg.lstsq(facts.V.T, facts.answered().T).solution.T
    close(least_squares_memory(facts), plain)
    W = whitened_memory(facts)
    left, right = facts.U @ facts.U.T * 6 / 9, facts.V @ facts.V.T * 10 / 50
    close(left @ W @ right, correlation_memory(facts))


def test_whitening_both_sides_makes_scores_the_same_in_all_coordinates():
    pairs = gaussian_pairs(60, 12, seed=8)
    A, B = (gaussian_pairs(12, 12, seed=seed).U for seed in (9, 10))
    turned = Pairs(A @ pairs.U, B @ pairs.V)
    close(scores(turned, whitened_memory(turned)), scores(pairs, whitened_memory(pairs)), 1e-8)
    scored, other = (scores(p, correlation_memory(p)) for p in (turned, pairs))
    assert float((scored / scored.norm() - other / other.norm()).norm()) > 0.1


def test_single_precision_is_kept():
    single = gaussian_pairs(60, 12, seed=1, dtype=torch.float32)
    for make in (least_squares_memory, whitened_memory):
        assert make(single).dtype == torch.float32
        close(make(single).double(), make(gaussian_pairs(60, 12, seed=1)), 1e-4)


def test_equal_keys_get_the_mean_of_their_answers():
    pairs = gaussian_pairs(2, 5, seed=1)
    W = least_squares_memory(Facts(pairs.U, pairs.V[:, :1].repeat(1, 2)))
    close(W @ pairs.V[:, 0], pairs.U.mean(dim=1))


def test_what_it_cannot_use_is_refused():
    pairs, one = gaussian_pairs(30, 4, seed=1), torch.eye(4, dtype=torch.float64)
    for wrong in ({"ridge": -1.0}, {"prior": one[:3]}, {"covariance": one[:3]}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            least_squares_memory(pairs, **wrong)
    with pytest.raises(ValueError, match="covariance.*symmetric"):
        least_squares_memory(pairs, covariance=torch.triu(torch.ones(4, 4, dtype=torch.float64)))
    with pytest.raises(ValueError, match="covariance.*negative"):
        least_squares_memory(pairs, covariance=-100 * one)
    with pytest.raises(ValueError, match="pairs"):
        least_squares_memory(Pairs(pairs.U, 1e200 * pairs.V))
