"""Build the book: execute what is out of date, side by side, write the ledger, render, check the pages."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import yaml

from assocmem.book.claims import read_checks, surprises, unlabelled, weak
from assocmem.book.data_scripts import SCRIPTS, write_data_script
from assocmem.book.exercises import wrong_answers
from assocmem.book.ledger import ledger, ledger_line, ledger_page, miscounts
from assocmem.book.notes import read_notes
from assocmem.book.promises import broken_promises, still_pictures
from assocmem.book.proof_map import proof_map
from assocmem.book.rendered import Whole, render_alone, write_if_changed
from assocmem.book.run_record import read_record
from assocmem.book.runner import up_to_date
from assocmem.book.second_pages import checks_of_story, write_second_pages
from assocmem.book.sections import PAGES, load_section, resolve, section_of
from assocmem.book.status_page import status_page
from assocmem.book.tables_page import tables_page
from assocmem.checks import UsageError
from assocmem.machine import THREAD_SETTINGS, cores
from assocmem.progress import TERMINAL, terminal_path
from assocmem.sweeps.project import project_root

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""What a terminal takes as a change of colour, and a message for people does not need."""
PRINTER = [sys.executable, "-m", "assocmem", "pdf"]
"""The command that prints the book."""
UP_TO_DATE = "up to date"
"""Said of a section that need not be executed."""
MOST_LINES = 20
"""So many lines of a log are shown: those that tell something, or else the last."""


WRITTEN = (
    PAGES,
    "book/_extra/claims.json",
    *(f"book/{name}.md" for name in ("ledger", "ledger_line", "proof_map", "tables", "status")),
    *(script.place for script in SCRIPTS),
)
"""What a build writes outside ``_build``, below the root of the project."""


def build_book(*, force: bool = False, pdf: bool = False) -> int:
    """Execute every section of the table of contents that is out of date and render the book.

    Where nothing has changed since a build that was complete, nothing is done.

    Parameters
    ----------
    force : bool
        Execute all sections.
    pdf : bool
        Print the book as well, by a process beside the one that renders the pages: each takes one core.

    Returns
    -------
    int
        0 if the book is complete; 1 if a section failed, a verdict is not the one its section reports, a
        check has gone, the renderer warned, a page is missing, or the print failed. Each reason is printed.
    """
    root = project_root()
    pages = contents(root)
    whole = Whole(root, WRITTEN)
    if not force and not pdf and whole.still():
        return _ready(root, dict.fromkeys(sections_on(pages), UP_TO_DATE))
    whole.begin()
    problems, times = prepare(root, pages, force=force)
    if problems:
        return fail(problems)
    with _printing(root) if pdf else contextlib.nullcontext() as printing:
        problems = render(root, pages)
        printed = printing.communicate() if printing else None
    if printed:
        print(printed[0], end="")
        print(printed[1], end="", file=sys.stderr)
    if problems:
        return fail(problems)
    if printing and printing.returncode:
        return 1
    whole.finish()
    return _ready(root, times)


def _ready(root, times):
    """Say how long each section took, and where the book is."""
    print("\n".join(f"{name:24} {seconds}" for name, seconds in times.items()))
    print(f"open {root / '_build' / 'html' / 'index.html'}")
    return 0


