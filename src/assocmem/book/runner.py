"""Run one section with parameters: convert, check, execute through papermill, tidy, put in place.

What comes out depends on the section, its parameters, the code and data it reads and nothing else: no times,
no temporary paths, no random ids. A target that already holds the result of the same inputs is left alone.
How long it took, and where, is in the record beside it.
"""

import contextlib
import hashlib
import json
import logging
import os
import platform
import re
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import nbformat

from assocmem.book.promises import broken_promises, mistakes, skipped, unreadable
from assocmem.book.run_record import write_record
from assocmem.book.sections import Section, require_relations
from assocmem.book.tables_read import folders_read
from assocmem.checks import UsageError
from assocmem.files import temporary_folder, write_whole
from assocmem.homes import writable_home
from assocmem.machine import environment, memory_shortage
from assocmem.progress import TERMINAL, terminal_path
from assocmem.sweeps.fingerprints import fingerprint, syntax_tree
from assocmem.sweeps.project import project_root

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
"""The kernel of every section, which ipykernel installs under this name."""
KERNEL_ENVIRONMENT = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYTHONHASHSEED": "0",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}
"""Figures go into the notebook, sets have the same order in every run, and the debugger does not complain
about modules that are frozen into Python."""

CONFIGURATION = """\
import logging

c.IPKernelApp.log_level = 50
logging.getLogger("matplotlib").setLevel(logging.ERROR)
"""
"""The file that a kernel begins with: it is quiet about itself, and Matplotlib about its fonts, settings and
caches, which are not the same on two machines. What a cell does wrong is a warning of Python, and stays."""
DEATH = "its kernel died (out of memory, or killed)"
"""What is said of a kernel that is gone before its last cell has ended."""
CELL_FILE = r"[/\\]ipykernel_\d+[/\\]\d+\.py"
"""How the name ends that a kernel makes up for the text of a cell, with which warnings of Python begin."""


ENGINE = "assocmem"
"""What papermill calls the engine that executes sections."""


class SectionFailed(RuntimeError):
    """A cell raised or did not show what it should, or the kernel died; one line says where and why."""


@dataclass(frozen=True)
class Run:
    """Outcome of one run.

    Attributes
    ----------
    target : Path
        The executed notebook.
    seconds : float
        Time it took, 0 if it was up to date.
    fresh : bool
        Whether it was executed now.
    """

    target: Path
    seconds: float
    fresh: bool


def run_section(
    section: Section, values: dict[str, object], target: str | Path, *, force: bool = False
) -> Run:
    """Execute a section into ``target``.

    Parameters
    ----------
    section : Section
    values : dict
        A value for every parameter, as `assocmem.book.sections.resolve` returns it.
    target : path
        The ``.ipynb`` to write. It is replaced only by a complete success; a failure is left beside it as
        ``NAME.failed.ipynb``, and the record of a success as ``NAME.run.json``.
    force : bool
        Execute even if the target is up to date.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        Before anything is written: no GPU where one is asked for, too little memory, values that do not go
        together, no such folder, a caption that is not complete.
    SectionFailed
        If a cell raises, a figure, a table or a check does not appear, or the kernel dies.
    """
    target = Path(target).absolute()
    key = run_key(section, values)
    if not force and _stored_key(target) == key:
        return Run(target, 0.0, False)
    _require_complete(section)
    require_possible(section, values)
    _require_writable(target)
    started = time.monotonic()
    notebook, failure = _execute(section, values)
    _tidy(notebook, section, values, key)
    failed = target.with_suffix(".failed.ipynb")
    target.parent.mkdir(parents=True, exist_ok=True)
    if failure:
        _write(notebook, failed)
        raise SectionFailed(f"section {section.name} failed, {failure}; see {failed}")
    seconds = time.monotonic() - started
    failed.unlink(missing_ok=True)
    # The notebook comes last: as long as it is not there, the section is run again.
    write_record(target, key=key, seconds=seconds, device=values.get("device", "cpu"))
    _write(notebook, target)
    return Run(target, seconds, True)


def up_to_date(section: Section, values: dict[str, object], target: str | Path) -> bool:
    """Whether a target holds the result of a run already.

    Parameters
    ----------
    section, values, target
        As for `run_section`.

    Returns
    -------
    bool
    """
    stored = _stored_key(Path(target))
    return stored is not None and stored == run_key(section, values)


