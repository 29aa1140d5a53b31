"""What computes the points of a sweep: this process, or the workers of a Dask cluster.

An engine takes points from a supply, one at a time as it has room for them, and yields what came of each. The
store is written by the process that runs the engine and by nobody else, so the workers of a cluster need
this package and no common disk.
"""

import contextlib
import logging
import math
import os
import secrets
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assocmem.checks import UnusableState, UsageError
from assocmem.machine import THREAD_SETTINGS, cores, environment
from assocmem.progress import note
from assocmem.sweeps.origin import origin
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

DEATHS = 1
"""Deaths of a worker that its points survive; at the next one Dask gives them up. Since another point of the
same worker may have been the cause, `on_cluster` then tries each once more, alone."""

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
    try:
        row = plain(_called(function, task.parameters, context), task.parameters)
    except (Exception, SystemExit) as error:
        failure = f"{type(error).__name__}: {' '.join(str(error).split())}\n{traceback.format_exc()}"
    if os.getpid() != process:  # This is a child that the point function has forked; its parent goes on.
        os._exit(0)
    seconds = float(f"{time.monotonic() - started:.3g}")
    return _result(task, row, failure, seconds, context.get("device", "cpu"))


def _called(function, parameters, context):
    """What a point function returns; a state that it cannot use is removed, and the point computed anew."""
    try:
        return function.call(**parameters, **context)
    except UnusableState as error:
        if not context.get("checkpoint"):
            raise
        note(f"{error}: the point is computed anew")
        Path(context["checkpoint"]).unlink(missing_ok=True)
        return function.call(**parameters, **context)


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
        raise TypeError(f"a point function must return a mapping of columns, not {row!r}")
    return {name: _entry(name, value, {*parameters, SECONDS, ORIGIN}) for name, value in row.items()}


def _entry(name, value, taken):
    if not isinstance(name, str) or not name or name in taken:
        raise TypeError(
            f"column {name!r}: must have a name, and one that no parameter and no other column has"
        )
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return int(value)
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, int | float | str) or (isinstance(value, str) and entry(value) != value):
        raise TypeError(
            f"column {name!r} = {value!r}: must be a number, or a word that does not look like one"
        )
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
    """
    import dask
    from distributed import LocalCluster

    threads = threads or max(1, cores() // workers)
    settings = dict.fromkeys(THREAD_SETTINGS, str(threads)) | {"OMP_WAIT_POLICY": "passive"} | NO_LOG
    with _quiet():
        patience = {"distributed.scheduler.allowed-failures": DEATHS}
        spawning = {"distributed.nanny.pre-spawn-environ": settings}
        with dask.config.set(patience | spawning), environment(settings):  # Dask lets ours win
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,  # points at a time; the threads above are those of one point
                processes=True,
                memory_limit=0,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
                preload=IGNORE_INTERRUPTS,
            )
        with cluster, cluster.get_client() as client:
            yield client


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
            if scheduler_file and not os.path.exists(scheduler_file):
                raise OSError("no such file")
            where = {"scheduler_file": scheduler_file} if scheduler_file else {"address": address}
            client = Client(**where, timeout=CONNECT_SECONDS)
        except Exception as error:  # also what Dask makes of a file that no scheduler has written
            line = " ".join(str(error).split()) or type(error).__name__
            raise UsageError(f"no Dask scheduler at {place}: {line}") from None
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=CLOSE_SECONDS)


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
    looked, room = -math.inf, 0
    try:
        while True:
            if time.monotonic() - looked > LOOK_SECONDS:
                looked, room = time.monotonic(), _room(client)
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
                if not alone and _killed(future):  # Dask blames all points that a dead worker had
                    suspects.append(task)
                else:
                    yield _outcome(future, task)
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


def _wait(futures):
    """Until one is done, but not for ever: workers come and go."""
    import distributed

    if not futures:
        time.sleep(LOOK_SECONDS)
        return
    with contextlib.suppress(TimeoutError, distributed.TimeoutError):
        distributed.wait(list(futures), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")


def _killed(future):
    """Whether the workers that were given a point have all died."""
    import distributed

    return future.status == "error" and isinstance(future.exception(), distributed.KilledWorker)


def _outcome(future, task):
    if future.status == "finished":
        return future.result()
    if future.status == "cancelled":
        raise EngineLost(LOST)
    error = future.exception()
    if isinstance(error, UsageError):
        raise error
    if not _killed(future):  # not the point: its own errors come back as results
        line = " ".join(f"{type(error).__name__}: {error}".split())
        raise UsageError(f"a worker cannot compute points: {line}")
    failure = "KilledWorker: every process that was given this point died (out of memory, or killed)\n"
    return _result(task, None, failure, None, "cpu")


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
