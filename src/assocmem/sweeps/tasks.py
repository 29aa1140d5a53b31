"""One point computed: what its function returns or raises, as a row or as the words for a failure.

Nothing that the function does is trusted. Whatever it raises is recorded, and what it returns is taken only
if a store and a table can carry it.
"""

import contextlib
import copy
import math
import os
import signal
import sys
import threading
import time
import traceback
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assocmem.checks import UsageError
from assocmem.progress import note
from assocmem.sweeps.origin import origin
from assocmem.sweeps.parameters import MOST_LINE, is_word, one_line, short, text_of
from assocmem.sweeps.point_functions import point_function
from assocmem.sweeps.store import Result
from assocmem.sweeps.stored_table import ORIGIN, SECONDS, entry

MOST_TEXT = 100_000
"""Characters of a word, at most: a table is read by Python's csv module, which takes 131,072 in a field."""

MOST_TRACE = 20_000
"""Characters that are stored of a traceback, at most: that of a recursion without end through two functions
has 100,000."""

LARGEST = int(sys.float_info.max)
"""The largest integer in a table, whose columns are floats when they are read."""

EXACT = {bool: int.__int__, int: int.__int__, float: float.__float__, str: str.__str__}
"""What makes a value of a class below one of Python's own a value of that, whatever the class overrides."""

NUMBER_OR_WORD = "must be a number, or a word that does not look like one"


class OtherCode(UsageError):
    """A worker has another version of the code."""


@dataclass(frozen=True)
class Task:
    """A point with what a worker has to know.

    Attributes
    ----------
    name, code : str
        The point function and the version of it that is wanted.
    key : str
        Of the point.
    parameters : dict
        By name, as the point function takes them.
    checkpoint : str or None
        File in which a long point may keep its state, where the worker has the same disk.
    """

    name: str
    code: str
    key: str
    parameters: dict
    checkpoint: str | None = None


def compute(task: Task) -> Result:
    """Compute one point; a failure is a result as well.

    Returns
    -------
    Result

    Raises
    ------
    OtherCode
        If the code here is not the one that is wanted.
    """
    function = _function(task.name)
    if _code(task.name) != task.code:
        raise OtherCode(f"{task.name}: a worker has other code ({_code(task.name)}, not {task.code})")
    context = {}
    if "device" in function.context:
        from assocmem.pairs.data import best_device

        context["device"] = best_device()
    if "checkpoint" in function.context:
        context["checkpoint"] = task.checkpoint
    started, row, failure, process = time.monotonic(), None, None, os.getpid()
    with _interrupts_noted() as interrupts:
        try:
            row = plain(_called(function, task.parameters, context), task.parameters)
        except BaseException as error:  # also one by which the function would end the process
            failure = _failure(error)
    if os.getpid() != process:  # This is a child that the point function has forked; its parent goes on.
        os._exit(0)
    if interrupts:
        raise KeyboardInterrupt
    seconds = float(f"{time.monotonic() - started:.3g}")
    return result_of(task, row, failure, seconds, context.get("device", "cpu"))


@contextlib.contextmanager
def _interrupts_noted():
    """A list of the signals by which the process is told to end meanwhile, each of which raises as before.

    So an interrupt is told from a `KeyboardInterrupt` that a point function raises by itself, and is one also
    where the function swallows it or makes another error of it.
    """
    came, ours = [], []

    def note(number, frame):
        came.append(number)
        signal.default_int_handler(number, frame)

    if threading.current_thread() is threading.main_thread():  # no other is interrupted
        every = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
        ours = [number for number in every if signal.getsignal(number) is signal.default_int_handler]
    for number in ours:
        signal.signal(number, note)
    try:
        yield came
    finally:
        for number in ours:
            if signal.getsignal(number) is note:
                signal.signal(number, signal.default_int_handler)


def _failure(error):
    """What is stored of an error: what it says in one line, and its traceback, in characters for any file.

    Nothing of the error is trusted: it may have no text, or one that raises another error.
    """
    said = f"{one_line(type(error).__name__)}: {text_of(error)}"
    try:
        trace = "".join(traceback.format_exception(error))
    except BaseException:
        trace = ""
    if len(trace) > MOST_TRACE:
        trace = f"{trace[: MOST_TRACE // 2]}\n...\n{trace[-MOST_TRACE // 2 :]}"
    return _printable(f"{said[:MOST_LINE]}\n{trace}")


