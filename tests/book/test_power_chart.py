"""What a chart of powers shows."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from assocmem.book.power_chart import PowerLine, draw_powers, plain_formula
from assocmem.experiments.removals.removal_rates import ESTIMATES
from assocmem.experiments.statistics import power_law


def law(power):
    rng = np.random.default_rng(1)
    return power_law({d: d**power * np.exp(0.05 * rng.standard_normal(10)) for d in (16, 32, 64)})


@pytest.fixture
def ax():
    return Figure().subplots()


def test_a_line_has_its_mark_at_the_bound_and_its_dot_at_the_measured_power(ax):
    lines = [PowerLine("one", -0.5, law(-1.0)), PowerLine("two", -4, law(-3.5), larger=True)]
    draw_powers(ax, lines, chained=True)
    marks = [line.get_xdata() for line in ax.lines if len(set(line.get_xdata())) == 1 < len(line.get_xdata())]
    assert [x[0] for x in marks] == [-0.5, -4]
    dots = [c.lines[0].get_xdata()[0] for c in ax.containers]
    np.testing.assert_allclose(dots, [-1, -3.5], atol=0.05)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["one", "two"]
    assert len(ax.texts) == 1  # the arrow between two lines
    assert any("larger" in text.get_text() for text in ax.get_legend().get_texts())


def test_the_key_names_larger_sizes_only_where_there_are_some(ax):
    draw_powers(ax, [PowerLine("one", -0.5, law(-1.0))])
    assert not any("larger" in text.get_text() for text in ax.get_legend().get_texts())


def test_formulas_are_what_matplotlib_reads():
    assert plain_formula(r"$\max_{j,i} \lvert x\rvert$") == r"$\mathrm{max}\, | x|$"
    figure = Figure()
    for estimate in ESTIMATES:
        figure.text(0, 0, plain_formula(estimate.text))
    figure.canvas.draw()
