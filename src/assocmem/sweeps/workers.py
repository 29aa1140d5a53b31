"""What computes the points of a sweep: this process, or the workers of a Dask cluster.

An engine takes points from a supply, one at a time as it has room for them, and yields what came of each. The
store is written by the process that runs the engine and by nobody else, so the workers of a cluster need
this package and no common disk.
"""

import asyncio
import contextlib
import json
import logging
import math
import multiprocessing
import os
import secrets
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from assocmem.checks import UsageError
from assocmem.machine import THREAD_SETTINGS, cores, environment
from assocmem.sweeps.parameters import text_of
from assocmem.sweeps.store import Result
from assocmem.sweeps.tasks import Task, compute, result_of

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
or half a minute on a busy machine, and Dask may give up trying in silence. Chosen by judgement."""

DEATHS = 1
"""Deaths of a worker that its points survive; at the next one Dask gives them up. Since another point of the
same worker may have been the cause, `on_cluster` then tries each once more, alone."""

WAIT = "wait"
"""What a supply returns where it has no task just now."""

LOST = "lost the connection to the Dask scheduler"


class EngineLost(RuntimeError):
    """The cluster has gone; its text is one line for the user."""


Supply = Callable[[], Task | str | None]
"""Hands out tasks: the next one, `WAIT` where there is none just now, or None where there is none left."""

Engine = Callable[[Supply], Iterator[Result | None]]
"""Computes the tasks of a supply: it yields what came of each, and None while nothing comes."""


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
        return result_of(task, None, failure, None, "cpu")
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
