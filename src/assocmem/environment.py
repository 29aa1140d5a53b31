"""Environment variables for processes that are started, and put back afterwards."""

import os
from contextlib import contextmanager

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
