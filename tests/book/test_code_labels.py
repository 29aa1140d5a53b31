"""Labels of folded code, what a visible cell may hold, and the tables behind a figure."""

import pytest

from assocmem.book.code_labels import label, labelled, plumbing, tables_behind, visible


def code(source, *tags, figure=None):
    about = {"mystnb": {"figure": {"name": figure}}} if figure else {}
    return {"cell_type": "code", "metadata": {"tags": list(tags)} | about, "source": source}


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (code("x = check('lemma-1')\nx"), "How this was checked"),
        (code("Table({})"), "Code of this table"),
        (code("panels(2)", figure="fig-a"), "Code of Fig. 4.2"),
        (code("import numpy as np\nfrom a import b\n\nplot.use_style()"), "Imports"),
        (code("x = 1"), "Code of this step"),
        (code("def draw():\n    return Table({})"), "Code of this step"),
    ],
)
def test_a_fold_says_what_is_in_it(cell, words):
    assert label(cell, "4.2") == words


def test_figures_are_counted_and_visible_cells_left_alone():
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ""},
        code("a", "hide-input", figure="fig-a"),
        code("b", figure="fig-b"),
        code("c", "hide-input", figure="fig-c"),
    ]
    prompts = [cell["metadata"].get("mystnb", {}).get("code_prompt_show") for cell in labelled(cells, "3", 5)]
    assert prompts == [None, "Code of Fig. 3.5", None, "Code of Fig. 3.7"]
    assert "code_prompt_show" not in cells[1]["metadata"]["mystnb"]


def test_what_a_reader_sees_without_a_click():
    cells = [code("a", "parameters"), code("b"), code("c", "hide-input"), code("d", "remove-cell")]
    assert visible(cells) == [(2, "b")]


def test_plumbing_is_found():
    assert plumbing("fit(pairs)") == []
    assert plumbing("import x\nTable({})\ncheck(1)") == ["a table", "a check", "imports"]


def test_tables_are_followed_from_name_to_name():
    sources = [
        'a = read_table("s", "one", "two")\nother = 3',
        "b = a.groupby(1)\nc = other + 1\nhelper = make(b)",
        "draw(b)",
        "draw(c)",
        'x = 1\nfor row in read_table("t", "three"):\n    x += row\n',
        "use(x, b)",
        "y = [row for row in b]",
        "draw([y for y in range(3)], row)",
        "row = 3\ndraw(row)",
    ]
    assert tables_behind(sources) == [
        ["s/one", "s/two"],
        ["s/one", "s/two"],
        ["s/one", "s/two"],
        [],
        ["t/three"],
        ["t/three", "s/one", "s/two"],
        ["s/one", "s/two"],
        ["t/three"],
        [],
    ]
