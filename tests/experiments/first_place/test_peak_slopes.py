"""Slopes through norm peaks: made-up sweeps whose peaks lie on a line, and one that is trained."""

import numpy as np
import pandas as pd
import pytest

from assocmem.book.claims import check
from assocmem.experiments.first_place.norm_peak import load_grid, train_cross_entropy
from assocmem.experiments.first_place.peak_slopes import norm_sweep, slope_evidence, slopes_by_choice
from assocmem.experiments.statistics import Line


def made_up(slope, dimensions=(8, 10, 12, 16, 20, 24, 28)):
    """Sweeps of one instance each, with peaks on a line; numbers of pairs are real, to have no rounding."""
    rows = []
    for d in dimensions:
        n = np.geomspace(10, 400, 20_000)
        miss = d**2 / n - 2 * np.log(n) - slope * (np.log(np.log(n)) - np.log(np.log(300))) + 5.0
        rows += [(d, 0, size, 1 / (1 + abs(x))) for size, x in zip(n, miss, strict=True)]
    return pd.DataFrame(rows, columns=["d", "seed", "n", "nu"], dtype=float)


@pytest.mark.parametrize("slope", [-3.0, -2.0])
def test_every_choice_finds_the_slope_of_points_on_a_line(slope):
    lines = slopes_by_choice(made_up(slope))
    assert list(lines) == [
        "all dimensions, all instances",
        *(f"every fourth grid point, from the {k}." for k in (1, 2, 3, 4)),
        "dimensions up to 16",
        "dimensions from 16",
    ]
    assert [line.slope for line in lines.values()] == pytest.approx([slope] * 7, abs=0.02)


def test_choices_differ_where_points_are_not_on_a_line():
    bent = pd.concat([made_up(-2.0, (8, 10, 12, 16)), made_up(-4.0, (20, 24, 28))], ignore_index=True)
    whole, *_, small, large = (line.slope for line in slopes_by_choice(bent).values())
    assert small == pytest.approx(-2.0, abs=0.02)
    assert len({round(slope, 1) for slope in (whole, small, large)}) == 3


def test_other_grids_and_other_middles_have_their_names():
    assert list(slopes_by_choice(made_up(-3.0), keep=2, middle=12)) == [
        "all dimensions, all instances",
        "every second grid point, from the 1.",
        "every second grid point, from the 2.",
        "dimensions up to 12",
        "dimensions from 12",
    ]


def test_a_sweep_trains_every_instance_at_every_load():
    rows = norm_sweep(5, [7, 8], step=0.2)
    grid = load_grid(5, step=0.2)
    assert [row[:3] for row in rows] == [(5, place, n) for place in (0, 1) for n in grid]
    assert rows[-1][3] == train_cross_entropy(grid[-1], 5, seed=8).nu
    assert len({row[3] for row in rows}) == len(rows)


@pytest.mark.parametrize("wrong", [-2.0, -4.0])
def test_evidence_holds_near_the_papers_slope_and_tells_its_neighbours(wrong):
    def verdict(slope):
        return check(**slope_evidence(Line(slope, 0.0, 0.1), wrong)).verdict

    assert verdict(-3.0) == "holds with limits"
    assert verdict(wrong) == "does not hold"
    assert slope_evidence(Line(-3.0, 0.0, 0.1), wrong)["falsehood"] == (f"coefficient ${wrong:g}$", wrong)
