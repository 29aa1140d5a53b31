"""Compiled code in files: read where it is whole and of this code, compiled again in all other cases."""

import importlib.util
import os
import random
import subprocess
import sys

import numba
import pytest

from assocmem.training.kept_code import compiled

MODULE = "def twice(x):\n    return 2 * x\n"
TEARS = {
    "nothing": lambda content: b"",
    "a part": lambda content: content[: len(content) // 2],
    "noise": lambda content: random.Random(1).randbytes(len(content)),
    "zeros at the end": lambda content: content[:-9] + bytes(9),
    "one wrong bit": lambda content: content[:-200] + bytes([content[-200] ^ 1]) + content[-199:],
    "another pickle": lambda content: b"\x80\x04N.",
}


@pytest.fixture
def twice(tmp_path, monkeypatch):
    """Compiles the function of a small module, as each process does anew, and says whether it was read."""
    path = tmp_path / "package" / "small.py"
    path.parent.mkdir()
    path.write_text(MODULE)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a change within the second would not be seen
    # At its next compilation Numba reads all its settings anew if one of its variables has changed meanwhile,
    # whoever changed it: the folder must stand in the environment as well.
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    numba.njit(lambda x: x)(1)  # settings are read anew here, and not between what is kept and what is read

    def start():
        spec = importlib.util.spec_from_file_location("small", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = compiled(module.twice)
        return function(3), sum(function.stats.cache_hits.values())

    start.folder = tmp_path
    start.module = path
    return start


def kept(twice, ending):
    return next(path for path in (twice.folder / "kept").rglob("*") if path.suffix == ending)


def test_compiled_code_is_kept_and_read(twice):
    assert [twice(), twice()] == [(6, 0), (6, 1)]


@pytest.mark.parametrize("tear", TEARS)
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_torn_file_is_made_again(twice, ending, tear):
    twice()
    path = kept(twice, ending)
    path.write_bytes(TEARS[tear](path.read_bytes()))
    assert [twice(), twice()] == [(6, 0), (6, 1)]


def test_code_of_another_version_is_not_run(twice):
    """The state that a process leaves which is killed after it has written the index and before the code."""
    twice()
    old = kept(twice, ".nbc").read_bytes()
    twice.module.write_text(MODULE.replace("2 * x", "5 * x"))
    assert twice() == (15, 0)
    kept(twice, ".nbc").write_bytes(old)
    assert [twice(), twice()] == [(15, 0), (15, 1)]


def test_code_that_calls_another_module_follows_its_changes(twice, monkeypatch):
    """Compiled code has that of what it calls inside, and Numba looks at the file of the caller alone."""
    path = twice.module.with_name("caller.py")
    path.write_text(
        "import small\nfrom assocmem.training.kept_code import compiled\n"
        "inner = compiled(small.twice)\ndef four_times(x):\n    return inner(inner(x))\n"
    )
    monkeypatch.syspath_prepend(str(path.parent))

    def start(uses):
        for name in ("small", "caller"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        caller = importlib.import_module("caller")
        function = compiled(caller.four_times, uses=[sys.modules["small"]] if uses else ())
        return function(3), sum(function.stats.cache_hits.values())

    assert [start(True), start(True)] == [(12, 0), (12, 1)]
    twice.module.write_text(MODULE.replace("2 * x", "5 * x + 0"))
    assert [start(True), start(True)] == [(75, 0), (75, 1)]


def test_where_no_folder_can_be_written_it_compiles(twice, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/kept")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/dev/null/kept")
    monkeypatch.setenv("HOME", "/dev/null/home")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (twice.module.parent / "__pycache__").write_text("no folder")
    assert [twice(), twice()] == [(6, 0), (6, 0)]


def test_a_folder_that_fills_up_or_goes_away_stops_nothing(twice, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
        assert [twice(), twice()] == [(6, 0), (6, 0)]
    assert [twice(), twice()] == [(6, 0), (6, 1)]
    index = kept(twice, ".nbi")
    index.unlink()
    index.mkdir()
    assert [twice(), twice()] == [(6, 0), (6, 0)]


def test_two_processes_at_once_leave_whole_files(twice):
    program = f"""
import sys
sys.path.insert(0, {str(twice.module.parent)!r})
import small
from assocmem.training.kept_code import compiled
print(compiled(small.twice)(3))
"""
    settings = os.environ | {"NUMBA_CACHE_DIR": str(twice.folder / "kept")}
    pipes = {"stdout": subprocess.PIPE, "text": True, "env": settings}
    both = [subprocess.Popen([sys.executable, "-c", program], **pipes) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == ["6\n", "6\n"]
    assert not [path for path in (twice.folder / "kept").rglob("*") if ".tmp." in path.name]
