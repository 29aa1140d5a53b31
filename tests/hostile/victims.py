"""Long commands that are disturbed: how each is prepared, what it must leave, and what is looked for.

A trial copies what was prepared, runs the command under a disturbance, looks whether all that is there is
whole, runs the command again in peace, and compares all it leaves with what an undisturbed run leaves: the
same results, the same files and no others, no process that goes on.
"""

import contextlib
import csv
import ctypes
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import psutil

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATIENCE = 240
"""Seconds after which a command counts as hanging, on a machine with other work."""
LEAVING = 30
"""Seconds that children of a killed process have to notice and to end."""
CAP_DAC = 1, 2
"""Capabilities with which an administrator may write and read everywhere (linux/capability.h)."""
PR_CAPBSET_DROP = 24
"""The number of the request that gives up a capability (linux/prctl.h)."""


@dataclass(frozen=True, eq=False)
class Victim:
    """A command and what it must leave.

    Attributes
    ----------
    name : str
    prepare : callable
        Fills the folder in which the command works.
    arguments : tuple of str
        What follows ``python``.
    result : callable
        What is compared, read from the folder.
    twice : callable, optional
        Counts the work that was done more than once; the number that a disturbance may cost at most is
        ``allowed``.
    allowed : int
    """

    name: str
    prepare: Callable[[Path], object]
    arguments: tuple[str, ...]
    result: Callable[[Path], object]
    twice: Callable[[Path], int] = lambda folder: 0
    allowed: int = 1


@dataclass(frozen=True)
class Peace:
    """What an undisturbed run of a victim takes and leaves."""

    seconds: float
    result: object
    names: set
    sizes: list


