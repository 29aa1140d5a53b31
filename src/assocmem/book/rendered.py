"""Whether what an earlier rendering has left can be used again.

Sphinx renders a page again where its source is younger than its last reading. That misses a page whose source
has changed and is older, as where the clock was set back or an old version was copied with its time, and one
whose rendering was killed after its reading. In these cases all that was left is dropped, and everything is
read and written anew.

Sphinx takes seconds to find out that there is nothing to do. Where no file has changed at all since a build
that was complete, neither of what it read nor of what it wrote, it is not even asked.
"""

import hashlib
import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from assocmem.book.citing import edition
from assocmem.files import held, write_whole
from assocmem.sweeps.fingerprints import PACKAGE

ENDINGS = ".md", ".ipynb", ".bib"
"""Of the files that Sphinx reads for a page."""
SOURCES = ".sources.json"
"""Digests of what was rendered, in the folder of what came of it."""


COMPLETE = ".complete"
"""Digits of what a complete build has read and written, in the folder of what came of it."""
ADDRESS_VARIABLE = "ASSOCMEM_REPOSITORY_URL"
"""The variable of the environment with the address of the repository, which pages name."""


class Whole:
    """Whether a project is as a complete build has left it: all that was read, and all that was written.

    A file counts as the same while its length and the times of its last changes are. One of these is the time
    that the system keeps for itself, which tells where an older file was put in its place.

    Parameters
    ----------
    root : Path
        Of the project.
    written : iterable of str
        Files and folders that a build writes outside ``_build``, as paths below the root.
    """

    def __init__(self, root: Path, written: Iterable[str]) -> None:
        self.root = root
        self.record = root / "_build" / COMPLETE
        self.written = [root / name for name in written]
        self.read = self._digits_of_sources()

    def still(self) -> bool:
        """Whether nothing has changed since a complete build."""
        try:
            return self.record.read_text(encoding="utf-8") == self._both()
        except (OSError, ValueError):
            return False

    def begin(self) -> None:
        """Forget the last complete build."""
        self.record.unlink(missing_ok=True)

    def finish(self) -> None:
        """Remember a complete build: what it has read is as it was when it began."""
        write_whole(self.record, self._both())

    def _both(self):
        made = [*_files_below(self.root / "_build" / "html", hidden=True)]
        for place in self.written:
            made += _files_below(place) if place.is_dir() else [place]
        return f"{self.read} {_digits(map(_state, sorted(made)))}\n"

    def _digits_of_sources(self):
        """Of all files of the project that a build does not write, of the package, and of what is around."""
        own = set(_files_below(self.root)) | set(_files_below(PACKAGE))
        sources = [p for p in own if not any(p == place or place in p.parents for place in self.written)]
        prints = sorted((self.root / "_build" / "pdf").glob("*.pdf"))
        words = [sys.version, sysconfig.get_path("purelib"), os.environ.get(ADDRESS_VARIABLE, "")]
        packages = _state(Path(sysconfig.get_path("purelib")))
        states = map(_state, sorted(sources) + prints)
        return _digits([*words, packages, str(edition(self.root)), *states])


def _files_below(folder, *, hidden=False):
    """All files in a folder, but for those of stores and caches, and without hidden ones unless asked for."""
    for place, folders, names in os.walk(folder):
        if "pyvenv.cfg" in names:  # an environment of Python, of which the list of its packages counts
            folders[:] = names[:] = []
        if not hidden:
            folders[:] = [name for name in folders if not name.startswith((".", "_build", "__pycache__"))]
        for name in names:
            if hidden or not (name.startswith(".") or ".sqlite" in name):
                yield Path(place, name)


def _state(path):
    """What changes with a file, or in a folder with what it lists."""
    try:
        there = path.stat()
    except OSError:
        return f"{path}: not there"
    return f"{path}: {there.st_size} {there.st_mtime_ns} {there.st_ctime_ns}"


def _digits(words):
    digest = hashlib.sha256()
    for word in words:
        digest.update(word.encode(errors="surrogateescape") + b"\0")
    return digest.hexdigest()


def render_alone(
    output: Path, root: Path, pages: Iterable[str], left: Iterable[str], work: Callable[[int], list[str]]
) -> list[str]:
    """Render into a folder while nobody else does, upon what can be used again of an earlier rendering.

    Parameters
    ----------
    output : Path
        The folder.
    root : Path
        Of the project.
    pages : iterable of str
        Names of all pages, without endings.
    left : iterable of str
        What renderings leave in the folder.
    work : callable
        Takes the descriptor that holds the folder, renders, and returns what went wrong. If anything did, all
        pages are read again next time, else the warnings would not come back.

    Returns
    -------
    list of str
        What went wrong.
    """
    output.mkdir(parents=True, exist_ok=True)
    with held(output) as lock:
        record, digests = output / SOURCES, sources(root, pages)
        begin(record, digests, *(output / name for name in left))
        problems = work(lock)
        if not problems:
            finish(record, digests)
        return problems


def sources(root: Path, pages: Iterable[str]) -> dict[str, str]:
    """Digests of the files that Sphinx reads: the pages, and what they may include.

    Parameters
    ----------
    root : Path
        Of the project.
    pages : iterable of str
        Names of all pages, without endings.

    Returns
    -------
    dict of str to str
        By path.
    """
    own = {root / f"{page}{ending}" for page in pages for ending in ENDINGS}
    beside = (path for path in (root / "book").rglob("*") if path.suffix in ENDINGS)
    files = sorted(path for path in own.union(beside) if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def begin(record: Path, digests: Mapping[str, str], *left: Path) -> None:
    """Drop what an earlier rendering has left, unless it was complete and Sphinx sees all that has changed.

    Parameters
    ----------
    record : Path
        Where `finish` writes; it is not there while a rendering goes on, nor after one that failed.
    digests : mapping
        From `sources`.
    *left : Path
        The folders to drop.
    """
    try:
        before, rendered = json.loads(record.read_text(encoding="utf-8")), record.stat().st_mtime
        unseen = [p for p in digests if digests[p] != before.get(p) and Path(p).stat().st_mtime <= rendered]
    except (OSError, ValueError):
        unseen = [str(record)]
    for folder in left if unseen else ():
        shutil.rmtree(folder, ignore_errors=True)
    record.unlink(missing_ok=True)


def finish(record: Path, digests: Mapping[str, str]) -> None:
    """Remember the sources of a rendering that is complete.

    Parameters
    ----------
    record : Path
        The file to write.
    digests : mapping
        From `sources`, as they were when it began.
    """
    write_whole(record, json.dumps(digests, indent=1) + "\n")


def write_if_changed(path: Path, text: str) -> None:
    """Write a page unless it has that content already, so that nothing rendered from it is rendered again.

    Parameters
    ----------
    path : Path
        The file; its folder is made where there is none.
    text : str
        The new content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != text.encode():
        write_whole(path, text)
