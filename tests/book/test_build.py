"""Building the book: what stops it, and what it leaves."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup

from assocmem.__main__ import main
from assocmem.book import build
from assocmem.book.claims import check, statements
from assocmem.checks import UsageError
from assocmem.sweeps.export import export
from assocmem.sweeps.run import run
from assocmem.sweeps.sweep_file import read_sweep

PYTHON = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
EXTENSIONS = Path(__file__).resolve().parents[2] / "book" / "_ext"
INDEX = "(re-run)=\n# Small\n"
PROMISED = {s.id: 1 for s in statements().values() if s.section == "correlation_memory"}
GOOD = {"kind": "simulation", "measured": 8, "predicted": 8, "tolerance": 1, "falsehood": ("4", 4)}
GOOD |= {"axis": "size"}


@pytest.fixture
def small_book(project):
    """The tiny project with an executed section and a table of contents."""
    (project / "notebooks" / "tiny.py").rename(project / "notebooks" / "correlation_memory.py")
    toc = "format: jb-book\nroot: index\nparts:\n- chapters:\n  - file: book/sections/correlation_memory\n"
    toc += "  - file: book/ledger\n  - file: book/errata\n  - file: book/sweeps\n"
    (project / "_toc.yml").write_text(toc, encoding="utf-8")
    (project / "_config.yml").write_text(
        "title: small\nonly_build_toc_files: true\nexecute: {execute_notebooks: 'off'}\nlatex: {}\n"
        "parse: {myst_enable_extensions: [colon_fence, deflist, dollarmath]}\n"
        f"sphinx:\n  local_extensions: {{assocmem_pages: {json.dumps(str(EXTENSIONS))}}}\n"
        "  config: {html_extra_path: [book/_extra], suppress_warnings: [mystnb.unknown_mime_type]}\n",
        encoding="utf-8",
    )
    (project / "index.md").write_text(INDEX, encoding="utf-8")
    notes = {"part": "All", "source": "Section 1", "see": "it", "know": "nothing"}
    notes |= {"try": {"n": 4}, "checks": PROMISED, "smoke": {}, "paper": {}}
    (project / "notebooks" / "sections.yml").write_text(yaml.safe_dump({"correlation_memory": notes}))
    (project / "book" / "sections").mkdir(parents=True)
    for page in ("errata", "sweeps"):
        (project / "book" / f"{page}.md").write_text(f"# {page.capitalize()}\n", encoding="utf-8")
    return project


def store(project, **changes):
    """An executed section with all its checks; ``changes`` is what is measured other than as predicted."""
    measured = {claim: changes.get(claim.replace("-", "_"), 8) for claim in PROMISED}
    checks = [check(claim, "it", **(GOOD | {"measured": x})) for claim, x in measured.items() if x]
    outputs = [nbformat.v4.new_output("display_data", c._repr_mimebundle_()) for c in checks]
    cells = [nbformat.v4.new_markdown_cell("# Tiny"), nbformat.v4.new_code_cell("1", outputs=outputs)]
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata=PYTHON),
        project / "book" / "sections" / "correlation_memory.ipynb",
    )


def test_contents_are_the_pages_in_order(small_book):
    assert build.contents(small_book) == [
        "index",
        "book/sections/correlation_memory",
        "book/ledger",
        "book/errata",
        "book/sweeps",
    ]


def test_a_failing_section_stops_the_build_with_its_reason(small_book, capsys):
    source = small_book / "notebooks" / "correlation_memory.py"
    source.write_text(
        source.read_text(encoding="utf-8").replace("flag = False", "flag = True"), encoding="utf-8"
    )
    assert build.build_book() == 1
    captured = capsys.readouterr()
    assert "section 1 of 1: correlation_memory FAILED" in captured.out
    assert "AssertionError: flag is True" in captured.err
    assert not (small_book / "_build").exists()


def test_an_unexpected_verdict_stops_the_build(small_book):
    store(small_book, lemma_3=4)
    (problem,) = build.write_ledger(["correlation_memory"], small_book)
    assert problem.startswith("lemma-3, it: verdict 'does not hold'")


def test_a_vanished_check_stops_the_build(small_book, monkeypatch, capsys):
    store(small_book, lemma_3=None)
    monkeypatch.setattr(build, "execute_sections", lambda *names, **options: ([], {}))
    assert build.build_book() == 1
    line = (
        "assocmem: section correlation_memory: no checks of lemma-3, and notebooks/sections.yml expects 1\n"
    )
    assert capsys.readouterr().err == line
    assert not (small_book / "_build").exists()


def test_what_is_promised_and_not_there_stops_the_build(small_book, monkeypatch, capsys):
    store(small_book)
    path = small_book / "book" / "sections" / "correlation_memory.ipynb"
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["cells"][1]["metadata"]["mystnb"] = {"figure": {"name": "fig-a", "caption": "A line."}}
    path.write_text(json.dumps(stored), encoding="utf-8")
    (small_book / "book" / "figures").mkdir()
    (small_book / "book" / "figures" / "task.png").touch()
    monkeypatch.setattr(build, "execute_sections", lambda *names, **options: ([], {}))
    assert build.build_book() == 1
    assert capsys.readouterr().err.splitlines() == [
        "assocmem: section correlation_memory, cell 2: its figure fig-a has no picture",
        "assocmem: book/figures/task.png: the picture is empty",
    ]
    assert not (small_book / "_build").exists()


def test_a_section_without_notes_stops_the_build_before_it_starts(small_book, capsys):
    (small_book / "notebooks" / "sections.yml").write_text("{}")
    assert main(["build"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        "assocmem: notebooks/sections.yml: section correlation_memory must have part"
    )


@pytest.fixture
def done(small_book, monkeypatch):
    """What builds do, of which those that find nothing to do do nothing."""
    calls, html = [], small_book / "_build" / "html"
    answers = {"prepare": ([], {"correlation_memory": "1.0 s"}), "render": []}

    def render(*_):
        calls.append("render")
        html.mkdir(parents=True, exist_ok=True)
        (html / "index.html").write_text("<h1>Small</h1>", encoding="utf-8")
        return answers["render"]

    monkeypatch.setattr(build, "prepare", lambda *_, **__: calls.append("prepare") or answers["prepare"])
    monkeypatch.setattr(build, "render", render)
    return SimpleNamespace(calls=calls, html=html, answers=answers)


def test_where_nothing_has_changed_nothing_is_done(small_book, done, monkeypatch, capsys):
    def builds(**options):
        done.calls.clear()
        return build.build_book(**options), bool(done.calls)

    assert builds() == (0, True)
    said = capsys.readouterr().out
    assert builds() == (0, False)
    assert capsys.readouterr().out == said.replace("1.0 s", "up to date")
    assert builds(force=True) == (0, True)

    page = small_book / "index.md"
    there = page.stat()

    def replaced():  # by other words of the same length, in a file that says that it is as old
        page.write_text(INDEX.replace("Small", "Smell"), encoding="utf-8")
        os.utime(page, ns=(there.st_atime_ns, there.st_mtime_ns))

    changes = [
        replaced,
        (small_book / "book" / "new.md").touch,
        (small_book / "book" / "new.md").unlink,
        lambda: (small_book / "book" / "ledger.md").write_text("# Not what the build wrote\n"),
        (small_book / "book" / "sections" / "correlation_memory.ipynb").touch,
        (small_book / "notebooks" / "sections.yml").touch,
        (done.html / "index.html").unlink,
        lambda: (done.html / "index.html").write_text("<h1>Smell</h1>"),
        lambda: monkeypatch.setenv("ASSOCMEM_REPOSITORY_URL", "https://github.com/someone/book"),
        lambda: monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000"),
    ]
    for change in changes:
        change()
        assert builds() == (0, True)
        assert builds() == (0, False)
    (small_book / "data").mkdir()
    (small_book / "data" / "rows.sqlite").touch()  # of a sweep that runs meanwhile
    assert builds() == (0, False)


def test_a_build_that_fails_or_that_something_changes_under_is_done_again(small_book, done, monkeypatch):
    for step, failure in (("prepare", (["no"], {})), ("render", ["no"])):
        with monkeypatch.context() as patch:
            patch.setitem(done.answers, step, failure)
            assert build.build_book() == build.build_book() == 1
            assert done.calls.count("prepare") == 2
        assert build.build_book() == 0
        (small_book / "index.md").touch()
        done.calls.clear()
    render = build.render
    with monkeypatch.context() as patch:
        patch.setattr(
            build, "render", lambda *_: (small_book / "index.md").write_text("# New\n") and render()
        )
        assert build.build_book() == 0
    done.calls.clear()
    assert build.build_book() == 0
    assert done.calls


@pytest.mark.parametrize(("code", "error"), [(0, ""), (1, "assocmem: LaTeX failed\n")])
def test_the_print_is_made_beside_the_pages(done, monkeypatch, capsys, code, error):
    script = f"import sys; print('open a.pdf'); print({error!r}, end='', file=sys.stderr); sys.exit({code})"
    monkeypatch.setattr(build, "PRINTER", [sys.executable, "-c", script])
    assert build.build_book(pdf=True) == code
    captured = capsys.readouterr()
    assert captured.out.startswith("open a.pdf\n")
    assert captured.err == error
    assert (done.html / "index.html").exists()
    done.calls.clear()
    assert build.build_book() == 0
    assert bool(done.calls) == bool(code)
    done.answers["render"] = ["no page"]
    assert build.build_book(pdf=True) == 1
    assert capsys.readouterr().err == f"{error}assocmem: no page\n"


def test_a_section_that_is_up_to_date_takes_no_process_of_its_own(small_book, monkeypatch):
    (small_book / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    assert main(["run", "correlation_memory", "--out", str(small_book / "book" / "sections")]) == 0
    monkeypatch.setattr(build.subprocess, "Popen", None)
    failures, times = build.execute_sections(["correlation_memory"], small_book)
    assert (failures, times) == ([], {"correlation_memory": "up to date"})


def test_the_ledger_is_written_once_and_complete(small_book):
    store(small_book)
    assert build.write_ledger(["correlation_memory"], small_book) == []
    path = small_book / "book" / "_extra" / "claims.json"
    entries = json.loads(path.read_text(encoding="utf-8"))
    assert [e["id"] for e in entries] == list(statements())
    before = path.stat().st_mtime_ns
    assert build.write_ledger(["correlation_memory"], small_book) == []
    assert path.stat().st_mtime_ns == before


def test_the_status_page_says_what_is_recorded(small_book):
    store(small_book)
    page = small_book / "book" / "status.md"
    build.write_status_page(["correlation_memory"], small_book)
    text = page.read_text(encoding="utf-8")
    assert "no record of its run" in text
    assert f"{len(PROMISED)}: {len(PROMISED)} " in text
    assert "## Packages" not in text

    assert main(["run", "correlation_memory", "--out", str(small_book / "book" / "sections")]) == 0
    record = json.loads((small_book / "book" / "sections" / "correlation_memory.run.json").read_text())
    build.write_status_page(["correlation_memory"], small_book)
    text = page.read_text(encoding="utf-8")
    assert "no record" not in text
    assert f"  - {record['date']}\n" in text
    assert f"* - numpy\n  - {record['versions']['numpy']}\n" in text
    assert "  - none\n" in text  # the tiny section checks nothing


def test_the_status_page_says_what_was_tried_to_break_it(small_book):
    store(small_book)
    page, table = small_book / "book" / "status.md", small_book / "tests" / "hostile" / "report.csv"
    build.write_status_page(["correlation_memory"], small_book)
    assert "Nothing is noted in `tests/hostile/report.csv` yet" in page.read_text(encoding="utf-8")
    table.parent.mkdir(parents=True)
    table.write_text("what,trials,failures,date\nforged proofs,40,0,2031-02-03\nkilled,30,2,2031-02-04\n")
    for _ in range(2):
        build.write_status_page(["correlation_memory"], small_book)
        text = page.read_text(encoding="utf-8")
        assert "* - forged proofs\n  - 40\n  - 0\n  - 2031-02-03\n" in text
        assert "* - All\n  - 70\n  - 2\n  - \n" in text
        assert "Nothing is noted" not in text


def test_rendering_turns_warnings_into_errors_again_and_again(small_book, monkeypatch):
    store(small_book)
    build.write_ledger(["correlation_memory"], small_book)
    pages = build.contents(small_book)
    (small_book / "index.md").write_text(f"{INDEX}\nSee {{ref}}`nowhere`.\n", encoding="utf-8")
    for _ in range(2):
        first, *lines = build.render(small_book, pages)
        assert first == "the book did not render:"
        assert any("nowhere" in line for line in lines)
    (small_book / "index.md").write_text(INDEX, encoding="utf-8")
    found = build.render(small_book, pages)
    assert not found, "\n".join(found)
    html = small_book / "_build" / "html"
    assert (html / "claims.json").is_file()
    text = (html / "book" / "sections" / "correlation_memory.html").read_text(encoding="utf-8")
    section = BeautifulSoup(text, "html.parser")
    assert [len(section.select(f"#check-{claim}.check-card svg.strip")) for claim in PROMISED] == [1] * len(
        PROMISED
    )
    assert "python -m assocmem run correlation_memory -p n 4\n" in section.select_one(".section-end").text
    monkeypatch.setattr(build, "jupyter_book", lambda *_, **__: [])  # which has nothing to do
    assert build.render(small_book, [*pages, "book/lost"]) == ["the book lacks the page book/lost"]


def test_a_book_without_sections_is_a_mistake(small_book):
    with pytest.raises(UsageError, match="lists no section"):
        build.execute_sections([], small_book)


def test_the_page_of_stored_tables_is_that_of_their_records(small_book):
    path = small_book / "data" / "correlation_memory" / "numbers.yml"
    path.parent.mkdir(parents=True)
    fixed = "fixed: {n: 12}\npoints: {d: [3, 8], seed: {count: 2}}\n"
    path.write_text("title: Some verdicts\npoint: top1_verdict\n" + fixed)
    page = small_book / "book" / "tables.md"
    build.write_tables_page(["correlation_memory"], small_book)
    assert "## Not computed yet\n\n- `correlation_memory/numbers`: Some verdicts.\n" in page.read_text()
    sweep = read_sweep(path)
    assert run(sweep, say=lambda line: None, most=100) == 0
    export(sweep)
    build.write_tables_page(["correlation_memory"], small_book)
    text = page.read_text()
    assert "Not computed yet" not in text
    assert "{doc}`A tiny section <sections/correlation_memory>`" in text
    assert "`top1_verdict` with n = 12" in text
    assert "  - 4; " in text
    record = json.loads(path.with_suffix(".json").read_text())
    assert record["origins"][0]["machine"] in text
    store(small_book)
    build.write_status_page(["correlation_memory"], small_book)
    assert "  - `numbers`\n  - 4\n" in (small_book / "book" / "status.md").read_text()
    path.write_text(path.read_text().replace("[3, 8]", "[3, 9]"))
    with pytest.raises(ValueError, match="has changed since"):
        build.write_tables_page(["correlation_memory"], small_book)
