"""A report is plain numbers, and a page that needs nothing beside it."""

import json
import math
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from assocmem.capacity.drawing import counts_on_a_line, falling_extents, round_steps
from assocmem.capacity.page import page
from assocmem.capacity.report import (
    CapacityReport,
    Conflict,
    Decision,
    FirstFacts,
    Forecast,
    Involved,
    Outcome,
    Sizes,
)

NASTY = '<script>alert("&amp;")</script>\u202e' + "long" * 40


def report(**changes):
    found = CapacityReport(
        Sizes(facts=30, targets=20, d_in=6, d_out=5, rank_in=6, rank_out=5, keys=29, answers=12, top=1),
        sources={"keys": NASTY},
        notes=["1 facts have a key that an earlier one has"],
        contradictions=[Involved(3, NASTY, "b", "c", 0.0)],
        alone=[Involved(7, "key 7", "target 1", "target 2", 0.0)],
        verdict=Decision(False, "verdict.npz", True, 12, 0, ""),
        forecast=Forecast(17.2, 0.16, 0.163),
        first_facts=FirstFacts(2, 20, 21, ["retrievable.npz", "impossible.npz"]),
        conflict=Conflict([Involved(1, "a", NASTY, "c", 0.4)], [Involved(1, "a", "b", "", 1.0)], True, True),
        memories=[
            Outcome("outer products", 10, 10, 19),
            Outcome("outer products, keys whitened", 12, 12, 19),
            Outcome("clipped", None, None, None, f"not made: {NASTY}"),
        ],
        extents={"keys": [1.0, 0.5, 1e-12], "targets": [1.0, 0.9, 0.0]},
        finished=True,
    )
    for name, value in changes.items():
        setattr(found, name, value)
    return found


class Checker(HTMLParser):
    """Whether elements are closed in order, and what they refer to."""

    def __init__(self):
        super().__init__()
        self.open, self.names, self.addresses = [], [], []

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "xlink:href")]
        if tag not in ("meta", "br", "line", "circle", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("line", "circle", "polyline"):
            assert self.open.pop() == tag


def checked(found):
    text = page(found)
    checker = Checker()
    checker.feed(text)
    assert checker.open == [] and checker.addresses == [] and "script" not in checker.names
    assert "http" not in text and "@import" not in text and "url(" not in text
    return text


def test_the_page_is_whole_and_loads_nothing():
    text = checked(report())
    for said in (
        "No 5 × 6 matrix retrieves all 30 facts",
        "prefers-color-scheme: dark",
        "width=device-width",
        "Whitening helps outer products: keys whitened, they retrieve 40.0% of the facts instead of 33.3%",
        "Without any one of them the others are retrievable",
        "fact 3"[:4],
    ):
        assert said in text
    assert "partial" not in text


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": None, "forecast": None, "first_facts": None, "conflict": None, "memories": []},
        {"verdict": Decision(True, "verdict.npz", True, 3, 0, ""), "first_facts": None, "conflict": None},
        {"verdict": Decision(None, None, False, 3, 0, "undecided after 3 passes"), "extents": {}},
        {"forecast": Forecast(17.2), "first_facts": FirstFacts(0, 4, 20)},
        {"forecast": Forecast(17.2, 0.7, None), "first_facts": FirstFacts(0, 30, None)},
        {
            "forecast": Forecast(0.0, None, None),
            "alone": [Involved(i, "a", "b", "c", 0.0) for i in range(90)],
        },
        {"finished": False, "stage": "verdict on all facts"},
    ],
)
def test_the_page_of_a_report_that_knows_less(changes):
    found = report(**changes)
    text = checked(found)
    assert ("partial" in text) == (not found.finished)
    assert all(isinstance(line, str) and "\n" not in line for line in found.lines())


def test_the_numbers_are_plain_and_finite():
    found = report(forecast=Forecast(math.inf, math.nan, 0.5))
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert told["schema"] == 1 and told["forecast"] == {"facts": None, "excess_from": None, "excess_to": 0.5}
    assert told["contradictions"][0]["key"] == NASTY and "proofs" not in told
    assert told["conflict"]["involved"][0]["share"] == 0.4


def test_a_report_is_written_and_written_again(tmp_path):
    found = report(proofs={})
    where = found.write(tmp_path / "new" / "folder")
    before = {path.name: path.read_bytes() for path in where.parent.iterdir()}
    assert set(before) == {"report.html", "report.json"}
    found.write(where.parent)
    assert before == {path.name: path.read_bytes() for path in where.parent.iterdir()}
    with pytest.raises(ValueError, match="folder"):
        found.write(where)
    with pytest.raises(ValueError, match="folder"):
        found.write("")


def test_a_notebook_shows_the_page_in_a_frame():
    shown = report()._repr_html_()
    assert shown.startswith("<iframe") and "<script" not in shown and "&lt;!DOCTYPE html" in shown


def test_pictures_are_whole():
    marks = [("facts given & more", 30.0, "given"), ("forecast", 0.0, "theory"), ("none", 1e6, "proved")]
    for text in (
        counts_on_a_line(marks, 'told "so" & so'),
        falling_extents({"keys": [1.0], "targets": [1.0, 0.1, 1e-20, 0.0]}, "told"),
        falling_extents({}, "told"),
    ):
        picture = ElementTree.fromstring(text)
        numbers = re.findall(r'(?:[xy][12]?|cx|cy|points)="([^"]*)"', text)
        assert picture.get("aria-label") and picture.get("role") == "img"
        assert all(math.isfinite(float(x)) for part in numbers for x in re.split("[ ,]", part))


@pytest.mark.parametrize("top", [1.0, 1.08, 9.9, 10.0, 33.0, 500.0, 54321.0, 1e9])
def test_marks_of_an_axis_are_few_and_round(top):
    steps = round_steps(top)
    assert 2 <= len(steps) <= 6 and steps[0] == 0 and steps[-1] <= top
    assert all(step == round(step) for step in steps)