@contextlib.contextmanager
def _printing(root):
    """The process that prints the book, whose sections are up to date; it ends where this one fails."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen(PRINTER, cwd=root, **pipes) as process:
        try:
            yield process
        except BaseException:
            process.terminate()
            raise


def fail(lines: Iterable[str]) -> int:
    """Print what went wrong and return the exit code for it."""
    print("\n".join(f"assocmem: {line}" for line in lines), file=sys.stderr)
    return 1


def prepare(root: Path, pages: Iterable[str], *, force: bool = False) -> tuple[list[str], dict[str, str]]:
    """Execute the sections that are out of date and write the pages that are made from their results.

    Parameters
    ----------
    root : Path
        Of the project.
    pages : iterable of str
        Names of all pages, from `contents`.
    force : bool
        Execute all sections.

    Returns
    -------
    problems : list of str
    times : dict
        Words on how long each section took, by name.

    Raises
    ------
    UsageError
        Before anything is executed, if what is said about a section is incomplete or makes no sense.
    """
    names = sections_on(pages)
    read_notes(names, root)  # before anything is executed
    problems, times = execute_sections(names, root, force=force)
    problems = problems or lacking(names, root)
    problems = problems or write_second_pages(pages, root)
    problems = problems or write_ledger(names, root)
    if not problems:
        try:
            write_tables_page(names, root)
            for script in SCRIPTS:
                write_data_script(script, root / script.place)
            write_status_page(names, root)
        except ValueError as error:
            problems = [f"stored tables: {error}"]
    return problems, times


def contents(root: Path) -> list[str]:
    """Pages of ``_toc.yml`` in order, without endings."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc.get("parts", []) for chapter in part["chapters"]]
    entries = [*toc.get("chapters", []), *chapters]
    return [toc["root"], *(page["file"] for entry in entries for page in (entry, *entry.get("sections", [])))]


def sections_on(pages: Iterable[str]) -> list[str]:
    """Names of the sections that have a page, in the order of the pages.

    Parameters
    ----------
    pages : iterable of str
        From `contents`.

    Returns
    -------
    list of str
    """
    return list(dict.fromkeys(section_of(page) for page in pages if page.startswith(PAGES)))


