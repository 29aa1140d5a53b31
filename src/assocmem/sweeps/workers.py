"""What computes the points of a sweep: this process, or the workers of a Dask cluster.

An engine takes points from a supply, one at a time as it has room for them, and yields what came of each. The
store is written by the process that runs the engine and by nobody else, so the workers of a cluster need
this package and no common disk.
"""

import asyncio
import contextlib
import copy
import json
import logging
import math
import multiprocessing
import os
import secrets
import signal
import sys
import threading
import time
import traceback
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assocmem.checks import UnusableState, UsageError
from assocmem.machine import THREAD_SETTINGS, cores, environment
from assocmem.progress import note
from assocmem.sweeps.origin import origin
from assocmem.sweeps.parameters import MOST_LINE, is_word, one_line, short, text_of
from assocmem.sweeps.point_functions import point_function
from assocmem.sweeps.store import Result
from assocmem.sweeps.stored_table import ORIGIN, SECONDS, entry

if TYPE_CHECKING:
    import distributed

NO_LOG = {"DASK_LOGGING__DISTRIBUTED": "critical"}
"""Environment of local workers: one that starts while others end would complain on the terminal."""

IGNORE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Run by local workers: an interrupt from the terminal is for the process that started them."""

CONNECT_SECONDS = 10
"""How long to wait for a scheduler to answer. Chosen by trial on a busy machine."""

CLOSE_SECONDS = 5
"""How long to wait for a cluster to say goodbye, when all results are stored already. Chosen by trial."""

LOOK_SECONDS = 1.0
"""Time between two looks at the cluster, or at a supply that has nothing just now. Chosen by trial."""

RESTART_SECONDS = 120
"""How long to wait on this machine for a process in place of one that has died: to start one takes seconds,
or half a minute on a busy machine, and Dask gives up trying in silence. Chosen by trial."""

DEATHS = 1
"""Deaths of a worker that its points survive; at the next one Dask gives them up. Since another point of the
same worker may have been the cause, `on_cluster` then tries each once more, alone."""

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

WAIT = "wait"
"""What a supply returns where it has no task just now."""

LOST = "lost the connection to the Dask scheduler"


class EngineLost(RuntimeError):
    """The cluster has gone; its text is one line for the user."""


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


Supply = Callable[[], Task | str | None]
"""Hands out tasks: the next one, `WAIT` where there is none just now, or None where there is none left."""

Engine = Callable[[Supply], Iterator[Result | None]]
"""Computes the tasks of a supply: it yields what came of each, and None while nothing comes."""


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
    return _result(task, row, failure, seconds, context.get("device", "cpu"))


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
    """What a point function returns; a state that it cannot use is removed, and the point computed anew.

    It gets copies, so that what it does to a list does not change what is stored.
    """
    try:
        return function.call(**copy.deepcopy(parameters), **context)
    except UnusableState as error:
        if not context.get("checkpoint"):
            raise
        note(f"{error}: the point is computed anew")
        Path(context["checkpoint"]).unlink(missing_ok=True)
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


def _result(task, row, failure, seconds, device):
    """A result with its origin."""
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


def in_process(supply: Supply) -> Iterator[Result | None]:
    """Compute points here, one after another.

    Parameters
    ----------
    supply : callable
        Returns the next `Task`, `WAIT` where there is none just now, or None where there is none left.

    Yields
    ------
    Result or None
        None from time to time while nothing comes.
    """
    while (task := supply()) is not None:
        if task is WAIT:
            time.sleep(LOOK_SECONDS)
            yield None
        else:
            yield compute(task)


@contextlib.contextmanager
def local_cluster(workers: int, threads: int | None = None) -> Iterator["distributed.Client"]:
    """A Dask cluster of processes on this machine.

    Parameters
    ----------
    workers : int
        How many.
    threads : int, optional
        Threads of each; by default the cores are shared out, so that workers do not fight for them.

    Yields
    ------
    distributed.Client

    Raises
    ------
    UsageError
        If this machine has no semaphores, by which processes talk, or cannot start so many.
    """
    import dask
    from distributed import LocalCluster

    _require_semaphores()
    threads = threads or max(1, cores() // workers)
    settings = dict.fromkeys(THREAD_SETTINGS, str(threads)) | {"OMP_WAIT_POLICY": "passive"} | NO_LOG
    with _quiet():
        patience = {"distributed.scheduler.allowed-failures": DEATHS}
        spawning = {"distributed.nanny.pre-spawn-environ": settings}
        with dask.config.set(patience | spawning), environment(settings):  # Dask lets ours win
            try:
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,  # points at a time; the threads above are those of one point
                    processes=True,
                    memory_limit=0,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                    preload=IGNORE_INTERRUPTS,
                )
            except (OSError, RuntimeError) as error:  # no ports, no processes, no memory left
                line = text_of(error) or type(error).__name__
                raise UsageError(f"--workers {workers}: cannot be started here ({line})") from None
        with cluster, cluster.get_client() as client:
            yield client


def _require_semaphores():
    """Refuse before processes are started that could not talk with this one."""
    try:
        multiprocessing.get_context("spawn").Lock()
    except (OSError, ImportError) as error:  # /dev/shm missing or read-only; built without semaphores
        reason = getattr(error, "strerror", None) or text_of(error)
        raise UsageError(
            f"--workers: this machine gives no semaphores ({reason}; is /dev/shm writable?): "
            "leave it out to compute in one process"
        ) from None


@contextlib.contextmanager
def remote_cluster(
    address: str | None = None, scheduler_file: str | None = None
) -> Iterator["distributed.Client"]:
    """A Dask cluster that is there already.

    Parameters
    ----------
    address, scheduler_file : str, optional
        Where the scheduler listens, or the file in which it has written that; one of them.

    Yields
    ------
    distributed.Client

    Raises
    ------
    UsageError
        If no scheduler answers.
    """
    from distributed import Client

    place = address or scheduler_file
    with _quiet():
        try:
            if scheduler_file:
                address = _address(scheduler_file)
            asyncio.run(asyncio.wait_for(_require_scheduler(address), CONNECT_SECONDS + 1))
            client = Client(address, timeout=CONNECT_SECONDS)
        except TimeoutError:
            late = f"nothing that a scheduler would say in {CONNECT_SECONDS} s"
            raise UsageError(f"no Dask scheduler at {place}: {late}") from None
        except Exception as error:
            line = text_of(error) or type(error).__name__
            if not isinstance(error, OSError):  # what Dask makes of the words of another server
                line = f"what answers does not speak as one ({type(error).__name__}: {line})"
            raise UsageError(f"no Dask scheduler at {place}: {line}") from None
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=CLOSE_SECONDS)


def _address(scheduler_file):
    """The address that a scheduler has written into a file."""
    if not os.path.exists(scheduler_file):
        raise OSError("no such file")
    with open(scheduler_file, encoding="utf-8") as file:
        try:
            return json.load(file)["address"]
        except (ValueError, KeyError, TypeError):
            raise OSError("not a file that a scheduler has written") from None


async def _require_scheduler(address):
    """Ask who is there: a client of Dask waits for ever on a server that says something else, or nothing."""
    from distributed import Security
    from distributed.core import connect, send_recv

    asked = Security().get_connection_args("client")
    comm = await connect(address, timeout=CONNECT_SECONDS, **asked)
    try:
        kind = (await send_recv(comm, op="identity"))["type"]
    finally:
        comm.abort()
    if kind != "Scheduler":  # a worker of Dask
        raise OSError(f"this is the address of a {kind.lower()}")


def on_cluster(client: "distributed.Client", supply: Supply) -> Iterator[Result | None]:
    """Compute points on the workers of a cluster, as many at a time as they have threads.

    Workers may come, go and die meanwhile: a point whose worker dies is computed by another. A point whose
    workers all die is computed once more, alone, and is a failure if they die again.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster, as `local_cluster` and `remote_cluster` give it.
    supply : callable
        As in `in_process`; it has an attribute ``deadline`` besides, on the clock of `time.monotonic`, after
        which points that no worker can take are given up.

    Yields
    ------
    Result or None

    Raises
    ------
    EngineLost
        If the scheduler goes away.
    """
    import distributed

    run = secrets.token_hex(4)  # other runs on this cluster may compute the same points

    def submit(task, *mark):
        return client.submit(compute, task, key="-".join(("assocmem", task.key, run, *mark)), pure=False)

    running, suspects, alone, dry = {}, [], False, False
    looked, room, seen = -math.inf, 0, time.monotonic()
    try:
        while True:
            if time.monotonic() - looked > LOOK_SECONDS:
                looked, room = time.monotonic(), _room(client)
                seen = looked if room else seen
                _require_return(client, looked - seen)
            while not (dry or alone) and len(running) < room and (task := supply()) is not WAIT:
                dry = task is None
                if not dry:
                    running[submit(task)] = task
            if suspects and not running:
                task, alone = suspects.pop(), True
                running[submit(task, "alone")] = task
            if (not running and dry) or (not room and time.monotonic() > supply.deadline):
                return
            _wait(running)
            _require_running(client)
            yield None
            for future in [future for future in running if future.done()]:
                task = running.pop(future)
                try:
                    result = _outcome(future, task, alone)
                except TimeoutError:  # its worker has died with the result, and another computes it again
                    running[future] = task
                    continue
                if result is None:  # Dask blames all points that a dead worker had
                    suspects.append(task)
                else:
                    yield result
                alone = False
    except (OSError, distributed.comm.CommClosedError, distributed.client.CancelledError):
        raise EngineLost(LOST) from None
    finally:
        with contextlib.suppress(Exception):
            client.cancel(list(running), force=True)


def _room(client):
    """Number of threads of all workers."""
    _require_running(client)
    return sum(client.nthreads().values())


def _require_return(client, alone):
    """Give up processes of this machine that have not come back; nobody else would start any."""
    if client.cluster is not None and alone > RESTART_SECONDS:
        raise EngineLost(f"the processes have died and none has come back in {RESTART_SECONDS} s")


def _wait(futures):
    """Until one is done, but not for ever: workers come and go."""
    import distributed

    if not futures:
        time.sleep(LOOK_SECONDS)
        return
    with contextlib.suppress(TimeoutError, distributed.TimeoutError):
        distributed.wait(list(futures), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")


def _outcome(future, task, alone):
    """What came of a point; None where its workers have all died, unless it was the only one they had.

    The state of a future may change at any time, since a worker that dies takes its results along: only what
    is at hand counts.

    Raises
    ------
    TimeoutError
        If the result is not at hand after all.
    """
    import distributed

    if future.status == "cancelled":
        raise EngineLost(LOST)
    try:
        return future.result(timeout=LOOK_SECONDS)
    except (TimeoutError, distributed.TimeoutError):
        raise TimeoutError from None
    except distributed.KilledWorker:
        if not alone:
            return None
        failure = "KilledWorker: every process that was given this point died (out of memory, or killed)\n"
        return _result(task, None, failure, None, "cpu")
    except (UsageError, distributed.comm.CommClosedError, distributed.client.CancelledError):
        raise  # the last two: the cluster has gone
    except Exception as error:  # not the point: its own errors come back as results
        line = f"{type(error).__name__}: {text_of(error)}"
        raise UsageError(f"a worker cannot compute points: {line}") from None


def _require_running(client):
    if client.status != "running":
        raise EngineLost(LOST)


@contextlib.contextmanager
def _quiet():
    """No log lines of the cluster's machinery; what matters is said by the sweep."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
