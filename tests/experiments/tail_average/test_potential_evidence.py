"""Checks of Proposition 10: they hold with force, on both sides of the transition, and can fail."""

import pytest

from assocmem.book.claims import FORCE, check
from assocmem.experiments.tail_average import potential_evidence
from assocmem.experiments.tail_average.potential_evidence import (
    POINTS,
    convexity_evidence,
    exponent_evidence,
    maxima_evidence,
    saddle_evidence,
)
from assocmem.theory.ridgeless import critical_load


@pytest.fixture(autouse=True)
def fewer_points(monkeypatch):
    """The section checks all of them."""
    monkeypatch.setattr(potential_evidence, "POINTS", POINTS[1:3])
    monkeypatch.setattr(potential_evidence, "FACTORS", (1.0,))
    monkeypatch.setattr(potential_evidence, "NORMS", (1.0, 300.0, 3))


@pytest.mark.parametrize("here", [POINTS[0], (0.02, 0.5, 1000.0, 1e-12), (5.0, 0.15, 0.1, 10.0)])
def test_slopes_vanish_at_any_point(here):
    found = check(**saddle_evidence(here))
    assert found.verdict == "holds"
    assert found.force > FORCE


@pytest.mark.parametrize("evidence", [maxima_evidence, exponent_evidence, convexity_evidence])
def test_each_check_holds_with_force(evidence):
    found = check(**evidence())
    assert found.verdict == "holds"
    assert found.force > FORCE


def test_points_are_on_both_sides():
    above = [load > critical_load(r) for load, r, _, _ in POINTS]
    assert min(above.count(True), above.count(False)) >= 2


def test_a_potential_that_bends_less_is_found(monkeypatch):
    monkeypatch.setattr(
        potential_evidence, "curvature", lambda nu, *_, ridge, **__: ridge * (1 - 0.01 * (nu > 9))
    )
    assert check(**convexity_evidence()).verdict == "does not hold"


def test_a_second_maximum_is_counted(monkeypatch):
    monkeypatch.setattr(potential_evidence, "potential_on_nodes", lambda nu, chi, **_: (chi % 7) / chi)
    assert check(**maxima_evidence()).verdict == "does not hold"
