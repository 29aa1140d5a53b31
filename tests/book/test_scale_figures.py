"""The figures of all explicit memories: each line is its curve, with a look of its own."""

import numpy as np

from assocmem.book.scale_figures import LOOKS, draw_chances
from assocmem.experiments.explicit import scales
from assocmem.sweeps.stored_table import read_table


def test_lines_are_the_predicted_curves():
    choices = read_table("sparse_repair", "predictions")
    figure, ax = draw_chances(choices, 30, 5)
    curves = scales.success_curves(choices, 30, np.geomspace(1.2, 60, 5))
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert list(lines) == list(LOOKS)
    for name, line in lines.items():
        np.testing.assert_array_equal(line.get_ydata(), curves[name])
    (band,) = ax.patches
    left, right = band.get_x(), band.get_x() + band.get_width()
    assert left < scales.any_memory(30) < right
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*LOOKS, "any memory"]
    assert "10^{30}" in ax.get_xlabel()
    assert figure.axes == [ax]


def test_every_construction_has_one_look():
    assert set(LOOKS) == {*scales.KINDS, scales.PLAIN, scales.EQUAL, scales.CLIPPED}
    assert len({tuple(sorted(look.items())) for look in LOOKS.values()}) == len(LOOKS)
