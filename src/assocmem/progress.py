"""Progress on long work: on a terminal, never in a stored output.

A section's kernel has no terminal of its own: the runner passes the path of its terminal in the environment,
and progress goes there, past everything that is stored.
"""

import os
import sys
from contextlib import contextmanager

from tqdm import tqdm

TERMINAL = "ASSOCMEM_TERMINAL"
DELAY = 2  # seconds before a status line appears


def progress(items, label):
    """Iterate, showing a bar where somebody watches.

    Parameters
    ----------
    items : iterable
    label : str
        What is being counted, for instance ``"instances"``.
    """
    with _watched() as terminal:
        yield from items if terminal is None else tqdm(items, desc=label, file=terminal, leave=False)


@contextmanager
def status_line():
    """A line that says how things stand, where somebody watches; short work does not show it.

    Yields
    ------
    callable
        Takes the text to show.
    """
    with _watched() as terminal:
        if terminal is None:
            yield lambda text: None
            return
        with tqdm(bar_format="{desc}", file=terminal, leave=False, delay=DELAY) as line:
            yield line.set_description_str


@contextmanager
def _watched():
    """The terminal of whoever watches, or None."""
    if os.environ.get(TERMINAL):
        try:
            terminal = open(os.environ[TERMINAL], "w", encoding="utf-8")  # noqa: SIM115 - closed below
        except OSError:  # somebody else's terminal
            yield None
            return
        with terminal:
            yield terminal
    else:
        yield sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None


def terminal_path():
    """Path of the terminal that standard error goes to, or an empty string."""
    try:
        return os.ttyname(sys.stderr.fileno())
    except (OSError, AttributeError, ValueError):
        return ""


def duration(seconds):
    """A time in words."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
