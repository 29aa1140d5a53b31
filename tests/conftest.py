"""Shared by all tests: a deterministic hypothesis profile and a small project to run."""

import gc
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import warm_interpreter
from filelock import FileLock
from hypothesis import settings

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait
from assocmem.machine import THREAD_SETTINGS

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores out: one thread each, and more where a test asks for them. Libraries that count
    # read this when they are loaded, which is later.
    os.environ |= dict.fromkeys(THREAD_SETTINGS, "1")

gc.disable()  # until all tests are collected: what is made meanwhile stays

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore interrupts

settings.register_profile("assocmem", derandomize=True, deadline=None, max_examples=30)
settings.load_profile("assocmem")

ROOT = Path(__file__).resolve().parents[1]

TINY = """\
# %% [markdown]
# # A tiny section

# %% tags=["parameters"]
n = 3  # number of things; [1, 1000000000000]
scale = 0.5  # a scale; (0, 1]
xs = [0.1, 0.9]  # places; [0, 1]
flag = False  # whether to fail; any
word = "é"  # a word; any
device = "cpu"  # where; {cpu, cuda}

# %% tags=["memory"]
memory = [("n", n, lambda n: 1000 * n)]


# %%
import sys
from pathlib import Path

print(n, scale, xs, word, Path.cwd().exists())

# %%
print(sys.prefix, file=sys.stderr)
assert not flag, f"flag is {flag}"
"""


@pytest.fixture
def benchmarks_folder(monkeypatch):
    """The scripts of the benchmarks as modules, forgotten when the test ends."""
    folder = ROOT / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in (path.stem for path in folder.glob("*.py")):
        sys.modules.pop(name, None)


LONG = "test_packaging.py", "test_sweeps.py"
"""Modules whose tests take long, one by one, and would be among the last."""


def pytest_collection_modifyitems(items):
    """Begin with them: processes that share the tests end together when short ones come last."""
    items.sort(key=lambda item: item.path.name not in LONG)


def pytest_collection_finish():
    """Let rubbish be looked for, though not among the tests, of which there are thousands."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """A function that computes something by a name, unless a process that shares these tests has done so.

    What is computed goes through a file, and must be the same after it. Where it cannot be computed, each
    process finds that out itself.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which all processes of a session share

    def computed(name, function):
        path = folder / f"once-{name}.pickle"
        with FileLock(f"{path}.lock"):
            if not path.exists():
                path.write_bytes(pickle.dumps(function()))
            return pickle.loads(path.read_bytes())

    return computed


@pytest.fixture(scope="session")
def warm():
    """A file to call like ``sys.executable``: it runs a copy of an interpreter that has loaded libraries.

    It has what a kernel of a section is given, and one thread.
    """
    from assocmem.book.runner import KERNEL_ENVIRONMENT

    settings = os.environ | KERNEL_ENVIRONMENT | dict.fromkeys(THREAD_SETTINGS, "1")
    with tempfile.TemporaryDirectory() as folder:
        address = Path(folder, "socket")
        asks = Path(folder, "python")
        warm_interpreter.command(asks, address)
        words = [sys.executable, warm_interpreter.__file__, "serve", address]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(words, env=settings, **pipes) as process:
            assert process.stdout.readline() == "warm\n"
            yield asks
            process.stdin.close()
            process.wait()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one section, in a folder with a space and an accent; we work elsewhere."""
    root = tmp_path / "un projet été"
    (root / "notebooks").mkdir(parents=True)
    (root / "notebooks" / "tiny.py").write_text(TINY, encoding="utf-8")
    (root / "notebooks" / "sections.yml").write_text("tiny: {smoke: {n: 2}}\n", encoding="utf-8")
    shutil.copy(ROOT / "constraints.txt", root)
    (root / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    monkeypatch.setenv("ASSOCMEM_ROOT", str(root))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return root
