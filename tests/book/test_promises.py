"""What cells promise to show: said where it is not there, and no more than that."""

import base64
import io

import nbformat.v4 as nb
import pytest
from matplotlib.figure import Figure

from assocmem.book import promises
from assocmem.book.claims import check
from assocmem.book.plotting import Table

CAPTION = {"figure": {"name": "fig-a", "caption": "A line."}, "image": {"alt": "A line."}}
MEMORY = nb.new_code_cell("memory = []", metadata={"tags": ["memory"]})


def picture(drawn=True):
    figure, file = Figure(figsize=(1, 1)), io.BytesIO()
    if drawn:
        figure.subplots().plot([1, 2])
    figure.savefig(file, format="png")
    return file.getvalue()


def shown(type_, content):
    return nb.new_output("display_data", {type_: content})


def cell(source, *outputs, **metadata):
    return nb.new_code_cell(source, outputs=list(outputs), metadata=metadata)


PNG = shown("image/png", base64.b64encode(picture()).decode())
TABLE = shown("text/markdown", Table({"a": [1]})._repr_markdown_())
SETTINGS = {"kind": "simulation", "measured": 8, "predicted": 8, "tolerance": 1, "falsehood": ("4", 4)}
CHECK = nb.new_output(
    "display_data",
    check(
        "lemma-3", "it", kind="simulation", measured=8, predicted=8, tolerance=1, falsehood=("4", 4)
    )._repr_mimebundle_(),
)
TEXT = nb.new_output("stream", name="stdout", text="1\n")
WARNING = nb.new_output("stream", name="stderr", text="careful\n")
MARK_UP = [TABLE.data["text/markdown"].rpartition("\n")[0], "|  |\n||"]


@pytest.mark.parametrize(
    ("lacking", "line"),
    [
        (cell("figure", mystnb=CAPTION), "its figure fig-a has no picture"),
        (cell("figure", TEXT, mystnb=CAPTION), "its figure fig-a has no picture"),
        (cell("figure, ax = panels()"), "the figure that it makes is not shown"),
        (cell("t = plot.Table({})", TEXT), "the table that it makes is not shown"),
        (cell("for x in ():\n    display(check(x))"), "the check that it makes is not shown"),
        (cell("print(1)", WARNING), "the text that it makes is not shown"),
        (cell("figure", WARNING), "its last line names figure, and nothing is shown"),
        *((cell("t", shown("text/markdown", text)), "its table has no rows") for text in MARK_UP),
        (cell("", shown("image/png", "")), "its picture is empty"),
        (cell("", shown("image/png", PNG.data["image/png"][:400])), "its picture is no whole PNG"),
        (cell("", shown("image/png", "a")), "its picture is no whole PNG"),
        (cell("", shown("image/svg+xml", "<svg><g></svg>")), "its picture is no SVG: mismatched tag"),
        (cell("", shown("image/svg+xml", "<svg/>")), "its picture shows nothing"),
        (cell("", nb.new_output("stream", text=2**24 * "x" + "x")), "it puts out more than the 16 MiB"),
    ],
)
def test_what_is_not_shown_is_named_with_its_cell(lacking, line):
    (found,) = promises.broken_promises([nb.new_markdown_cell("# A"), lacking])
    assert found.startswith(f"cell 2: {line}")


def test_a_picture_of_one_colour_shows_nothing():
    blank = cell("f", shown("image/png", base64.b64encode(picture(drawn=False)).decode()), mystnb=CAPTION)
    assert promises.broken_promises([blank]) == ["cell 1: its picture has one colour and shows nothing"]


@pytest.mark.parametrize(
    "kept",
    [
        cell("figure", PNG, mystnb=CAPTION),
        cell("figure, ax = panels()\nfigure", PNG),
        cell("Table({})", TABLE),
        cell("for x in y:\n    display(check(x))", CHECK, CHECK),
        cell("print(1)", TEXT),
        cell("print(1, file=sys.stderr)", WARNING),
        cell("def later():\n    return Table({}), print(1)"),
        cell("use_style()"),
        cell(""),
    ],
)
def test_a_promise_that_is_kept_is_no_matter(kept):
    assert promises.broken_promises([kept]) == []
    stored = {**kept, "source": kept["source"].splitlines(keepends=True)}  # as files have it
    assert promises.broken_promises([stored]) == []


@pytest.mark.parametrize(
    ("about", "line"),
    [
        (CAPTION | {"image": {}}, "its figure has no alternative text"),
        (CAPTION | {"figure": {"name": "fig-a", "caption": " "}}, "its figure has no caption"),
        (CAPTION | {"figure": {"name": "fig-a", "captoin": "A line."}}, "its figure has no caption"),
        (CAPTION | {"figure": {"caption": "A line."}}, "its figure has no name"),
        ("figure", "its header has mystnb that cannot be read"),
    ],
)
def test_a_caption_is_complete(about, line):
    assert promises.mistakes([MEMORY, cell("figure", mystnb=about)]) == [f"cell 2: {line}"]
    assert promises.mistakes([MEMORY, cell("figure", mystnb=CAPTION)]) == []


def test_names_and_tags_that_count_are_given_once():
    twice = [MEMORY, cell("", mystnb=CAPTION), cell("", mystnb=CAPTION), MEMORY]
    assert promises.mistakes(twice) == [
        "cell 3: its figure has the name fig-a of that in cell 2",
        "cell 4: it has the tag memory of cell 1",
    ]
    assert promises.mistakes([]) == ["no cell has the tag memory, which says what grows with the parameters"]


@pytest.mark.parametrize("source", ["%matplotlib inline", "!true", "%%capture\nx = 1"])
def test_a_section_is_plain_python(source):
    """Of a command nobody knows what it depends on, and the run would not be repeated when that changes."""
    (line,) = promises.mistakes([MEMORY, cell(source)])
    assert "is a command of IPython, and a section is plain Python" in line
    assert promises.mistakes([MEMORY, cell('x = """\n%d things\n""" % 3')]) == []


def test_headers_that_cannot_be_read_are_named():
    good = ' tags=["hide-input"] mystnb={"figure": {"name": "a", "caption": "tags=x"}}'
    assert promises.unreadable([" [markdown]", good, ""]) == []
    lines = promises.unreadable(["", good[:-1], ' tags=["memory"'])
    assert [line.partition(":")[0] for line in lines] == ["cell 2", "cell 3"]


def test_a_cell_that_ends_the_run_is_named():
    exit_of_zero = nb.new_output("error", ename="SystemExit", evalue="0", traceback=[])
    cells = [cell("exit(0)", exit_of_zero), cell("x = 1")]
    assert promises.skipped(cells) == ["cell 1: SystemExit: 0"]
    assert promises.skipped([cell("x = 1"), cell("# nothing")]) == ["cell 1 was not executed"]
    expected = cell("1 / 0", exit_of_zero, tags=["raises-exception"])
    assert promises.skipped([expected | {"execution_count": 1}]) == []


def test_pictures_in_files_are_whole(tmp_path):
    contents = {"a.png": picture(), "b/c.png": b"", "d.svg": b"<svg", "e.PNG": picture()[:-90], "f.txt": b""}
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert [line.partition(" ")[0] for line in promises.still_pictures(tmp_path)] == [
        "b/c.png:",
        "d.svg:",
        "e.PNG:",
    ]
