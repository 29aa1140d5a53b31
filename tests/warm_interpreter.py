"""An interpreter that has loaded what takes it seconds, and what runs Python in copies of it.

Started with the path of a socket, it is the warm one: it loads libraries, and nothing of the package, and
waits. For each program that is asked for it makes a copy of itself, which goes on like a fresh interpreter
with the arguments, the environment, the folder and the streams of who has asked.

Started with that path and the arguments of an interpreter, it asks for a program, passes signals on to it and
ends as it does. `command` makes a file out of this that can be used in place of ``sys.executable``.
"""

import atexit
import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import sys
import threading

LIBRARIES = (
    "torch",
    "numba",
    "scipy.stats",
    "scipy.optimize",
    "pandas",
    "matplotlib.pyplot",
    "ipykernel.kernelapp",
    "sphinx.cmd.build",
    "sphinx_book_theme",
)
PASSED_ON = (signal.SIGINT, signal.SIGTERM)
SIZE = 8
"""Bytes that say how long a request is."""


def command(path, address):
    """Write a file that is called like an interpreter and has the warm one run what it is given."""
    words = " ".join(f"'{word}'" for word in (sys.executable, "-IS", __file__, "ask", str(address)))
    path.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


# --- who asks -------------------------------------------------------------------------------------


def ask(address, words):
    """Have a program run, with the streams that are ours; end as it ends."""
    with socket.socket(socket.AF_UNIX) as warm:
        warm.connect(address)
        request = json.dumps({"words": words, "folder": os.getcwd(), "settings": dict(os.environ)}).encode()
        socket.send_fds(warm, [len(request).to_bytes(SIZE)], [0, 1, 2])
        warm.sendall(request)
        said = warm.makefile()
        child = int(said.readline())
        for number in PASSED_ON:
            signal.signal(number, lambda number, frame: os.kill(child, number))
        code = int(said.readline() or -signal.SIGKILL)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


# --- the warm one ---------------------------------------------------------------------------------


def serve(address):
    """Make a copy of this process for each request; return what the copy has to run, and only there."""
    ended, ends = os.pipe()
    os.set_blocking(ends, False)
    signal.set_wakeup_fd(ends)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    asking = {}
    with socket.socket(socket.AF_UNIX) as here, selectors.DefaultSelector() as events:
        here.bind(address)
        here.listen()
        for place in (0, ended, here):
            events.register(place, selectors.EVENT_READ)
        print("warm", flush=True)
        while True:
            ready = [event.fileobj for event, _ in events.select()]
            if 0 in ready:  # whoever has started us is gone
                for child in asking.values():
                    os.kill(child, signal.SIGKILL)
                return None
            if ended in ready:
                os.read(ended, 4096)
            for connection in set(ready) & set(asking):  # whoever has asked is gone
                os.kill(asking[connection], signal.SIGKILL)
                events.unregister(connection)
            if here in ready:
                connection, _ = here.accept()
                request, streams = _request(connection)
                if not (child := os.fork()):
                    signal.set_wakeup_fd(-1)
                    for file in (connection, *asking):
                        file.close()
                    os.close(ended)
                    os.close(ends)
                    return request, streams
                for stream in streams:
                    os.close(stream)
                connection.sendall(f"{child}\n".encode())
                events.register(connection, selectors.EVENT_READ)
                asking[connection] = child
            _tell(asking, events)


def _tell(asking, events):
    """Tell those whose programs have ended how they did."""
    for connection, child in list(asking.items()):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            with contextlib.suppress(KeyError):  # of one that is gone
                events.unregister(connection)
            with contextlib.suppress(OSError):
                connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            connection.close()
            del asking[connection]


def _request(connection):
    start, streams, _, _ = socket.recv_fds(connection, SIZE, 3)
    left, request = int.from_bytes(start), b""
    while left > len(request):
        request += connection.recv(left - len(request))
    return json.loads(request), streams


def become(request, streams):
    """What a fresh interpreter would have: streams, folder, environment, paths and arguments."""
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    before = _own_paths()
    os.environ.clear()
    os.environ.update(request["settings"])
    os.chdir(request["folder"])
    sys.path[:] = _own_paths() + [path for path in sys.path if path not in before]


def _own_paths():
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def run(words):
    """Run ``-m name``, ``-c text`` or a file, with its arguments, as the main program."""
    import runpy

    how, *rest = words
    if how == "-m":
        sys.argv = rest
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = words
        sys.path.insert(0, os.path.dirname(os.path.abspath(how)))
        runpy.run_path(how, run_name="__main__")


def end_as(words):
    """Run a program and end as it does, without taking apart what was loaded, which would take a second."""
    code = 0
    try:
        run(words)
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        sys.exit(ask(sys.argv[2], sys.argv[3:]))
    sys.path.pop(0)  # the tests
    for name in LIBRARIES:
        __import__(name)
    gc.freeze()  # copies do not look through what they were given
    if task := serve(sys.argv[2]):
        become(*task)
        end_as(task[0]["words"])
