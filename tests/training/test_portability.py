"""The room runs where there is no Triton, and none of the modules that only Unix has."""

import subprocess
import sys

PROGRAM = """
import sys
import numba, psutil, scipy.stats, torch, tqdm  # what others import is their affair

for name in [name for name in sys.modules if name.split(".")[0] in {"triton", "resource", "fcntl"}]:
    del sys.modules[name]
sys.modules |= dict.fromkeys(["triton", "resource", "fcntl"])  # an import of these fails now

from assocmem import machine
from assocmem.memories import clipped, conjugate_gradients, outer_products, sparse_repair
from assocmem.pairs.data import gaussian_pairs
from assocmem.training import columns_cpu, columns_tensors, descent, fit, losses, metric, passes, precision

machine.available_bytes = lambda: 2**40  # asks for a limit of the process, on Unix only
pairs = gaussian_pairs(40, 8, seed=1)
for loss in (losses.CrossEntropy(), losses.TailAverage(0.15, 5.0)):
    assert fit.fit(pairs, loss, ridge=1e-2, precision="tf32").converged
assert not losses.triton_is_there()
assert clipped.clipped_memory(pairs, rounds=1).converged
"""


def test_no_triton_and_no_module_of_unix_alone_is_needed():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
