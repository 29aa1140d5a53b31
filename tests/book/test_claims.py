"""Claims: verdicts, falsehoods, and the paper's statements."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assocmem.book import claims
from assocmem.book.claims import MIME, check, read_checks, statements, surprises
from assocmem.book.sections import section_names


def eight(measured, **changes):
    settings = {
        "kind": "simulation",
        "predicted": 8,
        "tolerance": 0.5,
        "falsehood": ("constant 4", 4),
    } | changes
    return check("proposition-1", "the constant", measured=measured, **settings)


def test_agreement_that_contradicts_the_falsehood_holds():
    assert eight(8.2).verdict == "holds"
    assert eight(8.2, limits="slow").verdict == "holds with limits"
    assert eight(8.2).expected == "holds"


def test_disagreement_does_not_hold_whatever_the_falsehood():
    assert eight(7.0).verdict == "does not hold"
    assert eight(4.0).verdict == "does not hold"


def test_numbers_that_cannot_tell_leave_it_open():
    assert eight(6.0, tolerance=3).verdict == "not yet"


@pytest.mark.parametrize(
    ("relation", "measured", "verdict"),
    [("<=", 7, "holds"), ("<=", 9, "does not hold"), (">=", 9, "not yet"), (">=", 7, "does not hold")],
)
def test_bounds(relation, measured, verdict):
    falsehood = ("a smaller bound", 5)
    assert eight(measured, relation=relation, tolerance=0, falsehood=falsehood).verdict == verdict


def test_arrays_agree_entry_by_entry():
    good = eight([8.0, 8.4], predicted=[8, 8.5], tolerance=[0.1, 0.2], falsehood=("one is 9", [8, 9]))
    assert good.verdict == "holds"
    assert eight([8.0, 9.0], predicted=[8, 8.5]).verdict == "holds"
    assert eight([8.0, 9.1], predicted=[8, 8.5]).verdict == "does not hold"


def test_a_falsehood_is_rejected_by_all_numbers_together():
    many = [8.0] * 10
    barely_one = eight(many, falsehood=("9 once", [8] * 9 + [9]))
    assert barely_one.falsehood_distance == pytest.approx(2 / 10**0.5)
    assert barely_one.verdict == "not yet"
    assert eight(many, falsehood=("a little off everywhere", 8.6)).verdict == "holds"
    assert eight(many, falsehood=("far off once", [8] * 9 + [10])).verdict == "holds"


@given(
    st.lists(st.floats(-3, 3), min_size=1, max_size=6),
    st.floats(-5, 5),
    st.sampled_from(["==", "<=", ">="]),
)
def test_distances_are_in_tolerances_and_do_not_depend_on_units(offsets, wrong, relation):
    numbers = {"measured": 8 + 0.25 * np.array(offsets), "tolerance": 0.5, "relation": relation}
    c = eight(**numbers, falsehood=("another", 8 + wrong))
    unit = eight(
        100 * numbers["measured"],
        predicted=800,
        tolerance=50,
        relation=relation,
        falsehood=("another", 800 + 100 * wrong),
    )
    for name in ("distance", "falsehood_distance", "force"):
        assert getattr(unit, name) == pytest.approx(getattr(c, name), abs=1e-9)
    assert c.force == pytest.approx(abs(wrong) / 0.5)
    if c.verdict != "does not hold":
        assert c.distance <= 1


def test_a_check_that_tells_little_apart_needs_limits():
    assert claims.weak([eight(8.0), eight(8.0, falsehood=("7", 7), limits="small sizes")]) == []
    (line,) = claims.weak([eight(8.0, falsehood=("7", 7))])
    assert line == (
        "proposition-1, the constant: the falsehood is only 2 tolerances from the prediction, "
        "and no limits say why"
    )


def test_a_check_without_an_axis_is_told():
    assert claims.unlabelled([eight(8.0, axis="$d^2$")]) == []
    assert claims.unlabelled([eight(8.0)]) == [
        "proposition-1, the constant: axis must say what the numbers are"
    ]


def test_where_nothing_is_tolerated_a_miss_is_infinitely_far():
    c = eight(8.0, tolerance=0)
    assert (c.distance, c.falsehood_distance, c.force) == (0, np.inf, np.inf)
    assert c.rejection == "rejected, away where nothing is tolerated"
    assert eight(8.5, tolerance=0).verdict == "does not hold"


def test_theory_against_theory_at_unreachable_sizes_states_its_limits():
    with pytest.raises(ValueError, match="limits = '': must be stated for asymptotic arithmetic"):
        eight(8.0, kind="asymptotic arithmetic")
    found = eight(8.0, kind="asymptotic arithmetic", limits="no instance has this size")
    assert found.verdict == "holds with limits"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tolerance": -1}, "tolerance"),
        ({"predicted": [8, 8, 8]}, "predicted = .*: must be one number or 1"),
        ({"predicted": np.nan}, "finite"),
        ({"relation": "<"}, "relation = '<'"),
        ({"kind": "hearsay"}, "kind = 'hearsay': must be one of simulation"),
        ({"expected": "maybe"}, "expected = 'maybe'"),
        ({"each": ["one", "two"]}, r"each = \['one', 'two'\]: must be 1 words, one for each number"),
    ],
)
def test_malformed_checks_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        eight(8.0, **changes)
    with pytest.raises(ValueError, match="claim = 'theorem-99'"):
        check("theorem-99", "", kind="identity", measured=1, predicted=1, tolerance=1, falsehood=("", 5))


def test_a_check_survives_the_way_through_a_notebook(tmp_path):
    original = eight([8.1, 8.0], limits="a < b")
    bundle = original._repr_mimebundle_()
    assert "a &lt; b" in bundle["text/html"]
    cell = {"outputs": [{"data": {"text/plain": "1"}}, {"output_type": "stream"}, {"data": bundle}]}
    path = tmp_path / "executed.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown"}, cell]}), encoding="utf-8")
    assert read_checks(path) == [original]


def test_a_reader_is_told_how_far_numbers_are_from_both_claims():
    c = eight([8.1, 8.0, 7.9], falsehood=("4 at the end", [8, 8, 4]))
    assert c.agreement == "0.16 tolerances away"
    assert c.rejection == "rejected, 4.5 tolerances away"
    assert eight(8).agreement == "0 tolerances away"
    assert eight(6, tolerance=3).rejection == "not rejected, 0.67 tolerances away"
    assert eight(8, tolerance=1e-9).rejection == "rejected, more than 1000 tolerances away"
    assert "20 numbers from 8 to 8.19" in eight(8 + np.arange(20) / 100)._text()
    assert "Kind: simulation: instances drawn" in eight(8)._text()


def test_surprises_are_the_verdicts_that_the_text_does_not_report():
    known = eight(4.0, expected="does not hold")
    assert surprises([eight(8), known]) == []
    (line,) = surprises([eight(4.0), known])
    assert line == "proposition-1, the constant: verdict 'does not hold', the section says 'holds'"


def test_catalogue_is_that_of_the_paper():
    kinds = Counter(s.kind for s in statements().values() if not s.beyond)
    assert kinds - Counter(claim=kinds["claim"]) == {
        "theorem": 3,
        "proposition": 14,
        "lemma": 26,
        "corollary": 1,
        "conjecture": 1,
        "definition": 4,
        "remark": 11,
        "figure": 3,
        "equation": 3,
    }
    for kind in kinds - Counter(equation=3, claim=kinds["claim"]):
        assert [s.number for s in statements().values() if s.kind == kind] == list(range(1, kinds[kind] + 1))
    assert {s.section for s in statements().values()} <= set(section_names())


def test_what_the_book_adds_stands_behind_the_paper():
    beyond = [s.beyond for s in statements().values()]
    assert beyond == sorted(beyond)


def test_catalogue_entries_are_complete_and_typeset():
    for statement in statements().values():
        if statement.kind == "claim":  # a sentence of the paper that has neither number nor label of its own
            assert re.fullmatch(r"claim-[a-z0-9-]+", statement.id)
            assert statement.number is None
        elif statement.beyond:
            assert re.fullmatch(r"beyond-[a-z0-9-]+", statement.id)
            assert (statement.number, statement.label, statement.place) == (None, None, None)
        else:
            slug = statement.number or statement.label.removeprefix("eq:").replace("_", "-").lower()
            assert statement.id == f"{statement.kind}-{slug}"
        assert statement.beyond or re.fullmatch(r"(Section|Appendix) [0-9A-Z]+(\.\d+)*", statement.place)
        assert statement.says.count("$") % 2 == 0
        assert len(statement.says) > 40
        assert statement.source.startswith(statement.name)


def test_badges_have_one_class_each():
    assert len({claims.badge(verdict) for verdict in claims.VERDICTS}) == 4
    assert MIME in eight(8)._repr_mimebundle_()


def test_a_notebook_shows_the_strip_of_a_check():
    shown = eight(8)._repr_mimebundle_()["text/html"]
    assert shown.startswith('<svg class="strip"')
    told = "One number: 0 tolerances away from the prediction; the falsehood is rejected, 8 tolerances away."
    assert f'aria-label="{told}"' in shown
