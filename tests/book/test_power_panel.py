"""What a panel of a power law shows."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from assocmem.book.power_panel import MARKED_DIMENSIONS, draw_power
from assocmem.experiments.statistics import power_law


@pytest.fixture
def ax():
    return Figure().subplots()


def groups(power, dimensions=(16, 24, 32, 48, 64, 96)):
    rng = np.random.default_rng(1)
    return {d: d**power * np.exp(0.05 * rng.standard_normal(10)) for d in dimensions}


def test_the_stated_power_starts_at_the_first_point(ax):
    sizes = groups(-1.0)
    law = power_law(sizes)
    draw_power(ax, law, sizes, -0.5, "a size")
    dashed = next(line for line in ax.lines if line.get_linestyle() == "--")
    x, y = dashed.get_data()
    assert y[0] == law.size[0]
    np.testing.assert_allclose(np.polyfit(np.log(x), np.log(y), 1)[0], -0.5)
    assert "a size" in (ax.get_title("left"), ax.get_title())  # where the style puts it, if it is in use
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in ax.texts] == [f"{law.exponent:.2f} ± {law.deviation:.2f}"]


def test_few_dimensions_and_the_ends_of_the_sizes_are_marked(ax):
    sizes = groups(-1.0)
    draw_power(ax, power_law(sizes), sizes, -1.0, "")
    assert 2 <= len(ax.get_xticks()) <= MARKED_DIMENSIONS
    assert len(ax.get_yticks()) == 2


def test_a_steady_size_has_one_mark(ax):
    sizes = groups(0.0)
    draw_power(ax, power_law(sizes), sizes, 0.0, "")
    assert len(ax.get_yticks()) == 1
