"""Where a result comes from: version, commit, libraries, machine, device and day."""

import platform
import subprocess
from datetime import date
from importlib.metadata import version

from assocmem import __version__
from assocmem.machine import cores, processor
from assocmem.sweeps.project import project_root

PACKAGES = "numpy", "scipy", "torch", "numba"
"""Libraries whose versions are recorded: those that compute."""


def origin(device: str = "cpu") -> dict:
    """Version, commit, libraries, machine, device and day of a result that is computed here and now."""
    return {
        "package": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "machine": f"{processor()}, {cores()} cores",
        "device": _device_name(device),
        "date": date.today().isoformat(),
    }


def _device_name(device):
    if str(device).startswith("cuda"):
        import torch

        return torch.cuda.get_device_name(device)
    return "cpu"


def _commit():
    """The commit of the working tree, marked where tracked files have changed since; None without git."""
    ask = ["git", "describe", "--always", "--abbrev=12", "--dirty"]
    try:
        done = subprocess.run(ask, cwd=project_root(), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None