# --- what a result depends on ---------------------------------------------------------------------


def run_key(section: Section, values: dict[str, object]) -> str:
    """Hash of all that a run depends on.

    The text of the notebook, the parameters, what the notebook reaches of this package by imports, the tables
    under ``data/SECTION/`` and those it reads from other sections, the lock file, and the version of Python.
    Of the package its fingerprint counts, so that a comment in a module, or a module that moves, is no reason
    to run a section again.

    Parameters
    ----------
    section : Section
    values : dict
        As for `run_section`.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    root = project_root()
    code = [source for header, source in section.cells if "[markdown]" not in header]
    files = [root / "constraints.txt"]
    for name in sorted({section.name} | folders_read(*code)):
        tables = sorted((root / "data" / name).rglob("*"))
        files += [path for path in tables if path.suffix in (".csv", ".json", ".yml")]
    # A cell that is no Python has no syntax tree; it is refused when it runs.
    package = [fingerprint(cell) for cell in code if syntax_tree(cell).body]
    digest = hashlib.sha256()
    for part in (section.text, json.dumps(values, sort_keys=True), platform.python_version(), *package):
        digest.update(part.encode() + b"\0")
    for path in files:
        if path.is_file():
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _stored_key(target):
    try:
        return json.loads(target.read_text(encoding="utf-8"))["metadata"]["assocmem"]["key"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


# --- checks before any work -----------------------------------------------------------------------


def require_possible(section: Section, values: dict[str, object]) -> None:
    """Check that a section can run with values: the device is there, memory suffices, they go together.

    Parameters
    ----------
    section : Section
    values : dict
        As for `run_section`.

    Raises
    ------
    UsageError
        Saying what is missing, or which value does not go with the others.
    """
    _require_device(values)
    _require_memory(section, values)
    require_relations(section, values)


def _require_complete(section):
    headers = [header for header, _ in section.cells]
    wrong = unreadable(headers) or mistakes(_notebook(section).cells)
    if wrong:
        raise UsageError(f"section {section.name}, {wrong[0]}")


def _require_device(values):
    if str(values.get("device", "cpu")).startswith("cuda"):
        import torch

        if not torch.cuda.is_available():
            raise UsageError("device = cuda: no CUDA GPU is available here, use cpu")


def _require_memory(section, values):
    """What the cell tagged ``memory`` lists must fit: name, size asked for, bytes as a function of it."""
    sizes = section.listed("memory", values)
    try:
        lines = [memory_shortage(bytes_at, size, name=name) for name, size, bytes_at in sizes]
    except Exception as error:
        raise section.cell_error("memory", error) from None
    shortages = [line for line in lines if line]
    if shortages:
        raise UsageError(f"section {section.name}: {shortages[0]}")


def _require_writable(target):
    """Check by trying that the target can be written; what the trial makes is removed at once."""
    if target.is_dir():
        raise UsageError(f"cannot write {target}: it is a folder")
    folder = target.parent
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(f"cannot make the output folder {folder}: {error.strerror}") from None
    finally:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()


# --- execution ------------------------------------------------------------------------------------


def _execute(section, values):
    """Execute in a temporary folder; return the notebook and a line saying what failed, if anything did."""
    defaults = {name: p.default for name, p in section.parameters.items()}
    changed = {name: value for name, value in values.items() if value != defaults[name]}
    with temporary_folder("assocmem-") as folder:
        source, output = Path(folder, "in.ipynb"), Path(folder, "out.ipynb")
        nbformat.write(_notebook(section), source)
        with writable_home(), _kernel_environment(folder):
            failure = _papermill(source, output, changed, folder)
        notebook = nbformat.read(output if output.exists() else source, as_version=4)
        if failure == DEATH:
            failure += _last_place(notebook.cells)
        _hide_paths(notebook, {folder: "<temporary folder>"})
    return notebook, failure or "; ".join(skipped(notebook.cells) or broken_promises(notebook.cells))


def _notebook(section):
    """The section as a notebook that has not run."""
    import jupytext

    notebook = jupytext.reads(section.text, fmt="py:percent")
    notebook.metadata["kernelspec"] = KERNEL
    return notebook


def _papermill(source, output, parameters, folder):
    """Execute a notebook; return a line saying what failed, or an empty one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("papermill").setLevel(logging.ERROR)
        import papermill
        from nbclient.exceptions import DeadKernelError
        from papermill.exceptions import PapermillExecutionError

        papermill.engines.papermill_engines.register(ENGINE, _engine())
        how = {"engine_name": ENGINE, "kernel_name": KERNEL["name"], "progress_bar": False}
        try:
            papermill.execute_notebook(source, output, parameters, cwd=folder, **how)
        except PapermillExecutionError as error:
            return f"cell {error.cell_index + 1}: {error.ename}: {' '.join(str(error.evalue).split())}"
        except DeadKernelError:
            return DEATH
    return ""


