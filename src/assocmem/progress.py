"""Progress on long work: on a terminal, never in a stored output.

A section's kernel has no terminal of its own: the runner passes the path of its terminal in the environment,
and progress goes there, past everything that is stored.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

from tqdm import tqdm

TERMINAL = "ASSOCMEM_TERMINAL"
"""Environment variable with the path of the terminal on which the runner was started."""

DELAY = 2
"""Seconds before a status line appears, so that work that is soon done shows none."""

Item = TypeVar("Item")


def progress(items: Iterable[Item], label: str) -> Iterator[Item]:
    """Iterate, and show a bar if there is a terminal to show it on.

    Parameters
    ----------
    items : iterable
    label : str
        What is being counted, for instance ``"instances"``.

    Yields
    ------
    object
        The items, in their order.
    """
    with _terminal() as terminal:
        yield from items if terminal is None else tqdm(items, desc=label, file=terminal, leave=False)


@contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """A line that says how things stand, if there is a terminal to show it on; short work does not show it.

    Yields
    ------
    callable
        Takes the text to show.
    """
    with _terminal() as terminal:
        if terminal is None:
            yield lambda text: None
            return
        with tqdm(bar_format="{desc}", file=terminal, leave=False, delay=DELAY) as line:
            yield line.set_description_str


@contextmanager
def _terminal() -> Iterator[TextIO | None]:
    """The terminal of the runner, or that of standard error; None where there is neither."""
    if os.environ.get(TERMINAL):
        try:
            terminal = open(os.environ[TERMINAL], "w", encoding="utf-8")  # noqa: SIM115 - closed below
        except OSError:  # the terminal belongs to another user, or is gone
            yield None
            return
        with terminal:
            yield terminal
    else:
        yield sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None


def note(text: str) -> None:
    """Say a line on standard error, where there is one."""
    if sys.stderr is not None:
        print(f"assocmem: {text}", file=sys.stderr, flush=True)


def terminal_path() -> str:
    """Path of the terminal that standard error goes to, or an empty string."""
    try:
        return os.ttyname(sys.stderr.fileno())
    except (OSError, AttributeError, ValueError):
        return ""


def duration(seconds: float) -> str:
    """A time in words: seconds up to 100 of them, then minutes up to 100 of those, then hours."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
