"""Which machine and which versions a table was measured with, and where tables are kept."""

import json
import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

import assocmem  # noqa: F401  before torch, whose threads it tells how to wait  # isort: skip
import psutil
import torch

from assocmem.files import write_whole
from assocmem.machine import processor

RESULTS = Path(__file__).parent / "results"
"""Where tables are kept."""
PACKAGES = ("numpy", "scipy", "numba", "torch", "pytorch-minimize")
"""Packages whose versions a table names."""


def machine() -> dict:
    """Processor, cores used, memory, versions and the day."""
    return {
        "processor": processor(),
        "cores": torch.get_num_threads(),
        "waiting_threads": os.environ.get("OMP_WAIT_POLICY", "default"),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "date": date.today().isoformat(),
    }


def write_results(name: str, content: dict) -> None:
    """Write a table in one step: it is the old one or the new one, never part of it.

    Parameters
    ----------
    name : str
        Of the table, without an ending.
    content : dict
        The rows, with the machine and what else they belong to.
    """
    RESULTS.mkdir(exist_ok=True)
    write_whole(RESULTS / f"{name}.json", json.dumps(content, indent=1) + "\n")


def read_results(name: str) -> dict:
    """What `write_results` wrote under a name."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
