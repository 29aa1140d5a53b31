"""Growth of the transition against laws of other coefficients, on measurements made up to follow one."""

import math

import pytest

from assocmem.book.claims import check
from assocmem.experiments.first_place.growth import constant_evidence, growth, law_evidence
from assocmem.experiments.transitions import Transition
from assocmem.theory.kinematics import statistical_dimension

SIZES = (30, 100, 1000)


def made_up(of_log=2.0, of_log_log=-3.0, error=0.01):
    """Growth of transitions as the kinematic value has them, a shift and other coefficients apart."""

    def half(n):
        log = math.log(n)
        return statistical_dimension(n) - 0.15 + (of_log - 2) * log + (of_log_log + 3) * math.log(log)

    return growth({n: Transition(half(n), error, 1.0, 0.1) for n in SIZES})


def test_growth_is_that_between_the_ends():
    found = made_up(error=0.03)
    assert (found.smallest, found.largest) == (30, 1000)
    assert found.measured == pytest.approx(found.predicted)
    assert found.predicted == pytest.approx(statistical_dimension(1000) - statistical_dimension(30))
    assert found.error == pytest.approx(0.03 * math.sqrt(2))
    assert found.of_log == pytest.approx(math.log(1000) - math.log(30))
    assert found.of_log_log == pytest.approx(math.log(math.log(1000)) - math.log(math.log(30)))


@pytest.mark.parametrize("constant", [1.6, 2.5])
def test_the_constant_holds_where_growth_has_it_and_fails_where_it_has_another(constant):
    evidence = constant_evidence(made_up(), constant, limits="far away")
    assert check(**evidence).verdict == "holds with limits"
    assert evidence["falsehood"][1] == pytest.approx(made_up(of_log=constant).measured)
    other = check(**constant_evidence(made_up(of_log=constant), constant, limits="far away"))
    assert other.verdict == "does not hold"
    assert f"the constant is {constant}" in other.falsehood


@pytest.mark.parametrize(
    "wrong, named",
    [
        ({"of_log": 3}, r"$3 \log n$ in place of $2 \log n$"),
        ({"of_log_log": -2}, r"$-2 \log\log n$ in place of $-3 \log\log n$"),
        ({"of_log_log": -4}, r"$-4 \log\log n$ in place of $-3 \log\log n$"),
    ],
)
def test_the_law_holds_where_growth_has_it_and_fails_where_it_has_another(wrong, named):
    evidence = law_evidence(made_up(), **wrong, limits="far away")
    assert evidence["falsehood"] == (named, pytest.approx(made_up(**wrong).measured))
    assert check(**evidence).verdict == "holds with limits"
    assert check(**law_evidence(made_up(**wrong), **wrong, limits="")).verdict == "does not hold"


def test_counts_too_few_to_tell_say_so():
    assert check(**law_evidence(made_up(error=0.2), of_log_log=-2, limits="")).verdict == "not yet"
