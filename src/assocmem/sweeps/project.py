"""Where the sources of the book are, with the stored tables."""

import os
from pathlib import Path

from assocmem.checks import UsageError


def project_root() -> Path:
    """Folder of the book's sources.

    It is ASSOCMEM_ROOT where that is set, else the checkout this package lies in, else the nearest folder
    above the working directory that has a ``_toc.yml`` and ``notebooks``.

    Raises
    ------
    UsageError
        If there is none.
    """
    named = os.environ.get("ASSOCMEM_ROOT")
    here = Path.cwd()
    candidates = [Path(named)] if named else [Path(__file__).resolve().parents[3], here, *here.parents]
    for folder in candidates:
        if (folder / "_toc.yml").is_file() and (folder / "notebooks").is_dir():
            return folder.resolve()
    raise UsageError("cannot find the book's sources: run inside a checkout, or set ASSOCMEM_ROOT to one")
