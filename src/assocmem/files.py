"""Files that are whole at any moment, and temporary ones that bear the mark of their process.

A process that is killed cannot remove what it is writing. The next one that writes at the same place does: it
knows what belongs to a running process, of this machine or of another, and leaves that alone.
"""

import os
import platform
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from assocmem.checks import require


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of another once it is whole: the old one or the new one is there.

    What killed processes have left of their attempts is removed.

    Parameters
    ----------
    path : Path
        The file; its folder must be there.

    Yields
    ------
    Path
        Where to write the new content. It takes the place of the old one unless an exception is raised.

    Raises
    ------
    OSError
        With the name of the file, where it cannot be written, for instance since the disk is full.
    """
    before = f".{path.name}."
    partial = path.with_name(f"{before}{mark()}.part")
    tidy(path.parent, before)
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with suppress(OSError):  # where the folder cannot be written, nothing is there to remove
            partial.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step.

    Parameters
    ----------
    path : Path
        The file; its folder must be there.
    text : str
        The new content.

    Raises
    ------
    OSError
        With the name of the file, where it cannot be written.
    """
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def require_writable(name: str, path: str | os.PathLike[str]) -> Path:
    """Check that a file can be written by `whole_file`, before the work that is to be kept in it.

    Parameters
    ----------
    name : str
        The argument.
    path : path
        What was passed for it.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If it is no path, a folder or a device, or in a folder that is missing or cannot be written.
    """
    require(isinstance(path, str | os.PathLike) and path != "", name, path, "the path of a file")
    file = Path(path)
    try:
        reason = "" if file.is_file() or not file.exists() else "there is something else than a file"
        if not reason and file.exists() and not os.access(file, os.W_OK):
            reason = "the file there is write-protected"
        if not reason:
            partial = file.with_name(f".{file.name}.{mark()}.part")
            partial.touch()
            partial.unlink()
    except (OSError, ValueError) as error:  # the latter for characters that no path has
        reason = getattr(error, "strerror", None) or str(error)
    require(not reason, name, str(path), f"a file that can be written: {reason}")
    return file


@contextmanager
def held(folder: Path) -> Iterator[int]:
    """Wait until no other process holds a folder, and hold it; the system lets go for one that is killed.

    No file is left behind. On a file system without locks nobody waits.

    Parameters
    ----------
    folder : Path
        It must be there.

    Yields
    ------
    int
        The descriptor that holds it: a child that gets it holds the folder as well, until it ends.
    """
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


# --- temporary files and folders ------------------------------------------------------------------


def mark() -> str:
    """What stands for this process in the name of a temporary file: its machine and number."""
    return f"{_machine()}-{os.getpid()}"


def _machine():
    """Other machines and containers may write into the same folder, and their numbers tell nothing here."""
    name = platform.node()
    with suppress(OSError):  # Linux alone has it
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
    with suppress(OSError):
        for entry in os.scandir(folder):
            found = name.match(entry.name)
            if not found or psutil.pid_exists(int(found[1])):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                with suppress(OSError):
                    os.unlink(entry.path)


@contextmanager
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
