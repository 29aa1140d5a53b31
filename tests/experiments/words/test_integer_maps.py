"""Maps that make no rounding error, and proofs that go through them."""

from fractions import Fraction

import numpy as np
import pytest

from assocmem.deciding.feasibility import decide_top1, verify
from assocmem.experiments.words.integer_maps import exact_map, mapped
from assocmem.experiments.words.nested_facts import facts_of, first_facts


def exactly(A, X):
    return [
        [sum(Fraction(a) * Fraction(x) for a, x in zip(row, column, strict=True)) for column in X.T]
        for row in A
    ]


def test_mapped_words_are_exact():
    facts = first_facts(facts_of("capital", "true", 9, 0), 5)
    A, a, B = exact_map(9, seed=2)
    moved = mapped(facts, A, a, B)
    keys = exactly(B, facts.keys.numpy())
    assert all(
        Fraction(x) == y
        for x, y in zip(moved.keys.flatten().tolist(), [y for row in keys for y in row], strict=True)
    )
    few = facts.targets.numpy()[:, :4]
    targets = [y + int(shift) for row, shift in zip(exactly(A, few), a[:, 0], strict=True) for y in row]
    assert [Fraction(x) for x in moved.targets[:, :4].flatten().tolist()] == targets


def test_maps_are_invertible_far_from_round_and_come_again():
    A, a, B = exact_map(12, seed=1)
    for X in (A, B):
        assert np.linalg.matrix_rank(X) == 12
        assert np.linalg.cond(X) > 30
    again = exact_map(12, seed=1)
    assert all((x == y).all() for x, y in zip((A, a, B), again, strict=True))
    assert (exact_map(12, seed=3)[0] != A).any()


def test_weights_are_a_proof_for_mapped_facts_and_not_for_shifted_keys():
    facts = facts_of("capital", "true", 12, 0)
    certificate = decide_top1(facts).certificate
    assert not certificate.feasible
    moved = mapped(facts, *exact_map(12, seed=5))
    assert verify(certificate, moved)
    assert not verify(certificate, facts.with_vectors(facts.targets, facts.keys + 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": np.eye(3)}, "A = 'shape"),
        ({"a": np.zeros(12)}, "a = 'shape"),
        ({"B": np.full((12, 12), np.nan)}, "B ="),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    facts = facts_of("capital", "true", 12, 0)
    good = {"A": np.eye(12), "a": np.zeros((12, 1)), "B": np.eye(12)}
    with pytest.raises(ValueError, match=message):
        mapped(facts, **good | change)
