"""The map of the proof: complete, in one direction, legible, and true to the paper's order."""

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from assocmem.book.claims import badge, statements
from assocmem.book.ledger import ledger, ledger_page
from assocmem.book.proof_map import (
    BOX,
    FIRST_PLACE,
    LOOKS,
    WIDEST,
    drawing,
    layers,
    needed,
    places,
    proof_map,
    users,
)
from assocmem.book.sections import section_names
from assocmem.sweeps.project import project_root

OF_PAPER = {name: statement for name, statement in statements().items() if not statement.beyond}
USES = {name: list(statement.uses) for name, statement in OF_PAPER.items()}
STATED_FIRST = {"theorem-3": {"lemma-7", "lemma-9", "lemma-10", "lemma-11"}}
"""Statements of an appendix that it states before the lemmas of their proof."""
SVG = "{http://www.w3.org/2000/svg}"


def test_what_a_statement_uses_exists_and_is_named_once():
    for name, used in USES.items():
        assert set(used) <= USES.keys(), name
        assert len(set(used)) == len(used), name
        assert name not in used
    with pytest.raises(ValueError, match="a circle.*: a -> b -> a"):
        layers({"a": ["b"], "b": ["a"]})


def test_an_appendix_proves_in_the_order_of_its_numbers():
    """In the main text a statement stands before the appendix that proves it; in an appendix after."""
    order = list(USES)
    for name, used in USES.items():
        place = statements()[name].place
        here = {u for u in used if statements()[u].place == place and place.startswith("Appendix")}
        late = {u for u in here if order.index(u) > order.index(name)}
        assert late == STATED_FIRST.get(name, set()), name


def test_the_theorems_rest_on_what_the_paper_says_they_do():
    assert set(USES["theorem-1"]) == {"proposition-2", "lemma-1", "lemma-2"}
    assert {"lemma-25", "lemma-26"} <= set(USES["proposition-9"])
    behind, new = set(), {"theorem-2"}
    while new:
        behind |= new
        new = {u for name in new for u in USES[name]} - behind
    # Lemma 17 is used for (A3); the sum of outer products and the ridgeless limit are no part of the proof.
    assert {"lemma-4", "lemma-12", "lemma-17", "lemma-18", "lemma-20", "theorem-3"} <= behind
    assert not behind & {"proposition-1", "lemma-1", "proposition-11", "lemma-3"}


def test_each_layer_is_below_what_it_uses_and_not_too_wide():
    found = layers(USES)
    assert found.keys() == USES.keys()
    assert all(found[u] < found[name] for name, used in USES.items() for u in used)
    sizes = [list(found.values()).count(n) for n in range(max(found.values()) + 1)]
    assert min(sizes) > 0
    assert max(sizes) <= WIDEST


def test_arrows_that_are_left_out_follow_from_others():
    few = needed(USES)
    assert needed({"a": [], "b": ["a"], "c": ["a", "b"]})["c"] == ["b"]

    def behind(arrows, name):
        return set(arrows[name]).union(*(behind(arrows, u) for u in arrows[name]))

    assert all(behind(few, name) == behind(USES, name) for name in USES)
    assert users({"a": [], "b": ["a"]}) == {"a": ["b"], "b": []}


def test_boxes_do_not_overlap_and_lines_pass_between_them():
    for half in (True, False):
        own = {n for n, s in OF_PAPER.items() if (s.section in FIRST_PLACE) == half}
        boxes, passages = places({n: [u for u in USES[n] if u in own] for n in own})
        assert {p.name for p in boxes} == own
        for a, b in itertools.combinations(boxes, 2):
            assert abs(a.x - b.x) >= BOX[0] + 5 or abs(a.y - b.y) >= BOX[1] + 5, (a, b)
        for line, box in itertools.product(passages, boxes):
            assert line.layer != box.layer or abs(line.x - box.x) >= BOX[0] / 2 + 5, (line, box)
        for a, b in itertools.combinations(passages, 2):
            assert a.layer != b.layer or abs(a.x - b.x) >= 5, (a, b)
        assert min(p.x for p in boxes) >= BOX[0] / 2


