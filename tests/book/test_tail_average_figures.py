"""What the picture of the three demands says, held to the demands themselves."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path

from assocmem.book.tail_average_figures import LABELS, REGIONS, THIRD, draw_demands
from assocmem.pairs.tail_average import tail_average

MEETS = (
    lambda x: np.sort(x)[-2] < 0,  # among the best two
    lambda x: tail_average(x, 2 / 3) < 0,
    lambda x: x.max() < 0,  # first place
)


NAMES = ("third place", "among the best two", "tail average", "first place")
"""By how many of the demands are met."""


@pytest.mark.parametrize("place", range(3))
def test_the_regions_are_what_the_demands_allow(place):
    points = np.random.default_rng(1).uniform(-5, 4, size=(400, 2))
    inside = Path(REGIONS[place][1]).contains_points(points)
    assert (inside == [bool(MEETS[place](np.array([*x, THIRD]))) for x in points]).all()


def test_each_name_stands_in_its_region():
    for *x, name in LABELS:
        met = sum(bool(meets(np.array([*x, THIRD]))) for meets in MEETS)
        assert name.replace("\n", " ") == NAMES[met]


def test_the_marks_are_named():
    ax = Figure().subplots()
    draw_demands(ax, {"P": np.array([3.0, -2, -1]), "Q": np.array([-2.0, 3, -1])})
    assert {"P", "Q", "first place"} <= {text.get_text() for text in ax.texts}
