"""How a process ends when it is asked to, and what it must not do in a fork."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ENDING_SIGNALS = {signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])}
"""Signals that ask a process to end."""

_WATCHED: set[int] = set()
"""Files to which this process reports signals."""

INTERRUPTED = 130
"""Exit code of a process that was asked to end."""


@contextmanager
def ends_when_asked(seconds: float) -> Iterator[None]:
    """End this process by force where a signal asks it to end and it does not within some seconds.

    Python answers a signal between two of its own instructions only, so never within a compiled call that
    hangs. Files written by `whole_file` and stores are whole at any moment.

    Parameters
    ----------
    seconds : float
        Time to tidy up.
    """
    done = threading.Event()
    heard, told = os.pipe()
    os.set_blocking(told, False)

    def watch():
        while (signals := os.read(heard, 1)) and not done.is_set():
            if signals[0] in ENDING_SIGNALS and not done.wait(seconds):
                if sys.stderr is not None:
                    print(
                        f"assocmem: ended by force, no answer for {seconds:g} s", file=sys.stderr, flush=True
                    )
                os._exit(INTERRUPTED)

    try:
        before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    except ValueError:  # in another thread than the main one, which signals do not reach
        os.close(heard)
        os.close(told)
        yield
        return
    _WATCHED.add(told)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(before)
        _WATCHED.discard(told)
        os.close(told)  # its other end has nothing to read any more, which ends the thread
        watcher.join()
        os.close(heard)


def _not_heard_in_children():
    """A signal to a child that a point forks is none of its parent's: the two share what is open."""
    with suppress(ValueError):
        before = signal.set_wakeup_fd(-1)
        if before not in _WATCHED:
            signal.set_wakeup_fd(before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_not_heard_in_children)


def warn_if_forked(threads: int) -> None:
    """Warn where a computation with several threads begins in a fork of a process that has had one.

    OpenMP waits for its threads there for ever, since a fork has none of them. Nothing can be done about it
    in the fork; that it hangs is at least to be explained.

    Parameters
    ----------
    threads : int
        How many the computation is going to use.
    """
    here = os.getpid()
    if threads > 1 and _with_threads and here not in _with_threads:
        warnings.warn(
            "this process was forked from one that has computed with several threads, and is likely to wait "
            "for these for ever: start it afresh (multiprocessing's spawn or forkserver), or set "
            "OMP_NUM_THREADS=1 before",
            RuntimeWarning,
            stacklevel=3,
        )
    if threads > 1:
        _with_threads.add(here)


_with_threads = set()
"""Processes that have computed with several threads: this one, and those that it was forked from."""