class Stage:
    """Prepares victims once, runs them in peace once, and then as often as is asked under disturbances."""

    def __init__(self, folder: Path):
        self.folder, self.count = folder, 0
        self.prepare, self.peace = cache(self._prepare), cache(self._peace)

    def _prepare(self, victim):
        template = self.folder / f"{victim.name} template"
        work = template / "work"
        work.mkdir(parents=True)
        (template / "tmp").mkdir()
        victim.prepare(work)
        return template

    def _peace(self, victim):
        place = self.place(victim)
        started = time.monotonic()
        code, output, errors = self.run(victim, place)
        seconds = time.monotonic() - started
        assert code == 0, f"{victim.name} in peace: exit code {code}\n{output}\n{errors}"
        assert "Traceback" not in errors
        sizes = [path.stat().st_size for path in files(place)]
        return Peace(seconds, victim.result(place / "work"), names(place), sorted(sizes))

    def place(self, victim):
        """A new copy of what was prepared."""
        self.count += 1
        place = self.folder / f"{victim.name} {self.count}"
        shutil.copytree(self.prepare(victim), place, symlinks=True)
        return place

    def start(self, victim, place, **options):
        """Start the command."""
        before, more = options.pop("before", []), options.pop("variables", {})
        arguments = options.pop("arguments", None) or victim.arguments
        variables = os.environ | {
            "PYTHONPATH": python_path(*options.pop("paths", []), place / "work"),
            "TMPDIR": str(place / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SWEEP_LOG": str(place / "log"),
            "OMP_NUM_THREADS": "1",
            "ASSOCMEM_ROOT": str(place / "work" if (place / "work" / "_toc.yml").exists() else ROOT),
        }
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(
            [*before, sys.executable, *arguments],
            cwd=place / "work",
            env=variables | more,
            **(pipes | options),
        )

    def run(self, victim, place, **options):
        """Run the command to its end."""
        return end(self.start(victim, place, **options))

    def trial(self, victim, label, disturb, *, calm=(0,)):
        """One trial: what is wrong, a line each.

        Parameters
        ----------
        victim : Victim
        label : str
            Names the trial.
        disturb : callable
            Takes the stage, the victim and its place, and runs the command; it returns lines about what is
            wrong with how that ended.
        calm : tuple of int
            Exit codes that the second run may have.
        """
        peace, place = self.peace(victim), self.place(victim)
        wrong = list(disturb(self, victim, place))
        wrong += torn(place)
        before = kept_rows(place / "work")
        code, output, errors = self.run(victim, place)
        if code not in calm or "Traceback" in errors:
            wrong.append(f"afterwards exit code {code}: {output[-300:]} {errors[-600:]}")
        else:
            wrong += differences(peace, victim, place)
        lost = before - kept_rows(place / "work")
        wrong += [f"lost {len(lost)} rows"] if lost else []
        again = victim.twice(place)
        wrong += [f"{again} pieces of work done again"] if again > victim.allowed else []
        if not wrong:
            shutil.rmtree(place)
        return [f"{victim.name}, {label}: {line}" for line in wrong]


def end(process):
    """Wait for a process; one that hangs is killed and has the exit code None."""
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        return None, output, f"it hangs\n{errors}"
    return process.returncode, output, errors


def python_path(*folders):
    """The variable PYTHONPATH with some folders, and the one of the point functions here."""
    before = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    return os.pathsep.join(map(str, [*folders, HERE, *before]))


def files(place):
    return [p for p in place.rglob("*") if p.is_file() and "__pycache__" not in p.parts]


def names(place):
    """Names of all that is there, but for the log and what Sphinx and Python keep for themselves."""
    found = {str(path.relative_to(place)) for path in place.rglob("*") if "__pycache__" not in path.parts}
    return {name for name in found if name != "log" and ".doctrees" not in name}


def differences(peace, victim, place):
    """What a place has other than after an undisturbed run."""
    wrong = []
    try:
        if victim.result(place / "work") != peace.result:
            wrong.append("another result than in peace")
    except Exception as error:
        wrong.append(f"no result that can be read: {type(error).__name__}: {error}")
    there = names(place)
    wrong += [f"left behind: {', '.join(sorted(there - peace.names)[:5])}"] if there - peace.names else []
    wrong += [f"gone: {', '.join(sorted(peace.names - there)[:5])}"] if peace.names - there else []
    return wrong


def torn(place):
    """Files that are there and not whole."""
    wrong = []
    for path in files(place / "work"):
        if any(part.startswith(".") or part == "_build" for part in path.relative_to(place).parts):
            continue  # the temporary ones, and what Sphinx writes anew
        try:
            if path.suffix in (".json", ".ipynb"):
                json.loads(path.read_text(encoding="utf-8"))
            elif path.suffix == ".csv":
                text = path.read_text(encoding="utf-8")
                widths = {len(row) for row in csv.reader(text.splitlines())}
                assert text.endswith("\n") and len(widths) == 1, "half a table"
            elif path.suffix == ".npz":
                with np.load(path) as arrays:
                    _ = [arrays[name] for name in arrays]
            elif path.suffix in (".md", ".js"):
                assert path.read_bytes().endswith(b"\n"), "half a page"
        except Exception as error:
            wrong.append(f"half-written: {path.relative_to(place)} ({type(error).__name__}: {error})")
    return wrong


def kept_rows(work):
    """All rows of all stores, as they stand there."""
    found = set()
    for path in work.rglob("*.sqlite"):
        if any(part.startswith(".") for part in path.relative_to(work).parts):
            continue  # one that is being made
        with contextlib.closing(sqlite3.connect(path)) as connection:
            found |= set(connection.execute("select key, code, row from results where row is not null"))
    return found


# --- disturbances -----------------------------------------------------------------------------------------


def kill_after(seconds, number=signal.SIGKILL):
    """A signal after some time; processes that it has started must end as well."""

    def disturb(stage, victim, place):
        process = stage.start(victim, place)
        time.sleep(seconds)
        children = []
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.wait()
            process.stdout.close()
            errors = ""  # its children may hold the pipe
            process.stderr.close()
        else:
            code, _, errors = end(process)
            if code not in (0, 130, -number):
                yield f"exit code {code} after signal {number}: {errors[-300:]}"
        if "Traceback" in errors:
            yield f"a traceback: {errors[-600:]}"
        _, alive = psutil.wait_procs(children, timeout=LEAVING)
        for child in alive:
            with contextlib.suppress(psutil.Error):
                yield f"a process goes on: {' '.join(child.cmdline())[:200]}"
                child.kill()

    return disturb


def bearable(code, errors, codes=(0, 1, 2)):
    """What is wrong with how a command ended that could not write."""
    if code not in codes:
        yield f"exit code {code}: {errors[-300:]}"
    if "Traceback" in errors or "Exception ignored" in errors:
        yield f"a traceback: {errors[-900:]}"
    lines = [line for line in errors.splitlines() if line.strip()]
    if code and not any(line.startswith("assocmem: ") for line in lines):
        yield f"exit code {code} without a line that says why: {errors[-300:]}"


def obey_permissions():
    """Before a command begins: an administrator gives up the right to write everywhere."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in CAP_DAC:
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def moments(what, count, *, low=0.02, high=1.05):
    """Seeded shares of a command's duration."""
    draw = random.Random(f"{what}, moments")
    return [draw.uniform(low, high) for _ in range(count)]


# --- sweeps -----------------------------------------------------------------------------------------------

SWEEP = "point: {point}\npoints: {{a: {{count: {count}}}}}\n"


def sweep(point, count):
    def prepare(folder):
        (folder / "mine.yml").write_text(SWEEP.format(point=point, count=count))

    return prepare


def command(*words):
    return ("-m", "assocmem", *words)


def call(folder, *words):
    """Run a command while a victim is prepared."""
    variables = os.environ | {
        "PYTHONPATH": python_path(folder),
        "SWEEP_LOG": os.devnull,
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, *command(*words)], cwd=folder, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def rows(folder):
    """Keys and rows of the store, without the time that they took."""
    with contextlib.closing(sqlite3.connect(folder / "mine.sqlite")) as connection:
        return sorted(connection.execute("select key, code, parameters, row, failure from results"))


def computed_twice(place):
    """Calls of point functions beyond the first of each."""
    log = place / "log"
    calls = Counter(log.read_text().splitlines() if log.exists() else [])
    return sum(calls.values()) - len(calls)


def exported(folder):
    return [(folder / f"mine.{ending}").read_bytes() for ending in ("csv", "json")]


def with_rows(folder):
    sweep("victim_points:plain", 400)(folder)
    call(folder, "sweep", "run", "mine.yml")


def with_older_table(folder):
    """A table of fewer rows is there already, and the store has more."""
    sweep("victim_points:plain", 200)(folder)
    call(folder, "sweep", "run", "mine.yml")
    call(folder, "sweep", "export", "mine.yml")
    with_rows(folder)


def for_merge(folder):
    """Two stores of other machines, with the state of a point that one has begun."""
    sweep("victim_points:plain", 400)(folder)
    for number in (1, 2):
        call(folder, "sweep", "run", "mine.yml", "--into", f"from {number}")
    (store,) = (folder / "from 1").rglob("*.sqlite")
    store.with_name(f"{store.name}.state-{'0' * 32}-{'0' * 16}").write_text("half-way\n" * 20000)


def merged(folder):
    return rows(folder), [path.read_bytes() for path in sorted(folder.glob("mine.sqlite.state-*"))]


OWN = """
from typing import Annotated


def thrice(a: Annotated[int, "a number; [0, 90]"]):
    return {{"c": {body}}}
"""


def for_confirm(folder):
    (folder / "own_points.py").write_text(OWN.format(body="3 * a"))
    (folder / "mine.yml").write_text(SWEEP.format(point="own_points:thrice", count=30))
    call(folder, "sweep", "run", "mine.yml")
    (folder / "own_points.py").write_text(OWN.format(body="a + a + a"))
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)


