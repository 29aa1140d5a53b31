"""What the book puts around a section, and the record beside it."""

import copy
import json
from dataclasses import replace

import pytest
import yaml

from assocmem.__main__ import main
from assocmem.book.claims import check, statements
from assocmem.book.markdown import plain
from assocmem.book.notes import read_notes
from assocmem.book.run_record import read_record, record_path, run_in_words
from assocmem.book.section_pages import end, head, page
from assocmem.book.sections import load_section, section_names
from assocmem.checks import UsageError
from assocmem.sweeps.project import project_root

NOTES = {
    "part": "All",
    "source": "Section 1",
    "see": "Numbers.\nMore.",
    "know": "Nothing.",
    "try": {"scale": 0.25},
    "checks": {"lemma-3": 2},
    "smoke": {"n": 2},
    "paper": {},
}
RECORD = {
    "seconds": 11.6,
    "threads": 1,
    "python": "3.11.7",
    "versions": {"numpy": "2.4.6", "torch": "2.13.0+cpu"},
    "machine": "EPYC, 2 cores",
    "device": "cpu",
}


def write_notes(project, **changes):
    text = yaml.safe_dump({"tiny": {key: v for key, v in (NOTES | changes).items() if v is not None}})
    (project / "notebooks" / "sections.yml").write_text(text, encoding="utf-8")


@pytest.fixture
def notes(project):
    write_notes(project)
    return read_notes(["tiny"], project)["tiny"]


def output(claim, what="it"):
    c = check(claim, what, kind="simulation", measured=8, predicted=8, tolerance=1, falsehood=("4", 4))
    return {"output_type": "display_data", "metadata": {}, "data": c._repr_mimebundle_()}


def text_output(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def notebook(*outputs):
    title = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Tiny\n", "\n", "A start."]}
    code = {"cell_type": "code", "id": "b", "metadata": {"tags": ["hide-input"]}, "source": "measure()"}
    return {"cells": [title, code | {"execution_count": 1, "outputs": list(outputs)}], "nbformat": 4}


# --- the notes ------------------------------------------------------------------------------------


def test_every_section_of_the_book_has_notes_and_every_statement_a_check():
    notes = read_notes(section_names(), project_root())
    assert {claim for one in notes.values() for claim in one.checks} == set(statements())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"see": None}, "section tiny must have part, source, see, know, try, checks, smoke and paper"),
        ({"try": {"scal": 1}}, "unknown parameter 'scal'.*nearest is 'scale'"),
        ({"try": {"scale": 3}}, "scale = 3: must be a number in"),
        ({"try": {}}, "try must be one parameter"),
        ({"see": 3}, "see must be text"),
        ({"smoke": {"n": 0}}, "n = 0: must be an integer in"),
        ({"paper": {"m": 1}}, "unknown parameter 'm'"),
        ({"paper": 3}, "paper must be a mapping of parameters to values"),
        ({"checks": 3}, "checks must be numbers by statement"),
        ({"checks": {"lemma-99": 1}}, "lemma-99: 1"),
        ({"checks": {"lemma-3": 0}}, "lemma-3: 0"),
    ],
)
def test_notes_that_make_no_sense_are_refused(project, changes, message):
    write_notes(project, **changes)
    with pytest.raises(UsageError, match=message):
        read_notes(["tiny"], project)


# --- the page -------------------------------------------------------------------------------------


def test_a_page_has_a_head_below_its_title_and_an_end(notes):
    executed = notebook(text_output("1"))
    before = copy.deepcopy(executed)
    cells = page(executed, load_section("tiny"), notes, RECORD)["cells"]
    assert executed == before
    first = cells[0]["source"]
    assert first.startswith("# Tiny\n\n::::{div} section-head")
    assert first.endswith("A start.")
    assert cells[1]["source"] == before["cells"][1]["source"]
    assert cells[1]["outputs"] == before["cells"][1]["outputs"]
    assert cells[1]["metadata"]["mystnb"]["code_prompt_show"] == "Code of this step"
    assert cells[-1]["source"] == end(load_section("tiny"), notes)


def test_the_head_says_what_is_known_and_no_more(notes):
    section = load_section("tiny")
    text = head(section, notes, RECORD)
    assert ": Numbers. More.\n" in text
    assert ": 12 s in one thread (EPYC, 2 cores), with Python 3.11, NumPy 2.4 and torch 2.13.\n" in text
    for p in section.parameters.values():
        assert f"- `{p.name}`\n  - `{p.default!r}`\n" in text
        assert f"- {p.meaning}\n" in text
    assert "a list, each item a number in `[0, 1]`" in text
    assert "one of cpu, cuda" in text
    assert "How long" not in head(section, notes, None)


def test_formulas_in_what_a_parameter_means_are_typeset(notes):
    section = load_section("tiny")
    first = next(iter(section.parameters.values()))
    section.parameters[first.name] = replace(first, meaning="d^2/(n log n), or the load alpha = n/d^2")
    assert r"- $d^2/(n \log n)$, or the load $\alpha = n/d^2$" in head(section, notes, None)


