"""Run a command on a disk of its own that is nearly full: ``small_disk.py PLACE SPARE COMMAND...``.

To be started in a mount namespace of its own, where a file system in memory can be put over a folder. What
the command leaves is copied back, and how it ended is the last line of the output.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

PAGE = 4096
"""Bytes in which the file system counts."""


def main(place, spare, command):
    place, disk = Path(place), Path(place, "disk")
    parts = [name for name in ("work", "tmp") if (place / name).exists()]
    held = [path for name in parts for path in (place / name).rglob("*")]
    used = sum(-(-path.lstat().st_size // PAGE) * PAGE for path in held if path.is_file())
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={used + PAGE * (int(spare) // PAGE + 1)}", "tmpfs", disk]
    subprocess.run(mount, check=True)
    for name in parts:
        shutil.copytree(place / name, disk / name, symlinks=True)
    variables = os.environ | {
        name: value.replace(str(place / "work"), str(disk / "work"))
        for name, value in os.environ.items()
        if name in ("ASSOCMEM_ROOT", "PYTHONPATH")
    }
    variables |= {"TMPDIR": str(disk / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    pipes = {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=disk / "work", env=variables, check=False, **pipes)
    for name in parts:
        shutil.rmtree(place / name)
        shutil.copytree(disk / name, place / name, symlinks=True)
    print(json.dumps({"code": done.returncode, "errors": done.stderr}))
    subprocess.run(["umount", disk], check=True)
    disk.rmdir()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
