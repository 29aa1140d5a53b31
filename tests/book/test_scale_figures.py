"""The figures of all explicit memories: each has a row or a curve, a look and a number of its own."""

import numpy as np

from assocmem.book.scale_figures import ANY, LOOKS, ROW, TWO_TERMS, draw_chances, draw_half_ratios
from assocmem.experiments.explicit import scales
from assocmem.sweeps.stored_table import read_table


def test_rows_hold_the_predicted_curves_and_the_instances():
    choices = read_table("sparse_repair", "predictions")
    found = [7.0, 9.0]
    figure, ax = draw_chances(choices, 30, 5, {scales.PLAIN: found})
    lines = {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}
    assert list(lines) == [*LOOKS, ANY] == [text.get_text() for text in ax.get_yticklabels()]
    ratios = lines[scales.PLAIN].get_xdata()
    assert (np.diff(ratios) > 0).all()
    curves = scales.success_curves(choices, 30, ratios)
    for row, (name, line) in enumerate(list(lines.items())[:-1]):
        np.testing.assert_array_equal(line.get_xdata(), ratios)
        np.testing.assert_allclose(line.get_ydata(), len(LOOKS) - row + ROW * curves[name])
    best = scales.any_memory(30)
    np.testing.assert_allclose(lines[ANY].get_xdata()[1:3], best)
    numbers = [text.get_text() for text in ax.texts]
    assert numbers == [*(f"{scales.half_ratio(choices, 30, name):.3g}" for name in LOOKS), f"{best:.3g}"]
    markers = [line for line in ax.get_lines() if list(line.get_xdata()) == found]
    base = len(LOOKS) - list(LOOKS).index(scales.PLAIN)
    np.testing.assert_allclose(markers[0].get_ydata(), base + ROW * np.array([0.25, 0.75]))
    assert "10^{30}" in ax.get_xlabel()
    assert figure.axes == [ax]


def test_halves_are_drawn_for_all_memories():
    choices = read_table("sparse_repair", "predictions")
    exponents = np.array([30.0, 100.0])
    curves = {name: [scales.half_ratio(choices, x, name) for x in exponents] for name in LOOKS}
    figure = draw_half_ratios(exponents, curves)
    labelled = {line.get_label(): line for line in figure.axes[0].get_lines()}
    for name in LOOKS:
        np.testing.assert_array_equal(labelled[name].get_ydata(), curves[name])
    np.testing.assert_allclose(labelled[TWO_TERMS].get_ydata()[0], scales.any_memory(30))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*LOOKS, TWO_TERMS]


def test_every_construction_has_one_look():
    assert set(LOOKS) == {*scales.KINDS, scales.PLAIN, scales.EQUAL, scales.CLIPPED}
    assert len({tuple(sorted(look.items())) for look in LOOKS.values()}) == len(LOOKS)
    assert len({look["marker"] for look in LOOKS.values()}) == len(LOOKS)
