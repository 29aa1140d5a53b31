"""Print the book: the same pages through Sphinx's LaTeX builder and xelatex into one PDF."""

import os
import shutil
import subprocess
from pathlib import Path

from assocmem.book.build import contents, fail, jupyter_book, prepare
from assocmem.book.rendered import render_alone
from assocmem.checks import UsageError
from assocmem.files import whole_file
from assocmem.sweeps.project import project_root

NAME = "linear-associative-memory"
"""Of the PDF, and of the LaTeX that ``book/_ext/assocmem_print.py`` has Sphinx write."""
PROGRAMS = ("latexmk", "xelatex", "kpsewhich")
"""What is called, the last to find the files below."""
FILES = (
    "unicode-math.sty",
    "tabulary.sty",
    "pzdr.tfm",
    "texgyrepagella-regular.otf",
    "texgyrepagella-math.otf",
    "DejaVuSansMono.ttf",
)
"""One style, metric or font of each package that the book needs besides LaTeX's own."""
PACKAGES = (
    "latexmk texlive-xetex texlive-fonts-recommended fonts-texgyre fonts-texgyre-math fonts-dejavu-core"
)
"""The packages of Debian that bring all that."""
SAME_BYTES = {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
"""What keeps today's date out of the PDF, so that two prints of one book are the same file."""


def build_pdf() -> int:
    """Execute every section of the table of contents that is out of date and print the book.

    Returns
    -------
    int
        0 if the PDF is there; 1 if a section failed, a verdict is not the one its section reports, the
        renderer warned, or LaTeX failed. Each reason is printed.

    Raises
    ------
    UsageError
        Before anything is done, if LaTeX or a part of it that the book needs is not installed.
    """
    require_latex()
    root = project_root()
    problems, _ = prepare(root, contents(root))
    problems = problems or print_book(root)
    if problems:
        return fail(problems)
    print(f"open {pdf_path(root)}")
    return 0


def pdf_path(root: Path) -> Path:
    """Where the PDF is."""
    return root / "_build" / "pdf" / f"{NAME}.pdf"


def require_latex() -> None:
    """Refuse to begin without the programs, styles and fonts that the book needs.

    Raises
    ------
    UsageError
        Naming what is missing and where it comes from.
    """
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    missing = missing or [name for name in FILES if not _found(name)]
    if missing:
        raise UsageError(
            f"the PDF needs LaTeX, and {', '.join(missing)} cannot be found; "
            f"on Debian: apt-get install --no-install-recommends {PACKAGES}"
        )


def _found(name):
    return subprocess.run(["kpsewhich", name], check=False, capture_output=True).returncode == 0


def print_book(root: Path) -> list[str]:
    """Write the book as LaTeX and make a PDF of it.

    Returns
    -------
    list of str
        What went wrong.
    """
    target = pdf_path(root)
    work = target.parent / "_build" / "latex"
    left = [work.parent.name]
    return render_alone(
        target.parent, root, contents(root), left, lambda lock: _print(root, target, work, lock)
    )


def _print(root, target, work, lock):
    place = "--builder", "latex", "--path-output", str(target.parent)
    problems = jupyter_book(root, *place, lock=lock, **SAME_BYTES)
    if problems:
        return problems
    command = ["latexmk", "-xelatex", "-interaction=nonstopmode", "-halt-on-error", f"{NAME}.tex"]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    done = subprocess.run(command, check=False, cwd=work, env=os.environ | SAME_BYTES, **pipes)
    log = work / f"{NAME}.log"
    if done.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
        errors = [line for line in lines if line.startswith("!")]
        return [f"LaTeX failed, see {log}:", *(errors or lines[-5:])]
    with whole_file(target) as partial:
        shutil.copyfile(work / f"{NAME}.pdf", partial)
    return []
