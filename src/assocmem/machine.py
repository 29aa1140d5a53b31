"""The machine: memory and cores that are there, variables for processes, files written in one step."""

import atexit
import os
import platform
import shutil
import tempfile
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from assocmem.leftovers import mark, temporary_folder, tidy

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


@contextmanager
def held(folder: Path) -> Iterator[int]:
    """Wait until no other process holds a folder, and hold it; the system lets go for one that is killed.

    No file is left behind. On a file system without locks nobody waits.

    Parameters
    ----------
    folder : Path
        It must be there.

    Yields
    ------
    int
        The descriptor that holds it: a child that gets it holds the folder as well, until it ends.
    """
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


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


PLACES = {
    "HOME": ("",),
    "XDG_CACHE_HOME": (".cache",),
    "XDG_CONFIG_HOME": (".config",),
    "XDG_DATA_HOME": (".local/share",),
    "MPLCONFIGDIR": (".config/matplotlib", ".cache/matplotlib"),
    "JUPYTER_CONFIG_DIR": (".jupyter",),
    "JUPYTER_DATA_DIR": (".local/share/jupyter",),
    "TRITON_HOME": (".triton",),
}
"""The environment variables that say where libraries keep settings and caches, and the folders below the home
where these are without."""
OWN_PLACES = ("IPYTHONDIR", "NUMBA_CACHE_DIR", "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
"""Others, without which libraries go by the variables above."""


@contextmanager
def writable_home() -> Iterator[None]:
    """Give libraries a place for settings and caches where they cannot write to the usual ones.

    In a container the home is often read-only or not there, and libraries then warn, with random paths, or
    fail. The place that they get is removed afterwards; what can be written stays where it is.
    """
    home = os.path.expanduser("~")
    astray = []
    for name in (*PLACES, *OWN_PLACES):
        given = os.environ.get(name) if name != "HOME" else home
        folders = [given] if given else [os.path.join(home, place) for place in PLACES.get(name, ())]
        if not all(map(_can_hold_files, folders)):
            astray.append(name)
    if not astray:
        yield
        return
    with temporary_folder("assocmem-") as folder:
        settings = {name: os.path.join(folder, name.lower()) for name in astray}
        for place in settings.values():
            os.mkdir(place)
        with environment(settings):
            yield


def place_for_triton() -> None:
    """Where Triton cannot write to its folder it fails; give it another then, until this process ends."""
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~")
    if not _can_hold_files(os.environ.get("TRITON_CACHE_DIR") or os.path.join(home, ".triton", "cache")):
        os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="assocmem-")
        atexit.register(shutil.rmtree, os.environ["TRITON_CACHE_DIR"], ignore_errors=True)


def _can_hold_files(folder: str) -> bool:
    """Whether files can be written into a folder, which may yet have to be made."""
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of another once it is whole: the old one or the new one is there.

    What killed processes have left of their attempts is removed.

    Parameters
    ----------
    path : Path
        The file; its folder must be there.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    OSError
        With the name of the file, where it cannot be written, for instance since the disk is full.
    """
    before = f".{path.name}."
    partial = path.with_name(f"{before}{mark()}.part")
    tidy(path.parent, before)
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with suppress(OSError):  # where the folder cannot be written, nothing is there to remove
            partial.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file in one step: it is the old one or the new one, never part of it.

    Parameters
    ----------
    path : Path
        The file; its folder must be there.
    text : str
        The new content.

    Raises
    ------
    OSError
        With the name of the file, where it cannot be written.
    """
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
