"""Whether what Sphinx has kept of an earlier rendering can be trusted.

Sphinx renders a page again where its source is younger than its last reading. That misses a page whose source
has changed and is older, as where the clock was set back or an old version was copied with its time, and one
whose rendering was killed after its reading. In these cases all that is kept is dropped, and everything is
read and written anew.
"""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from assocmem.machine import write_whole

DIGESTS = ".sources.json"
"""The file with the digests of the sources of the last complete rendering, in the folder of the output; it is
not there while a rendering goes on."""

ENDINGS = ".md", ".ipynb", ".bib"
"""Of the files that Sphinx reads for a page."""


def sources(root: Path, pages: Iterable[str]) -> list[Path]:
    """The files that Sphinx reads: the pages, and what they may include.

    Parameters
    ----------
    root : Path
        Of the project.
    pages : iterable of str
        Names of all pages, without endings.

    Returns
    -------
    list of Path
        Sorted.
    """
    own = {root / f"{page}{ending}" for page in pages for ending in ENDINGS}
    beside = (path for path in (root / "book").rglob("*") if path.suffix in ENDINGS)
    return sorted(path for path in own.union(beside) if path.is_file())


@contextlib.contextmanager
def fresh(output: Path, files: Iterable[Path]) -> Iterator[None]:
    """Render within this context: nothing is used again that does not belong to the sources as they are.

    Parameters
    ----------
    output : Path
        The folder where Sphinx keeps what it has read.
    files : iterable of Path
        From `sources`.
    """
    record, digests = output / DIGESTS, {str(path): _digest(path) for path in files}
    try:
        before = json.loads(record.read_text(encoding="utf-8"))
        rendered = record.stat().st_mtime
    except (OSError, ValueError):  # the first rendering, or the one before was killed
        before = None
    if before is None or any(
        digest != before.get(path) and Path(path).stat().st_mtime <= rendered
        for path, digest in digests.items()
    ):
        forget(output)
    record.unlink(missing_ok=True)
    yield
    output.mkdir(parents=True, exist_ok=True)
    write_whole(record, json.dumps(digests, indent=1, sort_keys=True) + "\n")


def forget(output: Path) -> None:
    """Drop what Sphinx has kept, wherever Jupyter Book has put it."""
    shutil.rmtree(output / "html" / ".doctrees", ignore_errors=True)
    shutil.rmtree(output / ".doctrees", ignore_errors=True)


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
