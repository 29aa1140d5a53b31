"""How the ``d^2 / n`` at which half of all instances are retrievable grows, against laws of other constants.

At sizes that can be decided the asymptotic law is far away, but the kinematic value holds all its terms. So
the growth from the smallest size to the largest is compared with that of the kinematic value; and another
coefficient of ``log n`` or ``log log n``, the other terms being the same, adds its difference times the
growth of that term.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from assocmem.experiments.transitions import Transition
from assocmem.theory.kinematics import statistical_dimension

ERRORS = 4
"""Standard errors of the growth that a check allows for."""
OVERLAP = 0.15
"""Allowance in ``d^2 / n`` for the overlap of score directions, which the kinematic value leaves out.

It takes between 0.1 and 0.25 at every size from 20 to 10,000, so that it changes a growth by no more than
that.
"""


@dataclass(frozen=True)
class Growth:
    """Growth of the transition's place from the smallest of several sizes to the largest.

    Attributes
    ----------
    smallest, largest : int
        Numbers of pairs.
    measured, error : float
        Growth of ``d^2 / n`` at one half, and its standard error.
    predicted : float
        Growth of the kinematic value.
    """

    smallest: int
    largest: int
    measured: float
    error: float
    predicted: float

    @property
    def of_log(self) -> float:
        """Growth of ``log n``."""
        return math.log(self.largest / self.smallest)

    @property
    def of_log_log(self) -> float:
        """Growth of ``log log n``."""
        return math.log(math.log(self.largest) / math.log(self.smallest))


def growth(transitions: Mapping[int, Transition]) -> Growth:
    """Growth of the transition's place between the ends of a range of sizes.

    Parameters
    ----------
    transitions : dict of int to Transition
        By number of pairs, at least two of them.

    Returns
    -------
    Growth
    """
    smallest, largest = min(transitions), max(transitions)
    low, high = transitions[smallest], transitions[largest]
    predicted = statistical_dimension(largest) - statistical_dimension(smallest)
    return Growth(smallest, largest, high.half - low.half, math.hypot(high.error, low.error), predicted)


def constant_reach(found: Growth) -> float:
    """How far another constant has to be from 2 for a growth to reject it, in coefficients of ``log n``.

    Parameters
    ----------
    found : Growth

    Returns
    -------
    float
    """
    return (ERRORS * found.error + OVERLAP + abs(found.measured - found.predicted)) / found.of_log


def coefficient_reach(found: Growth) -> float:
    """The same for the coefficient of ``log log n``, that of ``log n`` being 2.

    Parameters
    ----------
    found : Growth

    Returns
    -------
    float
    """
    return constant_reach(found) * found.of_log / found.of_log_log


def constant_evidence(found: Growth, constant: float, *, limits: str) -> dict:
    """What a check of Theorem 1 compares: the growth, with that of another constant in place of 2.

    Parameters
    ----------
    found : Growth
    constant : float
        The wrong one.
    limits : str
        Conditions under which the statement bites.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    return {
        "claim": "theorem-1",
        "kind": "stored simulation",
        "what": "growth of the $d^2/n$ at which half are retrievable, "
        f"from $n = {found.smallest}$ to ${found.largest}$",
        "measured": found.measured,
        "predicted": found.predicted,
        "tolerance": ERRORS * found.error + OVERLAP,
        "falsehood": (
            f"the constant is {constant}, with the same second term",
            found.predicted + (constant - 2) * found.of_log,
        ),
        "limits": limits,
        "axis": "growth of $d^2/n$",
    }


def law_evidence(found: Growth, *, of_log: float = 2, of_log_log: float = -3, limits: str) -> dict:
    """What a check of Conjecture 1 compares: the growth, with that of a law of other coefficients.

    Parameters
    ----------
    found : Growth
    of_log, of_log_log : float
        Coefficients of ``log n`` and ``log log n``, of which one is wrong.
    limits : str
        Conditions under which the statement bites.

    Returns
    -------
    dict
        The arguments of `assocmem.book.claims.check`.
    """
    change = (of_log - 2) * found.of_log + (of_log_log + 3) * found.of_log_log
    if of_log != 2:
        named = rf"${of_log:g} \log n$ in place of $2 \log n$"
    else:
        named = rf"${of_log_log:g} \log\log n$ in place of $-3 \log\log n$"
    return {
        "claim": "conjecture-1",
        "kind": "stored simulation",
        "what": "growth of the certified $d^2/n$ at one half "
        f"from $n = {found.smallest}$ to ${found.largest}$",
        "measured": found.measured,
        "predicted": found.predicted,
        "tolerance": ERRORS * found.error + OVERLAP,
        "falsehood": (named, found.predicted + change),
        "limits": limits,
        "axis": "growth of $d^2/n$",
    }
