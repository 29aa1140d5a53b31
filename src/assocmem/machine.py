"""The machine: memory and cores that are there, variables for processes, files written in one step."""

import os
import platform
from contextlib import contextmanager
from pathlib import Path

import psutil

GIB = 2**30


def available_bytes():
    """Bytes that this process can still take before the machine or its container runs out.

    The least of: free memory of the machine, what the control group has left, and what is left under
    the address-space limit of the process.
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


def largest_that_fits(bytes_at, budget, smallest=3):
    """Largest n with ``bytes_at(n) <= budget`` for an increasing ``bytes_at``, or 0 if there is none."""
    if bytes_at(smallest) > budget:
        return 0
    low, high = smallest, 2 * smallest
    while bytes_at(high) <= budget:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bytes_at(middle) <= budget else (low, middle)
    return low


def memory_shortage(bytes_at, value, *, name="n", budget=None):
    """One line that says why a size does not fit, or an empty string where it does.

    Parameters
    ----------
    bytes_at : callable
        Peak memory in bytes as an increasing function of the size.
    value : int
        The size asked for.
    name : str
        What to call it.
    budget : int, optional
        Bytes that may be used; by default nine tenths of what is available now.
    """
    budget = 0.9 * available_bytes() if budget is None else budget
    if bytes_at(value) <= budget:
        return ""
    largest = largest_that_fits(bytes_at, budget)
    return (
        f"{name} = {value} needs about {bytes_at(value) / GIB:.3g} GiB of memory and {budget / GIB:.3g} GiB "
        f"can be used: " + (f"the largest {name} that fits is {largest}" if largest else f"no {name} fits")
    )


def cores():
    """Number of processor cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor():
    """Model of the processor, or its architecture where the system does not tell."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


THREAD_SETTINGS = "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"
"""What tells the libraries how many threads to use."""


@contextmanager
def environment(settings):
    """Variables that processes started meanwhile find.

    Parameters
    ----------
    settings : dict of str to str
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


def write_whole(path, text):
    """Write a file in one step: it is the old one or the new one, never part of it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
