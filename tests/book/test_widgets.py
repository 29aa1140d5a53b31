"""Widgets in the text, without a browser: each has a file, a place and a caption; print leaves them out."""

import re

import pytest
from extensions import loaded
from notebook_cells import markdown
from sphinx.testing.util import SphinxTestApp

from assocmem.book.sections import section_names
from assocmem.sweeps.project import project_root

ROOT = project_root()
FOLDER = ROOT / "book" / "_static_src" / "widgets"
FILES = sorted(path.stem for path in FOLDER.glob("*.js"))
DIRECTIVE = re.compile(r"^`{3,}\{widget\} (\w+)\n:label: (.+)\n", re.MULTILINE)
LONGEST_LINE = 180
LARGEST = 24_000
"""Bytes of the file of a widget."""


def texts():
    """What people wrote: pages, and the text of sections."""
    for path in (ROOT / "book").glob("*.md"):
        yield path.read_text(encoding="utf-8")
    yield from map(markdown, section_names(ROOT))


@pytest.fixture
def build(tmp_path):
    """A page of one widget, rendered, and what the renderer warned of."""

    def render(text, builder="html"):
        (tmp_path / "conf.py").write_text(
            f"import sys\nsys.path.insert(0, {str(ROOT / 'book' / '_ext')!r})\n"
            "extensions = ['myst_parser', 'assocmem_widgets']\n"
            f"html_static_path = [{str(ROOT / 'book' / '_static_src')!r}]\n",
            encoding="utf-8",
        )
        (tmp_path / "index.md").write_text(text, encoding="utf-8")
        app = SphinxTestApp(builder, srcdir=tmp_path)
        app.build()
        ending = {"html": "index.html", "latex": "*.tex"}[builder]
        made = next(app.outdir.glob(ending)).read_text(encoding="utf-8")
        warnings = app.warning.getvalue()
        app.cleanup()
        return made, warnings

    return render


def test_every_file_has_one_place_and_every_place_a_file():
    placed = [match[1] for text in texts() for match in DIRECTIVE.finditer(text)]
    assert sorted(placed) == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_what_it_is_and_is_small(name):
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    assert text.startswith("// ")
    assert f'widgets.widget("{name}"' in text
    assert not re.search(r"#[0-9a-f]{3,8}\b|\b(rgb|hsl)a?\(", text), "colours have roles"
    assert len(text) < LARGEST
    assert max(map(len, text.splitlines())) <= LONGEST_LINE
    with loaded("assocmem_widgets") as extension:
        scripts = extension.scripts(name)
    assert scripts[-1] == f"widgets/{name}.js"
    made = {"explorer/tables.js", *(s for s in scripts if s.startswith("widgets/data/"))}
    assert all((FOLDER.parent / script).is_file() for script in scripts if script not in made)


def test_a_place_has_its_scripts_a_caption_and_words_for_those_without_scripts(build):
    link = "[There](#widget-moving_edge)."
    page, warnings = build(
        f"# Page\n\n```{{widget}} moving_edge\n:label: An edge\nThe *caption*.\n```\n\n{link}\n"
    )
    assert warnings == ""
    assert 'id="widget-moving_edge"' in page
    assert 'aria-label="An edge"' in page
    assert "<em>caption</em>" in page
    assert 'href="#widget-moving_edge"' in page
    scripts = re.findall(r'<script defer="defer" src="_static/([\w/]+\.js)', page)
    assert scripts == [
        "explorer/theory.js",
        "explorer/widgets.js",
        "explorer/inline.js",
        "widgets/moving_edge.js",
    ]


def test_a_page_without_a_widget_has_none_of_its_scripts(build):
    page, _ = build("# Page\n\nText.\n")
    assert "explorer/" not in page


def test_print_leaves_it_out_with_its_caption(build):
    link = "[there](#widget-moving_edge)"
    place = "```{widget} moving_edge\n:label: An edge\nThe caption.\n```"
    page, warnings = build(f"# Page\n\nBefore, as {link}.\n\n{place}\n\nAfter.\n", "latex")
    between = page.partition("Before")[2].partition("After.")[0]
    assert "caption" not in between
    assert r"\label{\detokenize{index:widget-moving_edge}}" in between
    assert r"\hyperref[\detokenize{index:widget-moving_edge}]" in between
    assert "WARNING" not in warnings


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("nothing\n:label: words\nText.", "there is no widgets/nothing.js"),
        ("../explorer/phase\n:label: words\nText.", "there is no"),
        ("moving_edge\nText.", "give it a :label: and a caption"),
        ("moving_edge\n:label: words\n", "give it a :label: and a caption"),
    ],
)
def test_a_place_that_makes_no_sense_is_refused(build, head, message):
    _, warnings = build(f"# Page\n\n```{{widget}} {head}\n```\n")
    assert message in warnings
