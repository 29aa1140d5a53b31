"""The page of the idea: its numbers are those of the theory, and it has no code."""

import re

import pytest

from assocmem.book.idea_figures import PLACES, TAIL
from assocmem.sweeps.project import project_root
from assocmem.theory.kinematics import statistical_dimension
from assocmem.theory.ridgeless import critical_load, tail_mean

TEXT = (project_root() / "book" / "idea.md").read_text(encoding="utf-8")


def test_the_table_has_the_levels_prices_and_critical_loads():
    rows = re.findall(r"^\| (\d+) % \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", TEXT, re.MULTILINE)
    assert [row[0] for row in rows] == ["1", "5", "15", "50"]
    for percent, level, price, load in rows:
        r = int(percent) / 100
        assert level == f"{tail_mean(r):.2f}"
        assert price == f"{1 / critical_load(r):.1f}"
        assert load == f"{critical_load(r):.2f}"
    assert critical_load(1 - 1e-9) == pytest.approx(2)


def test_numbers_in_the_text_are_those_of_the_theory():
    assert f"$1/{1 / critical_load(TAIL):.1f} = {critical_load(TAIL):.3f}$" in TEXT
    assert f"first place is {statistical_dimension(1000):.1f} numbers a key" in TEXT


def test_the_page_shows_its_five_figures_and_no_code():
    figures = re.findall(r"^```\{figure\} (\S+)$", TEXT, re.MULTILINE)
    assert figures == [place for place, _ in PLACES.values()]
    assert TEXT.count("```") == 2 * len(figures)
    assert TEXT.count(":alt:") == len(figures) == 5