def execute_sections(
    names: Sequence[str], root: Path, *, force: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Run the sections that are out of date as separate processes, as many side by side as there are cores.

    Parameters
    ----------
    names : sequence of str
    root : Path
        Of the project.
    force : bool
        Execute all of them.

    Returns
    -------
    failures : list of str
    times : dict
        Words on how long each took, by name.

    Raises
    ------
    UsageError
        If there are none.
    """
    if not names:
        raise UsageError("_toc.yml lists no section")
    done = {name for name in names if not force and _is_up_to_date(name, root)}
    workers = min(cores(), len(names))
    threads = str(max(1, cores() // workers))
    environment = os.environ | dict.fromkeys(THREAD_SETTINGS, threads) | {TERMINAL: terminal_path()}
    command = [sys.executable, "-m", "assocmem", "run", "--out", str(root / PAGES)]
    command += ["--force"] if force else []

    running = []

    def execute(name):
        if name in done:
            return name, 0, UP_TO_DATE, "", 0.0
        started = time.monotonic()
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        with subprocess.Popen([*command, name], env=environment, cwd=root, **pipes) as process:
            running.append(process)
            output, errors = process.communicate()
        return name, process.returncode, output, errors.strip(), time.monotonic() - started

    failures, times = [], {}
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(execute, name) for name in names]
        try:
            for number, job in enumerate(as_completed(jobs), 1):
                name, code, output, errors, seconds = job.result()
                times[name] = f"{seconds:.1f} s" if UP_TO_DATE not in output else UP_TO_DATE
                outcome = "FAILED" if code else times[name]
                print(f"section {number} of {len(names)}: {name} {outcome}", flush=True)
                failures += [errors] if code else []
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.terminate()
            raise
    return failures, {name: times[name] for name in names}


def _is_up_to_date(name, root):
    """Whether a section need not run; where that cannot be told, its run says why."""
    try:
        section = load_section(name, root)
        return up_to_date(section, resolve(section), root / PAGES / f"{name}.ipynb")
    except (UsageError, ValueError):
        return False


def lacking(names: Sequence[str], root: Path) -> list[str]:
    """What the pages promise and do not show: figures, tables, checks and answers, and pictures in files.

    Parameters
    ----------
    names : sequence of str
        Of the sections.
    root : Path
        Of the project.

    Returns
    -------
    list of str
        Each names the section and the cell, or the file.
    """
    lines = []
    for name in names:
        cells = json.loads((root / PAGES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        lines += [f"section {name}, {line}" for line in broken_promises(cells) + wrong_answers(cells)]
    return lines + [f"book/{line}" for line in still_pictures(root / "book")]


def write_ledger(names: Sequence[str], root: Path) -> list[str]:
    """Write the ledger page, its summary, the map of the proof and ``claims.json`` from executed sections.

    Parameters
    ----------
    names : sequence of str
        Of the sections.
    root : Path
        Of the project.

    Returns
    -------
    list of str
        The checks whose verdict is not the one that their section reports, those that could hardly have
        failed or do not say what their numbers are, and the statements that are checked more or less often
        than ``notebooks/sections.yml`` says.
    """
    checks = _checks(names, root)
    entries = ledger(checks, {name: checks_of_story(root / PAGES / f"{name}.ipynb") for name in names})
    write_if_changed(root / "book" / "ledger.md", ledger_page(entries, _titles(names, root)))
    write_if_changed(root / "book" / "ledger_line.md", ledger_line(entries))
    write_if_changed(root / "book" / "proof_map.md", proof_map(entries))
    write_if_changed(root / "book" / "_extra" / "claims.json", json.dumps(entries, indent=1) + "\n")
    promised = {name: notes.checks for name, notes in read_notes(names, root).items()}
    everything = [c for own in checks.values() for c in own]
    return miscounts(checks, promised) + surprises(everything) + weak(everything) + unlabelled(everything)


def _checks(names, root):
    return {name: read_checks(root / PAGES / f"{name}.ipynb") for name in names}


def _titles(names, root):
    return {name: load_section(name, root).title for name in names}


def write_tables_page(names: Sequence[str], root: Path) -> None:
    """Write the page that lists the stored tables.

    Parameters
    ----------
    names, root
        As for `write_ledger`.
    """
    write_if_changed(root / "book" / "tables.md", tables_page(root, _titles(names, root)))


def write_status_page(names: Sequence[str], root: Path) -> None:
    """Write the page on what the book was made with.

    Parameters
    ----------
    names, root
        As for `write_ledger`.
    """
    records = {name: read_record(root / PAGES / f"{name}.ipynb") for name in names}
    page = status_page(root, _titles(names, root), _checks(names, root), records)
    write_if_changed(root / "book" / "status.md", page)


def render(root: Path, pages: Iterable[str]) -> list[str]:
    """Call jupyter-book with warnings as errors and check that every page came out.

    Parameters
    ----------
    root : Path
        Of the project.
    pages : iterable of str
        Names of all pages, from `contents`.

    Returns
    -------
    list of str
        What went wrong.
    """
    output = root / "_build"
    left = "html", ".doctrees", "jupyter_execute"
    problems = render_alone(output, root, pages, left, lambda lock: jupyter_book(root, lock=lock))
    if problems:
        return problems
    html = output / "html"
    missing = [page for page in [*pages, "claims.json"] if not _rendered(html, page).is_file()]
    lines = [f"the book lacks the page {page}" for page in missing]
    return lines + [f"the book, _images/{line}" for line in still_pictures(html / "_images")]


def jupyter_book(root: Path, *arguments: str, lock: int, **variables: str) -> list[str]:
    """Call jupyter-book with warnings as errors.

    Parameters
    ----------
    root : Path
        Of the project.
    *arguments : str
        Of its command ``build``.
    lock : int
        From `assocmem.files.held`: it holds its output even where this process is killed before it.
    **variables : str
        Of its environment.

    Returns
    -------
    list of str
        What went wrong.
    """
    launch = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", launch, "build", str(root), "-W", "-n", "--keep-going", "-q", *arguments]
    environment = os.environ | variables
    pipes = {"capture_output": True, "encoding": "utf-8"}
    done = subprocess.run(command, check=False, cwd=root, env=environment, pass_fds=(lock,), **pipes)
    return ["the book did not render:", *_telling(done.stdout + done.stderr)] if done.returncode else []


def _rendered(html, page):
    return html / (page if Path(page).suffix else f"{page}.html")


def _telling(log):
    lines = COLOUR.sub("", log).splitlines()
    telling = [line for line in lines if "WARNING" in line or "ERROR" in line or "rror:" in line]
    return telling[:MOST_LINES] or lines[-MOST_LINES:]
