"""Places for the settings and caches of libraries, where the home of the user cannot be written."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from assocmem.files import temporary_folder
from assocmem.machine import environment

PLACES = {
    "HOME": ("",),
    "XDG_CACHE_HOME": (".cache",),
    "XDG_CONFIG_HOME": (".config",),
    "XDG_DATA_HOME": (".local/share",),
    "MPLCONFIGDIR": (".config/matplotlib", ".cache/matplotlib"),
    "JUPYTER_CONFIG_DIR": (".jupyter",),
    "JUPYTER_DATA_DIR": (".local/share/jupyter",),
    "TRITON_HOME": (".triton",),
}
"""The environment variables that say where libraries keep settings and caches, and the folders below the home
where these are without."""
OWN_PLACES = ("IPYTHONDIR", "NUMBA_CACHE_DIR", "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
"""Others, without which libraries go by the variables above."""


@contextmanager
def writable_home() -> Iterator[None]:
    """Give libraries a place for settings and caches where they cannot write to the usual ones.

    In a container the home is often read-only or not there, and libraries then warn, with random paths, or
    fail. The place that they get is removed afterwards; what can be written stays where it is.
    """
    home = os.path.expanduser("~")
    astray = []
    for name in (*PLACES, *OWN_PLACES):
        given = os.environ.get(name) if name != "HOME" else home
        folders = [given] if given else [os.path.join(home, place) for place in PLACES.get(name, ())]
        if not all(map(_can_hold_files, folders)):
            astray.append(name)
    if not astray:
        yield
        return
    with temporary_folder("assocmem-") as folder:
        settings = {name: os.path.join(folder, name.lower()) for name in astray}
        for place in settings.values():
            os.mkdir(place)
        with environment(settings):
            yield


def place_for_triton() -> None:
    """Where Triton cannot write to its folder it fails; give it another then, until this process ends."""
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~")
    if not _can_hold_files(os.environ.get("TRITON_CACHE_DIR") or os.path.join(home, ".triton", "cache")):
        os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="assocmem-")
        atexit.register(shutil.rmtree, os.environ["TRITON_CACHE_DIR"], ignore_errors=True)


def _can_hold_files(folder: str) -> bool:
    """Whether files can be written into a folder, which may yet have to be made."""
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
