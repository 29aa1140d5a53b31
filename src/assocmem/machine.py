"""The machine: memory and cores that are there, variables for processes."""

import os
import platform
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

GIB = 2**30
"""Bytes of a gibibyte, the unit of messages about memory."""

USABLE_SHARE = 0.9
"""Share of the available memory that a size may ask for. The rest is for what an estimate leaves out and for
what other processes take meanwhile; how much that is was chosen by judgement."""


LONGEST_EXACT = 10**18
"""Size from which a message gives three digits only."""

MOST_BYTES = 2**1000
"""What a message says where a size is so absurd that no float holds its bytes."""


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
    needed = bytes_at(value)
    if needed <= budget:
        return ""
    largest = largest_that_fits(bytes_at, budget)
    shown = f"{value:.3g}" if value >= LONGEST_EXACT else value
    asked = min(needed, MOST_BYTES) / GIB
    return (
        f"{name} = {shown} needs about {asked:.3g} GiB of memory and {budget / GIB:.3g} GiB "
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