def test_a_gpu_and_several_threads_are_named():
    words = run_in_words(RECORD | {"threads": 4, "device": "H200", "seconds": 400.2})
    assert words.startswith("7 min in 4 threads (EPYC, 2 cores, H200), with")


def test_the_end_has_a_command_that_works(project, notes, capsys):
    line = next(line for line in end(load_section("tiny"), notes).splitlines() if line.startswith("python"))
    assert line == "python -m assocmem run tiny -p scale 0.25"
    write_notes(project, **{"try": {"xs": [0.2, 0.3]}})
    text = end(load_section("tiny"), read_notes(["tiny"], project)["tiny"])
    assert "-p xs '[0.2, 0.3]'\n" in text


def test_each_check_is_a_card_with_an_anchor_before_its_code(notes):
    outputs = [text_output("before"), output("lemma-3"), output("lemma-3"), output("remark-6")]
    cells = page(notebook(*outputs), load_section("tiny"), notes, None)["cells"][1:-1]
    names = ["check-lemma-3-in-tiny", "check-lemma-3-in-tiny-2", "check-remark-6-in-tiny"]
    *cards, code = cells
    assert [cell["source"].splitlines()[0] for cell in cards] == [f"({name})=" for name in names]
    assert "[Remark 6](#remark-6)" in cards[2]["source"]
    assert code["source"] == "measure()"
    assert code["outputs"] == [text_output("before")]
    assert len({cell["id"] for cell in cells}) == 4


def test_a_divided_section_has_two_pages_that_lead_to_each_other(notes):
    whole = notebook(output("lemma-3"))
    start = {"metadata": {"tags": ["second-page"]}, "source": "# The rest\n\nMore."}
    second = {"cell_type": "markdown", "id": "s"} | start
    more = notebook(output("lemma-3"))["cells"][1] | {"id": "c"}
    whole["cells"] += [second, more]
    section = load_section("tiny")
    story = page(whole, section, notes, RECORD)["cells"]
    rest = page(whole, section, notes, RECORD, second=True)["cells"]
    assert "(check-lemma-3-in-tiny)=" in story[1]["source"]
    assert "{doc}`tiny_checks`" in story[-1]["source"]
    assert rest[0]["source"].startswith("# The rest\n\n:::{div} section-head")
    assert "<tiny>`" in rest[0]["source"]
    assert rest[0]["source"].endswith("More.")
    assert "(check-lemma-3-in-tiny-2)=" in rest[1]["source"]
    assert rest[-1]["id"] == "c"
    assert "tiny_checks" not in page(notebook(), section, notes, None)["cells"][-1]["source"]


def test_the_parameters_are_shown_once(notes):
    executed = notebook()
    executed["cells"][1]["metadata"]["tags"] = ["parameters"]
    cell = page(executed, load_section("tiny"), notes, None)["cells"][1]
    assert cell["metadata"]["tags"] == ["parameters", "remove-cell"]


def test_a_figure_leads_to_its_tables_and_to_its_explorer(notes):
    executed = notebook()
    draw = executed["cells"][1]
    draw["metadata"] |= {"mystnb": {"figure": {"name": "fig-a"}}, "explore": "explore_phase?r=0.2"}
    draw["source"] = 'known = read_table("tiny", "half", "paper")\nplot(known)'
    cells = page(executed, load_section("tiny"), notes, None, tables={"tiny/half"}, chapter=3)["cells"]
    assert cells[1]["metadata"]["mystnb"]["code_prompt_show"] == "Code of Fig. 3.1"
    assert cells[2]["source"].splitlines()[1:-1] == [
        "Numbers from the stored table [tiny/half](#table-tiny-half).",
        '<a href="../explore_phase.html?r=0.2">Move it in an explorer.</a>',
    ]


# --- the record -----------------------------------------------------------------------------------


def test_a_run_leaves_a_record_that_counts_for_that_run_alone(project, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
    target = project / "out" / "tiny.ipynb"
    assert read_record(target) is None
    assert main(["run", "tiny", "--out", str(target)]) == 0
    record = read_record(target)
    assert record["threads"] == 3
    assert 0 < record["seconds"] < 600
    assert {"python", "versions", "machine", "device", "date"} <= record.keys()
    kept = record_path(target).read_bytes()
    assert main(["run", "tiny", "--out", str(target)]) == 0
    assert record_path(target).read_bytes() == kept

    record_path(target).write_text(json.dumps(record | {"key": "of another run"}), encoding="utf-8")
    assert read_record(target) is None
    record_path(target).write_text("[", encoding="utf-8")
    assert read_record(target) is None


def test_plain_text_stays_plain():
    assert plain("a_b [c] $d$ *e* <f> `g`") == r"a\_b \[c\] \$d\$ \*e\* \<f> \`g\`"
