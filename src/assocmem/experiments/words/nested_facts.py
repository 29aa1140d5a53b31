"""Facts of a relation one after another, until no memory holds them all; every verdict is certified.

A relation is cut in two halves at random. What is said about its rule comes from the first half, and the
facts that a memory is asked to hold are those of the second, in a random order, with every answer of the
relation as a target. Only the first coordinates of the vectors are used, where all would hold every fact. A
target that lies among others there is never the first for any key; facts with such an answer are left out.
"""

from dataclasses import dataclass

import numpy as np
import torch

from assocmem.checks import require, require_choice, require_integer
from assocmem.deciding.feasibility import decide_top1
from assocmem.deciding.hopeless import hidden_target
from assocmem.experiments.bisection import last_that_holds
from assocmem.experiments.words.word_lists import RELATIONS, read_relation, read_words
from assocmem.pairs.data import Facts, derived_seed
from assocmem.theory.kinematics import statistical_dimension

KINDS = ("gaussian", "shuffled", "true")
"""Gaussian vectors with the answers of the relation; its words with answers shuffled; its true facts."""

FIRST_STRIDE = 0.12
"""First stride of the search, as a part of the number of facts that it begins at."""


@dataclass(frozen=True)
class Halves:
    """A relation cut in two.

    Attributes
    ----------
    targets : ndarray, shape (d, m)
        Vectors of all different answers of the relation.
    keys : ndarray, shape (d, facts)
        Vectors of the words that are asked for.
    answers : ndarray of int, shape (facts,)
        Places among the targets.
    first, second : ndarray of int
        Places of the facts of the halves, in a random order.
    asked, answered : tuple of str
        The words of the keys, and those of the targets.
    """

    targets: np.ndarray
    keys: np.ndarray
    answers: np.ndarray
    first: np.ndarray
    second: np.ndarray
    asked: tuple[str, ...]
    answered: tuple[str, ...]


def halves(relation: str, d: int, order: int) -> Halves:
    """A relation cut in two at random.

    Parameters
    ----------
    relation : str
        One of `RELATIONS`.
    d : int
        Coordinates of each vector that are kept, from 1 to 50.
    order : int
        Seed of the cut and of the order, nonnegative.

    Returns
    -------
    Halves

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_choice("relation", relation, RELATIONS)
    require_integer("order", order, 0)
    words, facts = read_words(), read_relation(relation)
    require_integer("d", d, 1)
    require(d <= words.d, "d", d, f"at most {words.d}, as many as the vectors have")
    places, answers = np.unique(facts.answer, return_inverse=True)
    seed = derived_seed(order, RELATIONS.index(relation))
    shuffled = np.random.default_rng(seed).permutation(len(answers))
    middle = len(answers) // 2
    return Halves(
        words.vectors[:d, places],
        words.vectors[:d, facts.asked],
        answers,
        shuffled[:middle],
        shuffled[middle:],
        tuple(words.names[i] for i in facts.asked),
        tuple(words.names[i] for i in places),
    )


def facts_of(relation: str, kind: str, d: int, order: int) -> Facts:
    """The facts of the second half, true or made up.

    Parameters
    ----------
    relation, d, order : str, int, int
        As for `halves`.
    kind : str
        One of `KINDS`.

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        For an argument out of range.
    """
    require_choice("kind", kind, KINDS)
    cut = halves(relation, d, order)
    targets, keys, answers = cut.targets, cut.keys[:, cut.second], cut.answers[cut.second]
    rng = np.random.default_rng(derived_seed(order, RELATIONS.index(relation), KINDS.index(kind)))
    if kind == "gaussian":
        targets, keys = rng.standard_normal(targets.shape), rng.standard_normal(keys.shape)
    elif kind == "shuffled":
        answers = rng.permutation(answers)
    return without_hidden(Facts(torch.tensor(targets), torch.tensor(keys), torch.tensor(answers)))


def without_hidden(facts: Facts) -> Facts:
    """The facts whose answers are not averages of other targets, with all the targets.

    Parameters
    ----------
    facts : Facts
        With at least one such fact.

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        If no fact is left.
    """
    while (proof := hidden_target(facts)) is not None:
        hidden = facts.answers[int(proof.weights.any(axis=0).argmax())]
        seen = facts.answers != hidden
        require(bool(seen.any()), "facts", f"{facts.n} facts", "some whose answer is no average of others")
        facts = facts.chosen(seen)
    return facts


def first_facts(facts: Facts, n: int) -> Facts:
    """The first n facts, with all the targets.

    Parameters
    ----------
    facts : Facts
    n : int
        At least 1, at most as many as there are.

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        For an n out of range.
    """
    require_integer("n", n, 1)
    require(n <= facts.n, "n", n, f"at most {facts.n}, as many as there are")
    return facts.chosen(slice(0, n))


def last_retrievable_fact(facts: Facts) -> int:
    """Largest n whose first n facts some memory retrieves, by bisection between verdicts.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    int
        From 0 to the number of facts. Both n and ``n + 1`` have been decided, with proofs, where there are
        so many.

    Raises
    ------
    ArithmeticError
        Where a verdict that is needed could not be proved.
    """

    def retrievable(n):
        feasible = decide_top1(first_facts(facts, n)).feasible
        if feasible is None:
            raise ArithmeticError(f"no proof either way for the first {n} facts")
        return feasible

    expected = facts.d_in * min(facts.d_out, facts.m - 1) / statistical_dimension(facts.m)
    start = min(facts.n, max(1, round(expected)))
    first = max(1, round(FIRST_STRIDE * start))
    return last_that_holds(retrievable, start, lambda n, strides: first * 2**strides, ceiling=facts.n)[0]
