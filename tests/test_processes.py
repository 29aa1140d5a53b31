"""A process that is asked to end does so, even if a compiled call keeps it from answering."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from assocmem.files import require_writable, whole_file
from assocmem.processes import ends_when_asked

STUCK = """
import signal, sys, time
from assocmem.processes import ends_when_asked
signal.signal(signal.SIGTERM, lambda *_: None if sys.argv[1] == "stuck" else sys.exit(130))
with ends_when_asked(0.3):
    print("ready", flush=True)
    time.sleep(30)
"""


@pytest.mark.parametrize("kind", ["stuck", "prompt"])
def test_a_process_that_does_not_answer_is_ended(kind):
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - started < 10
    assert errors == ("assocmem: ended by force, no answer for 0.3 s\n" if kind == "stuck" else "")


def test_nothing_is_left_of_the_watch():
    threads = threading.active_count()
    before = signal.set_wakeup_fd(-1)
    with ends_when_asked(1.0):
        assert threading.active_count() == threads + 1
    assert threading.active_count() == threads
    assert signal.set_wakeup_fd(before) == -1


@pytest.mark.parametrize(
    "path", ["", None, 3, "a\0b", "no/such/folder/x", "folder", ".", "x" * 300, "/dev/null"]
)
def test_a_path_that_cannot_be_written_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="^out = ") as caught:
        require_writable("out", path)
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["folder"]


def test_a_path_that_can_be_written_is_left_as_it_is(tmp_path):
    file = tmp_path / "x"
    assert require_writable("out", str(file)) == file
    file.write_text("old")
    require_writable("out", file)
    assert file.read_text() == "old"
    with pytest.raises(OSError, match="disk full"), whole_file(file) as partial:
        partial.write_text("new")
        raise OSError("disk full")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x", "old")]
