"""What a call may ask for: argument checks that say what is allowed, and the memory that is there."""

import os
import platform
import resource
from pathlib import Path

import psutil

GIB = 2**30


def require(ok, name, value, allowed):
    """Raise a one-line `ValueError` unless ``ok``.

    Parameters
    ----------
    ok : bool
        Whether the value is acceptable.
    name, value : str, object
        The argument and what was passed for it.
    allowed : str
        What would be acceptable, for instance ``"an integer >= 2"``.
    """
    if not ok:
        raise ValueError(f"{name} = {value!r}: must be {allowed}")


def require_integer(name, value, minimum):
    """Check that an argument is an integer (a bool is not) of at least ``minimum``.

    Raises
    ------
    ValueError
        Naming the argument, its value and the smallest allowed one.
    """
    integral = isinstance(value, int) or (type(value).__module__ == "numpy" and hasattr(value, "__index__"))
    ok = integral and not isinstance(value, bool) and value >= minimum
    require(ok, name, value, f"an integer >= {minimum}")


def available_bytes():
    """Bytes that this process can still take before the machine or its container runs out.

    The least of: free memory of the machine, what the control group has left, and what is left under
    the address-space limit of the process.
    """
    process = psutil.Process()
    bounds = [psutil.virtual_memory().available]
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