def _engine():
    """Papermill's engine, which writes the notebook at the end, not before and after each cell as well."""
    from papermill.engines import NBClientEngine

    class Engine(NBClientEngine):
        @classmethod
        def execute_managed_notebook(cls, nb_man, kernel_name, **keywords):
            nb_man.save = lambda **_: None
            try:
                super().execute_managed_notebook(nb_man, kernel_name, **keywords)
            finally:
                del nb_man.save  # papermill writes now, whatever has happened

    return Engine


def _last_place(cells):
    """Where a kernel was when it died, if that is known."""
    begun = [n for n, cell in enumerate(cells, 1) if cell.metadata.get("papermill", {}).get("start_time")]
    return f" in cell {begun[-1]}" if begun else ""


@contextlib.contextmanager
def _kernel_environment(folder):
    """Environment of the kernel: its own settings, no other kernels, no terminal but the runner's.

    Standard error is closed meanwhile, since a kernel that is interrupted or dies writes there what the
    runner says in one line.
    """
    config = Path(folder, "ipython", "profile_default", "ipython_kernel_config.py")
    config.parent.mkdir(parents=True)
    config.write_text(CONFIGURATION, encoding="utf-8")
    settings = KERNEL_ENVIRONMENT | {
        "IPYTHONDIR": str(Path(folder, "ipython")),
        "JUPYTER_RUNTIME_DIR": str(Path(folder, "runtime")),
        "JUPYTER_PATH": "",
        "JUPYTER_PREFER_ENV_PATH": "1",
        TERMINAL: os.environ.get(TERMINAL) or terminal_path(),
    }
    with environment(settings):
        sys.stderr.flush()
        # Jupyter forgets the files that it makes in the place for temporary ones where it is killed.
        before, tempfile.tempdir = tempfile.tempdir, str(folder)
        stderr = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        try:
            yield
        finally:
            tempfile.tempdir = before
            os.dup2(stderr, 2)
            os.close(stderr)


# --- a notebook that is the same every time -------------------------------------------------------


def _tidy(notebook, section, values, key):
    """Drop what differs from run to run and record what the result depends on."""
    kept = {
        name: notebook.metadata[name] for name in ("kernelspec", "language_info") if name in notebook.metadata
    }
    notebook.metadata = nbformat.from_dict(
        kept | {"assocmem": {"section": section.name, "parameters": values, "key": key}}
    )
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:03d}"
        for name in ("papermill", "execution", "lines_to_next_cell"):
            cell.metadata.pop(name, None)
    _hide_paths(notebook, {str(project_root()): "<project>", sys.prefix: "<python>"})


def _hide_paths(notebook, names):
    """Replace folders of this machine in the text of all outputs."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_replaced(output, names) for output in cell.outputs]


def _replaced(value, names):
    if isinstance(value, str):
        for path, name in names.items():
            value = value.replace(path, name)
        return re.sub(re.escape(tempfile.gettempdir()) + CELL_FILE, "<cell>", value)
    if isinstance(value, list):
        return [_replaced(item, names) for item in value]
    if isinstance(value, dict):
        text = {key: item for key, item in value.items() if not key.startswith("image/")}
        return nbformat.from_dict(value | {key: _replaced(item, names) for key, item in text.items()})
    return value


def _write(notebook, target):
    """Write a notebook in one step."""
    write_whole(target, nbformat.writes(notebook) + "\n")
