"""What a map of moved scores shows."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from assocmem.book.score_map import BRIGHTEST, DARKEST, SHOWN, draw_motions, motion_sizes


def motions(n):
    x = np.full((n, n), 0.01)
    x[0], x[:, 0], x[0, 0] = 0.2, -0.3, 5.0
    return x


def test_the_sizes_of_the_four_parts():
    assert motion_sizes(motions(7)) == pytest.approx({"own": 5, "target": 0.2, "key": 0.3, "others": 0.01})


def test_the_map_has_some_pairs_on_a_scale_that_ends():
    ax = Figure().subplots()
    drawn = draw_motions(ax, motions(SHOWN + 10))
    assert drawn.get_array().shape == (SHOWN, SHOWN)
    assert drawn.get_array()[0, 0] == BRIGHTEST
    assert drawn.get_array()[1, 0] == pytest.approx(0.3)
    assert drawn.get_array().min() >= DARKEST
