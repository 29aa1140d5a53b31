"""The fewest dimensions in which any memory retrieves an instance, proved from both sides.

An instance is seen in all dimensions at once, as `nested_pairs` has it. A memory of the first d coordinates
is one of the first ``d + 1`` as well, with zeros in its last row and column. So there is one dimension from
which on the instance can be retrieved, and no write rule needs fewer.
"""

from dataclasses import dataclass

from assocmem.deciding.certificates import Certificate
from assocmem.deciding.feasibility import decide_top1
from assocmem.experiments.bisection import last_that_holds
from assocmem.experiments.explicit.constructions import nested_pairs
from assocmem.theory.kinematics import critical_dimension


@dataclass(frozen=True)
class Fewest:
    """The fewest dimensions of an instance, with both proofs.

    Attributes
    ----------
    d : int
    possible : Certificate
        A memory that retrieves every pair in dimension d.
    impossible : Certificate or None
        Proves that none does in dimension ``d - 1``; None for ``d = 1``.
    passes : int
        Passes over the scores that all verdicts took.
    """

    d: int
    possible: Certificate
    impossible: Certificate | None
    passes: int


def fewest_dimensions(n: int, *, seed: int) -> Fewest:
    """Decide an instance in one dimension after another, until it changes from impossible to possible.

    Parameters
    ----------
    n, seed : int
        As in `nested_pairs`.

    Returns
    -------
    Fewest

    Raises
    ------
    ArithmeticError
        If there is a dimension for which neither answer is proved.
    """
    at, verdicts = nested_pairs(n, seed), {}

    def impossible(d):
        verdicts[d] = verdict = decide_top1(at(d))
        if verdict.feasible is None:
            raise ArithmeticError(f"no verdict for n = {n}, d = {d}, seed = {seed}: {verdict.reason}")
        return not verdict.feasible

    near = max(1, round(critical_dimension(n)))
    below, d = last_that_holds(impossible, near, lambda d, strides: 1)
    proof = verdicts[below].certificate if below else None
    return Fewest(d, verdicts[d].certificate, proof, sum(x.passes for x in verdicts.values()))
