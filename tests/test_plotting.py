"""Tables, intervals, and the two figures that are kept in the repository."""

import numpy as np
import pytest
from matplotlib.image import imread

from assocmem.overview import PLACES
from assocmem.plotting import Table, proportion_interval
from assocmem.sections import project_root


def test_table_prints_for_readers_and_terminals():
    table = Table({"$n$": ["10", "200"], "value": [0.12345, 3.0]}, {"value": ".2f"})
    assert table._repr_markdown_().splitlines() == [
        "| $n$ | value |",
        "| ---: | ---: |",
        "| 10 | 0.12 |",
        "| 200 | 3.00 |",
    ]
    assert repr(table).splitlines() == ["$n$  value", " 10   0.12", "200   3.00"]
    assert Table({"a": [1.0], "b": [2.0]}, ".1f").rows == [["1.0", "2.0"]]


@pytest.mark.parametrize("columns", [{"$\\|x\\|$": [1.0]}, {"size": ["$|x|$"]}])
def test_tables_refuse_bars_that_would_end_a_cell(columns):
    with pytest.raises(ValueError, match=r"entry = .*: must be without bars"):
        Table(columns)


def test_wilson_interval_is_the_closed_form():
    k, m, z = 7, 40, 1.959963984540054
    centre = (k + z**2 / 2) / (m + z**2)
    half = z / (m + z**2) * np.sqrt(k * (m - k) / m + z**2 / 4)
    low, high = proportion_interval([k, 0], [m, m])
    assert low == pytest.approx([centre - half, 0], abs=1e-9)
    assert high[0] == pytest.approx(centre + half)
    assert high[1] == pytest.approx(z**2 / (m + z**2))


@pytest.mark.parametrize("draw", PLACES)
def test_the_kept_figures_are_what_the_code_draws(tmp_path, draw):
    place, dpi = PLACES[draw]
    drawn = tmp_path / "drawn.png"
    draw().savefig(drawn, dpi=dpi)
    kept, now = imread(project_root() / "book" / place), imread(drawn)
    assert kept.shape == now.shape
    assert np.mean(np.abs(kept - now)) < 0.01
