"""The widget of frequent and rare facts computes what the package computes."""

import pytest
from scipy import special

from assocmem.theory.frequency_scaling import hebb_constant, keep_constant
from assocmem.theory.ridgeless import tail_mean

pytestmark = [pytest.mark.site, pytest.mark.parametrize("origin", ["disk"], indirect=True)]


def test_constants_of_written_memories_are_those_of_the_package(widget, page):
    widget("kept_by_frequency")
    for s in (1.2, 1.5, 2.5):
        found = page.evaluate(
            """s => {
                const w = assocmem.kept_by_frequency;
                return [w.constant(s, w.written(s)), w.aloneConstant(s), w.zeta(s)];
            }""",
            s,
        )
        expected = [hebb_constant(s, 0.15), keep_constant(s, 0.15), special.zeta(s)]
        assert found == pytest.approx(expected, rel=1e-4)


def test_shares_of_trained_memories_follow_the_stored_reach(widget, page):
    widget("kept_by_frequency")
    u, reach = page.evaluate("() => assocmem.keptByFrequency.reach[3]")
    found = page.evaluate("([s, g]) => assocmem.kept_by_frequency.trained(s, g)(0.2)", [u, 1])
    assert found == pytest.approx(special.ndtr(reach * 0.2**-u - tail_mean(0.15)), rel=1e-6)


def test_it_says_how_often_questions_are_answered_wrongly(widget, page):
    place = widget("kept_by_frequency", s=1.5, gamma=2, d=1000)
    error, alone, hebb = (float(place.get_attribute(f"data-{x}")) for x in ("error", "alone", "hebb"))
    assert alone < error < hebb
    assert alone == pytest.approx(keep_constant(1.5, 0.15) / special.zeta(1.5) / 1000, rel=1e-6)
    words = place.locator(".am-answer").inner_text()
    assert f"{100 * error:.3g} %" in words
    assert "Twice the dimension divides all of them by 2." in words
