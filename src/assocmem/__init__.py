"""Linear associative memory: pairs, theory, memories, verdicts and proofs, under one face.

The names of ``__init__.pyi`` are loaded when they are first used, so that ``import assocmem as am`` takes no
time. The rooms of the package tell the rest: `pairs` are given, `theory` says what to expect, `memories` are
written down, `training` finds better ones, `deciding` proves what any memory can do, `removal` takes a pair
away, `experiments` put these side by side, `sweeps` repeat them, and the `book` tells of them.
"""

import os
import sys
import warnings

import lazy_loader

# Threads that spin while they wait take half of a processor core from the loops between two tensor
# operations: fits are two to three times slower then. OpenMP reads this when torch is loaded.
if "torch" in sys.modules and "OMP_WAIT_POLICY" not in os.environ:
    warnings.warn(
        "torch was imported before assocmem, so that its threads spin while they wait and fits take two to "
        "three times as long: import assocmem first, or set OMP_WAIT_POLICY=passive in the environment",
        RuntimeWarning,
        stacklevel=2,
    )
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
