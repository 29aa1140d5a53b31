"""The page that says why to care: its numbers are those of the theory, its sources in the bibliography."""

import math
import re

import pytest
from scipy import integrate, optimize, stats

from assocmem.sweeps.project import project_root
from assocmem.theory.kinematics import statistical_dimension
from assocmem.theory.ridgeless import critical_load, tail_mean

ROOT = project_root()
TEXT = (ROOT / "book" / "why.md").read_text(encoding="utf-8")
PARTS = re.split(r"^## .*\n", TEXT, flags=re.MULTILINE)[1:]


def test_sources_are_in_the_bibliography():
    known = set(
        re.findall(
            r"^@\w+\{(\w+),", (ROOT / "book" / "references.bib").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    cited = re.findall(r"\{cite:[pt]\}`(\w+)`", TEXT)
    assert set(cited) <= known
    assert len(set(cited)) >= 15


def test_what_is_known_and_what_is_inferred_are_told_apart():
    for part in PARTS[:5]:
        assert part.index("*Known*:") < part.index("*Here*:")
        # An inference does not cite, what is known does.
        assert "{cite:" not in part.split("*Here*:")[1]
        assert "{cite:" in part.split("*Known*:")[1].split("*Here*:")[0]


def test_the_page_is_short():
    prose = re.sub(r"^\|.*$", "", TEXT, flags=re.MULTILINE)
    prose = re.sub(r"\{cite:[pt]\}`\w+`|\$[^$]*\$", "x", prose)
    assert len(prose.split()) <= 1200


@pytest.mark.parametrize("margin", [0.0, 0.5, 1.55])
def test_the_price_of_a_margin_is_that_of_a_level(margin):
    """Gardner integrates over the normal numbers that fall short; a tail average does the same."""
    price = integrate.quad(lambda x: (margin - x) ** 2 * stats.norm.pdf(x), -math.inf, margin)[0]
    r = optimize.brentq(lambda r: tail_mean(r) - margin, 1e-6, 1) if margin else 1 - 1e-12
    assert price == pytest.approx(1 / critical_load(r), rel=1e-6)
    assert margin or price == pytest.approx(0.5)


def test_numbers_of_a_head_are_those_of_the_theory():
    d = int(re.search(r"a head of \$(\d+) \\times \1\$ numbers", TEXT)[1])
    assert f"fit, {d} in" in TEXT
    first = optimize.brentq(lambda n: n * statistical_dimension(n) - d**2, d, d**2)
    assert f"about {round(first, -2):,.0f} pairs" in TEXT
    assert f"to about {round(critical_load(0.15) * d**2, -2):,.0f}." in TEXT


def test_bits_are_those_of_the_theory():
    assert f"1/(2 \\log 2) = {1 / (2 * math.log(2)):.2f}$ bits" in TEXT
    assert f"a quarter of it, {1 / (8 * math.log(2)):.2f}, for outer products" in TEXT
    assert f"{math.log2(1000) / statistical_dimension(1000):.1f} bits for a thousand pairs" in TEXT
