"""The tail average over the spread: both checks hold with force and can fail."""

import math

import pytest

from assocmem.book.claims import FORCE, check
from assocmem.experiments.tail_average.per_spread import fall_evidence, next_excess, rate_evidence
from assocmem.theory.ridgeless import tail_mean
from assocmem.theory.scalar import scalar_tail_average


@pytest.mark.parametrize("r", [0.02, 0.15, 0.5, 0.9])
def test_the_term_after_the_leading_one(r):
    s = 40.0
    excess = scalar_tail_average(s, r, 1.0)[0] / (float(tail_mean(r)) * s) - 1
    rest = (excess - math.pi**2 / (6 * s**2)) * s**4
    assert rest == pytest.approx(next_excess(r), rel=0.05, abs=0.02)


def test_checks_hold_with_force_and_can_fail():
    for evidence in (
        rate_evidence([10.0, 100.0], [0.15], [1.0, 30.0]),
        fall_evidence([0.3, 5.0], [0.15], 30.0),
    ):
        found = check(**evidence)
        assert found.verdict == "holds"
        assert found.force > FORCE
        assert check(**evidence | {"measured": [x * 0.5 for x in found.measured]}).verdict == "does not hold"
    assert max(found.measured) < 0
