"""Linear associative memory: the models, laws and checks behind the book."""

import os

# Threads that spin while they wait take half of a processor core from the loops between two tensor
# operations: fits are two to three times slower then. OpenMP reads this when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

__version__ = "0.1.0"
