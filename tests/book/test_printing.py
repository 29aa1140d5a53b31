"""Printing the book: what is said where LaTeX is missing."""

import pytest

from assocmem import __main__
from assocmem.book import pdf
from assocmem.sweeps.project import project_root


@pytest.mark.parametrize("words", [["pdf"], ["build", "--pdf"]])
def test_a_missing_latex_is_named_with_its_packages_before_any_work(project, monkeypatch, capsys, words):
    monkeypatch.setenv("PATH", str(project))
    assert __main__.main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert "latexmk, xelatex, kpsewhich cannot be found" in line
    assert line.endswith(f"apt-get install --no-install-recommends {pdf.PACKAGES}")
    assert not (project / "_build").exists()


def test_a_missing_font_is_named(monkeypatch, capsys):
    monkeypatch.setattr(pdf.shutil, "which", lambda name: name)
    monkeypatch.setattr(pdf, "_found", lambda name: name != "DejaVuSansMono.ttf")
    assert __main__.main(["pdf"]) == 2
    assert "needs LaTeX, and DejaVuSansMono.ttf cannot be found" in capsys.readouterr().err


def test_sphinx_writes_the_file_that_is_printed():
    extension = (project_root() / "book" / "_ext" / "assocmem_print.py").read_text(encoding="utf-8")
    assert f'FILE = "{pdf.NAME}"\n' in extension
