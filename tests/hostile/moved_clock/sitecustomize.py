"""Found on PYTHONPATH: the clock is set back by MOVED_BACK seconds, and again after MOVED_AGAIN looks."""

import itertools
import os
import time

BACK, LOOKS = float(os.environ["MOVED_BACK"]), int(os.environ["MOVED_AGAIN"])
looks, clock, clock_ns = itertools.count(), time.time, time.time_ns


def moved():
    return BACK * (1 + (next(looks) > LOOKS))


time.time = lambda: clock() - moved()
time.time_ns = lambda: clock_ns() - int(1e9 * moved())