def confirmed(folder):
    with contextlib.closing(sqlite3.connect(folder / "mine.sqlite")) as connection:
        found = connection.execute("select old, new, evidence from confirmed").fetchall()
    known = [(old, new, json.loads(evidence)) for old, new, evidence in found]
    return rows(folder), [
        (o, n, {k: v for k, v in e.items() if k not in ("seconds", "date")}) for o, n, e in known
    ]


SWEEP_RUN = Victim(
    "sweep run",
    sweep("victim_points:brief", 12),
    command("sweep", "run", "mine.yml"),
    rows,
    computed_twice,
)
SWEEP_PLAIN = Victim(
    "sweep run without a log",
    sweep("victim_points:plain", 60),
    command("sweep", "run", "mine.yml"),
    rows,
)
SWEEP_LASTING = Victim(
    "sweep run with states",
    sweep("victim_points:lasting", 3),
    command("sweep", "run", "mine.yml"),
    rows,
    computed_twice,
)
SWEEP_WORKERS = Victim(
    "sweep run of two workers",
    sweep("victim_points:brief", 30),
    command("sweep", "run", "mine.yml", "--workers", "2"),
    rows,
    computed_twice,
    4,
)
SWEEP_EXPORT = Victim("sweep export", with_older_table, command("sweep", "export", "mine.yml"), exported)
SWEEP_MERGE = Victim(
    "sweep merge", for_merge, command("sweep", "merge", "mine.yml", "from 1", "from 2"), merged
)
SWEEP_CONFIRM = Victim("sweep confirm", for_confirm, command("sweep", "confirm", "mine.yml"), confirmed)

# --- the book ---------------------------------------------------------------------------------------------

TINY = """\
# %% [markdown]
# # A tiny section

# %% tags=["parameters"]
n = 3  # number of things; [1, 1000]

# %% tags=["memory"]
memory = [("n", n, lambda n: 1000 * n)]

# %%
import time

time.sleep(0.3)
print(n, "things")
"""
CHECK = """
# %%
claims.check({claim!r}, "it", kind="simulation", measured=8, predicted=8, tolerance=1, falsehood=("4", 4),
  axis="size")
"""
CONFIG = """\
title: small
only_build_toc_files: true
execute: {{execute_notebooks: 'off'}}
latex: {{}}
parse: {{myst_enable_extensions: [colon_fence, deflist, dollarmath]}}
sphinx:
  local_extensions: {{assocmem_pages: {extensions}}}
  config: {{html_extra_path: [book/_extra], suppress_warnings: [mystnb.unknown_mime_type]}}
"""
TIMES = re.compile(rb"[0-9.]+ s in [0-9]+ threads|one thread")
"""What a page says about the time that a section took."""
SECTION = "correlation_memory"


