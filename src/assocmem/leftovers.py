"""Temporary files and folders that bear the mark of their process, so that those of the dead are tidied away.

A process that is killed cannot remove what it is writing. The next one that writes at the same place does:
it knows what belongs to a running process, of this machine or of another, and leaves that alone.
"""

import contextlib
import os
import platform
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import psutil


def mark() -> str:
    """What stands for this process in the name of a temporary file: its machine and number."""
    return f"{_machine()}-{os.getpid()}"


def _machine():
    """Other machines and containers may write into the same folder, and their numbers tell nothing here."""
    name = platform.node()
    with contextlib.suppress(OSError):  # Linux alone has it
        name += os.readlink("/proc/self/ns/pid")
    return f"{zlib.crc32(name.encode()):08x}"


def tidy(folder: Path, before: str) -> None:
    """Remove temporary files and folders that belong to no running process any more.

    Parameters
    ----------
    folder : Path
        Where they are.
    before : str
        What their names have before the mark of the process. What cannot be removed is left.
    """
    name = re.compile(rf"{re.escape(before)}{_machine()}-(\d+)(?!\d)")
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            found = name.match(entry.name)
            if not found or psutil.pid_exists(int(found[1])):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


@contextlib.contextmanager
def temporary_folder(before: str, folder: str | os.PathLike[str] | None = None) -> Iterator[str]:
    """A folder that goes with this process; those that dead ones have left under such names go as well.

    Parameters
    ----------
    before : str
        What its name begins with.
    folder : path, optional
        Where it is made, by default where the system has temporary files.

    Yields
    ------
    str
        Its path.
    """
    place = Path(folder or tempfile.gettempdir())
    tidy(place, before)
    with tempfile.TemporaryDirectory(
        prefix=f"{before}{mark()}-", dir=place, ignore_cleanup_errors=True
    ) as made:
        yield made
