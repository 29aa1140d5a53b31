"""The strip of a check: where its marks stand, on which axis, and how it is drawn."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assocmem.book.strip import MOST_ROWS, latex, strip, svg

numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@st.composite
def comparisons(draw):
    count = draw(st.integers(1, 12))
    four = [draw(st.lists(numbers, min_size=count, max_size=count)) for _ in range(4)]
    measured, predicted, tolerance, falsehood = four
    return (
        measured,
        predicted,
        np.abs(tolerance).tolist(),
        falsehood,
        draw(st.sampled_from(["==", "<=", ">="])),
    )


@given(comparisons())
def test_marks_stand_on_the_axis_and_in_the_band_exactly_where_the_numbers_agree(comparison):
    measured, predicted, tolerance, _, relation = comparison
    drawn = strip(*comparison)
    for places in (drawn.points, drawn.crosses, drawn.centres, drawn.lows, drawn.highs):
        assert places.shape == (len(measured),)
        assert ((places >= 0) & (places <= 1)).all()
    for x, p, t, place, low, high in zip(
        measured, predicted, tolerance, drawn.points, drawn.lows, drawn.highs, strict=True
    ):
        wrong = {"==": abs(x - p), "<=": x - p, ">=": p - x}[relation]
        if abs(wrong - t) > 1e-6 * (1 + abs(t) + abs(p)):
            assert (low - 1e-9 <= place <= high + 1e-9) == (wrong <= t)
    places = [at for at, _ in drawn.ticks]
    assert places == sorted(places)
    ET.fromstring(svg(drawn, "told"))
    assert latex(drawn).count(r"\times") == len(measured)


def test_few_numbers_have_their_own_units_if_tolerances_can_be_seen():
    own = strip([1.59, 1.5], [1.6], [0.05], [1.5, 1.3])
    assert not own.in_tolerances
    assert [label for _, label in own.ticks] == ["1.3", "1.4", "1.5", "1.6"]
    assert strip([1.59], [1.6], [0.001], [1.3]).in_tolerances
    assert strip([1.6] * (MOST_ROWS + 1), [1.6], [0.1], [1.3]).in_tolerances


def test_powers_have_a_logarithmic_axis():
    drawn = strip([1e-7, 2e-3], [1.2e-7, 2.2e-3], [5e-8, 8e-4], [1e-5, 1e-1])
    assert not drawn.in_tolerances
    assert "10\u207b\u2077" in [label for _, label in drawn.ticks]
    assert drawn.points[1] - drawn.points[0] == pytest.approx(
        np.log10(2e-3 / 1e-7) / 1.12 / np.log10(1e-1 / 7e-8)
    )


def test_a_miss_of_what_tolerates_nothing_stands_at_the_end():
    drawn = strip([0.0, 1.0] + [0.0] * 8, [0.0], [0.0], [2.0])
    assert drawn.in_tolerances
    assert drawn.points[1] == drawn.crosses[0] > 0.9
    assert drawn.points[0] == drawn.centres[0]


def test_the_band_of_a_bound_reaches_the_end():
    drawn = strip([1.0], [2.0], [0.1], [0.5], "<=")
    assert (drawn.lows[0], drawn.highs[0] < 1) == (0, True)
    assert strip([3.0], [2.0], [0.1], [4.5], ">=").highs[0] == 1


def test_a_strip_is_told_to_those_who_do_not_see_it_and_small_in_a_table():
    drawn = strip([1.0], [1.1], [0.2], [2.0])
    whole, small = svg(drawn, 'a "b" < c'), svg(drawn, "it", small=True)
    assert 'aria-label="a &quot;b&quot; &lt; c"' in whole
    assert "<text" in whole
    assert "<text" not in small
    assert "\n" not in whole
    assert len(re.findall("<path", small)) == 5
