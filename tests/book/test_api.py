"""The reference of the package: what is public is told once, and names lead to it."""

import importlib.util

import pytest
import yaml

import assocmem as am
from assocmem.book import api
from assocmem.sweeps.project import project_root

ROOT = project_root()
spec = importlib.util.spec_from_file_location("assocmem_api", ROOT / "book" / "_ext" / "assocmem_api.py")
extension = importlib.util.module_from_spec(spec)
spec.loader.exec_module(extension)


def test_the_face_is_all_that_the_package_offers():
    assert {f"assocmem.{name}" for name in am.__all__} == {
        entry.name for entry in api.entries().values() if entry.page == api.FACE
    }
    text = api.face_text()
    assert all(f".. autofunction:: assocmem.{name}\n" in text for name in ("fit", "solve_scalar"))
    assert ".. autoclass:: assocmem.TailAverage\n   :members:" in text


def test_every_room_has_a_page_in_the_contents():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    entry = next(entry for part in parts for entry in part["chapters"] if entry["file"] == api.FACE)
    assert [page["file"] for page in entry["sections"]] == [api.API + room for room in api.ROOMS]
    for room in api.ROOMS:
        page = (ROOT / f"{api.API}{room}.md").read_text(encoding="utf-8")
        assert f"<<room {room}>>" in page


def test_every_module_is_in_a_room():
    told = {name for room in api.ROOMS for name in api.modules(room)}
    there = {
        ".".join(path.relative_to(api.SOURCE).with_suffix("").parts) for path in api.SOURCE.rglob("*.py")
    }
    assert {name for name in there - told if not name.endswith("__init__")} == api.LEFT_OUT
    for name in told:
        assert api.module_path(name).is_file()


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("am.fit", "assocmem.training.fit.fit"),
        ("fit(..., precision='tf32')", "assocmem.training.fit.fit"),
        ("sat_laws(0.28, 0.15).percentile.cdf(0.95)", "assocmem.theory.ridgeless.sat_laws"),
        ("assocmem.theory.crossover.crossover", "assocmem.theory.crossover.crossover"),
        ("n", None),
        ("fits", None),
        ("make book", None),
    ],
)
def test_inline_code_names_a_function_or_does_not(text, home):
    entry = api.named(text)
    assert (entry and entry.home) == home


def test_what_a_section_uses_is_read_from_its_code():
    cells = [
        "import assocmem as am\nfrom assocmem.pairs import sizes",
        "from assocmem.theory.crossover import crossover",
        "found = am.fit(pairs, am.TailAverage(r=0.1, beta=1.0), ridge=1)\nsizes.tail_count(0.1, 9)",
        "this is no Python",
    ]
    assert api.used(cells) == {
        "assocmem.theory.crossover.crossover",
        "assocmem.training.fit.fit",
        "assocmem.training.losses.TailAverage",
        "assocmem.pairs.sizes.tail_count",
    }
    assert api.linked({"a": api.used(cells), "b": set()}, "assocmem.training.fit.fit") == ["a"]


def test_the_first_sentence_of_a_docstring():
    assert api.first_sentence("Draw the pairs (eq. ``model``). More.\n\nYet more.") == (
        "Draw the pairs (eq. ``model``)"
    )
    assert api.markdown_summary("``d^2`` of *x_i*, see `fit`") == r"`d^2` of \*x\_i\*, see `fit`"


def test_docstrings_are_read_as_their_writers_meant_them():
    module = "assocmem.training.descent"
    line = "Norm |W|_F of `fit` and ``x``s, `assocmem.training.descent`, `nothing` u_ "
    assert extension.mended(line, module) == (
        r"Norm \|W\|_F of :py:obj:`fit <assocmem.fit>` and ``x``\ s, "
        r":py:mod:`assocmem.training.descent <assocmem.training.descent>`, ``nothing`` u\_ "
    )


def test_rooms_for_the_project_itself_are_told_in_brief():
    lines = ["What it does.", "", "Parameters", "----------", "x : int"]
    extension.mend_docstring(None, "function", "f", api.used, None, lines)
    assert lines == ["What it does.", ""]
    lines = ["What it does.", "", "Parameters", "----------", "x : int"]
    extension.mend_docstring(None, "function", "f", am.tail_count, None, lines)
    assert len(lines) == 5
