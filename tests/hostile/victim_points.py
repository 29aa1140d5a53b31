"""Point functions for the suite of faults; each call leaves a line in the file that SWEEP_LOG names."""

import os
import time
from pathlib import Path
from typing import Annotated

Number = Annotated[int, "a number; [0, 1000]"]

STEPS = 8
"""Steps of a point that keeps its state."""


def note(*words):
    with open(os.environ["SWEEP_LOG"], "a") as file:
        file.write(" ".join(map(str, words)) + "\n")


def brief(a: Number):
    note(a)
    time.sleep(0.03)
    return {"c": a * a, "word": "even" if a % 2 == 0 else None}


def plain(a: Number):
    return {"c": a / 7, "d": "x" * 40}


def lasting(a: Number, *, checkpoint):
    """Counts its steps, and goes on from where it was."""
    file = Path(checkpoint)
    count = int(file.read_text()) if file.exists() else 0
    while count < STEPS:
        time.sleep(0.02)
        count += 1
        note(a, count)
        partial = file.with_name(f"{file.name}.new")
        partial.write_text(str(count))
        partial.replace(file)
    return {"c": a, "steps": count}
