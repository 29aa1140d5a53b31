"""The book's Sphinx extensions as modules: they lie beside the book and not in the package."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from assocmem.sweeps.project import project_root


@contextmanager
def loaded(name: str) -> Iterator[ModuleType]:
    """An extension, whose folder is searched for modules as long as it is in use."""
    folder = str(project_root() / "book" / "_ext")
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(folder)
