"""What a copy of the warm interpreter runs comes out as it would in a fresh one."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

SAYS = """
import json, os, sys
found = [sys.argv, os.getcwd(), os.environ["WORD"], "torch" in sys.modules, __name__]
print(json.dumps([*found, [name for name in sys.modules if name.startswith("assocmem")]]))
"""


@pytest.mark.parametrize("way", ["-c", "-m", "file"])
def test_a_program_has_the_arguments_the_folder_and_the_environment_of_who_asks(warm, tmp_path, way):
    (tmp_path / "says.py").write_text(SAYS)
    words = {"-c": ["-c", SAYS], "-m": ["-m", "says"], "file": ["says.py"]}[way]
    settings = os.environ | {"WORD": "größer"}
    done = subprocess.run([warm, *words, "a b"], cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    arguments, *rest = json.loads(done.stdout)
    assert arguments[1:] == ["a b"]
    assert rest == [str(tmp_path), "größer", True, "__main__", []]


def test_its_ends_are_those_of_the_program(warm):
    for code, end in (("raise SystemExit(3)", 3), ("1 / 0", 1), ("import os; os.kill(os.getpid(), 9)", -9)):
        done = subprocess.run([warm, "-c", code], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert done.returncode == end
    command = [warm, "-c", "print(input(), flush=True); import time; time.sleep(60)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        print("here", file=process.stdin, flush=True)
        assert process.stdout.readline() == "here\n"
        process.terminate()
        assert process.wait() == -15


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to look at")
def test_a_program_ends_with_who_has_asked(warm):
    command = [warm, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        there = Path("/proc", process.stdout.readline().strip())
        assert there.exists()
        process.kill()
        end = time.monotonic() + 30
        while there.exists():
            assert time.monotonic() < end
            time.sleep(0.01)


def test_nothing_is_left_from_one_program_to_the_next(warm):
    code = "import random, sys; assert not hasattr(sys, 'mine'); sys.mine = 1; print(random.random())"
    first, second = (subprocess.run([warm, "-c", code], capture_output=True, check=True) for _ in range(2))
    assert first.stdout != second.stdout
