"""Numbers for the pages of the book that take too long to compute in a browser: scripts made at build time.

A script puts plain data where the other scripts of a page look, ``assocmem.NAME``. Its first line says what
it was made from, so that it is made again only if that has changed.
"""

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from assocmem.book.tables_read import folders_read
from assocmem.files import write_whole
from assocmem.sweeps.fingerprints import fingerprint
from assocmem.sweeps.project import project_root


class DataScript(NamedTuple):
    """A script with data."""

    place: str
    """Where the project has it."""
    name: str
    """Where scripts of a page find the data: ``assocmem.NAME``."""
    module: str
    """The module of this room that makes the data; it is imported only when they have to be made."""
    function: str
    """Its function that returns them: numbers, strings, lists and dictionaries."""


TABLES = DataScript("book/_static_src/explorer/tables.js", "tables", "explorer", "tables")
INSTANCES = DataScript(
    "book/_static_src/widgets/data/live_memory.js", "liveInstances", "live_instances", "live_instances"
)
RULES = DataScript("book/_static_src/widgets/data/write_rules.js", "writeRules", "rule_tables", "rule_tables")
FREQUENCIES = DataScript(
    "book/_static_src/widgets/data/kept_by_frequency.js",
    "keptByFrequency",
    "frequency_tables",
    "frequency_tables",
)
SCRIPTS = (TABLES, INSTANCES, RULES, FREQUENCIES)
"""All scripts with data that a build writes."""

END = ";\n"
"""How a script ends that is whole."""


def write_data_script(script: DataScript, path: Path) -> None:
    """Write data as a script, unless it is there and up to date.

    It is up to date as long as the module that makes it, what that imports from this package, and the stored
    tables that it reads are what they were.

    Parameters
    ----------
    script : DataScript
    path : Path
        The ``.js`` to write.

    Raises
    ------
    ValueError
        If a stored table is missing or stale, or a number is not finite.
    """
    source = Path(__file__).with_name(f"{script.module}.py")
    head = f"// made by assocmem.book.{script.module} from {_key(source)}\n"
    if path.exists():
        there = path.read_text(encoding="utf-8", errors="replace")
        if there.startswith(head) and there.endswith(END):
            return
    make = getattr(import_module(f"assocmem.book.{script.module}"), script.function)
    text = json.dumps(make(), separators=(",", ":"), allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(
        path, f"{head}(globalThis.assocmem = globalThis.assocmem || {{}}).{script.name} = {text}{END}"
    )


def _key(source):
    """Digits that change when the data may."""
    text = source.read_text(encoding="utf-8")
    digest = hashlib.sha256(fingerprint(text).encode())
    folders = [project_root() / "data" / name for name in folders_read(text)]
    for path in sorted(path for folder in folders for path in folder.glob("*.csv")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