@pytest.fixture(scope="module")
def page():
    return proof_map(ledger({}))


def test_the_page_has_two_whole_drawings_with_every_statement_once(page):
    drawings = [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    assert len(drawings) == 2
    links = [a for svg in drawings for a in svg.iter(f"{SVG}a")]
    assert sorted(a.get("href") for a in links) == sorted(f"ledger.html#{name}" for name in USES)
    for a in links:
        name = a.get("href").partition("#")[2]
        assert a.find(f"{SVG}title").text.startswith(f"{statements()[name].name}: {statements()[name].title}")
        assert a.find(f"{SVG}text").text == statements()[name].name
        assert a.get("class") == LOOKS["not yet"]
    identifiers = [e.get("id") for svg in drawings for e in svg.iter() if e.get("id")]
    assert len(set(identifiers)) == len(identifiers)
    for svg in drawings:
        width = float(svg.get("width"))
        for rect in svg.iter(f"{SVG}rect"):
            assert 0 <= float(rect.get("x")) <= width - BOX[0]
    # an empty line would end the piece of HTML in Markdown
    assert all("\n\n" not in text for text in re.findall(r"<div.*?</div>", page, re.DOTALL))


def test_every_arrow_is_drawn_downwards_or_told(page):
    drawn = re.findall(
        r'data-from="([\w-]+)" data-to="([\w-]+)" d="M[\d.]+,([\d.]+) .*? [\d.]+,([\d.]+)"', page
    )
    assert all(float(above) < float(below) for *_, above, below in drawn)
    told = re.findall(r"\(#([\w-]+)\) uses \[[^]]*\]\(#([\w-]+)\)", page)
    arrows = {(other, name) for other, name, *_ in drawn} | {(other, name) for name, other in told}
    few = {(u, name) for name, used in needed(USES).items() for u in used}
    assert few <= arrows
    assert arrows <= {(u, name) for name, used in USES.items() for u in used}
    assert len(drawn) + len(told) == len(arrows)


def test_a_box_has_the_colour_of_its_verdict():
    entry = ledger({})[0]
    for verdict, look in LOOKS.items():
        assert badge(verdict)  # the same verdicts as the ledger's
        assert f'class="{look}"' in drawing([entry | {"verdict": verdict}], "one box")


def test_the_halves_are_sections_of_the_book():
    assert set(section_names()) > FIRST_PLACE


def test_each_entry_of_the_ledger_names_its_neighbours():
    entries = ledger_page(ledger({}), {}).split("::::{div} ledger-entry\n")[1:]
    told = {re.match(r"\((.*)\)=", entry)[1]: entry for entry in entries}
    told = {name: entry for name, entry in told.items() if not statements()[name].beyond}
    assert told.keys() == USES.keys()
    used_by = users(USES)
    for name, entry in told.items():
        line = next((line for line in entry.splitlines() if line.startswith("*In the proof*")), "")
        own, _, others = line.partition("is used by")
        assert re.findall(r"\(#([\w-]+)\)", own) == USES[name]
        assert re.findall(r"\(#([\w-]+)\)", others) == used_by[name]
    assert "[Formula (Percentile law of the CMM)](#equation-percentile-copula)" in told["figure-3"]


def test_words_in_boxes_stand_out_in_both_modes_and_in_print():
    sheet = (project_root() / "book" / "_static_src" / "custom.css").read_text(encoding="utf-8")
    colours = re.findall(r"--am-(\w+): (#\w{6});\s*--am-(\w+)-box: (#\w{6});", sheet)
    assert [(ink, box) for ink, _, box, _ in colours] == 3 * [(look[4:],) * 2 for look in LOOKS.values()]

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for _, ink, _, box in colours:
        low, high = sorted((light(ink), light(box)))
        assert (high + 0.05) / (low + 0.05) >= 7, (ink, box)
    for look in LOOKS.values():
        name = look[4:]
        assert f"a.{look} {{\n  color: var(--am-{name});\n  fill: var(--am-{name}-box);" in sheet
