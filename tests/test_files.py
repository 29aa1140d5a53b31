"""Files are written in one step, and what killed processes leave of their attempts is tidied away."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from assocmem.files import held, mark, temporary_folder, tidy, whole_file, write_whole


def dead_mark():
    """The mark of a process that has ended."""
    code = "from assocmem.files import mark; print(mark(), end='')"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_what_the_dead_have_left_is_removed_and_nothing_else(tmp_path):
    dead = dead_mark()
    assert dead != mark()
    foreign = dead.replace(dead.split("-")[0], "0" * 8)
    stay = [f".a.{mark()}.part", f".a.{foreign}.part", f".b.{dead}.part", ".a.x.part", f".a.{dead[:9]}"]
    for name in (*stay, f".a.{dead}.part"):
        (tmp_path / name).write_text("half")
    (tmp_path / f".a.{dead}-folder" / "inner").mkdir(parents=True)
    tidy(tmp_path, ".a.")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stay)
    tidy(tmp_path / "missing", ".a.")


def test_the_next_write_and_the_next_folder_tidy_up(tmp_path):
    dead = dead_mark()
    (tmp_path / f".été.txt.{dead}.part").write_text("half")
    write_whole(tmp_path / "été.txt", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["été.txt"]
    (tmp_path / f"work-{dead}-abc").mkdir()
    with temporary_folder("work-", tmp_path) as folder:
        assert sorted(os.listdir(tmp_path)) == sorted([os.path.basename(folder), "été.txt"])
    assert os.listdir(tmp_path) == ["été.txt"]


def test_a_write_that_fails_leaves_the_old_file_and_names_it(tmp_path):
    path = tmp_path / "kept.txt"
    write_whole(path, "old")
    with pytest.raises(OSError, match="No space left on device: '.*kept.txt'"), whole_file(path) as partial:
        partial.write_text("half")
        raise OSError(28, "No space left on device")
    with pytest.raises(KeyError), whole_file(path) as partial:
        partial.write_text("half")
        raise KeyError
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("kept.txt", "old")]


def test_a_folder_is_held_until_its_holder_ends_however_it_ends(tmp_path):
    code = f"""
        import subprocess, sys, time
        from pathlib import Path
        from assocmem.files import held
        reader = [sys.executable, "-c", "input()"]
        with held(Path({str(tmp_path)!r})) as lock:
            child = subprocess.Popen(reader, stdin=subprocess.PIPE, pass_fds=(lock,))
            print("held", flush=True)
            time.sleep(60)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        waiting = "from pathlib import Path; from assocmem.files import held\nwith held(Path('.')): pass"
        with subprocess.Popen([sys.executable, "-c", waiting], cwd=tmp_path) as other:
            with pytest.raises(subprocess.TimeoutExpired):
                other.wait(1)
            holder.send_signal(signal.SIGKILL)  # its child loses its input, and ends as well
            assert other.wait(60) == 0
    with held(tmp_path):
        pass
    assert not list(tmp_path.iterdir())
