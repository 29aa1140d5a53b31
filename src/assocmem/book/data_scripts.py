"""Numbers for the pages of the book that take too long to compute in a browser: scripts made at build time.

A script puts plain data where the other scripts of a page look, ``assocmem.NAME``. Its first line says what
it was made from, so that it is made again only if that has changed.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from assocmem.book.tables_read import folders_read
from assocmem.files import write_whole
from assocmem.sweeps.fingerprints import fingerprint
from assocmem.sweeps.project import project_root

END = ";\n"
"""How a script ends that is whole."""


def write_data_script(path: Path, name: str, source: Path, make: Callable[[], object]) -> None:
    """Write data as a script, unless it is there and up to date.

    Parameters
    ----------
    path : Path
        The ``.js`` to write.
    name : str
        Where scripts find the data: ``assocmem.NAME``.
    source : Path
        The module that makes them. The script is up to date as long as this module, what it imports from
        this package, and the stored tables that it reads are what they were.
    make : callable
        Returns the data: numbers, strings, lists and dictionaries. Not called if the script is up to date.

    Raises
    ------
    ValueError
        If a stored table is missing or stale, or a number is not finite.
    """
    head = f"// made by assocmem.book.{source.stem} from {_key(source)}\n"
    if path.exists():
        there = path.read_text(encoding="utf-8", errors="replace")
        if there.startswith(head) and there.endswith(END):
            return
    text = json.dumps(make(), separators=(",", ":"), allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f"{head}(globalThis.assocmem = globalThis.assocmem || {{}}).{name} = {text}{END}")


def _key(source):
    """Digits that change when the data may."""
    text = source.read_text(encoding="utf-8")
    digest = hashlib.sha256(fingerprint(text).encode())
    folders = [project_root() / "data" / name for name in folders_read(text)]
    for path in sorted(path for folder in folders for path in folder.glob("*.csv")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