def small_book(folder):
    """A book of one section, with the ledger."""
    import yaml

    from assocmem.book.claims import statements

    claims = [s.id for s in statements().values() if s.section == SECTION]
    text = (
        TINY + "\n# %%\nfrom assocmem.book import claims\n" + "".join(CHECK.format(claim=c) for c in claims)
    )
    (folder / "notebooks").mkdir()
    (folder / "notebooks" / f"{SECTION}.py").write_text(text, encoding="utf-8")
    notes = {"part": "All", "source": "Section 1", "see": "it", "know": "nothing", "try": {"n": 4}}
    notes |= {"checks": dict.fromkeys(claims, 1), "smoke": {}, "paper": {}}
    (folder / "notebooks" / "sections.yml").write_text(yaml.safe_dump({SECTION: notes}))
    toc = f"format: jb-book\nroot: index\nparts:\n- chapters:\n  - file: book/sections/{SECTION}\n"
    pages = "ledger", "errata", "sweeps"
    toc += "".join(f"  - file: book/{page}\n" for page in pages)
    (folder / "_toc.yml").write_text(toc, encoding="utf-8")
    extensions = json.dumps(str(ROOT / "book" / "_ext"))
    (folder / "_config.yml").write_text(CONFIG.format(extensions=extensions), encoding="utf-8")
    (folder / "index.md").write_text("(re-run)=\n# Small\n", encoding="utf-8")
    (folder / "book").mkdir()
    for page in pages[1:]:
        (folder / "book" / f"{page}.md").write_text(f"# {page.capitalize()}\n", encoding="utf-8")
    shutil.copy(ROOT / "constraints.txt", folder)
    (folder / "data").symlink_to(ROOT / "data")
    for place, script in _data_scripts().items():
        (folder / place).parent.mkdir(parents=True)
        shutil.copy(script, folder / place)


@cache
def _data_scripts():
    """Scripts with numbers for pages, by their places: they take long and are no matter of these trials."""
    import tempfile

    from assocmem.book.data_scripts import SCRIPTS, write_data_script

    made = Path(tempfile.mkdtemp(prefix="scripts-"))
    places = {script.place: made / Path(script.place).name for script in SCRIPTS}
    for script in SCRIPTS:
        write_data_script(script, places[script.place])
    return places


def executed(folder):
    """The executed notebook, which is the same in every run, and the key in the record beside it."""
    notebook = folder / "book" / "sections" / f"{SECTION}.ipynb"
    record = json.loads(notebook.with_suffix(".run.json").read_text(encoding="utf-8"))
    return notebook.read_bytes(), record["key"]


def built(folder):
    """All pages, less the times that sections took."""
    html = folder / "_build" / "html"
    found = (path for path in sorted(html.rglob("*")) if path.is_file() and ".doctrees" not in path.parts)
    pages = {str(path.relative_to(html)): TIMES.sub(b"", path.read_bytes()) for path in found}
    index = pages.pop("searchindex.js")  # which has the times as words
    assert index.startswith(b"Search.setIndex({") and index.endswith(b"})")
    return executed(folder), (folder / "book" / "ledger.md").read_bytes(), pages


SECTION_RUN = Victim(
    "run of a section", small_book, command("run", SECTION, "--out", "book/sections"), executed
)
BOOK_BUILD = Victim("build of the book", small_book, command("build"), built)

# --- fits -------------------------------------------------------------------------------------------------

FIT = """
import json, sys
from pathlib import Path

from assocmem.files import write_whole
from assocmem.pairs.data import gaussian_pairs
from assocmem.training import fit as fits
from assocmem.training.losses import CrossEntropy

fits.CHECKPOINT_SECONDS = 0
try:
    pairs = gaussian_pairs(60, 20, seed=1)
    done = fits.fit(pairs, CrossEntropy(), ridge=1e-3, tol=1e-8, checkpoint="state")
    text = json.dumps({"converged": done.converged, "objective": done.objective})
    write_whole(Path("fit.json"), text + "\\n")
except (OSError, ValueError) as error:
    sys.exit(f"assocmem: {error}")
"""


def fit_script(folder):
    (folder / "script.py").write_text(FIT)


def fitted(folder):
    """That it has converged, and the objective, to the digits that the tolerance promises."""
    done = json.loads((folder / "fit.json").read_text())
    return done["converged"], float(f"{done['objective']:.7g}")


FIT_WITH_STATE = Victim("fit with a checkpoint", fit_script, ("script.py",), fitted)
