"""The machine: memory and cores that are there, variables for processes, files written in one step."""

import os
import platform
import signal
import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from assocmem.checks import require

GIB = 2**30
"""Bytes of a gibibyte, the unit of messages about memory."""

USABLE_SHARE = 0.9
"""Share of the available memory that a size may ask for. The rest is for what an estimate leaves out and for
what other processes take meanwhile; how much that is was chosen by judgement."""


def available_bytes() -> int:
    """Bytes that this process can still take before the machine or its container runs out.

    The least of: free memory of the machine, what the control group has left, and what is left under
    the address-space limit of the process.

    Returns
    -------
    int
        Zero if there is none left.
    """
    process = psutil.Process()
    bounds = [psutil.virtual_memory().available]
    if os.name == "posix":
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            bounds.append(limit - process.memory_info().vms)
    for maximum, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            bounds.append(int(Path(maximum).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):
            continue  # no such control group, or "max"
    return max(0, min(bounds))


def largest_that_fits(bytes_at: Callable[[int], float], budget: float, smallest: int = 3) -> int:
    """Largest size whose memory is within a budget.

    Parameters
    ----------
    bytes_at : callable
        Peak memory in bytes as an increasing function of the size.
    budget : float
        Bytes that may be used.
    smallest : int
        The smallest size that makes sense.

    Returns
    -------
    int
        The largest n with ``bytes_at(n) <= budget``, or 0 if that holds for none from ``smallest`` on.
    """
    too_large = smallest
    while bytes_at(too_large) <= budget:
        too_large *= 2
    if too_large == smallest:
        return 0
    return bisect_right(range(too_large), budget, lo=smallest, key=bytes_at) - 1


def memory_shortage(
    bytes_at: Callable[[int], float], value: int, *, name: str = "n", budget: float | None = None
) -> str:
    """One line that says why a size does not fit, or an empty string where it does.

    Parameters
    ----------
    bytes_at : callable
        Peak memory in bytes as an increasing function of the size.
    value : int
        The size asked for.
    name : str
        What to call it.
    budget : float, optional
        Bytes that may be used; by default nine tenths of what is available now.

    Returns
    -------
    str
    """
    budget = USABLE_SHARE * available_bytes() if budget is None else budget
    if bytes_at(value) <= budget:
        return ""
    largest = largest_that_fits(bytes_at, budget)
    return (
        f"{name} = {value} needs about {bytes_at(value) / GIB:.3g} GiB of memory and {budget / GIB:.3g} GiB "
        f"can be used: " + (f"the largest {name} that fits is {largest}" if largest else f"no {name} fits")
    )


def cores() -> int:
    """Number of processor cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """Model of the processor, or its architecture where the system does not tell."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


THREAD_SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
"""The environment variables from which the numerical libraries read how many threads to use."""


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for this process and those it starts, and afterwards put back the old ones.

    Parameters
    ----------
    settings : mapping of str to str
        Names and values of the variables.
    """
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


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


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Write a file in one step: it is the old one or the new one, never part of it.

    Parameters
    ----------
    path : Path
        The file; its folder must be there.

    Yields
    ------
    Path
        Where to write the new content. It takes the place of the old one unless an exception is raised.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step.

    Parameters
    ----------
    path : Path
        The file; its folder must be there.
    text : str
        The new content.
    """
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def require_writable(name: str, path: str | os.PathLike[str]) -> Path:
    """Check that a file can be written by `whole_file`, before the work that is to be kept in it.

    Parameters
    ----------
    name : str
        The argument.
    path : path
        What was passed for it.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If it is no path, a folder or a device, or in a folder that is missing or cannot be written.
    """
    require(isinstance(path, str | os.PathLike) and path != "", name, path, "the path of a file")
    file = Path(path)
    try:
        reason = "" if file.is_file() or not file.exists() else "there is something else than a file"
        if not reason and file.exists() and not os.access(file, os.W_OK):
            reason = "the file there is write-protected"
        if not reason:
            partial = file.with_name(f".{file.name}.{os.getpid()}.part")
            partial.touch()
            partial.unlink()
    except (OSError, ValueError) as error:  # the latter for characters that no path has
        reason = getattr(error, "strerror", None) or str(error)
    require(not reason, name, str(path), f"a file that can be written: {reason}")
    return file
