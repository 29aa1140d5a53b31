"""Compiled code that is kept in files, and compiled again where a file cannot be used.

Numba keeps what it compiles in the folder that ``NUMBA_CACHE_DIR`` names, beside the module, or below the
home of the user, whichever it can write to first. It takes its files for whole, though: one that a full disk
or a crash has cut short would end every fit with an exception, and one of other code would run. Here each
file says of what code it is and how its content adds up; any doubt, and any failure to write, means: compile.
"""

import contextlib
import hashlib
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps


def compiled(function: Callable, *, uses: Sequence[ModuleType] = (), **options: object) -> Callable:
    """A function compiled at its first call, or read from the files where an earlier process has left it.

    Parameters
    ----------
    function : callable
    uses : sequence of modules
        Others whose compiled functions it calls, and which become part of its code.
    **options
        For `numba.njit`.

    Returns
    -------
    callable
    """
    dispatcher = njit(**options)(function)
    with contextlib.suppress(RuntimeError, OSError):  # no folder to keep it in: each process compiles
        dispatcher._cache = _KeptCode(function, uses)
    return dispatcher


class _CheckedFiles(IndexDataCacheFile):
    """Numba's files, with a digest of the content and of what it is for."""

    def load(self, key):
        """The content for a key, or None."""
        found = super().load(key)
        if found is None:
            return None
        digest, content = found
        return pickle.loads(content) if digest == self._digest(key, content) else None

    def save(self, key, data):
        """Write the content for a key."""
        content = dumps(data)
        super().save(key, (self._digest(key, content), content))

    def _load_index(self):
        try:
            index = super()._load_index()
        except Exception:  # what a torn file raises hangs on where it is torn
            return {}
        return index if isinstance(index, dict) else {}

    def _digest(self, key, content):
        owner = repr((self._version, self._source_stamp, key)).encode()
        return hashlib.sha256(owner + b"\0" + content).digest()


class _KeptCode(FunctionCache):
    """Numba's cache of a function, which never stands in the way of compiling it."""

    def __init__(self, function, uses):
        super().__init__(function)
        times = [(status.st_mtime, status.st_size) for status in (Path(m.__file__).stat() for m in uses)]
        stamp = (self._cache_file._source_stamp, *times)
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig, target_context):
        """Compiled code for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig, data):
        """Keep compiled code for a signature, if that is possible."""
        with contextlib.suppress(Exception):
            super().save_overload(sig, data)
