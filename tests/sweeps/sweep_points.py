"""Point functions for the tests of sweeps; each call leaves a line in the file that SWEEP_LOG names."""

import os
import signal
import time
from pathlib import Path
from typing import Annotated

Number = Annotated[int, "a number; [0, 1000]"]
Factor = Annotated[float, "a factor; (0, 2]"]


def note(*words):
    if "SWEEP_LOG" in os.environ:
        with open(os.environ["SWEEP_LOG"], "a") as file:
            file.write(" ".join(map(str, words)) + "\n")


def square(a: Number, b: Factor = 0.5):
    """Fails at a = 7."""
    note(a)
    if a == 7:
        raise ArithmeticError("seven is not allowed")
    return {"c": a * a * b, "word": "even" if a % 2 == 0 else None}


def slow(a: Number):
    note(a)
    time.sleep(0.05)
    return {"c": a * a}


def drowsy(a: Number):
    note(a)
    time.sleep(2.5 if a == 2 else 0)
    return {"c": a}


def mortal(a: Number):
    """Kills its process: at a = 3 always, at a = 5 the first time."""
    again = Path(os.environ["SWEEP_LOG"]).read_text().split().count("5") if a == 5 else 0
    note(a)
    if a == 3 or (a == 5 and not again):
        os.kill(os.getpid(), signal.SIGKILL)
    return {"c": a}


def threads(a: Number):
    return {"openmp": int(os.environ["OMP_NUM_THREADS"]), "numba": int(os.environ["NUMBA_NUM_THREADS"])}


def patient(a: Number, *, checkpoint):
    """Counts to four and keeps its count; stops half-way the first time."""
    file = Path(checkpoint)
    count = int(file.read_text()) if file.exists() else 0
    while count < 4:
        count += 1
        file.write_text(str(count))
        note(a, count)
        if count == 2:
            os.kill(os.getpid(), signal.SIGINT)
    return {"c": count}


def unannotated(a):
    return {"c": a}


def shapeless(a: Number):
    return [a]


def tensor(a: Number):
    import numpy as np

    return {"c": np.float64(a), "d": float("nan"), "e": np.int64(3), "f": float("-inf")}


def wordy(a: Number):
    return {"c": [a]}


def leaving(a: Number):
    raise SystemExit(3)


def positional(a: Number, /):
    return {"c": a}


def open_ended(**numbers: Number):
    return {"c": 1}


def badly_set(a: Annotated[int, "a number; [0, 2]"] = 3):
    return {"c": a}


def share(a: Number, b: Annotated[float, "a share; [0, 1]"] = 1):
    return {"c": a * b}


def names(a: Number):
    return {"a": a}


def blank(a: Number):
    return {"": a}


def disguised(a: Number):
    return {"c": "12"}


def flags(a: Number):
    return {"c": a > 0, "word": ""}


def wanders(a: Number):
    os.chdir("/")
    return {"c": a}


def forks(a: Number):
    """Leaves a child that outlives its parent for a while, and one that returns."""
    if os.fork() == 0:
        time.sleep(3)
        os._exit(0)
    if os.fork() == 0:
        return {"c": -1}
    note(a)
    time.sleep(0.2)
    return {"c": a}


def wordy_error(a: Number):
    raise ValueError("first line\nsecond line\n")


def listed(a: Annotated[list, "numbers; any"]):
    return {"c": 1}


def constant():
    return {"c": 1}
