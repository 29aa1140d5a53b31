"""Whether what an earlier rendering has left can be used again.

Sphinx renders a page again where its source is younger than its last reading. That misses a page whose source
has changed and is older, as where the clock was set back or an old version was copied with its time, and one
whose rendering was killed after its reading. In these cases all that was left is dropped, and everything is
read and written anew.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from assocmem.files import held, write_whole

ENDINGS = ".md", ".ipynb", ".bib"
"""Of the files that Sphinx reads for a page."""
SOURCES = ".sources.json"
"""Digests of what was rendered, in the folder of what came of it."""


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
