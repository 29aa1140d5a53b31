"""Shared by all tests: a deterministic hypothesis profile and a small project to run."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait
from assocmem.book.sections import section_names
from assocmem.machine import THREAD_SETTINGS

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


# --- all sections, executed beside the other tests ------------------------------------------------

BESIDE = """
import os, subprocess, sys
from pathlib import Path

os.nice(5)
out, *names = sys.argv[1:]
for name in names:
    options = ["--profile", "smoke", "--out", f"{out}/{name}"]
    done = subprocess.run([sys.executable, "-m", "assocmem", "run", name, *options], capture_output=True)
    part = Path(out, f"{name}.part")
    part.write_bytes(b"%d\\n%b" % (done.returncode, done.stderr))
    part.rename(Path(out, f"{name}.done"))
"""
MANY = 200
"""Tests from which there is time for one section after another; where there are fewer, two run at a time."""


def pytest_collection_modifyitems(items):
    """Put the tests last that wait for a section: it runs meanwhile."""
    items.sort(key=_waits)


def _waits(item):
    return "smoke_runs" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="session", autouse=True)
def _begin_early(request):
    if any(map(_waits, request.session.items)):
        request.getfixturevalue("smoke_runs")


@pytest.fixture(scope="session")
def smoke_runs(request, tmp_path_factory):
    """A function that waits for a section under the smoke profile: its notebook, exit code and errors."""
    out, names = tmp_path_factory.mktemp("smoke"), section_names(ROOT)
    at_once = 1 if len(request.session.items) > MANY else 2
    environment = os.environ | dict.fromkeys(THREAD_SETTINGS, "1")
    drivers = [
        subprocess.Popen(
            [sys.executable, "-c", BESIDE, str(out), *names[first::at_once]],
            env=environment,
            cwd=ROOT,
            start_new_session=True,
        )
        for first in range(at_once)
    ]

    def wait(name):
        done = out / f"{name}.done"
        while not done.exists():
            assert any(driver.poll() is None for driver in drivers), f"{name} was not executed"
            time.sleep(0.05)
        code, _, errors = done.read_text(encoding="utf-8").partition("\n")
        return out / name / f"{name}.ipynb", int(code), errors

    yield wait
    for driver in drivers:
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGTERM)
        driver.wait()
