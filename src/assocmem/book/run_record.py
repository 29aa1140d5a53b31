"""The record beside an executed section: how long it ran, when, and on what.

The notebook itself is the same on every machine and at any time; what is not goes here.
"""

import json
import os
import re
from pathlib import Path

from assocmem.files import write_whole
from assocmem.machine import THREAD_SETTINGS, cores
from assocmem.progress import duration
from assocmem.sweeps.origin import origin


def record_path(notebook: Path) -> Path:
    """``SECTION.run.json`` beside ``SECTION.ipynb``."""
    return notebook.with_suffix(".run.json")


def write_record(notebook: Path, *, key: str, seconds: float, device: str) -> None:
    """Describe the run that has just made a notebook.

    Parameters
    ----------
    notebook : Path
    key : str
        Of the run, as the notebook has it.
    seconds : float
        That it took.
    device : str
        ``cpu`` or ``cuda``, as the section was told.
    """
    record = {"key": key, "seconds": round(seconds, 1), "threads": _threads()} | origin(device)
    write_whole(record_path(notebook), json.dumps(record, indent=1) + "\n")


def _threads():
    """What the libraries were told (OpenMP also takes a list, outermost first), or the number of cores."""
    told = re.match(r"[1-9]\d*", os.environ.get(THREAD_SETTINGS[0], ""))
    return int(told[0]) if told else cores()


def read_record(notebook: Path) -> dict | None:
    """The record of the run that made a notebook.

    Returns
    -------
    dict or None
        None if there is none, or one of another run.
    """
    try:
        key = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]["assocmem"]["key"]
        record = json.loads(record_path(notebook).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError):
        return None
    return record if record.get("key") == key else None


# --- in words -------------------------------------------------------------------------------------


def run_in_words(record: dict) -> str:
    """How long a run took, and on what."""
    python, numpy, torch = (
        _minor(version)
        for version in (record["python"], record["versions"]["numpy"], record["versions"]["torch"])
    )
    where = f"{time_in_words(record)} in {machine_in_words(record)}"
    return f"{where}, with Python {python}, NumPy {numpy} and torch {torch}."


def time_in_words(record: dict) -> str:
    """How long a run took, to the second."""
    return duration(max(1, round(record["seconds"])))


def machine_in_words(record: dict) -> str:
    """What a run had: threads, machine and, where there was one, GPU."""
    threads = "one thread" if record["threads"] == 1 else f"{record['threads']} threads"
    device = "" if record["device"] == "cpu" else f", {record['device']}"
    return f"{threads} ({record['machine']}{device})"


def _minor(version):
    return ".".join(version.split(".")[:2])