def _printable(text):
    """A text without control characters other than ends of lines, and without what UTF-8 cannot carry."""
    good = (c == "\n" or unicodedata.category(c) not in ("Cc", "Cs") for c in text)
    return "".join(c if ok else c.encode("unicode_escape").decode() for c, ok in zip(text, good, strict=True))


def _called(function, parameters, context):
    """What a point function returns. Where it fails on a state, that is removed, and it is called once more.

    A state may be of another problem, or lead a fit to where the last digits of a tight tolerance are out of
    reach. The function gets copies, so that what it does to a list does not change what is stored.
    """
    state = Path(context["checkpoint"]) if context.get("checkpoint") else None
    resumed = state is not None and state.exists()
    try:
        return function.call(**copy.deepcopy(parameters), **context)
    except Exception as error:
        if not resumed:
            raise
        note(f"the point is computed anew, since it fails on its state: {text_of(error)}")
        state.unlink(missing_ok=True)
    return function.call(**copy.deepcopy(parameters), **context)


def plain(row: dict, parameters: Collection[str] = ()) -> dict[str, int | float | str | None]:
    """A row as numbers, words and None, so that it is the same after a way through a table.

    Parameters
    ----------
    row : dict
        What a point function has returned. True and False become 1 and 0; nan and empty words None.
    parameters : collection of str
        Names that no column may have.

    Returns
    -------
    dict

    Raises
    ------
    TypeError
        If it is anything else, or a column has no name or one that is taken.
    """
    if not isinstance(row, dict) or not row:
        raise TypeError(f"a point function must return a mapping of columns, not {short(row)}")
    # In the classes of Python itself, since other processes may not know that of the user.
    columns = [(_column(name, {*parameters, SECONDS, ORIGIN}), value) for name, value in row.items()]
    found = {name: _entry(name, value) for name, value in columns}
    if len(found) < len(columns):
        raise TypeError(f"a point function must return columns of different names, not {short(row)}")
    return found


def _column(name, taken):
    exact = str.__str__(name) if isinstance(name, str) else ""
    if not exact or exact in taken or len(exact) > MOST_TEXT or not is_word(exact):
        raise TypeError(
            f"column {short(repr(name))}: must have a name, and one that no parameter and no other column has"
        )
    return exact


def _entry(name, value):
    value = value.item() if hasattr(value, "item") else value
    for kind, exact in EXACT.items():
        if isinstance(value, kind):
            value = exact(value)
            break
    else:
        if value is not None:
            raise TypeError(f"column {name!r} = {short(value)}: {NUMBER_OR_WORD}")
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, int) and abs(value) > LARGEST:
        raise TypeError(
            f"column {name!r} is an integer of {value.bit_length()} bits: more than a float can be"
        )
    if isinstance(value, str) and not (len(value) <= MOST_TEXT and is_word(value)):
        some = f"of at most {MOST_TEXT} characters, no control character among them"
        raise TypeError(f"column {name!r} = {short(repr(value))}: {NUMBER_OR_WORD}, {some}")
    if isinstance(value, str) and entry(value) != value:
        raise TypeError(f"column {name!r} = {value!r}: {NUMBER_OR_WORD}")
    return value


def result_of(
    task: Task, row: dict | None, failure: str | None, seconds: float | None, device: str
) -> Result:
    """What came of a point, with its origin.

    Parameters
    ----------
    task : Task
    row : dict or None
        The columns; None where it failed.
    failure : str or None
        A line, and more below it; None where it did not fail.
    seconds : float or None
        Time that it took, if that is known.
    device : str
        On which it was computed.

    Returns
    -------
    Result
    """
    place = _origin(device, time.strftime("%F")) | {"code": task.code}
    return Result(task.key, task.code, task.parameters, row, failure, seconds, place)


@cache
def _function(name):
    return point_function(name)


@cache
def _code(name):
    return _function(name).code


@cache
def _origin(device, _day):
    return origin(device)


# --- engines --------------------------------------------------------------------------------------
