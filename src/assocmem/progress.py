"""Progress bars for long loops: on a terminal, never in a stored output."""

import os
import sys

from tqdm import tqdm

TERMINAL = "ASSOCMEM_TERMINAL"


def progress(items, label):
    """Iterate, showing a bar where somebody watches.

    A section's kernel has no terminal of its own: the runner passes the path of its terminal in the
    environment, and the bar goes there, past everything that is stored.

    Parameters
    ----------
    items : iterable
    label : str
        What is being counted, for instance ``"instances"``.
    """
    if os.environ.get(TERMINAL):
        try:
            terminal = open(os.environ[TERMINAL], "w", encoding="utf-8")  # noqa: SIM115 - closed below
        except OSError:  # somebody else's terminal
            yield from items
            return
        with terminal:
            yield from tqdm(items, desc=label, file=terminal, leave=False)
    elif sys.stderr is not None and sys.stderr.isatty():
        yield from tqdm(items, desc=label, leave=False)
    else:
        yield from items


def terminal_path():
    """Path of the terminal that standard error goes to, or an empty string."""
    try:
        return os.ttyname(sys.stderr.fileno())
    except (OSError, AttributeError, ValueError):
        return ""
